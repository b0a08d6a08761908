/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SUBBUF_CASE_H
#define TESTS_SUBBUF_CASE_H
/*
 * subbuf_case.h - shared by the tests of the ring: the real ring code in user space, with a clock
 * that the test controls and a hook before each step of a writer.
 *
 * Each test program has one ring. begin() resets it.
 */
#include <stdatomic.h>
#include <string.h>
#include <CUnit/Basic.h>
#include <trace/subbuf.h>

/* The clock stands still unless a test advances it. now_read holds a thread's last two readings. */
static _Atomic trace_u64 now_ns, now_step;
static _Thread_local trace_u64 now_read[2]; /* the latest first */
static _Thread_local void (*at_point)(void);

static inline void ledger_point(void)
{
	if (at_point)
		at_point();
}

static inline trace_u64 ledger_now(void)
{
	now_read[1] = now_read[0];
	return now_read[0] = atomic_fetch_add(&now_ns, now_step);
}

#define LEDGER_POINT()	   ledger_point()
#define LEDGER_OWN_POINT() ledger_point()
#define LEDGER_NOW()	   ledger_now()
#include "ring_ledger.h"

#define HEADER sizeof(struct subbuf_header)

static struct ledger ledger;
static unsigned char memory[SUBBUF_CONTROL_BYTES + (1 << 22)] __attribute__((aligned(64)));
static int wake;

static inline void begin(trace_u32 subbuf_bytes, trace_u32 nr_subbufs, bool overwrite)
{
	memset(memory, 0, SUBBUF_CONTROL_BYTES + subbuf_bytes * nr_subbufs);
	ledger_init(&ledger, memory, subbuf_bytes, nr_subbufs, overwrite);
	now_ns = 1000;
	now_step = 0;
	wake = 0;
}

static inline int write_record(unsigned int id, trace_u32 size)
{
	return ledger_write(&ledger, id, size, now_read, &wake);
}

static inline void expect_complete_ledger(void)
{
	subbuf_flush(&ledger.ring);
	if (ledger.writer.overwrite)
		ledger_dump(&ledger);
	else
		ledger_drain(&ledger);
	ledger_close(&ledger);
	if (ledger.fault)
		printf("\n    %s ", ledger.fault);
	CU_ASSERT_PTR_NULL(ledger.fault);
}
#endif

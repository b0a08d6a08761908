/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_append.c - trace_append() alone, on a block and a window of the test: what it writes, and
 * when it refuses. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <trace/tracepoint_inline.h>
#include "unit.h"

#ifdef __x86_64__
/* glibc's, from 2.35 on: offset of struct rseq from the thread pointer */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define NO_CPU 0x7fffffffu
#define WORD   (7ULL << 32 | 2ULL << 48) /* of a header */
#define LAP    (5ULL << 56)
#define BASE   0x12345fffff000ULL /* an addition between the halves carries on the way to the last time */
#define BEGIN  64u

static struct {
	struct trace_window window;
	uint64_t block;
	uint64_t subbuf[32];
} own;

static const volatile uint32_t *where(void)
{
	return (const volatile uint32_t *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void block_begin(void)
{
	memset(&own, 0, sizeof(own));
	own.block = BEGIN;
	own.window = (struct trace_window){.block = &own.block,
					   .base = BASE,
					   .lap = LAP,
					   .subbuf = (unsigned char *)own.subbuf,
					   .bytes = sizeof(own.subbuf),
					   .record = 1ULL << TRACE_BLOCK_RECORD_SHIFT};
}

/* On this CPU, repeated as often as the thread is preempted; @elsewhere: on another CPU. */
static bool append(uint64_t now, size_t nr_words, bool elsewhere)
{
	bool done = false;

	for (int i = 0; i < 100 && !done; i++) {
		own.window.cpu = elsewhere ? NO_CPU : where()[1];
		done = trace_append(&own.window, where(), (uint32_t)now, (uint32_t)(now >> 32), WORD, nr_words, 11, 12,
				    13);
	}
	/* no sequence is registered, because its code may be unloaded; otherwise the slow path
	 * clears it */
	CU_ASSERT_TRUE(!done || *(const volatile uint64_t *)&where()[2] == 0);
	return done;
}

static bool is_untouched(void)
{
	static const uint64_t nothing[32];

	return own.block == BEGIN && memcmp(own.subbuf, nothing, sizeof(nothing)) == 0;
}

static void a_record_follows_the_others(void)
{
	for (size_t nr = 1; nr <= 3; nr++) {
		block_begin();
		CU_ASSERT_TRUE(append(BASE + nr, nr, false));
		CU_ASSERT_TRUE(append(BASE + 1000, 1, false));
		CU_ASSERT_EQUAL(own.block, BEGIN + (8 + 8 * nr) + 16 + (2ULL << TRACE_BLOCK_RECORD_SHIFT));
		CU_ASSERT_EQUAL(own.subbuf[BEGIN / 8], WORD | LAP | (uint32_t)(BASE + nr));
		for (size_t i = 0; i < 3; i++)
			CU_ASSERT_TRUE(i >= nr || own.subbuf[BEGIN / 8 + 1 + i] == 11 + i);
		CU_ASSERT_EQUAL(own.subbuf[BEGIN / 8 + 1 + nr], WORD | LAP | (uint32_t)(BASE + 1000));
	}
}

static void times_of_another_block_are_refused(void)
{
	static const uint64_t good[] = {0, 1, UINT32_MAX - 1, UINT32_MAX},
			      bad[] = {-1ULL, -1000ULL, -(1ULL << 32), 1ULL << 32, (1ULL << 32) + 1, 1ULL << 63, -BASE};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		block_begin();
		CU_ASSERT_TRUE(append(BASE + good[i], 1, false));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		block_begin();
		CU_ASSERT_FALSE(append(BASE + bad[i], 1, false));
		CU_ASSERT_TRUE(is_untouched());
	}
}

static void the_last_byte_is_filled_and_no_more(void)
{
	block_begin();
	own.window.bytes = BEGIN + 24;
	CU_ASSERT_TRUE(append(BASE, 2, false));
	block_begin();
	own.window.bytes = BEGIN + 23;
	CU_ASSERT_FALSE(append(BASE, 2, false));
	CU_ASSERT_TRUE(is_untouched());
}

static void a_missing_block_is_left_alone(void)
{
	block_begin();
	CU_ASSERT_FALSE(append(BASE, 1, true));
	CU_ASSERT_TRUE(is_untouched());
	own.window.block = NULL;
	CU_ASSERT_FALSE(append(BASE, 1, false));
	CU_ASSERT_TRUE(is_untouched());
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_record_follows_the_others),
		CASE(times_of_another_block_are_refused),
		CASE(the_last_byte_is_filled_and_no_more),
		CASE(a_missing_block_is_left_alone),
		{NULL, NULL},
	};

	if (!&__rseq_offset || __rseq_size == 0 || (int32_t)where()[1] < 0) {
		fprintf(stderr, "test_append: no restartable sequences here\n");
		return 77;
	}
	return unit_main("append", cases, argc, argv);
}
#else
int main(void)
{
	return 77;
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef SAMPLE_RECORD_BPF_H
#define SAMPLE_RECORD_BPF_H

/*
 * sample_record.bpf.h - the record of a sample: built in a scratch area, then put into the ring
 *
 * Its functions that are not static are global ones, which the verifier checks once.
 */

#define MAX_KERNEL_BYTES   (96 * 8)
#define MAX_USER_BYTES	   (127 * 8) /* the kernel's limit, kernel.perf_event_max_stack */
#define BPF_F_USER_STACK   (1u << 8) /* linux/bpf.h */
#define CUT_KERNEL	   1
#define CUT_USER	   2
#define USER_IS_UNREADABLE 4
#define CUT_HAS_PARTS	   64
#define CUT_BY_EVENT	   128

enum sample_source {
	SOURCE_TIMER,
	SOURCE_WAIT,
	SOURCE_WAIT_EXIT,
	SOURCE_WAKER, /* a thread */
	SOURCE_WAKER_SOFTIRQ,
	SOURCE_WAKER_INTERRUPT,
	SOURCE_PART = 16, /* of the stack of a sample of the timer, and each further one is 1 more */
	SOURCE_PART_OF_WAKER = 64,
	SOURCE_PART_OF_EXIT = 128,
};

_Static_assert(sizeof(struct trace_sample) == __builtin_offsetof(struct trace_sample, ip) + 8, "ip is the last field");
_Static_assert(sizeof(struct trace_record) + sizeof(struct trace_sample) + MAX_KERNEL_BYTES + MAX_USER_BYTES <=
		       TRACE_RECORD_MAX_BYTES,
	       "both lists fit into a record");

/* The addresses in the kernel of all samples so far: the loader gives the trace their functions'
 * names at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLE_MAX_ADDRESSES);
	__type(key, u64);
	__type(value, u8);
} kernel_addresses SEC(".maps");
volatile unsigned long long unnamed_kernel_hits; /* of addresses that have no room in it */

#define NO_ROOM (-7) /* E2BIG: the map is full */

/* @room: the verifier allows any offset below 1024 and any length up to 1024 behind it */
struct sample_scratch {
	struct trace_sample sample;
	u64 room[4 * 128];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sample_scratch);
} scratches SEC(".maps");

/* Note the @bytes of addresses from the innermost one on. */
__noinline int note_addresses(struct sample_scratch *scratch, u32 bytes)
{
	u64 address;
	u8 one = 1;

	if (!scratch)
		return 0;
	address = scratch->sample.ip;
	for (u32 i = 0; i < MAX_KERNEL_BYTES / 8; i++) {
		if (i * 8 >= bytes)
			break;
		if (!bpf_map_lookup_elem(&kernel_addresses, &address) &&
		    bpf_map_update_elem(&kernel_addresses, &address, &one, BPF_ANY) == NO_ROOM)
			__sync_fetch_and_add(&unnamed_kernel_hits, 1);
		address = scratch->room[i];
	}
	return 0;
}

/* struct user_reference: offset and bytes */
static __always_inline u32 reference(u32 offset, u32 bytes)
{
	return offset | bytes << 16;
}

/* Returns false if the record was lost. */
__noinline int try_record(struct sample_scratch *scratch, u32 bytes)
{
	if (!scratch)
		return false;
	barrier_var(bytes);
	bytes &= 2040;
	RECORD_IN(sample, false, bytes) {
		bpf_probe_read_kernel(record, sizeof(struct trace_sample) + bytes, scratch);
		COMMIT(sample);
		return true;
	}
	return false;
}

static __always_inline int put_record(struct sample_scratch *scratch, u32 bytes)
{
	try_record(scratch, bytes);
	return 0;
}

#endif

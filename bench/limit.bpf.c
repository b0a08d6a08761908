// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * limit.bpf.c - the least that programs on tracepoints cost: what cannot be ours to win.
 *
 * clock_*: on a system call's entry and exit; they know the time, and no more. path_*: the entry also looks into the memory of the program, where the
 * path is that the call is given. record_*: on entry and exit, they also leave a record of 16 bytes in a ring of their CPU, as anything must that may be
 * interrupted by another of its kind: an add that reserves and an add that commits, with nothing looked at: no filter, no end of the ring. limit.c
 * reads it, as somebody must: a line of memory that another CPU has read costs more to write again than one that nobody wants.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "limit_ring.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* limit.c: of each CPU */
	__type(key, __u32);
	__type(value, struct limit_ring);
} rings SEC(".maps");

volatile __u64 time_ns;

#define KNOW_THE_TIME(name, tracepoint)                                                                                          \
	SEC("tp_btf/" #tracepoint)                                                                                               \
	int name(void *ctx)                                                                                                      \
	{                                                                                                                        \
		time_ns = bpf_ktime_get_ns();                                                                                    \
		return 0;                                                                                                        \
	}

KNOW_THE_TIME(clock_enter, sys_enter)
KNOW_THE_TIME(clock_exit, sys_exit)

/* x86-64's; the member is found by its name. */
struct pt_regs {
	unsigned long di;
} __attribute__((preserve_access_index));

/* Eight bytes are as dear as eighty. */
SEC("tp_btf/sys_enter")
int path_enter(__u64 *ctx)
{
	char text[8];

	bpf_probe_read_user_str(text, sizeof(text), (void *)((struct pt_regs *)ctx[0])->di);
	time_ns = bpf_ktime_get_ns();
	return 0;
}
KNOW_THE_TIME(path_exit, sys_exit)

static __always_inline void record(__u64 value)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct limit_ring *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 position;

	if (!ring)
		return;
	position = __sync_fetch_and_add(&ring->position, 16) & (LIMIT_RING_BYTES - 16);
	ring->words[position / 8 + 1] = value;
	ring->words[position / 8] = bpf_ktime_get_ns();
	__sync_fetch_and_add(&ring->commit, 16);
}

SEC("tp_btf/sys_enter")
int record_enter(__u64 *ctx)
{
	record(ctx[1]);
	return 0;
}

SEC("tp_btf/sys_exit")
int record_exit(__u64 *ctx)
{
	record(ctx[1]);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

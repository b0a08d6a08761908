/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * limit.bpf.c - the minimum cost of BPF programs on tracepoints, which no tracer can avoid.
 *
 * clock_*   at the entry and exit of a system call: read the clock, and do nothing else.
 * path_*    the entry also reads the memory of the program, at the address of the call's path.
 * record_*  entry and exit also write a record of 16 bytes into a ring of the CPU. A writer
 *           that another writer may interrupt needs two atomic additions, one to reserve
 *           and one to commit. These programs do only that: no filter, and no check for the
 *           end of the ring.
 *
 * limit.c reads the ring, because a recorder has to: a cache line that another CPU has read costs
 * more to write again than a line that only one CPU uses.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "limit_ring.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* limit.c sets it to the number of CPUs */
	__type(key, __u32);
	__type(value, struct limit_ring);
} rings SEC(".maps");

volatile __u64 time_ns;

#define KNOW_THE_TIME(name, tracepoint)       \
	SEC("tp_btf/" #tracepoint)            \
	int name(void *ctx)                   \
	{                                     \
		time_ns = bpf_ktime_get_ns(); \
		return 0;                     \
	}

KNOW_THE_TIME(clock_enter, sys_enter)
KNOW_THE_TIME(clock_exit, sys_exit)

/* The x86-64 form. CO-RE finds the member by its name. */
struct pt_regs {
	unsigned long di;
} __attribute__((preserve_access_index));

/* Reading eight bytes costs as much as reading eighty. */
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

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * counts.bpf.h - how often the kernel ran the functions that its events tell, for kgmon: only with
 * samples
 *
 * The counts are of what is recorded, and none is lost with a record. Without samples the verifier
 * removes the code, and the maps do not exist.
 */
#ifndef TRACER_COUNTS_BPF_H
#define TRACER_COUNTS_BPF_H

/* By ABI and number. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 * TRACER_NR_SYSCALLS);
	__type(key, u32);
	__type(value, u64);
} call_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACER_NR_COUNTED);
	__type(key, u64); /* TRACER_COUNT_KEY() */
	__type(value, u64);
} function_counts SEC(".maps");

volatile trace_u64 nr_not_counted; /* function_counts is full */

/* A thread may be preempted here. */
static __noinline void count_call(u32 abi, u32 nr)
{
	u32 index = (abi == TRACE_ABI_32 ? TRACER_NR_SYSCALLS : 0) + (syscall_index(nr) & (TRACER_NR_SYSCALLS - 1));
	u64 *count = syscall_index(nr) < TRACER_NR_SYSCALLS ? bpf_map_lookup_elem(&call_counts, &index) : NULL;

	if (count)
		__sync_fetch_and_add(count, 1);
}

static __noinline void count_key(u64 key)
{
	u64 *count = bpf_map_lookup_elem(&function_counts, &key), one = 1;

	if (!count && !bpf_map_update_elem(&function_counts, &key, &one, BPF_NOEXIST))
		return;
	if (!count) /* another CPU was faster, or there is no room */
		count = bpf_map_lookup_elem(&function_counts, &key);
	__sync_fetch_and_add(count ? count : (u64 *)&nr_not_counted, 1);
}

static __always_inline void count_function(u32 kind, u64 function)
{
	if (config.counts)
		count_key(TRACER_COUNT_KEY(kind, function));
}

#endif

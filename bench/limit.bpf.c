// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* limit.bpf.c - the least that a program on a system call's entry and exit costs when it knows the time: what cannot be ours to win. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

volatile __u64 time_ns;

SEC("tp_btf/sys_enter")
int limit_enter(void *ctx)
{
	time_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int limit_exit(void *ctx)
{
	time_ns = bpf_ktime_get_ns();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * wanted_exits.bpf.h - threads with a stack of a wait in the kernel that have not left their system
 * call yet; and the calls whose exit notes mappings of code
 *
 * A slot has a tid. A thread that another takes the slot of has no stack of the program.
 */
#define NR_WANTED_EXITS 1024 /* a power of two */

struct wanted_exits {
	u32 tids[NR_WANTED_EXITS];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wanted_exits);
} wanted_exits SEC(".maps");

static __always_inline volatile u32 *wanted_exit(u32 tid)
{
	u32 zero = 0;
	struct wanted_exits *all = bpf_map_lookup_elem(&wanted_exits, &zero);

	return all ? &all->tids[tid & (NR_WANTED_EXITS - 1)] : NULL;
}

static __always_inline bool exit_is_wanted(u32 tid)
{
	volatile u32 *wanted = wanted_exit(tid);

	return wanted && *wanted == tid;
}

#if defined(__TARGET_ARCH_x86)
#define NR_MMAP	    9
#define NR_MPROTECT 10

static __always_inline bool may_map_code(struct pt_regs *regs)
{
	return regs->orig_ax == NR_MMAP || regs->orig_ax == NR_MPROTECT;
}
#else
static __always_inline bool may_map_code(struct pt_regs *regs) /* there are no unwind tables */
{
	return false;
}
#endif

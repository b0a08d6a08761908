/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_ARCH_BPF_H
#define TRACER_ARCH_BPF_H
/* arch.bpf.h - where an architecture stores a system call's number, arguments and ABI. */

#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT	0x0002
#define X32_SYSCALL_BIT 0x40000000u

static __always_inline u32 syscall_abi(struct task_struct *task, u32 nr)
{
	if (task->thread_info.status & TS_COMPAT)
		return TRACE_ABI_32;
	return nr & X32_SYSCALL_BIT ? TRACE_ABI_X32 : TRACE_ABI_NATIVE;
}

static __always_inline u32 syscall_index(u32 nr)
{
	return nr & ~X32_SYSCALL_BIT;
}

static __always_inline long syscall_nr(struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline u64 user_ip(struct pt_regs *regs)
{
	return regs->ip;
}

/* A macro: @n is a constant, and regs must remain the kernel pointer that the verifier knows. */
#define SYSCALL_ARG(regs, abi, n)                               \
	((abi) == TRACE_ABI_32 ? (u32)((n) == 0	  ? (regs)->bx  \
				       : (n) == 1 ? (regs)->cx  \
				       : (n) == 2 ? (regs)->dx  \
				       : (n) == 3 ? (regs)->si  \
				       : (n) == 4 ? (regs)->di  \
						  : (regs)->bp) \
			       : ((n) == 0   ? (regs)->di       \
				  : (n) == 1 ? (regs)->si       \
				  : (n) == 2 ? (regs)->dx       \
				  : (n) == 3 ? (regs)->r10      \
				  : (n) == 4 ? (regs)->r8       \
					     : (regs)->r9))
#elif defined(__TARGET_ARCH_arm64)
#define TIF_32BIT_MASK (1UL << 22)

static __always_inline u32 syscall_abi(struct task_struct *task, u32 nr)
{
	return task->thread_info.flags & TIF_32BIT_MASK ? TRACE_ABI_32 : TRACE_ABI_NATIVE;
}

static __always_inline u32 syscall_index(u32 nr)
{
	return nr;
}

static __always_inline long syscall_nr(struct pt_regs *regs)
{
	return regs->syscallno;
}

static __always_inline u64 user_ip(struct pt_regs *regs)
{
	return regs->pc;
}

#define SYSCALL_ARG(regs, abi, n) ((void)(abi), (n) == 0 ? (regs)->orig_x0 : (regs)->regs[n])
#endif

/* Identifies the call of a thread by its address and number; an interrupt or fault that came from
 * user mode has another number. */
static __always_inline u64 call_id(struct pt_regs *regs)
{
	return user_ip(regs) + ((u64)syscall_nr(regs) << 48);
}

static __always_inline u32 syscall_action(u32 abi, u32 nr)
{
	u32 index = syscall_index(nr);

	if (index >= TRACER_NR_SYSCALLS)
		return SYSCALL_ARGS_6;
	return syscall_actions[abi == TRACE_ABI_32][index];
}

#endif

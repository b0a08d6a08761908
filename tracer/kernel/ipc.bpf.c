/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* ipc.bpf.c - signals, and waits for kernel locks. */

#define SI_USER	  0
#define SI_KERNEL 0x80

/* The kernel passes 0 and 1 for "no siginfo" and "from the kernel", and
 * makes these codes of them. */
static __always_inline s32 siginfo_code(struct kernel_siginfo *info)
{
	if ((u64)info <= 1)
		return info ? SI_KERNEL : SI_USER;
	return BPF_CORE_READ(info, si_code);
}

SEC("event/signal_generate")
int BPF_PROG(signal_generate, int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	if (!either_passes(task))
		return 0;
	RECORD(signal_generate) {
		record->tid = task->pid;
		record->signal = signal;
		record->result = result;
		record->code = siginfo_code(info);
		record->group = group;
		COMMIT(signal_generate);
	}
	return 0;
}

SEC("event/signal_deliver")
int BPF_PROG(signal_deliver, int signal, struct kernel_siginfo *info, struct k_sigaction *action)
{
	if (!current_passes())
		return 0;
	RECORD(signal_deliver) {
		record->signal = signal;
		record->code = siginfo_code(info);
		record->handler = (u64)BPF_CORE_READ(action, sa.sa_handler);
		COMMIT(signal_deliver);
	}
	return 0;
}

SEC("event/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int flags)
{
	if (!current_passes())
		return 0;
	RECORD(lock_begin) {
		record->lock = (u64)lock;
		record->flags = flags;
		record->pad = 0;
		COMMIT(lock_begin);
	}
	return 0;
}

SEC("event/contention_end")
int BPF_PROG(lock_end, void *lock, int ret)
{
	if (!current_passes())
		return 0;
	RECORD(lock_end) {
		record->lock = (u64)lock;
		record->ret = ret;
		record->pad = 0;
		COMMIT(lock_end);
	}
	return 0;
}

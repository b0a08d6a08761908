/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * wait_stacks.bpf.c - the stacks of threads that have waited, a part of the object of samples
 *
 * A stack costs more than most waits are worth. So it is taken at the end of a wait, when its
 * length is known: always from 1 ms on, else with the probability length / 1 ms. A stack of a short
 * wait then tells for 1 ms of waits like it, so that sums have no bias. The programs of the events
 * choose the waits (wait_choice.bpf.h), and continue here.
 *
 * The switch to the thread has the stack in the kernel: another thread is still the current one,
 * and the memory of the program cannot be read. The exit of the system call in which the thread
 * waited has the stack of the program, which is the same as at the wait.
 */

/* Not that of the timer, which may interrupt the exit of a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sample_scratch);
} wait_scratches SEC(".maps");

static __always_inline struct sample_scratch *scratch_of(u32 tid, enum sample_source source)
{
	u32 zero = 0;
	struct sample_scratch *scratch = bpf_map_lookup_elem(&wait_scratches, &zero);

	if (scratch) {
		scratch->sample.tid = tid;
		scratch->sample.in_user = source == SOURCE_WAIT_EXIT;
		scratch->sample.cut = 0;
		scratch->sample.source = source;
		scratch->sample.certain = 0;
	}
	return scratch;
}

static __always_inline void want_exit(u32 tid)
{
	volatile u32 *wanted = wanted_exit(tid);

	if (wanted)
		*wanted = tid;
}

/* The stack in the kernel of @task, which is not running, and where it entered the kernel. */
static __always_inline int put_wait(struct task_struct *task, bool by_wakeup)
{
	struct sample_scratch *scratch = scratch_of(task->pid, SOURCE_WAIT);
	u32 at = sizeof(struct trace_sample), user = 0, kernel;
	long bytes;

	if (!scratch)
		return 0;
	scratch->sample.certain = by_wakeup;
	bytes = bpf_get_task_stack(task, &scratch->sample.ip, MAX_KERNEL_BYTES, 0);
	if (bytes < 8)
		return 0;
	if (bytes >= MAX_KERNEL_BYTES)
		scratch->sample.cut |= CUT_KERNEL;
	note_addresses(scratch, (u32)bytes);
	kernel = (u32)bytes - 8;
	if (task->mm) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		barrier_var(kernel);
		*(u64 *)((void *)scratch->room + (kernel & 1016)) = BPF_CORE_READ(regs, REGS_IP);
		user = 8;
		want_exit(task->pid);
	}
	scratch->sample.kernel = reference(at, kernel);
	scratch->sample.user = reference(at + kernel, user);
	return put_record(scratch, kernel + user);
}

static __always_inline int wait_of(struct task_struct *task, bool by_wakeup)
{
	return (config.filtering && !task_matches(task)) || own_event(task) ? 0 : put_wait(task, by_wakeup);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(wait_stack, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return wait_of(next, true);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(wait_stack_not_woken, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return wait_of(next, false);
}

static __always_inline bool leaves_wait(u32 tid)
{
	volatile u32 *wanted = wanted_exit(tid);

	if (!wanted || *wanted != tid)
		return false;
	*wanted = 0;
	return true;
}

static __always_inline int put_exit(struct sample_scratch *scratch, u32 user)
{
	scratch->sample.kernel = reference(sizeof(struct trace_sample), 0);
	scratch->sample.user = reference(sizeof(struct trace_sample), user);
	return put_record(scratch, user);
}

static __always_inline int exit_by_pointers(void *context, u32 tid)
{
	struct sample_scratch *scratch = scratch_of(tid, SOURCE_WAIT_EXIT);
	long bytes;

	if (!scratch)
		return 0;
	bytes = bpf_get_stack(context, &scratch->sample.ip, MAX_USER_BYTES, BPF_F_USER_STACK);
	if (bytes < 8)
		return 0;
	if (bytes >= MAX_USER_BYTES)
		scratch->sample.cut |= CUT_USER;
	return put_exit(scratch, (u32)bytes - 8);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(wait_exit, struct pt_regs *regs, long result)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();

	return leaves_wait(tid) ? exit_by_pointers(ctx, tid) : 0;
}

#ifdef CAN_WALK
static __always_inline struct walk_state *begin_walk_at(struct pt_regs *regs)
{
	struct walk_registers registers = {.ip = regs->ip,
					   .sp = regs->sp,
					   .bp = regs->bp,
					   .bx = regs->bx,
					   .ax = regs->ax,
					   .cx = regs->cx,
					   .di = regs->di};

	return begin_walk(WALK_OF_WAIT, &registers);
}

/* Also notes what the call mapped. */
SEC("tp_btf/sys_exit")
int BPF_PROG(wait_exit_by_tables, struct pt_regs *regs, long result)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	struct sample_scratch *scratch;
	struct walk_state *state;

	walk_call(regs, result);
	if (!leaves_wait(tid))
		return 0;
	scratch = scratch_of(tid, SOURCE_WAIT_EXIT);
	if (!scratch)
		return 0;
	state = regs->cs == USER_CODE ? begin_walk_at(regs) : NULL;
	if (!state)
		return exit_by_pointers(ctx, tid);
	scratch->sample.ip = state->ip;
	if (!walk_user(scratch, state))
		return exit_by_pointers(ctx, tid);
	return put_exit(scratch, state->nr * 8);
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * wait_stacks.bpf.c - the stacks of threads that have waited, a part of the object of samples
 *
 * A stack costs more than most waits are worth. So it is taken at the end of a wait, when its
 * length is known: always from 1 ms on, else with the probability length / 1 ms. A stack of a short
 * wait then tells for 1 ms of waits like it, so that sums have no bias. The wakeup chooses
 * (waker_stacks.bpf.c), for the stacks of both threads; the switch does if no wakeup was seen.
 *
 * The switch to the thread has the stack in the kernel: another thread is still the current one,
 * and the memory of the program cannot be read. The exit of the system call in which the thread
 * waited has the stack of the program, which is the same as at the wait.
 */

#define ALWAYS_NS    1000000
#define NR_WANTED    1024 /* a power of two */
#define TASK_IS_DEAD 0x80

enum wait_choice { NOT_WOKEN, IS_LEFT_OUT, IS_CHOSEN };

/**
 * struct wait_note - @since: a thread is off the CPUs since then, and not by preemption; 0: no
 * @choice: enum wait_choice of the wakeup
 */
struct wait_note {
	u64 since;
	u32 choice;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait_note);
} wait_notes SEC(".maps");

/* Not that of the timer, which may interrupt the exit of a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sample_scratch);
} wait_scratches SEC(".maps");

/* Threads with a stack in the kernel that have not left it yet. One that another takes the slot of
 * has no stack of the program. */
volatile unsigned int wanted_exits[NR_WANTED];

static __always_inline bool is_chosen(u64 waited_ns)
{
	return waited_ns >= ALWAYS_NS || bpf_get_prandom_u32() < (u32)(waited_ns * ((1ull << 32) / ALWAYS_NS));
}

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
	note_addresses(&scratch->sample.ip, (u32)bytes);
	kernel = (u32)bytes - 8;
	if (task->mm) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		barrier_var(kernel);
		*(u64 *)((void *)scratch->room + (kernel & 1016)) = BPF_CORE_READ(regs, REGS_IP);
		user = 8;
		wanted_exits[task->pid & (NR_WANTED - 1)] = task->pid;
	}
	scratch->sample.kernel = reference(at, kernel);
	scratch->sample.user = reference(at + kernel, user);
	return put_record(scratch, kernel + user);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(wait_stack, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	u64 now = bpf_ktime_get_ns(), since;
	struct wait_note *note;

	if (!preempt && prev_state && !(prev_state & TASK_IS_DEAD) && prev->pid) {
		note = bpf_task_storage_get(&wait_notes, prev, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (note) {
			note->since = now;
			note->choice = NOT_WOKEN;
		}
	}
	if (!next->pid)
		return 0;
	note = bpf_task_storage_get(&wait_notes, next, NULL, 0);
	if (!note || !note->since)
		return 0;
	since = note->since;
	note->since = 0;
	if (note->choice == IS_LEFT_OUT)
		return 0;
	if ((note->choice == NOT_WOKEN && !is_chosen(now - since)) || (config.filtering && !task_matches(next)) ||
	    own_event(next))
		return 0;
	return put_wait(next, note->choice == IS_CHOSEN);
}

static __always_inline bool leaves_wait(u32 tid)
{
	if (wanted_exits[tid & (NR_WANTED - 1)] != tid)
		return false;
	wanted_exits[tid & (NR_WANTED - 1)] = 0;
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

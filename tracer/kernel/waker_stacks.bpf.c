/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * waker_stacks.bpf.c - the stacks of what wakes threads, a part of the object of samples
 *
 * At the wakeup the length of the wait is known, and the waker is the current thread: so there the
 * wait is chosen (wait_choice.bpf.h), and the thread's own stack follows for the same waits. In an
 * interrupt the current thread has nothing to do with it: only the kernel's functions from the
 * interrupt on are recorded.
 *
 * The list of the kernel's addresses ends with the tid of the woken thread. The runqueue is not
 * locked, but the woken thread is, and interrupts are off: nothing here may sleep or wake.
 */

#define TRACEPOINT_FRAMES 2   /* the program and what runs it */
#define MAX_SOFTIRQ_BYTES 768 /* of the function that runs softirqs */
#define MAX_CALLER_BYTES  512 /* of the function that calls several programs */

extern const void __irqentry_text_start __ksym __weak;
extern const void __irqentry_text_end __ksym __weak;
extern const void __softirqentry_text_start __ksym __weak;
extern const void __softirqentry_text_end __ksym __weak;
extern const void handle_softirqs __ksym __weak;
extern const void __traceiter_sched_waking __ksym __weak;

/* A wakeup may interrupt the exit of a system call. Interrupts are off during one. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sample_scratch);
} waker_scratches SEC(".maps");

/* On a kernel that does not tell the context, the waker is an interrupt: no innocent thread is
 * named. */
static __always_inline u32 source_of_waker(void)
{
	struct subbuf_control *control = control_of_cpu(false, bpf_get_smp_processor_id());

	if (!control)
		return SOURCE_WAKER_INTERRUPT;
#if defined(__TARGET_ARCH_x86)
	if (!config.preempt_count_distance)
		return SOURCE_WAKER_INTERRUPT;
#endif
	switch (waker_context(control)) {
	case TRACE_CONTEXT_TASK:
		return SOURCE_WAKER;
	case TRACE_CONTEXT_SOFTIRQ:
		return SOURCE_WAKER_SOFTIRQ;
	default:
		return SOURCE_WAKER_INTERRUPT;
	}
}

/* Code where an interrupt or softirq begins: what is behind it on the stack was interrupted. */
static __always_inline bool is_interrupt_entry(u64 ip)
{
	return (ip >= (u64)&__irqentry_text_start && ip < (u64)&__irqentry_text_end) ||
	       (ip >= (u64)&__softirqentry_text_start && ip < (u64)&__softirqentry_text_end) ||
	       (&handle_softirqs && ip - (u64)&handle_softirqs < MAX_SOFTIRQ_BYTES);
}

/* The bytes of the list from its begin to the entry of the interrupt. */
__noinline int up_to_entry(struct sample_scratch *scratch, u32 bytes)
{
	u64 address;

	if (!scratch)
		return bytes;
	address = scratch->sample.ip;
	for (u32 i = 0; i < MAX_KERNEL_BYTES / 8; i++) {
		if (i * 8 >= bytes)
			break;
		if (is_interrupt_entry(address))
			return (i + 1) * 8;
		address = scratch->room[i];
	}
	return bytes;
}

/* If there are several programs on the tracepoint, the kernel calls them in a function that is not
 * there else. It is removed from the list of @bytes; returns the bytes of the rest. */
__noinline int without_caller(struct sample_scratch *scratch, u32 bytes)
{
	u32 rest = bytes - 8;

	if (!scratch || bytes < 16 || !&__traceiter_sched_waking ||
	    scratch->sample.ip - (u64)&__traceiter_sched_waking >= MAX_CALLER_BYTES)
		return bytes;
	barrier_var(rest);
	bpf_probe_read_kernel(&scratch->sample.ip, rest & 1016, scratch->room);
	return rest;
}

/* Returns the words of the kernel's list with @woken behind it; 0: the stack cannot be read. */
static __always_inline u32 put_waker_kernel(void *context, struct sample_scratch *scratch, u32 woken)
{
	long got = bpf_get_stack(context, &scratch->sample.ip, MAX_KERNEL_BYTES, TRACEPOINT_FRAMES);
	volatile u32 *memory = &scratch->sample.kernel; /* see sample_by_tables() */
	u32 bytes, words;

	if (got < 8)
		return 0;
	bytes = without_caller(scratch, (u32)got);
	if (scratch->sample.source != SOURCE_WAKER)
		bytes = up_to_entry(scratch, bytes);
	else if (bytes >= MAX_KERNEL_BYTES)
		scratch->sample.cut |= CUT_KERNEL;
	note_addresses(scratch, bytes);
	*memory = bytes / 8 - 1;
	words = *memory & 127;
	barrier_var(words);
	scratch->room[words & 127] = woken;
	return words + 1;
}

static __always_inline struct sample_scratch *begin_waker(struct task_struct *task)
{
	u32 zero = 0;
	struct sample_scratch *scratch;

	if ((config.filtering && !task_matches(task)) || own_event(task))
		return NULL;
	scratch = bpf_map_lookup_elem(&waker_scratches, &zero);
	if (!scratch)
		return NULL;
	scratch->sample.source = source_of_waker();
	scratch->sample.tid = scratch->sample.source == SOURCE_WAKER ? current_task()->pid : 0;
	scratch->sample.in_user = 0;
	scratch->sample.cut = 0;
	scratch->sample.certain = 0;
	return scratch;
}

/* The waker may be a thread of another user, whose memory is not shown. */
static __always_inline bool has_program(const struct sample_scratch *scratch)
{
	return scratch->sample.source == SOURCE_WAKER && current_task()->mm && is_shown(current_task());
}

static __always_inline int waker_by_pointers(void *context, struct sample_scratch *scratch, u32 words)
{
	u32 user = has_program(scratch) ? put_user_below(context, scratch, words * 8) : 0;

	return end_sample(scratch, words * 8, user);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waker_stack, struct task_struct *task)
{
	struct sample_scratch *scratch = begin_waker(task);
	u32 words = scratch ? put_waker_kernel(ctx, scratch, task->pid) : 0;

	return words ? waker_by_pointers(ctx, scratch, words) : 0;
}

#ifdef CAN_WALK
SEC("tp_btf/sched_waking")
int BPF_PROG(waker_stack_by_tables, struct task_struct *task)
{
	struct sample_scratch *scratch = begin_waker(task);
	struct walk_state *state;
	volatile u32 *memory;
	u32 words;

	if (!scratch)
		return 0;
	memory = &scratch->sample.kernel;
	*memory = put_waker_kernel(ctx, scratch, task->pid);
	words = *memory & 127;
	barrier_var(words);
	if (!words)
		return 0;
	state = has_program(scratch) ? begin_walk_below(WALK_OF_WAKER) : NULL;
	if (!state)
		return waker_by_pointers(ctx, scratch, words);
	scratch->room[words & 127] = state->ip;
	state->first = words + 1;
	if (!walk_user(scratch, state))
		return waker_by_pointers(ctx, scratch, words);
	return end_sample(scratch, words * 8, (1 + state->nr) * 8);
}
#endif

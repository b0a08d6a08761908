/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * samples.bpf.c - the program of samples, in an object of its own that is loaded only if samples
 * are asked for; it shares the rings with tracer.bpf.c
 *
 * A perf event of each CPU runs it when its timer expires, in the interrupt of that timer. The
 * registers are those of the interrupted code.
 *
 * The callers in a program are found by unwind tables (walk.bpf.c), or by the kernel, which follows
 * frame pointers: there is a program for each. The loader chooses.
 *
 * A payload is built in a scratch area. The helper puts the innermost address where the field ip
 * is, because ip is the last field, and the callers behind it. In a sample of the kernel, the
 * addresses of the program follow.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "record.bpf.h"
#include "opened.bpf.h"
#include "sample_record.bpf.h"
#include "waker.bpf.h"
#include "wanted_exits.bpf.h"

/* struct bpf_perf_event_data of linux/bpf_perf_event.h: the registers, in the order of the
 * interface to programs */
#if defined(__TARGET_ARCH_x86)
struct sample_context {
	u64 regs[21];
	u64 period;
};
#define REGS_IP		   ip
#define CONTEXT_BP(c)	   ((c)->regs[4])
#define CONTEXT_BX(c)	   ((c)->regs[5])
#define CONTEXT_AX(c)	   ((c)->regs[10])
#define CONTEXT_CX(c)	   ((c)->regs[11])
#define CONTEXT_DI(c)	   ((c)->regs[14])
#define CONTEXT_IP(c)	   ((c)->regs[16])
#define CONTEXT_CS(c)	   ((c)->regs[17])
#define CONTEXT_SP(c)	   ((c)->regs[19])
#define CONTEXT_IN_USER(c) (((c)->regs[17] & 3) == 3)
#elif defined(__TARGET_ARCH_arm64)
struct sample_context {
	u64 regs[34];
	u64 period;
};
#define REGS_IP		   pc
#define CONTEXT_IP(c)	   ((c)->regs[32])
#define CONTEXT_IN_USER(c) (((c)->regs[33] & 15) == 0)
#endif

/* Samples are not in the interrupt of a timer. */
const volatile unsigned int by_event;

/* The samples that kgmon shows: also those that a flight recorder no longer has. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACER_NR_HITS);
	__type(key, u64);
	__type(value, struct tracer_hits);
} kernel_hits SEC(".maps");

volatile trace_u64 nr_hits_left_out; /* kernel_hits is full */

/* Returns the bytes of the callers of ip, which it stores, too. */
static __always_inline u32 put_kernel(struct sample_context *context, struct sample_scratch *scratch)
{
	long bytes = bpf_get_stack(context, &scratch->sample.ip, MAX_KERNEL_BYTES, 0);

	if (bytes < 8) {
		scratch->sample.ip = CONTEXT_IP(context);
		bytes = 8;
	}
	if (bytes >= MAX_KERNEL_BYTES)
		scratch->sample.cut |= CUT_KERNEL;
	note_addresses(scratch, (u32)bytes);
	return (u32)bytes - 8;
}

/* The program's addresses behind @at bytes of the kernel's; returns their number of bytes. */
static __always_inline u32 put_user_below(struct sample_context *context, struct sample_scratch *scratch, u32 at)
{
	long bytes;

	barrier_var(at);
	at &= 1016;
	bytes = bpf_get_stack(context, (void *)scratch->room + at, MAX_USER_BYTES, BPF_F_USER_STACK);
	if (bytes >= MAX_USER_BYTES)
		scratch->sample.cut |= CUT_USER;
	if (bytes >= 0)
		return (u32)bytes;
	scratch->sample.cut |= USER_IS_UNREADABLE;
	return 0;
}

static __always_inline u32 put_user(struct sample_context *context, struct sample_scratch *scratch)
{
	long bytes = bpf_get_stack(context, &scratch->sample.ip, MAX_USER_BYTES, BPF_F_USER_STACK);

	if (bytes < 8) {
		scratch->sample.ip = CONTEXT_IP(context);
		scratch->sample.cut |= USER_IS_UNREADABLE;
		bytes = 8;
	}
	if (bytes >= MAX_USER_BYTES)
		scratch->sample.cut |= CUT_USER;
	return (u32)bytes - 8;
}

#if defined(__TARGET_ARCH_x86)
#define CAN_WALK

enum { WALK_OF_SAMPLE, WALK_OF_WAIT, WALK_OF_WAKER, NR_WALKS };

#include "walk.bpf.c"
#include "walk_mappings.bpf.c"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___execve {
	unsigned int in_execve : 1;
};
#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

#endif

static __always_inline void count_hit(struct sample_context *context)
{
	struct tracer_hits first = {.samples = 1, .periods = context->period}, *hits;
	u64 address = CONTEXT_IP(context);

	hits = bpf_map_lookup_elem(&kernel_hits, &address);
	if (!hits && !bpf_map_update_elem(&kernel_hits, &address, &first, BPF_NOEXIST))
		return;
	if (!hits) /* another CPU was faster, or there is no room */
		hits = bpf_map_lookup_elem(&kernel_hits, &address);
	if (!hits) {
		__sync_fetch_and_add(&nr_hits_left_out, 1);
		return;
	}
	__sync_fetch_and_add(&hits->samples, 1);
	__sync_fetch_and_add(&hits->periods, first.periods);
}

static __always_inline struct sample_scratch *begin_sample(struct sample_context *context)
{
	struct task_struct *task = current_task();
	struct sample_scratch *scratch;
	u32 zero = 0;

	if (!current_passes() || own_event(task))
		return NULL;
	if (!CONTEXT_IN_USER(context))
		count_hit(context);
	scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch)
		return NULL;
	scratch->sample.tid = task->pid;
	scratch->sample.in_user = CONTEXT_IN_USER(context);
	scratch->sample.cut = by_event ? CUT_BY_EVENT : 0;
	scratch->sample.source = 0;
	scratch->sample.certain = 0;
	return scratch;
}

static __always_inline int end_sample(struct sample_scratch *scratch, u32 kernel, u32 user)
{
	u32 at = sizeof(struct trace_sample);

	scratch->sample.kernel = reference(at, kernel);
	scratch->sample.user = reference(at + kernel, user);
	return put_record(scratch, kernel + user);
}

static __always_inline int end_by_pointers(struct sample_context *context, struct sample_scratch *scratch, u32 kernel)
{
	u32 user = 0;

	if (scratch->sample.in_user)
		user = put_user(context, scratch);
	else if (current_task()->mm)
		user = put_user_below(context, scratch, kernel);
	return end_sample(scratch, kernel, user);
}

SEC("perf_event")
int sample(struct sample_context *context)
{
	struct sample_scratch *scratch = begin_sample(context);

	if (!scratch)
		return 0;
	return end_by_pointers(context, scratch, scratch->sample.in_user ? 0 : put_kernel(context, scratch));
}

#ifdef CAN_WALK
static __always_inline struct walk_state *begin_walk_here(struct sample_context *context)
{
	struct walk_registers registers = {.ip = CONTEXT_IP(context),
					   .sp = CONTEXT_SP(context),
					   .bp = CONTEXT_BP(context),
					   .bx = CONTEXT_BX(context),
					   .ax = CONTEXT_AX(context),
					   .cx = CONTEXT_CX(context),
					   .di = CONTEXT_DI(context)};

	return CONTEXT_CS(context) == USER_CODE ? begin_walk(WALK_OF_SAMPLE, &registers) : NULL;
}

/* From where the thread entered the kernel. */
static __always_inline struct walk_state *begin_walk_below(u32 which)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(current_task());
	struct walk_registers registers = {.ip = BPF_CORE_READ(regs, ip),
					   .sp = BPF_CORE_READ(regs, sp),
					   .bp = BPF_CORE_READ(regs, bp),
					   .bx = BPF_CORE_READ(regs, bx),
					   .ax = BPF_CORE_READ(regs, ax),
					   .cx = BPF_CORE_READ(regs, cx),
					   .di = BPF_CORE_READ(regs, di)};

	return BPF_CORE_READ(regs, cs) == USER_CODE ? begin_walk(which, &registers) : NULL;
}

static __always_inline struct walk_state *begin_walk_of(struct sample_context *context, struct sample_scratch *scratch)
{
	if (scratch->sample.in_user)
		return begin_walk_here(context);
	if (!current_task()->mm) {
		/* the program has ended and its memory is gone: the stack in the kernel is all */
		if (!(current_task()->flags & PF_KTHREAD))
			scratch->sample.cut |= WALK_WHOLE << CUT_WALK_SHIFT;
		return NULL;
	}
	return begin_walk_below(WALK_OF_SAMPLE);
}

/* In execve() the kernel has replaced the memory of the old program, and the new one has not begun.
 * The registers are the old one's, or lead to code that is not noted yet, so there is no stack of a
 * program. */
static __always_inline bool is_between_programs(const struct walk_state *state)
{
	struct task_struct___execve *task = (void *)current_task();

	return (state->end == WALK_UNREADABLE || state->end == WALK_NO_CALLER || state->end == WALK_UNMAPPED) &&
	       bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

SEC("perf_event")
int sample_by_tables(struct sample_context *context)
{
	struct sample_scratch *scratch = begin_sample(context);
	volatile u32 *memory; /* else the verifier follows the walk once for each number */
	struct walk_state *state;
	u32 words;

	if (!scratch)
		return 0;
	memory = &scratch->sample.kernel;
	*memory = scratch->sample.in_user ? 0 : put_kernel(context, scratch) / 8;
	words = *memory & 127;
	barrier_var(words);
	state = begin_walk_of(context, scratch);
	if (!state)
		return end_by_pointers(context, scratch, words * 8);
	if (scratch->sample.in_user) {
		scratch->sample.ip = state->ip;
	} else {
		scratch->room[words & 127] = state->ip;
		state->first = words + 1;
	}
	if (!walk_user(scratch, state))
		return end_by_pointers(context, scratch, words * 8);
	if (is_between_programs(state)) {
		scratch->sample.certain = 0;
		scratch->sample.cut &= CUT_KERNEL | CUT_BY_EVENT;
		scratch->sample.cut |= WALK_WHOLE << CUT_WALK_SHIFT;
		return end_sample(scratch, words * 8, 0);
	}
	return end_sample(scratch, words * 8, (state->first - words + state->nr) * 8);
}
#endif

#include "wait_stacks.bpf.c"
#include "waker_stacks.bpf.c"

char LICENSE[] SEC("license") = "GPL";

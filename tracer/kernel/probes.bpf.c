/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * probes.bpf.c - the programs of probes, in an object of their own that is loaded only if there
 * are
 * probes; it shares the rings with tracer.bpf.c
 *
 * There is one program for each way of attaching. The cookie identifies the probe; it has an index
 * into the array of recipes. A program computes the arguments before it reserves room, in a
 * scratch
 * area, because reading a program's memory may take time.
 *
 * These programs run in threads that may be preempted by another thread that reaches a probe, too.
 * So there is not one scratch area per CPU, but several, taken and returned by a bit, in any
 * order.
 *
 * Since 6.13 the kernel gives a function of such a program a per-CPU stack if it uses 64
 * bytes of stack or more, rounded up to 16, as if no other thread could preempt it. Then a
 * preempted thread continues with what another thread of its CPU left on that stack. Once in some
 * ten thousand times a program recorded the other thread's probe; if it follows a pointer of the
 * other thread's stack, the kernel faults. So all code here that may be preempted uses at most 48
 * bytes of stack (test_probes_e2e checks this), and the rest runs with preemption off.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "record.bpf.h"
#include "probe_recipe.h"

#define SCRATCHES     16
#define SCRATCH_BYTES 2048 /* a record's payload has at most 2032 */

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;
const volatile bool may_disable_preemption; /* the kernel has these two functions: since 6.10 */
const volatile bool may_fault;		    /* the programs are sleepable: they can fetch memory that is not present */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, u32);
	__type(value, struct probe_recipe);
} recipes SEC(".maps");

/*
 * Which probes are on; set by the loader. 0: off; otherwise the number in the cookie of the link
 * that serves the place. An old link that is not detached yet, when its place is on again with a
 * new link, does not record the same events twice.
 */
volatile trace_u32 probe_on[TRACE_PROBE_MAX_PLACES];

/* Which probes were hit since the load, whatever their conditions say; read by the loader. */
volatile trace_u8 probe_was_hit[TRACE_PROBE_MAX_PLACES];

/* struct pt_regs as an array of words, indexed by number */
#define REGISTER_WORDS 21

/**
 * struct probe_scratch - where a payload is built
 * @registers: of the thread, and PROBE_WORD_RECORD; more than there are, so that any number of
 * five
 *     bits is valid
 * @at: end of the payload so far, strings after the fixed part
 * @loaded: the value read last from the program; here, because the stack is short
 * @bytes: twice the size: the verifier allows any offset in the first half and
 *     any length up to the second
 */
struct probe_scratch {
	u64 registers[32];
	u64 at;
	u64 loaded;
	unsigned char bytes[2 * SCRATCH_BYTES] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, u32);
	__type(value, struct probe_scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} scratches_taken SEC(".maps"); /* one bit per area */

/** struct probe_run - one probe hit in progress */
struct probe_run {
	struct probe_recipe *recipe;
	struct probe_scratch *scratch;
};

/* @in_kernel is a constant wherever this is inlined: a program that may not sleep must not even
 * contain the call that might. */
static __always_inline long read_memory(bool in_kernel, void *to, u32 bytes, u64 from)
{
	long result;

	if (in_kernel)
		return bpf_probe_read_kernel(to, bytes, (void *)from);
	result = bpf_probe_read_user(to, bytes, (void *)from);
	if (result && may_fault)
		result = bpf_copy_from_user(to, bytes, (void *)from);
	return result;
}

/* Returns the number of bytes with the NUL, or a negative error. Text that is not in memory yet (an
 * unused constant) is fetched. */
static __always_inline long read_text(bool in_kernel, struct probe_scratch *scratch, void *to, u32 room, u64 from)
{
	long bytes;

	if (in_kernel)
		return bpf_probe_read_kernel_str(to, room, (void *)from);
	bytes = bpf_probe_read_user_str(to, room, (void *)from);
	if (bytes < 0 && may_fault && !bpf_copy_from_user(&scratch->loaded, 1, (void *)from))
		bytes = bpf_probe_read_user_str(to, room, (void *)from);
	return bytes;
}

/*
 * The address of a text in a tracepoint's record. @loaded keeps the word that says where, and how
 * many bytes: store_text() needs them.
 */
static __always_inline u64 located(const struct probe_run *run, const struct trace_probe_argument *argument)
{
	u64 record = run->scratch->registers[PROBE_WORD_RECORD], at = record + argument->constant;

	run->scratch->loaded = 0;
	bpf_probe_read_kernel(&run->scratch->loaded, 4, (void *)at);
	return (argument->index ? at + 4 : record) + (run->scratch->loaded & 0xffff);
}

static __always_inline u64 start_of(bool in_kernel, const struct probe_run *run,
				    const struct trace_probe_argument *argument)
{
	u64 base = argument->base, index = argument->index, value = argument->constant;

	if (argument->start == TRACE_PROBE_CONSTANT)
		return value;
	if (in_kernel && argument->start == TRACE_PROBE_LOCATED)
		return located(run, argument);
	if (argument->start == TRACE_PROBE_PLACE)
		base = 16; /* the instruction pointer */
	barrier_var(base);
	value += run->scratch->registers[base & 31];
	barrier_var(index);
	if (argument->start == TRACE_PROBE_INDEXED)
		value += run->scratch->registers[index & 31] << (argument->scale & 3);
	return value;
}

static __always_inline void failed(struct probe_run *run)
{
	__sync_fetch_and_add(&run->recipe->unread, 1);
}

/* To the verifier the offset is a bounded number, and a multiple of the stored size. */
static __always_inline void store(struct probe_run *run, const struct trace_probe_argument *argument, u64 value)
{
	u32 offset = argument->field_offset & 255;

	barrier_var(offset);
	switch (argument->field_bytes) {
	case 1:
		*(u8 *)(run->scratch->bytes + offset) = value;
		break;
	case 2:
		*(u16 *)(run->scratch->bytes + (offset & ~1u)) = value;
		break;
	case 4:
		*(u32 *)(run->scratch->bytes + (offset & ~3u)) = value;
		break;
	default:
		*(u64 *)(run->scratch->bytes + (offset & ~7u)) = value;
	}
}

/* Append text or bytes; the field says where they are. Text has no NUL in the trace. */
static __always_inline void store_text(bool in_kernel, struct probe_run *run,
				       const struct trace_probe_argument *argument, u64 address)
{
	u32 at = run->scratch->at, room = argument->max_bytes, offset = argument->field_offset & 252;
	bool text = argument->shape == TRACE_PROBE_STRING;
	long bytes;

	if (in_kernel && !text && argument->start == TRACE_PROBE_LOCATED && room > run->scratch->loaded >> 16)
		room = run->scratch->loaded >> 16;
	if (room > SCRATCH_BYTES / 2 - 1)
		room = SCRATCH_BYTES / 2 - 1;
	if (at > TRACER_PROBE_PAYLOAD_BYTES)
		at = TRACER_PROBE_PAYLOAD_BYTES;
	room += text; /* for the NUL */
	barrier_var(room);
	room &= SCRATCH_BYTES - 1;
	barrier_var(at);
	at &= SCRATCH_BYTES - 1;
	if (text) {
		bytes = read_text(in_kernel, run->scratch, run->scratch->bytes + at, room, address) - 1;
	} else {
		bytes = read_memory(in_kernel, run->scratch->bytes + at, room, address) ? -1 : (long)room;
	}
	if (bytes < 0) {
		if (address)
			failed(run); /* a null pointer has no text, which is no failure */
		bytes = 0;
	}
	if (at + bytes > TRACER_PROBE_PAYLOAD_BYTES)
		bytes = TRACER_PROBE_PAYLOAD_BYTES - at;
	barrier_var(offset);
	*(u32 *)(run->scratch->bytes + offset) = at | (u32)bytes << 16; /* struct user_reference */
	run->scratch->at = at + bytes;
}

static __always_inline u64 load(bool in_kernel, struct probe_scratch *scratch, u64 address, u32 bytes, bool *ret_failed)
{
	u64 *value = &scratch->loaded;
	long result;

	*value = 0;
	if (bytes == 8)
		result = read_memory(in_kernel, value, 8, address);
	else if (bytes == 4)
		result = read_memory(in_kernel, value, 4, address);
	else if (bytes == 2)
		result = read_memory(in_kernel, value, 2, address);
	else
		result = read_memory(in_kernel, value, 1, address);
	if (result)
		*ret_failed = true;
	return result ? 0 : *value;
}

static __always_inline long compute(bool in_kernel, u32 idx, struct probe_run *run)
{
	const struct trace_probe_argument *argument;
	bool no_memory = false;
	u64 value, last;

	if (idx >= TRACE_PROBE_MAX_ARGUMENTS)
		return 1;
	argument = &run->recipe->arguments[idx];
	last = argument->nr_loads;
	barrier_var(last);
	value = start_of(in_kernel, run, argument);
	for (u32 i = 0; i < TRACE_PROBE_MAX_LOADS && !no_memory; i++) {
		if (i >= last)
			break;
		value = load(in_kernel, run->scratch, value + argument->offsets[i],
			     i + 1 == last ? argument->load_bytes : 8, &no_memory);
	}
	if (no_memory)
		failed(run);
	else
		value += argument->offsets[last & TRACE_PROBE_MAX_LOADS]; /* a mask: all ones */
	if (argument->shape != TRACE_PROBE_VALUE) {
		store_text(in_kernel, run, argument, no_memory ? 0 : value);
		return 0;
	}
	value <<= argument->shift_left & 63;
	value = argument->is_signed ? (u64)((s64)value >> (argument->shift_right & 63))
				    : value >> (argument->shift_right & 63);
	store(run, argument, value);
	return 0;
}

static long compute_user(u32 idx, struct probe_run *run)
{
	return compute(false, idx, run);
}

static long compute_kernel(u32 idx, struct probe_run *run)
{
	return compute(true, idx, run);
}

static __noinline void lose(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = bpf_map_lookup_elem(&rings, &cpu);

	if (control)
		__sync_fetch_and_add(&control->discarded, 1);
}

/* ---- conditions ---- */

static __always_inline u64 field_bits(const struct probe_scratch *scratch, const struct trace_condition_test *test)
{
	u32 offset = test->offset & 255;

	barrier_var(offset);
	switch (test->bytes) {
	case 1:
		return *(u8 *)(scratch->bytes + offset);
	case 2:
		return *(u16 *)(scratch->bytes + (offset & ~1u));
	case 4:
		return *(u32 *)(scratch->bytes + (offset & ~3u));
	default:
		return *(u64 *)(scratch->bytes + (offset & ~7u));
	}
}

static __noinline bool text_is_equal(struct probe_scratch *scratch, const struct trace_condition_test *test)
{
	u32 offset = test->offset & 252, reference, at;

	barrier_var(offset);
	reference = *(u32 *)(scratch->bytes + offset);
	at = reference & (SCRATCH_BYTES - 1);
	if (reference >> 16 != test->text_bytes)
		return false;
	for (u32 i = 0; i < TRACE_CONDITION_TEXT_BYTES; i++) {
		if (i >= test->text_bytes)
			break;
		if (scratch->bytes[at + i] != test->text[i])
			return false;
	}
	return true;
}

/* Each step leads further down the table, so one pass over it is enough. */
static __noinline bool holds(struct probe_scratch *scratch, const struct trace_condition *condition)
{
	u32 next = 0;

	for (u32 i = 0; i < TRACE_CONDITION_MAX_TESTS; i++) {
		const struct trace_condition_test *test = &condition->tests[i];
		bool fulfilled;

		if (i != next)
			continue;
		if (test->type == TRACE_CONDITION_TEXT)
			fulfilled = text_is_equal(scratch, test) == (test->comparison == TRACE_CONDITION_EQUAL);
		else
			fulfilled = trace_condition_compare(test, field_bits(scratch, test));
		next = fulfilled ? test->if_true : test->if_false;
	}
	return next == TRACE_CONDITION_ACCEPT;
}

/* Runs with preemption off: its stack, and that of the functions it calls, may be the CPU's. */
static __noinline int put_record(struct probe_scratch *scratch, struct probe_recipe *recipe)
{
	struct open_record recording;
	u64 bytes = ROUND8(scratch->at);
	void *record;

	if (recipe->condition.nr_tests && !holds(scratch, &recipe->condition)) {
		__sync_fetch_and_add(&recipe->refused, 1);
		return 0;
	}
	barrier_var(bytes);
	bytes &= SCRATCH_BYTES - 8;
	record = record_begin(&recording, false, bytes);
	if (!record)
		return 0;
	if (bytes)
		bpf_probe_read_kernel(record, bytes, scratch->bytes);
	record_end(&recording, recipe->id);
	return 0;
}

/* The verifier must see which bit is taken, so the compiler has to unroll the loop. */
static __always_inline int take_scratch(u64 *taken)
{
	for (int i = 0; i < SCRATCHES; i++)
		if (!(__sync_fetch_and_or(taken, 1ULL << i) & 1ULL << i))
			return i;
	return -1;
}

static __noinline bool wanted(void)
{
	return !own_event(current_task()) && current_passes();
}

enum place_kind {
	PLACE_USER,
	PLACE_KERNEL,
	PLACE_TRACEPOINT,
};

static __always_inline void read_context(void *context, enum place_kind kind, struct probe_scratch *scratch)
{
	if (kind == PLACE_TRACEPOINT)
		scratch->registers[PROBE_WORD_RECORD] = (u64)context;
	else
		bpf_probe_read_kernel(scratch->registers, REGISTER_WORDS * sizeof(u64), context);
}

/* Each place is written once: no cache line moves between CPUs at later hits. */
static __always_inline void note_hit(u32 place)
{
	barrier_var(place);
	if (!probe_was_hit[place & (TRACE_PROBE_MAX_PLACES - 1)])
		probe_was_hit[place & (TRACE_PROBE_MAX_PLACES - 1)] = 1;
}

static __always_inline int meet(void *context, enum place_kind kind)
{
	struct probe_run run;
	u64 cookie = bpf_get_attach_cookie(context), *taken;
	u32 key = (u32)cookie & (TRACE_PROBE_MAX_PLACES - 1);
	int slot;

	barrier_var(key);
	if (probe_on[key & (TRACE_PROBE_MAX_PLACES - 1)] != cookie >> 32)
		return 0;
	run.recipe = bpf_map_lookup_elem(&recipes, &key);
	key = 0;
	taken = bpf_map_lookup_elem(&scratches_taken, &key);
	if (!run.recipe || !taken || (!run.recipe->is_measured && !wanted()))
		return 0;
	if (!run.recipe->is_measured)
		note_hit((u32)cookie);
	slot = take_scratch(taken);
	key = (u32)slot;
	run.scratch = slot < 0 ? NULL : bpf_map_lookup_elem(&scratches, &key);
	if (!run.scratch) {
		lose();
		return 0;
	}
	for (u32 i = 0; i < TRACE_PROBE_MAX_ARGUMENTS; i++)
		/* so that bytes between fields do not contain another program's data */
		((u64 *)run.scratch->bytes)[i] = 0;
	run.scratch->at = run.recipe->fixed_bytes;
	if (run.recipe->nr_arguments) {
		read_context(context, kind, run.scratch);
		bpf_loop(run.recipe->nr_arguments, kind == PLACE_USER ? compute_user : compute_kernel, &run, 0);
	}
	if (may_disable_preemption)
		bpf_preempt_disable();
	if (run.recipe->is_measured)
		run.scratch->loaded = bpf_ktime_get_ns(); /* most of the price of a record */
	else
		put_record(run.scratch, run.recipe);
	if (may_disable_preemption)
		bpf_preempt_enable();
	__sync_fetch_and_and(taken, ~(1ULL << key));
	return 0;
}

SEC("uprobe.s")
int probe_user(void *context)
{
	return meet(context, PLACE_USER);
}

SEC("uprobe.s")
int probe_user_multi(void *context)
{
	return meet(context, PLACE_USER);
}

SEC("kprobe")
int probe_kernel(void *context)
{
	return meet(context, PLACE_KERNEL);
}

/*
 * The one program that is not a tp_btf or raw_tp: only this kind gets the record. The kernel skips
 * it while another program of its kind runs on the CPU, and counts that (recursion_misses). A
 * result
 * other than 1 would keep the event from perf.
 */
SEC("tracepoint")
int probe_tracepoint(void *context)
{
	meet(context, PLACE_TRACEPOINT);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * data.bpf.c - the memory that arguments of system calls point to: tracedaemon --args
 *
 * These programs are loaded only with that option. The memory that a call reads is copied
 * behind its entry, and the memory that it wrote before its exit is recorded. So libbpf has to
 * attach the program of the exit before sys_exit, and that of the entry (data_entry.bpf.c) behind
 * sys_enter. The order is that of the files in tracer.bpf.c. Memory that is not present is not
 * copied, because a program must not wait for a page.
 */
#define PUT_ARGUMENTS(args, regs, abi, kind)                           \
	do {                                                           \
		if ((kind) != SYSCALL_ARGS_0) {                        \
			(args)[0] = SYSCALL_ARG(regs, abi, 0);         \
			(args)[1] = SYSCALL_ARG(regs, abi, 1);         \
			(args)[2] = SYSCALL_ARG(regs, abi, 2);         \
			if ((kind) != SYSCALL_ARGS_3) {                \
				(args)[3] = SYSCALL_ARG(regs, abi, 3); \
				(args)[4] = SYSCALL_ARG(regs, abi, 4); \
				(args)[5] = SYSCALL_ARG(regs, abi, 5); \
			}                                              \
		}                                                      \
	} while (0)

const volatile struct tracer_data_rule data_rules[TRACER_NR_SYSCALLS][TRACER_NR_ARGS];

#define MAX_TEXTS 32 /* of a list, such as the arguments of execve() */

/* @room: the verifier allows any offset below TRACER_DATA_BYTES and any length up to it behind */
struct data_scratch {
	u8 bytes[TRACER_DATA_BYTES];
	u8 room[2 * TRACER_DATA_BYTES];
	u64 list;
	u32 used;
	u32 is_cut;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct data_scratch);
} data_scratches SEC(".maps");

/* The call of a native program. */
struct data_call {
	u64 args[TRACER_NR_ARGS];
	s64 ret;
	u32 nr;
	u32 when;
};

/* One text of a list. Returns 1 at the end, or if there is no room. */
static long copy_text(u32 index, struct data_scratch **context)
{
	struct data_scratch *s = *context;
	u32 at = s->used & (TRACER_DATA_BYTES - 1);
	u64 text = 0;
	long bytes;

	if (bpf_probe_read_user(&text, sizeof(text), (void *)(s->list + 8ull * index)) || !text)
		return 1;
	s->is_cut = 1;
	if (at >= config.data_bytes)
		return 1;
	bytes = bpf_probe_read_user_str(s->bytes + at, TRACER_DATA_BYTES, (void *)text);
	if (bytes <= 0 || at + bytes > config.data_bytes)
		return 1;
	s->used = at + bytes;
	s->is_cut = 0;
	return 0;
}

static __always_inline u64 copy_texts(struct data_scratch *s, u64 address)
{
	s->list = address;
	s->used = 0;
	s->is_cut = 0;
	bpf_loop(MAX_TEXTS, copy_text, &s, 0);
	return s->used + s->is_cut;
}

/* How many bytes the argument has; 0: none, or not known. */
static __always_inline u64 wanted_bytes(struct data_call *call, const volatile struct tracer_data_rule *rule)
{
	u64 nr = 1;
	u32 behind = 0;

	if (rule->count == DATA_OF_ARGUMENT)
		nr = call->args[rule->idx & 3];
	else if (rule->count == DATA_OF_RESULT)
		nr = call->ret > 0 ? call->ret : 0;
	else if (rule->count == DATA_BEHIND &&
		 !bpf_probe_read_user(&behind, sizeof(behind),
				      (void *)(rule->idx == 5 ? call->args[5] : call->args[rule->idx & 3])))
		nr = behind;
	if (rule->idx > 3 && rule->count == DATA_OF_ARGUMENT)
		nr = rule->idx == 5 ? call->args[5] : call->args[4];
	if (rule->shape == DATA_BITS)
		return (nr + 63) / 64 * 8;
	return nr > (1u << 30) ? 1u << 30 : nr * rule->bytes;
}

static __always_inline void put_data(struct data_scratch *s, u32 idx, bool written, u32 bytes, u64 whole)
{
	barrier_var(bytes);
	bytes &= 2 * TRACER_DATA_BYTES - 1;
	RECORD_IN(sys_data, false, ROUND8(bytes)) {
		record->argument = idx;
		record->written = written;
		record->pad = 0;
		record->content = sizeof(struct trace_sys_data) | bytes << 16;
		record->bytes = whole;
		put_text(record + 1, (const char *)s->bytes, bytes);
		COMMIT(sys_data);
	}
}

/* Copy argument @idx. Returns 0. */
static long copy_argument(u32 idx, struct data_call **context)
{
	struct data_call *call = *context;
	u32 which = call->when == DATA_AT_EXIT, nr = call->nr, bytes;
	const volatile struct tracer_data_rule *rule;
	struct data_scratch *s = bpf_map_lookup_elem(&data_scratches, &which);
	u64 address, whole;
	long got;

	if (!s || nr >= TRACER_NR_SYSCALLS || idx >= TRACER_NR_ARGS)
		return 1;
	rule = &data_rules[nr][idx];
	address = call->args[idx];
	if (!(rule->when & call->when) || !address)
		return 0;
	if (rule->shape == DATA_TEXTS) {
		whole = copy_texts(s, address);
		put_data(s, idx, which, s->used, whole);
		return 0;
	}
	if (rule->shape == DATA_TEXT) {
		got = bpf_probe_read_user_str(s->bytes, TRACER_DATA_BYTES, (void *)address);
		if (got > 0)
			put_data(s, idx, which, got, got);
		return 0;
	}
	whole = wanted_bytes(call, rule);
	bytes = whole < config.data_bytes ? whole : config.data_bytes;
	barrier_var(bytes);
	bytes &= 2 * TRACER_DATA_BYTES - 1;
	if (!bpf_probe_read_user(s->bytes, bytes, (void *)address))
		put_data(s, idx, which, bytes, whole);
	return 0;
}

static __always_inline int copy_arguments(struct pt_regs *regs, long nr, s64 ret, u32 when)
{
	struct task_struct *task = current_task();
	struct data_call call = {.nr = nr, .ret = ret, .when = when}, *context = &call;

	if (!current_passes() || own_event(task) || syscall_abi(task, nr) != TRACE_ABI_NATIVE)
		return 0;
	PUT_ARGUMENTS(call.args, regs, TRACE_ABI_NATIVE, SYSCALL_ARGS_6);
	bpf_loop(TRACER_NR_ARGS, copy_argument, &context, 0);
	return 0;
}

SEC("event/sys_exit")
int BPF_PROG(sys_data__exit, struct pt_regs *regs, long ret)
{
	return ret < 0 ? 0 : copy_arguments(regs, syscall_nr(regs), ret, DATA_AT_EXIT);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_bpf_constants.c - the loader replaces loads of constants by moves of their values where that
 * is equivalent, and only there. */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "../../tracer/kernel/constants.h"
#include "unit.h"

#define MAP 7

static const struct {
	unsigned char byte;
	unsigned short half;
	unsigned int word, high_word;
	long long small, negative, large;
} constants = {0x81, 0x8182, 5, 0xfffffff0, 6, -7, 1LL << 40};

/* clang-format off */
#define AT(member) ((int)((const char *)&constants.member - (const char *)&constants))
#define ADDRESS(reg, of_map, offset) \
	{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = (reg), .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = (of_map) }, \
	{ .imm = (offset) }
#define LOAD(size, to, from, offset) \
	{ .code = BPF_LDX | BPF_MEM | (size), .dst_reg = (to), .src_reg = (from), .off = (short)(offset) }
#define MOVE(to, value)		     { .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) }
#define MOVE_64(to, value)	     { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) }
#define COPY(to, from)		     { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define NOTHING			     { .code = BPF_JMP | BPF_JA }
#define JUMP(over)		     { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 9, .off = (over) }
#define EXIT			     { .code = BPF_JMP | BPF_EXIT }
/* clang-format on */

#define FOLDS_TO(before, after)                                                                                    \
	do {                                                                                                       \
		CU_ASSERT_EQUAL(sizeof(before), sizeof(after));                                                    \
		CU_ASSERT_EQUAL(tracer_fold_constants(before, sizeof(before) / sizeof(before[0]), MAP, &constants, \
						      sizeof(constants)),                                          \
				0);                                                                                \
		CU_ASSERT(memcmp(before, after, sizeof(before)) == 0);                                             \
	} while (0)

static void a_load_becomes_a_move_of_the_loaded_value(void)
{
	struct bpf_insn before[] = {ADDRESS(1, MAP, 0),
				    LOAD(BPF_B, 2, 1, AT(byte)),
				    LOAD(BPF_H, 2, 1, AT(half)),
				    LOAD(BPF_W, 3, 1, AT(high_word)),
				    LOAD(BPF_DW, 3, 1, AT(small)),
				    LOAD(BPF_DW, 4, 1, AT(negative)),
				    LOAD(BPF_W, 1, 1, AT(word)),
				    EXIT};
	static const struct bpf_insn after[] = {
		NOTHING,	NOTHING,    MOVE(2, 0x81), MOVE(2, 0x8182), MOVE(3, (int)0xfffffff0), MOVE_64(3, 6),
		MOVE_64(4, -7), MOVE(1, 5), EXIT};

	FOLDS_TO(before, after);
}

static void the_address_stays_for_other_instructions(void)
{
	struct bpf_insn before[] = {ADDRESS(1, MAP, AT(word)), LOAD(BPF_W, 2, 1, 0), COPY(3, 1), LOAD(BPF_W, 1, 1, 0),
				    EXIT};
	static const struct bpf_insn after[] = {ADDRESS(1, MAP, AT(word)), MOVE(2, 5), COPY(3, 1), MOVE(1, 5), EXIT};

	FOLDS_TO(before, after);
}

static void a_value_of_more_bits_than_a_move_has_is_loaded(void)
{
	struct bpf_insn before[] = {ADDRESS(1, MAP, 0), LOAD(BPF_DW, 1, 1, AT(large)), EXIT};
	static const struct bpf_insn after[] = {ADDRESS(1, MAP, 0), LOAD(BPF_DW, 1, 1, AT(large)), EXIT};

	FOLDS_TO(before, after);
}

static void other_maps_and_offsets_beyond_the_values_are_left_alone(void)
{
	struct bpf_insn before[] = {ADDRESS(1, MAP, 0),		 LOAD(BPF_W, 2, 1, sizeof(constants) - 2),
				    LOAD(BPF_W, 2, 1, -4),	 ADDRESS(1, MAP + 1, 0),
				    LOAD(BPF_W, 1, 1, AT(word)), EXIT};
	static const struct bpf_insn after[] = {ADDRESS(1, MAP, 0),	     LOAD(BPF_W, 2, 1, sizeof(constants) - 2),
						LOAD(BPF_W, 2, 1, -4),	     ADDRESS(1, MAP + 1, 0),
						LOAD(BPF_W, 1, 1, AT(word)), EXIT};

	FOLDS_TO(before, after);
}

static void a_jump_target_may_have_another_address(void)
{
	struct bpf_insn before[] = {JUMP(3), ADDRESS(1, MAP, 0), LOAD(BPF_W, 2, 1, AT(word)),
				    LOAD(BPF_W, 3, 1, AT(word)), EXIT};
	static const struct bpf_insn after[] = {JUMP(3), ADDRESS(1, MAP, 0), MOVE(2, 5), LOAD(BPF_W, 3, 1, AT(word)),
						EXIT};

	FOLDS_TO(before, after);
}

static void nothing_is_known_after_a_jump_or_a_new_address(void)
{
	struct bpf_insn before[] = {ADDRESS(1, MAP, 0), JUMP(1),    LOAD(BPF_W, 2, 1, AT(word)), EXIT,
				    ADDRESS(3, MAP, 0), COPY(3, 9), LOAD(BPF_W, 4, 3, AT(word)), EXIT};
	static const struct bpf_insn after[] = {ADDRESS(1, MAP, 0), JUMP(1),	LOAD(BPF_W, 2, 1, AT(word)), EXIT,
						ADDRESS(3, MAP, 0), COPY(3, 9), LOAD(BPF_W, 4, 3, AT(word)), EXIT};

	FOLDS_TO(before, after);
}

static void an_atomic_addition_may_leave_something_else_there(void)
{
	struct bpf_insn fetch = {
		.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 8, .src_reg = 1, .imm = BPF_ADD | BPF_FETCH};
	struct bpf_insn before[] = {ADDRESS(1, MAP, 0), fetch, LOAD(BPF_W, 2, 1, AT(word)), EXIT};
	struct bpf_insn after[] = {ADDRESS(1, MAP, 0), fetch, LOAD(BPF_W, 2, 1, AT(word)), EXIT};

	FOLDS_TO(before, after);
}

/* Its instruction class is that of stores, but it loads: the register with the address then holds
 * the value. A store-release changes no register. */
static void a_load_acquire_replaces_the_address(void)
{
	struct bpf_insn acquire = {.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 1, .src_reg = 8, .imm = 0x100};
	struct bpf_insn release = {.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 1, .src_reg = 8, .imm = 0x110};
	struct bpf_insn before[] = {
		ADDRESS(1, MAP, 0),	     acquire, LOAD(BPF_W, 2, 1, AT(word)), ADDRESS(1, MAP, 0), release,
		LOAD(BPF_W, 2, 1, AT(word)), EXIT};
	struct bpf_insn after[] = {
		ADDRESS(1, MAP, 0), acquire, LOAD(BPF_W, 2, 1, AT(word)), ADDRESS(1, MAP, 0), release,
		MOVE(2, 5),	    EXIT};

	FOLDS_TO(before, after);
}

/* How often do the programs in the kernel load the geometry of the ring, which each record
 * needs? */
static size_t loads_of_config(const struct tracer *tracer, const struct bpf_program *program)
{
	const struct bpf_insn *insns = bpf_program__insns(program);
	int map = bpf_map__fd(tracer->skeleton->maps.rodata),
	    begin = (int)((const char *)&tracer->skeleton->rodata->config - (const char *)tracer->skeleton->rodata);
	size_t nr = 0;

	for (size_t i = 0; i + 2 < bpf_program__insn_cnt(program); i++) {
		int offset = insns[i + 1].imm + insns[i + 2].off - begin;

		nr += insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) && insns[i].src_reg == BPF_PSEUDO_MAP_VALUE &&
		      insns[i].imm == map && BPF_CLASS(insns[i + 2].code) == BPF_LDX &&
		      insns[i + 2].src_reg == insns[i].dst_reg && offset >= 0 &&
		      (size_t)offset < sizeof(struct tracer_config);
	}
	return nr;
}

static void no_program_loads_values_that_the_loader_knows(void)
{
	struct trace_error error;
	struct tracer *tracer;
	size_t nr = 0;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		printf("skipped: needs root and a kernel with BTF ");
		return;
	}
	tracer = tracer_new(NULL, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		const struct bpf_program *program = tracer->programs[i].program;

		if (bpf_program__fd(program) < 0 || strncmp(bpf_program__section_name(program), "event/", 6) != 0)
			continue;
		CU_ASSERT_EQUAL(loads_of_config(tracer, program), 0);
		nr++;
	}
	CU_ASSERT(nr > 50);
	tracer_free(tracer);
}

#define CALL(helper, kind)                                                     \
	{                                                                      \
		.code = BPF_JMP | BPF_CALL, .src_reg = (kind), .imm = (helper) \
	}

static void no_call_but_a_tail_call_is_dropped(void)
{
	struct bpf_insn before[] = {CALL(BPF_FUNC_ktime_get_ns, 0), CALL(BPF_FUNC_tail_call, 0),
				    CALL(BPF_FUNC_tail_call, BPF_PSEUDO_CALL), MOVE(2, BPF_FUNC_tail_call), EXIT};
	static const struct bpf_insn after[] = {CALL(BPF_FUNC_ktime_get_ns, 0), MOVE_64(0, 0),
						CALL(BPF_FUNC_tail_call, BPF_PSEUDO_CALL), MOVE(2, BPF_FUNC_tail_call),
						EXIT};

	tracer_drop_tail_calls(before, sizeof(before) / sizeof(before[0]));
	CU_ASSERT(memcmp(before, after, sizeof(before)) == 0);
}

static const struct unit_case cases[] = {
	{"a_load_becomes_a_move_of_the_loaded_value", a_load_becomes_a_move_of_the_loaded_value},
	{"the_address_stays_for_other_instructions", the_address_stays_for_other_instructions},
	{"a_value_of_more_bits_than_a_move_has_is_loaded", a_value_of_more_bits_than_a_move_has_is_loaded},
	{"other_maps_and_offsets_beyond_the_values_are_left_alone",
	 other_maps_and_offsets_beyond_the_values_are_left_alone},
	{"a_jump_target_may_have_another_address", a_jump_target_may_have_another_address},
	{"nothing_is_known_after_a_jump_or_a_new_address", nothing_is_known_after_a_jump_or_a_new_address},
	{"an_atomic_addition_may_leave_something_else_there", an_atomic_addition_may_leave_something_else_there},
	{"a_load_acquire_replaces_the_address", a_load_acquire_replaces_the_address},
	{"no_program_loads_values_that_the_loader_knows", no_program_loads_values_that_the_loader_knows},
	{"no_call_but_a_tail_call_is_dropped", no_call_but_a_tail_call_is_dropped},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("constants of programs", cases, argc, argv);
}

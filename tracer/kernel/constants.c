/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * constants.c - puts the loader's constants into the instructions
 *
 * The kernel knows the content of the programs' read-only data and drops branches that depend on
 * it, but a program still loads each constant whenever it runs. The values are known before. So
 * this file turns each load of a constant into a move of its value, one instruction for one, before
 * the kernel gets the program.
 */
#include "constants.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loader.h"

/* In SEC() of programs on the kernel's tracepoints: comes before the tracepoint's name. */
#define EVENT_SECTION "event/"

#define LOAD_ACQUIRE 0x100 /* BPF_LOAD_ACQ of Linux 6.15, which our headers may not have */

/* The object that is being loaded, for prepare_program(), which libbpf calls during the load. */
static _Thread_local struct {
	const struct tracer_bpf *skeleton;
	const struct btf *kernel;
	const struct bpf_program *last;
} loading;

static bool is_jump(const struct bpf_insn *insn)
{
	unsigned char class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* By instruction: is it the target of a jump? */
static bool *find_targets(const struct bpf_insn *insns, size_t nr)
{
	bool *targets = calloc(nr, sizeof(*targets));

	for (size_t i = 0; targets && i < nr; i++) {
		long target = (long)i + 1 + (insns[i].code == (BPF_JMP32 | BPF_JA) ? insns[i].imm : insns[i].off);

		if (is_jump(&insns[i]) && target >= 0 && target < (long)nr)
			targets[target] = true;
	}
	return targets;
}

/* Does the instruction change @reg, or jump? */
static bool ends_use(const struct bpf_insn *insn, unsigned char reg)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ST:
		return false;
	/* An atomic operation may store the old value in its source or in r0. A load-acquire is a
	 * load, except for its class. */
	case BPF_STX:
		return BPF_MODE(insn->code) != BPF_MEM && (insn->src_reg == reg || reg == BPF_REG_0 ||
							   (insn->imm == LOAD_ACQUIRE && insn->dst_reg == reg));
	case BPF_JMP:
	case BPF_JMP32:
		return true;
	default:
		return insn->dst_reg == reg;
	}
}

static size_t bytes_loaded(const struct bpf_insn *insn)
{
	static const size_t bytes[] = {[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};

	return bytes[BPF_SIZE(insn->code) >> 3];
}

/* Replace the load by a move with the same effect. Returns false if a
 * move cannot have the value. */
static bool fold_load(struct bpf_insn *insn, const unsigned char *constant, size_t bytes)
{
	unsigned char dst = insn->dst_reg;
	long long value = 0;

	memcpy(&value, constant, bytes); /* unsigned, low byte first: as the load does */
	if (bytes == 8 && value != (int)value)
		return false;
	*insn = (struct bpf_insn){.code = (bytes == 8 ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_K,
				  .dst_reg = dst,
				  .imm = (int)value};
	return true;
}

/* Instruction @at loads the address of our constants. Fold the loads that use this address before
 * anything else can happen. If no other instruction needs the address, remove @at, too. */
static void fold_loads_by(struct bpf_insn *insns, size_t nr, const bool *targets, size_t at,
			  const unsigned char *constants, size_t nr_bytes)
{
	static const struct bpf_insn nothing = {.code = BPF_JMP | BPF_JA}; /* the kernel drops it */
	unsigned char base = insns[at].dst_reg;
	bool is_wanted = false, is_kept = true;

	for (size_t i = at + 2; i < nr && !targets[i] && is_kept; i++) {
		struct bpf_insn *insn = &insns[i];
		long from = (long)insns[at + 1].imm + insn->off;

		is_kept = !ends_use(insn, base);
		is_wanted |= BPF_CLASS(insn->code) != BPF_LDX || BPF_MODE(insn->code) != BPF_MEM ||
			     insn->src_reg != base || from < 0 || (size_t)from + bytes_loaded(insn) > nr_bytes ||
			     !fold_load(insn, constants + from, bytes_loaded(insn));
	}
	if (!is_wanted && !is_kept)
		insns[at] = insns[at + 1] = nothing;
}

int tracer_fold_constants(struct bpf_insn *insns, size_t nr, int map, const void *constants, size_t nr_bytes)
{
	bool *targets = find_targets(insns, nr);

	if (!targets)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < nr; i++)
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) && insns[i].src_reg == BPF_PSEUDO_MAP_VALUE &&
		    insns[i].imm == map)
			fold_loads_by(insns, nr, targets, i, constants, nr_bytes);
	free(targets);
	return 0;
}

void tracer_drop_tail_calls(struct bpf_insn *insns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg && insns[i].imm == BPF_FUNC_tail_call)
			insns[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0};
}

static int fold_program(struct bpf_program *program, const struct tracer_bpf *skeleton)
{
	size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int result;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	result = tracer_fold_constants(insns, nr, bpf_map__fd(skeleton->maps.rodata), (const void *)skeleton->rodata,
				       sizeof(*skeleton->rodata));
	if (!skeleton->rodata->config.samples_waits)
		tracer_drop_tail_calls(insns, nr);
	if (!result)
		result = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return result;
}

/* libbpf calls this for each program on a tracepoint, when all addresses are known. It sets the
 * target of the attachment, as libbpf would itself. */
static int prepare_program(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	char type[128];
	int id;

	loading.last = program;
	snprintf(type, sizeof(type), "btf_trace_%s", bpf_program__section_name(program) + strlen(EVENT_SECTION));
	id = btf__find_by_name_kind(loading.kernel, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return id;
	options->attach_btf_id = (__u32)id;
	return fold_program(program, loading.skeleton);
}

static int attach_program(const struct bpf_program *program, long cookie, struct bpf_link **ret_link)
{
	*ret_link = bpf_program__attach_trace(program);
	return *ret_link ? 0 : -errno;
}

struct tracer_bpf *tracer_open_programs(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = prepare_program,
		    .prog_attach_fn = attach_program);
	static bool registered; /* never unregistered: the programs point to the handler */

	if (!registered &&
	    libbpf_register_prog_handler(EVENT_SECTION, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &handler) < 0)
		return NULL;
	registered = true;
	return tracer_bpf__open();
}

/* Without stacks of waits, and without counts, the programs never reach these maps. */
static void choose_maps(struct tracer_bpf *skeleton)
{
	struct bpf_map *const maps[] = {skeleton->maps.wait_notes,    skeleton->maps.crowded_waits,
					skeleton->maps.wait_programs, skeleton->maps.waker_programs,
					skeleton->maps.exit_programs, skeleton->maps.wanted_exits};
	const struct tracer_config *config = (const struct tracer_config *)&skeleton->rodata->config;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bpf_map__set_autocreate(maps[i], config->samples_waits);
	bpf_map__set_autocreate(skeleton->maps.call_counts, config->counts);
	bpf_map__set_autocreate(skeleton->maps.function_counts, config->counts);
	bpf_map__set_max_entries(skeleton->maps.wait_notes, config->wait_slots_mask + 1);
}

int tracer_load_skeleton(struct tracer_bpf *skeleton, const struct btf *kernel)
{
	choose_maps(skeleton);
	loading.skeleton = skeleton;
	loading.kernel = kernel;
	loading.last = NULL;
	return tracer_bpf__load(skeleton);
}

const struct bpf_program *tracer_program_loaded_last(void)
{
	return loading.last;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_bpf_stack.c - no program needs more stack than older kernels give: 512 bytes for the program
 * and all functions on a call path, each rounded up to 32. And the verifier reads few instructions
 * of the programs, because a person waits for it at each start.
 *
 * Newer kernels give functions stacks of their own and would not complain. Root only; skipped (77)
 * where the kernel cannot be recorded.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../tracer/kernel/loader.h"
#include "../../tracer/kernel/sample_skeleton.h"
#include "../../tracer/kernel/samples.h"
#include "unit.h"

#define MAX_STACK_BYTES		512
#define MAX_READ_BY_VERIFIER	300000 /* instructions; 2 million take 7 s */
#define MAX_READ_FOR_SAMPLES	150000
#define MAX_READ_OF_ONE_PROGRAM 30000

static const struct bpf_insn *insns;
static size_t nr_insns;
static unsigned char *begins; /* by instruction: does a function begin there? */

/* The function that the instruction calls or takes the address of; -1: none. */
static long callee(size_t at)
{
	const struct bpf_insn *insn = &insns[at];

	if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL)
		return (long)at + insn->imm + 1;
	if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg == BPF_PSEUDO_FUNC)
		return (long)at + insn->imm + 1;
	return -1;
}

/* How far below r10 an instruction accesses memory, or computes an address. */
static int depth_of(size_t at)
{
	const struct bpf_insn *insn = &insns[at], *next = at + 1 < nr_insns ? &insns[at + 1] : insn;
	int class = BPF_CLASS(insn->code);

	if ((class == BPF_LDX && insn->src_reg == BPF_REG_10) ||
	    ((class == BPF_ST || class == BPF_STX) && insn->dst_reg == BPF_REG_10))
		return -insn->off;
	if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->src_reg == BPF_REG_10 &&
	    next->code == (BPF_ALU64 | BPF_ADD | BPF_K) && next->dst_reg == insn->dst_reg)
		return -next->imm;
	return 0;
}

/* The stack of the function that begins at @at, with all functions that it calls. */
static int stack_from(size_t at)
{
	int own = 1, deepest = 0;

	for (size_t i = at; i < nr_insns && (i == at || !begins[i]); i++) {
		int depth = depth_of(i), below = callee(i) < 0 ? 0 : stack_from((size_t)callee(i));

		own = depth > own ? depth : own;
		deepest = below > deepest ? below : deepest;
	}
	return (own + 31) / 32 * 32 + deepest;
}

static void look_at(const struct bpf_program *program)
{
	int stack;

	insns = bpf_program__insns(program);
	nr_insns = bpf_program__insn_cnt(program);
	begins = calloc(nr_insns, 1);
	for (size_t i = 0; i < nr_insns; i++)
		if (callee(i) >= 0)
			begins[callee(i)] = 1;
	stack = stack_from(0);
	if (stack > MAX_STACK_BYTES)
		printf("%s: %d ", bpf_program__name(program), stack);
	CU_ASSERT(stack <= MAX_STACK_BYTES);
	CU_ASSERT(stack >= 32);
	free(begins);
}

static void every_program_fits_the_stack_of_older_kernels(void)
{
	struct trace_error error;
	struct tracer *tracer = tracer_new(NULL, &error);
	size_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (bpf_program__fd(tracer->programs[i].program) >= 0) {
			look_at(tracer->programs[i].program);
			nr++;
		}
	CU_ASSERT(nr > 50);
	tracer_free(tracer);
}

static struct tracer *sampling_tracer(void)
{
	struct tracer_options options = {.size = sizeof(options), .sample_period = 1000000};
	struct trace_error error;
	struct tracer *tracer = tracer_new(&options, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer->sampling);
	CU_ASSERT(tracer->sampling->has_waits);
	return tracer;
}

static void every_program_of_samples_fits_it_too(void)
{
	struct tracer *tracer = sampling_tracer();
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program(program, tracer->sampling->skeleton->obj)
		if (bpf_program__fd(program) >= 0) {
			look_at(program);
			nr++;
		}
	CU_ASSERT(nr > 4);
	tracer_free(tracer);
}

/* The instructions that the verifier read; 0: the kernel does not tell (before 5.16). */
static unsigned int read_by_verifier(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);

	CU_ASSERT_EQUAL_FATAL(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	return info.verified_insns;
}

static void the_verifier_reads_few_instructions_of_the_programs(void)
{
	struct trace_error error;
	struct tracer *tracer = tracer_new(NULL, &error);
	unsigned int read = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		const struct bpf_program *program = tracer->programs[i].program;
		unsigned int of_program = bpf_program__fd(program) >= 0 ? read_by_verifier(program) : 0;

		if (of_program > MAX_READ_OF_ONE_PROGRAM)
			printf("%s: %u ", bpf_program__name(program), of_program);
		CU_ASSERT(of_program <= MAX_READ_OF_ONE_PROGRAM);
		read += of_program;
	}
	if (read > MAX_READ_BY_VERIFIER)
		printf("%u ", read);
	CU_ASSERT(read <= MAX_READ_BY_VERIFIER);
	tracer_free(tracer);
}

static void the_verifier_reads_few_instructions_of_the_programs_of_samples(void)
{
	struct tracer *tracer = sampling_tracer();
	struct bpf_program *program;
	unsigned int read = 0;

	bpf_object__for_each_program(program, tracer->sampling->skeleton->obj)
		if (bpf_program__fd(program) >= 0)
			read += read_by_verifier(program);
	if (read > MAX_READ_FOR_SAMPLES)
		printf("%u ", read);
	CU_ASSERT(read <= MAX_READ_FOR_SAMPLES);
	tracer_free(tracer);
}

static const struct unit_case cases[] = {
	{"every_program_fits_the_stack_of_older_kernels", every_program_fits_the_stack_of_older_kernels},
	{"every_program_of_samples_fits_it_too", every_program_of_samples_fits_it_too},
	{"the_verifier_reads_few_instructions_of_the_programs", the_verifier_reads_few_instructions_of_the_programs},
	{"the_verifier_reads_few_instructions_of_the_programs_of_samples",
	 the_verifier_reads_few_instructions_of_the_programs_of_samples},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_bpf_stack: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("stack of programs", cases, argc, argv);
}

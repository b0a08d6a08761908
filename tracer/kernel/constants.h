/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_CONSTANTS_H
#define TRACER_CONSTANTS_H
/* constants.h - the constants of a session in the instructions of the programs. */
#include <bpf/libbpf.h>
#include <stddef.h>

struct tracer_bpf;

struct tracer_bpf *tracer_open_programs(void); /* NULL with errno set on failure */
int tracer_load_skeleton(struct tracer_bpf *skeleton, const struct btf *kernel);
/* The last program on a tracepoint that this thread loaded: the one that failed, if
 * tracer_load_skeleton() failed at a program. NULL: none was loaded. */
const struct bpf_program *tracer_program_loaded_last(void);
/* @map: the map's descriptor in the instructions */
int tracer_fold_constants(struct bpf_insn *insns, size_t nr, int map, const void *constants, size_t nr_bytes);
/**
 * tracer_drop_tail_calls() - replace them by a move
 * For branches that are dead: the kernel prepares a program for its tail calls all the same.
 */
void tracer_drop_tail_calls(struct bpf_insn *insns, size_t nr);

#endif

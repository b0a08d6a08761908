/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SAMPLES_H
#define TRACER_SAMPLES_H
/*
 * samples.h - a tracer's samples: a perf event with a timer on each CPU, and the BPF program that
 * it runs. code_names.c has the names of the kernel's code.
 */
#include <stdbool.h>
#include <stdint.h>
#include "loader.h"
#include "sample_tables.h"

struct samples_bpf;

#define MAX_SAMPLE_PROGRAMS 3

/**
 * struct tracer_sampling - @clocks: one descriptor for each CPU; -1: that CPU is not present
 * @has_waits: the kernel took the programs for the stacks of waits. @has_tables: also those that
 * walk by unwind tables, which @tables makes; owned
 * @program_links: of the programs that note mappings; owned; NULL: off
 */
struct tracer_sampling {
	struct samples_bpf *skeleton; /* owned */
	struct bpf_link **links;      /* owned; NULL for a CPU that is not present */
	int *clocks;		      /* borrowed from the links */
	uint64_t *changed;	      /* of each CPU: what its clock counted at the last change of the period */
	uint32_t nr_cpus;
	struct bpf_link *program_links[MAX_SAMPLE_PROGRAMS];
	struct bpf_link *exit_link; /* owned; only if the event sys_exit is not recorded */
	struct sample_tables *tables;
	uint64_t large_maps, unread_maps; /* of the latest tracer_code_names(): limits.h */
	bool has_waits;
	bool has_tables;
	bool is_on;
};

/**
 * tracer_load_samples() - load the program, with all off. Returns 0, or a negative errno with a
 * sentence
 */
int tracer_load_samples(struct tracer *tracer, struct trace_error *ret_error);
void tracer_free_samples(struct tracer *tracer);

/**
 * tracer_switch_samples() - take samples from now on, or no more; nothing without
 * options.sample_period
 */
void tracer_switch_samples(struct tracer *tracer, bool on);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_STATE_H
#define TRACER_START_STATE_H
/* start_state.h - shared by the two sources of the start state, iterators and /proc. */
#include <trace/tracer.h>

struct tracer;
struct tracer_iter_process;

#define TRACER_MAX_TID	   (1u << 22) /* the kernel's limit for pid_max */
#define TRACER_MAX_CGROUPS 4096

/**
 * struct tracer_collector - receiver of the records, and sets of threads, control groups and
 * descriptor tables found so far
 */
struct tracer_collector {
	tracer_emit_fn emit;
	void *context;
	unsigned char seen[TRACER_MAX_TID / 8];
	uint64_t cgroups[TRACER_MAX_CGROUPS];
	uint32_t cgroup_tids[TRACER_MAX_CGROUPS];
	size_t nr_cgroups;
	uint64_t unnamed_threads; /* whose control group has no room */
	void *tables;		  /* owned: tsearch() of struct tracer_iter_files, one per descriptor table */
	void *memories;		  /* owned: the same, one per address space */
	uint64_t begin_ns;	  /* when the iterators began; 0: they did not run */
	bool no_args;		  /* leave out the arguments of processes */
	int64_t args_of_uid;	  /* only those of this user's processes; -1: of all */
};

/**
 * tracer_collector_new() - a receiver with the options of @tracer; release with free()
 * Returns NULL if out of memory.
 */
struct tracer_collector *tracer_collector_new(const struct tracer *tracer, tracer_emit_fn emit, void *context);
/** tracer_remember_group() - thread @tid is in @cgroup, which has a name later if there is room */
void tracer_remember_group(struct tracer_collector *collector, uint64_t cgroup, uint32_t tid);
int tracer_each_process(struct tracer *tracer, int (*fn)(void *context, const struct tracer_iter_process *process),
			void *context);

#endif

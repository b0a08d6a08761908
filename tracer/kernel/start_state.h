/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_STATE_H
#define TRACER_START_STATE_H
/* start_state.h - shared by the two sources of the start state, iterators and /proc. */
#include <trace/tracer.h>

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
	void *tables;	   /* owned: tsearch() of struct tracer_iter_files, one per descriptor table */
	uint64_t begin_ns; /* when the iterators began; 0: they did not run */
};

/**
 * tracer_emit_record() - one record from a payload and a string; NULL: none. A string that
 * is too long ends with "..."
 */
int tracer_emit_record(struct tracer_collector *c, uint32_t id, uint64_t ts_ns, const void *payload,
		       size_t payload_bytes, const char *text);

/**
 * tracer_abi_of_program() - TRACE_ABI_32 if the file is a 32-bit program of this machine, which has
 * other call numbers; otherwise, or if the file cannot be read, native
 */
enum trace_abi tracer_abi_of_program(const char *path);

/** tracer_emit_runs() - emit thread_runs of a thread, from /proc; nothing if it has exited */
int tracer_emit_runs(struct tracer_collector *c, uint32_t tgid, uint32_t tid, uint64_t ts_ns);

/**
 * tracer_start_state_of_proc() - the threads that the iterators did not show,
 * with their files, from /proc
 */
int tracer_start_state_of_proc(struct tracer_collector *c);

#endif

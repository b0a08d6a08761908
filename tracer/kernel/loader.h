/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_LOADER_H
#define TRACER_LOADER_H
/* loader.h - declarations shared by the files of the loader. */
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <trace/tracer.h>
#include "error_set.h"
#include "config.h"
#include "tracer.skel.h" /* generated; after events.h for its types */

#define TRACER_MAX_PROGRAMS   160
#define TRACER_MAX_NOT_TRACED 512
#define TRACER_NOTE_BYTES     512 /* of a line about an event that is not traced */

/**
 * struct tracer_program - one BPF program and its attachments
 * @event: the event it belongs to (if several, the one of the same name):
 *     its misses are counted there
 * @links: one, or one for each CPU (perf events); owned
 * @is_elsewhere: this kernel or machine does not have the program's attach point, or
 *     has it with other arguments
 * @unavailable: why it is not available; "" if it is
 */
struct tracer_program {
	struct bpf_program *program;
	uint32_t event;
	struct bpf_link **links;
	size_t nr_links;
	bool attached;
	bool is_elsewhere;
	char unavailable[96];
};

struct tracer_probing;

struct tracer {
	struct tracer_bpf *skeleton;	/* owned */
	struct tracer_probing *probing; /* owned; NULL = no probes */
	struct btf *types;		/* owned: the kernel's */
	struct ring_buffer *wakeups;	/* owned */
	struct tracer_ring *rings;	/* owned array */
	size_t nr_rings;
	void *maps[2]; /* owned mappings of the two ring maps */
	size_t map_bytes[2];
	struct tracer_options options;
	uint32_t nr_cpus;
	struct tracer_program programs[TRACER_MAX_PROGRAMS];
	size_t nr_programs;
	/* in the struct, so that running out of memory can be reported, too */
	char not_traced[TRACER_MAX_NOT_TRACED][TRACER_NOTE_BYTES];
	size_t nr_not_traced;
};

/* loader.c */
int tracer_silent(enum libbpf_print_level level, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* programs.c */
void tracer_list_programs(struct tracer *tracer);
int tracer_load_programs(struct tracer *tracer, struct trace_error *ret_error);
bool tracer_program_serves(const struct tracer_program *program, uint32_t event);
/** tracer_program_wanted() - does @mask have an event of @program? */
bool tracer_program_wanted(const struct tracer *tracer, const struct tracer_program *program,
			   const uint64_t mask[TRACE_MASK_WORDS]);
/** tracer_stem_length() - the length of NAME in NAME or NAME__variant */
size_t tracer_stem_length(const char *program);

/* not_traced.c */
/**
 * tracer_has_sibling() - is another variant of the event available? Then one with a tracepoint that
 * this machine lacks, or has in another form, is not missed.
 */
bool tracer_has_sibling(const struct tracer *tracer, const struct tracer_program *program);
void tracer_note_not_traced(struct tracer *tracer, const struct tracer_program *program);
/**
 * tracer_note() - add a line to tracer_not_traced(), shorter than TRACER_NOTE_BYTES,
 * unless it is there already
 */
void tracer_note(struct tracer *tracer, const char *text);

/* follow.c */
pid_t tracer_own_number(void); /* pid of this process in the first pid namespace */
bool tracer_in_first_namespace(void);
/* Adds the descendants of followed processes; forks must be recorded already; notes failures. */
void tracer_follow_descendants(struct tracer *tracer);

/* start_state.c */
int tracer_each_process(struct tracer *tracer, int (*fn)(void *context, const struct tracer_iter_process *process),
			void *context);

/* deferred.c */
void tracer_choose_deferring(struct tracer *tracer); /* after attaching or detaching programs or probes */

/* probe_attach.c */
/* Returns when no probe runs any more: no more events; counts stay. */
void tracer_unlink_probes(struct tracer *tracer);
void tracer_detach_probes(struct tracer *tracer);
uint64_t tracer_probes_missed(const struct tracer *tracer);

/* ready.c */
void tracer_make_ready(const struct tracer *tracer);

/* constants.c */
struct tracer_bpf *tracer_open_programs(void); /* NULL with errno set on failure */
int tracer_load_skeleton(struct tracer_bpf *skeleton, const struct btf *kernel);
/* The last program on a tracepoint that this thread loaded: the one that failed, if
 * tracer_load_skeleton() failed at a program. NULL: none was loaded. */
const struct bpf_program *tracer_program_loaded_last(void);
/* @map: the map's descriptor in the instructions */
int tracer_fold_constants(struct bpf_insn *insns, size_t nr, int map, const void *constants, size_t nr_bytes);

/* percpu.c */
long long tracer_percpu_distance(const struct btf *kernel, const char *variable, const char *hot_member);

/* syscalls.c */
void tracer_syscall_actions(unsigned short actions[2][TRACER_NR_SYSCALLS]);
const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr);

#endif

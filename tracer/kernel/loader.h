/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_LOADER_H
#define TRACER_LOADER_H
/* loader.h - what the files of the loader share. */
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <trace/tracer.h>
#include "error_set.h"
#include "config.h"
#include "tracer.skel.h" /* generated; after events.h, whose types it uses */

#define TRACER_MAX_PROGRAMS   160
#define TRACER_MAX_NOT_TRACED 512
#define TRACER_NOTE_BYTES     512 /* of a line about what is not traced */

/**
 * struct tracer_program - one BPF program and what it is attached by
 * @event: the event it belongs to (of several, the one of the same name): its misses are counted there
 * @links: one, or one for each CPU (perf events); owned
 * @is_elsewhere: this kernel, or this machine, has not what it would be attached to, or with other arguments
 * @unavailable: why it cannot be had; "" when it can
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
	struct tracer_bpf *skeleton; /* owned */
	struct tracer_probing *probing; /* owned; NULL = no probes */
	struct btf *types;	     /* owned: the kernel's */
	struct ring_buffer *wakeups; /* owned */
	struct tracer_ring *rings;   /* owned array */
	size_t nr_rings;
	void *maps[2]; /* owned mappings of the two ring maps */
	size_t map_bytes[2];
	struct tracer_options options;
	uint32_t nr_cpus;
	struct tracer_program programs[TRACER_MAX_PROGRAMS];
	size_t nr_programs;
	char not_traced[TRACER_MAX_NOT_TRACED][TRACER_NOTE_BYTES]; /* here, so that a lack of memory is told, too */
	size_t nr_not_traced;
};

/* loader.c */
int tracer_silent(enum libbpf_print_level level, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* programs.c */
void tracer_list_programs(struct tracer *tracer);
int tracer_load_programs(struct tracer *tracer, struct trace_error *ret_error);
void tracer_note_not_traced(struct tracer *tracer, const struct tracer_program *program);
/** tracer_note() - one more line of tracer_not_traced(), below TRACER_NOTE_BYTES, unless it is there already */
void tracer_note(struct tracer *tracer, const char *text);
bool tracer_program_serves(const struct tracer_program *program, uint32_t event);

/* follow.c */
pid_t tracer_own_number(void); /* this process' own, in the first namespace of processes */
bool tracer_in_first_namespace(void);
void tracer_follow_descendants(struct tracer *tracer); /* of whom is followed, when forks are seen already; what fails is noted */

/* start_state.c */
int tracer_each_process(struct tracer *tracer, int (*fn)(void *context, const struct tracer_iter_process *process), void *context);

/* held.c */
void tracer_choose_holding(struct tracer *tracer); /* after programs or probes have come or gone */

/* probe_attach.c */
void tracer_unlink_probes(struct tracer *tracer); /* returns when none runs any more: no more events; what was counted stays */
void tracer_detach_probes(struct tracer *tracer);
uint64_t tracer_probes_missed(const struct tracer *tracer);

/* ready.c */
void tracer_make_ready(const struct tracer *tracer);

/* constants.c */
struct tracer_bpf *tracer_open_programs(void); /* NULL with errno set when that fails */
int tracer_load_skeleton(struct tracer_bpf *skeleton, const struct btf *kernel);
const struct bpf_program *tracer_program_loaded_last(void); /* by this thread, of those on tracepoints: where tracer_load_skeleton() failed, if at a program. NULL: none was */
int tracer_fold_constants(struct bpf_insn *insns, size_t nr, int map, const void *constants, size_t nr_bytes); /* @map: the descriptor that instructions have for it */

/* percpu.c */
long long tracer_percpu_distance(const struct btf *kernel, const char *variable, const char *hot_member);

/* syscalls.c */
void tracer_syscall_actions(unsigned short actions[2][TRACER_NR_SYSCALLS]);
const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr);

#endif

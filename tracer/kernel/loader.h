/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_LOADER_H
#define TRACER_LOADER_H
/* loader.h - a tracer: the state that the files of the loader share. */
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <trace/tracer.h>
#include "code_maps.h"
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
struct tracer_sampling;

struct tracer {
	struct tracer_bpf *skeleton;	  /* owned */
	struct tracer_probing *probing;	  /* owned; NULL = no probes */
	struct tracer_sampling *sampling; /* owned; NULL = no samples */
	struct code_maps code_maps;	  /* closed: no addresses of code are recorded */
	struct btf *types;		  /* owned: the kernel's */
	struct ring_buffer *wakeups;	  /* owned */
	struct ring_buffer *bells;	  /* owned; NULL = programs cannot call */
	struct bpf_link *bell_links[2];	  /* owned */
	tracer_bell_fn on_bell;		  /* during tracer_bell_take() */
	void *bell_context;
	unsigned int bells_to_take;
	struct tracer_ring *rings; /* owned array */
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
	uint64_t unnamed_group_threads; /* of the latest start state: limits.h */
};

int tracer_silent(enum libbpf_print_level level, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif

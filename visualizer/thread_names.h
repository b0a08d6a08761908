/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_THREAD_NAMES_H
#define VISUALIZER_THREAD_NAMES_H
/*
 * thread_names.h - the process and the name of each thread at the time of an event, without an
 * analysis
 *
 * They come from the start state, and from the events that make, name and execute threads.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/reader.h>
#include "hash_table.h"

/** struct thread_name - @pid: 0: not known; @comm: "": not known */
struct thread_name {
	uint64_t key; /* tid + 1 */
	uint32_t pid;
	char comm[16];
};

/** struct thread_names - zeroed = empty */
struct thread_names {
	struct hash_table rows; /* struct thread_name */
};

/** thread_names_begin() - the names at @from_ns */
void thread_names_begin(struct thread_names *names, const struct trace *trace, uint64_t from_ns);
/** thread_names_note() - true if @event makes or names a thread */
bool thread_names_note(struct thread_names *names, const struct trace_event *event);
/** thread_names_find() - borrowed until the next call; NULL: not known */
const struct thread_name *thread_names_find(const struct thread_names *names, uint32_t tid);
void thread_names_release(struct thread_names *names);
#endif

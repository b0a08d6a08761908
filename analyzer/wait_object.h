/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_OBJECT_H
#define ANALYZER_WAIT_OBJECT_H
/*
 * wait_object.h - the objects of waits: the process that ended a wait, which of its threads, and
 * the path of the file, directory or lock that the wait was on.
 *
 * A wait cause has room for one number. A cause with more has the number of such an object.
 */
#include <stdint.h>
#include "hash_table.h"
#include "wait_cause.h"

struct trace_analysis;
struct trace_process;
struct trace_thread;

struct wait_object {
	uint32_t process;		   /* index */
	string_id path;			   /* 0: none */
	const struct trace_thread *thread; /* NULL: not told apart */
};

struct wait_objects {
	struct wait_object *list; /* owned */
	uint32_t nr, max;
	struct hash_table by_pair, by_thread;
};

void wait_objects_clear(struct wait_objects *objects);
/** wait_cause_with_path() - the cause @v of kind PROCESS, with the path that the wait was on */
struct wait_cause wait_cause_with_path(struct trace_analysis *a, struct wait_cause v, string_id path);
/**
 * wait_cause_with_thread() - the cause @v of a wait of @waiter, with the thread @waker if that is
 * another one of the same process
 * In a process with very many threads they are not told apart: each pair of them would be a row.
 */
struct wait_cause wait_cause_with_thread(struct trace_analysis *a, struct wait_cause v,
					 const struct trace_thread *waiter, const struct trace_thread *waker);
/** wait_thread() - the thread that @v names; NULL: none */
const struct trace_thread *wait_thread(const struct trace_analysis *a, const struct wait_cause *v);
/** wait_thread_now() - the thread of the cause for which interval hooks are called; NULL: none */
const struct trace_thread *wait_thread_now(const struct trace_analysis *a);
/** wait_process() - the process that @v names; NULL: none */
struct trace_process *wait_process(const struct trace_analysis *a, const struct wait_cause *v);
/** wait_path() - the path that a wait for a process was on; 0: none */
string_id wait_path(const struct trace_analysis *a, const struct wait_cause *v);
/** wait_target() - the target of @v as reports name it: of a process, its title */
const char *wait_target(const struct trace_analysis *a, const struct wait_cause *v);
#endif

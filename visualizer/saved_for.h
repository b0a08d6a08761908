/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SAVED_FOR_H
#define VISUALIZER_SAVED_FOR_H
/* saved_for.h - the trigger that saved the trace of a flight recorder by itself. */
#include <trace/critical_path.h>
#include "process_rows.h"
#include "report.h"

/**
 * struct saved_for - @text: in words; borrowed from the trace. @tid: 0: no thread
 * @begin_ns, @end_ns: of what the thread did for so long; equal: it has no length
 */
struct saved_for {
	const char *text;
	uint32_t tid;
	uint64_t begin_ns, end_ns;
};

/** saved_for_get() - false: a user saved the trace, or it is no flight recorder's */
bool saved_for_get(const struct trace *trace, struct saved_for *ret_saved);
/**
 * saved_for_gone_on_ns() - when the thread of @path went on after @ns; the end of @path: it did not
 * A trigger counts while the thread still waits, and only the end of the wait tells its cause.
 */
uint64_t saved_for_gone_on_ns(const struct trace_critical_path *path, uint64_t ns);
/** saved_for_add() - append "Saved by a trigger: " and the text, without the time of it */
void saved_for_add(struct string *s, const struct saved_for *saved);
/** saved_for_thread() - the thread of @saved in @rows; NULL: none */
const struct trace_thread *saved_for_thread(const struct saved_for *saved, const struct process_row *rows, size_t nr);
#endif

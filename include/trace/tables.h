/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H
/*
 * tables.h - the calls, page faults, files, locks, scopes and costs of any span of a trace, without
 * a pass for each span
 *
 * The figures of a span need the state at its begin, so an analysis with a window
 * (trace_analysis_options.from_ns) passes over the whole trace. Tables are collected in one pass,
 * and afterwards tell the same figures of any span in some 20 ms.
 *
 *	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 *	struct trace_tables *tables = trace_tables_new(analysis, NULL, &error);
 *	struct trace_span_tables *span;
 *
 *	trace_analysis_run(analysis, &error);
 *	if (trace_tables_of_span(tables, from_ns, to_ns, &span, &error) == 0) {
 *		figures = trace_span_tables_figures(span, process);
 *		...
 *		span = trace_span_tables_free(span);
 *	}
 *	tables = trace_tables_free(tables);
 *	analysis = trace_analysis_free(analysis);
 *
 * Memory: three to five bytes for each call, in a file if the caller has one, and about 100 bytes
 * for each thread and call or file.
 * The collecting pass is one thread's. After it, several threads may ask, each with spans of its
 * own, as long as none of them uses the analysis otherwise.
 */
#include <trace/analysis.h>
#include <trace/user_events.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_tables;
struct trace_span_tables;

/**
 * struct trace_tables_options - zeroed = the defaults
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @has_file, @fd: write to this file, which is empty and has no other user, instead of into memory;
 *     borrowed until trace_tables_free()
 * @nr_entries: calls and waits between two sums that are kept; 0: 262,144. A span costs two times
 *     as many, and each sum some memory
 */
struct trace_tables_options {
	size_t size;
	bool has_file;
	int fd;
	uint32_t nr_entries;
};

/**
 * trace_tables_new() - collect tables in the pass of @analysis; before its pass
 * Release them after the pass, and before the analysis, which has no window.
 * Returns NULL with -ENOMEM, or -EBUSY (the pass began, or there are tables, or a window).
 */
struct trace_tables *trace_tables_new(struct trace_analysis *analysis, const struct trace_tables_options *options,
				      struct trace_error *ret_error);
struct trace_tables *trace_tables_free(struct trace_tables *tables); /* NULL is fine; returns NULL */
/**
 * trace_tables_add_user() - collect the scopes and requests of programs, too; before the pass
 * @user: of the same analysis; borrowed until trace_tables_free(). It has no other use then
 * Returns 0; -EBUSY: the pass began, or there are some.
 */
int trace_tables_add_user(struct trace_tables *tables, struct trace_user_events *user,
			  struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_tables_of_span() - the tables from @from_ns to @to_ns, in the clock of the trace
 * @to_ns: 0: to the end of the trace
 * Returns 0; -EAGAIN: the pass has not ended; -ENODATA: gaps divide the waits of the trace into
 *     more than a million pieces, or programs have 65,536 names of scopes, so that only a pass
 *     with a window tells; -EINVAL: the span is empty; -EIO: the file cannot be read or written;
 *     -ENOMEM.
 */
int trace_tables_of_span(const struct trace_tables *tables, uint64_t from_ns, uint64_t to_ns,
			 struct trace_span_tables **ret_span, struct trace_error *ret_error) TRACE_NODISCARD;
struct trace_span_tables *trace_span_tables_free(struct trace_span_tables *span); /* NULL is fine; returns NULL */

/**
 * trace_span_tables_figures() - the calls, kernel work, page faults and files of @process
 * They are those of trace_process_figures() of an analysis with that window; all other figures are
 * 0. Release them with trace_figures_free(). NULL: out of memory
 */
struct trace_figures *trace_span_tables_figures(const struct trace_span_tables *span,
						const struct trace_process *process);
/**
 * trace_span_tables_locks() - as trace_lock_waits(), of the span; to be released with free()
 * NULL: out of memory
 */
struct trace_lock_wait *trace_span_tables_locks(const struct trace_span_tables *span, size_t *ret_nr);
/**
 * trace_span_tables_scopes() - the scopes, requests and times between events of programs
 * They are those of trace_get_span() of an analysis with that window, but without their waits.
 * Borrowed from @span; none without trace_tables_add_user()
 */
const struct trace_span *trace_span_tables_scopes(const struct trace_span_tables *span, size_t *ret_nr);
/** trace_span_tables_probes() - as trace_probe_uses(), of the span */
struct trace_probe_use *trace_span_tables_probes(const struct trace_span_tables *span, size_t *ret_nr);
/** trace_span_tables_events() - as trace_event_uses(), of the span */
struct trace_event_use *trace_span_tables_events(const struct trace_span_tables *span, size_t *ret_nr);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

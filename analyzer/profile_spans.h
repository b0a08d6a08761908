/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_SPANS_H
#define ANALYZER_PROFILE_SPANS_H
/* profile_spans.h - spans of threads: a profile is restricted to them, or has their labels. */
#include <trace/error.h>
#include <trace/profile.h>

/** struct profile_spans - @list: owned, by thread and time. @is_set: nothing else counts */
struct profile_spans {
	struct trace_profile_span *list;
	size_t nr;
	bool is_set;
};

/** profile_spans_set() - copy @nr spans. Returns 0, -ENOMEM, or -EINVAL: one is impossible */
int profile_spans_set(struct profile_spans *spans, const struct trace_profile_span *list, size_t nr) TRACE_NODISCARD;
void profile_spans_clear(struct profile_spans *spans);
/** profile_spans_have() - true if the thread is in a span at @ns */
bool profile_spans_have(const struct profile_spans *spans, uint32_t thread, uint64_t ns);
/**
 * profile_spans_ns() - the time of the thread from @from_ns to @to_ns that counts
 * That of adjacent times adds up to that of both.
 */
uint64_t profile_spans_ns(const struct profile_spans *spans, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/**
 * profile_spans_label() - the label of the span in which the thread is at @ns; 0: in none
 * @end_ns: NULL, or lowered to the end of the time from @ns on that has this label
 */
uint32_t profile_spans_label(const struct profile_spans *spans, uint32_t thread, uint64_t ns, uint64_t *end_ns);
#endif

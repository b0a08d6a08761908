/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_LOSSES_H
#define VISUALIZER_LOSSES_H
/* losses.h - the events that are missing in a trace. @analysis may be NULL. */
#include <trace/analysis.h>
#include <trace/reader.h>
#include "checked_memory.h"
#include "json.h"
#include "number_text.h"
#include "value_text.h"

#define MAX_WARNINGS 5u /* of one kind: --verify prints all */

/**
 * struct losses - what is missing in a trace
 * @is_minimum: the size of some gap is unknown, after the recorder was killed or in a truncated
 *   file
 * @overwritten: by a flight recorder, before the time from which it has everything; not in @gaps
 */
struct losses {
	uint64_t lost;
	uint64_t overwritten;
	size_t gaps;
	bool is_minimum;
};
struct losses losses_of(const struct trace *trace);
/**
 * losses_older() - events from before the time from which a flight recorder has everything
 * The recorder has them for some CPUs and programs. Only lists show them; no figure contains them.
 */
uint64_t losses_older(const struct trace *trace);
/** losses_lost() - number of missing events, also in damaged chunks; @ret_gaps: in how many gaps */
uint64_t losses_lost(const struct trace *trace, const struct trace_analysis *analysis, size_t *ret_gaps);
/**
 * losses_claimed() - number of missing events that only programs counted
 * It is at most that of losses_of(). No recorder can check this number. Returns false if the trace
 * does not tell it: *@ret_nr is 0.
 */
bool losses_claimed(const struct trace *trace, uint64_t *ret_nr);
/** losses_json() - the keys "lost", "claimed" (null: not known) and "gaps" */
void losses_json(struct json *json, const struct trace *trace, const struct trace_analysis *analysis);
/**
 * losses_claim_words() - number_claimed() of these; "" if no lost event was counted
 */
struct claim_text losses_claim_words(const struct trace *trace);
/** struct losses_text - the longest number of lost events, in words */
struct losses_text {
	char bytes[160];
};
/**
 * losses_text() - "17 events", "at least 17 events (16 of them counted by programs only)", or that
 * the number is unknown
 */
const char *losses_text(const struct trace *trace, const struct trace_analysis *analysis, struct losses_text *text);
/**
 * losses_sentence() - append a blank and the sentence about losses; nothing if nothing was lost
 */
void losses_sentence(struct string *s, const struct trace *trace, const struct trace_analysis *analysis);
/**
 * losses_warn_late() - after the pass: warn on stderr of late gaps, which are found only while
 * reading
 */
void losses_warn_late(const struct trace_analysis *analysis);
/**
 * pass_cursor() - begin a pass over events; never NULL
 * If it cannot begin, because memory is missing or the file was cut, the program ends with a line
 * that says so.
 */
struct trace_cursor *pass_cursor(const struct trace *trace, const struct trace_cursor_options *options)
	__attribute__((returns_nonnull, warn_unused_result));
/**
 * events_pass_end() - end a pass over events and free @cursor
 * Lack of memory ends the program: a list must not omit events. A damaged chunk was reported as a
 * loss already. The start state has no losses, so damage in it is reported here, unless
 * @is_reported.
 */
void events_pass_end(struct trace_cursor *cursor, bool is_reported);
#endif

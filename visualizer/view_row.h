/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_ROW_H
#define VISUALIZER_VIEW_ROW_H
/* view_row.h - rows as numbers, and what a page knows of them */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_row_number() - kind * 2^28 + index */
uint32_t view_row_number(struct trace_row_id id);
/** view_row_numbered() - false: there is no such row */
bool view_row_numbered(struct view_session *session, uint64_t number, struct trace_row *ret_row);
/** view_row_asked() - the row of the parameter "row"; false, with an error: none */
bool view_row_asked(struct view_session *session, struct view_question *question, struct trace_row *ret_row);
/** struct view_window - a span of time in the clock of the trace */
struct view_window {
	uint64_t from, to;
};
/** view_window_asked() - the parameters "from" and "to", or the whole; an empty one is an error */
struct view_window view_window_asked(struct view_session *session, struct view_question *question);

/**
 * json_thread() - "key":{"name","tid","row"}; json_process(): {"name","pid","row"}. NULL: nothing
 */
void json_thread(struct json *json, struct view_session *session, const char *key, const struct trace_thread *thread);
void json_process(struct json *json, struct view_session *session, const char *key,
		  const struct trace_process *process);
/** json_time() - ns since the begin of the trace's window; before it: 0 */
void json_time(struct json *json, const struct view_session *session, const char *key, uint64_t ns);

/** view_rows() - answer "rows"; view_sums(): "sums"; view_search(): "search" */
void view_rows(struct view_session *session, struct view_question *question, struct json *json);
void view_sums(struct view_session *session, struct view_question *question, struct json *json);
void view_search(struct view_session *session, struct view_question *question, struct json *json);
#endif

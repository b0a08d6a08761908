/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SESSION_H
#define VISUALIZER_VIEW_SESSION_H
/*
 * view_session.h - a trace that is shown: its analysis, and the questions that a page asks.
 *
 * A question is a word with parameters, such as "spans?row=7&from=0&to=1000&max=100"; an answer is
 * JSON, or the bytes of shares (view_shares.h). docs/VIEW.md has all questions. The same function
 * answers them behind the web server and in the self-contained page.
 * Times in questions and answers are ns since the begin of the trace's window, because JavaScript
 * has no integers above 2^53. A row is a number: its kind, and its index below (view_row.h).
 */
#include <stdbool.h>
#include <stdio.h>
#include <trace/view.h>
#include "answer_choice.h"
#include "report.h"

/**
 * struct view_choice - what the verdict is about
 * @is_made: at the end of the pass; it is the same for all spans
 */
struct view_choice {
	struct answer_choice is;
	bool is_made;
};

/**
 * struct view_whole_books - the report of the whole trace, as the pass of the bills or the index
 * has it; but for its head, report_json_head()
 * @text: not terminated; NULL: not known. @owned: NULL, or the memory of @text
 */
struct view_whole_books {
	const char *text;
	size_t bytes;
	char *owned;
};

/**
 * struct view_session - one thread at a time
 * @report: of the whole trace; its history is that of @view. It has no servers: view_bills.h
 * @window: of --from and --to
 * @start, @end: that window, ns of the trace's clock
 * @is_complete: the pass has ended: all states are known
 * @is_billed: so has that of the bills, or there is none
 * @is_of_index: the states are from an index, which has neither bills nor scopes nor numbers over
 *     time: the pass of the bills collects all of them
 * @version: how many sessions were shown before this one: the page asks again when it changes
 * @rest_ns: of a trace that grows: the pause until it is read again; 0: not known
 * @unread: why the file that has grown is not read again any more; "": it is
 */
struct view_session {
	struct report report;
	struct visualizer_options options;
	struct trace_view *view;
	struct time_window window;
	struct view_choice answer;
	struct only_client *clients; /* owned, with their names; or NULL */
	size_t clients_room;
	uint64_t start, end, rest_ns;
	bool is_complete, is_billed, is_of_index;
	char unread[sizeof(((struct trace_error *)0)->message)];
	unsigned int nr_bill_steps, nr_table_steps, version;
	struct view_bill_pass *bills;	      /* owned; view_bills.c */
	struct view_client_list *client_list; /* owned; view_clients.c */
	struct view_scope_list *scopes;	      /* owned; view_scopes.c */
	struct view_request_list *requests;   /* owned; view_requests.c */
	void *request_items;		      /* owned; its items */
	struct view_counter_list *counters;   /* owned; view_counters.c */
	struct view_sample_list *samples;     /* owned; view_samples.c */
	struct view_function_list *functions; /* owned; view_functions.c */
	struct view_whole_books books;
	struct view_count *count;			/* owned; view_count.c */
	struct view_table_pass *tables;			/* owned; view_tables.c */
	struct view_profile_log *profile_log;		/* owned; view_profile_log.c */
	struct view_symbols *symbols;			/* owned; view_symbols.c */
	void (*watch)(struct trace_analysis *analysis); /* before the pass of the bills; or NULL */
};

/**
 * view_session_begin() - prepare the passes over @trace, which outlives the session
 * Returns 0; 1 or 2 after a message on stderr.
 */
int view_session_begin(struct view_session *session, const struct trace *trace,
		       const struct visualizer_options *options);
/**
 * view_session_of_index() - the session of a view that has been read from an index, complete; it
 * owns @view and @analysis
 */
void view_session_of_index(struct view_session *session, const struct trace *trace,
			   const struct visualizer_options *options, struct trace_view *view,
			   struct trace_analysis *analysis);
/**
 * view_session_step() - step @nr of @of of the pass; from the last one on, to its end. Then the
 * steps of the pass of the bills, which have numbers of their own
 * Between steps, questions are answered with what is known. Returns 1 at the end of both, 0 if
 * events are left, -1 after a message on stderr.
 */
int view_session_step(struct view_session *session, unsigned int nr, unsigned int of);
/** view_session_time() - the end of step @nr of @of, ns; UINT64_MAX: the end of the trace */
uint64_t view_session_time(const struct view_session *session, unsigned int nr, unsigned int of);
void view_session_end(struct view_session *session);
/** view_session_choose() - what the verdict is about, by what the pass knows until now */
void view_session_choose(struct view_session *session);

/** struct view_answer - @bytes: owned. @is_binary: otherwise JSON. @is_wrong: JSON with "error" */
struct view_answer {
	char *bytes;
	size_t size;
	bool is_binary, is_wrong;
};
/** view_answer() - answer @question; the caller frees the bytes */
struct view_answer view_answer(struct view_session *session, const char *question);
#endif

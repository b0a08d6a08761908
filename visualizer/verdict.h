/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VERDICT_H
#define VISUALIZER_VERDICT_H
/*
 * verdict.h - a critical path in one sentence: "load waited 84 % of its 3.141 s for app, which
 * waited for postgres 13786, which slept"
 */
#include "path_tree.h"
#include "report.h"

/**
 * struct verdict_clause - what the bytes from @begin to @end of a sentence are about
 * @wait: of the tree; NULL: not about a wait, but about all of @thread
 */
struct verdict_clause {
	size_t begin, end;
	const struct trace_thread *thread;
	const struct path_wait *wait;
};
#define VERDICT_CLAUSES 20
/** struct verdict_clauses - in order, none within another one */
struct verdict_clauses {
	struct verdict_clause list[VERDICT_CLAUSES];
	size_t nr;
};

/**
 * verdict_add() - append the sentence, with whole names; @clauses: emptied and filled, or NULL
 * text_cut_words() makes names fit.
 */
void verdict_add(struct string *s, const struct report *report, const struct path_tree *tree,
		 struct verdict_clauses *clauses);
/** verdict_place() - "own code", "waiting for a CPU", "waiting for files" ...; static */
const char *verdict_place(enum path_place place);
/** verdict_wait_text() - the object of @wait: "a CPU, taken by cc1", "file /etc/passwd" */
void verdict_wait_text(const struct report *report, const struct path_wait *wait, struct string *s);
/** verdict_root_text() - the thread that @tree is about, or "20 threads of app.py 2146" */
void verdict_root_text(const struct path_tree *tree, struct string *s);
/** verdict_thread_text() - "postgres 13786", with its name if the thread has one of its own */
void verdict_thread_text(const struct trace_thread *thread, struct string *s);
/**
 * verdict_waiter_text() - the thread of @wait, or "cc1 processes", "app.py 7 threads pool"
 * @root: the thread of the path: "its thread gc 813" is another one of its process
 */
void verdict_waiter_text(const struct path_wait *wait, const struct trace_thread *root, struct string *s);
#endif

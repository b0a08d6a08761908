/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ANSWER_CHOICE_H
#define VISUALIZER_ANSWER_CHOICE_H
/*
 * answer_choice.h - what the first answer is about: the same on the screen and in the view
 *
 * It is the command's thread, or that of the command which it ran with a limit of time; in a trace
 * that a trigger saved the thread that it was for, and the time; else the thread of the chosen or
 * of all processes with the most work, or the threads that have that work in parts (busiest.h).
 */
#include "path_tree.h"
#include "process_rows.h"
#include "report.h"
#include "saved_for.h"

#define ANSWER_THREADS 64 /* that may be shown as one */

/**
 * struct answer_choice - @threads: @nr of them; several: of one process, which have its work in
 *   parts
 * @from_ns, @to_ns: their paths have no time outside of it
 * @of_command: the thread is that of the recorded command, or of the one that this ran
 * @of_saved: it is the one that the trigger was for, or that pressure kept waiting
 * @saved: the trigger that saved the trace; no text: none, or the answer is about something else
 * @before: a sentence to read before the verdict: why it is about these threads; owned
 */
struct answer_choice {
	const struct trace_thread *threads[ANSWER_THREADS];
	size_t nr;
	uint64_t from_ns, to_ns;
	bool of_command, of_saved;
	struct saved_for saved;
	struct string before;
};

/**
 * answer_choose() - @rows: the processes of the report; without a history only @saved is found
 * @ret_tree: of all of the time; no links: no thread has time in it. The caller clears both.
 */
void answer_choose(const struct report *report, const struct process_row *rows, size_t nr,
		   struct answer_choice *ret_choice, struct path_tree *ret_tree);
/** answer_tree() - of a part of the time; no links: no thread has time in it */
struct path_tree answer_tree(const struct report *report, const struct answer_choice *choice, uint64_t from_ns,
			     uint64_t to_ns);
void answer_choice_clear(struct answer_choice *choice);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_THREAD_CHOICE_H
#define VISUALIZER_THREAD_CHOICE_H
/* thread_choice.h - the threads of a process that --tid and --comm choose. */
#include "checked_memory.h"
#include "report.h"

/** thread_is_chosen() - true if the options choose @thread, or all threads of its process */
bool thread_is_chosen(const struct report *report, const struct trace_thread *thread);
/** chosen_figures() - the figures of the chosen threads of @process */
struct trace_figures *chosen_figures(const struct report *report, const struct trace_process *process);
/** chosen_threads() - their number */
size_t chosen_threads(const struct report *report, const struct trace_process *process);
/** chosen_threads_text() - append ", thread http-worker (4712)" or ", 3 threads"; nothing: all */
void chosen_threads_text(struct string *s, const struct report *report, const struct trace_process *process);
#endif

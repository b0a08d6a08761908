/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SAMPLES_H
#define VISUALIZER_VIEW_SAMPLES_H
/*
 * view_samples.h - the samples of threads, as lanes: when they were taken, and their stacks
 *
 * They are read from the trace when the first question comes. Stacks of waits are not among them;
 * the stack of what ended a wait is read when that wait is asked for.
 */
#include <trace/view.h>
#include "json.h"
#include "view_question.h"
#include "view_session.h"

void view_samples_free(struct view_session *session);
/**
 * view_sampled() - answer "sampled": the threads with samples; view_samples(): "samples", how many
 * a thread has in each column of a span; view_sample(): "sample", the stack of the one at a time
 */
void view_sampled(struct view_session *session, struct view_question *question, struct json *json);
void view_samples(struct view_session *session, struct view_question *question, struct json *json);
void view_sample(struct view_session *session, struct view_question *question, struct json *json);
/**
 * view_samples_woken() - add "woken" to the open object, the stack of what ended @wait and the
 * function "in", as profile_waker_name(); nothing if that stack was not recorded
 * @runs_ns: until then the thread did not run
 */
void view_samples_woken(struct view_session *session, struct json *json, const struct trace_view_span *wait,
			uint64_t runs_ns);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SPAN_H
#define VISUALIZER_VIEW_SPAN_H
/* view_span.h - the states of a row, one of them in words, and sums of waits by object */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_spans() - answer "spans"; view_at(): "at"; view_waits(): "waits" */
void view_spans(struct view_session *session, struct view_question *question, struct json *json);
void view_at(struct view_session *session, struct view_question *question, struct json *json);
void view_waits(struct view_session *session, struct view_question *question, struct json *json);
#endif

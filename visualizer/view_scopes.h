/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SCOPES_H
#define VISUALIZER_VIEW_SCOPES_H
/* view_scopes.h - the scopes and requests that programs recorded, as lanes below their threads */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_scopes_begin() - collect them in the pass of @analysis; once, before it */
void view_scopes_begin(struct view_session *session, struct trace_analysis *analysis);
typedef const struct trace_thread *view_thread_of(const struct view_session *session,
						  const struct trace_thread *thread);
/** view_scopes_pair() - after a pass of another analysis: its threads become those of @shown */
void view_scopes_pair(struct view_session *session, view_thread_of *shown);
/** view_scopes_exist() - is there any, by now? */
bool view_scopes_exist(const struct view_session *session);
void view_scopes_free(struct view_session *session);
/** view_lanes() - answer "lanes"; view_scopes(): "scopes" */
void view_lanes(struct view_session *session, struct view_question *question, struct json *json);
void view_scopes(struct view_session *session, struct view_question *question, struct json *json);
#endif

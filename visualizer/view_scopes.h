/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SCOPES_H
#define VISUALIZER_VIEW_SCOPES_H
/* view_scopes.h - the scopes and requests that programs recorded, as lanes below their threads */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_scopes_begin() - collect them in the pass; once, before it */
void view_scopes_begin(struct view_session *session);
void view_scopes_free(struct view_session *session);
/** view_lanes() - answer "lanes"; view_scopes(): "scopes" */
void view_lanes(struct view_session *session, struct view_question *question, struct json *json);
void view_scopes(struct view_session *session, struct view_question *question, struct json *json);
#endif

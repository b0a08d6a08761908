/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_PATH_H
#define VISUALIZER_VIEW_PATH_H
/* view_path.h - critical paths, and the verdict with links */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_path() - answer "path"; view_verdict(): "verdict" */
void view_path(struct view_session *session, struct view_question *question, struct json *json);
void view_verdict(struct view_session *session, struct view_question *question, struct json *json);
#endif

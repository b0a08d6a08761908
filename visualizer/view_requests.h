/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_REQUESTS_H
#define VISUALIZER_VIEW_REQUESTS_H
/*
 * view_requests.h - the requests that the analysis found at servers, as lanes below their processes
 */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/** view_servers() - answer "servers"; view_requests(): "requests" */
void view_servers(struct view_session *session, struct view_question *question, struct json *json);
void view_requests(struct view_session *session, struct view_question *question, struct json *json);
#endif

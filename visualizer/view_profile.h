/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_PROFILE_H
#define VISUALIZER_VIEW_PROFILE_H
/* view_profile.h - the functions of a span: what --profile --json writes with --from and --to */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

/**
 * view_functions() - answer "functions": schema trace-profile/1, by a pass of its own
 * A row of a process or thread chooses as --pid and --tid, and so do the parameters pid and tid.
 * Without a row it uses nothing of the session but its trace and its window.
 */
void view_functions(struct view_session *session, struct view_question *question, FILE *out);
/**
 * view_functions_chosen() - the question @text with the number of its process or thread instead of
 *	its row, so that a copy of the session can answer it; to be freed
 * Returns NULL if the question is wrong: view_answer() says how, without a pass.
 */
char *view_functions_chosen(struct view_session *session, const char *text);
#endif

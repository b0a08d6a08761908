/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_PROFILE_H
#define VISUALIZER_VIEW_PROFILE_H
/* view_profile.h - the functions of a span: what --profile --json writes with --from and --to */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

/**
 * view_functions() - answer "functions": schema trace-profile/1, by a pass of its own
 * A row of a process or thread chooses as --pid and --tid.
 */
void view_functions(struct view_session *session, struct view_question *question, FILE *out);
#endif

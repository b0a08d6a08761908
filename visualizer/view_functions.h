/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_FUNCTIONS_H
#define VISUALIZER_VIEW_FUNCTIONS_H
/*
 * view_functions.h - the functions in the verdict of a view, in which its threads used the CPUs and
 * waited
 *
 * A recording with samples has them. They are known at the end of the pass, and of all of the time
 * only, so a verdict about a part of it has none. The index of the view keeps them.
 */
#include <trace/error.h>
#include "checked_memory.h"
#include "view_session.h"
#include "wait_places.h"

/** view_functions_begin() - before the pass; returns 0, -ENOMEM with @ret_error */
int view_functions_begin(struct view_session *session, struct trace_error *ret_error) TRACE_NODISCARD;
/** view_functions_find() - after the pass. @tree: of the verdict about all of the time */
void view_functions_find(struct view_session *session, const struct path_tree *tree);
void view_functions_free(struct view_session *session);
/**
 * view_functions_note() - add lines to @notes for each: "function ROW" or "wait BYTES:KEY", and
 * "NS OF_NS BYTES:NAME"; for a wait a third, "NS BYTES:NAME", of where it was ended
 */
void view_functions_note(const struct view_session *session, struct string *notes);
/** view_functions_add() - what such a line has; the name in @place is copied */
void view_functions_add(struct view_session *session, const struct trace_thread *thread,
			const struct wait_place *place);
/** view_functions_add_wait() - the same of a wait; @key: wait_place_key() */
void view_functions_add_wait(struct view_session *session, const char *key, const struct wait_place *place);
#endif

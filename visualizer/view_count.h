/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_COUNT_H
#define VISUALIZER_VIEW_COUNT_H
/*
 * view_count.h - the report of a span, made in steps: no question waits for a pass.
 *
 * A page asks "count" for a span again and again. Each such question continues the pass for
 * "books" of that span by half a million events, and tells how far it is. When it is done, "books"
 * is answered at once. A page that asks for another span ends the pass, and one that asks no more
 * costs nothing. The last reports are kept: to go back to a span needs no pass.
 *
 * A session makes one pass at a time. If two pages count, the second one is told to wait until the
 * first is done, or has not asked while the second one did MAX_REFUSED times.
 *
 * Threads: any may ask, with a copy of the session, too.
 */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

struct view_count;

struct view_count *view_count_new(void);
struct view_count *view_count_free(struct view_count *count); /* NULL is fine; returns NULL */
/** view_count_goes_on() - true if a pass is not at its end */
bool view_count_goes_on(struct view_count *count);
/** view_count() - answer "count": continue the pass for a span */
void view_count(struct view_session *session, struct view_question *question, struct json *json);
/** view_counted_books() - answer "books": a report that was counted, or view_books() */
void view_counted_books(struct view_session *session, struct view_question *question, FILE *out);
#endif

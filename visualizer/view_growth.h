/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_GROWTH_H
#define VISUALIZER_VIEW_GROWTH_H
/*
 * view_growth.h - a trace that grows while it is shown: the thread of the pass reads the file again
 * beside the session that is shown, and replaces that session when it has all states and bills.
 *
 * The pass cannot go on where it ended: it looks ahead in the file, for example for the next event
 * of a process or the end of a gap, so that its last seconds change when more of the file is there.
 *
 * Example: a recording of 10 s is read in 0.2 s of CPU time. The next reading begins at least 1.8 s
 * later, so that all readings together take a tenth of a CPU.
 */
#include "view_shared.h"

struct view_growth;

/**
 * view_growth_begin() - begin to read the file of @shared as it is now
 * Returns NULL if the session that is shown is not complete, if the file has not grown, if the last
 * reading was too recent, or if the file cannot be read; nothing is printed.
 */
struct view_growth *view_growth_begin(struct view_shared *shared);
/** view_growth_step() - as view_session_step(); the session that is shown is not used */
int view_growth_step(struct view_growth *growth, unsigned int nr, unsigned int of);
/**
 * view_growth_end() - release @growth; NULL is fine
 * @take: all steps are done: show what they have read, unless the question "again" has replaced the
 *     session meanwhile
 */
void view_growth_end(struct view_growth *growth, bool take);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_GROWTH_H
#define VISUALIZER_VIEW_GROWTH_H
/*
 * view_growth.h - a trace that grows while it is shown: the thread of the pass reads the file again
 * beside the session that is shown, and replaces that session when it has all states. The bills
 * come after that, as in the first reading; a session with servers waits for them, so that clients
 * do not disappear meanwhile.
 *
 * The pass cannot go on where it ended: it looks ahead in the file, for example for the next event
 * of a process or the end of a gap, so that its last seconds change when more of the file is there.
 *
 * So a reading costs as much as the file is long, and the pause until the next one is longer after
 * a long one. Example: a recording of 10 s is read in 0.2 s of CPU time, bills included. The next
 * reading begins 1.8 s later, so that all readings together take a tenth of a CPU. A recording that
 * grows nearly as fast as it is read would then be read after 10 s, 100 s and 1,000 s. So the pause
 * is 10 s after a reading of more than 1.1 s, and four times as long as one of more than 2.5 s,
 * which is a fifth of a CPU: a recording of 60 s that is read in 20 s is read again after 80 s. The
 * page says so.
 */
#include "view_shared.h"

struct view_growth;

/**
 * view_growth_begin() - begin to read the file of @shared as it is now
 * Returns NULL if the session that is shown is not complete, if the file has not grown, if the last
 * reading was too recent, or if the file cannot be read; nothing is printed.
 */
struct view_growth *view_growth_begin(struct view_shared *shared);
/**
 * view_growth_step() - as view_session_step(); the session that is shown is not used
 * Returns 1 when what was read can be shown; view_shared_step() reads the bills then.
 */
int view_growth_step(struct view_growth *growth, unsigned int nr, unsigned int of);
/**
 * view_growth_end() - release @growth; NULL is fine
 * @take: view_growth_step() has returned 1: show what was read, unless the question "again" has
 *     replaced the session meanwhile
 */
void view_growth_end(struct view_growth *growth, bool take);
/** view_growth_rest() - ns until the next reading, after one that took @cpu_ns of CPU time */
uint64_t view_growth_rest(uint64_t cpu_ns);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGER_H
#define VISUALIZER_PAGER_H
/* pager.h - the program that shows a long report on a terminal page by page. */

/**
 * pager_begin() - from now on standard output goes to the pager: $TRACE_PAGER, else $PAGER, else
 * less, which ends by itself if the report fits the screen
 * Nothing happens where standard output is no terminal, or the variable is empty or "cat".
 * If the user leaves the pager early, this program ends at its next write, with status 0.
 */
void pager_begin(void);
/** pager_end() - after the last write: the report is complete; wait until the user has read it */
void pager_end(void);
#endif

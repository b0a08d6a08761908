/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ANSWER_WAITS_H
#define VISUALIZER_ANSWER_WAITS_H
/* answer_waits.h - the waits of the first answer in words: on the screen and in the view. */
#include "path_tree.h"
#include "report.h"

/**
 * struct answer_wait - the waits of the path that have the same words
 * @key: private
 * @thread: which thread waited; @what: for what; @where: in which function; @woken: in
 *     which function of the waker they ended; owned
 * @ns, @count: of all these waits
 * @longest: the one of them with the most time; of the tree
 */
struct answer_wait {
	uint64_t key;
	char *thread, *what, *where, *woken;
	uint64_t ns, count;
	const struct path_wait *longest;
};

/** answer_waits() - longest first; borrows from @tree. answer_waits_free() releases the list */
struct answer_wait *answer_waits(const struct report *report, const struct path_tree *tree, size_t *ret_nr);
void answer_waits_free(struct answer_wait *list, size_t nr);
#endif

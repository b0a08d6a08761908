/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_LEARN_H
#define LIBTRACE_TIMES_LEARN_H
/*
 * times_learn.h - choose the contexts of a block's times.
 *
 * Contexts that pay in one block pay in the next ones, too, because programs repeat. So they are
 * searched for in few blocks, and known to all.
 */
#include <pthread.h>

#include "times.h"
#include "times_contexts.h"

/** times_learn() - search a block for contexts, if it is time to. Any thread */
void times_learn(struct times_learned *learned, const struct times_block *block);

/**
 * times_choose() - the contexts of @block
 * @learned: NULL: only those without a past
 */
void times_choose(struct contexts *contexts, const struct times_block *block, struct times_learned *learned);

/** context_parent() - the code that an event with code @code would have without it; -1: none */
int context_parent(const struct contexts *contexts, unsigned int code);

#endif

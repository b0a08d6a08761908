/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_ANSWER_WRAPPER_H
#define VISUALIZER_ANSWER_WRAPPER_H
/*
 * answer_wrapper.h - a command that only runs another one, with a limit of time
 *
 * Example: "timeout 3 ./load". When the time is over, a signal of the timer ends the wait of
 * timeout, so its critical path is that timer, and has nothing of load, which the user asks about.
 */
#include "path_tree.h"
#include "process_rows.h"

/**
 * wrapped_row() - the child that a wrapper waited for until its time was over
 * @tree: of the wrapper's path. Returns NULL if its thread did not wait for a signal or a child for
 * nearly all of the time, with the timer as the end, or if it had no child
 */
const struct process_row *wrapped_row(const struct process_row *rows, size_t nr, const struct path_tree *tree);
#endif

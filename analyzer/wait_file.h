/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_FILE_H
#define ANALYZER_WAIT_FILE_H
/*
 * wait_file.h - the cause of a wait on a file: its device, a task that held its lock, or the
 * process at its other end
 */
#include <stdbool.h>
#include "state_file.h"
#include "wait_cause.h"

struct wait_context;

/** waker_used_file() - is the waker a task that acted on this file? */
bool waker_used_file(const struct wait_context *ctx, file_idx idx);
/** wait_by_file() - @idx: the file that the call acts on; 0: unknown */
struct wait_cause wait_by_file(const struct wait_context *ctx, file_idx idx);
/** wait_by_path() - of a call that acts on a path: open(), rename() */
struct wait_cause wait_by_path(const struct wait_context *ctx);
#endif

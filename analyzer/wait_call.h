/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_CALL_H
#define ANALYZER_WAIT_CALL_H
/* wait_call.h - the cause of a wait by the class of its system call */
#include "state.h"
#include "wait_cause.h"

struct frame;
struct wait_context;

/**
 * wait_served_file() - the file of the call that a program's file system may have; 0: not known
 *
 * A call that copies has two files: the result is the one of a file system without a disk, or the
 * one that the call reads.
 */
file_idx wait_served_file(const struct wait_context *ctx, const struct frame *frame);

struct wait_cause wait_by_call(const struct wait_context *ctx);
#endif

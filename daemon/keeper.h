/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEEPER_H
#define DAEMON_KEEPER_H
/*
 * keeper.h - a flight recorder of the last seconds: what it keeps, and the saves that are being
 * made
 *
 *	keep.c       the chunks in memory         keep_save.c  writes one file
 *	keeper.c     which save is running, and its client
 *
 * One thread, which is the daemon's main thread.
 */
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#include "keep.h"
#include "keep_save.h"

struct keeper;

/** keeper_new() - nothing is kept yet */
struct keeper *keeper_new(const struct keep_options *options, struct trace_error *ret_error);
/** keeper_free() - a save that is being made is completed first. NULL is fine. Returns NULL */
struct keeper *keeper_free(struct keeper *keeper);

/** keeper_keep() - where the recording puts its chunks; borrowed until keeper_free() */
struct keep *keeper_keep(struct keeper *keeper);
/** keeper_begin() - the recording has begun. @source: copied, without its keep */
void keeper_begin(struct keeper *keeper, const struct keep_source *source);

/** keeper_fd() - readable when keeper_dispatch() has something to do */
int keeper_fd(const struct keeper *keeper);
void keeper_dispatch(struct keeper *keeper);

/**
 * keeper_save_for_client() - save to @file_fd, and answer @client_fd when the file is complete
 * On success the keeper owns @client_fd; it makes a descriptor of its own of @file_fd. Returns 0 or
 * a negative errno; -EBUSY: a save is being made.
 */
int keeper_save_for_client(struct keeper *keeper, int file_fd, int client_fd, struct trace_error *ret_error);
/** keeper_finish() - complete the save that is being made, before the recording ends */
void keeper_finish(struct keeper *keeper);
/** keeper_reset() - drop what is kept */
void keeper_reset(struct keeper *keeper);

/** keeper_print() - what is kept, for a status. Returns the number of bytes, as snprintf() */
size_t keeper_print(struct keeper *keeper, char *text, size_t size);
#endif

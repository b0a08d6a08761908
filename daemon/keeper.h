/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEEPER_H
#define DAEMON_KEEPER_H
/*
 * keeper.h - a flight recorder of the last seconds: what it keeps, and the saves that are being
 * made
 *
 *	keep.c       the chunks in memory         keep_save.c  writes one file
 *	keeper.c     which save is running, and its client
 *	auto_save.c  the files that it saves by itself, on triggers:
 *	save_on.c    the words of --save-on         triggers.c   what of the events fulfils them
 *	pressure.c   what the kernel tells
 *
 * One thread, which is the daemon's main thread.
 */
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#include <sys/signalfd.h>

#include "auto_save.h"
#include "keep.h"
#include "keep_save.h"

struct keeper;

/**
 * keeper_new() - nothing is kept yet
 * @saves: borrowed until keeper_free(); without triggers it saves only on request
 */
struct keeper *keeper_new(const struct keep_options *options, const struct auto_options *saves,
			  struct trace_error *ret_error);
/** keeper_free() - a save that is being made is completed first. NULL is fine. Returns NULL */
struct keeper *keeper_free(struct keeper *keeper);

/** keeper_keep() - where the recording puts its chunks; borrowed until keeper_free() */
struct keep *keeper_keep(struct keeper *keeper);
/**
 * keeper_begin() - the recording has begun. @source: copied, without its keep
 * Returns 0 or a negative errno: a trigger cannot be watched.
 */
int keeper_begin(struct keeper *keeper, const struct keep_source *source, struct trace_error *ret_error);

/**
 * keeper_pressure_fd() - of the value @idx of --save-on; -1: it is another one. It has EPOLLPRI
 * when keeper_pressure() is to be called. The kernel reports once: the descriptor must be in the
 * epoll set of the loop itself, because a poll of another set in between would take the report
 */
int keeper_pressure_fd(const struct keeper *keeper, size_t idx);
void keeper_pressure(struct keeper *keeper, int fd);

/** keeper_signal() - the daemon got a signal. Returns false if no trigger is on it */
bool keeper_signal(struct keeper *keeper, const struct signalfd_siginfo *info);

/** keeper_fd() - readable when keeper_dispatch() has something to do */
int keeper_fd(const struct keeper *keeper);
void keeper_dispatch(struct keeper *keeper);

/**
 * keeper_save_for_client() - save to @file_fd, and answer @client_fd when the file is complete
 * On success the keeper owns @client_fd; it makes a descriptor of its own of @file_fd. Returns 0 or
 * a negative errno; -EBUSY: a save is being made.
 */
int keeper_save_for_client(struct keeper *keeper, int file_fd, int client_fd, struct trace_error *ret_error);
/**
 * keeper_finish() - complete the save that is being made, and make one that is due, before the
 * recording ends
 */
void keeper_finish(struct keeper *keeper);
/** keeper_reset() - drop what is kept */
void keeper_reset(struct keeper *keeper);

/** keeper_get_cpu() - what is kept of a CPU */
void keeper_get_cpu(struct keeper *keeper, uint32_t cpu, struct keep_status *ret_status);
/**
 * struct keeper_status - what is kept of all CPUs, and what was asked for
 * @saves: it saves by itself, @nr_files of at most @max_files so far, without @nr_left_out triggers
 */
struct keeper_status {
	struct keep_status kept;
	uint64_t keep_ns, max_bytes;
	bool saves;
	uint64_t nr_files, max_files, nr_left_out;
};
void keeper_get_status(struct keeper *keeper, struct keeper_status *ret_status);
/** keeper_print() - what is kept, for a status. Returns the number of bytes, as snprintf() */
size_t keeper_print(struct keeper *keeper, char *text, size_t size);
#endif

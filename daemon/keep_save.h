/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEEP_SAVE_H
#define DAEMON_KEEP_SAVE_H
/*
 * keep_save.h - write a trace of what a recording keeps in memory, while it goes on
 *
 * The main thread ends the trace at one moment on all CPUs, reads the state of the machine, and
 * waits until everything up to that moment is in the keep; the rings are drained meanwhile. A
 * thread of its own then writes the file, so that the recording never waits for a disk.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>

#include "clients.h"
#include "keep.h"
#include "recording.h"

struct keep_save;

/**
 * struct keep_source - what to save; all borrowed. @tracer, @clients, @filter: NULL is fine
 * @saved_for: TRACE_INFO_SAVED_FOR of the trace; NULL: a user asked for it
 */
struct keep_source {
	struct keep *keep;
	struct recording *recording;
	struct tracer *tracer;
	struct clients *clients;
	const struct tracer_options *filter;
	int level;
	const char *saved_for;
};

/** keep_save_begin() - @fd: borrowed until keep_save_end(). NULL: the save failed */
struct keep_save *keep_save_begin(const struct keep_source *source, int fd, struct trace_error *ret_error);

/** keep_save_fd() - readable when keep_save_is_done() may have changed */
int keep_save_fd(const struct keep_save *save);
bool keep_save_is_done(struct keep_save *save);

/**
 * struct keep_saved - what was written
 * @held_ns: from its end back to where all CPUs are complete. @end_ns: of the trace
 */
struct keep_saved {
	uint64_t events;
	uint64_t file_bytes;
	uint64_t held_ns;
	uint64_t end_ns;
};

/** keep_save_end() - wait until it is done, and free it. Returns 0 or the errno of the write */
int keep_save_end(struct keep_save *save, struct keep_saved *ret_saved, struct trace_error *ret_error);
#endif

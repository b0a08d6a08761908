/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H
/*
 * recording.h - a trace being written: from the tracer's start to the end mark of the file. One thread.
 *
 *	rings --drain--> queue --writer thread--> file
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/probes.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "drain.h"
#include "clients.h"

struct recording;

/** struct recording_options - @queue_bytes: between drain and disk, 0 = 64 MiB. @proc: the classic process list, NULL = none.
 * @command: for the description; NULL = none. @probes: borrowed; NULL = none. @selection: of programs' events and probes; borrowed during the
 * call; NULL = all. @filter: whom events are recorded of, borrowed during the call; NULL = everybody */
struct recording_options {
	int level;
	size_t queue_bytes;
	FILE *proc;
	char *const *command;
	const struct trace_probes *probes;
	const struct selection *selection;
	const struct tracer_options *filter;
	struct users *users; /* borrowed until recording_free(); NULL = no programs */
};

/**
 * recording_begin() - start the tracer and the trace on @fd; events flow when it returns
 * @tracer, @fd: borrowed until recording_free(). @tracer NULL: events of programs only
 */
struct recording *recording_begin(struct tracer *tracer, int fd, const struct recording_options *options,
				  struct trace_error *ret_error);

/** recording_start_ns() - the begin of the recording, CLOCK_MONOTONIC */
uint64_t recording_start_ns(const struct recording *recording);

/** recording_wake_at() - drain_wake_at(), and recording_drain() */
bool recording_wake_at(struct recording *recording, bool half);

/** recording_drain() - take what is complete; DRAIN_BLOCKED: call again when recording_wake_fd() is readable */
enum drain_result recording_drain(struct recording *recording);
int recording_wake_fd(const struct recording *recording);

/** recording_flush() - take what is not complete too; tells how full the fullest sub-buffer was, in 1/1024 */
uint32_t recording_flush(struct recording *recording);

/** recording_set_mask() - change the recorded events, and note it in the trace */
int recording_set_mask(struct recording *recording, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error);
/** recording_select() - note in the trace that these events of programs and probes are recorded from now on; before they are switched */
void recording_select(struct recording *recording, const char *text);
/** recording_mark() - a note of the user in the trace */
void recording_mark(struct recording *recording, const char *text);

/** recording_sync() - flush, and ask for all of it on disk; done when recording_synced() has grown to @ret_sync. -ENOMEM: nobody would tell when */
int recording_sync(struct recording *recording, uint64_t *ret_sync);
uint64_t recording_synced(struct recording *recording);

/** struct recording_status - @events: in the file, or on the way to it; @lost: in the rings; @lost_write: on the way; @not_understood:
 * what stood in their place made no sense; @missed: programs that the kernel skipped */
struct recording_status {
	uint64_t start_ns;
	uint64_t events;
	uint64_t lost;
	uint64_t lost_write;
	uint64_t not_understood;
	uint64_t missed;
	uint64_t filtered;
	uint64_t file_bytes;
};
void recording_get_status(struct recording *recording, struct recording_status *ret_status);
/** recording_lost_on_cpu() - events of the kernel's on a CPU that found no room */
uint64_t recording_lost_on_cpu(const struct recording *recording, uint32_t cpu);
/** recording_get_other_losses() - @ret_programs: events of programs that found no room. @ret_others: what drain_get_losses() calls so */
void recording_get_other_losses(const struct recording *recording, uint64_t *ret_programs, uint64_t *ret_others);

/** recording_write_error() - the first write that failed; 0 when there was none */
int recording_write_error(struct recording *recording, struct trace_error *ret_error);

/**
 * recording_end() - stop the tracer, write what is left, finish the file
 * @hurry: asked while it waits for a slow disk; true = drop what is queued, count it, and finish at once
 * Returns 0, or the first error of writing: what was written before is a good trace.
 */
int recording_end(struct recording *recording, bool (*hurry)(void *context), void *context, struct trace_error *ret_error);

struct recording *recording_free(struct recording *recording); /* NULL is fine; returns NULL */
#endif

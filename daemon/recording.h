/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H
/*
 * recording.h - write one trace, from the tracer's start to the end mark of the file. One thread.
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
#include "keep.h"

struct build_ids;
struct recording;

/**
 * struct recording_options - @queue_bytes: size of the queue between drain and disk; 0: 64 MiB
 * @proc: file for the classic process list; NULL: none
 * @keep: the chunks go there, and not into a file; borrowed until recording_free(). NULL: a file
 * @command: for the description; NULL: none
 * @probes: borrowed; NULL: none
 * @selection: of programs' events and probes, borrowed during the call; NULL: all
 * @filter: the recorded processes, borrowed during the call; NULL: all
 */
struct recording_options {
	int level;
	size_t queue_bytes;
	FILE *proc;
	struct keep *keep;
	char *const *command;
	const struct trace_probes *probes;
	const struct selection *selection;
	const struct tracer_options *filter;
	struct clients *clients; /* borrowed until recording_free(); NULL = no programs */
};

/**
 * recording_begin() - start the tracer and the trace on @fd; events are recorded when it returns
 * @tracer, @fd: borrowed until recording_free(). @tracer NULL: events of programs only
 */
struct recording *recording_begin(struct tracer *tracer, int fd, const struct recording_options *options,
				  struct trace_error *ret_error);

/** recording_start_ns() - start of the recording, CLOCK_MONOTONIC */
uint64_t recording_start_ns(const struct recording *recording);

/** recording_wake_at() - drain_wake_at(); if it returns true, call recording_drain() */
bool recording_wake_at(struct recording *recording, bool half);

/**
 * recording_drain() - take complete sub-buffers; DRAIN_BLOCKED: call again when recording_wake_fd()
 * is readable
 */
enum drain_result recording_drain(struct recording *recording);
int recording_wake_fd(const struct recording *recording);

/**
 * recording_flush() - close and take incomplete sub-buffers, too
 * Returns the fill level of the fullest one, in 1/1024.
 */
uint32_t recording_flush(struct recording *recording);

/** recording_set_mask() - change the recorded events, and note it in the trace */
int recording_set_mask(struct recording *recording, const uint64_t mask[TRACE_MASK_WORDS],
		       struct trace_error *ret_error);
/**
 * recording_select() - note in the trace which events of programs and probes are recorded from now
 * on
 * Call it before they are switched.
 */
void recording_select(struct recording *recording, const char *text);
/**
 * recording_take_code_maps() - record the mappings of code that the kernel has told since the last
 * call
 */
void recording_take_code_maps(struct recording *recording);
/** recording_nr_lost_maps() - mappings of code so far that the kernel could not tell */
uint64_t recording_nr_lost_maps(const struct recording *recording);
/** recording_add_build_ids() - to @ids, those of all files that were mapped as code so far */
void recording_add_build_ids(const struct recording *recording, struct build_ids *ids);
/** recording_mark() - write a note of the user into the trace */
void recording_mark(struct recording *recording, const char *text);

/**
 * recording_mark_end() - of a recording to memory: a save ends now, at @ret_end_ns
 * recording_catch_up() - wait until everything up to there is in the keep, and drain meanwhile
 * recording_get_marked() - as drain_get_marked(), for @idx below recording_nr_marked(): all rings,
 * and the daemon's own stream
 */
void recording_mark_end(struct recording *recording, uint64_t *ret_end_ns);
void recording_catch_up(struct recording *recording);
size_t recording_nr_marked(const struct recording *recording);
void recording_get_marked(const struct recording *recording, size_t idx, struct drain_marked *ret_marked);

/**
 * recording_watch() - as drain_watch()
 * recording_drain_to_mark() - close all sub-buffers, and take them
 * Returns false if a writer is inside one. Else no event before @ret_ns is still to be taken.
 */
void recording_watch(struct recording *recording, drain_watch_fn watch, void *context);
bool recording_drain_to_mark(struct recording *recording, uint64_t *ret_ns);
/** recording_writer() - the writer, which knows the types of events; borrowed */
const struct trace_writer *recording_writer(const struct recording *recording);

/**
 * recording_sync() - flush, and sync the file; done when recording_synced() has reached @ret_sync
 * Returns 0; -ENOMEM: no sync was queued.
 */
int recording_sync(struct recording *recording, uint64_t *ret_sync);
uint64_t recording_synced(struct recording *recording);

/**
 * struct recording_status - @events: in the file or on the way to it
 * @lost: in the rings. @claimed: the part of it that only programs counted
 * @lost_write: could not be written
 * @not_understood: undecodable records of programs
 * @missed: runs of BPF programs that the kernel skipped
 */
struct recording_status {
	uint64_t start_ns;
	uint64_t events;
	uint64_t lost;
	uint64_t claimed;
	uint64_t lost_write;
	uint64_t not_understood;
	uint64_t missed;
	uint64_t filtered;
	uint64_t file_bytes;
};
void recording_get_status(struct recording *recording, struct recording_status *ret_status);
/**
 * recording_lost_on_cpu() - kernel events of a CPU that were discarded because its ring was full
 */
uint64_t recording_lost_on_cpu(const struct recording *recording, uint32_t cpu);
/**
 * recording_get_other_losses() - the other losses
 * @ret_programs: events of programs that were discarded because their rings were full
 * @ret_others: the losses of drain_get_losses() with other causes
 */
void recording_get_other_losses(const struct recording *recording, uint64_t *ret_programs, uint64_t *ret_others);

/**
 * recording_nr_unmatched() - after recording_end(): patterns of -e that matched no event of a
 * program, no probe and no tracepoint of the kernel
 */
size_t recording_nr_unmatched(const struct recording *recording);
/** recording_write_error() - the first write that failed; 0 when there was none */
int recording_write_error(struct recording *recording, struct trace_error *ret_error);

/**
 * recording_end() - stop the tracer, write the remaining events, finish the file
 * @is_interrupted: called while waiting for a slow disk; true: drop the queue, count it as lost,
 * and finish at once
 * Returns 0, or the first write error; the part written before it is a valid trace.
 */
int recording_end(struct recording *recording, bool (*is_interrupted)(void *context), void *context,
		  struct trace_error *ret_error);

struct recording *recording_free(struct recording *recording); /* NULL is fine; returns NULL */
#endif

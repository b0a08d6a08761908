/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_PROGRAM_H
#define DAEMON_USER_PROGRAM_H
/*
 * user_program.h - one traced program: the daemon switches its events and stores its records in the
 * trace.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/writer.h>

#include "doubt.h"
#include "drain.h"
#include "select.h"
#include "user_clock.h"
#include "user_kept.h"
#include "user_mapping.h"

/**
 * struct user_recording - what a recording shares with its programs; the recording owns it
 * @budget: bounds on the work and memory that programs may cause; NULL: no bounds
 * @next_stream: stream number of the next ring
 * @start_ns: older events are not recorded. @end_ns: nor are younger ones; 0: the recording goes on
 * @doubts: the programs that wrote impossible numbers
 * @last_type: the highest number that the trace gave to an event type of programs
 * @undescribed: event types that the trace refused; their events count as lost. @why: the first
 * refusal
 * @patience: for user_kept_reset() in a flight recorder, and for reads that happen now
 * @flight: records stay in the rings until a snapshot, which brings its own writer; until then
 * @drain and @writer are NULL
 */
struct user_recording {
	struct drain *drain;	     /* borrowed */
	struct trace_writer *writer; /* borrowed */
	struct budget *budget;	     /* borrowed */
	struct user_clock clock;
	struct selection *selection; /* borrowed; is given the name of each event */
	uint32_t next_stream;
	uint32_t last_type;
	uint64_t start_ns;
	uint64_t end_ns;
	struct doubts doubts;
	uint64_t undescribed;
	struct trace_error why;
	int patience;
	bool halted;
	bool blocking;
	bool flight;
};

/**
 * struct user_snapshot - the destination of a flight recorder's snapshot
 * @patience: ms that all programs together may wait for writers inside a sub-buffer
 * @push: takes a block; returns 0 or -ENOMEM. @add_stats: takes the final counts of a stream
 * @missed: events that never had a ring
 */
struct user_snapshot {
	struct trace_writer *writer;
	int patience;
	int (*push)(void *context, const struct trace_source *source);
	int (*add_stats)(void *context, const struct trace_stream_stats *stats);
	void *context;
	uint64_t missed;
};

#define USER_FIRST_STREAM 0x10000u

struct user_program;

/**
 * struct user_identity - the process of a program, as the kernel describes it
 * @number: its pid in the trace; 0: not known
 * @pid_fd: becomes readable when the process dies; -1: none
 * @gone: the process is dead already
 */
struct user_identity {
	pid_t pid;
	pid_t number;
	uid_t uid;
	gid_t gid;
	int pid_fd;
	bool gone;
	char exe[256];
};

/**
 * user_program_new() - claim the memory of @fd, which stays the caller's, and switch the program's
 * events
 * @identity: on success the program owns its pid_fd
 * @whole: the program started after the recording began, so everything in its rings that is not too
 * old is recorded
 * Returns NULL for the reasons of user_mapping_open().
 */
struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording, bool whole,
				      struct trace_error *ret_error);

/**
 * user_program_free() - switch its events off and release its memory. NULL is fine. Returns NULL
 */
struct user_program *user_program_free(struct user_program *program);

/**
 * user_program_look() - look for new events and new rings. Returns true if there were new events
 */
bool user_program_look(struct user_program *program);

/**
 * user_program_switch() - set its event flags after the selection changed, or the recording is
 * halted or ends (@off)
 */
void user_program_switch(struct user_program *program, bool off);

/**
 * user_program_finish() - take everything that a dead program left. False: the queue is full, call
 * again
 */
bool user_program_finish(struct user_program *program);

/**
 * user_program_close_counts() - after drain_end(): count the losses that its rings do not count; its
 * memory is not read afterwards
 */
void user_program_close_counts(struct user_program *program);
/**
 * user_program_late() - after user_program_close_counts(): lost events that were counted since, or that
 * no ring's account took
 * Returns each event once.
 */
uint64_t user_program_late(struct user_program *program);

/** user_program_unregistered() - number of instrumentation points without room in the registry */
uint64_t user_program_unregistered(struct user_program *program);

/**
 * user_program_release() - after user_program_finish(): close its accounts and release its rings
 * The event flags stay: a child that has recorded nothing yet reads those of its parent, even if
 * the parent is long dead.
 */
void user_program_release(struct user_program *program);
bool user_program_is_released(const struct user_program *program);

/* ---- flight recorder: reads the rings without the drain ---- */

/**
 * user_program_snapshot() - write what its rings hold, or held when it died. Returns 0 or -ENOMEM
 */
int user_program_snapshot(struct user_program *program, struct user_snapshot *snapshot);
/**
 * user_program_oldest_ns() - approximate time of its oldest kept event; UINT64_MAX: there is none
 */
uint64_t user_program_oldest_ns(struct user_program *program);
/** user_program_reset() - forget what its rings hold */
void user_program_reset(struct user_program *program);
/**
 * user_program_drop() - forget the oldest part of what a dead program left
 * Returns the number of bytes released; 0: nothing is left.
 */
size_t user_program_drop(struct user_program *program);
/** user_program_saved() - the number of bytes that it left when it died */
size_t user_program_saved(const struct user_program *program);
/** user_program_get_counts() - the counts that remain when a dead program is removed */
void user_program_get_counts(struct user_program *program, struct user_kept_counts *ret_counts);

/** user_program_taken() - number of sub-buffers taken from its rings so far */
uint64_t user_program_taken(const struct user_program *program);

const struct user_identity *user_program_identity(const struct user_program *program);
const struct user_mapping *user_program_mapping(const struct user_program *program);
void user_program_set_identity(struct user_program *program, const struct user_identity *identity);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_PROGRAM_H
#define DAEMON_USER_PROGRAM_H
/*
 * user_program.h - one program with tracepoints: its events are switched, and its records become records of the trace.
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
 * struct user_recording - what a recording gives its programs; the owner's
 * @budget: what programs may cost; NULL: no bounds
 * @next_stream: number of the next ring's stream. @start_ns: what is older is not recorded. @end_ns: nor is what is younger; 0: it goes on
 * @doubts: the programs that wrote impossible numbers
 * @last_type: the highest number that the trace gave to a type of programs
 * @undescribed: event types that the trace did not take: their events count as lost; @why: of the first one
 * @patience: of a flight recorder, as for user_kept_reset(); for what is read now
 * @flight: nothing is taken until a snapshot, which brings a writer of its own: until then @drain and @writer are NULL
 */
struct user_recording {
	struct drain *drain;	     /* borrowed */
	struct trace_writer *writer; /* borrowed */
	struct budget *budget;	     /* borrowed */
	struct user_clock clock;
	struct selection *selection; /* borrowed; is told which events there are */
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
 * struct user_snapshot - where a flight recorder's snapshot goes. @push: a block; 0 or -ENOMEM. @settle: the account of a stream
 * @patience: ms that writers inside may be waited for, by all programs together. @missed: events that never had a ring
 */
struct user_snapshot {
	struct trace_writer *writer;
	int patience;
	int (*push)(void *context, const struct trace_source *source);
	int (*settle)(void *context, const struct trace_stream_stats *stats);
	void *context;
	uint64_t missed;
};

#define USER_FIRST_STREAM 0x10000u

struct user_program;

/** struct user_identity - who it is, as the kernel says. @number: of it in the trace, 0: not known. @pid_fd: readable when it is dead; -1: not known. @gone: it is dead already */
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
 * user_program_new() - claim the memory behind @fd, which stays the caller's, and switch its events
 * @identity: its pid_fd is the program's from now on, if this succeeds
 * @whole: it was not there when the recording began: all that is in its rings and is not too old belongs to it
 * NULL: as user_mapping_open()
 */
struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording, bool whole,
				      struct trace_error *ret_error);

/** user_program_free() - switch its events off, leave its memory. NULL is fine. Returns NULL */
struct user_program *user_program_free(struct user_program *program);

/** user_program_look() - new events and new rings. Returns whether there were new events */
bool user_program_look(struct user_program *program);

/** user_program_switch() - the selection has changed, or the recording is halted or ends (@off) */
void user_program_switch(struct user_program *program, bool off);

/** user_program_finish() - it is dead: take all it left. False: the queue is full, call again */
bool user_program_finish(struct user_program *program);

/** user_program_settle() - after drain_end(): what its rings do not know of is counted, and its memory is not read any more */
void user_program_settle(struct user_program *program);
/** user_program_late() - after user_program_settle(): lost events that were counted since, or could not be put into the books; each told once */
uint64_t user_program_late(struct user_program *program);

/** user_program_unregistered() - places of events that found no room in its registry */
uint64_t user_program_unregistered(struct user_program *program);

/**
 * user_program_bury() - after user_program_finish(): its books are closed and its rings gone
 * Its switches stay: a child that has recorded nothing yet looks at those of its parent, which may be dead long since.
 */
void user_program_bury(struct user_program *program);
bool user_program_is_buried(const struct user_program *program);

/* ---- flight recorder: instead of what goes through the drain ---- */

/** user_program_snapshot() - what its rings hold, or held when it died. 0 or -ENOMEM */
int user_program_snapshot(struct user_program *program, struct user_snapshot *snapshot);
/** user_program_oldest_ns() - of its events that are kept, about; UINT64_MAX: there are none */
uint64_t user_program_oldest_ns(struct user_program *program);
/** user_program_reset() - forget what its rings hold */
void user_program_reset(struct user_program *program);
/** user_program_drop() - it is dead: forget a part of what it left, the oldest. Returns the bytes that this gives back; 0: it has left nothing (more) */
size_t user_program_drop(struct user_program *program);
/** user_program_saved() - the bytes that it left */
size_t user_program_saved(const struct user_program *program);
/** user_program_get_books() - what stands for it when it is not there any more */
void user_program_get_books(struct user_program *program, struct user_kept_books *ret_books);

/** user_program_taken() - sub-buffers taken from its rings so far */
uint64_t user_program_taken(const struct user_program *program);

const struct user_identity *user_program_identity(const struct user_program *program);
const struct user_mapping *user_program_mapping(const struct user_program *program);
void user_program_set_identity(struct user_program *program, const struct user_identity *identity);
#endif

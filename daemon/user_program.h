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

#include "user_identity.h"
#include "user_mapping.h"
#include "user_recording.h"

struct user_program;

/**
 * user_program_new() - claim the memory of @fd, which stays the caller's, and switch the program's
 * events
 * @identity: on success the program owns its pid_fd
 * @count_all: the program started after the recording began, so everything in its rings that is not
 * too old is recorded
 * Returns NULL for the reasons of user_mapping_open().
 */
struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording,
				      bool count_all, struct trace_error *ret_error);

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
 * user_program_close_counts() - after drain_end(): count the losses that its rings do not count;
 * its memory is not read afterwards
 */
void user_program_close_counts(struct user_program *program);
/**
 * user_program_late() - after user_program_close_counts(): lost events that were counted since, or
 * that no ring's account took
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

/** user_program_taken() - number of sub-buffers taken from its rings so far */
uint64_t user_program_taken(const struct user_program *program);

const struct user_identity *user_program_identity(const struct user_program *program);
const struct user_mapping *user_program_mapping(const struct user_program *program);
void user_program_set_identity(struct user_program *program, const struct user_identity *identity);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_program.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "error_set.h"
#include "user_program_state.h"
#include "user_rings.h"
#include "user_distrust.h"
#include "user_types.h"
#include "user_unready.h"

#define TRACEPOINTS_MAX (1u << 24) /* in a program and its libraries: each uses memory of the program */

bool user_program_look(struct user_program *program)
{
	bool found;

	if (program->released || program->counts_closed)
		return false;
	found = user_types_look(program);
	user_rings_look(program);
	user_rings_check_pages(program);
	user_check_counts(program);
	return found;
}

void user_program_switch(struct user_program *program, bool off)
{
	program->off = off;
	user_types_switch(program);
}

/* ---- begin and end ---- */

static void claim(struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);

	__atomic_store_n(&memory->blocking, program->recording->blocking, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->seen_id, 0, __ATOMIC_RELAXED); /* of an earlier daemon */
	__atomic_store_n(&memory->daemon_features, USER_DAEMON_SEES, __ATOMIC_RELAXED);
	/* a writer that waits for room reads daemon_pid, then blocking */
	__atomic_store_n(&memory->daemon_pid, (trace_u32)getpid(), __ATOMIC_RELEASE);
	user_rings_finish_flushes(program);
	if (program->recording->flight)
		__atomic_store_n(&memory->overwrite, 1, __ATOMIC_RELEASE);
	else
		user_rings_stop_overwriting(program);
	user_unready_begin(program, program->count_all);
	user_program_look(program);
	program->count_all = true; /* for rings that come into use from now on */
	user_types_set_new_flag(program);
	user_program_look(program); /* events that were registered before the new flag was set */
}

struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording,
				      bool count_all, struct trace_error *ret_error)
{
	struct user_program *program = calloc(1, sizeof(*program));
	int err = program ? user_mapping_open(&program->mapping, fd, true, ret_error)
			  : error_set(ret_error, -ENOMEM, "no memory to record it");

	if (err) {
		free(program);
		return NULL;
	}
	program->identity = *identity;
	program->payer = identity->uid;
	program->recording = recording;
	program->count_all = count_all;
	program->rings = calloc(program->mapping.nr_rings, sizeof(struct user_ring *));
	if (!program->rings) {
		error_set(ret_error, -ENOMEM, "no memory to record it");
		program->identity.pid_fd = -1; /* it stays the caller's */
		return user_program_free(program);
	}
	user_rings_charge(program);
	claim(program);
	return program;
}

bool user_program_finish(struct user_program *program)
{
	bool done = true;

	user_program_look(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && done && !program->counts_closed; i++) {
		struct user_ring *ring = program->rings[i];

		if (ring && ring->kept)
			program->saved_bytes += user_kept_save(ring->kept);
		else if (ring)
			done = drain_salvage(program->recording->drain, ring->drained);
	}
	return done;
}

void user_program_close_counts(struct user_program *program)
{
	struct drain *drain = program->recording->drain;

	if (program->counts_closed)
		return;
	program->counts_closed = true;
	if (program->recording->flight)
		return;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		struct user_ring *ring = program->rings[i];

		if (!ring)
			continue;
		/* the first ring takes all of them: these events never had a ring */
		drain_count_lost(ring->drained, user_unready_take(program));
		drain_retire(drain, ring->drained);
	}
	user_check_counts(program);
}

/*
 * The program's children continue to count events that they cannot record, even after the program's
 * death.
 */
uint64_t user_program_late(struct user_program *program)
{
	uint64_t late = user_unready_take(program);

	if (program->unready.impossible)
		user_distrust(program, DISTRUST_COUNTER);
	return late;
}

uint64_t user_program_unregistered(struct user_program *program)
{
	const struct user_memory *memory = user_mapping_memory(&program->mapping);

	untrusted_counter_take(&program->unregistered, __atomic_load_n(&memory->unregistered, __ATOMIC_RELAXED),
			       TRACEPOINTS_MAX);
	if (program->unregistered.impossible)
		user_distrust(program, DISTRUST_COUNTER);
	return untrusted_counter_sum(&program->unregistered);
}

void user_program_release(struct user_program *program)
{
	user_program_close_counts(program);
	if (!program->recording->flight)
		user_rings_free(program);
	user_mapping_drop_rings(&program->mapping);
	user_rings_discharge(program);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	program->identity.pid_fd = -1;
	program->released = true;
}

bool user_program_is_released(const struct user_program *program)
{
	return program->released;
}

struct user_program *user_program_free(struct user_program *program)
{
	struct user_memory *memory;

	if (!program)
		return NULL;
	memory = user_mapping_memory(&program->mapping);
	if (program->rings)
		user_program_switch(program, true);
	if (program->recording->flight && !program->released)
		user_rings_stop_overwriting(program);
	__atomic_store_n(&memory->blocking, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->daemon_pid, 0, __ATOMIC_RELAXED);
	user_rings_free(program);
	free(program->rings);
	user_rings_discharge(program);
	user_types_free(program);
	user_mapping_close(&program->mapping);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	free(program);
	return NULL;
}

uint64_t user_program_taken(const struct user_program *program)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		taken += program->rings[i] && program->rings[i]->drained ? drain_taken(program->rings[i]->drained) : 0;
	return taken;
}

const struct user_identity *user_program_identity(const struct user_program *program)
{
	return &program->identity;
}

const struct user_mapping *user_program_mapping(const struct user_program *program)
{
	return &program->mapping;
}

void user_program_set_identity(struct user_program *program, const struct user_identity *identity)
{
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	program->identity = *identity;
}

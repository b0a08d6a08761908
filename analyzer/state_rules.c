/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_rules.c - what the rules ask the state: see rules/rules.h */
#include "kernel_numbers.h"
#include "rules/rules.h"
#include "state.h"
#include "state_touch.h"

uint64_t state_socket_peer(const struct trace_analysis *a, uint64_t ino)
{
	const struct socket_state *sock = sock_peek(a, ino), *peer;

	if (!sock || sock->family == LINUX_AF_UNIX)
		return sock ? sock->peer_ino : 0;
	peer = sock_peer(a, sock);
	return peer ? peer->ino : 0;
}

bool state_file_at(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t address,
		   struct trace_file_id *ret_file)
{
	file_idx file;

	if (!thread->memory || !thread->memory->nr || thread->memory->has_foreign)
		return false;
	file = memory_find(thread->memory, address);
	*ret_file = file ? file_id_of(a, file) : (struct trace_file_id){0};
	return true;
}

bool state_is_complete(const struct trace_analysis *a)
{
	for (size_t i = 0; i < TRACE_MASK_WORDS; i++)
		if (a->masks.unrecorded[i] & a->masks.recorded[i])
			return false; /* recorded for a part of the time */
	return !a->masks.paused && !a->gaps.nr && a->counts[TRACE_EV_fs_open] && a->counts[TRACE_EV_start_thread];
}

bool state_is_windowed(const struct trace_analysis *a)
{
	return a->window;
}

uint64_t state_nr_events(const struct trace_analysis *a)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < TRACE_EV_MAX && !a->done; i++)
		nr += a->counts[i];
	return nr;
}

bool state_has_events(const struct trace_analysis *a, uint32_t id)
{
	return id < TRACE_EV_MAX && a->handlers[id];
}

bool state_was_traced(const struct trace_process *process)
{
	return process->is_traced;
}

size_t state_nr_living(const struct trace_process *process)
{
	return process->nr_living;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_rules.c - what the state tells the rules: see state_rules.h */
#include "rules/rules.h"
#include "state.h"
#include "state_frame.h"
#include "state_rules.h"

static struct trace_file_id id_of(const struct trace_analysis *a, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];

	return (struct trace_file_id){.ino = file->ino, .dev = file->dev, .mode = file->mode & ~FILE_WRITE_END};
}

void rules_had_file(struct trace_analysis *a, const struct trace_thread *thread, file_idx file)
{
	struct trace_file_id id = id_of(a, file);

	if (file)
		rules_touch(a->rules, thread->process, &id);
}

void rules_inherited(struct trace_analysis *a, const struct trace_thread *thread)
{
	for (uint32_t i = 0; thread->fds && i < thread->fds->nr; i++)
		rules_had_file(a, thread, thread->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; thread->memory && i < thread->memory->nr; i++)
		rules_had_file(a, thread, thread->memory->maps[i].file);
}

/* ---- what the rules ask ---- */

uint64_t state_socket_peer(const struct trace_analysis *a, uint64_t ino)
{
	const struct socket_state *sock = sock_peek(a, ino);

	return sock ? sock->peer_ino : 0;
}

bool state_futex_file(const struct trace_analysis *a, const struct trace_thread *thread, struct trace_file_id *ret_file)
{
	const struct frame *frame = frame_syscall((struct trace_thread *)thread);
	file_idx file;

	if (!frame || !frame->nr_args || !thread->memory || !thread->memory->nr || thread->memory->has_foreign)
		return false;
	file = memory_find(thread->memory, frame->args[0]);
	*ret_file = file ? id_of(a, file) : (struct trace_file_id){0};
	return true;
}

/* Threads of two processes may share one table (CLONE_FILES) or one memory (CLONE_VM). */
bool state_shares_tables(const struct trace_process *process, const struct trace_thread *thread)
{
	for (const struct trace_thread *its = process->first; its; its = its->next)
		if ((its->fds && its->fds == thread->fds) || (its->memory && its->memory == thread->memory))
			return true;
	return false;
}

bool state_is_complete(const struct trace_analysis *a)
{
	for (size_t i = 0; i < TRACE_MASK_WORDS; i++)
		if (a->masks.unrecorded[i] & a->masks.recorded[i])
			return false; /* recorded for a part of the time */
	return !a->masks.paused && !a->gaps.nr && a->counts[TRACE_EV_fs_open] && a->counts[TRACE_EV_start_thread];
}

bool state_has_events(const struct trace_analysis *a, uint32_t id)
{
	return id < TRACE_EV_MAX && a->handlers[id];
}

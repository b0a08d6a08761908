/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_rules.c - what the state tells the rules: see state_rules.h */
#include "rules/rules.h"
#include "state.h"
#include "state_frame.h"
#include "state_rules.h"

const struct trace_file_id rules_all_known = {.dev = UINT32_MAX - 2};

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

/*
 * Not files, but in the set of what a process ever had, too: the kernel uses no such device. Tables
 * of descriptors and address spaces have numbers, because processes that share them (CLONE_FILES,
 * CLONE_VM) may end before a wait for them is decided.
 */
#define TABLE(its_number)  ((struct trace_file_id){.dev = UINT32_MAX, .ino = (its_number)})
#define MEMORY(its_number) ((struct trace_file_id){.dev = UINT32_MAX - 1, .ino = (its_number)})

void rules_had_start(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns)
{
	rules_touch(a->rules, thread->process, &rules_all_known);
	thread->fds->is_known = true;
	if (ns > a->start_fds_ns)
		a->start_fds_ns = ns;
}

static void had_tables(struct trace_analysis *a, const struct trace_thread *thread)
{
	if (thread->fds)
		rules_touch(a->rules, thread->process, &TABLE(thread->fds->number));
	if (thread->memory)
		rules_touch(a->rules, thread->process, &MEMORY(thread->memory->number));
}

void rules_inherited(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent)
{
	had_tables(a, parent);
	had_tables(a, child);
	if (child->fds && child->fds->is_known)
		rules_touch(a->rules, child->process, &rules_all_known);
	for (uint32_t i = 0; child->fds && i < child->fds->nr; i++)
		rules_had_file(a, child, child->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; child->memory && i < child->memory->nr; i++)
		rules_had_file(a, child, child->memory->maps[i].file);
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

void state_tables(const struct trace_thread *thread, struct trace_file_id ret_tables[2])
{
	ret_tables[0] = TABLE(thread->fds ? thread->fds->number : 0);
	ret_tables[1] = MEMORY(thread->memory ? thread->memory->number : 0);
}

uint64_t state_start_read_ns(const struct trace_analysis *a)
{
	return a->start_fds_ns;
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

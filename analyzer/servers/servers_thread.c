/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_thread.c - the threads that may serve, and which of them have changed since the last gap
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_state.h"

static bool touched_reserve(struct trace_servers *s)
{
	uint32_t room = s->threads.max_touched ? 2 * s->threads.max_touched : 64;
	struct servers_thread **bigger;

	if (s->threads.nr_touched < s->threads.max_touched)
		return true;
	bigger = reallocarray(s->threads.touched, room, sizeof(struct servers_thread *));
	if (!bigger) {
		s->failed = -ENOMEM;
		return false;
	}
	s->threads.touched = bigger;
	s->threads.max_touched = room;
	return true;
}

void servers_touch(struct trace_servers *s, struct servers_thread *thread)
{
	if (thread->touched || !touched_reserve(s))
		return;
	s->threads.touched[s->threads.nr_touched++] = thread;
	thread->touched = true;
}

struct servers_thread *servers_find_thread(const struct servers_threads *threads, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread);

	return idx < threads->nr ? threads->by_idx[idx] : NULL;
}

struct servers_thread *servers_touch_thread(struct trace_servers *s, const struct trace_thread *thread)
{
	struct servers_thread *known = servers_find_thread(&s->threads, thread);

	if (known)
		servers_touch(s, known);
	return known;
}

static bool make_room(struct trace_servers *s, uint32_t idx)
{
	uint32_t nr = s->threads.nr ? s->threads.nr : 64;
	struct servers_thread **bigger;

	if (idx < s->threads.nr)
		return true;
	while (nr <= idx)
		nr *= 2;
	bigger = reallocarray(s->threads.by_idx, nr, sizeof(struct servers_thread *));
	if (!bigger)
		return false;
	memset(bigger + s->threads.nr, 0, (nr - s->threads.nr) * sizeof(struct servers_thread *));
	s->threads.by_idx = bigger;
	s->threads.nr = nr;
	return true;
}

struct servers_thread *servers_thread_of(struct trace_servers *s, const struct trace_thread *thread)
{
	struct servers_thread *known = thread ? servers_touch_thread(s, thread) : NULL, *made;
	struct servers_process *process;
	struct thread_birth *birth;

	if (known || !thread || trace_thread_is_kernel(thread))
		return known;
	process = servers_process_of(s, trace_thread_process(thread));
	made = process && make_room(s, trace_thread_index(thread)) ? calloc(1, sizeof(*made)) : NULL;
	if (!made) {
		s->failed = -ENOMEM;
		return NULL;
	}
	made->thread = thread;
	made->process = process;
	process->nr_threads++;
	s->threads.by_idx[trace_thread_index(thread)] = made;
	servers_touch(s, made);
	birth = table_find(&s->threads.births, sizeof(*birth), trace_thread_tid(thread) + 1ull);
	if (birth) {
		made->set = birth->set;
		made->parent = birth->parent;
		made->fresh = birth->fresh;
		made->held.unsure = birth->unsure;
		made->unsure_until_exec = birth->unsure && birth->piped;
		made->has_accepted = birth->has_accepted;
		table_remove(&s->threads.births, sizeof(*birth), birth->key);
	}
	return made;
}

struct servers_thread *servers_current_thread(struct trace_servers *s, const struct trace_event *event)
{
	return servers_thread_of(s, trace_thread_on_cpu(s->analysis, event->cpu));
}

struct cpu_time servers_cpu_time(const struct trace_servers *s, const struct servers_thread *thread)
{
	struct trace_times times;

	trace_thread_times(s->analysis, thread->thread, &times);
	return (struct cpu_time){.cpu = times.user_ns + times.syscall_ns + times.trap_ns,
				 .interrupted = times.interrupted_ns};
}

static void thread_free(struct servers_thread *thread)
{
	set_unref(thread->set);
	set_unref(thread->passed);
	set_unref(thread->call.incoming);
	set_unref(thread->call.inherited);
	set_unref(thread->call.outgoing);
	set_unref(thread->call.sent);
	set_unref(thread->turn);
	set_unref(thread->ring.arrived);
	set_unref(thread->ring.answered);
	set_unref(thread->ring.got);
	free(thread);
}

void servers_threads_free(struct servers_threads *threads)
{
	for (uint32_t i = 0; i < threads->nr; i++)
		if (threads->by_idx[i])
			thread_free(threads->by_idx[i]);
	for (const struct thread_birth *birth = NULL; (birth = table_next(&threads->births, sizeof(*birth), birth));)
		set_unref(birth->set);
	free(threads->by_idx);
	free(threads->touched);
	table_clear(&threads->births);
}

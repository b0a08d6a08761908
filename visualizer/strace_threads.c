/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_threads.h"
#include <stdlib.h>
#include <string.h>
#include "complain.h"

static bool is_named(const struct strace_words *words, uint32_t number)
{
	for (size_t i = 0; i < words->nr; i++)
		for (const char *at = words->at[i]; *at;) {
			char *end;
			unsigned long each = strtoul(at, &end, 10);

			if (end != at && each == number)
				return true;
			at = end == at ? at + 1 : end;
		}
	return false;
}

/* Is the process, or one that it descends from, one of -p, or the command? */
static bool descends(const struct strace *strace, const struct trace_process *process)
{
	const struct trace_process *command = strace->report->command.process;

	for (; process; process = trace_process_starter(process))
		if (strace->choice->pids.nr ? is_named(&strace->choice->pids, trace_process_pid(process))
					    : process == command)
			return true;
	return false;
}

static bool decide(const struct strace *strace, const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	uint32_t tid = trace_thread_tid(thread);

	if (trace_thread_is_kernel(thread))
		return false;
	if (!strace->choice->pids.nr && !strace->has_command)
		return true;
	if (strace->choice->follow)
		return descends(strace, process);
	if (strace->choice->pids.nr)
		return is_named(&strace->choice->pids, tid);
	return process == strace->report->command.process && tid == trace_process_pid(process);
}

bool strace_traces(struct strace *strace, struct strace_thread *t)
{
	if (t->is_decided)
		return t->is_traced;
	/* the command is known from its exec on */
	t->is_decided = strace->choice->pids.nr || !strace->has_command || strace->report->command.process;
	t->is_traced = t->is_decided && decide(strace, t->thread);
	if (t->is_traced && !t->is_counted) {
		t->is_counted = true;
		strace->nr_alive++;
	}
	return t->is_traced;
}

struct strace_thread *strace_thread_of(struct strace *strace, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread);

	if (idx >= strace->nr_threads) {
		size_t nr = idx + 64 + strace->nr_threads / 2;

		strace->threads = memory_resize(strace->threads, strace->nr_threads, nr, sizeof(*strace->threads));
		strace->nr_threads = nr;
	}
	if (!strace->threads[idx]) {
		strace->threads[idx] = memory_take(1, sizeof(*strace->threads[idx]));
		strace->threads[idx]->thread = thread;
	}
	return strace->threads[idx];
}

static void forget_memory(struct call_memory memory[CALL_MAX_ARGUMENTS])
{
	for (unsigned int i = 0; i < CALL_MAX_ARGUMENTS; i++)
		free(memory[i].bytes);
	memset(memory, 0, CALL_MAX_ARGUMENTS * sizeof(*memory));
}

void strace_forget_call(struct strace_thread *t)
{
	free(t->call.path);
	for (unsigned int i = 0; i < CALL_MAX_ARGUMENTS; i++)
		free(t->call.fd_names[i]);
	forget_memory(t->call.read);
	forget_memory(t->call.written);
	t->call = (struct strace_call){.row = t->call.row, .clone_flags = UINT64_MAX};
	t->in_call = t->is_shown = t->is_begun = false;
	t->caller = 0;
	t->nr_written = 0;
}

void strace_complain_of_file(struct strace *strace, const struct strace_thread *t, int error)
{
	if (!strace->has_failed)
		complain(1, "%s.%u cannot be written: %s", strace->report->options->output, trace_thread_tid(t->thread),
			 strerror(-error));
	strace->has_failed = true;
}

void strace_forget_thread(struct strace *strace, struct strace_thread *t)
{
	int error;

	if (strace->open == t)
		strace->open = NULL;
	strace_forget_call(t);
	strace->nr_alive -= t->is_counted;
	error = t->file.out ? whole_file_close(&t->file, true) : 0;
	if (error)
		strace_complain_of_file(strace, t, error);
	free(t->waited_for);
	strace->threads[trace_thread_index(t->thread)] = NULL;
	free(t);
}

bool strace_in_window(const struct strace *strace, uint64_t ts_ns)
{
	const struct time_window *window = &strace->report->window;

	return (!window->has_from || ts_ns >= window->from_ns) && (!window->has_to || ts_ns < window->to_ns);
}

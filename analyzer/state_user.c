/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_user.c - the thread that made a program's event
 *
 * The thread id in the record is the one that the program sees. In a container that is another
 * number than the kernel's. The daemon records the process of each stream, which the kernel told
 * it, and switches give the thread on each CPU. If the CPU has a thread of that process, that
 * thread made the event. If not, the thread had just moved to another CPU, and the id finds it.
 *
 * SECURITY: the program wrote the id and can write any number. A thread of another process never
 * gets the event. A stream without a known process has no thread.
 */
#include <string.h>
#include "state.h"
#include "state_user.h"
#include "switch_event.h"

struct stream_row {
	uint64_t key; /* stream + 1 */
	uint64_t pid;
};

struct program_row {
	uint64_t key; /* pid + 1 */
	uint64_t exe; /* string_id */
};

void on_user_stream(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_user_stream *stream = event->payload;
	const char *exe = trace_event_string(event);

	(void)cpu;
	(void)ns;
	((struct stream_row *)acct_row(a, &a->user.streams, sizeof(struct stream_row), stream->stream + 1ull))->pid =
		stream->pid;
	if (exe && *exe)
		((struct program_row *)acct_row(a, &a->user.programs, sizeof(struct program_row), stream->pid + 1ull))
			->exe = strings_intern(&a->strings, exe);
}

const char *trace_stream_exe(const struct trace_analysis *a, uint32_t pid)
{
	const struct program_row *row = table_find(&a->user.programs, sizeof(*row), pid + 1ull);

	return row ? strings_text(&a->strings, (string_id)row->exe) : "";
}

uint32_t trace_stream_pid(const struct trace_analysis *a, uint32_t stream)
{
	const struct stream_row *row = table_find(&a->user.streams, sizeof(*row), stream + 1ull);

	return row ? (uint32_t)row->pid : 0;
}

uint32_t trace_event_tid(const struct trace_event *event)
{
	uint32_t tid = 0;

	if (event->type && event->type->flags & TRACE_EVENT_TID && event->payload_bytes >= sizeof(tid))
		memcpy(&tid, event->payload, sizeof(tid));
	return tid;
}

static bool is_of_process(const struct trace_thread *thread, uint32_t pid)
{
	return thread && pid && !(thread->flags & THREAD_KERNEL) && thread->process->pid == pid;
}

const struct trace_thread *trace_event_thread(const struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(a, event->cpu);
	uint32_t tid = trace_event_tid(event), pid, went;

	if (!event->type)
		return thread;
	if (!(event->type->flags & TRACE_EVENT_TID)) { /* the kernel recorded it on that CPU */
		went = event->cpu < a->nr_cpus ? a->cpus[event->cpu].previous.tid : 0;
		if (!switch_event_thread(event, &went))
			return thread;
		return went ? thread_find(&a->threads, went) : NULL;
	}
	pid = trace_stream_pid(a, event->stream);
	if (is_of_process(thread, pid))
		return thread;
	thread = tid ? trace_find_thread(a, tid) : NULL;
	return is_of_process(thread, pid) ? thread : NULL;
}

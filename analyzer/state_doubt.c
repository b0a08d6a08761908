/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_doubt.c - names that a loss may have made wrong
 *
 * The name of a descriptor, of a mapping or of a working directory is known from an event: an open,
 * a record of the start state, a transfer that tells the socket. It is true until another event
 * changes it. If that event was lost, the name is wrong. So a name is known only while no loss lies
 * between the event that told it and its use:
 *
 * - When events of a CPU begin to be lost, all names become unknown, but for those of a process
 *   with one thread that runs on another CPU: its events are there.
 * - While they are lost, a thread that gets another CPU comes from an unknown place: its names
 *   become unknown then. Those of later events are known as long as it keeps that CPU. No other
 *   thread may share the table: that one may run on the CPU of the loss.
 * - When the loss ends, all names become unknown again, but for those that could be told meanwhile.
 *
 * A call that a thread was in when the loss began may have ended in it, unless the thread stayed on
 * its CPU. Its result is that of a call on an unknown file, unless an event tells the file later.
 *
 * Example: process 10 reads descriptor 3, /data, and sleeps. CPU 1 loses events from 5 to 6 ms. The
 * process runs on CPU 0 from 7 ms on and reads descriptor 3: the file is unknown, since the process
 * may have been on CPU 1 and have closed it. At 8 ms it opens /log as descriptor 3. From then on it
 * is /log.
 *
 * Not all of this is true of events that a BPF program missed now and then: see state_lost.c.
 */
#include "state.h"
#include "state_directory.h"
#include "state_doubt.h"
#include "state_file.h"
#include "state_memory.h"

/* ---- tables with entries ---- */

void doubt_note_fds(struct trace_analysis *a, struct fd_table *fds)
{
	fds->from = &a->doubt.fds;
	fds->next = a->doubt.fds;
	if (fds->next)
		fds->next->from = &fds->next;
	a->doubt.fds = fds;
}

void doubt_drop_fds(struct fd_table *fds)
{
	fds->nr = 0;
	if (!fds->from)
		return;
	*fds->from = fds->next;
	if (fds->next)
		fds->next->from = fds->from;
	fds->from = NULL;
}

void doubt_note_memory(struct trace_analysis *a, struct process_memory *memory)
{
	memory->from = &a->doubt.memories;
	memory->next = a->doubt.memories;
	if (memory->next)
		memory->next->from = &memory->next;
	a->doubt.memories = memory;
}

void doubt_drop_memory(struct process_memory *memory)
{
	memory->nr = 0;
	if (!memory->from)
		return;
	*memory->from = memory->next;
	if (memory->next)
		memory->next->from = memory->from;
	memory->from = NULL;
}

/* ---- losses ---- */

static void forget_fds(struct fd_table *fds)
{
	fds->changes++;
	doubt_drop_fds(fds);
}

/* The thread on @cpu, if its events cannot be lost; or NULL. */
static struct trace_thread *seen_on(const struct trace_analysis *a, const struct cpu *cpu)
{
	return cpu->current == &cpu->idle || cpu->hidden || cpu->cpu == a->doubt.cpu || a->doubt.cpu == DOUBT_ALL_CPUS
		       ? NULL
		       : cpu->current;
}

/* Marks what no thread but one that is seen uses. */
static void keep_seen(struct trace_analysis *a)
{
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		struct trace_thread *thread = seen_on(a, &a->cpus[i]);

		if (thread && thread->fds && thread->fds->refs == 1)
			thread->fds->is_seen = true;
		if (thread && thread->memory && thread->memory->refs == 1)
			thread->memory->is_seen = true;
		if (thread && thread->directories && thread->directories->refs == 1 &&
		    thread->directories->doubts == a->doubt.nr)
			thread->directories->doubts++;
	}
}

static void forget(struct trace_analysis *a)
{
	struct process_memory *memory, *memory_next;
	struct fd_table *fds, *fds_next;

	keep_seen(a);
	a->doubt.nr++;
	for (fds = a->doubt.fds; fds; fds = fds_next) {
		fds_next = fds->next;
		if (!fds->is_seen)
			forget_fds(fds);
		fds->is_seen = false;
	}
	for (memory = a->doubt.memories; memory; memory = memory_next) {
		memory_next = memory->next;
		if (!memory->is_seen)
			doubt_drop_memory(memory);
		memory->is_seen = false;
	}
}

void doubt_begin(struct trace_analysis *a, uint32_t cpu, uint64_t until_ns)
{
	struct doubt *doubt = &a->doubt;

	doubt->cpu = !doubt->is_open || doubt->cpu == cpu ? cpu : DOUBT_ALL_CPUS;
	doubt->is_open = true;
	if (until_ns > doubt->until_ns)
		doubt->until_ns = until_ns;
	forget(a);
}

void doubt_pass(struct trace_analysis *a, uint64_t ns)
{
	if (!a->doubt.is_open || ns < a->doubt.until_ns)
		return;
	a->doubt.is_open = false;
	forget(a);
}

void doubt_thread(struct trace_analysis *a, struct trace_thread *thread)
{
	if (thread->fds)
		forget_fds(thread->fds);
	if (thread->memory)
		doubt_drop_memory(thread->memory);
	if (thread->directories)
		thread->directories->doubts = a->doubt.nr - 1;
}

void doubt_all(struct trace_analysis *a)
{
	uint32_t cpu = a->doubt.cpu;

	a->doubt.cpu = DOUBT_ALL_CPUS;
	forget(a);
	a->doubt.cpu = cpu;
}

bool doubt_hides(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	const struct cpu *cpu = thread->cpu < a->nr_cpus ? &a->cpus[thread->cpu] : NULL;

	if (frame->file_seen || (frame->begin.ns >= a->doubt.until_ns && !a->doubt.is_open))
		return false;
	return !cpu || cpu->current != thread || cpu->slice_since > frame->begin.ns;
}

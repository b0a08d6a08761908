/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_touch.c - which process has which file: the state tells it to the rules */
#include "rules/rules.h"
#include "state.h"
#include "state_touch.h"

struct trace_file_id file_id_of(const struct trace_analysis *a, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];

	return (struct trace_file_id){.ino = file->ino, .dev = file->dev, .mode = file->mode & ~FILE_WRITE_END};
}

void rules_had_file(struct trace_analysis *a, const struct trace_thread *thread, file_idx file)
{
	struct trace_file_id id = file_id_of(a, file);

	if (file)
		rules_touch(a->rules, thread->process, &id);
}

static bool has_memory(const struct trace_process *process, const struct process_memory *memory)
{
	const struct trace_thread *thread = process->nr_living ? process->first : NULL;

	while (thread && thread->memory != memory)
		thread = thread->next;
	return thread;
}

void rules_mapped(struct trace_analysis *a, const struct trace_thread *thread, file_idx file)
{
	rules_had_file(a, thread, file);
	if (!file || thread->memory->refs <= thread->process->nr_living)
		return;
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		if (has_memory(a->threads.processes[i], thread->memory))
			rules_had_file(a, a->threads.processes[i]->first, file);
}

static void had_foreign(struct trace_analysis *a, const struct trace_process *process)
{
	static const struct trace_file_id foreign = {.dev = (uint32_t)RULES_DEV_FOREIGN};

	rules_touch(a->rules, process, &foreign);
}

void rules_had_foreign(struct trace_analysis *a, const struct process_memory *memory)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		if (has_memory(a->threads.processes[i], memory))
			had_foreign(a, a->threads.processes[i]);
}

int state_tables(const struct trace_thread *thread, struct trace_file_id ret_ids[2])
{
	int nr = 0;

	if (thread->fds)
		ret_ids[nr++] = (struct trace_file_id){.dev = RULES_DEV_FDS, .ino = thread->fds->number};
	if (thread->memory)
		ret_ids[nr++] = (struct trace_file_id){.dev = RULES_DEV_MEMORY, .ino = thread->memory->number};
	return nr;
}

/*
 * The descriptors of a process are known if the recorder read them at the start, or if the process
 * is the child of one whose descriptors are known. A process that ended before it was read has
 * descriptors that no event tells, although the trace may have its calls.
 */
static void had_known(struct trace_analysis *a, const struct trace_thread *thread, uint64_t read_ns)
{
	struct trace_file_id known = {.dev = RULES_DEV_KNOWN, .ino = read_ns};

	rules_touch(a->rules, thread->process, &known);
}

void rules_started(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	if (thread->fds)
		thread->fds->is_known = true;
	had_known(a, thread, ns);
}

void rules_had_tables(struct trace_analysis *a, const struct trace_thread *thread)
{
	struct trace_file_id ids[2];

	for (int i = state_tables(thread, ids); i > 0; i--)
		rules_touch(a->rules, thread->process, &ids[i - 1]);
}

void rules_inherited(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent)
{
	if (child->fds && child->fds->is_known)
		had_known(a, child, 0);
	rules_had_tables(a, parent);
	rules_had_tables(a, child);
	for (uint32_t i = 0; child->fds && i < child->fds->nr; i++)
		rules_had_file(a, child, child->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; child->memory && i < child->memory->nr; i++)
		rules_had_file(a, child, child->memory->maps[i].file);
	if (child->memory && child->memory->has_foreign)
		had_foreign(a, child->process);
}

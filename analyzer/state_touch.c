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

void rules_inherited(struct trace_analysis *a, const struct trace_thread *thread)
{
	for (uint32_t i = 0; thread->fds && i < thread->fds->nr; i++)
		rules_had_file(a, thread, thread->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; thread->memory && i < thread->memory->nr; i++)
		rules_had_file(a, thread, thread->memory->maps[i].file);
}

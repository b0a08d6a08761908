/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_evidence.c - which process ever had which file, pipe, socket or memory
 *
 * The set only grows: a process may close its end of a pipe, or exit, before a wait for it is
 * decided. Both ends of a pipe are one entry, because one descriptor may have both.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include "state.h"
#include "wait_evidence.h"

struct wait_evidence *wait_evidence_new(void)
{
	return calloc(1, sizeof(struct wait_evidence));
}

struct wait_evidence *wait_evidence_free(struct wait_evidence *evidence)
{
	if (evidence)
		table_clear(&evidence->touched);
	free(evidence);
	return NULL;
}

/* @ino 0 stands for any file. */
static uint64_t touch_key(uint32_t process, uint32_t dev, uint64_t ino)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)process << 32 | dev) ^ (ino + 1));

	return key ? key : 1;
}

static void touch(struct trace_analysis *a, uint32_t process, uint32_t dev, uint64_t ino)
{
	acct_row(a, &a->evidence->touched, sizeof(uint64_t), touch_key(process, dev, ino));
}

static bool has_touched(const struct trace_analysis *a, const struct trace_process *process, uint32_t dev, uint64_t ino)
{
	return table_find(&a->evidence->touched, sizeof(uint64_t), touch_key(process->idx, dev, ino));
}

/* All sockets are of one file system. Events about a peer have only its inode. */
static uint32_t dev_of(const struct traced_file *file)
{
	return S_ISSOCK(file->mode) ? 0 : file->dev;
}

void evidence_add(struct trace_analysis *a, const struct trace_thread *thread, file_idx idx)
{
	const struct traced_file *file = idx ? &a->files.list[idx] : NULL;

	if (!file)
		return;
	touch(a, thread->process->idx, 0, 0);
	touch(a, thread->process->idx, dev_of(file), file->ino);
}

void evidence_inherit(struct trace_analysis *a, const struct trace_thread *thread)
{
	for (uint32_t i = 0; thread->fds && i < thread->fds->nr; i++)
		evidence_add(a, thread, thread->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; thread->memory && i < thread->memory->nr; i++)
		evidence_add(a, thread, thread->memory->maps[i].file);
}

bool evidence_has_file(const struct trace_analysis *a, const struct trace_process *process, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];

	return idx && has_touched(a, process, dev_of(file), file->ino);
}

bool evidence_has_socket(const struct trace_analysis *a, const struct trace_process *process, uint64_t ino)
{
	return has_touched(a, process, 0, ino);
}

bool evidence_has_any(const struct trace_analysis *a, const struct trace_process *process)
{
	return has_touched(a, process, 0, 0);
}

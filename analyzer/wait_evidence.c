/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_evidence.c - which process ever had which file, pipe, socket or memory
 *
 * The set only grows: a process may close its end of a pipe, or exit, before a wait for it is
 * decided. Both ends of a pipe are one entry, because one descriptor may have both.
 *
 * The descriptors of a process are known if the recorder read them at the start, or if the process
 * is the child of one whose descriptors are known. A process that ended before it was read has
 * descriptors that no event tells, although the trace may have its calls.
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

/* Stand in the place of the device, which has 32 bits of which the kernel uses fewer. */
#define DEV_KNOWN  UINT32_MAX	    /* the descriptors of the process are known */
#define DEV_TABLE  (UINT32_MAX - 1) /* the inode is the number of a table of descriptors */
#define DEV_MEMORY (UINT32_MAX - 2) /* the inode is the number of an address space */

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
	touch(a, thread->process->idx, dev_of(file), file->ino);
}

void evidence_start(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns)
{
	touch(a, thread->process->idx, DEV_KNOWN, 0);
	if (ns > a->evidence->start_read_ns)
		a->evidence->start_read_ns = ns;
}

static void add_tables(struct trace_analysis *a, const struct trace_thread *thread)
{
	if (thread->fds)
		touch(a, thread->process->idx, DEV_TABLE, thread->fds->number);
	if (thread->memory)
		touch(a, thread->process->idx, DEV_MEMORY, thread->memory->number);
}

void evidence_inherit(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent)
{
	if (has_touched(a, parent->process, DEV_KNOWN, 0))
		touch(a, child->process->idx, DEV_KNOWN, 0);
	add_tables(a, parent);
	add_tables(a, child);
	for (uint32_t i = 0; child->fds && i < child->fds->nr; i++)
		evidence_add(a, child, child->fds->files[i] & ~FD_CLOEXEC_BIT);
	for (uint32_t i = 0; child->memory && i < child->memory->nr; i++)
		evidence_add(a, child, child->memory->maps[i].file);
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

bool evidence_shares(const struct trace_analysis *a, const struct trace_process *process,
		     const struct trace_thread *thread)
{
	return (thread->fds && has_touched(a, process, DEV_TABLE, thread->fds->number)) ||
	       (thread->memory && has_touched(a, process, DEV_MEMORY, thread->memory->number));
}

bool evidence_is_complete(const struct trace_analysis *a, const struct trace_process *process, uint64_t from_ns)
{
	return from_ns >= a->evidence->start_read_ns && has_touched(a, process, DEV_KNOWN, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_forget.c - files and sockets that are gone.
 *
 * That a descriptor is closed does not tell that its file is gone: others may have it, it may be mapped, a thread may be in a call on it, or
 * was woken by one who was. So nothing is counted; now and then, all who may know a file are asked (mark and sweep). What nobody knows is forgotten,
 * unless somebody asked for it since the last time: files are also found by their inode (a page fault in a program that was closed when it was written, the
 * other end of a connection that is about to be accepted). A socket is known if its file is, or that of its other end.
 *
 * That is done when as many files and sockets came as were left the last time, or as there are threads: so each event pays for a few steps of it, and there
 * are never many more rows than the threads of the moment have files. What reports name, they name by paths of their own (file_path()).
 */
#include <stdlib.h>
#include <sys/stat.h>
#include "state.h"
#include "state_socket.h"

#define SWEEP_LEAST 16384u

struct marks {
	uint64_t *files, *socks; /* owned: bits */
};

static bool is_marked(const uint64_t *marks, uint32_t idx)
{
	return marks[idx / 64] >> idx % 64 & 1;
}

static void mark(uint64_t *marks, uint32_t idx)
{
	marks[idx / 64] |= 1ull << idx % 64;
}

static void mark_descriptors(const struct trace_analysis *a, const struct marks *marks, struct fd_table *fds)
{
	if (!fds || fds->sweeps == a->sweeps)
		return; /* another thread has it, too */
	fds->sweeps = a->sweeps;
	for (uint32_t i = 0; i < fds->nr; i++)
		mark(marks->files, fds->files[i] & ~FD_CLOEXEC_BIT);
}

static void mark_mappings(const struct trace_analysis *a, const struct marks *marks, struct memory *memory)
{
	if (!memory || memory->sweeps == a->sweeps)
		return;
	memory->sweeps = a->sweeps;
	for (uint32_t i = 0; i < memory->nr; i++)
		mark(marks->files, memory->maps[i].file);
}

static void mark_thread(const struct trace_analysis *a, const struct marks *marks, const struct trace_thread *thread)
{
	mark_descriptors(a, marks, thread->fds);
	mark_mappings(a, marks, thread->memory);
	mark(marks->files, thread->early.file);
	mark(marks->files, thread->process->uring_file);
	for (unsigned int i = 0; i < MAX_FRAMES; i++) /* also one that is only prepared: MODE_UNKNOWN */
		mark(marks->files, thread->frames[i].file);
	for (unsigned int i = 0; i < MAX_PENDING; i++)
		mark(marks->files, thread->pending[i].waker.file);
}

static void mark_files(const struct trace_analysis *a, const struct marks *marks)
{
	for (uint32_t page = 0; page < MAX_TID / TID_PAGE; page++)
		for (uint32_t i = 0; a->pages[page] && i < TID_PAGE; i++)
			if (a->pages[page][i] && a->pages[page][i]->place != PLACE_DEAD)
				mark_thread(a, marks, a->pages[page][i]);
	uring_mark(a, marks->files);
}

static void tell_gone(const struct trace_analysis *a, file_idx idx)
{
	const struct file *file = &a->files[idx];
	struct trace_file_id id = {.ino = file->ino, .dev = file->dev, .mode = file->mode & ~FILE_WRITE_END};

	if (!S_ISSOCK(id.mode) && !(S_ISFIFO(id.mode) && !file_has_other_end(a, idx)))
		return;
	for (size_t i = 0; i < a->nr_hooks; i++)
		if (a->hooks[i].gone)
			a->hooks[i].gone(a->hooks[i].data, &id);
}

/* In the frames of a thread there may be files of calls that are long over: their rows may be free, or be those of others. */
static uint32_t sweep_files(struct trace_analysis *a, const struct marks *marks)
{
	uint32_t left = 0;

	for (uint32_t i = 1; i < a->nr_files; i++) {
		struct file *file = &a->files[i];

		if (file->sweeps == FILE_FREE)
			continue;
		if (!is_marked(marks->files, i) && file->sweeps != a->sweeps - 1) {
			tell_gone(a, i);
			file_forget(a, i);
			continue;
		}
		left++;
		if (S_ISSOCK(file->mode))
			sock_mark(a, file->ino, marks->socks);
	}
	return left;
}

static uint32_t sweep_socks(struct trace_analysis *a, const struct marks *marks)
{
	uint32_t left = 0;

	for (uint32_t i = 1; i < a->nr_socks; i++) {
		if (a->socks[i].sweeps == FILE_FREE)
			continue;
		if (is_marked(marks->socks, i) || a->socks[i].sweeps == a->sweeps - 1)
			left++;
		else
			sock_forget(a, i);
	}
	return left;
}

void forget_unused(struct trace_analysis *a)
{
	struct marks marks = {.files = calloc(a->nr_files / 64 + 1, sizeof(uint64_t)), .socks = calloc(a->nr_socks / 64 + 1, sizeof(uint64_t))};
	uint32_t left = 0;

	books_settle(a); /* what was read is noted by the numbers of files */
	a->sweeps++;
	if (marks.files && marks.socks) {
		mark_files(a, &marks);
		left = sweep_files(a, &marks);
		left += sweep_socks(a, &marks);
	}
	free(marks.files);
	free(marks.socks);
	a->until_sweep = left > a->nr_threads ? left : a->nr_threads;
	if (a->until_sweep < SWEEP_LEAST)
		a->until_sweep = SWEEP_LEAST;
}

void forget_opened(struct trace_analysis *a)
{
	for (uint32_t page = 0; page < MAX_TID / TID_PAGE; page++)
		for (uint32_t i = 0; a->pages[page] && i < TID_PAGE; i++) {
			struct trace_thread *thread = a->pages[page][i];

			if (thread && thread->fds)
				thread->fds->nr = 0;
			if (thread && thread->memory)
				thread->memory->nr = 0;
		}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_expire.c - release unused files and sockets
 *
 * A closed descriptor does not mean that its file is unused. Other processes may have the file open
 * or mapped, or a thread may be in a call on it, or its waker may have been. References are not
 * counted. Instead, a sweep now and then marks the files of all threads (mark and sweep), and
 * releases the rest. It keeps files that were looked up since the last sweep, because some are
 * found by their inode: a program file that was written and closed, at a page fault in it; the
 * other end of a connection that is about to be accepted. A socket is in use if its file or the
 * file of its other end is.
 *
 * A sweep comes after as many new files and sockets as the last sweep left, or as there are
 * threads, but at least SWEEP_MIN. Each event pays for a few steps of it, and the tables stay in
 * proportion to the open files of living threads. Example: the last sweep left 50,000 files, and
 * there are 2,000 threads: the next sweep comes after 50,000 new files.
 *
 * Reports have their own copies of paths (file_path()).
 */
#include <stdlib.h>
#include "interrupted.h"
#include "kept_rests.h"
#include "kernel_numbers.h"
#include "state.h"
#include "state_expire.h"
#include "state_packet.h"
#include "state_uring.h"

#define SWEEP_MIN 16384u

struct marks {
	uint64_t *files, *socks; /* owned: one bit for each file or socket */
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
	if (!fds || fds->sweeps == a->sweep.nr)
		return; /* another thread shares it and has marked it */
	fds->sweeps = a->sweep.nr;
	for (uint32_t i = 0; i < fds->nr; i++)
		mark(marks->files, fds->files[i] & ~FD_CLOEXEC_BIT);
}

static void mark_mappings(const struct trace_analysis *a, const struct marks *marks, struct process_memory *memory)
{
	if (!memory || memory->sweeps == a->sweep.nr)
		return;
	memory->sweeps = a->sweep.nr;
	for (uint32_t i = 0; i < memory->nr; i++)
		mark(marks->files, memory->maps[i].file);
}

static void mark_wait(const struct marks *marks, const struct pending *wait)
{
	mark(marks->files, wait->waker.file);
	mark(marks->files, wait->waker.second_file);
	mark(marks->files, wait->waker.ring_file ? wait->waker.ring_file - 1 : 0);
}

static void mark_thread(const struct trace_analysis *a, const struct marks *marks, const struct trace_thread *thread)
{
	mark_descriptors(a, marks, thread->fds);
	mark_mappings(a, marks, thread->memory);
	mark(marks->files, thread->early.file);
	mark(marks->files, thread->early.second_file);
	mark(marks->files, thread->process->uring_file);
	mark(marks->files, thread->process->exec_files[0]);
	mark(marks->files, thread->process->exec_files[1]);
	if (thread->directories) {
		mark(marks->files, thread->directories->working);
		mark(marks->files, thread->directories->root);
	}
	/* also a frame that is only prepared: MODE_UNKNOWN */
	for (unsigned int i = 0; i < MAX_FRAMES; i++) {
		mark(marks->files, thread->frames[i].file);
		mark(marks->files, thread->frames[i].own_file);
	}
	for (unsigned int i = 0; i < MAX_PENDING; i++)
		mark_wait(marks, &thread->pending[i]);
	for (uint32_t i = 0; thread->kept_waits && i < thread->kept_waits->nr; i++)
		mark_wait(marks, &thread->kept_waits->list[i]);
	interrupted_mark(thread, marks->files);
	rests_mark(thread, marks->files);
}

static void mark_files(const struct trace_analysis *a, const struct marks *marks)
{
	for (uint32_t page = 0; page < MAX_TID / TID_PAGE; page++)
		for (uint32_t i = 0; a->threads.pages[page] && i < TID_PAGE; i++)
			if (a->threads.pages[page][i] && a->threads.pages[page][i]->sched_state != SCHED_DEAD)
				mark_thread(a, marks, a->threads.pages[page][i]);
	uring_mark(&a->requests, marks->files);
	packets_mark(a, marks->files);
	later_mark(&a->later, marks->files);
	kernel_turns_mark(&a->kernel_turns, marks->files);
}

static void call_release_hooks(const struct trace_analysis *a, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];
	struct trace_file_id id = {.ino = file->ino, .dev = file->dev, .mode = file->mode & ~FILE_WRITE_END};

	if (!LINUX_S_ISSOCK(id.mode) && !(LINUX_S_ISFIFO(id.mode) && !file_has_other_end(a, idx)))
		return;
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].release)
			a->hooks.list[i].release(a->hooks.list[i].data, &id);
}

/*
 * Frames may have file numbers from calls that ended long ago. Such a number may be free or belong
 * to another file now.
 */
static uint32_t sweep_files(struct trace_analysis *a, const struct marks *marks)
{
	uint32_t left = 0;

	for (uint32_t i = 1; i < a->files.nr; i++) {
		struct traced_file *file = &a->files.list[i];

		if (file->sweeps == FILE_FREE)
			continue;
		if (!is_marked(marks->files, i) && file->sweeps != a->sweep.nr - 1) {
			call_release_hooks(a, i);
			file_drop(a, i);
			continue;
		}
		left++;
		if (LINUX_S_ISSOCK(file->mode))
			sock_mark(a, file->ino, marks->socks);
	}
	return left;
}

static uint32_t sweep_socks(struct trace_analysis *a, const struct marks *marks)
{
	uint32_t left = 0;

	for (uint32_t i = 1; i < a->sockets.nr; i++) {
		if (a->sockets.list[i].sweeps == FILE_FREE)
			continue;
		if (is_marked(marks->socks, i) || a->sockets.list[i].sweeps == a->sweep.nr - 1)
			left++;
		else
			socket_drop(a, i);
	}
	return left;
}

void expire_unused(struct trace_analysis *a)
{
	struct marks marks = {.files = calloc(a->files.nr / 64 + 1, sizeof(uint64_t)),
			      .socks = calloc(a->sockets.nr / 64 + 1, sizeof(uint64_t))};
	uint32_t left = 0;

	acct_flush(a); /* deferred sums refer to files by number */
	a->sweep.nr++;
	if (marks.files && marks.socks) {
		mark_files(a, &marks);
		left = sweep_files(a, &marks);
		left += sweep_socks(a, &marks);
	}
	free(marks.files);
	free(marks.socks);
	a->sweep.remaining = left > a->threads.nr ? left : a->threads.nr;
	if (a->sweep.remaining < SWEEP_MIN)
		a->sweep.remaining = SWEEP_MIN;
}

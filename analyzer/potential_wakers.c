/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * potential_wakers.c - the potential wakers of a wait without a recorded end: the children of a
 * process, the holders of the other end of a pipe or socket, the processes with an open file, the
 * sharers of memory: of a mapped file, or of the whole address space. It also lists the files on
 * which a process has io_uring requests in progress.
 *
 * To find them, the code has to look at all living processes and at everything that they have open.
 * A process that has ended leaves their list at the next query: a program that is interrupted a
 * thousand times while a hundred thousand processes come and go would take minutes otherwise.
 *
 * At the end of the trace thousands of threads may wait, and the state does not change any more.
 * Then the code builds one list of all potential wakers, sorted by the search key, and answers each
 * query by a binary search. Before the end such queries are rare: the end of the wait was not
 * recorded, but the result of the call shows that it ended. The answers change over time, so the
 * code builds the list anew for each query, with the entries for that query only.
 *
 * Example: process 10 has the children 11 and 12. The list of children has the entries (10, 0) and
 * (10, 11) for 11, (10, 0) and (10, 12) for 12. A wait for any child looks for (10, 0) and finds
 * two processes: "several". A wait for child 12 looks for (10, 12) and finds process 12.
 */
#include <errno.h>
#include <stdlib.h>
#include "potential_wakers.h"
#include "kernel_numbers.h"
#include "state.h"
#include "state_uring.h"

struct potential_waker {
	/*
	 * search key. CHILDREN: pid of the parent; OTHER_ENDS, OPENERS, SHARERS: inode; SPACES: the
	 * process_memory; REQUESTS: process_idx
	 */
	uint64_t key;
	/* CHILDREN: a pid of the child, or 0; OTHER_ENDS: which_end(); OPENERS, SHARERS: device */
	uint64_t more;
	uint32_t waker; /* process_idx of the potential waker; REQUESTS: file_idx */
};

static void add(struct trace_analysis *a, struct potential_wakers *wakers, struct potential_waker waker)
{
	struct potential_waker *bigger;

	if (wakers->nr >= wakers->room) {
		size_t room = wakers->room ? wakers->room * 2 : 64;

		bigger = reallocarray(wakers->list, room, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		wakers->list = bigger;
		wakers->room = room;
	}
	wakers->list[wakers->nr++] = waker;
}

static void add_if_wanted(struct trace_analysis *a, struct potential_wakers *wakers, struct potential_waker waker)
{
	if (a->closing || (waker.key == wakers->query_key && waker.more == wakers->query_more))
		add(a, wakers, waker);
}

/* ---- collect potential wakers ---- */

static const struct trace_thread *first_living(const struct trace_process *process)
{
	const struct trace_thread *thread = process->first;

	while (thread && thread->sched_state == SCHED_DEAD)
		thread = thread->next;
	return thread;
}

static void collect_children(struct trace_analysis *a, struct potential_wakers *wakers,
			     const struct trace_process *process)
{
	if (!first_living(process))
		return;
	add_if_wanted(a, wakers, (struct potential_waker){process->ppid, 0, process->idx});
	add_if_wanted(a, wakers, (struct potential_waker){process->ppid, process->pid, process->idx});
	if (process->ns_pid && process->ns_pid != process->pid)
		add_if_wanted(a, wakers, (struct potential_waker){process->ppid, process->ns_pid, process->idx});
}

/*
 * The part of the key after the inode. For a socket the inode is enough: all sockets are of one
 * file system.
 */
static uint64_t which_end(const struct traced_file *file, bool other)
{
	bool writes = file->mode & FILE_WRITE_END;

	return LINUX_S_ISFIFO(file->mode) ? (uint64_t)file->dev << 2 | (writes != other) << 1 | 1 : 0;
}

/*
 * A thread with the descriptors of @process; NULL: none is known. The first one found is enough:
 * apart from very few programs, all threads share one table.
 */
static const struct trace_thread *with_descriptors(const struct trace_process *process)
{
	const struct trace_thread *thread = process->first;

	while (thread && (thread->sched_state == SCHED_DEAD || !thread->fds))
		thread = thread->next;
	return thread;
}

static bool is_end(const struct traced_file *file)
{
	return LINUX_S_ISFIFO(file->mode) || LINUX_S_ISSOCK(file->mode);
}

/* The inode of the other end of the pipe or socket @idx; 0: there is none, or it is not known. */
static uint64_t other_end_ino(const struct trace_analysis *a, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];
	const struct socket_state *sock = LINUX_S_ISFIFO(file->mode) ? NULL : sock_of_file(a, idx);

	return LINUX_S_ISFIFO(file->mode) ? file->ino : sock ? sock->peer_ino : 0;
}

static void collect_ends(struct trace_analysis *a, struct potential_wakers *wakers, const struct trace_process *process)
{
	const struct trace_thread *thread = with_descriptors(process);

	for (uint32_t i = 0; thread && i < thread->fds->nr; i++) {
		const struct traced_file *file = &a->files.list[fd_file(thread, i)];

		if (is_end(file))
			add_if_wanted(a, wakers,
				      (struct potential_waker){file->ino, which_end(file, false), process->idx});
	}
}

/* A file has several numbers if it has several paths: a hard link, a mount of a part. */
static struct potential_waker sharer_of(const struct trace_analysis *a, file_idx file, uint32_t process)
{
	const struct traced_file *mapped = &a->files.list[file];

	return (struct potential_waker){mapped->ino, mapped->dev, process};
}

static void collect_openers(struct trace_analysis *a, struct potential_wakers *wakers,
			    const struct trace_process *process)
{
	const struct trace_thread *thread = with_descriptors(process);

	for (uint32_t i = 0; thread && i < thread->fds->nr; i++) {
		file_idx file = fd_file(thread, i);

		if (file && LINUX_S_ISREG(a->files.list[file].mode))
			add_if_wanted(a, wakers, sharer_of(a, file, process->idx));
	}
}

static void collect_sharers(struct trace_analysis *a, struct potential_wakers *wakers,
			    const struct trace_process *process)
{
	const struct trace_thread *thread = first_living(process);
	file_idx before = 0;

	for (uint32_t i = 0; thread && thread->memory && i < thread->memory->nr; i++) {
		const struct mapping *map = &thread->memory->maps[i];
		file_idx file = map->is_private ? 0 : map->file;

		if (file && file != before) /* most files have several adjacent mappings */
			add_if_wanted(a, wakers, sharer_of(a, file, process->idx));
		before = file;
	}
}

static void collect_spaces(struct trace_analysis *a, struct potential_wakers *wakers,
			   const struct trace_process *process)
{
	const struct trace_thread *thread = first_living(process);

	if (thread && thread->memory)
		add_if_wanted(a, wakers, (struct potential_waker){(uintptr_t)thread->memory, 0, process->idx});
}

static void collect_requests(struct trace_analysis *a, struct potential_wakers *wakers,
			     const struct trace_process *process)
{
	file_idx file;

	for (const void *at = NULL; (at = uring_next(&a->requests, at, &process, &file));)
		add_if_wanted(a, wakers, (struct potential_waker){process->idx, 0, file});
}

/* ---- living processes ---- */

static void living_add(struct trace_analysis *a, uint32_t process)
{
	struct living_processes *living = &a->living;
	uint32_t room = living->room ? living->room * 2 : 64, *bigger;

	if (living->nr >= living->room) {
		bigger = reallocarray(living->list, room, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		living->list = bigger;
		living->room = room;
	}
	living->list[living->nr++] = process;
}

static void living_update(struct trace_analysis *a)
{
	struct living_processes *living = &a->living;
	uint32_t kept = 0;

	if (living->seen < NR_PSEUDO_PROCESSES)
		living->seen = NR_PSEUDO_PROCESSES;
	for (; living->seen < a->threads.nr_processes; living->seen++)
		living_add(a, living->seen);
	for (uint32_t i = 0; i < living->nr; i++) {
		struct trace_process *process = a->threads.processes[living->list[i]];

		process->has_left_living = process->is_reaped || (process->nr_threads && !process->nr_living);
		if (!process->has_left_living)
			living->list[kept++] = process->idx;
	}
	living->nr = kept;
}

void wakers_revive(struct trace_analysis *a, struct trace_process *process)
{
	process->has_left_living = process->is_reaped = false;
	living_add(a, process->idx);
}

/* ---- queries ---- */

static int order(const void *left, const void *right)
{
	const struct potential_waker *l = left, *r = right;

	if (l->key != r->key)
		return l->key < r->key ? -1 : 1;
	if (l->more != r->more)
		return l->more < r->more ? -1 : 1;
	return l->waker < r->waker ? -1 : l->waker > r->waker;
}

static void sort(struct potential_wakers *wakers)
{
	size_t kept = 0;

	if (wakers->nr)
		qsort(wakers->list, wakers->nr, sizeof(*wakers->list), order);
	for (size_t i = 0; i < wakers->nr; i++)
		if (!kept || order(&wakers->list[kept - 1], &wakers->list[i]) != 0)
			wakers->list[kept++] = wakers->list[i];
	wakers->nr = kept;
}

static void collect(struct trace_analysis *a, enum waker_kind kind, struct potential_wakers *wakers)
{
	static void (*const collectors[])(struct trace_analysis *, struct potential_wakers *,
					  const struct trace_process *) = {[WAKERS_CHILDREN] = collect_children,
									   [WAKERS_OTHER_ENDS] = collect_ends,
									   [WAKERS_OPENERS] = collect_openers,
									   [WAKERS_SHARERS] = collect_sharers,
									   [WAKERS_SPACES] = collect_spaces};

	wakers->nr = 0;
	if (kind == WAKERS_REQUESTS)
		collect_requests(a, wakers, NULL);
	else
		living_update(a);
	for (uint32_t i = 0; kind != WAKERS_REQUESTS && i < a->living.nr; i++)
		collectors[kind](a, wakers, a->threads.processes[a->living.list[i]]);
	sort(wakers);
	wakers->whole = a->closing;
}

static size_t first_of(const struct potential_wakers *wakers, uint64_t key, uint64_t more)
{
	const struct potential_waker first = {key, more, 0};
	size_t low = 0, high = wakers->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (order(&wakers->list[middle], &first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The index of the first answer, if there is one: see answers(). */
static size_t first_answer(struct trace_analysis *a, enum waker_kind kind, uint64_t key, uint64_t more)
{
	struct potential_wakers *wakers = &a->potential_wakers[kind];

	if (!wakers->whole) {
		wakers->query_key = key;
		wakers->query_more = more;
		collect(a, kind, wakers);
	}
	return first_of(wakers, key, more);
}

static bool answers(const struct potential_wakers *wakers, size_t at, uint64_t key, uint64_t more)
{
	return at < wakers->nr && wakers->list[at].key == key && wakers->list[at].more == more;
}

static uint32_t waker_for(struct trace_analysis *a, enum waker_kind kind, const struct trace_process *self,
			  uint64_t key, uint64_t more, uint64_t to_ns)
{
	uint32_t found = PROCESS_UNKNOWN;

	for (size_t at = first_answer(a, kind, key, more); answers(&a->potential_wakers[kind], at, key, more); at++) {
		uint32_t waker = a->potential_wakers[kind].list[at].waker;

		if (waker == self->idx || trace_process_start_ns(a->threads.processes[waker]) > to_ns)
			continue;
		if (found != PROCESS_UNKNOWN)
			return PROCESS_SEVERAL;
		found = waker;
	}
	return found;
}

uint32_t wakers_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named, uint64_t to_ns)
{
	return waker_for(a, WAKERS_CHILDREN, self, self->pid, named, to_ns);
}

uint32_t wakers_holder(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns)
{
	uint64_t ino = other_end_ino(a, file);

	return ino ? waker_for(a, WAKERS_OTHER_ENDS, self, ino, which_end(&a->files.list[file], true), to_ns)
		   : (uint32_t)PROCESS_UNKNOWN;
}

uint32_t wakers_opener(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns)
{
	const struct potential_waker opened = sharer_of(a, file, 0);

	return file && opened.key ? waker_for(a, WAKERS_OPENERS, self, opened.key, opened.more, to_ns)
				  : (uint32_t)PROCESS_UNKNOWN;
}

uint32_t wakers_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns)
{
	const struct potential_waker mapped = sharer_of(a, file, 0);

	return file ? waker_for(a, WAKERS_SHARERS, self, mapped.key, mapped.more, to_ns) : (uint32_t)PROCESS_UNKNOWN;
}

uint32_t wakers_of_space(struct trace_analysis *a, const struct trace_process *self,
			 const struct process_memory *memory, uint64_t to_ns)
{
	/* one thread's reference is its own */
	if (!memory || memory->refs == 1)
		return PROCESS_UNKNOWN;
	return waker_for(a, WAKERS_SPACES, self, (uintptr_t)memory, 0, to_ns);
}

file_idx wakers_request(struct trace_analysis *a, const struct trace_process *process, size_t nr)
{
	size_t at = first_answer(a, WAKERS_REQUESTS, process->idx, 0) + nr;

	return answers(&a->potential_wakers[WAKERS_REQUESTS], at, process->idx, 0)
		       ? a->potential_wakers[WAKERS_REQUESTS].list[at].waker
		       : 0;
}

/* ---- ends of pipes and sockets ---- */

/* Sorted by key; in each entry the descriptor takes the place of the process. */
static void sort_ends(struct trace_analysis *a, const struct trace_thread *thread, struct potential_wakers *ret_ends)
{
	for (uint32_t i = 0; i < thread->fds->nr; i++) {
		const struct traced_file *file = &a->files.list[fd_file(thread, i)];

		if (is_end(file))
			add(a, ret_ends, (struct potential_waker){file->ino, which_end(file, false), i});
	}
	sort(ret_ends);
}

/* The index of the other end of @idx in @ends; ends->nr: it is not there. */
static size_t other_end(const struct trace_analysis *a, const struct potential_wakers *ends, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];
	uint64_t ino = is_end(file) ? other_end_ino(a, idx) : 0, which = which_end(file, true);
	size_t at = first_of(ends, ino, which);

	return ino && answers(ends, at, ino, which) ? at : ends->nr;
}

file_idx wakers_closed(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller)
{
	struct potential_wakers closed = {0}, own = {0};
	file_idx found = 0;

	sort_ends(a, dead, &closed);
	if (closed.nr)
		sort_ends(a, poller, &own);
	for (uint32_t i = 0; closed.nr && i < poller->fds->nr && !found; i++) {
		file_idx file = fd_file(poller, i);
		size_t at = other_end(a, &closed, file);

		if (at < closed.nr && !(LINUX_S_ISFIFO(a->files.list[file].mode) && other_end(a, &own, file) < own.nr))
			found = fd_file(dead, closed.list[at].waker);
	}
	free(closed.list);
	free(own.list);
	return found;
}

bool wakers_has_other_end(const struct trace_analysis *a, const struct trace_thread *thread, file_idx file)
{
	uint64_t ino = other_end_ino(a, file), which = which_end(&a->files.list[file], true);
	bool has = false;

	for (uint32_t i = 0; ino && i < thread->fds->nr && !has; i++) {
		const struct traced_file *own = &a->files.list[fd_file(thread, i)];

		has = is_end(own) && own->ino == ino && which_end(own, false) == which;
	}
	return has;
}

void wakers_free(struct trace_analysis *a)
{
	for (size_t i = 0; i < NR_WAKER_KINDS; i++) {
		free(a->potential_wakers[i].list);
		a->potential_wakers[i] = (struct potential_wakers){0};
	}
	free(a->living.list);
	a->living = (struct living_processes){0};
}

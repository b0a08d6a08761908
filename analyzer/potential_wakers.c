/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * potential_wakers.c - the potential wakers of a wait without a recorded end: the children of a
 * process, the holders of the other end of a pipe or socket, the sharers of memory. It also lists
 * the files on which a process has io_uring requests in progress.
 *
 * To find them, the code has to look at all processes and at everything that they have open.
 *
 * At the end of the trace thousands of threads may wait, and the state does not change any more.
 * Then the code builds one list of all potential wakers, sorted by the search key, and answers each
 * query by a binary search. Before the end such queries are rare: the end of the wait was not
 * recorded, but the result of the call shows that it ended. The answers change over time, so the
 * code builds the list anew for each query, with the entries for that query only.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "potential_wakers.h"
#include "state.h"
#include "state_uring.h"

struct ender {
	/*
	 * search key. CHILDREN: pid of the parent; OTHER_ENDS: inode; SHARERS: file_idx; REQUESTS:
	 * process_idx
	 */
	uint64_t what;
	uint64_t more; /* CHILDREN: a pid of the child, or 0; OTHER_ENDS: which_end() */
	uint32_t who;  /* process_idx of the potential waker; REQUESTS: file_idx */
};

static void add(struct trace_analysis *a, struct enders *enders, struct ender ender)
{
	struct ender *bigger;

	if (enders->nr >= enders->room) {
		size_t room = enders->room ? enders->room * 2 : 64;

		bigger = reallocarray(enders->list, room, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		enders->list = bigger;
		enders->room = room;
	}
	enders->list[enders->nr++] = ender;
}

static void tell(struct trace_analysis *a, struct enders *enders, struct ender ender)
{
	if (a->closing || (ender.what == enders->asked_what && ender.more == enders->asked_more))
		add(a, enders, ender);
}

/* ---- collect potential wakers ---- */

static const struct trace_thread *first_living(const struct trace_process *process)
{
	const struct trace_thread *thread = process->first;

	while (thread && thread->place == PLACE_DEAD)
		thread = thread->next;
	return thread;
}

static void tell_children(struct trace_analysis *a, struct enders *enders, const struct trace_process *process)
{
	if (!first_living(process))
		return;
	tell(a, enders, (struct ender){process->ppid, 0, process->idx});
	tell(a, enders, (struct ender){process->ppid, process->pid, process->idx});
	if (process->ns_pid && process->ns_pid != process->pid)
		tell(a, enders, (struct ender){process->ppid, process->ns_pid, process->idx});
}

/*
 * The part of the key after the inode. For a socket the inode is enough: all sockets are of one
 * file system.
 */
static uint64_t which_end(const struct file *file, bool other)
{
	bool writes = file->mode & FILE_WRITE_END;

	return S_ISFIFO(file->mode) ? (uint64_t)file->dev << 2 | (writes != other) << 1 | 1 : 0;
}

static void tell_ends(struct trace_analysis *a, struct enders *enders, const struct trace_process *process)
{
	const struct trace_thread *thread = process->first;

	while (thread && (thread->place == PLACE_DEAD || !thread->fds))
		/*
		 * The first table found is enough: apart from very few programs, all threads share
		 * one.
		 */
		thread = thread->next;
	for (uint32_t i = 0; thread && i < thread->fds->nr; i++) {
		const struct file *file = &a->files.list[fd_file(thread, i)];

		if (S_ISFIFO(file->mode) || S_ISSOCK(file->mode))
			tell(a, enders, (struct ender){file->ino, which_end(file, false), process->idx});
	}
}

static void tell_sharers(struct trace_analysis *a, struct enders *enders, const struct trace_process *process)
{
	const struct trace_thread *thread = first_living(process);
	file_idx before = 0;

	for (uint32_t i = 0; thread && thread->memory && i < thread->memory->nr; i++) {
		file_idx file = thread->memory->maps[i].file;

		if (file && file != before) /* most files have several adjacent mappings */
			tell(a, enders, (struct ender){file, 0, process->idx});
		before = file;
	}
}

static void tell_requests(struct trace_analysis *a, struct enders *enders, const struct trace_process *process)
{
	file_idx file;

	for (const void *at = NULL; (at = uring_next(a, at, &process, &file));)
		tell(a, enders, (struct ender){process->idx, 0, file});
}

/* ---- queries ---- */

static int order(const void *left, const void *right)
{
	const struct ender *l = left, *r = right;

	if (l->what != r->what)
		return l->what < r->what ? -1 : 1;
	if (l->more != r->more)
		return l->more < r->more ? -1 : 1;
	return l->who < r->who ? -1 : l->who > r->who;
}

static void sort(struct enders *enders)
{
	size_t kept = 0;

	if (enders->nr)
		qsort(enders->list, enders->nr, sizeof(*enders->list), order);
	for (size_t i = 0; i < enders->nr; i++)
		if (!kept || order(&enders->list[kept - 1], &enders->list[i]) != 0)
			enders->list[kept++] = enders->list[i];
	enders->nr = kept;
}

static void look(struct trace_analysis *a, enum ender_kind kind, struct enders *enders)
{
	static void (*const tellers[])(struct trace_analysis *, struct enders *, const struct trace_process *) = {
		[ENDER_CHILDREN] = tell_children, [ENDER_OTHER_ENDS] = tell_ends, [ENDER_SHARERS] = tell_sharers};

	enders->nr = 0;
	if (kind == ENDER_REQUESTS)
		tell_requests(a, enders, NULL);
	else
		for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
			tellers[kind](a, enders, a->threads.processes[i]);
	sort(enders);
	enders->whole = a->closing;
}

static size_t first_of(const struct enders *enders, uint64_t what, uint64_t more)
{
	const struct ender least = {what, more, 0};
	size_t low = 0, high = enders->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (order(&enders->list[middle], &least) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The index of the first answer, if there is one: see answers(). */
static size_t ask(struct trace_analysis *a, enum ender_kind kind, uint64_t what, uint64_t more)
{
	struct enders *enders = &a->potential_wakers[kind];

	if (!enders->whole) {
		enders->asked_what = what;
		enders->asked_more = more;
		look(a, kind, enders);
	}
	return first_of(enders, what, more);
}

static bool answers(const struct enders *enders, size_t at, uint64_t what, uint64_t more)
{
	return at < enders->nr && enders->list[at].what == what && enders->list[at].more == more;
}

static uint32_t who(struct trace_analysis *a, enum ender_kind kind, const struct trace_process *self, uint64_t what, uint64_t more)
{
	uint32_t found = PROCESS_UNKNOWN;

	for (size_t at = ask(a, kind, what, more); answers(&a->potential_wakers[kind], at, what, more); at++) {
		if (a->potential_wakers[kind].list[at].who == self->idx)
			continue;
		if (found != PROCESS_UNKNOWN)
			return PROCESS_SEVERAL;
		found = a->potential_wakers[kind].list[at].who;
	}
	return found;
}

uint32_t ender_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named)
{
	return who(a, ENDER_CHILDREN, self, self->pid, named);
}

uint32_t ender_holder(struct trace_analysis *a, const struct trace_process *self, file_idx idx)
{
	const struct sock *sock = sock_of_file(a, idx);
	const struct file *file = &a->files.list[idx];

	if (idx && S_ISFIFO(file->mode))
		return who(a, ENDER_OTHER_ENDS, self, file->ino, which_end(file, true));
	return sock && sock->peer_ino ? who(a, ENDER_OTHER_ENDS, self, sock->peer_ino, 0) : (uint32_t)PROCESS_UNKNOWN;
}

uint32_t ender_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file)
{
	return file ? who(a, ENDER_SHARERS, self, file, 0) : (uint32_t)PROCESS_UNKNOWN;
}

file_idx ender_request(struct trace_analysis *a, const struct trace_process *process, size_t nr)
{
	size_t at = ask(a, ENDER_REQUESTS, process->idx, 0) + nr;

	return answers(&a->potential_wakers[ENDER_REQUESTS], at, process->idx, 0) ? a->potential_wakers[ENDER_REQUESTS].list[at].who : 0;
}

/* ---- ends of pipes and sockets ---- */

/* Sorted by key; in each entry the descriptor takes the place of the process. */
static void sort_ends(struct trace_analysis *a, const struct trace_thread *thread, struct enders *ret_ends)
{
	for (uint32_t i = 0; i < thread->fds->nr; i++) {
		const struct file *file = &a->files.list[fd_file(thread, i)];

		if (S_ISFIFO(file->mode) || S_ISSOCK(file->mode))
			add(a, ret_ends, (struct ender){file->ino, which_end(file, false), i});
	}
	sort(ret_ends);
}

/* The index of the other end of @idx in @ends; ends->nr: it is not there. */
static size_t other_end(const struct trace_analysis *a, const struct enders *ends, file_idx idx)
{
	const struct file *file = &a->files.list[idx];
	const struct sock *sock = S_ISSOCK(file->mode) ? sock_of_file(a, idx) : NULL;
	uint64_t ino = S_ISFIFO(file->mode) ? file->ino : sock ? sock->peer_ino : 0, which = which_end(file, true);
	size_t at = first_of(ends, ino, which);

	return idx && (S_ISFIFO(file->mode) || ino) && answers(ends, at, ino, which) ? at : ends->nr;
}

file_idx ender_closed(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller)
{
	struct enders closed = {0}, own = {0};
	file_idx found = 0;

	sort_ends(a, dead, &closed);
	if (closed.nr)
		sort_ends(a, poller, &own);
	for (uint32_t i = 0; closed.nr && i < poller->fds->nr && !found; i++) {
		file_idx file = fd_file(poller, i);
		size_t at = other_end(a, &closed, file);

		if (at < closed.nr && !(S_ISFIFO(a->files.list[file].mode) && other_end(a, &own, file) < own.nr))
			found = fd_file(dead, closed.list[at].who);
	}
	free(closed.list);
	free(own.list);
	return found;
}

void enders_free(struct trace_analysis *a)
{
	for (size_t i = 0; i < NR_ENDER_KINDS; i++) {
		free(a->potential_wakers[i].list);
		a->potential_wakers[i] = (struct enders){0};
	}
}

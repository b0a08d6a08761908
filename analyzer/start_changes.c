/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_changes.c - what of the start state had changed before the recorder read it
 *
 * The recorder reads the state after it has begun to record events, one thread, descriptor and
 * mapping after the other; a flight recorder reads it at the end. Each record has the time when it
 * was read. It is true at that time, and back to the last change before it. The state before
 * that change is in no record: it is unknown.
 *
 * Example: descriptor 3 of a process is /old. The recording begins at 0 ms. The process closes 3 at
 * 2 ms and opens /new, which becomes 3, at 4 ms. The recorder reads "3: /new" at 7 ms. Until 4 ms
 * the file of descriptor 3 is unknown, and from then on it is /new.
 *
 * A pass from the start to the last such record finds the changes. It runs before the pass over the
 * events, because the state at the start depends on them. It reads the calls that remove something
 * at their entry, as the state does; a call that adds takes a free number or address, so nothing
 * false was told about it. After a loss anything may have changed. Changes count for the table or
 * the memory that the thread has in the start state, and for that of its process, because they may
 * have been one when the change came.
 */
#include "start_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "start_later.h"
#include "start_missing.h"
#include "start_parents.h"
#include "start_reads.h"
#include "state.h"
#include "state_args.h"
#include "state_directory.h"
#include "state_lost.h"
#include "state_start.h"

#define MAX_ORPHANS  4096u
#define CPU_TID(cpu) (0x80000000u | (cpu))

/* The changes of one call or event. */
struct change {
	uint64_t ns;
	uint64_t first, last; /* descriptors; of mappings: addresses, @last excluded */
	bool is_mapping;
	bool is_closed;
};

/* A change by the thread of a CPU that no event has named yet. */
struct orphan {
	uint32_t tid; /* CPU_TID() */
	struct change change;
};

/* The process of a thread that the start state may not have: one that begins, or that exits. */
struct tgid_row {
	uint64_t key; /* tid */
	uint64_t tgid;
};

struct change_pass {
	struct trace_analysis *a;
	struct start_reads *reads;
	struct first_thread *firsts; /* of each CPU */
	/* on each CPU; 0: not known; CPU_TID(): no event has named it yet */
	uint32_t *tids;
	struct hash_table tgids; /* tgid_row: threads that have begun */
	struct hash_table exits; /* tgid_row: of the first thread of that number that exits */
	bool has_exits;		 /* they are read */
	struct start_parents parents;
	struct start_missing *missing;
	struct orphan *orphans; /* owned */
	size_t nr_orphans, max_orphans;
	uint64_t lost_ns; /* anything may have changed since then */
	/* by call_idx(): it gives the process another working or root directory */
	bool moves[CALL_UNKNOWN + 1];
};

/* More of them than there is room for are treated as a loss. */
static void orphan_keep(struct change_pass *ahead, uint32_t tid, const struct change *change)
{
	struct orphan *bigger;

	if (ahead->nr_orphans == MAX_ORPHANS) {
		ahead->lost_ns = change->ns < ahead->lost_ns ? change->ns : ahead->lost_ns;
		return;
	}
	if (ahead->nr_orphans == ahead->max_orphans) {
		bigger = reallocarray(ahead->orphans, 2 * ahead->max_orphans + 64, sizeof(*bigger));
		if (!bigger) {
			ahead->a->failed = -ENOMEM;
			return;
		}
		ahead->orphans = bigger;
		ahead->max_orphans = 2 * ahead->max_orphans + 64;
	}
	ahead->orphans[ahead->nr_orphans++] = (struct orphan){.tid = tid, .change = *change};
}

static const struct trace_thread *owner_of(const struct change_pass *ahead, const struct trace_process *process)
{
	return process ? process_owner(&ahead->a->threads, process) : NULL;
}

static void thread_changes(struct change_pass *ahead, const struct trace_thread *thread, const struct change *change)
{
	if (!thread)
		return;
	if (change->is_mapping)
		read_maps_change(ahead->reads, thread->memory, change->first, change->last, change->ns);
	else
		read_fds_change(ahead->reads, thread->fds, change->first, change->last, change->ns, change->is_closed);
}

static void exit_comes(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_exit *exit = event->payload;
	struct tgid_row *row;

	if (table_find(&ahead->exits, sizeof(*row), exit->tid))
		return;
	row = acct_row(ahead->a, &ahead->exits, sizeof(*row), exit->tid);
	row->tgid = exit->tgid;
}

/* A pass over the exits alone, which is short: few chunks have them. */
static void read_exits(struct change_pass *ahead)
{
	uint64_t mask[TRACE_MASK_WORDS] = {[TRACE_EV_sched_exit / 64] = 1ull << TRACE_EV_sched_exit % 64};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .from_ns = ahead->a->start_ns, .to_ns = ahead->reads->last_ns};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	ahead->has_exits = true;
	if (!ahead->a->handlers[TRACE_EV_sched_exit]) /* its type in this trace is too short */
		return;
	cursor = trace_cursor_new(ahead->a->trace, &options, NULL);
	if (!cursor) {
		ahead->a->failed = -ENOMEM;
		return;
	}
	while ((event = trace_cursor_next(cursor)))
		if (event->id == TRACE_EV_sched_exit)
			exit_comes(ahead, event);
	if (pass_end(cursor))
		ahead->a->failed = -ENOMEM;
}

/* The process of a thread that is not in the start state; NULL: nothing tells it. */
static const struct tgid_row *tgid_find(struct change_pass *ahead, uint32_t tid)
{
	const struct tgid_row *row = table_find(&ahead->tgids, sizeof(*row), tid);

	if (row || !tid || tid >= CPU_TID(0))
		return row;
	if (!ahead->has_exits)
		read_exits(ahead);
	return table_find(&ahead->exits, sizeof(*row), tid);
}

/* A change counts for what the thread has, and for what its process has. */
static void note(struct change_pass *ahead, uint32_t tid, const struct change *change)
{
	const struct trace_thread *thread = thread_find(&ahead->a->threads, tid);
	const struct tgid_row *row = thread ? NULL : tgid_find(ahead, tid);
	const struct trace_process *process = thread ? thread->process
					      : row  ? process_find(&ahead->a->threads, (uint32_t)row->tgid)
						     : NULL;

	thread_changes(ahead, thread, change);
	if (owner_of(ahead, process) != thread)
		thread_changes(ahead, owner_of(ahead, process), change);
	if (tid >= CPU_TID(0))
		orphan_keep(ahead, tid, change);
}

/* The thread that has had @cpu until now. */
static void name_cpu(struct change_pass *ahead, uint32_t cpu, uint32_t tid)
{
	size_t nr = ahead->nr_orphans;

	ahead->tids[cpu] = tid;
	for (size_t i = 0; i < nr; i++)
		if (ahead->orphans[i].tid == CPU_TID(cpu)) {
			struct change change = ahead->orphans[i].change;

			ahead->orphans[i].tid = 0;
			note(ahead, tid, &change);
		}
}

static void note_fds(struct change_pass *ahead, uint32_t tid, uint64_t ns, uint64_t first, uint64_t last,
		     bool is_closed)
{
	note(ahead, tid, &(struct change){.ns = ns, .first = first, .last = last, .is_closed = is_closed});
}

static void note_maps(struct change_pass *ahead, uint32_t tid, uint64_t ns, uint64_t start, uint64_t bytes)
{
	struct change change = {.ns = ns, .first = start, .is_mapping = true};

	if (__builtin_add_overflow(start, bytes, &change.last))
		change.last = UINT64_MAX;
	note(ahead, tid, &change);
}

/* ---- events ---- */

static void find_moves(struct change_pass *ahead)
{
	static const char *const names[] = {"chdir", "fchdir", "chroot", "pivot_root", "setns", "unshare"};

	for (uint32_t call = 0; call < 2 * NR_CALLS; call++) {
		const char *name = strings_text(&ahead->a->strings, ahead->a->calls[call].name);

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			ahead->moves[call] |= strcmp(name, names[i]) == 0;
	}
}

static void directories_change(struct change_pass *ahead, uint32_t pid, uint64_t ns)
{
	read_row_changes(ahead->reads, read_directory(ahead->reads, pid, TRACE_FD_WORKING_DIRECTORY), ns, false);
	read_row_changes(ahead->reads, read_directory(ahead->reads, pid, TRACE_FD_ROOT_DIRECTORY), ns, false);
}

/* A call that fails counts, too: before it, the directories are unknown then. */
static void process_moves(struct change_pass *ahead, uint32_t tid, uint64_t ns)
{
	const struct trace_thread *thread = thread_find(&ahead->a->threads, tid);
	const struct tgid_row *row = thread ? NULL : tgid_find(ahead, tid);

	if (thread || row)
		directories_change(ahead, thread ? thread->process->pid : (uint32_t)row->tgid, ns);
	else
		read_directories_change(ahead->reads, ns);
}

static void call_begins(struct change_pass *ahead, uint32_t tid, const struct trace_event *event)
{
	/* the shorter forms have its first fields */
	const struct trace_sys_enter6 *enter = event->payload;
	unsigned int nr_args = event->id == TRACE_EV_sys_enter6 ? 6 : event->id == TRACE_EV_sys_enter3 ? 3 : 0;
	const struct call *call = &ahead->a->calls[call_idx(enter->nr, enter->abi)];

	if (!tid || !nr_args)
		return;
	if (ahead->moves[call - ahead->a->calls])
		process_moves(ahead, tid, event->ts_ns);
	switch (call->class) {
	case CALL_CLOSE:
		note_fds(ahead, tid, event->ts_ns, (uint32_t)enter->arg0, (uint32_t)enter->arg0, true);
		break;
	case CALL_CLOSE_RANGE:
		note_fds(ahead, tid, event->ts_ns, (uint32_t)enter->arg0, (uint32_t)enter->arg1, true);
		break;
	case CALL_DUP2:
		note_fds(ahead, tid, event->ts_ns, (uint32_t)enter->arg1, (uint32_t)enter->arg1, false);
		break;
	case CALL_MUNMAP:
		note_maps(ahead, tid, event->ts_ns, enter->arg0, enter->arg1);
		break;
	case CALL_MREMAP:
		note_maps(ahead, tid, event->ts_ns, enter->arg0, enter->arg1);
		if (nr_args == 6 && (enter->arg3 & LINUX_MREMAP_FIXED))
			note_maps(ahead, tid, event->ts_ns, enter->arg4, enter->arg2);
		break;
	case CALL_MMAP:
		if (nr_args == 6 && (enter->arg3 & LINUX_MAP_FIXED))
			note_maps(ahead, tid, event->ts_ns, enter->arg0, enter->arg1);
		break;
	default:
		break;
	}
}

/* The program's own mappings begin, and descriptors with O_CLOEXEC are closed. */
static void program_begins(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_exec *exec = event->payload;
	const struct trace_process *process = process_find(&ahead->a->threads, exec->tid);
	const struct trace_thread *owner = owner_of(ahead, process);

	ahead->tids[event->cpu] = exec->tid;
	if (!owner)
		return;
	note_maps(ahead, exec->tid, event->ts_ns, 0, UINT64_MAX);
	for (uint32_t fd = 0; owner->fds && fd < owner->fds->nr; fd++)
		if (owner->fds->files[fd] & FD_CLOEXEC_BIT)
			read_fds_change(ahead->reads, owner->fds, fd, fd, event->ts_ns, false);
	read_row_changes(ahead->reads, table_find(&ahead->reads->exes, sizeof(struct read_row), process->pid + 1ull),
			 event->ts_ns, false);
}

/* A child with a table, or memory, of its own has its parent's copy from now on. */
static void child_begins(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	struct trace_thread *child = thread_find(&ahead->a->threads, fork->tid);
	const struct trace_thread *parent = thread_find(&ahead->a->threads, fork->parent_tid);
	struct tgid_row *row;

	if (!child) {
		row = acct_row(ahead->a, &ahead->tgids, sizeof(*row), fork->tid);
		row->tgid = (fork->clone_flags & LINUX_CLONE_THREAD) ? fork->tgid : fork->tid;
		return;
	}
	if (event->ts_ns > child->read_ns)
		return;
	child->sched_state = SCHED_NEW; /* it is not there at the start: drop_unborn() */
	if (!parent || parent->fds != child->fds)
		read_fds_change(ahead->reads, child->fds, 0, MAX_FD, event->ts_ns, false);
	if (child == owner_of(ahead, child->process))
		directories_change(ahead, child->process->pid, event->ts_ns);
	if (!parent || parent->memory != child->memory)
		read_maps_change(ahead->reads, child->memory, 0, UINT64_MAX, event->ts_ns);
}

/*
 * A thread ends, or its number does. If the start state has another one of that number, that one
 * begins later: then drop_unborn() takes it away.
 */
static void number_ends(struct change_pass *ahead, uint32_t tid, uint32_t tgid, uint64_t ns)
{
	const struct trace_thread *thread = thread_find(&ahead->a->threads, tid);
	const struct tgid_row *row;

	if (ns >= ahead->lost_ns || table_find(&ahead->tgids, sizeof(*row), tid) ||
	    (thread && thread->sched_state == SCHED_NEW))
		return;
	missing_end(ahead->a, ahead->missing, tid, tgid);
}

/* exec by a thread that is not the leader. */
static void number_changes(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_exec *exec = event->payload;

	if (exec->old_tid != exec->tid)
		number_ends(ahead, exec->old_tid, exec->tid, event->ts_ns);
}

static void ids_change(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_ids *ids = event->payload;
	struct trace_thread *thread = thread_find(&ahead->a->threads, ids->tid);

	if (!thread || event->ts_ns >= thread->read_ns)
		return;
	thread->uid = TRACE_ID_UNKNOWN;
	if (thread == owner_of(ahead, thread->process))
		thread->process->uid = thread->process->gid = TRACE_ID_UNKNOWN;
}

/* One thread is moved, or all of a process that were read later. */
static void group_changes(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_cgroup_attach *attach = event->payload;
	struct trace_thread *thread = thread_find(&ahead->a->threads, attach->tid);
	struct trace_process *process = thread ? thread->process : NULL;
	bool is_alone = thread && (attach->alone || attach->tid != process->pid);

	if (!thread)
		return;
	for (struct trace_thread *t = is_alone ? thread : process->first; t; t = is_alone ? NULL : t->next)
		t->cgroup = event->ts_ns < t->read_ns ? 0 : t->cgroup;
	if (event->ts_ns >= process->read_ns || thread != owner_of(ahead, process))
		return;
	process->cgroup = 0;
	process->cgroup_path = 0;
}

static void name_changes(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_sched_comm *name = event->payload;
	struct trace_thread *thread = thread_find(&ahead->a->threads, name->tid);

	if (!thread || event->ts_ns >= thread->read_ns)
		return;
	memset(thread->comm, 0, sizeof(thread->comm));
	if (thread != owner_of(ahead, thread->process))
		return;
	memset(thread->process->comm, 0, sizeof(thread->process->comm));
	thread->process->is_renamed = true;
}

static void args_change(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_process *process = process_find(&ahead->a->threads,
							   ((const struct trace_sched_args *)event->payload)->tid);

	if (process)
		read_row_changes(ahead->reads,
				 table_find(&ahead->reads->args, sizeof(struct read_row), process->pid + 1ull),
				 event->ts_ns, false);
}

/*
 * An event tells another directory than the start state: it changed between the two, and until a
 * call shows when, the event counts.
 */
static void directory_told(struct change_pass *ahead, const struct trace_event *event)
{
	const struct trace_fs_dir *dir = event->payload;
	const struct trace_thread *thread = thread_find(&ahead->a->threads, dir->tid);
	const struct directories *directories = thread ? thread->directories : NULL;
	file_idx file = !directories				? 0
			: dir->fd == TRACE_FD_WORKING_DIRECTORY ? directories->working
			: dir->fd == TRACE_FD_ROOT_DIRECTORY	? directories->root
								: 0;
	const struct traced_file *known = file ? &ahead->a->files.list[file] : NULL;

	if (known && (known->dev != dir->dev || known->ino != dir->ino))
		read_row_changes(ahead->reads, read_directory(ahead->reads, thread->process->pid, dir->fd),
				 event->ts_ns, true);
}

static void pass_event(struct change_pass *ahead, const struct trace_event *event)
{
	struct first_thread *first = &ahead->firsts[event->cpu];
	uint32_t *tid = &ahead->tids[event->cpu];
	int32_t fd;

	if (first->kind == FIRST_NOTHING && first_thread_find(ahead->a, first, event))
		name_cpu(ahead, event->cpu, first->kind == FIRST_NAMED ? first->tid : 0);
	if (!ahead->a->handlers[event->id]) /* its type in this trace is too short, or it is a loss */
		return;
	switch (event->id) {
	case TRACE_EV_sched_switch:
		*tid = ((const struct trace_sched_switch *)event->payload)->next_tid;
		break;
	case TRACE_EV_sys_enter3:
	case TRACE_EV_sys_enter6:
		call_begins(ahead, *tid, event);
		break;
	case TRACE_EV_fs_open:
		fd = ((const struct trace_fs_open *)event->payload)->fd;
		note_fds(ahead, *tid, event->ts_ns, (uint32_t)fd, (uint32_t)fd, false);
		break;
	case TRACE_EV_uring_close:
		fd = ((const struct trace_uring_close *)event->payload)->fd;
		note_fds(ahead, *tid, event->ts_ns, (uint32_t)fd, (uint32_t)fd, true);
		break;
	case TRACE_EV_sock_endpoints:
		read_row_changes(ahead->reads,
				 table_find(&ahead->reads->sockets, sizeof(struct read_row),
					    ((const struct trace_sock_endpoints *)event->payload)->ino),
				 event->ts_ns, false);
		break;
	case TRACE_EV_sched_exec:
		number_changes(ahead, event);
		program_begins(ahead, event);
		break;
	case TRACE_EV_sched_exit:
		number_ends(ahead, ((const struct trace_sched_exit *)event->payload)->tid,
			    ((const struct trace_sched_exit *)event->payload)->tgid, event->ts_ns);
		break;
	case TRACE_EV_sched_fork:
		start_parents_fork(ahead->a, &ahead->parents, event);
		child_begins(ahead, event);
		break;
	case TRACE_EV_sched_adopt:
		start_parents_adopt(ahead->a, &ahead->parents, event);
		break;
	case TRACE_EV_fs_dir:
		directory_told(ahead, event);
		break;
	case TRACE_EV_sched_ids:
		ids_change(ahead, event);
		break;
	case TRACE_EV_cgroup_attach:
		group_changes(ahead, event);
		break;
	case TRACE_EV_sched_comm:
		name_changes(ahead, event);
		break;
	case TRACE_EV_sched_args:
		args_change(ahead, event);
		break;
	default:
		break;
	}
}

static const uint32_t pass_ids[] = {
	TRACE_EV_sched_switch, TRACE_EV_sys_enter3,	TRACE_EV_sys_enter6,  TRACE_EV_fs_open,
	TRACE_EV_uring_close,  TRACE_EV_sock_endpoints, TRACE_EV_sched_exec,  TRACE_EV_sched_fork,
	TRACE_EV_sched_ids,    TRACE_EV_cgroup_attach,	TRACE_EV_sched_comm,  TRACE_EV_sched_args,
	TRACE_EV_trace_lost,   TRACE_EV_fs_dir,		TRACE_EV_sched_adopt, TRACE_EV_sched_exit,
};

/* ---- what is not true from the start on ---- */

static void table_forget(struct trace_analysis *a, struct trace_thread *thread, bool is_own)
{
	struct later later = {.tid = is_own ? thread->tid : 0, .pid = thread->process->pid};
	const struct read_row *row;

	for (uint32_t fd = 0; thread->fds && fd < thread->fds->nr; fd++) {
		row = thread->fds->files[fd] ? read_fd(a->reads, thread->fds, fd) : NULL;
		if (!row || row->changed_ns == NO_CHANGE)
			continue;
		later.ns = row->changed_ns + 1;
		later.fd = fd;
		later.file = thread->fds->files[fd];
		if (!row->is_closed)
			later_add(a, &later);
		fd_put(a, thread, fd, 0, false);
	}
}

static void tables_forget(struct trace_analysis *a, const struct trace_process *process)
{
	const struct trace_thread *owner = process_owner(&a->threads, process);

	for (struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread == owner || !owner || thread->fds != owner->fds)
			table_forget(a, thread, thread != owner);
}

static void memory_forget(struct trace_analysis *a, const struct trace_process *process)
{
	const struct trace_thread *owner = process_owner(&a->threads, process);
	struct later later = {.pid = process->pid};
	const struct read_map *map;
	struct mapping now;

	if (!owner || !owner->memory)
		return;
	for (uint32_t i = 0; i < owner->memory->nr;) {
		now = owner->memory->maps[i];
		map = read_map(a->reads, owner->memory, now.start);
		if (!map || map->changed_ns == NO_CHANGE) {
			i++;
			continue;
		}
		later.ns = map->changed_ns + 1;
		later.start = map->start;
		later.end = map->end;
		later.offset = now.offset;
		later.file = now.file;
		later.is_private = now.is_private;
		if (!map->is_outdated)
			later_add(a, &later);
		memory_unmap(a, owner->memory, now.start, now.end);
	}
}

static void directory_forget(struct trace_analysis *a, const struct trace_process *process, int32_t fd)
{
	const struct read_row *row = read_directory(a->reads, process->pid, fd);
	struct trace_thread *owner = process_owner(&a->threads, process);
	struct later later = {.pid = process->pid, .fd = (uint32_t)fd};

	if (!row || row->changed_ns == NO_CHANGE || !owner || !owner->directories)
		return;
	later.ns = row->changed_ns + 1;
	later.file = fd == TRACE_FD_WORKING_DIRECTORY ? owner->directories->working : owner->directories->root;
	if (!row->is_closed)
		later_add(a, &later);
	directory_put(a, owner, fd, 0);
}

static void program_forget(struct trace_analysis *a, struct trace_process *process)
{
	const struct read_row *exe = table_find(&a->reads->exes, sizeof(*exe), process->pid + 1ull),
			      *args = table_find(&a->reads->args, sizeof(*args), process->pid + 1ull);

	if (exe && exe->changed_ns != NO_CHANGE)
		process->exe = 0;
	if (args && args->changed_ns != NO_CHANGE)
		args_forget(process);
}

static void all_forget(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++) {
		tables_forget(a, a->threads.processes[i]);
		memory_forget(a, a->threads.processes[i]);
		program_forget(a, a->threads.processes[i]);
		directory_forget(a, a->threads.processes[i], TRACE_FD_WORKING_DIRECTORY);
		directory_forget(a, a->threads.processes[i], TRACE_FD_ROOT_DIRECTORY);
	}
	start_parents_forget(a);
	for (const struct read_row *row = NULL; (row = table_next(&a->reads->sockets, sizeof(*row), row));)
		if (row->changed_ns != NO_CHANGE)
			sock_forget(a, row->key);
}

/* ---- the pass ---- */

/* The first loss of events that may have changed something; UINT64_MAX: none. */
static uint64_t first_loss(const struct trace_analysis *a)
{
	uint64_t ns = UINT64_MAX;

	for (size_t i = 0; i < trace_nr_gaps(a->trace); i++) {
		const struct trace_gap *gap = trace_get_gap(a->trace, i);

		if (gap->stream < 2 * a->nr_cpus && gap->cause != TRACE_GAP_MISSED &&
		    !trace_gap_is_older(a->trace, gap) && gap->start_ns < ns)
			ns = gap->start_ns;
	}
	return ns;
}

/* A loss that the trace did not tell when it was opened. */
static void damage_found(void *data, const struct trace_gap *gap)
{
	struct change_pass *ahead = data;

	if (gap->stream < 2 * ahead->a->nr_cpus && gap->start_ns < ahead->lost_ns)
		ahead->lost_ns = gap->start_ns;
}

static int look_ahead(struct change_pass *ahead, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options),
					       .mask = mask,
					       .from_ns = ahead->a->start_ns,
					       .to_ns = ahead->reads->last_ns,
					       .damaged = damage_found,
					       .damaged_data = ahead};
	const struct trace_event *event;
	struct trace_cursor *cursor;

	for (size_t i = 0; i < sizeof(pass_ids) / sizeof(pass_ids[0]); i++)
		mask[pass_ids[i] / 64] |= 1ull << pass_ids[i] % 64;
	cursor = trace_cursor_new(ahead->a->trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		if (event->cpu < ahead->a->nr_cpus)
			pass_event(ahead, event);
	return pass_end(cursor);
}

/* CPUs that no event has named have the thread that the start state saw there. */
static void name_rest(struct change_pass *ahead)
{
	const struct thread_table *threads = &ahead->a->threads;

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < threads->nr_processes; i++)
		for (const struct trace_thread *t = threads->processes[i]->first; t; t = t->next)
			if ((t->flags & THREAD_RAN_AT_START) && t->sched_state != SCHED_NEW &&
			    ahead->tids[t->cpu] == CPU_TID(t->cpu))
				name_cpu(ahead, t->cpu, t->tid);
}

static int changes_find(struct change_pass *ahead, struct trace_error *ret_error)
{
	int error;

	ahead->tids = malloc((ahead->a->nr_cpus + 1) * sizeof(*ahead->tids));
	if (!ahead->tids)
		return -ENOMEM;
	for (uint32_t i = 0; i < ahead->a->nr_cpus; i++)
		ahead->tids[i] = CPU_TID(i);
	find_moves(ahead);
	error = look_ahead(ahead, ret_error);
	if (ahead->nr_orphans)
		name_rest(ahead);
	reads_lose(ahead->reads, ahead->lost_ns);
	return error;
}

int start_changes_find(struct trace_analysis *a, struct first_thread *firsts, struct start_missing *missing,
		       struct trace_error *ret_error)
{
	struct change_pass ahead = {
		.a = a, .reads = a->reads, .firsts = firsts, .missing = missing, .lost_ns = first_loss(a)};
	int error;

	start_reads_complete(a);
	error = a->reads->last_ns ? changes_find(&ahead, ret_error) : 0;
	free(ahead.tids);
	free(ahead.orphans);
	table_clear(&ahead.tgids);
	table_clear(&ahead.exits);
	start_parents_clear(&ahead.parents);
	if (error || a->failed || !a->reads->nr_changed)
		return error;
	all_forget(a);
	later_complete(a);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_identity.c - what a process is, and was: user, group, control group, parent, name
 *
 * Each of these can change while a process runs: by setresuid() and its kin, by an exec of a
 * set-uid program, when the process is moved to another control group or born in one, when a
 * subreaper or init adopts it, and by prctl(PR_SET_NAME). The process has its latest values. If any
 * of them ever changed, it also has a row for each identity that it had, with the time of all its
 * threads meanwhile. The rows add up to the figures of the process.
 *
 * Example: a daemon begins as root and drops its privileges after 20 ms. Its user is 65534, and it
 * has two rows: 20 ms of user 0 and the rest of user 65534.
 *
 * The ids, the control group and the name of a process are those of its leader, as in /proc/PID.
 * Another thread with ids of its own keeps them to itself. A name that exec gives begins no first
 * row: a child that executes its program has been a copy of its parent until then. A process that
 * has rows gets one for it, so that no row has the time of a program under the name of another one.
 *
 * A thread may be in another control group than its leader (cgroup.threads, or tasks of version 1).
 * Such a thread is apart: its time is in a row with its group and the other values of its process.
 * Example: thread 11 of process 10 is moved from /a to /b at 4 ms, and both compute until 10 ms.
 * The row with /a has 10 ms + 4 ms, and that with /b has 6 ms.
 *
 * A change reads the times of all threads of the process. If a process with many threads changes
 * often, the reads would take longer than the pass. So each change and each thread pays for
 * VISITS reads. When these are used up, the time from a change on is that of a row with unknown
 * values, until they suffice again. Example: 10,000 threads pay for 640,000 reads, so the first 62
 * changes are exact. If the leader changes its name 1,000 times a second, every 156th of the later
 * changes is.
 *
 * A recorder reads the start state a moment after the start; a flight recorder reads it at the end.
 * So the values in it are those after all changes that came before it was read. The value before
 * the first such change is unknown: start_changes.c makes it so.
 *
 * A window has the identities of a process in it: its begin sets the times of all rows to zero, and
 * its end counts the current row. Rows that begin after it have no time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "slice_log.h"
#include "state.h"
#include "state_close.h"
#include "state_container.h"
#include "state_identity.h"

#define IDENTITY_ROWS 64u /* a server may take the ids of any number of users; the last row has the rest */

#define VISITS 64u /* of threads, for each change and each thread */

static const struct identity not_known = {.uid = TRACE_ID_UNKNOWN, .gid = TRACE_ID_UNKNOWN};

struct identity identity_of(const struct trace_process *process)
{
	struct identity is = {
		.uid = process->uid, .gid = process->gid, .ppid = process->ppid, .cgroup = process->cgroup_path};

	memcpy(is.comm, process->comm, sizeof(is.comm));
	return is;
}

static bool same(const struct identity *one, const struct identity *other)
{
	return one->uid == other->uid && one->gid == other->gid && one->ppid == other->ppid &&
	       one->cgroup == other->cgroup && strncmp(one->comm, other->comm, sizeof(one->comm)) == 0;
}

/* ---- times ---- */

static void times_add(struct trace_times *to, const struct trace_times *times, const struct trace_times *less)
{
	to->user_ns += times->user_ns - less->user_ns;
	to->syscall_ns += times->syscall_ns - less->syscall_ns;
	to->trap_ns += times->trap_ns - less->trap_ns;
	to->interrupted_ns += times->interrupted_ns - less->interrupted_ns;
	to->wait_cpu_ns += times->wait_cpu_ns - less->wait_cpu_ns;
	to->blocked_ns += times->blocked_ns - less->blocked_ns;
}

static struct trace_times process_times(const struct trace_analysis *a, const struct trace_process *process)
{
	const struct trace_times none = {0};
	struct trace_times sum = {0}, times;

	for (const struct trace_thread *thread = process->first; thread; thread = thread->next) {
		trace_thread_times(a, thread, &times);
		times_add(&sum, &times, &none);
	}
	return sum;
}

/* ---- threads in control groups of their own ---- */

/*
 * The row of @apart gets the time of its thread until @ns. The current row does not: it has the
 * rest of the process.
 */
static void settle(const struct trace_analysis *a, struct identity_log *log, struct thread_group *apart, uint64_t ns)
{
	uint64_t end_ns = apart->thread->end_ns;
	struct identity_row *row = &log->rows[apart->row];
	struct trace_times times;

	if (log->is_past_window)
		return;
	trace_thread_times(a, apart->thread, &times);
	log->visited++;
	if (apart->row != log->in_window) {
		times_add(&row->times, &times, &apart->before);
		times_add(&log->before, &times, &apart->before);
	}
	apart->before = times;
	ns = end_ns && end_ns < ns ? end_ns : ns;
	row->last_ns = row->last_ns > ns ? row->last_ns : ns;
}

static void settle_all(const struct trace_analysis *a, struct identity_log *log, uint64_t ns)
{
	for (uint32_t i = 0; i < log->nr_apart; i++)
		settle(a, log, &log->apart[i], ns);
}

/* ---- the window ---- */

struct identity_edge_row {
	uint64_t key; /* process_idx */
	struct trace_times times;
};

/* The sums of @process at the begin of the window; zero without a window, or if it began later. */
static struct trace_times times_at_window(const struct trace_analysis *a, const struct trace_process *process)
{
	const struct identity_edge_row *row = table_find(&a->identity_edges, sizeof(*row), process->idx);

	return row ? row->times : (struct trace_times){0};
}

static void window_begins(struct trace_analysis *a, const struct trace_process *process, uint64_t ns)
{
	struct identity_edge_row *row = table_add(&a->identity_edges, sizeof(*row), process->idx);
	struct identity_log *log = process->identities;

	if (!row) {
		a->failed = -ENOMEM;
		return;
	}
	row->times = process_times(a, process);
	for (uint32_t i = 0; log && i < log->nr; i++) {
		memset(&log->rows[i].times, 0, sizeof(log->rows[i].times));
		log->rows[i].count = i == log->current;
		log->rows[i].first_ns = log->rows[i].last_ns = ns;
	}
	for (uint32_t i = 0; log && i < log->nr_apart; i++) {
		if (log->apart[i].thread->sched_state != SCHED_DEAD)
			log->rows[log->apart[i].row].count = 1;
		trace_thread_times(a, log->apart[i].thread, &log->apart[i].before);
	}
	if (log)
		log->before = row->times;
}

/* The current row gets the rest of the process's time in the window: close_columns(). */
static void window_ends(const struct trace_analysis *a, const struct trace_process *process, uint64_t ns)
{
	if (!process->identities)
		return;
	settle_all(a, process->identities, ns);
	process->identities->is_past_window = true;
}

void identity_edge(struct trace_analysis *a, uint64_t ns)
{
	uint64_t now = a->now;

	a->now = ns;
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		if (a->is_past_window)
			window_ends(a, a->threads.processes[i], ns);
		else
			window_begins(a, a->threads.processes[i], ns);
	if (a->is_past_window)
		table_clear(&a->identity_edges);
	a->now = now;
}

/* ---- rows ---- */

/* Returns @log->nr if there is no such row. */
static uint32_t find_row(const struct identity_log *log, const struct identity *is)
{
	uint32_t i = 0;

	while (i < log->nr && !same(&log->rows[i].is, is))
		i++;
	return i;
}

/* Returns the index of the row of @is; the last possible row takes all that have none. */
static uint32_t row_of(struct trace_analysis *a, struct identity_log *log, const struct identity *is, uint64_t ns)
{
	struct identity_row *bigger;
	uint32_t i = find_row(log, is);

	if (i == log->nr && log->nr == IDENTITY_ROWS) {
		i = find_row(log, &not_known);
		i = i < log->nr ? i : log->nr - 1;
		log->rows[i].is = not_known;
	}
	if (i < log->nr)
		return i;
	if (log->nr == log->room) {
		bigger = reallocarray(log->rows, 2 * log->room + 2, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return log->nr ? log->nr - 1 : 0;
		}
		log->rows = bigger;
		log->room = 2 * log->room + 2;
	}
	log->rows[log->nr] = (struct identity_row){.is = *is, .first_ns = ns, .last_ns = ns};
	return log->nr++;
}

static struct identity_log *log_of(struct trace_analysis *a, struct trace_process *process,
				   const struct identity *first)
{
	uint64_t start = process->first ? process->first->start_ns : a->start_ns;

	if (process->identities)
		return process->identities;
	process->identities = calloc(1, sizeof(*process->identities));
	if (!process->identities) {
		a->failed = -ENOMEM;
		return NULL;
	}
	row_of(a, process->identities, first, start > a->start_ns ? start : a->start_ns);
	if (a->failed)
		return NULL;
	process->identities->rows[0].count = 1;
	process->identities->before = times_at_window(a, process);
	process->identities->is_past_window = a->is_past_window;
	return process->identities;
}

static void apply(struct trace_process *process, const struct identity *now)
{
	process->uid = now->uid;
	process->gid = now->gid;
	process->ppid = now->ppid;
	process->cgroup_path = now->cgroup;
	memcpy(process->comm, now->comm, sizeof(process->comm));
}

/* The process has not begun to run: what it gets now it has from the beginning. */
static bool is_unborn(const struct trace_process *process)
{
	return process->first && process->first == process->last && process->first->sched_state == SCHED_NEW;
}

/* Can @process pay for the begin of a row, and for that of the row with unknown values? Each of
 * them reads the threads that are apart twice. */
static bool can_pay(const struct identity_log *log, const struct trace_process *process)
{
	uint32_t nr = process->nr_threads + log->nr_apart;

	return log->visited + 2 * nr <= VISITS * (log->changes + process->nr_threads);
}

/*
 * The time of the process until now is that of its current row, and from now on that of @row. The
 * threads are not asked for their times if the row remains.
 */
static void begin_row(struct trace_analysis *a, struct identity_log *log, const struct trace_process *process,
		      uint32_t row, uint64_t ns)
{
	struct trace_times sums;

	log->rows[row].count += !log->is_past_window;
	if (row == log->current)
		return;
	log->current = row;
	if (log->is_past_window)
		return;
	if (log->rows[row].count == 1) /* the first time in the window, if there is one */
		log->rows[row].first_ns = ns;
	settle_all(a, log, ns);
	sums = process_times(a, process);
	log->visited += process->nr_threads;
	times_add(&log->rows[log->in_window].times, &sums, &log->before);
	log->rows[log->in_window].last_ns = ns;
	log->before = sums;
	log->in_window = row;
}

/* While the values of the process are not known, those of its threads are not either. */
static void choose_row(struct trace_analysis *a, struct identity_log *log, const struct trace_process *process,
		       struct thread_group *apart, uint64_t ns)
{
	struct identity is = identity_of(process);
	uint32_t row = log->current;

	is.cgroup = apart->cgroup;
	if (!same(&log->rows[row].is, &not_known))
		row = row_of(a, log, &is, ns);
	if (row == apart->row)
		return;
	log->rows[row].count += !log->is_past_window;
	apart->row = row;
}

/* Threads that are in the group of their process now, or have ended, are not apart any more. */
static void renew_apart(struct trace_analysis *a, struct identity_log *log, const struct trace_process *process,
			uint64_t ns)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < log->nr_apart; i++) {
		struct thread_group *apart = &log->apart[i];

		apart->thread->is_apart = apart->cgroup != process->cgroup_path &&
					  apart->thread->sched_state != SCHED_DEAD;
		if (!apart->thread->is_apart)
			continue;
		choose_row(a, log, process, apart, ns);
		log->apart[nr++] = *apart;
	}
	log->nr_apart = nr;
}

void identity_change(struct trace_analysis *a, struct trace_process *process, uint64_t ns, const struct identity *now)
{
	struct identity before = identity_of(process);
	struct identity_log *log;
	uint32_t row;

	if (same(&before, now))
		return;
	/* without a cursor: an event from before the window of a flight recorder */
	log = is_unborn(process) || !a->cursor ? NULL : log_of(a, process, &before);
	row = log ? log->current : 0;
	if (log) {
		log->changes++;
		begin_row(a, log, process, row_of(a, log, can_pay(log, process) ? now : &not_known, ns), ns);
	}
	apply(process, now);
	if (log && log->current != row)
		renew_apart(a, log, process, ns);
}

static struct thread_group *find_apart(const struct trace_thread *thread)
{
	const struct identity_log *log = thread->process->identities;

	for (uint32_t i = 0; thread->is_apart && log && i < log->nr_apart; i++)
		if (log->apart[i].thread == thread)
			return &log->apart[i];
	return NULL;
}

static void drop_apart(struct identity_log *log, struct thread_group *apart)
{
	apart->thread->is_apart = false;
	*apart = log->apart[--log->nr_apart];
}

/* Makes room for one more. Threads that have ended make room first. */
static bool has_room(struct trace_analysis *a, struct identity_log *log, uint64_t ns)
{
	uint32_t room = log->room_apart ? 2 * log->room_apart : 4;
	struct thread_group *bigger;

	if (log->nr_apart < log->room_apart)
		return true;
	for (uint32_t i = log->nr_apart; i; i--)
		if (log->apart[i - 1].thread->sched_state == SCHED_DEAD) {
			settle(a, log, &log->apart[i - 1], ns);
			drop_apart(log, &log->apart[i - 1]);
		}
	if (log->nr_apart < log->room_apart / 2)
		return true;
	bigger = reallocarray(log->apart, room, sizeof(*bigger));
	if (!bigger) {
		a->failed = -ENOMEM;
		return false;
	}
	log->apart = bigger;
	log->room_apart = room;
	return true;
}

/* @thread is apart from @ns on, in the row of its process at first. NULL: out of memory. */
static struct thread_group *add_apart(struct trace_analysis *a, struct identity_log *log, struct trace_thread *thread,
				      uint64_t ns)
{
	struct thread_group *apart;

	if (!has_room(a, log, ns))
		return NULL;
	apart = &log->apart[log->nr_apart++];
	*apart = (struct thread_group){.thread = thread, .row = log->in_window};
	thread->is_apart = true;
	trace_thread_times(a, thread, &apart->before);
	log->visited++;
	return apart;
}

/* @thread, which is not the leader, is in group @number from @ns on. */
static void put_apart(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint64_t number)
{
	struct trace_process *process = thread->process;
	uint32_t path = cgroup_path_of(a, number);
	struct identity is = identity_of(process);
	struct thread_group *apart = find_apart(thread);
	struct identity_log *log;

	thread->cgroup = number;
	if (!apart && path == process->cgroup_path)
		return;
	log = log_of(a, process, &is);
	if (!log || a->failed)
		return;
	log->changes++;
	if (apart)
		settle(a, log, apart, ns);
	else
		apart = add_apart(a, log, thread, ns);
	if (!apart)
		return;
	apart->cgroup = path;
	if (path == process->cgroup_path)
		drop_apart(log, apart);
	else
		choose_row(a, log, process, apart, ns);
}

/* The leader leaves the other threads behind in the group of the process. */
static void leave_behind(struct trace_analysis *a, const struct trace_thread *leader, uint64_t ns)
{
	struct trace_process *process = leader->process;
	struct identity is = identity_of(process);
	struct identity_log *log = log_of(a, process, &is);

	for (struct trace_thread *thread = process->first; log && thread; thread = thread->next) {
		struct thread_group *apart;

		if (thread == leader || thread->sched_state == SCHED_DEAD || thread->is_apart)
			continue;
		apart = add_apart(a, log, thread, ns);
		if (!apart)
			return;
		apart->cgroup = process->cgroup_path;
		thread->cgroup = process->cgroup;
	}
}

/* The process is moved with all its threads. */
static void join_all(const struct trace_analysis *a, const struct trace_process *process, uint64_t ns)
{
	struct identity_log *log = process->identities;

	if (!log)
		return;
	settle_all(a, log, ns);
	for (uint32_t i = 0; i < log->nr_apart; i++)
		log->apart[i].thread->is_apart = false;
	log->nr_apart = 0;
}

static bool leads(const struct trace_thread *thread)
{
	return thread->tid == thread->process->pid;
}

/* Before the pass: the start state has the group of @thread, or a fork or an attach. */
static bool has_group(const struct trace_thread *thread)
{
	return !leads(thread) && ((thread->flags & THREAD_FROM_START) || thread->cgroup);
}

void process_groups_loaded(struct trace_analysis *a, struct trace_process *process, uint64_t ns)
{
	struct identity now = identity_of(process);

	now.cgroup = cgroup_path_of(a, process->cgroup);
	if (process->cgroup_path)
		identity_change(a, process, ns, &now);
	else /* it began in the pause */
		process->cgroup_path = now.cgroup;
	for (struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread->sched_state != SCHED_DEAD && thread->described_ns >= a->restart.since_ns &&
		    has_group(thread))
			put_apart(a, thread, ns, thread->cgroup);
}

void thread_group_inherit(struct trace_analysis *a, struct trace_thread *child, const struct trace_thread *parent)
{
	if (a->cursor ? !parent->is_apart : !has_group(parent))
		return;
	child->cgroup = parent->cgroup;
	if (child->process != parent->process)
		cgroup_put(a, child->process, child->cgroup);
	else if (a->cursor)
		put_apart(a, child, a->now, child->cgroup);
}

void thread_group_lead(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	const struct thread_group *apart = find_apart(thread);
	struct identity now = identity_of(thread->process);

	if (!apart)
		return;
	now.cgroup = apart->cgroup;
	thread->process->cgroup = thread->cgroup;
	identity_change(a, thread->process, ns, &now);
}

/* ---- events ---- */

/* Does @thread speak for its process? The leader does, and any thread if the leader has ended. */
static bool is_leading(const struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread == process_owner(&a->threads, thread->process);
}

void identity_of_thread(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint32_t uid, uint32_t gid)
{
	struct identity now = identity_of(thread->process);

	thread->uid = uid;
	if (!is_leading(a, thread))
		return;
	now.uid = uid;
	now.gid = gid;
	identity_change(a, thread->process, ns, &now);
}

void identity_rename(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const char *comm)
{
	struct identity now = identity_of(thread->process);
	bool has_name = now.comm[0] || thread->process->is_renamed;

	/* a process keeps the name of its leader when that has ended */
	if (has_name ? thread->tid != thread->process->pid : !is_leading(a, thread))
		return;
	if (!has_name) { /* the name was not known until now */
		for (uint32_t i = 0; thread->process->identities && i < thread->process->identities->nr; i++)
			strncpy(thread->process->identities->rows[i].is.comm, comm, sizeof(now.comm) - 1);
		return;
	}
	memset(now.comm, 0, sizeof(now.comm));
	strncpy(now.comm, comm, sizeof(now.comm) - 1);
	identity_change(a, thread->process, ns, &now);
}

/* The thread runs on @cpu, and its events are recorded from now on. */
static void enter_filter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	thread->flags &= ~THREAD_FILTERED;
	if (thread->sched_state != SCHED_UNKNOWN)
		return;
	cpu_evict(a, cpu, ns);
	acct_unknown(a, thread, ns);
	thread_mode_unknown(thread, ns);
	cpu_take(a, cpu, thread);
	slice_log_begin(a, cpu, ns);
}

static void leave_filter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	if (cpu->current == thread) {
		acct_cpu(a, cpu, ns);
		cpu_evict(a, cpu, ns);
		slice_log_begin(a, cpu, ns);
	}
	thread->flags |= THREAD_FILTERED;
}

/* A filter by user or group selects the thread from now on, or not any more. */
static void pass_filter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns,
			bool passes)
{
	if (is_leading(a, thread))
		filtered_hide(a, thread->process, !passes);
	if (passes && (thread->flags & THREAD_FILTERED))
		enter_filter(a, cpu, thread, ns);
	else if (!passes && !(thread->flags & THREAD_FILTERED))
		leave_filter(a, cpu, thread, ns);
}

/* With a filter a thread may be new here, because its fork did not pass. */
static struct trace_thread *thread_of(struct trace_analysis *a, const struct trace_sched_ids *ids, uint64_t ns)
{
	struct trace_thread *thread = thread_find(&a->threads, ids->tid);
	struct trace_process *process;

	if (thread && thread->sched_state != SCHED_DEAD)
		return thread;
	if (!a->filter.is_on || !ids->passes || !ids->tid || ids->tid >= MAX_TID)
		return NULL;
	process = process_get(a, ids->tgid);
	if (process && !process->nr_living && process->nr_threads)
		process = process_new(a, ids->tgid);
	thread = process ? thread_new(a, ids->tid, process, ns) : NULL;
	if (!thread)
		return NULL;
	thread->sched_state = SCHED_UNKNOWN;
	thread->flags |= THREAD_FILTERED;
	return thread;
}

void on_sched_ids(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_ids *ids = event->payload;
	struct trace_thread *thread = thread_of(a, ids, ns);

	if (!thread)
		return;
	if (thread->process->is_orphan && ids->ppid) {
		family_adopted(a, thread->process, ns, ids->ppid);
	} else if (!thread->process->ppid && ids->ppid && !thread->process->is_adopted) {
		thread->process->ppid = ids->ppid;
		family_join(a, thread->process);
	}
	identity_of_thread(a, thread, ns, ids->uid, ids->gid);
	if (a->filter.is_on && a->cursor)
		pass_filter(a, cpu, thread, ns, ids->passes);
}

/* The leader is moved, or all threads of its process; the leader may have ended. */
static void process_is_moved(struct trace_analysis *a, struct trace_thread *leader, uint64_t ns,
			     const struct trace_cgroup_attach *attach)
{
	struct trace_process *process = leader->process;
	struct identity now = identity_of(process);

	now.cgroup = cgroup_path_of(a, attach->cgroup);
	if (!attach->alone)
		join_all(a, process, ns);
	else if (a->cursor && process->nr_living > 1 && now.cgroup != process->cgroup_path)
		leave_behind(a, leader, ns);
	process->cgroup = attach->cgroup;
	identity_change(a, process, ns, &now);
}

void on_cgroup_attach(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_cgroup_attach *attach = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, attach->tid);

	cgroup_learn(a, attach->cgroup, trace_event_string(event));
	if (!thread || (thread->sched_state == SCHED_DEAD && (attach->alone || !thread->process->nr_living)))
		return;
	if (leads(thread))
		process_is_moved(a, thread, ns, attach);
	else if (thread->sched_state == SCHED_DEAD)
		return;
	else if (a->cursor)
		put_apart(a, thread, ns, attach->cgroup);
	else
		thread->cgroup = attach->cgroup;
}

/* ---- results ---- */

static struct trace_identity public_row(const struct trace_process *process, const struct identity_row *row)
{
	struct trace_identity identity = {.uid = row->is.uid,
					  .gid = row->is.gid,
					  .ppid = row->is.ppid,
					  .cgroup = strings_text(process->strings, row->is.cgroup),
					  .first_ns = row->first_ns,
					  .last_ns = row->last_ns,
					  .count = row->count,
					  .times = row->times};

	memcpy(identity.comm, row->is.comm, sizeof(identity.comm));
	return identity;
}

#define NR_COLUMNS (sizeof(struct trace_times) / sizeof(uint64_t))

static uint64_t *column_of(struct trace_identity *identity, size_t column)
{
	return (uint64_t *)&identity->times + column;
}

/*
 * A change and an edge of the window read times in progress, which may count for another column
 * later: the mode of a thread may be learned, or a gap be found. So the rows have at most the
 * figures of the process, and the current one has the rest.
 */
static void close_columns(struct trace_identity *list, size_t nr, size_t current, const struct trace_times *sums)
{
	for (size_t column = 0; column < NR_COLUMNS; column++) {
		uint64_t left = ((const uint64_t *)sums)[column];

		for (size_t i = 0; i < nr; i++) {
			uint64_t *ns = column_of(&list[i], column);

			if (i == current)
				continue;
			*ns = *ns < left ? *ns : left;
			left -= *ns;
		}
		*column_of(&list[current], column) = left;
	}
}

/* The rows of threads that are apart get their time since the last change. */
static void add_rests(const struct trace_analysis *a, const struct identity_log *log, struct trace_identity *list,
		      uint64_t process_end_ns)
{
	for (uint32_t i = 0; i < log->nr_apart; i++) {
		const struct thread_group *apart = &log->apart[i];
		uint64_t end_ns = apart->thread->end_ns;
		struct trace_identity *row = &list[apart->row];
		struct trace_times times;

		trace_thread_times(a, apart->thread, &times);
		times_add(&row->times, &times, &apart->before);
		end_ns = end_ns ? end_ns : process_end_ns;
		row->last_ns = row->last_ns > end_ns ? row->last_ns : end_ns;
	}
}

/* The identities that the process had in the window. Without a window these are all. */
static size_t keep_rows(struct trace_identity *list, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct trace_identity row = list[i];
		size_t at = kept;

		if (!row.count)
			continue;
		for (; at && list[at - 1].first_ns > row.first_ns; at--)
			list[at] = list[at - 1];
		list[at] = row;
		kept++;
	}
	return kept;
}

struct trace_identity *trace_process_identities(const struct trace_analysis *a, const struct trace_process *process,
						size_t *ret_nr)
{
	const struct identity_log *log = process->identities;
	struct identity_row now = {.is = identity_of(process),
				   .first_ns = process->first ? process->first->start_ns : 0,
				   .count = 1};
	uint32_t nr = log ? log->nr : 1, current = log ? log->in_window : 0;
	struct trace_identity *list = calloc(nr, sizeof(*list));
	struct trace_times sums = process_times(a, process);

	if (!list)
		return NULL;
	list[0] = public_row(process, &now);
	for (uint32_t i = 0; log && i < nr; i++)
		list[i] = public_row(process, &log->rows[i]);
	if (log && !log->is_past_window)
		add_rests(a, log, list, process_end_ns(process));
	list[current].last_ns = process_end_ns(process); /* or that of the window */
	for (uint32_t i = 0; i < nr; i++) {
		list[i].first_ns = list[i].first_ns > a->start_ns ? list[i].first_ns : a->start_ns;
		list[i].last_ns = list[i].last_ns > list[i].first_ns ? list[i].last_ns : list[i].first_ns;
	}
	close_columns(list, nr, current, &sums);
	*ret_nr = keep_rows(list, nr);
	return list;
}

bool trace_process_ever_was(const struct trace_process *process, trace_identity_fn matches, const void *data)
{
	const struct identity_log *log = process->identities;
	struct identity_row now = {.is = identity_of(process)};
	struct trace_identity identity = public_row(process, &now);

	for (uint32_t i = 0; log && i < log->nr; i++) {
		struct trace_identity row = public_row(process, &log->rows[i]);

		if (matches(data, &row))
			return true;
	}
	return matches(data, &identity);
}

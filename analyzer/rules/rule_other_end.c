/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_other_end.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "call_table.h"
#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"
#include "slept_calls.h"
#include "unseen_files.h"

/* One end of a connection, as an event told it. The state is asked only where no event did. */
struct other_end_socket {
	uint64_t key; /* inode + 1 */
	uint64_t peer_ino;
	uint64_t peer_ends; /* key of the other end in other_end.ends; 0: not of TCP, or not connected */
};
struct other_end_ends {
	uint64_t key; /* hash of both addresses */
	uint64_t ino;
};

/* A call moved waiters from a futex in one file to a futex in another one. */
struct other_end_requeue {
	struct trace_file_id from, to;
};
#define MAX_REQUEUES 256u

struct other_end {
	struct rules *rules;
	struct slept_calls calls;
	struct unseen_files unseen;
	struct call_table table;
	struct hash_table sockets;
	struct hash_table ends;
	struct hash_table touched;	    /* keys of pairs of a process and a file or table, as a set */
	struct other_end_requeue *requeues; /* owned; each pair once */
	size_t nr_requeues;
	bool requeues_unseen;	/* waiters may have been moved to any futex */
	uint64_t start_read_ns; /* when the last descriptor of the start state was read */
	bool failed;		/* memory is out: nothing is checked */
};

/* ---- which process ever had which file ---- */

/* All sockets are of one file system; events about a peer have only its inode. */
static uint64_t touch_key(const struct trace_process *process, const struct trace_file_id *file)
{
	uint32_t dev = LINUX_S_ISSOCK(file->mode) ? 0 : file->dev;
	uint64_t ino = dev == (uint32_t)RULES_DEV_KNOWN ? 0 : file->ino + 1;
	uint64_t key = hash_u64(hash_u64((uintptr_t)process ^ (uint64_t)dev << 32) ^ ino);

	return key ? key : 1;
}

void rule_other_end_touch(void *data, const struct trace_process *process, const struct trace_file_id *file)
{
	struct other_end *o = data;

	if (file->dev == (uint32_t)RULES_DEV_KNOWN && file->ino > o->start_read_ns)
		o->start_read_ns = file->ino;
	if (file->dev == (uint32_t)RULES_DEV_FDS)
		unseen_table(&o->unseen, process, file->ino);
	if (!table_add(&o->touched, sizeof(uint64_t), touch_key(process, file)))
		o->failed = true;
}

static bool has_touched(const struct other_end *o, const struct trace_process *process,
			const struct trace_file_id *file)
{
	return table_find(&o->touched, sizeof(uint64_t), touch_key(process, file));
}

/* Are all descriptors known that @process had since @from_ns? */
static bool is_known(const struct other_end *o, const struct trace_process *process, uint64_t from_ns)
{
	static const struct trace_file_id known = {.dev = (uint32_t)RULES_DEV_KNOWN};

	return from_ns >= o->start_read_ns && has_touched(o, process, &known);
}

/* Did @process ever share the descriptors or the memory that the thread had in @call? */
static bool has_shared(const struct other_end *o, const struct trace_process *process, const struct slept_call *call)
{
	for (int i = 0; i < call->nr_tables; i++)
		if (has_touched(o, process, &call->tables[i]))
			return true;
	return false;
}

/* ---- the other ends of sockets ---- */

static uint64_t ends_key(const struct trace_sock_endpoints *ends, bool of_peer)
{
	uint64_t local = hash_u64(hash_u64(ends->local_hi) ^ ends->local_lo) ^ ends->local_port,
		 remote = hash_u64(hash_u64(ends->remote_hi) ^ ends->remote_lo) ^ ends->remote_port,
		 both = of_peer ? hash_u64(remote) ^ local : hash_u64(local) ^ remote,
		 key = hash_u64(hash_u64(both) ^ ends->netns); /* ports of two namespaces may differ as their numbers */

	return key ? key : 1;
}

static void on_endpoints(struct other_end *o, const struct trace_sock_endpoints *ends)
{
	struct other_end_socket *sock = table_add(&o->sockets, sizeof(*sock), ends->ino + 1);
	bool is_tcp = ends->remote_port && (ends->family == LINUX_AF_INET || ends->family == LINUX_AF_INET6);
	struct other_end_ends *row = is_tcp ? table_add(&o->ends, sizeof(*row), ends_key(ends, false)) : NULL;

	o->failed |= !sock || (is_tcp && !row);
	if (o->failed)
		return;
	sock->peer_ino = ends->peer_ino;
	sock->peer_ends = is_tcp ? ends_key(ends, true) : 0;
	if (row)
		row->ino = ends->ino;
}

static uint64_t peer_of(const struct other_end *o, uint64_t ino)
{
	const struct other_end_socket *sock = table_find(&o->sockets, sizeof(*sock), ino + 1);
	const struct other_end_ends *ends = sock && sock->peer_ends
						    ? table_find(&o->ends, sizeof(*ends), sock->peer_ends)
						    : NULL;

	if (ends)
		return ends->ino;
	return sock && sock->peer_ino ? sock->peer_ino : state_socket_peer(rules_analysis(o->rules), ino);
}

/* ---- calls ---- */

static bool is_of_kernel(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static void note_file(const struct other_end *o, struct slept_call *call, const struct trace_thread *thread, int32_t fd)
{
	const struct trace_analysis *analysis = rules_analysis(o->rules);
	struct trace_file_id *file = &call->files[call->nr_files];
	const char *path;

	if (!trace_thread_file_id(analysis, thread, fd, file))
		return;
	call->peers[call->nr_files] = LINUX_S_ISSOCK(file->mode) ? peer_of(o, file->ino) : 0;
	path = call->nr_files++ ? NULL : trace_thread_file(analysis, thread, fd);
	if (!path)
		return;
	call->path_hash = text_hash(path);
	call->is_of_kernel = is_of_kernel(path);
}

/* A futex that is not in a file is in the memory of the process. */
static bool memory_of_futex(const struct trace_analysis *analysis, const struct trace_thread *thread, uint64_t address,
			    struct trace_file_id *ret_memory)
{
	struct trace_file_id tables[2];

	if (!state_file_at(analysis, thread, address, ret_memory))
		return false;
	for (int i = ret_memory->ino || ret_memory->dev ? 0 : state_tables(thread, tables); i > 0; i--)
		if (tables[i - 1].dev == (uint32_t)RULES_DEV_MEMORY)
			*ret_memory = tables[i - 1];
	return true;
}

/* Private futexes are in one memory. */
static bool moves_waiters(uint64_t operation)
{
	switch (operation & (uint64_t)LINUX_FUTEX_CMD_MASK) {
	case LINUX_FUTEX_REQUEUE:
	case LINUX_FUTEX_CMP_REQUEUE:
	case LINUX_FUTEX_CMP_REQUEUE_PI:
	case LINUX_FUTEX_WAIT_REQUEUE_PI:
		return !(operation & LINUX_FUTEX_PRIVATE_FLAG);
	default:
		return false;
	}
}

static bool is_same(const struct trace_file_id *left, const struct trace_file_id *right)
{
	return left->ino == right->ino && left->dev == right->dev;
}

static void note_requeue(struct other_end *o, struct trace_file_id from, struct trace_file_id to)
{
	struct other_end_requeue *bigger;

	for (size_t i = 0; i < o->nr_requeues; i++)
		if (is_same(&o->requeues[i].from, &from) && is_same(&o->requeues[i].to, &to))
			return;
	bigger = o->nr_requeues < MAX_REQUEUES ? reallocarray(o->requeues, o->nr_requeues + 1, sizeof(*bigger)) : NULL;
	if (!bigger) {
		o->requeues_unseen = true;
		return;
	}
	o->requeues = bigger;
	o->requeues[o->nr_requeues++] = (struct other_end_requeue){from, to};
}

static void on_requeue(struct other_end *o, const struct trace_thread *thread, const struct on_files *on_files,
		       const struct trace_sys_enter6 *enter, const struct slept_call *call)
{
	bool is_seen = on_files->flags & CALL_ON_FUTEX;
	struct trace_file_id to;

	if (is_seen && !moves_waiters(enter->arg1))
		return;
	if (!is_seen || !call->has_memory || !memory_of_futex(rules_analysis(o->rules), thread, enter->arg4, &to))
		o->requeues_unseen = true;
	else if (!is_same(&call->memory, &to))
		note_requeue(o, call->memory, to);
}

static void on_enter(struct other_end *o, struct trace_analysis *analysis, const struct trace_thread *thread,
		     const struct trace_event *event)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter form has its first fields */
	const struct on_files *on_files = call_table_find(&o->table, o->rules, event->payload);
	struct slept_call *call = slept_enter(&o->calls, thread, event->ts_ns);

	if (!call) {
		o->failed = true;
		return;
	}
	call->nr_tables = state_tables(thread, call->tables);
	if (!on_files || event->id == TRACE_EV_sys_enter)
		return;
	call->gives = on_files->flags & CALL_GIVES;
	call->is_by_path = on_files->flags & CALL_BY_PATH;
	unseen_enter(&o->unseen, trace_thread_process(thread), on_files, enter);
	call->attaches = (on_files->flags & CALL_ATTACHES) ||
			 ((on_files->flags & CALL_IPC_OF_32) && (enter->arg0 & 0xffff) == LINUX_IPC_SHMAT);
	if (on_files->flags & CALL_ON_FUTEX)
		call->has_memory = memory_of_futex(analysis, thread, enter->arg0, &call->memory);
	if (on_files->flags & CALL_REQUEUES)
		on_requeue(o, thread, on_files, enter, call);
	for (int i = 0; i < NR_CALL_FILES && on_files->args[i] != NO_ARGUMENT; i++) {
		int32_t fd = (int32_t)(&enter->arg0)[on_files->args[i]];
		struct trace_file_id file;

		call->uses_unseen |= fd >= 0 && !trace_thread_file_id(analysis, thread, fd, &file);
		if (!(on_files->flags & CALL_USES))
			note_file(o, call, thread, fd);
	}
}

static void on_exit_of(struct other_end *o, const struct trace_thread *thread, const struct trace_event *event)
{
	const struct slept_call *call = slept_now(&o->calls, thread);

	if (call && call->uses_unseen && ((const struct trace_sys_exit *)event->payload)->ret >= 0)
		unseen_note(&o->unseen, trace_thread_process(thread));
	slept_exit(&o->calls, thread, event->ts_ns);
}

static struct slept_call *call_in_progress(const struct other_end *o, const struct trace_thread *thread)
{
	struct slept_call *call = thread ? slept_now(&o->calls, thread) : NULL;

	return call && !call->exit_ns ? call : NULL;
}

static void on_switch(struct other_end *o, const struct trace_analysis *analysis, const struct trace_sched_switch *sw)
{
	struct slept_call *call = sw->prev_state ? call_in_progress(o, trace_find_thread(analysis, sw->prev_tid))
						 : NULL;

	if (call)
		call->nr_slept++;
}

static void on_waking(struct other_end *o, const struct trace_analysis *analysis, const struct trace_thread *waker,
		      const struct trace_sched_waking *waking)
{
	struct slept_call *call = call_in_progress(o, trace_find_thread(analysis, waking->tid));
	const struct slept_call *by = call ? call_in_progress(o, waker) : NULL;

	if (!call)
		return;
	call->woken_by_close |= !by || !by->gives;
	call->woken_by_path |= by && by->is_by_path;
	call->woken_from_before |= waker && !slept_now(&o->calls, waker);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	struct other_end *o = data;

	switch (event->id) {
	case TRACE_EV_sched_switch:
		on_switch(o, analysis, event->payload);
		break;
	case TRACE_EV_sched_waking:
		on_waking(o, analysis, thread, event->payload);
		break;
	case TRACE_EV_sock_endpoints:
		on_endpoints(o, event->payload);
		break;
	case TRACE_EV_uring_submit:
	case TRACE_EV_uring_open:
		if (thread)
			unseen_request(&o->unseen, trace_thread_process(thread), event);
		break;
	case TRACE_EV_sys_exit:
		if (thread)
			on_exit_of(o, thread, event);
		break;
	default:
		if (thread)
			on_enter(o, analysis, thread, event);
		break;
	}
}

/* ---- rules: each returns what the process never had; NULL: no violation ---- */

/*
 * The process that ended the wait may have closed @file with a message in which that was. A process
 * that had the file sent it, before the recording if none did in it.
 */
static bool was_in_message(const struct other_end *o, const struct slept_call *call, const struct trace_file_id *file)
{
	const struct trace_analysis *analysis = rules_analysis(o->rules);
	bool had_any = false;

	for (size_t i = 0; call->woken_by_close && i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);

		if (!has_touched(o, process, file))
			continue;
		if (unseen_passes(&o->unseen, process) || unseen_has(&o->unseen, process))
			return true;
		had_any = true;
	}
	return call->woken_by_close && !had_any;
}

static const char *check_pipe(const struct other_end *o, const struct slept_call *call,
			      const struct trace_process *other)
{
	bool is_pipe = false;

	for (int i = 0; i < call->nr_files; i++) {
		if (!LINUX_S_ISFIFO(call->files[i].mode))
			continue;
		if (has_touched(o, other, &call->files[i]) || was_in_message(o, call, &call->files[i]))
			return NULL;
		is_pipe = true;
	}
	return is_pipe ? "the other end of its pipe" : NULL;
}

/* A thread of the own process, too, may end the wait by the same socket: it shuts that down. */
static bool may_use_same(const struct trace_interval *wait)
{
	return wait->other != trace_thread_process(wait->thread) ||
	       (wait->waker && trace_thread_process(wait->waker) == wait->other);
}

static bool may_have_socket(const struct other_end *o, const struct slept_call *call,
			    const struct trace_process *process, uint64_t ino)
{
	struct trace_file_id file = {.ino = ino, .mode = LINUX_S_IFSOCK};

	return ino && (has_touched(o, process, &file) || was_in_message(o, call, &file));
}

/* The peer may have become known in the call, or be another one by now. */
static const char *check_socket(const struct other_end *o, const struct slept_call *call,
				const struct trace_interval *wait)
{
	bool is_socket = false;

	for (int i = 0; i < call->nr_files; i++) {
		uint64_t peer = peer_of(o, call->files[i].ino);

		if (!LINUX_S_ISSOCK(call->files[i].mode))
			continue;
		if ((!peer && !call->peers[i]) || may_have_socket(o, call, wait->other, peer) ||
		    may_have_socket(o, call, wait->other, call->peers[i]) ||
		    (may_use_same(wait) && has_touched(o, wait->other, &call->files[i])))
			return NULL;
		is_socket = true;
	}
	return is_socket ? "the other end of its socket" : NULL;
}

/* May @process have memory the file of which no event told, perhaps that of its call? */
static bool has_foreign_memory(const struct other_end *o, const struct trace_process *process)
{
	static const struct trace_file_id foreign = {.dev = (uint32_t)RULES_DEV_FOREIGN};

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		const struct slept_call *call = call_in_progress(o, thread);

		if (call && call->attaches)
			return true;
	}
	return has_touched(o, process, &foreign);
}

/* Can @process wake a thread that waits in @memory, there or where calls have moved it? */
static bool may_wake_at(const struct other_end *o, const struct trace_process *process,
			const struct trace_file_id *memory)
{
	struct trace_file_id reached[MAX_REQUEUES + 1] = {*memory};
	size_t nr = 1;
	bool may = o->requeues_unseen;

	for (size_t i = 0; !may && i < nr; i++) {
		may = has_touched(o, process, &reached[i]);
		for (size_t k = 0; k < o->nr_requeues && nr <= MAX_REQUEUES; k++) {
			size_t known = 0;

			if (!is_same(&o->requeues[k].from, &reached[i]))
				continue;
			while (known < nr && !is_same(&reached[known], &o->requeues[k].to))
				known++;
			if (known == nr)
				reached[nr++] = o->requeues[k].to;
		}
	}
	return may;
}

static const char *check_futex(const struct other_end *o, const struct slept_call *call,
			       const struct trace_interval *wait)
{
	if (!call->has_memory || has_foreign_memory(o, wait->other) || may_wake_at(o, wait->other, &call->memory))
		return NULL;
	return "the memory of its futex";
}

static const char *check_lock(const struct other_end *o, const struct slept_call *call,
			      const struct trace_interval *wait)
{
	if (call->woken_by_path || call->nr_files != 1 || !call->path_hash || call->is_of_kernel ||
	    !LINUX_S_ISREG(call->files[0].mode) ||
	    (wait->path && *wait->path && text_hash(wait->path) != call->path_hash) ||
	    has_touched(o, wait->other, &call->files[0]))
		return NULL;
	return "the file of its lock";
}

/*
 * A thread that has entered no call in the trace may be on its way out of one from before. There it
 * releases files that it had closed by then: an execve() closes files, and their last user learns
 * of it only when the thread returns to user mode. No event tells that it had them.
 */
static const char *never_had(const struct other_end *o, const struct slept_call *call,
			     const struct trace_interval *wait)
{
	bool is_own = wait->other == trace_thread_process(wait->thread);

	if (call->woken_from_before)
		return NULL;
	if (strcmp(wait->via, "unix") == 0 || strncmp(wait->via, "tcp", 3) == 0)
		return check_socket(o, call, wait);
	if (is_own)
		return NULL;
	if (strcmp(wait->via, "pipe") == 0)
		return check_pipe(o, call, wait->other);
	if (strcmp(wait->via, "futex") == 0)
		return check_futex(o, call, wait);
	if (strcmp(wait->via, "lock") == 0)
		return check_lock(o, call, wait);
	return strcmp(wait->via, "join") == 0 ? "its threads" : NULL;
}

/* May @process have a file that no event told, perhaps that of the call in which it is? */
static bool has_unseen(const struct other_end *o, const struct trace_process *process)
{
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		const struct slept_call *call = call_in_progress(o, thread);

		if (call && call->uses_unseen)
			return true;
	}
	return unseen_has(&o->unseen, process);
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	const struct trace_process *other = wait->other;
	struct other_end *o = data;
	const struct slept_call *call = slept_report(&o->calls, wait->thread, wait->from_ns), none = {0};
	const char *what;

	if (wait->kind != TRACE_WAIT_PROCESS || !other || !trace_process_pid(other) || !wait->via || !*wait->via ||
	    o->failed)
		return;
	call = call ? call : &none;
	what = never_had(o, call, wait);
	if (!what || !is_known(o, other, wait->from_ns) || has_unseen(o, other) ||
	    (other != trace_thread_process(wait->thread) && has_shared(o, other, call)) ||
	    !state_is_complete(analysis) ||
	    !rules_are_sure(o->rules, trace_get_info(rules_trace(o->rules))->start_ns, wait->to_ns))
		return;
	rules_broken(o->rules, wait->to_ns, wait->thread,
		     "waited in %s() for process %u (%s) via %s for %" PRIu64
		     " ns until sched_waking, but it never had %s",
		     wait->name ? wait->name : "", trace_process_pid(other), trace_process_comm(other), wait->via,
		     wait->to_ns - wait->from_ns, what);
}

void *rule_other_end_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter,    TRACE_EV_sys_enter3,   TRACE_EV_sys_enter6,
				       TRACE_EV_sys_exit,     TRACE_EV_sched_switch, TRACE_EV_sched_waking,
				       TRACE_EV_uring_submit, TRACE_EV_uring_open,   TRACE_EV_sock_endpoints};
	struct other_end *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, o) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, o) < 0) {
		rule_other_end_end(o);
		return NULL;
	}
	return o;
}

void rule_other_end_end(void *data)
{
	struct other_end *o = data;

	slept_free(&o->calls);
	unseen_clear(&o->unseen);
	table_clear(&o->touched);
	table_clear(&o->sockets);
	table_clear(&o->ends);
	free(o->requeues);
	free(o);
}

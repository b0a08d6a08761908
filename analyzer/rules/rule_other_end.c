/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_other_end.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

#define NONE	  (-1)
#define NR_FILES  2
#define NR_CACHED 512

/* Which arguments are descriptors. This is not the table of the state: a mistake there shows. */
static const struct on_files {
	const char *name;
	int8_t args[NR_FILES];
} all_calls[] = {
	{"read", {0, NONE}},	 {"pread64", {0, NONE}},      {"readv", {0, NONE}},    {"preadv", {0, NONE}},
	{"preadv2", {0, NONE}},	 {"write", {0, NONE}},	      {"pwrite64", {0, NONE}}, {"writev", {0, NONE}},
	{"pwritev", {0, NONE}},	 {"pwritev2", {0, NONE}},     {"recvfrom", {0, NONE}}, {"recvmsg", {0, NONE}},
	{"recvmmsg", {0, NONE}}, {"sendto", {0, NONE}},	      {"sendmsg", {0, NONE}},  {"sendmmsg", {0, NONE}},
	{"connect", {0, NONE}},	 {"flock", {0, NONE}},	      {"fcntl", {0, NONE}},    {"fcntl64", {0, NONE}},
	{"vmsplice", {0, NONE}}, {"ftruncate", {0, NONE}},    {"fsync", {0, NONE}},    {"lseek", {0, NONE}},
	{"splice", {0, 2}},	 {"copy_file_range", {0, 2}}, {"tee", {0, 1}},	       {"sendfile", {0, 1}},
	{"sendfile64", {0, 1}},
};
#define NR_CALLS (sizeof(all_calls) / sizeof(all_calls[0]))

/* The files of the call that a thread is in. */
struct other_end_row {
	uint64_t key; /* trace_thread_index() + 1 */
	struct trace_file_id files[NR_FILES];
	int32_t fds[NR_FILES];
	uint32_t nr;
};

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

struct other_end {
	struct rules *rules;
	struct hash_table threads;
	struct hash_table sockets;
	struct hash_table ends;
	struct hash_table touched; /* keys of pairs of a process and a file or table, as a set */
	uint64_t start_read_ns;	   /* when the last descriptor of the start state was read */
	/* by ABI and number: 0 not looked up, 1 no descriptors, else index + 2 in all_calls */
	uint8_t cached[2][NR_CACHED];
	bool failed; /* memory is out: nothing is checked */
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

/* Did @process ever share the descriptors or the memory that @thread has now? */
static bool has_shared(const struct other_end *o, const struct trace_process *process,
		       const struct trace_thread *thread)
{
	struct trace_file_id ids[2];

	for (int i = state_tables(thread, ids); i > 0; i--)
		if (has_touched(o, process, &ids[i - 1]))
			return true;
	return false;
}

/* ---- calls ---- */

static const struct on_files *call_of(struct other_end *o, const struct trace_sys_enter *enter)
{
	uint32_t nr = enter->nr & 0x3fffffff; /* __X32_SYSCALL_BIT */
	uint8_t *cached = nr < NR_CACHED ? &o->cached[enter->abi == TRACE_ABI_32][nr] : NULL;
	const char *name;

	if (!cached)
		return NULL;
	if (!*cached) {
		*cached = 1;
		name = rules_entered_call(o->rules, enter);
		for (size_t i = 0; name && i < NR_CALLS; i++)
			if (strcmp(all_calls[i].name, name) == 0)
				*cached = (uint8_t)(i + 2);
	}
	return *cached > 1 ? &all_calls[*cached - 2] : NULL;
}

static void on_enter(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter form has its first fields */
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	struct other_end *o = data;
	const struct on_files *call = event->id == TRACE_EV_sys_enter ? NULL : call_of(o, event->payload);
	struct other_end_row *row = thread ? table_add(&o->threads, sizeof(*row), trace_thread_index(thread) + 1ull)
					   : NULL;

	if (!row) {
		o->failed |= thread != NULL;
		return;
	}
	row->nr = 0;
	for (int i = 0; call && i < NR_FILES && call->args[i] != NONE; i++) {
		row->fds[row->nr] = (int32_t)(&enter->arg0)[call->args[i]];
		if (trace_thread_file_id(analysis, thread, row->fds[row->nr], &row->files[row->nr]))
			row->nr++;
	}
}

/* ---- the other ends of sockets ---- */

static uint64_t ends_key(const struct trace_sock_endpoints *ends, bool of_peer)
{
	uint64_t local = hash_u64(hash_u64(ends->local_hi) ^ ends->local_lo) ^ ends->local_port,
		 remote = hash_u64(hash_u64(ends->remote_hi) ^ ends->remote_lo) ^ ends->remote_port,
		 key = hash_u64((of_peer ? hash_u64(remote) ^ local : hash_u64(local) ^ remote) ^ ends->netns);

	return key ? key : 1;
}

static void on_endpoints(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sock_endpoints *ends = event->payload;
	struct other_end *o = data;
	struct other_end_socket *sock = table_add(&o->sockets, sizeof(*sock), ends->ino + 1);
	bool is_tcp = ends->remote_port && (ends->family == LINUX_AF_INET || ends->family == LINUX_AF_INET6);
	struct other_end_ends *row = is_tcp ? table_add(&o->ends, sizeof(*row), ends_key(ends, false)) : NULL;

	(void)analysis;
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

/* ---- rules: each returns what the process never had; NULL: no violation ---- */

static const char *check_pipe(const struct other_end *o, const struct other_end_row *row,
			      const struct trace_process *other)
{
	bool is_pipe = false;

	for (uint32_t i = 0; i < row->nr; i++) {
		if (!LINUX_S_ISFIFO(row->files[i].mode))
			continue;
		if (has_touched(o, other, &row->files[i]))
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

static const char *check_socket(const struct other_end *o, const struct other_end_row *row,
				const struct trace_interval *wait)
{
	bool is_socket = false;

	for (uint32_t i = 0; i < row->nr; i++) {
		struct trace_file_id peer = {.mode = LINUX_S_IFSOCK};

		if (!LINUX_S_ISSOCK(row->files[i].mode))
			continue;
		peer.ino = peer_of(o, row->files[i].ino);
		if (!peer.ino || has_touched(o, wait->other, &peer) ||
		    (may_use_same(wait) && has_touched(o, wait->other, &row->files[i])))
			return NULL;
		is_socket = true;
	}
	return is_socket ? "the other end of its socket" : NULL;
}

static const char *check_futex(const struct other_end *o, const struct trace_interval *wait)
{
	struct trace_file_id file;

	if (!state_futex_file(rules_analysis(o->rules), wait->thread, &file) || has_touched(o, wait->other, &file))
		return NULL;
	return "the memory of its futex";
}

static bool is_of_kernel(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static const char *check_lock(const struct other_end *o, const struct other_end_row *row,
			      const struct trace_interval *wait)
{
	const char *path = row->nr ? trace_thread_file(rules_analysis(o->rules), wait->thread, row->fds[0]) : NULL;

	if (!path || is_of_kernel(path) || row->nr != 1 || !LINUX_S_ISREG(row->files[0].mode) ||
	    (wait->path && *wait->path && strcmp(wait->path, path) != 0) || has_touched(o, wait->other, &row->files[0]))
		return NULL;
	return "the file of its lock";
}

static const char *never_had(const struct other_end *o, const struct other_end_row *row,
			     const struct trace_interval *wait)
{
	bool is_own = wait->other == trace_thread_process(wait->thread);

	if (strcmp(wait->via, "unix") == 0 || strncmp(wait->via, "tcp", 3) == 0)
		return check_socket(o, row, wait);
	if (is_own)
		return NULL;
	if (strcmp(wait->via, "pipe") == 0)
		return check_pipe(o, row, wait->other);
	if (strcmp(wait->via, "futex") == 0)
		return check_futex(o, wait);
	if (strcmp(wait->via, "lock") == 0)
		return check_lock(o, row, wait);
	return strcmp(wait->via, "join") == 0 ? "its threads" : NULL;
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	const struct trace_process *other = wait->other;
	struct other_end *o = data;
	const struct other_end_row *row, none = {0};
	const char *what;

	if (wait->kind != TRACE_WAIT_PROCESS || !other || !trace_process_pid(other) || !wait->via || !*wait->via ||
	    o->failed)
		return;
	row = table_find(&o->threads, sizeof(*row), trace_thread_index(wait->thread) + 1ull);
	what = never_had(o, row ? row : &none, wait);
	if (!what || !is_known(o, other, wait->from_ns) ||
	    (other != trace_thread_process(wait->thread) && has_shared(o, other, wait->thread)) ||
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
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6},
			      endpoints = TRACE_EV_sock_endpoints;
	struct other_end *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_enter, o) ||
	    !rules_on_events(rules, &endpoints, 1, on_endpoints, o) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, o) < 0) {
		rule_other_end_end(o);
		return NULL;
	}
	return o;
}

void rule_other_end_end(void *data)
{
	struct other_end *o = data;

	table_clear(&o->threads);
	table_clear(&o->touched);
	table_clear(&o->sockets);
	table_clear(&o->ends);
	free(o);
}

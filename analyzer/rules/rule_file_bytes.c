/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_file_bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "rules.h"

#define NONE	  (-1)
#define NR_CACHED 64

/*
 * Which arguments of a call are the files that it reads from and writes to, and how many bytes it
 * may move. This is not the table of the state: a mistake there shows here.
 */
static const struct mover {
	const char *name;
	int8_t from, to, most;
} movers[] = {
	{"read", 0, NONE, 2},	     {"pread64", 0, NONE, 2},	  {"readv", 0, NONE, NONE},
	{"preadv", 0, NONE, NONE},   {"preadv2", 0, NONE, NONE},  {"recvmsg", 0, NONE, NONE},
	{"write", NONE, 0, 2},	     {"pwrite64", NONE, 0, 2},	  {"writev", NONE, 0, NONE},
	{"pwritev", NONE, 0, NONE},  {"pwritev2", NONE, 0, NONE}, {"sendmsg", NONE, 0, NONE},
	{"sendto", NONE, 0, 2},	     {"splice", 0, 2, 4},	  {"copy_file_range", 0, 2, 4},
	{"tee", NONE, 1, 2},	     {"sendfile", 1, 0, 3},	  {"sendfile64", 1, 0, 3},
	{"vmsplice", 0, NONE, NONE}, /* in one of the two directions */
	{"recvfrom", 0, NONE, NONE}, /* MSG_TRUNC returns the length of the message */
};

/* The call that a thread is in. */
struct moving {
	const struct mover *mover; /* NULL: it moves no bytes */
	uint64_t enter_ns;
	uint64_t socket_ino; /* of the descriptor when the call began; 0: it was no socket */
	uint64_t from, to;   /* rows of the files; 0: not known */
	uint64_t most;	     /* bytes; 0: not recorded */
};

/* the bytes that the calls of a process moved from and to the files of one path */
struct moved {
	uint64_t key;
	uint64_t bytes;
	uint64_t last_ns;
};

struct file_bytes {
	struct rules *rules;
	struct moving *calls; /* owned: by index of the thread */
	uint32_t nr_calls;
	struct hash_table moved;  /* rows: struct moved */
	struct hash_table unsure; /* processes, by address: not all of their bytes are of recorded calls */
	uint64_t start_read_ns;	  /* when the last descriptor of the start state was read */
	bool failed;		  /* memory is out: nothing is checked */
	struct {
		const char *name; /* borrowed: names of calls do not move */
		const struct mover *mover;
	} cached[NR_CACHED]; /* by the address of the name */
};

static const struct mover *mover_of(struct file_bytes *f, const char *name)
{
	size_t slot = hash_u64((uintptr_t)name) % NR_CACHED;

	if (!name || name == f->cached[slot].name)
		return name ? f->cached[slot].mover : NULL;
	f->cached[slot].name = name;
	f->cached[slot].mover = NULL;
	for (size_t i = 0; i < sizeof(movers) / sizeof(movers[0]); i++)
		if (strcmp(movers[i].name, name) == 0)
			f->cached[slot].mover = &movers[i];
	return f->cached[slot].mover;
}

static uint64_t moved_key(const struct trace_process *process, const char *path)
{
	return hash_u64((uint64_t)text_hash(path) << 20 ^ (uintptr_t)process) | 1;
}

static void note_unsure(struct file_bytes *f, const struct trace_thread *thread)
{
	if (!table_add(&f->unsure, sizeof(uint64_t), (uintptr_t)trace_thread_process(thread)))
		f->failed = true;
}

static struct moving *call_of(struct file_bytes *f, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread), nr = f->nr_calls ? f->nr_calls : 256;
	struct moving *bigger;

	if (idx < f->nr_calls)
		return &f->calls[idx];
	while (nr <= idx)
		nr *= 2;
	bigger = reallocarray(f->calls, nr, sizeof(*bigger));
	if (!bigger) {
		f->failed = true;
		return NULL;
	}
	memset(bigger + f->nr_calls, 0, (nr - f->nr_calls) * sizeof(*bigger));
	f->calls = bigger;
	f->nr_calls = nr;
	return &f->calls[idx];
}

static uint64_t file_key(const struct trace_analysis *a, const struct trace_thread *thread, const uint64_t *args,
			 int8_t argument)
{
	const char *path = argument == NONE ? NULL : trace_thread_file(a, thread, (int)args[argument]);

	return path && *path ? moved_key(trace_thread_process(thread), path) : 0;
}

/* ---- events ---- */

#define MODE_KIND   0170000
#define MODE_SOCKET 0140000

/* The inode of the socket at @fd; 0: it is none, or not known. */
static uint64_t socket_at(struct trace_analysis *a, const struct trace_thread *thread, int fd)
{
	struct trace_file_id id = {0};
	bool is_socket = trace_thread_file_id(a, thread, fd, &id) && (id.mode & MODE_KIND) == MODE_SOCKET;

	return is_socket ? id.ino : 0;
}

static void on_enter(struct file_bytes *f, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter forms have its first fields */
	const struct trace_thread *thread = trace_event_thread(a, event);
	struct moving *call = thread ? call_of(f, thread) : NULL;
	int nr = event->id == TRACE_EV_sys_enter6 ? 6 : 3;

	if (!call)
		return;
	memset(call, 0, sizeof(*call));
	if (event->id == TRACE_EV_sys_enter)
		return;
	call->mover = mover_of(f, rules_entered_call(f->rules, event->payload));
	if (!call->mover || call->mover->from >= nr || call->mover->to >= nr)
		return;
	call->enter_ns = event->ts_ns;
	call->socket_ino = socket_at(a, thread, (int)enter->arg0);
	if (call->mover->most != NONE && call->mover->most < nr)
		call->most = (&enter->arg0)[call->mover->most];
	call->from = file_key(a, thread, &enter->arg0, call->mover->from);
	call->to = file_key(a, thread, &enter->arg0, call->mover->to);
}

static void add(struct file_bytes *f, const struct trace_thread *thread, const struct trace_event *event, uint64_t key,
		bool wanted, uint64_t bytes)
{
	struct moved *moved;

	if (!wanted)
		return;
	if (!key) {
		note_unsure(f, thread); /* the state may learn the file during the call */
		return;
	}
	moved = table_add(&f->moved, sizeof(*moved), key);
	if (!moved) {
		f->failed = true;
		return;
	}
	moved->bytes += bytes;
	moved->last_ns = event->ts_ns;
}

/*
 * The length is that of the rule's own record of the entry, and the state must have the same: both
 * are wrong only if an event is missing between the entry and the exit.
 */
static void check_length(const struct file_bytes *f, const struct trace_thread *thread, const struct moving *call,
			 const char *name, const struct trace_event *event)
{
	uint64_t moved = (uint64_t)((const struct trace_sys_exit *)event->payload)->ret, most = call->most, has;

	if (!most || !rules_are_sure(f->rules, call->enter_ns, event->ts_ns))
		return;
	has = trace_thread_syscall_arg(thread, (unsigned int)call->mover->most);
	if (moved > most)
		rules_broken(f->rules, event->ts_ns, thread,
			     "moved %" PRIu64 " bytes by %s(), which asked for %" PRIu64 " (sys_enter %" PRIu64
			     " ns before)",
			     moved, name, most, event->ts_ns - call->enter_ns);
	else if (has != most)
		rules_broken(f->rules, event->ts_ns, thread,
			     "is in a %s() of %" PRIu64 " bytes in the results, but asked for %" PRIu64
			     " (sys_enter %" PRIu64 " ns before)",
			     name, has, most, event->ts_ns - call->enter_ns);
}

static void on_exit_of(struct file_bytes *f, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_sys_exit *exit = event->payload;
	const struct trace_thread *thread = trace_event_thread(a, event);
	struct moving *call = thread ? call_of(f, thread) : NULL;
	const char *name = thread ? trace_thread_syscall(a, thread) : NULL;
	const struct mover *mover = mover_of(f, name);

	if (!call)
		return;
	if (exit->ret > 0 && (!name || (mover && mover != call->mover)))
		note_unsure(f, thread); /* it began before the recording, perhaps in a call told later, or in a gap */
	if (exit->ret > 0 && mover && mover == call->mover) {
		check_length(f, thread, call, name, event);
		add(f, thread, event, call->from, mover->from != NONE, (uint64_t)exit->ret);
		add(f, thread, event, call->to, mover->to != NONE, (uint64_t)exit->ret);
	}
	call->mover = NULL;
}

void rule_file_bytes_touch(void *data, const struct trace_process *process, const struct trace_file_id *file)
{
	struct file_bytes *f = data;

	if (file->dev == (uint32_t)RULES_DEV_KNOWN && file->ino > f->start_read_ns)
		f->start_read_ns = file->ino;
}

/*
 * The kernel names the socket by its inode. While a call waits, another thread may put another file
 * at the descriptor: the call goes on with the file that it had. Connections of a file system are
 * of no descriptor. A descriptor may have had another file before the recorder read it. After a
 * loss the state knows no descriptor that may be another one; a BPF program may have missed any
 * single event.
 */
static bool knows_descriptors(const struct file_bytes *f, uint64_t from_ns, uint64_t to_ns)
{
	const struct trace *trace = rules_trace(f->rules);

	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		if (trace_get_gap(trace, i)->cause == TRACE_GAP_MISSED && trace_get_gap(trace, i)->start_ns <= to_ns)
			return false;
	return rules_are_sure(f->rules, from_ns, to_ns);
}

static void on_transfer(struct file_bytes *f, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_sock_send *transfer = event->payload; /* all three have the same shape */
	const struct trace_thread *thread = trace_event_thread(a, event);
	const struct mover *mover = thread ? mover_of(f, trace_thread_syscall(a, thread)) : NULL;
	uint64_t ino;

	if (!mover || mover->most == 3 || mover->most == 4 || !transfer->ino || transfer->ret <= 0 ||
	    event->ts_ns < f->start_read_ns)
		return;
	ino = socket_at(a, thread, (int)trace_thread_syscall_arg(thread, 0));
	if (!ino || ino == transfer->ino || call_of(f, thread)->socket_ino == transfer->ino ||
	    !knows_descriptors(f, call_of(f, thread)->enter_ns, event->ts_ns))
		return;
	rules_broken(f->rules, event->ts_ns, thread,
		     "moved data of socket %" PRIu64 " in a call on descriptor %d, which is socket %" PRIu64,
		     transfer->ino, (int)trace_thread_syscall_arg(thread, 0), ino);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct file_bytes *f = data;
	const struct trace_thread *thread;

	switch (event->id) {
	case TRACE_EV_sys_exit:
		on_exit_of(f, analysis, event);
		break;
	case TRACE_EV_sock_send:
	case TRACE_EV_sock_recv:
	case TRACE_EV_sock_look:
		on_transfer(f, analysis, event);
		break;
	case TRACE_EV_uring_submit: /* requests move bytes without a call */
		thread = trace_event_thread(analysis, event);
		if (thread)
			note_unsure(f, thread);
		break;
	default:
		on_enter(f, analysis, event);
		break;
	}
}

/* ---- the sums ---- */

static void check_process(struct file_bytes *f, const struct trace_process *process)
{
	struct trace_figures *figures;

	if (table_find(&f->unsure, sizeof(uint64_t), (uintptr_t)process))
		return;
	figures = trace_process_figures(rules_analysis(f->rules), process);
	for (size_t i = 0; figures && i < figures->nr_files; i++) {
		const struct trace_file_use *file = &figures->files[i];
		uint64_t bytes = file->read_bytes + file->written_bytes;
		const struct moved *moved = table_find(&f->moved, sizeof(*moved), moved_key(process, file->path));

		if (*file->path && bytes != (moved ? moved->bytes : 0))
			rules_broken(f->rules, moved ? moved->last_ns : trace_get_info(rules_trace(f->rules))->end_ns,
				     trace_next_thread(process, NULL),
				     "has %" PRIu64 " bytes of %s, but its calls moved %" PRIu64, bytes, file->path,
				     moved ? moved->bytes : 0);
	}
	trace_figures_free(figures);
}

void rule_file_bytes_check(void *data)
{
	static const uint32_t needed[] = {TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};
	struct file_bytes *f = data;
	struct trace_analysis *analysis = rules_analysis(f->rules);
	const struct trace_info *info = trace_get_info(rules_trace(f->rules));

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		f->failed |= trace_analysis_recorded(analysis, needed[i]) != TRACE_RECORDED_ALWAYS;
	if (f->failed || state_is_windowed(analysis) || !rules_are_sure(f->rules, info->start_ns, info->end_ns))
		return;
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		check_process(f, trace_get_process(analysis, i));
}

void *rule_file_bytes_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3,	 TRACE_EV_sys_enter6,
				       TRACE_EV_sys_exit,  TRACE_EV_sock_send,	 TRACE_EV_sock_recv,
				       TRACE_EV_sock_look, TRACE_EV_uring_submit};
	struct file_bytes *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, f)) {
		free(f);
		return NULL;
	}
	return f;
}

void rule_file_bytes_end(void *data)
{
	struct file_bytes *f = data;

	table_clear(&f->moved);
	table_clear(&f->unsure);
	free(f->calls);
	free(f);
}

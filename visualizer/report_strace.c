/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_strace.c - --strace: lines of system calls, signals and exits, in the form of strace(1).
 *
 * The lines are written during the pass of the analysis; its state names descriptors and
 * processes. A call is one line if no other line comes between its entry and its exit. The entry
 * is written when the line is complete, or when another thread has something to write: then as
 * "read(3,  <unfinished ...>", and the exit as "<... read resumed>...". An argument that the kernel
 * fills belongs to the exit, and so do all behind it.
 */
#include "report_strace.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "complain.h"
#include "linux_names.h"
#include "strace_filter.h"
#include "strace_structs.h"
#include "strace_summary.h"
#include "strace_values.h"
#include "syscall_table.h"
#include "value_text.h"

#define NR_CALLS      512u
#define NS_PER_SECOND 1000000000ull
#define X32_BIT	      0x40000000u
#define NAME_BYTES    256u

/* A system call of one ABI. */
struct call_known {
	struct call_meaning row;
	bool is_wanted;
	struct call_sums sums;
};

/* The signals that were sent to a thread, and that it has not got yet: the latest of each number */
struct sent_signal {
	uint32_t signal;
	int32_t code;
	uint32_t pid;
	uint32_t uid;
	bool has_sender;
	int32_t status;	 /* of SIGCHLD: as in wait(2); -1: not known */
	bool is_ignored; /* the kernel dropped it; a process under strace would get it */
};
#define MAX_SENT 4u

/* A process that exited a moment ago: SIGCHLD tells its status. */
struct recent_exit {
	uint32_t pid;
	int32_t code;
};
#define MAX_EXITS 64u

struct strace_thread {
	const struct trace_thread *thread;
	struct strace_call call;
	uint64_t entered_ns;
	struct trace_times before;
	uint64_t waited_ns;	 /* the longest wait in this call */
	char *waited_for;	 /* owned; NULL: none */
	uint64_t caller;	 /* 0: not recorded */
	unsigned int nr_written; /* arguments of the entry that are written already */
	bool in_call;
	bool is_shown;
	bool is_begun; /* the entry is written, without its exit */
	bool is_decided;
	bool is_traced;
	bool is_counted;
	struct sent_signal sent[MAX_SENT];
	uint32_t nr_sent;
	FILE *out; /* owned; of -ff */
};

struct strace {
	struct report *report;
	const struct strace_choice *choice;
	struct strace_names names;
	struct call_known calls[2][NR_CALLS]; /* native and 32-bit */
	struct strace_thread **threads;	      /* owned; by index */
	size_t nr_threads;
	struct strace_thread *open; /* its entry is not written yet */
	struct string line;
	bool has_command; /* the trace is of a command */
	bool is_held;	  /* the line lacks its columns until the next event */
	struct strace_thread *held;
	struct trace_times held_times;
	uint32_t held_cpu;
	struct recent_exit exits[MAX_EXITS];
	size_t nr_exits; /* ever */
	uint64_t previous_ns;
	int64_t offset_ns; /* to CLOCK_REALTIME */
	uint32_t nr_alive;
	bool has_lines;
	bool has_failed;
};

/* ---- lines ---- */

static FILE *output_of(struct strace *strace, struct strace_thread *t)
{
	char path[4096];

	if (strace->choice->follow < 2 || !strace->report->options->output)
		return strace->report->output.out;
	if (!t->out) {
		snprintf(path, sizeof(path), "%s.%u", strace->report->options->output, trace_thread_tid(t->thread));
		t->out = fopen(path, "we");
		if (!t->out && !strace->has_failed)
			complain(1, "%s cannot be written: %s", path, strerror(errno));
		strace->has_failed |= !t->out;
	}
	return t->out;
}

static void write_line(struct strace *strace, struct strace_thread *t)
{
	FILE *out = strace->choice->summary_only ? NULL : output_of(strace, t);

	string_add(&strace->line, "\n");
	if (out)
		fwrite(string_text(&strace->line), 1, strace->line.len, out);
	strace->has_lines = true;
	strace->line.len = 0;
}

static void put_time(struct strace *strace, uint64_t ts_ns)
{
	uint64_t ns = ts_ns + (uint64_t)strace->offset_ns, us = ns % NS_PER_SECOND / 1000;
	time_t second = (time_t)(ns / NS_PER_SECOND);
	struct tm local = {0};
	char text[32] = "";

	if (strace->choice->time == TIME_EPOCH) {
		string_addf(&strace->line, "%lld.%06u ", (long long)second, (unsigned int)us);
		return;
	}
	localtime_r(&second, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	string_add(&strace->line, text);
	if (strace->choice->time == TIME_DAY)
		string_addf(&strace->line, ".%06u", (unsigned int)us);
	string_add(&strace->line, " ");
}

static void put_relative(struct strace *strace, uint64_t ts_ns)
{
	uint64_t ns = strace->previous_ns && ts_ns > strace->previous_ns ? ts_ns - strace->previous_ns : 0;

	strace->previous_ns = ts_ns;
	string_addf(&strace->line, "%6llu.%06u ", (unsigned long long)(ns / NS_PER_SECOND),
		    (unsigned int)(ns % NS_PER_SECOND / 1000));
}

static void put_leader(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	const struct strace_choice *choice = strace->choice;
	uint32_t tid = trace_thread_tid(t->thread);
	const char *comm = choice->comms ? trace_thread_comm(t->thread) : "";
	char name[NAME_BYTES];
	bool is_file = strace->report->options->output;

	strace->line.len = 0;
	comm = *comm ? text_name(comm, name, sizeof(name)) : "";
	if (is_file && choice->follow == 1)
		string_addf(&strace->line, *comm ? "%u<%s> " : "%-5u%s ", tid, comm);
	else if (!is_file && strace->nr_alive > 1)
		string_addf(&strace->line, *comm ? "[pid %5u<%s>] " : "[pid %5u%s] ", tid, comm);
	if (choice->relative)
		put_relative(strace, ts_ns);
	if (choice->time)
		put_time(strace, ts_ns);
}

/* Results are in one column. */
static void put_indent(struct strace *strace)
{
	string_add(&strace->line, " ");
	while (strace->line.len < (size_t)strace->choice->indent)
		string_add(&strace->line, " ");
}

static unsigned int nr_at_entry(const struct strace_call *call)
{
	unsigned int idx = 0;

	while (idx < call->row->nr_arguments && !strace_is_shown_later(call, idx))
		idx++;
	return idx;
}

static void name_with(struct strace *strace, struct strace_thread *t)
{
	strace->names.thread = t->thread;
}

/* The arguments from @from to @to; the first one of a call has no comma. */
static void put_arguments(struct strace *strace, struct strace_thread *t, unsigned int from, unsigned int to)
{
	name_with(strace, t);
	for (unsigned int idx = from; idx < to; idx++)
		strace_put_argument(&strace->line, &strace->names, &t->call, idx, idx == 0);
}

static void put_call_name(struct strace *strace, const struct strace_thread *t)
{
	if (strace->choice->numbers)
		string_addf(&strace->line, "[%4u] ", t->call.nr);
	string_addf(&strace->line, "%s(", t->call.row->name);
}

/* Writes the entry of the thread that is open, because another one has something to write. */
static void leave_unfinished(struct strace *strace, const char *why)
{
	struct strace_thread *t = strace->open;

	strace->open = NULL;
	if (!t)
		return;
	t->nr_written = nr_at_entry(&t->call);
	t->is_begun = true;
	put_leader(strace, t, t->entered_ns);
	put_call_name(strace, t);
	put_arguments(strace, t, 0, t->nr_written);
	if (t->nr_written && t->nr_written < t->call.row->nr_arguments)
		string_add(&strace->line, ", ");
	string_addf(&strace->line, " <%s ...>", why);
	write_line(strace, t);
}

/* ---- what strace cannot know ---- */

static void put_seconds(struct string *s, const char *before, uint64_t ns)
{
	string_addf(s, "%s%llu.%06u", before, (unsigned long long)(ns / NS_PER_SECOND),
		    (unsigned int)(ns % NS_PER_SECOND / 1000));
}

static uint64_t cpu_of(const struct trace_times *times)
{
	return times->user_ns + times->syscall_ns + times->trap_ns;
}

static void put_columns(struct strace *strace, const struct strace_thread *t, const struct trace_times *after)
{
	uint8_t columns = strace->choice->columns;
	struct string *s = &strace->line;
	const char *before = " {";

	if (columns & STRACE_CPU)
		put_seconds(s, " {cpu ", cpu_of(after) - cpu_of(&t->before)), before = ", ";
	if (columns & STRACE_RUNNABLE) {
		string_addf(s, "%srunnable ", before);
		put_seconds(s, "", after->wait_cpu_ns - t->before.wait_cpu_ns), before = ", ";
	}
	if (columns & STRACE_WAIT) {
		string_addf(s, "%swait ", before);
		put_seconds(s, "", after->blocked_ns - t->before.blocked_ns), before = ", ";
	}
	if (columns & STRACE_FOR && t->waited_for)
		string_addf(s, "%sfor %s", before, t->waited_for), before = ", ";
	if (columns & STRACE_ON)
		string_addf(s, "%son CPU %u", before, strace->held_cpu), before = ", ";
	if (*before == ',')
		string_add(s, "}");
}

/* The wait of a call may be known only when the analysis has handled its exit. */
static void finish_held(struct strace *strace)
{
	struct strace_thread *t = strace->held;

	if (!strace->is_held)
		return;
	strace->is_held = false;
	put_columns(strace, t, &strace->held_times);
	write_line(strace, t);
	free(t->waited_for);
	t->waited_for = NULL;
	t->waited_ns = 0;
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct strace *strace = data;
	uint32_t idx = trace_thread_index(interval->thread);
	struct strace_thread *t = idx < strace->nr_threads ? strace->threads[idx] : NULL;
	struct string s = {0};
	char name[NAME_BYTES];

	if (!t || !(t->in_call || (strace->is_held && strace->held == t)) || interval->from_ns < t->entered_ns ||
	    interval->to_ns - interval->from_ns <= t->waited_ns)
		return;
	t->waited_ns = interval->to_ns - interval->from_ns;
	string_add(&s, trace_wait_kind_name(interval->kind));
	if (interval->other)
		string_addf(&s, " %s (%u)", text_name(trace_process_comm(interval->other), name, sizeof(name)),
			    trace_process_pid(interval->other));
	else if (interval->target && *interval->target)
		string_addf(&s, " %s", text_name(interval->target, name, sizeof(name)));
	free(t->waited_for);
	t->waited_for = memory_copy(string_text(&s), s.len);
	string_free(&s);
}

/* ---- threads ---- */

static bool is_named(const struct strace_words *words, uint32_t number)
{
	for (size_t i = 0; i < words->nr; i++)
		for (const char *at = words->at[i]; *at;) {
			char *end;
			unsigned long each = strtoul(at, &end, 10);

			if (end != at && each == number)
				return true;
			at = end == at ? at + 1 : end;
		}
	return false;
}

/* Is the process, or one that it descends from, one of -p, or the command? */
static bool descends(const struct strace *strace, const struct trace_process *process)
{
	const struct trace_process *command = strace->report->command.process;

	for (; process; process = trace_process_starter(process))
		if (strace->choice->pids.nr ? is_named(&strace->choice->pids, trace_process_pid(process))
					    : process == command)
			return true;
	return false;
}

static bool decide(const struct strace *strace, const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	uint32_t tid = trace_thread_tid(thread);

	if (trace_thread_is_kernel(thread))
		return false;
	if (!strace->choice->pids.nr && !strace->has_command)
		return true;
	if (strace->choice->follow)
		return descends(strace, process);
	if (strace->choice->pids.nr)
		return is_named(&strace->choice->pids, tid);
	return process == strace->report->command.process && tid == trace_process_pid(process);
}

static bool is_traced(struct strace *strace, struct strace_thread *t)
{
	if (t->is_decided)
		return t->is_traced;
	/* the command is known from its exec on */
	t->is_decided = strace->choice->pids.nr || !strace->has_command || strace->report->command.process;
	t->is_traced = t->is_decided && decide(strace, t->thread);
	if (t->is_traced && !t->is_counted) {
		t->is_counted = true;
		strace->nr_alive++;
	}
	return t->is_traced;
}

static struct strace_thread *thread_of(struct strace *strace, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread);

	if (idx >= strace->nr_threads) {
		size_t nr = idx + 64 + strace->nr_threads / 2;

		strace->threads = memory_resize(strace->threads, strace->nr_threads, nr, sizeof(*strace->threads));
		strace->nr_threads = nr;
	}
	if (!strace->threads[idx]) {
		strace->threads[idx] = memory_take(1, sizeof(*strace->threads[idx]));
		strace->threads[idx]->thread = thread;
	}
	return strace->threads[idx];
}

static void forget_memory(struct call_memory memory[CALL_MAX_ARGUMENTS])
{
	for (unsigned int i = 0; i < CALL_MAX_ARGUMENTS; i++)
		free(memory[i].bytes);
	memset(memory, 0, CALL_MAX_ARGUMENTS * sizeof(*memory));
}

static void forget_call(struct strace_thread *t)
{
	free(t->call.path);
	forget_memory(t->call.read);
	forget_memory(t->call.written);
	t->call = (struct strace_call){.row = t->call.row, .clone_flags = UINT64_MAX};
	t->in_call = t->is_shown = t->is_begun = false;
	t->caller = 0;
	t->nr_written = 0;
}

static void forget_thread(struct strace *strace, struct strace_thread *t)
{
	if (strace->open == t)
		strace->open = NULL;
	forget_call(t);
	strace->nr_alive -= t->is_counted;
	if (t->out)
		strace->has_failed |= fclose(t->out) != 0;
	free(t->waited_for);
	strace->threads[trace_thread_index(t->thread)] = NULL;
	free(t);
}

/* ---- choices ---- */

static bool in_window(const struct strace *strace, uint64_t ts_ns)
{
	const struct time_window *window = &strace->report->window;

	return (!window->has_from || ts_ns >= window->from_ns) && (!window->has_to || ts_ns < window->to_ns);
}

/* A call that only its result or a path chooses is written when it has ended. */
static bool waits_for_exit(const struct strace *strace)
{
	return strace->choice->statuses || strace->choice->paths.nr;
}

static bool is_path(const struct strace *strace, const char *path)
{
	for (size_t i = 0; path && i < strace->choice->paths.nr; i++)
		if (!strcmp(strace->choice->paths.at[i], path))
			return true;
	return false;
}

static bool has_chosen_path(const struct strace *strace, const struct strace_thread *t)
{
	const struct call_meaning *row = t->call.row;

	if (!strace->choice->paths.nr || is_path(strace, t->call.path))
		return true;
	for (unsigned int idx = 0; idx < row->nr_arguments; idx++)
		if ((row->arguments[idx].kind == KIND_FD || row->arguments[idx].kind == KIND_DIRECTORY) &&
		    is_path(strace, trace_thread_file(strace->names.analysis, t->thread, (int32_t)t->call.args[idx])))
			return true;
	return row->result == 'F' && t->call.ret >= 0 &&
	       is_path(strace, trace_thread_file(strace->names.analysis, t->thread, (int)t->call.ret));
}

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

static bool has_chosen_status(const struct strace *strace, const struct strace_thread *t)
{
	uint8_t status = !t->call.has_ended	 ? STATUS_UNFINISHED
			 : is_error(t->call.ret) ? STATUS_FAILED
						 : STATUS_SUCCESSFUL;

	return !strace->choice->statuses || strace->choice->statuses & status;
}

/* ---- calls ---- */

static struct call_known *find_call(struct strace *strace, uint32_t nr, bool is_32)
{
	nr &= ~X32_BIT;
	return nr < NR_CALLS && strace->calls[is_32][nr].row.name ? &strace->calls[is_32][nr] : NULL;
}

static void enter_call(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter forms are prefixes */
	unsigned int nr_args = event->id == TRACE_EV_sys_enter6 ? 6 : event->id == TRACE_EV_sys_enter3 ? 3 : 0;
	bool is_32 = enter->abi == TRACE_ABI_32;
	struct call_known *call;

	if (event->type->fixed_bytes < offsetof(struct trace_sys_enter6, arg0) + nr_args * sizeof(uint64_t))
		return;
	if (strace->open == t)
		strace->open = NULL;
	forget_call(t);
	call = find_call(strace, enter->nr, is_32);
	if (!call)
		return;
	t->call.row = &call->row;
	t->call.nr = enter->nr;
	t->call.is_32 = is_32;
	t->call.nr_args = (uint8_t)nr_args;
	memcpy(t->call.args, &enter->arg0, nr_args * sizeof(uint64_t));
	t->in_call = true;
	t->entered_ns = event->ts_ns;
	t->is_shown = call->is_wanted && is_traced(strace, t) && in_window(strace, event->ts_ns);
	if (strace->choice->columns || strace->choice->summary)
		trace_thread_times(strace->names.analysis, t->thread, &t->before);
	if (!t->is_shown || waits_for_exit(strace))
		return;
	leave_unfinished(strace, "unfinished");
	strace->open = t;
}

static void put_exit(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	string_add(&strace->line, ")");
	put_indent(strace);
	string_add(&strace->line, "= ");
	name_with(strace, t);
	if (t->call.has_ended)
		strace_put_result(&strace->line, &strace->names, &t->call);
	else
		string_add(&strace->line, "?");
	if (strace->choice->durations && t->call.has_ended)
		put_seconds(&strace->line, " <", ts_ns - t->entered_ns), string_add(&strace->line, ">");
}

/* The whole line, or the rest of one that is begun. */
static void put_call(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	unsigned int nr = t->call.row->nr_arguments;

	if (strace->open == t)
		strace->open = NULL;
	leave_unfinished(strace, "unfinished");
	put_leader(strace, t, t->is_begun ? ts_ns : t->entered_ns);
	if (t->is_begun) {
		string_addf(&strace->line, "<... %s resumed>", t->call.row->name);
		for (unsigned int idx = t->nr_written; idx < nr; idx++) {
			name_with(strace, t);
			strace_put_argument(&strace->line, &strace->names, &t->call, idx, idx == t->nr_written);
		}
	} else {
		put_call_name(strace, t);
		put_arguments(strace, t, 0, nr);
	}
	put_exit(strace, t, ts_ns);
}

static void sum_up(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	struct call_known *call = find_call(strace, t->call.nr, t->call.is_32);
	struct trace_times after;
	uint64_t cpu_ns;

	if (!strace->choice->summary || !call || !t->call.has_ended)
		return;
	trace_thread_times(strace->names.analysis, t->thread, &after);
	cpu_ns = cpu_of(&after) - cpu_of(&t->before);
	call_sums_add(&call->sums, strace->choice->wall ? ts_ns - t->entered_ns : cpu_ns, cpu_ns,
		      after.blocked_ns - t->before.blocked_ns, after.wait_cpu_ns - t->before.wait_cpu_ns,
		      t->call.has_ended && is_error(t->call.ret));
}

static void put_caller(struct strace *strace, struct strace_thread *t);

/* @cpu: where it ended */
static void end_call(struct strace *strace, struct strace_thread *t, uint64_t ts_ns, uint32_t cpu)
{
	if (!t->is_begun && !(has_chosen_status(strace, t) && has_chosen_path(strace, t)))
		return;
	sum_up(strace, t, ts_ns);
	put_call(strace, t, ts_ns);
	if (strace->choice->columns && t->call.has_ended) {
		trace_thread_times(strace->names.analysis, t->thread, &strace->held_times);
		strace->held_cpu = cpu;
		strace->held = t;
		strace->is_held = true;
		return;
	}
	write_line(strace, t);
	if (strace->choice->stacks)
		put_caller(strace, t);
}

static void put_not_seen(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const char *name = trace_thread_syscall(strace->names.analysis, t->thread);

	if (!name || !strcmp(name, TRACE_CALL_NOT_SEEN))
		return;
	for (unsigned int is_32 = 0; is_32 < 2; is_32++)
		for (unsigned int nr = 0; nr < NR_CALLS; nr++) {
			struct call_known *call = &strace->calls[is_32][nr];

			if (!call->row.name || strcmp(call->row.name, name))
				continue;
			t->call.row = &call->row;
			t->call.nr = nr;
			t->is_begun = true;
			t->nr_written = call->row.nr_arguments;
			t->entered_ns = event->ts_ns;
			t->is_shown = call->is_wanted && is_traced(strace, t) && in_window(strace, event->ts_ns);
			trace_thread_times(strace->names.analysis, t->thread, &t->before);
			return;
		}
}

static void put_signals(struct strace *strace, struct strace_thread *t, uint64_t ts_ns);

static void exit_call(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_exit *ended = event->payload;

	if (event->type->fixed_bytes < sizeof(*ended))
		return;
	if (!t->in_call && ended->ret) /* 0: a new thread comes from the call that made it */
		put_not_seen(strace, t, event);
	/* the exec of the command tells that this is the thread */
	if (t->in_call && !t->is_shown && t->call.row->classes[strcspn(t->call.row->classes, "p")])
		t->is_shown = is_traced(strace, t) && in_window(strace, event->ts_ns) &&
			      find_call(strace, t->call.nr, t->call.is_32)->is_wanted;
	t->call.ret = ended->ret;
	t->call.has_ended = true;
	if (t->is_shown)
		end_call(strace, t, event->ts_ns, event->cpu);
	forget_call(t);
	put_signals(strace, t, event->ts_ns);
}

static void note_path(struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_path *path = event->payload;

	if (!t->in_call || event->type->fixed_bytes < sizeof(*path) || path->nr != t->call.nr || t->call.path)
		return;
	t->call.path = memory_copy(trace_event_string(event), strlen(trace_event_string(event)));
}

/* The content of an argument; the latest counts. */
static void note_data(struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_data *data = event->payload;
	const struct trace_field *field = trace_type_field(event->type, "content");
	struct call_memory *memory;
	const void *bytes;
	size_t nr;

	if (!t->in_call || event->type->fixed_bytes < sizeof(*data) || data->argument >= CALL_MAX_ARGUMENTS)
		return;
	bytes = trace_event_bytes(event, field, &nr);
	if (!bytes)
		return;
	memory = data->written ? &t->call.written[data->argument] : &t->call.read[data->argument];
	free(memory->bytes);
	memory->bytes = memory_take(nr + 1, 1); /* a NUL behind it */
	memcpy(memory->bytes, bytes, nr);
	memory->nr_bytes = (uint32_t)nr;
	memory->whole_bytes = data->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)data->bytes;
}

static void note_fork(struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;

	if (t->in_call && event->type->fixed_bytes >= sizeof(*fork))
		t->call.clone_flags = fork->clone_flags;
}

/* ---- signals and exits ---- */

static const char *code_name(uint32_t signal, int32_t code)
{
	static const struct {
		const char *signal, *set;
	} sets[] = {{"CHLD", "si_codes_chld"},
		    {"SEGV", "si_codes_segv"},
		    {"BUS", "si_codes_bus"},
		    {"FPE", "si_codes_fpe"},
		    {"ILL", "si_codes_ill"}};
	const char *name = linux_signal_name(signal);

	if (code <= 0 || code == 0x80)
		return value_name_find("si_codes", (uint32_t)code);
	for (size_t i = 0; name && i < sizeof(sets) / sizeof(sets[0]); i++)
		if (!strcmp(sets[i].signal, name))
			return value_name_find(sets[i].set, (uint32_t)code);
	return NULL;
}

/* The end of a child, as wait(2) tells it */
static void put_status(struct string *s, uint32_t status)
{
	string_add(s, ", si_status=");
	if (status & 0x7f)
		strace_put_signal(s, status & 0x7f);
	else
		string_addf(s, "%u", status >> 8 & 0xff);
}

static void put_signal(struct strace *strace, struct strace_thread *t, const struct sent_signal *sent, uint64_t ts_ns)
{
	struct string *s = &strace->line;
	const char *code = code_name(sent->signal, sent->code);

	if (!strace_signal_wants(strace->choice->signals, sent->signal) || !in_window(strace, ts_ns))
		return;
	leave_unfinished(strace, "unfinished");
	put_leader(strace, t, ts_ns);
	string_add(s, "--- ");
	strace_put_signal(s, sent->signal);
	string_add(s, " {si_signo=");
	strace_put_signal(s, sent->signal);
	if (code)
		string_addf(s, ", si_code=%s", code);
	else
		string_addf(s, ", si_code=%d", sent->code);
	if (sent->has_sender) {
		string_add(s, ", si_pid=");
		strace_put_pid(s, &strace->names, sent->pid);
		string_addf(s, ", si_uid=%u", sent->uid);
	}
	if (sent->status >= 0)
		put_status(s, (uint32_t)sent->status);
	string_add(s, "} ---");
	write_line(strace, t);
}

/* A process under strace gets a signal that it ignores when its call returns. */
static void put_signals(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	uint32_t kept = 0;

	if (strace->is_held && t->nr_sent)
		finish_held(strace);
	for (uint32_t i = 0; i < t->nr_sent; i++) {
		if (!t->sent[i].is_ignored)
			t->sent[kept++] = t->sent[i];
		else if (is_traced(strace, t))
			put_signal(strace, t, &t->sent[i], ts_ns);
	}
	t->nr_sent = kept;
}

/* CLD_EXITED, CLD_KILLED or CLD_DUMPED of a process that exited */
static int32_t status_of(const struct strace *strace, const struct trace_signal_generate *sent,
			 const struct trace_thread *by)
{
	uint32_t pid = by ? trace_process_pid(trace_thread_process(by)) : 0;

	if (sent->signal != 17 || sent->code < 1 || sent->code > 3)
		return -1;
	for (size_t i = 0; i < MAX_EXITS && i < strace->nr_exits; i++) {
		const struct recent_exit *each = &strace->exits[(strace->nr_exits - 1 - i) % MAX_EXITS];

		if (each->pid == pid)
			return each->code;
	}
	return -1;
}

#define SIGNAL_IGNORED 1 /* TRACE_SIGNAL_IGNORED of the kernel */

static void note_sent(struct strace *strace, const struct trace_event *event)
{
	const struct trace_signal_generate *sent = event->payload;
	const struct trace_thread *by = trace_event_thread(strace->names.analysis, event), *to;
	struct strace_thread *t;

	if (event->type->fixed_bytes < sizeof(*sent) || sent->result > SIGNAL_IGNORED)
		return;
	to = trace_find_thread(strace->names.analysis, sent->tid);
	if (!to)
		return;
	t = thread_of(strace, to);
	if (t->nr_sent == MAX_SENT)
		memmove(t->sent, t->sent + 1, --t->nr_sent * sizeof(t->sent[0]));
	t->sent[t->nr_sent++] = (struct sent_signal){
		.signal = sent->signal,
		.code = sent->code,
		.has_sender = by && sent->code != 0x80 && (sent->code <= 0 || sent->signal == 17),
		.pid = by ? trace_process_pid(trace_thread_process(by)) : 0,
		.uid = by ? trace_thread_uid(by) : 0,
		.status = status_of(strace, sent, by),
		.is_ignored = sent->result == SIGNAL_IGNORED,
	};
}

/* The signal as it was sent to the thread, or to its process by way of another thread. */
static bool take_sent(struct strace *strace, struct strace_thread *t, uint32_t signal, struct sent_signal *ret_sent)
{
	const struct trace_process *process = trace_thread_process(t->thread);

	for (const struct trace_thread *each = NULL; (each = trace_next_thread(process, each));) {
		struct strace_thread *other = thread_of(strace, each);

		for (uint32_t i = 0; i < other->nr_sent; i++)
			if (other->sent[i].signal == signal && !other->sent[i].is_ignored) {
				*ret_sent = other->sent[i];
				memmove(&other->sent[i], &other->sent[i + 1],
					(--other->nr_sent - i) * sizeof(other->sent[0]));
				return true;
			}
	}
	return false;
}

#define SIGNAL_KILL 9

static void deliver(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_signal_deliver *delivered = event->payload;
	struct sent_signal sent = {0};

	if (event->type->fixed_bytes < sizeof(*delivered))
		return;
	if (delivered->signal == SIGNAL_KILL) /* also how the kernel ends the threads of other fatal signals */
		return;
	if (!take_sent(strace, t, delivered->signal, &sent))
		sent = (struct sent_signal){.signal = delivered->signal, .status = -1};
	sent.code = delivered->code;
	if (is_traced(strace, t))
		put_signal(strace, t, &sent, event->ts_ns);
}

#define CORE_DUMPED 0x80

static void exit_thread(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sched_exit *ended = event->payload;
	struct sent_signal fatal;
	unsigned int signal;

	if (event->type->fixed_bytes < sizeof(*ended))
		return;
	signal = (unsigned int)ended->code & 0x7f;
	if (t->in_call && t->is_shown)
		end_call(strace, t, event->ts_ns, event->cpu);
	if (signal && is_traced(strace, t) && take_sent(strace, t, signal, &fatal) && signal != SIGNAL_KILL)
		put_signal(strace, t, &fatal, event->ts_ns);
	strace->exits[strace->nr_exits++ % MAX_EXITS] =
		(struct recent_exit){trace_process_pid(trace_thread_process(t->thread)), ended->code};
	if (is_traced(strace, t) && !strace->choice->quiet && in_window(strace, event->ts_ns)) {
		leave_unfinished(strace, "unfinished");
		put_leader(strace, t, event->ts_ns);
		if (signal) {
			string_add(&strace->line, "+++ killed by ");
			strace_put_signal(&strace->line, signal);
			string_add(&strace->line, ended->code & CORE_DUMPED ? " (core dumped) +++" : " +++");
		} else {
			string_addf(&strace->line, "+++ exited with %d +++", ended->code >> 8 & 0xff);
		}
		write_line(strace, t);
	}
	forget_thread(strace, t);
}

static void put_caller(struct strace *strace, struct strace_thread *t)
{
	if (!t->caller)
		return;
	string_addf(&strace->line, " > 0x%" PRIx64, t->caller);
	write_line(strace, t);
}

static void note_caller(struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_caller *caller = event->payload;

	if (t->in_call && event->type->fixed_bytes >= sizeof(*caller))
		t->caller = caller->address;
}

/* ---- the pass ---- */

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct strace *strace = data;
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	struct strace_thread *t;

	finish_held(strace);
	if (event->id == TRACE_EV_signal_generate)
		note_sent(strace, event);
	if (!thread || trace_thread_is_kernel(thread))
		return;
	t = thread_of(strace, thread);
	switch (event->id) {
	case TRACE_EV_sys_enter:
	case TRACE_EV_sys_enter3:
	case TRACE_EV_sys_enter6:
		enter_call(strace, t, event);
		break;
	case TRACE_EV_sys_exit:
		exit_call(strace, t, event);
		break;
	case TRACE_EV_sys_path:
		note_path(t, event);
		break;
	case TRACE_EV_sys_data:
		note_data(t, event);
		break;
	case TRACE_EV_sys_caller:
		note_caller(t, event);
		break;
	case TRACE_EV_sched_fork:
		note_fork(t, event);
		break;
	case TRACE_EV_signal_deliver:
		deliver(strace, t, event);
		break;
	case TRACE_EV_sched_exit:
		exit_thread(strace, t, event);
		break;
	default:
		break;
	}
}

static const char *name_of(const struct trace *trace, enum trace_string_space space, unsigned int number)
{
	const char *name = trace_string(trace, space, number);

	return name ? name : syscall_name_of(number);
}

static int know_calls(struct strace *strace)
{
	for (unsigned int is_32 = 0; is_32 < 2; is_32++)
		for (unsigned int nr = 0; nr < NR_CALLS; nr++) {
			struct call_known *call = &strace->calls[is_32][nr];
			const char *name = name_of(strace->report->trace,
						   is_32 ? TRACE_STRING_SYSCALL_32 : TRACE_STRING_SYSCALL, nr);

			if (!name)
				continue;
			call_meaning_make(name, is_32, &call->row);
			call->is_wanted = strace_set_wants(strace->choice->trace, &call->row) > 0;
			call->sums.name = name;
		}
	return 0;
}

static void add_hooks(struct strace *strace, struct trace_analysis *analysis)
{
	static const uint8_t ids[] = {TRACE_EV_sys_enter,      TRACE_EV_sys_enter3, TRACE_EV_sys_enter6,
				      TRACE_EV_sys_exit,       TRACE_EV_sys_path,   TRACE_EV_sys_caller,
				      TRACE_EV_sched_fork,     TRACE_EV_sched_exit, TRACE_EV_signal_generate,
				      TRACE_EV_signal_deliver, TRACE_EV_sys_data,   TRACE_EV_sched_switch};
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	for (size_t i = 0; i < sizeof(ids); i++)
		if (ids[i] != TRACE_EV_sched_switch || strace->choice->columns)
			mask[ids[i] / 64] |= 1ull << ids[i] % 64;
	if (trace_analysis_on_event(analysis, mask, on_event, strace) < 0)
		memory_end();
	if (strace->choice->columns & STRACE_FOR &&
	    trace_analysis_on_interval_of(analysis, 1u << TRACE_STATE_BLOCKED, on_wait, strace) < 0)
		memory_end();
}

int strace_begin(struct report *report)
{
	const struct strace_choice *choice = &report->options->strace;
	const char *command = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	const struct trace_info *info = trace_get_info(report->trace);
	struct strace *strace;
	int error = strace_set_check(choice->trace);

	if (!error)
		error = strace_signals_check(choice->signals);
	if (!error && choice->follow == 2 && !report->options->output && !choice->summary_only)
		error = complain(2, "-ff writes a file for each process: name it with -o FILE");
	if (!error && (choice->time || choice->relative) && choice->time && !info->start_realtime_ns)
		error = complain(2, "-t: the trace does not tell the wall clock; -r shows times between calls");
	if (error)
		return error;
	report->strace = strace = memory_take(1, sizeof(*strace));
	strace->report = report;
	strace->choice = choice;
	strace->has_command = command && *command;
	strace->names = (struct strace_names){.choice = choice, .analysis = report->analysis};
	strace->offset_ns = info->start_realtime_ns ? (int64_t)(info->start_realtime_ns - info->start_ns) : 0;
	know_calls(strace);
	add_hooks(strace, report->analysis);
	return 0;
}

static void print_summary(struct strace *strace)
{
	struct call_sums *rows = memory_take(2 * (size_t)NR_CALLS, sizeof(*rows));
	size_t nr = 0;

	for (unsigned int is_32 = 0; is_32 < 2; is_32++)
		for (unsigned int i = 0; i < NR_CALLS; i++)
			if (strace->calls[is_32][i].sums.calls)
				rows[nr++] = strace->calls[is_32][i].sums;
	strace_summary_print(strace->report->output.out, strace->choice, rows, nr);
	free(rows);
}

/* The cause of an empty list. */
static int complain_of_nothing(const struct strace *strace)
{
	const struct report *report = strace->report;

	if (trace_analysis_recorded(report->analysis, TRACE_EV_sys_enter) == TRACE_RECORDED_NEVER)
		return complain(1, "--strace: no system calls were recorded; record them with tracedaemon -e +syscall");
	if (strace->choice->pids.nr)
		return complain(1, "--strace: the chosen processes made no such calls; tracevisualizer -a lists all "
				   "processes");
	if (strace->has_command && !report->command.process)
		return complain(1, "--strace: the recorded command is not in the trace; choose processes with -p");
	return complain(1, "--strace: the trace has no such calls");
}

int strace_end(struct report *report)
{
	struct strace *strace = report->strace;
	bool has_lines, has_failed;

	finish_held(strace);
	leave_unfinished(strace, "detached");
	if (strace->choice->summary && strace->has_lines)
		print_summary(strace);
	for (size_t i = 0; i < strace->nr_threads; i++)
		if (strace->threads[i])
			forget_thread(strace, strace->threads[i]);
	has_lines = strace->has_lines;
	has_failed = strace->has_failed;
	report->strace = NULL;
	free(strace->threads);
	string_free(&strace->line);
	if (!has_lines) {
		int error = complain_of_nothing(strace);

		free(strace);
		return error;
	}
	free(strace);
	return has_failed;
}

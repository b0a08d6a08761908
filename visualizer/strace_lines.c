/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_lines.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "strace_threads.h"
#include "value_text.h"

#define NS_PER_SECOND 1000000000ull

static FILE *output_of(struct strace *strace, struct strace_thread *t)
{
	char path[4096];
	int error;

	if (strace->choice->follow < 2 || !strace->report->options->output)
		return strace->report->output.out;
	if (!t->file.out) {
		snprintf(path, sizeof(path), "%s.%u", strace->report->options->output, trace_thread_tid(t->thread));
		error = whole_file_open(&t->file, path);
		if (error)
			strace_complain_of_file(strace, t, error);
	}
	return t->file.out;
}

void strace_write_line(struct strace *strace, struct strace_thread *t)
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

void strace_put_leader(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
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

/* The arguments from @from to @to; the first one of a line has no comma. */
static void put_arguments(struct strace *strace, struct strace_thread *t, unsigned int from, unsigned int to)
{
	strace->names.thread = t->thread;
	for (unsigned int idx = from; idx < to; idx++)
		strace_put_argument(&strace->line, &strace->names, &t->call, idx, idx == from);
}

static void put_call_name(struct strace *strace, const struct strace_thread *t)
{
	if (strace->choice->numbers)
		string_addf(&strace->line, "[%4u] ", t->call.nr);
	string_addf(&strace->line, "%s(", t->call.row->name);
}

/* Writes the entry of the thread that is open, because another one has something to write. */
void strace_leave_unfinished(struct strace *strace, const char *why)
{
	struct strace_thread *t = strace->open;

	strace->open = NULL;
	if (!t)
		return;
	t->nr_written = nr_at_entry(&t->call);
	t->is_begun = true;
	strace_put_leader(strace, t, t->entered_ns);
	put_call_name(strace, t);
	put_arguments(strace, t, 0, t->nr_written);
	if (t->nr_written && t->nr_written < t->call.row->nr_arguments)
		string_add(&strace->line, ", ");
	string_addf(&strace->line, " <%s ...>", why);
	strace_write_line(strace, t);
}

static void strace_put_seconds(struct string *s, const char *before, uint64_t ns)
{
	string_addf(s, "%s%llu.%06u", before, (unsigned long long)(ns / NS_PER_SECOND),
		    (unsigned int)(ns % NS_PER_SECOND / 1000));
}

uint64_t strace_cpu_ns(const struct trace_times *times)
{
	return times->user_ns + times->syscall_ns + times->trap_ns;
}

static void put_columns(struct strace *strace, const struct strace_thread *t, const struct trace_times *after)
{
	uint8_t columns = strace->choice->columns;
	struct string *s = &strace->line;
	const char *before = " {";

	if (columns & STRACE_CPU)
		strace_put_seconds(s, " {cpu ", strace_cpu_ns(after) - strace_cpu_ns(&t->before)), before = ", ";
	if (columns & STRACE_RUNNABLE) {
		string_addf(s, "%srunnable ", before);
		strace_put_seconds(s, "", after->wait_cpu_ns - t->before.wait_cpu_ns), before = ", ";
	}
	if (columns & STRACE_WAIT) {
		string_addf(s, "%swait ", before);
		strace_put_seconds(s, "", after->blocked_ns - t->before.blocked_ns), before = ", ";
	}
	if (columns & STRACE_FOR && t->waited_for)
		string_addf(s, "%sfor %s", before, t->waited_for), before = ", ";
	if (columns & STRACE_ON)
		string_addf(s, "%son CPU %u", before, strace->held_cpu), before = ", ";
	if (*before == ',')
		string_add(s, "}");
}

void strace_put_caller(struct strace *strace, struct strace_thread *t, uint64_t address)
{
	if (!address)
		return;
	string_addf(&strace->line, " > 0x%" PRIx64, address);
	strace_write_line(strace, t);
}

/* The wait of a call may be known only when the analysis has handled its exit. */
void strace_finish_held(struct strace *strace)
{
	struct strace_thread *t = strace->held;

	if (!strace->is_held)
		return;
	strace->is_held = false;
	put_columns(strace, t, &strace->held_times);
	strace_write_line(strace, t);
	if (strace->choice->stacks)
		strace_put_caller(strace, t, strace->held_caller);
	free(t->waited_for);
	t->waited_for = NULL;
	t->waited_ns = 0;
}

static void put_exit(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	string_add(&strace->line, ")");
	put_indent(strace);
	string_add(&strace->line, "= ");
	strace->names.thread = t->thread;
	if (t->call.has_ended)
		strace_put_result(&strace->line, &strace->names, &t->call);
	else
		string_add(&strace->line, "?");
	if (strace->choice->durations && t->call.has_ended)
		strace_put_seconds(&strace->line, " <", ts_ns - t->entered_ns), string_add(&strace->line, ">");
}

/* The whole line, or the rest of one that is begun. */
void strace_put_call(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	unsigned int nr = t->call.row->nr_arguments;

	if (strace->open == t)
		strace->open = NULL;
	strace_leave_unfinished(strace, "unfinished");
	strace_put_leader(strace, t, t->is_begun ? ts_ns : t->entered_ns);
	if (t->is_begun) {
		string_addf(&strace->line, "<... %s resumed>", t->call.row->name);
		put_arguments(strace, t, t->nr_written, nr);
	} else {
		put_call_name(strace, t);
		put_arguments(strace, t, 0, nr);
	}
	put_exit(strace, t, ts_ns);
}

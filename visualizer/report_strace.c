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
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "strace_descriptors.h"
#include "strace_lines.h"
#include "strace_signals.h"
#include "strace_structs.h"
#include "strace_threads.h"
#include "syscall_table.h"
#include "value_text.h"

#define X32_BIT 0x40000000u

/* ---- choices ---- */

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

static bool has_chosen_status(const struct strace *strace, const struct strace_thread *t)
{
	uint8_t status = !t->call.has_ended		? STATUS_UNFINISHED
			 : strace_is_error(t->call.ret) ? STATUS_FAILED
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
	strace_forget_call(t);
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
	t->is_shown = call->is_wanted && strace_traces(strace, t) && strace_in_window(strace, event->ts_ns);
	if (strace->choice->columns || strace->choice->summary)
		trace_thread_times(strace->names.analysis, t->thread, &t->before);
	if (!t->is_shown)
		return;
	strace->names.thread = t->thread;
	strace_note_fds(&strace->names, &t->call);
	if (waits_for_exit(strace))
		return;
	strace_leave_unfinished(strace, "unfinished");
	strace->open = t;
}

static void sum_up(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	struct call_known *call = find_call(strace, t->call.nr, t->call.is_32);
	struct trace_times after;
	uint64_t cpu_ns;

	if (!strace->choice->summary || !call || !t->call.has_ended)
		return;
	trace_thread_times(strace->names.analysis, t->thread, &after);
	cpu_ns = strace_cpu_ns(&after) - strace_cpu_ns(&t->before);
	call_sums_add(&call->sums, strace->choice->wall ? ts_ns - t->entered_ns : cpu_ns, cpu_ns,
		      after.blocked_ns - t->before.blocked_ns, after.wait_cpu_ns - t->before.wait_cpu_ns,
		      t->call.has_ended && strace_is_error(t->call.ret));
}

/* @cpu: where it ended */
static void end_call(struct strace *strace, struct strace_thread *t, uint64_t ts_ns, uint32_t cpu)
{
	if (!t->is_begun && !(has_chosen_status(strace, t) && has_chosen_path(strace, t)))
		return;
	sum_up(strace, t, ts_ns);
	strace_put_call(strace, t, ts_ns);
	if (strace->choice->columns && t->call.has_ended) {
		trace_thread_times(strace->names.analysis, t->thread, &strace->held_times);
		strace->held_cpu = cpu;
		strace->held_caller = t->caller;
		strace->held = t;
		strace->is_held = true;
		return;
	}
	strace_write_line(strace, t);
	if (strace->choice->stacks)
		strace_put_caller(strace, t, t->caller);
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
			t->is_shown = call->is_wanted && strace_traces(strace, t) &&
				      strace_in_window(strace, event->ts_ns);
			trace_thread_times(strace->names.analysis, t->thread, &t->before);
			return;
		}
}

static void exit_call(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_exit *ended = event->payload;

	if (event->type->fixed_bytes < sizeof(*ended))
		return;
	if (!t->in_call && ended->ret) /* 0: a new thread comes from the call that made it */
		put_not_seen(strace, t, event);
	/* the exec of the command tells that this is the thread */
	if (t->in_call && !t->is_shown && t->call.row->classes[strcspn(t->call.row->classes, "p")])
		t->is_shown = strace_traces(strace, t) && strace_in_window(strace, event->ts_ns) &&
			      find_call(strace, t->call.nr, t->call.is_32)->is_wanted;
	t->call.ret = ended->ret;
	t->call.has_ended = true;
	if (t->is_shown)
		end_call(strace, t, event->ts_ns, event->cpu);
	strace_forget_call(t);
	strace_put_ignored(strace, t, event->ts_ns);
}

static void exit_thread(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	if (event->type->fixed_bytes < sizeof(struct trace_sched_exit))
		return;
	if (t->in_call && t->is_shown)
		end_call(strace, t, event->ts_ns, event->cpu);
	strace_exit_thread(strace, t, event);
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

static void note_caller(struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sys_caller *caller = event->payload;

	if (t->in_call && event->type->fixed_bytes >= sizeof(*caller))
		t->caller = caller->address;
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

/* ---- the pass ---- */

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct strace *strace = data;
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	struct strace_thread *t;

	strace_finish_held(strace);
	if (event->id == TRACE_EV_signal_generate)
		strace_note_sent(strace, event);
	if (!thread || trace_thread_is_kernel(thread))
		return;
	t = strace_thread_of(strace, thread);
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
		strace_deliver(strace, t, event);
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

static void know_calls(struct strace *strace)
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
	if (!error && choice->time && !info->start_realtime_ns)
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

static void complain_of_no_callers(const struct strace *strace)
{
	if (strace->choice->stacks && strace->has_lines &&
	    trace_analysis_recorded(strace->report->analysis, TRACE_EV_sys_caller) == TRACE_RECORDED_NEVER)
		complain(0, "-k: the trace has no addresses of the code that made the calls; record them with "
			    "tracedaemon -sd0");
}

int strace_end(struct report *report)
{
	struct strace *strace = report->strace;
	bool has_lines, has_failed;

	strace_finish_held(strace);
	strace_leave_unfinished(strace, "detached");
	if (strace->choice->summary && strace->has_lines)
		print_summary(strace);
	for (size_t i = 0; i < strace->nr_threads; i++)
		if (strace->threads[i])
			strace_forget_thread(strace, strace->threads[i]);
	has_lines = strace->has_lines;
	complain_of_no_callers(strace);
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

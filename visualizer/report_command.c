/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_command.c - find the process of the recorded command.
 *
 * The trace has the words of the command, but not its pid. The recorder forks the command before
 * the recording begins, and lets it run after that. So the command exists at the start, is a child
 * of the recorder, and its first exec has the name of the command. If no process is like that, the
 * first process with this name is taken.
 *
 * At first the command waits for the recorder, which reads the state of the system, for about ten
 * milliseconds. The accounting of the process contains this wait, like all of its time. But it is
 * no time of the command, so reports subtract it from the run time and the waits. The wait for the
 * disk with the command's program is not subtracted, only the read of the recorder's pipe.
 */
#include <string.h>
#include "command_name.h"
#include "report.h"

/* struct hold - a process of a recorder waited @ns, until @until_ns, for permission to run */
struct hold {
	uint64_t key; /* address of the process */
	uint64_t ns;
	uint64_t until_ns;
};

static bool is_child_of_recorder(const struct trace_analysis *analysis, const struct trace_thread *thread)
{
	const struct trace_thread *parent;
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	if (trace_thread_start_ns(thread) > start)
		return false;
	parent = trace_find_thread(analysis, trace_process_ppid(trace_thread_process(thread)));
	return parent && strcmp(trace_thread_comm(parent), "tracedaemon") == 0;
}

/*
 * True for a wait on the recorder, which has the other end of the pipe. The process is known if the
 * file of the call is known. In a recording of some processes no holder of the other end is known.
 * If events were @lost meanwhile, the target is unknown, but not that the process waited.
 */
static bool is_hold(const struct trace_process *process, const struct trace_wait *wait, bool lost)
{
	if (lost)
		return wait->kind == TRACE_WAIT_UNKNOWN;
	if (wait->kind == TRACE_WAIT_PROCESS)
		return wait->pid == trace_process_ppid(process) && (!*wait->via || strcmp(wait->via, "pipe") == 0);
	return wait->kind == TRACE_WAIT_OTHER && strcmp(wait->via, "pipe") == 0;
}

static struct hold *hold_get(struct report *report, const struct trace_process *process)
{
	return memory_row(&report->holds, sizeof(struct hold), (uintptr_t)process);
}

/*
 * An unknown wait counts only as the first one, or directly after a wait that counted: otherwise
 * the process ran before it.
 */
static void on_blocked(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_wait wait = {.kind = interval->kind, .pid = interval->other ? trace_process_pid(interval->other) : 0, .via = interval->via};
	const struct trace_process *process = trace_thread_process(interval->thread);
	struct report *report = data;
	struct hold *hold;

	if ((report->command_is_sure && interval->from_ns >= report->command_exec_ns) || !is_child_of_recorder(analysis, interval->thread))
		return;
	hold = hold_get(report, process);
	if (!is_hold(process, &wait, false) && (!is_hold(process, &wait, true) || (hold->until_ns && interval->from_ns != hold->until_ns)))
		return;
	hold->ns += interval->to_ns - interval->from_ns;
	hold->until_ns = hold->until_ns > interval->to_ns ? hold->until_ns : interval->to_ns;
}

static void on_exec(struct report *report, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread;

	if (report->command_is_sure || event->type->fixed_bytes < sizeof(struct trace_sched_exec))
		return;
	/* an exec may have changed the thread's id already */
	thread = trace_event_thread(analysis, event);
	if (!thread || !runs_command(thread, trace_event_string(event), trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND)))
		return;
	report->command_is_sure = is_child_of_recorder(analysis, thread);
	report->command_exec_ns = event->ts_ns;
	if (report->command_is_sure || !report->command)
		report->command = trace_thread_process(thread);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sched_exit *ended = event->payload;
	const struct trace_thread *thread;
	struct report *report = data;

	if (event->id == TRACE_EV_sched_exec) {
		on_exec(report, analysis, event);
		return;
	}
	if (!report->command || event->type->fixed_bytes < sizeof(*ended) || !ended->group_dead)
		return;
	thread = trace_event_thread(analysis, event);
	report->command_exited |= thread && trace_thread_process(thread) == report->command;
}

void command_begin(struct report *report)
{
	const char *command = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	if (!command || !*command)
		return;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	mask[TRACE_EV_sched_exit / 64] |= 1ull << TRACE_EV_sched_exit % 64;
	if (trace_analysis_on_event(report->analysis, mask, on_event, report) < 0 ||
	    trace_analysis_on_interval_of(report->analysis, 1u << TRACE_STATE_BLOCKED, on_blocked, report) < 0)
		memory_end();
}

void command_end(struct report *report)
{
	table_clear(&report->holds);
}

const char *command_words(const struct report *report)
{
	return report->command_is_sure ? "the command" : "the first recorded process with the command's name";
}

/* All 0 if the command did not wait for the recorder, or was found by its name only. */
static struct hold hold_of(const struct report *report)
{
	const struct hold *hold = report->command_is_sure ? table_find(&report->holds, sizeof(*hold), (uintptr_t)report->command) : NULL;

	return hold ? *hold : (struct hold){0};
}

uint64_t command_from_ns(const struct report *report)
{
	return MAX(trace_process_start_ns(report->command), hold_of(report).until_ns);
}

uint64_t command_ran_ns(const struct report *report)
{
	return trace_process_end_ns(report->command) - command_from_ns(report);
}

/*
 * True also if none of its threads exists at the end: the recording may stop before the command
 * leaves its CPU for the last time.
 */
bool command_has_ended(const struct report *report)
{
	if (report->command_exited)
		return true;
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(report->command, thread));)
		if (trace_find_thread(report->analysis, trace_thread_tid(thread)) == thread)
			return false;
	return true;
}

const char *command_not_ended(const struct report *report)
{
	size_t gaps;

	return report_lost(report, &gaps) || gaps ? "its end was not recorded" : "had not ended";
}

/* Subtracts up to *@left from *@time, and from *@whole, which includes it. */
static uint64_t take(uint64_t *time, uint64_t *whole, uint64_t *left)
{
	uint64_t taken = MIN(*left, *time);

	*time -= taken;
	*whole -= taken;
	*left -= taken;
	return taken;
}

static void take_hold(const struct report *report, struct trace_figures *figures, bool lost, uint64_t *left)
{
	for (size_t i = 0; i < figures->nr_waits; i++)
		if (is_hold(report->command, &figures->waits[i], lost))
			figures->elapsed_ns -= take(&figures->waits[i].ns, &figures->blocked_ns, left);
}

void command_free_figures(const struct report *report, struct trace_figures *figures)
{
	uint64_t held = hold_of(report).ns, before = command_from_ns(report) - trace_process_start_ns(report->command) - held;

	take_hold(report, figures, false, &held);
	take_hold(report, figures, true, &held);
	/*
	 * It may have waited for a CPU, or run, from the start of the recording until it waited for
	 * the recorder.
	 */
	take(&figures->wait_cpu_ns, &figures->elapsed_ns, &before);
	take(&figures->user_ns, &figures->elapsed_ns, &before);
	take(&figures->syscall_ns, &figures->elapsed_ns, &before);
}

struct pointers command_family(const struct report *report)
{
	const struct trace_process *root = report->command;
	struct pointers list = {0};
	struct hash_table pids = {0}; /* rows are keys: the pid + 1 */
	uint64_t start_ns = trace_process_start_ns(root); /* computed over all threads: keep it */

	pointers_add(&list, root);
	memory_row(&pids, sizeof(uint64_t), trace_process_pid(root) + 1ull);
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) { /* parents come before their children */
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (process == root || !trace_nr_threads(process) || trace_process_start_ns(process) < start_ns ||
		    !table_find(&pids, sizeof(uint64_t), trace_process_ppid(process) + 1ull))
			continue;
		pointers_add(&list, process);
		memory_row(&pids, sizeof(uint64_t), trace_process_pid(process) + 1ull);
	}
	table_clear(&pids);
	return list;
}

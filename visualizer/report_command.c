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
#include <sys/param.h> /* MIN(), MAX() */
#include "command_name.h"
#include "losses.h"
#include "report_command.h"

/*
 * struct recorder_wait - a process of a recorder waited @ns, until @until_ns, for permission to run
 */
struct recorder_wait {
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
static bool is_recorder_wait(const struct trace_process *process, const struct trace_wait *wait, bool lost)
{
	if (lost)
		return wait->kind == TRACE_WAIT_UNKNOWN;
	if (wait->kind == TRACE_WAIT_PROCESS)
		return wait->pid == trace_process_ppid(process) && (!*wait->via || strcmp(wait->via, "pipe") == 0);
	return wait->kind == TRACE_WAIT_OTHER && strcmp(wait->via, "pipe") == 0;
}

static struct recorder_wait *recorder_wait_get(struct report_command *command, const struct trace_process *process)
{
	return memory_row(&command->recorder_waits, sizeof(struct recorder_wait), (uintptr_t)process);
}

/*
 * An unknown wait counts only as the first one, or directly after a wait that counted: otherwise
 * the process ran before it.
 */
static void on_blocked(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_wait wait = {.kind = interval->kind,
				  .pid = interval->other ? trace_process_pid(interval->other) : 0,
				  .via = interval->via};
	const struct trace_process *process = trace_thread_process(interval->thread);
	struct report_command *command = data;
	struct recorder_wait *row;

	if ((command->is_sure && interval->from_ns >= command->exec_ns) ||
	    !is_child_of_recorder(analysis, interval->thread))
		return;
	row = recorder_wait_get(command, process);
	if (!is_recorder_wait(process, &wait, false) &&
	    (!is_recorder_wait(process, &wait, true) || (row->until_ns && interval->from_ns != row->until_ns)))
		return;
	row->ns += interval->to_ns - interval->from_ns;
	row->until_ns = row->until_ns > interval->to_ns ? row->until_ns : interval->to_ns;
}

static void on_exec(struct report_command *command, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread;

	if (command->is_sure || event->type->fixed_bytes < sizeof(struct trace_sched_exec))
		return;
	/* an exec may have changed the thread's id already */
	thread = trace_event_thread(analysis, event);
	if (!thread || !runs_command(thread, trace_event_string(event),
				     trace_string(command->trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND)))
		return;
	command->is_sure = is_child_of_recorder(analysis, thread);
	command->exec_ns = event->ts_ns;
	if (command->is_sure || !command->process)
		command->process = trace_thread_process(thread);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sched_exit *ended = event->payload;
	const struct trace_thread *thread;
	struct report_command *command = data;

	if (event->id == TRACE_EV_sched_exec) {
		on_exec(command, analysis, event);
		return;
	}
	if (!command->process || event->type->fixed_bytes < sizeof(*ended) || !ended->group_dead)
		return;
	thread = trace_event_thread(analysis, event);
	command->exited |= thread && trace_thread_process(thread) == command->process;
}

void command_begin(struct report_command *command, const struct trace *trace, struct trace_analysis *analysis)
{
	const char *words = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	*command = (struct report_command){.trace = trace, .analysis = analysis};
	if (!words || !*words)
		return;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	mask[TRACE_EV_sched_exit / 64] |= 1ull << TRACE_EV_sched_exit % 64;
	if (trace_analysis_on_event(analysis, mask, on_event, command) < 0 ||
	    trace_analysis_on_interval_of(analysis, 1u << TRACE_STATE_BLOCKED, on_blocked, command) < 0)
		memory_end();
}

void command_end(struct report_command *command)
{
	table_clear(&command->recorder_waits);
}

const char *command_words(const struct report_command *command)
{
	return command->is_sure ? "the command" : "the first recorded process with the command's name";
}

/* All 0 if the command did not wait for the recorder, or was found by its name only. */
static struct recorder_wait recorder_wait_of_command(const struct report_command *command)
{
	const struct recorder_wait *row = command->is_sure ? table_find(&command->recorder_waits, sizeof(*row),
									(uintptr_t)command->process)
							   : NULL;

	return row ? *row : (struct recorder_wait){0};
}

uint64_t command_from_ns(const struct report_command *command)
{
	return MAX(trace_process_start_ns(command->process), recorder_wait_of_command(command).until_ns);
}

uint64_t command_ran_ns(const struct report_command *command)
{
	return trace_process_end_ns(command->process) - command_from_ns(command);
}

/*
 * True also if none of its threads exists at the end: the recording may stop before the command
 * leaves its CPU for the last time.
 */
bool command_has_ended(const struct report_command *command)
{
	if (command->exited)
		return true;
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(command->process, thread));)
		if (trace_find_thread(command->analysis, trace_thread_tid(thread)) == thread)
			return false;
	return true;
}

const char *command_not_ended(const struct report_command *command)
{
	size_t gaps;

	return losses_lost(command->trace, command->analysis, &gaps) || gaps ? "its end was not recorded"
									     : "had not ended";
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

static void take_recorder_wait(const struct report_command *command, struct trace_figures *figures, bool lost,
			       uint64_t *left)
{
	for (size_t i = 0; i < figures->nr_waits; i++)
		if (is_recorder_wait(command->process, &figures->waits[i], lost))
			figures->elapsed_ns -= take(&figures->waits[i].ns, &figures->blocked_ns, left);
}

void command_subtract_recorder_wait(const struct report_command *command, struct trace_figures *figures)
{
	uint64_t held = recorder_wait_of_command(command).ns,
		 before = command_from_ns(command) - trace_process_start_ns(command->process) - held;

	take_recorder_wait(command, figures, false, &held);
	take_recorder_wait(command, figures, true, &held);
	/*
	 * It may have waited for a CPU, or run, from the start of the recording until it waited for
	 * the recorder.
	 */
	take(&figures->wait_cpu_ns, &figures->elapsed_ns, &before);
	take(&figures->user_ns, &figures->elapsed_ns, &before);
	take(&figures->syscall_ns, &figures->elapsed_ns, &before);
}

struct pointers process_family(const struct trace_analysis *analysis, const struct trace_process *root)
{
	struct pointers list = {0};
	struct hash_table pids = {0};			  /* rows are keys: the pid + 1 */
	uint64_t start_ns = trace_process_start_ns(root); /* computed over all threads: keep it */

	pointers_add(&list, root);
	memory_row(&pids, sizeof(uint64_t), trace_process_pid(root) + 1ull);
	for (size_t i = 0; i < trace_nr_processes(analysis); i++) { /* parents come before their children */
		const struct trace_process *process = trace_get_process(analysis, i);

		if (process == root || !trace_nr_threads(process) || trace_process_start_ns(process) < start_ns ||
		    !table_find(&pids, sizeof(uint64_t), trace_process_ppid(process) + 1ull))
			continue;
		pointers_add(&list, process);
		memory_row(&pids, sizeof(uint64_t), trace_process_pid(process) + 1ull);
	}
	table_clear(&pids);
	return list;
}

struct pointers command_family(const struct report_command *command)
{
	return process_family(command->analysis, command->process);
}

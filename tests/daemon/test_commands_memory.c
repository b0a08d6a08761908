/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_commands_memory.c - the commands that control a daemon, and those that list probes, without
 * memory: they do and print all that they do with memory, or fail with a line that says why.
 *
 * Each command runs with the n-th of its allocations failing, once and from then on (no_memory.c).
 * The daemons and the program themselves have memory. A command that fails leaves no file, not
 * even one with another name.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shell.h"
#include "unit.h"

#define STEP	   11
#define WAIT_MS	   10
#define MOST_WAITS 3000

static char folder[] = "/tmp/test_commands_memory.XXXXXX";
static pid_t recorder_pid, flight_pid, covered_pid;
static int nr_struck; /* how many commands ran without memory */

/* ---- daemons with a tracer in plain memory, and a program with counts ---- */

/* @option: "-k": a flight recorder, without a file */
static pid_t daemon_begins(const char *name, const char *option)
{
	char control[64], trace[64];
	pid_t pid;

	snprintf(control, sizeof(control), "--control=%s/%s", folder, name);
	snprintf(trace, sizeof(trace), "%s/%s.trace", folder, name);
	pid = fork();
	if (pid == 0) {
		execl(TRACE_FAKE, TRACE_FAKE, control, "-ts3600", option, strcmp(option, "-k") ? trace : NULL,
		      (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < MOST_WAITS; i++) {
		if (shell_run("%s/tracectl %s status >%s/out 2>&1", TRACE_BIN, control, folder) == 0)
			return pid;
		usleep(1000 * WAIT_MS);
	}
	return -1;
}

/* A program with two object files, so that one can have its file of counts before the other. */
static pid_t covered_begins(void)
{
	char program[64];
	pid_t pid;

	if (shell_run("cd %s && echo 'int g(int a) { return a > 2 ? a : 1; }' >g.c && "
		      "printf '#include <unistd.h>\nint g(int);\nint main(void) { g(1); pause(); }\n' >f.c && "
		      "gcc --coverage -c f.c && gcc --coverage -c g.c && gcc --coverage -o covered f.o g.o",
		      folder) != 0)
		return -1;
	snprintf(program, sizeof(program), "%s/covered", folder);
	pid = fork();
	if (pid == 0) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < MOST_WAITS; i++) {
		if (shell_run("cd %s && %s/tracectl gcov %d earlier >out 2>&1", folder, TRACE_BIN, (int)pid) == 0)
			return pid;
		usleep(1000 * WAIT_MS);
	}
	return -1;
}

static bool all_begin(void)
{
	if (!mkdtemp(folder))
		return false;
	recorder_pid = daemon_begins("control", "--sample=1ms");
	flight_pid = daemon_begins("flight", "-k");
	covered_pid = covered_begins();
	return recorder_pid > 0 && flight_pid > 0 && covered_pid > 0;
}

static void all_end(void)
{
	const pid_t pids[] = {recorder_pid, flight_pid, covered_pid};

	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		if (pids[i] > 0) {
			kill(pids[i], SIGTERM);
			waitpid(pids[i], NULL, 0);
		}
	shell_run("rm -rf %s", folder);
}

/* ---- a command without memory ---- */

/* The parts of an answer, and of the files that a command makes, that change with time. */
#define FIXED	"cat"
#define NUMBERS "sed -E 's/[0-9][0-9.,]*( (ns|us|ms|s|min|h|bytes|[KM]iB)\\b)? *//g'"
#define BYTES	"cksum {} +"
#define NAMES	"ls {} +"

/** struct command - @answer: the filter of its stdout; @files: the command that tells its files */
struct command {
	const char *line, *answer, *files;
};

/* It runs in a folder of its own. */
static int run_without_memory(const struct command *command, int at, bool once)
{
	return shell_run(
		"cd %s && rm -rf refused made && mkdir made && cd made || exit 99\n"
		"LD_PRELOAD=%s NO_MEMORY_AT=%d %s NO_MEMORY_MARK=%s/refused " TRACE_BIN "/%s >../raw 2>../err\n"
		"status=$?\n"
		"{ %s <../raw; find . -type f -exec %s | sort; find . -type l -printf '%%p %%l\\n' | sort; } >../out\n"
		"exit $status\n",
		folder, TRACE_NO_MEMORY, at, once ? "" : "NO_MEMORY_AFTER=1", folder, command->line, command->answer,
		command->files);
}

/* It did and printed the same as with memory; or it made no file, and one line says why. */
static bool is_honest(int status, int status_with_memory)
{
	if (status == status_with_memory && shell_run("cmp -s %s/whole %s/out", folder, folder) == 0)
		return true;
	return (status == 1 || status == 2) &&
	       shell_run("cd %s && tail -n 1 err | grep -qiE 'memory|cannot' && [ -z \"$(find made ! -type d)\" ]",
			 folder) == 0;
}

static void stays_honest_as(const struct command *command)
{
	int step = unit_step(STEP), status = run_without_memory(command, 0, true);

	CU_ASSERT_EQUAL(shell_run("mv %s/out %s/whole", folder, folder), 0);
	for (int once = 0; once < 2; once++) {
		bool struck = true;

		for (int at = 1 + unit_first(step); struck; at += step) {
			int got = run_without_memory(command, at, once);
			bool honest = is_honest(got, status);

			struck = shell_run("test -e %s/refused", folder) == 0;
			nr_struck += struck;
			CU_ASSERT_TRUE(honest);
			if (honest)
				continue;
			fprintf(stderr, "\n    %s: no memory for allocation %d%s: status %d, with memory %d\n",
				command->line, at, once ? "" : " and after it", got, status);
			shell_run("cd %s && head -n 3 err >&2; diff whole out | head -n 5 >&2", folder);
		}
	}
}

static void stays_honest(const char *line)
{
	stays_honest_as(&(struct command){line, FIXED, BYTES});
}

/* Its answer tells times and sizes. */
static void stays_honest_but_for_time(const char *line)
{
	stays_honest_as(&(struct command){line, NUMBERS, BYTES});
}

static void a_running_daemon_is_controlled(void)
{
	stays_honest("tracectl --control=../control");
	stays_honest("tracectl --control=../control mask");
	stays_honest("tracectl --control=../control mark note");
	stays_honest("tracectl --control=../control mask +sched");
	stays_honest_but_for_time("tracectl --control=../control dump");
	stays_honest("tracectl --control=../control mask no-such-events");
	stays_honest_but_for_time("tracectl --control=../control status");
	stays_honest_but_for_time("tracectl --control=../control status --json");
	stays_honest("tracectl --control=../control halt");
	stays_honest("tracectl --control=../control begin");
	stays_honest("kgmon --control=../control");
	stays_honest("kgmon --control=../control -h");
	stays_honest("kgmon --control=../control -b");
	stays_honest("kgmon --control=../control -B");
}

static void counts_of_the_kernel_are_whole_or_not_there(void)
{
	stays_honest_but_for_time("tracectl --control=../control profile");
	stays_honest_but_for_time("tracectl --control=../control profile 10");
	stays_honest_but_for_time("kgmon --control=../control -p");
	stays_honest("tracectl --control=../flight profile"); /* refused: it takes no samples */
	stays_honest("kgmon --control=../flight -p");
	stays_honest("kgmon --control=../control -r");
	stays_honest("kgmon --control=../control -p"); /* nothing was counted since */
}

static void a_flight_recorder_is_saved_whole_or_not_at_all(void)
{
	stays_honest_as(&(struct command){"tracectl --control=../flight dump saved.trace", NUMBERS, NAMES});
	stays_honest_as(&(struct command){"kgmon --control=../flight -p saved.trace", NUMBERS, NAMES});
	stays_honest("tracectl --control=../flight reset");
	stays_honest("kgmon --control=../flight -r");
}

static void counts_of_a_program_are_whole_or_not_there(void)
{
	char line[128];

	snprintf(line, sizeof(line), "tracectl gcov %d", (int)covered_pid);
	stays_honest(line);
	snprintf(line, sizeof(line), "tracectl gcov %d chosen --since ../earlier", (int)covered_pid);
	stays_honest(line);
	stays_honest("tracectl gcov 1 chosen --since ../nowhere");
}

static void a_daemon_that_does_not_run_is_told(void)
{
	stays_honest("tracectl --control=nowhere status");
	stays_honest("tracectl --control=nowhere stop");
	stays_honest("tracectl --control=nowhere gcov 1");
	stays_honest("kgmon --control=nowhere -p");
}

/* It ends with each of them, so it is run once. */
static void a_daemon_is_stopped(void)
{
	const struct command stop = {"tracectl --control=../ends stop", FIXED, BYTES};

	for (int at = 1; at < 3; at++) {
		pid_t pid = daemon_begins("ends", "--sample=1ms");

		CU_ASSERT_EQUAL(run_without_memory(&stop, at, false), 0);
		CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
	}
}

static void probes_are_listed(void)
{
	stays_honest("tracedaemon --list=libc.so.6:mallo*");
	stays_honest("tracedaemon --list=usdt:libc.so.6");
	stays_honest("tracedaemon --list=libc.so.6:no_such_function");
	CU_ASSERT(nr_struck > 10);
}

static void texts_of_help_are_whole(void)
{
	stays_honest("tracectl --help");
	stays_honest("kgmon --help");
	stays_honest("tracedaemon --help");
	stays_honest("tracedaemon --no-such-option");
}

static const struct unit_case cases[] = {
	CASE(a_running_daemon_is_controlled),
	CASE(counts_of_the_kernel_are_whole_or_not_there),
	CASE(a_flight_recorder_is_saved_whole_or_not_at_all),
	CASE(counts_of_a_program_are_whole_or_not_there),
	CASE(a_daemon_that_does_not_run_is_told),
	CASE(a_daemon_is_stopped),
	CASE(probes_are_listed),
	CASE(texts_of_help_are_whole),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (!all_begin()) {
		fprintf(stderr, "%s does not begin\n",
			recorder_pid > 0 && flight_pid > 0 ? "the program with counts" : "a daemon");
		all_end();
		return 1;
	}
	status = unit_main("commands without memory", cases, argc, argv);
	all_end();
	return status;
}

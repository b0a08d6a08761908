/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_commands_memory.c - the commands that control a daemon, and those that list probes, without
 * memory: they do and print all that they do with memory, or fail with a line that says why.
 *
 * Each command runs with the n-th of its allocations failing, once and from then on (no_memory.c).
 * The daemon itself has memory.
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
static pid_t daemon_pid;
static int nr_struck; /* how many commands ran without memory */

/* ---- a daemon with a tracer in plain memory ---- */

static int daemon_begins(void)
{
	char control[64], trace[64];

	if (!mkdtemp(folder))
		return -1;
	snprintf(control, sizeof(control), "--control=%s/control", folder);
	snprintf(trace, sizeof(trace), "%s/t.trace", folder);
	daemon_pid = fork();
	if (daemon_pid == 0) {
		execl(TRACE_FAKE, TRACE_FAKE, control, "-ts3600", trace, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < MOST_WAITS; i++) {
		if (shell_run("%s/tracectl %s status >%s/out 2>&1", TRACE_BIN, control, folder) == 0)
			return 0;
		usleep(1000 * WAIT_MS);
	}
	return -1;
}

static int daemon_ends(void)
{
	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, NULL, 0);
	return shell_run("rm -rf %s", folder);
}

/* ---- a command without memory ---- */

static int run_without_memory(const char *command, int at, bool once)
{
	shell_run("rm -f %s/refused", folder);
	return shell_run("cd %s && LD_PRELOAD=%s NO_MEMORY_AT=%d %s NO_MEMORY_MARK=%s/refused " TRACE_BIN
			 "/%s >out 2>err",
			 folder, TRACE_NO_MEMORY, at, once ? "" : "NO_MEMORY_AFTER=1", folder, command);
}

/* It printed the same as with memory; or it failed, and its last line says why. */
static bool is_honest(int status, int status_with_memory)
{
	bool is_whole = status == status_with_memory && shell_run("cmp -s %s/whole %s/out", folder, folder) == 0;

	return is_whole ||
	       ((status == 1 || status == 2) && shell_run("tail -n 1 %s/err | grep -qiE 'memory|cannot'", folder) == 0);
}

static void stays_honest(const char *command)
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
			fprintf(stderr, "\n    %s: no memory for allocation %d%s: status %d, with memory %d\n", command,
				at, once ? "" : " and after it", got, status);
			shell_run("head -n 3 %s/err >&2", folder);
		}
	}
}

static void a_running_daemon_is_controlled(void)
{
	stays_honest("tracectl --control=control mask");
	stays_honest("tracectl --control=control mark note");
	stays_honest("tracectl --control=control mask +sched");
	stays_honest("tracectl --control=control dump");
	stays_honest("tracectl --control=control mask no-such-events");
}

static void a_daemon_that_does_not_run_is_told(void)
{
	stays_honest("tracectl --control=nowhere status");
	stays_honest("tracectl --control=nowhere gcov 1");
	stays_honest("kgmon --control=nowhere -p");
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
	CASE(a_daemon_that_does_not_run_is_told),
	CASE(probes_are_listed),
	CASE(texts_of_help_are_whole),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (daemon_begins() < 0) {
		fprintf(stderr, "the daemon does not begin\n");
		daemon_ends();
		return 1;
	}
	status = unit_main("commands without memory", cases, argc, argv);
	daemon_ends();
	return status;
}

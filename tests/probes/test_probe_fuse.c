/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_probe_fuse.c - a list of probes in a folder of a file system that does not answer (FUSE).
 *
 * The number of a process and the name of a subsystem may be those of files there.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <trace/probes.h>
#include <unistd.h>
#include "fuse_server.h"
#include "unit.h"

#define PATIENCE_S 60 /* the child that looks for the file has 2 s, and more on a busy machine */

static char folder[] = "/tmp/probe_fuse_XXXXXX";

/* The process is in the folder, says so, and then asks for a list. */
static void __attribute__((noreturn)) run_process(int tell, const char *target)
{
	FILE *out = fopen("/dev/null", "we");
	struct trace_error error = {0};
	bool is_there = chdir(folder) == 0;
	int result;

	if (write(tell, "y", 1) != 1)
		_exit(1);
	result = trace_probes_list(target, out, &error);
	if (write(tell, "d", 1) != 1)
		_exit(1);
	_exit(!is_there || result != -ETIMEDOUT || !strstr(error.message, "it does not answer"));
}

static void ends_with_an_error(const char *target)
{
	int fuse = fuse_mount(folder), ends[2], status;
	char answer = 0;
	pid_t child;

	if (fuse < 0)
		return;
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(fuse);
		run_process(ends[1], target);
	}
	CU_ASSERT(fuse_serve_until(fuse, ends[0], PATIENCE_S) && read(ends[0], &answer, 1) == 1);
	CU_ASSERT_EQUAL(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_S * 1000), 1);
	close(fuse); /* what waits for it ends now */
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	umount2(folder, MNT_DETACH);
	close(ends[0]);
	close(ends[1]);
}

static void a_number_in_a_mute_folder_ends_with_an_error(void)
{
	ends_with_an_error("1:strlen");
	ends_with_an_error("usdt:1");
}

static void a_subsystem_in_a_mute_folder_ends_with_an_error(void)
{
	ends_with_an_error("sched:*");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_number_in_a_mute_folder_ends_with_an_error),
		CASE(a_subsystem_in_a_mute_folder_ends_with_an_error),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		abort();
	result = unit_main("lists of probes in mute folders", cases, argc, argv);
	rmdir(folder);
	return result;
}

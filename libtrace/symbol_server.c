/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_server.c - runs debuginfod-find(1). A server may be slow, or silent: the client is killed
 * when its time is over. Fetched files stay in its cache, so another report goes on there.
 */
#include "symbol_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock_ns.h"
#include "jail_child.h"

#define FILE_SECONDS 60
#define MAX_SECONDS  3600
#define ALL_FILES    3 /* times the limit of one */
#define MAX_BYTES    "1073741824"
#define NR_LIMITS    2

extern char **environ;

static uint64_t file_ns(void)
{
	const char *text = getenv("DEBUGINFOD_MAXTIME");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : FILE_SECONDS;

	if (!seconds || seconds > MAX_SECONDS) /* 0 is no limit for the client */
		seconds = MAX_SECONDS;
	return seconds * 1000000000ull;
}

/* The environment, and the limits that it lacks; the list is the caller's, its texts are not. */
static char **limited_environment(void)
{
	static char max_time[] = "DEBUGINFOD_MAXTIME=60", max_bytes[] = "DEBUGINFOD_MAXSIZE=" MAX_BYTES;
	size_t nr = 0;
	char **list;

	while (environ[nr])
		nr++;
	list = calloc(nr + NR_LIMITS + 1, sizeof(*list));
	if (!list)
		return NULL;
	memcpy(list, environ, nr * sizeof(*list));
	if (!getenv("DEBUGINFOD_MAXTIME"))
		list[nr++] = max_time;
	if (!getenv("DEBUGINFOD_MAXSIZE"))
		list[nr++] = max_bytes;
	return list;
}

/* Returns the pid of a client that writes to @output, or a negative errno. */
static pid_t start_client(char *id, int output)
{
	char program[] = "debuginfod-find", what[] = "debuginfo";
	char *const arguments[] = {program, what, id, NULL};
	char **environment = limited_environment();
	posix_spawn_file_actions_t actions;
	pid_t child;
	int error;

	if (!environment)
		return -ENOMEM;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	error = posix_spawnp(&child, program, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return error ? -ENOENT : child;
}

/* The first line of what the client writes. */
static int read_path(int input, uint64_t deadline_ns, char path[PATH_MAX])
{
	struct pollfd wait = {.fd = input, .events = POLLIN};
	size_t used = 0;
	ssize_t got = 1;

	while (got > 0 && used < PATH_MAX - 1) {
		int ready = poll(&wait, 1, jail_left_ms(deadline_ns));

		if (!ready)
			return -ETIMEDOUT;
		if (ready < 0 && errno != EINTR)
			break;
		got = ready < 0 ? 1 : read(input, path + used, PATH_MAX - 1 - used);
		used += ready > 0 && got > 0 ? (size_t)got : 0;
	}
	path[used] = '\0';
	path[strcspn(path, "\n")] = '\0';
	return *path == '/' ? 0 : -ENOENT;
}

int symbol_server_find(const char *id, uint64_t *spent_ns, char ret_path[PATH_MAX])
{
	uint64_t limit_ns = file_ns(), begin_ns = clock_monotonic_ns();
	char *copy = strdup(id), path[PATH_MAX];
	int ends[2], result;
	pid_t child;

	if (*spent_ns >= ALL_FILES * limit_ns || !copy || pipe2(ends, O_CLOEXEC) < 0) {
		free(copy);
		return copy ? -ETIMEDOUT : -ENOMEM;
	}
	child = start_client(copy, ends[1]);
	free(copy);
	close(ends[1]);
	result = child < 0 ? (int)child : read_path(ends[0], begin_ns + limit_ns, path);
	close(ends[0]);
	if (child > 0) {
		if (result)
			kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	*spent_ns += clock_monotonic_ns() - begin_ns;
	if (!result)
		strcpy(ret_path, path);
	return result;
}

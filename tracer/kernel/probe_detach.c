/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_detach.c - detach tracepoints of the kernel in the background.
 *
 * The kernel waits some 40 ms for each tracepoint that it detaches from perf, one after another: 7
 * s
 * for those of a file system. The programs are off already, so that the trace does not need this
 * wait. A process that shares the links, and has nothing else of the recorder, outlives it and
 * ends;
 * the kernel closes the links then.
 */
#include "probe_detach.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Close everything else: a pipe of the recorder would not end while this process lives. */
static void close_others(const int *fds, size_t nr)
{
	unsigned int from = 0;

	for (size_t i = 0; i < nr; i++) {
		if ((unsigned int)fds[i] > from)
			syscall(SYS_close_range, from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	syscall(SYS_close_range, from, UINT_MAX, 0);
}

int probe_detach_begin(int *fds, size_t nr)
{
	int ends[2] = {-1, -1};
	pid_t child;
	char none;

	if (!nr || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(ends[1]);
		fds[nr] = ends[0];
		qsort(fds, nr + 1, sizeof(*fds), by_number);
		close_others(fds, nr + 1);
		if (fork() == 0 && setsid() >= 0 && read(ends[0], &none, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	else
		close(ends[1]);
	return child > 0 ? ends[1] : -1;
}

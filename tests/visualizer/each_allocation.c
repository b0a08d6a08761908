/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "each_allocation.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_memory.h"

#define MOST_OUTPUT (1u << 20)
#define NR_FILES    64

static struct each_allocation *each;
static pid_t program;
static char *texts[2]; /* of a child's stdout and stderr */

/* Copies what the program has written so far: a child goes on behind it. */
static void copy_output(int from, int to)
{
	static char bytes[65536];
	off_t at = 0;
	ssize_t nr;

	if (ftruncate(to, 0))
		abort();
	while ((nr = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (pwrite(to, bytes, (size_t)nr, at) != nr)
			abort();
		at += nr;
	}
	lseek(to, lseek(from, 0, SEEK_CUR), SEEK_SET);
}

static size_t read_output(int fd, char *text)
{
	ssize_t nr = pread(fd, text, MOST_OUTPUT - 1, 0);

	if (nr < 0 || nr == MOST_OUTPUT - 1)
		abort();
	text[nr] = 0;
	return (size_t)nr;
}

/* A child has no copy of another thread, and would take the answers of another process. */
static bool is_alone(void)
{
	siginfo_t info;
	struct stat tasks;

	return getpid() == program && gettid() == program &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD &&
	       stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/* Both processes have the same open files: a read of the child moves the program's position. */
static void keep_positions(off_t *positions, bool again)
{
	for (int fd = STDERR_FILENO + 1; fd < NR_FILES; fd++)
		if (!again)
			positions[fd] = lseek(fd, 0, SEEK_CUR);
		else if (positions[fd] >= 0)
			lseek(fd, positions[fd], SEEK_SET);
}

/* Returns true in the child, whose allocation fails. */
static bool try_without(long at, bool and_after)
{
	struct run run = {.text = texts[0], .error_text = texts[1]};
	off_t positions[NR_FILES];
	pid_t child;

	copy_output(STDOUT_FILENO, each->out_fd);
	copy_output(STDERR_FILENO, each->error_fd);
	keep_positions(positions, false);
	child = fork();
	if (child < 0)
		abort();
	if (!child) {
		dup2(each->out_fd, STDOUT_FILENO);
		dup2(each->error_fd, STDERR_FILENO);
		alarm(each->timeout_s);
		no_memory_at(and_after, and_after);
		return true;
	}
	if (waitpid(child, &run.status, 0) != child)
		abort();
	keep_positions(positions, true);
	run.bytes = read_output(each->out_fd, run.text);
	run.error_bytes = read_output(each->error_fd, run.error_text);
	each->nr_tried++;
	each->judge(&run, at, and_after);
	return false;
}

static bool is_chosen(long at, long step)
{
	return step && at >= each->first && (at - each->first) % step == 0;
}

static bool before_allocation(long at)
{
	bool once = is_chosen(at, each->once_step), forever = is_chosen(at, each->forever_step);
	int error = errno;

	if (!once && !forever)
		return false;
	if (!is_alone()) {
		long nr = __atomic_fetch_add(&each->nr_left, 1, __ATOMIC_RELAXED);

		if (nr < EACH_ALLOCATION_MOST_LEFT)
			each->left[nr] = at;
		errno = error;
		return false;
	}
	if ((once && try_without(at, false)) || (forever && try_without(at, true)))
		return true;
	errno = error;
	return false;
}

void each_allocation_begin(struct each_allocation *of)
{
	char *text = mmap(NULL, (size_t)2 * MOST_OUTPUT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		abort();
	texts[0] = text;
	texts[1] = text + MOST_OUTPUT;
	each = of;
	program = getpid();
	no_memory_at(0, false);
	no_memory_before_each(before_allocation);
}

void each_allocation_end(void)
{
	if (getpid() == program)
		no_memory_before_each(NULL);
}

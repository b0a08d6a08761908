/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_variant [CASE] - a program with tracepoints that user_variants builds in many ways, as C and
 * as C++, and runs in unusual places. It records 1000 events of each of three kinds, or the events
 * of CASE.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace/tracepoint.h>

static int events(int n)
{
	const char *text = "a text";

	for (int i = 0; i < n; i++) {
		trace_scope(variant, whole);
		tracepoint(variant, number, i, trace_field(square, (long)i * i));
		tracepoint(variant, text, text, trace_field(half, i / 2.0));
	}
	return 0;
}

/* In a thread, while the main thread records nothing. */
static void *in_thread(void *argument)
{
	(void)argument;
	events(1000);
	return NULL;
}

static int enter_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* Its children will be in a time namespace that is 1000 s ahead; the process itself stays in its
 * own. */
static int unshare_time(void)
{
	static const char offsets[] = "monotonic 1000 0\n";
	int fd, err = (int)syscall(SYS_unshare, 0x80); /* CLONE_NEWTIME */

	if (err)
		return err;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	err = write(fd, offsets, sizeof(offsets) - 1) != (ssize_t)sizeof(offsets) - 1;
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain";

	if (strcmp(what, "thread") == 0) {
		pthread_t thread;

		return pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL);
	}
	if (strcmp(what, "sandbox") == 0) { /* from now on any system call except write and exit is fatal */
		events(1);
		if (enter_sandbox() != 0)
			return 77;
		events(999);
		syscall(SYS_exit_group, 0);
	}
	if (strcmp(what, "unshared") == 0) { /* in a child; its memory is created with its first event */
		int status = fork();

		if (status)
			return waitpid(status, &status, 0) < 0 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
		_exit(unshare_time() ? 77 : events(1000));
	}
	if (strcmp(what, "full") == 0) { /* more than a ring holds, once its reader has had time for one look */
		struct timespec moment = {0, 200000000};

		events(1);
		nanosleep(&moment, NULL);
		return events(3999);
	}
	return events(1000);
}

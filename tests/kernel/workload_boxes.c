/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_boxes.c - a program with tracepoints in places where the daemon's socket is not to be
 * seen: "workload_boxes PLACE NUMBER" makes NUMBER events there.
 *
 * It hides /run and $TRACER_SOCKET, has a filter that refuses a call for sockets, or changes its
 * root to an empty folder. Then it executes itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace/tracepoint.h>
#include <unistd.h>

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void hide_sockets(int flags)
{
	need(!unshare(CLONE_NEWNS | flags), "unshare");
	need(!mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	need(!mount("tmpfs", "/run", "tmpfs", 0, NULL), "/run");
	if (getenv("TRACER_SOCKET"))
		need(!mount("/dev/null", getenv("TRACER_SOCKET"), NULL, MS_BIND, NULL), "$TRACER_SOCKET");
}

static void change_root(void)
{
	char folder[] = "/var/tmp/box-XXXXXX";

	need(mkdtemp(folder) && !chroot(folder) && !chdir("/"), "chroot");
}

static void limit(int resource, rlim_t value)
{
	const struct rlimit limits = {value, value};

	need(!setrlimit(resource, &limits), "limit");
}

/* A filter that refuses one call, as those of services do. */
static void refuse(unsigned int call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	     "seccomp");
}

static void enter(const char *place)
{
	if (!strcmp(place, "mount"))
		hide_sockets(0);
	else if (!strcmp(place, "net"))
		hide_sockets(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC);
	else if (!strcmp(place, "user"))
		hide_sockets(CLONE_NEWUSER);
	else if (!strcmp(place, "time"))
		hide_sockets(CLONE_NEWTIME);
	else if (!strcmp(place, "pid"))
		hide_sockets(CLONE_NEWPID);
	else if (!strcmp(place, "socketless"))
		refuse(SYS_socket);
	else if (!strcmp(place, "connectionless"))
		refuse(SYS_connect);
	else if (!strcmp(place, "messageless"))
		refuse(SYS_sendmsg);
	else
		change_root();
}

static void make_events(const char *place, int nr)
{
	for (int i = 0; i < nr; i++)
		tracepoint(box, event, trace_field(n, i), trace_field(place, place));
}

/* In the place; the program begins here, as in a container. */
static int inside(const char *place, int nr)
{
	make_events(place, nr);
	if (!strcmp(place, "quick"))
		_exit(0);
	if (!strcmp(place, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(place, "fork") && !fork()) {
		make_events(place, nr);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	if (!strcmp(place, "time")) { /* the daemon finds it meanwhile */
		usleep(100000);
		make_events(place, nr);
	}
	return 0;
}

int main(int argc, char **argv)
{
	char within[] = "inside", *again[] = {argv[0], argv[1], argv[2], within, NULL};
	int self = open("/proc/self/exe", O_RDONLY);
	pid_t child;

	need(argc > 2, "usage: workload_boxes PLACE NUMBER");
	if (argc > 3) {
		close(self);
		return inside(argv[1], atoi(argv[2]));
	}
	enter(again[1]);
	child = fork(); /* some namespaces are those of children */
	if (!child) {
		if (!strcmp(again[1], "child")) /* of a program that the daemon knows */
			_exit(inside(again[1], atoi(again[2])));
		if (!strcmp(again[1], "size"))
			limit(RLIMIT_FSIZE, 4096);
		if (!strcmp(again[1], "files")) {
			need(dup2(self, 3) == 3 && !fcntl(3, F_SETFD, FD_CLOEXEC), "dup2");
			limit(RLIMIT_NOFILE, 3);
			self = 3;
		}
		execveat(self, "", again, environ, AT_EMPTY_PATH);
		perror("execveat");
		_exit(1);
	}
	close(self);
	waitpid(child, NULL, 0);
	return 0;
}

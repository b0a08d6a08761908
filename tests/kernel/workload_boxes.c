/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_boxes.c - a program with tracepoints in places where the daemon's socket is not to be
 * seen: "workload_boxes PLACE NUMBER" makes NUMBER events there.
 *
 * It hides /run and the folder of $TRACER_SOCKET below empty file systems, or changes its root.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
	need(!mount("tmpfs", "/tmp", "tmpfs", 0, NULL), "/tmp");
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
	else
		change_root();
	if (!strcmp(place, "size"))
		limit(RLIMIT_FSIZE, 4096);
	if (!strcmp(place, "files"))
		limit(RLIMIT_NOFILE, 3);
}

static void make_events(int nr)
{
	for (int i = 0; i < nr; i++)
		tracepoint(box, event, trace_field(n, i));
}

int main(int argc, char **argv)
{
	const char *place = argc > 2 ? argv[1] : "mount";
	int nr = argc > 2 ? atoi(argv[2]) : 1000;
	pid_t child;

	enter(place);
	child = fork(); /* for namespaces of children, and for a parent that has no memory */
	if (!child) {
		make_events(nr);
		if (!strcmp(place, "quick"))
			_exit(0);
		if (!strcmp(place, "fork") && !fork()) {
			make_events(nr);
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
		if (!strcmp(place, "time")) /* so that the daemon finds it */
			usleep(50000);
		exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}

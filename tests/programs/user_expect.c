/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_expect [OPTION...] EVENTS PROGRAM [ARGUMENT...] - run a program with tracepoints, and take
 * its events as a daemon does. Fails unless the program succeeded and recorded exactly EVENTS
 * events, with none lost, at times between its begin and its end.
 *
 *   -m N        how many programs offer their memory (1; 0: none, the program must record nothing)
 *   -r FOLDER   the program runs in this root
 *   -c NAME     ... where the kernel's clocksource seems to be NAME
 *   -t SECONDS  ... in a time namespace with this offset
 *   -d          ... without permission to create the memory or a socket: the system calls fail
 *   -u          ... as user "nobody" running a set-uid copy: a set-uid program ignores our socket
 *   -b          blocking is allowed
 *   -s          the events are taken only after a while
 *   -l          so that some are lost
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "user_consumer.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define SKIPPED 77

static const char *root, *clocksource, *offset;
static bool denied, as_nobody, blocking, slow, losing;
static int expected_memories = 1;
static trace_u64 begin_ns;
static int out_of_time;

static void skip(const char *what)
{
	fprintf(stderr, "skipped: %s: %s\n", what, strerror(errno));
	_exit(SKIPPED);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		skip(path);
	close(fd);
}

static trace_u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (trace_u64)ts.tv_sec * 1000000000 + (trace_u64)ts.tv_nsec;
}

static void pretend_clocksource(void)
{
	char path[] = "/tmp/user_expect.XXXXXX";
	int fd = mkstemp(path);

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		skip("a mount namespace");
	dprintf(fd, "%s\n", clocksource);
	if (mount(path, "/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL, MS_BIND, NULL) != 0)
		skip("another clocksource");
	unlink(path);
}

/* Returns in a child, which is the first process of the time namespace. */
static void enter_time_namespace(void)
{
	char text[64];
	pid_t child;
	int status;

	snprintf(text, sizeof(text), "monotonic %s 0\n", offset);
	if (unshare(CLONE_NEWTIME) != 0)
		skip("a time namespace");
	put("/proc/self/timens_offsets", text);
	child = fork();
	if (child == 0)
		return;
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void deny(void)
{
	static const int calls[] = {SYS_memfd_create, SYS_socket, SYS_madvise, SYS_sched_getaffinity};
	struct sock_filter filter[2 + 2 * sizeof(calls) / sizeof(*calls)];
	struct sock_fprog program = {0, filter};
	unsigned short n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)calls[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		skip("a filter of system calls");
}

static void become_program(char **argv)
{
	if (clocksource)
		pretend_clocksource();
	if (offset)
		enter_time_namespace();
	if (root && (chroot(root) != 0 || chdir("/") != 0))
		skip("another root");
	if (as_nobody && (setgid(65534) != 0 || setuid(65534) != 0))
		skip("another user");
	if (denied)
		deny();
	execv(argv[0], argv);
	fprintf(stderr, "user_expect: %s: %s\n", argv[0], strerror(errno));
	_exit(99);
}

static void check_time(const struct user_record *record, void *memory)
{
	if (((const struct user_memory *)memory)->clock == SUBBUF_CLOCK_MONOTONIC &&
	    (record->time < begin_ns || record->time > now_ns()))
		out_of_time++;
}

/* The socket, which also exists under @root. */
static int listen_somewhere(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (!root)
		return user_listen();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", root);
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 16) != 0)
		return -1;
	setenv("TRACER_SOCKET", "/socket", 1);
	return fd;
}

int main(int argc, char **argv)
{
	struct user_consumer consumers[8];
	int nr = 0, status, fd, option, listener;
	trace_u64 expected, found = 0, lost = 0;
	pid_t child;
	bool good;

	/* clang-format off */
	while ((option = getopt(argc, argv, "+m:r:c:t:dubsl")) != -1)
		switch (option) {
		case 'm': expected_memories = atoi(optarg); break;
		case 'r': root = optarg; break;
		case 'c': clocksource = optarg; break;
		case 't': offset = optarg; break;
		case 'd': denied = true; break;
		case 'u': as_nobody = true; break;
		case 'b': blocking = true; break;
		case 's': slow = true; break;
		case 'l': losing = true; break;
		default: return 2;
		}
	/* clang-format on */
	if (argc - optind < 2)
		return 2;
	expected = strtoull(argv[optind], NULL, 10);
	listener = listen_somewhere();
	if (listener < 0) {
		perror("user_expect: socket");
		return 1;
	}
	begin_ns = now_ns();
	child = fork();
	if (child == 0)
		become_program(argv + optind + 1);
	for (bool is_running = true; is_running;) {
		is_running = waitpid(child, &status, WNOHANG) == 0;
		while (nr < 8 && (fd = user_accept(listener, is_running)) >= 0) {
			if (user_consumer_open(&consumers[nr], fd) != 0)
				return 1;
			consumers[nr].memory->blocking = blocking;
			__atomic_store_n(&consumers[nr].memory->daemon_pid, (trace_u32)getpid(), __ATOMIC_RELEASE);
			consumers[nr].each = check_time;
			consumers[nr].argument = consumers[nr].memory;
			nr++;
			if (slow)
				usleep(300000);
		}
		for (int i = 0; i < nr; i++)
			user_consumer_drain(&consumers[i], true);
	}
	for (int i = 0; i < nr; i++) {
		user_consumer_salvage(&consumers[i]);
		found += consumers[i].found;
		lost += user_consumer_lost(&consumers[i]);
		if (consumers[i].fault)
			fprintf(stderr, "user_expect: %s\n", consumers[i].fault);
		out_of_time += consumers[i].fault != NULL;
		if (clocksource && strcmp(clocksource, "tsc") != 0)
			out_of_time += consumers[i].memory->clock != SUBBUF_CLOCK_MONOTONIC;
	}
	unlink(getenv("TRACER_SOCKET"));
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		return SKIPPED;
	good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && nr == expected_memories && found + lost == expected &&
	       (lost > 0) == losing && out_of_time == 0;
	if (!good)
		fprintf(stderr, "user_expect: status %x, %d memories, %llu events of %llu, %llu lost, %d out of time\n",
			status, nr, (unsigned long long)found, (unsigned long long)expected, (unsigned long long)lost,
			out_of_time);
	return !good;
}

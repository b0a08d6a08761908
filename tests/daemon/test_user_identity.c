/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_identity.c - the identity of an offered memory: it is that of the process that
 * connected, with its rights at that time, even if the process has died, or another process has its
 * pid.
 */
#include "unit.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "user_flight_case.h"
#include "user_find.h"
#include "user_socket.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int without_peer_pidfd; /* errno of a kernel without SO_PEERPIDFD, or for a dead peer */

int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	if (level == SOL_SOCKET && option == SO_PEERPIDFD && without_peer_pidfd) {
		errno = without_peer_pidfd;
		return -1;
	}
	return __real_getsockopt(fd, level, option, value, bytes);
}

/* A process that offers a memory, and then becomes another user ('u') or dies ('d'). */
static pid_t offer_and(char what)
{
	int ready[2];
	char byte;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	child = fork();
	if (!child) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);

		offer(&program);
		if (what == 'd')
			_exit(0);
		if (what == 'u' && setresuid(65534, 65534, 65534))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (what == 'd')
		waitpid(child, NULL, 0);
	else
		CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static struct user_identity wait_for_offer(struct user_socket *sock)
{
	struct user_identity identity = {.pid_fd = -1};
	int connection = user_socket_accept(sock), fd;

	CU_ASSERT_TRUE_FATAL(connection >= 0);
	fd = user_socket_receive(connection, &identity);
	CU_ASSERT_TRUE(fd >= 0);
	close(fd);
	close(connection);
	return identity;
}

static struct user_socket *listen_here(void)
{
	struct trace_error error = {0};
	struct user_socket *sock = user_socket_listen(&error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(sock);
	return sock;
}

static void finish(struct user_socket *sock, const struct user_identity *identity, pid_t child)
{
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	if (child > 0 && kill(child, SIGKILL) == 0)
		waitpid(child, NULL, 0);
	user_socket_close(sock);
	without_peer_pidfd = 0;
}

static void a_program_that_runs_is_known_by_its_file(void)
{
	char exe[256] = "";

	CU_ASSERT_TRUE(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	for (int i = 0; i < 2; i++) {
		struct user_socket *sock = listen_here();
		struct user_identity identity;
		pid_t child = offer_and('w');

		without_peer_pidfd = i ? ENOPROTOOPT : 0;
		identity = wait_for_offer(sock);
		CU_ASSERT_EQUAL(identity.pid, child);
		CU_ASSERT_EQUAL(identity.uid, getuid());
		CU_ASSERT_EQUAL(identity.gid, getgid());
		CU_ASSERT_FALSE(identity.gone);
		CU_ASSERT_STRING_EQUAL(identity.exe, exe);
		finish(sock, &identity, child);
	}
}

/*
 * A root process becomes another user after it has connected. A set-uid program would do the
 * opposite.
 */
static void the_user_is_the_one_who_connected(void)
{
	struct user_socket *sock;
	struct user_identity identity;
	pid_t child;

	if (getuid() != 0)
		return;
	sock = listen_here();
	child = offer_and('u');
	identity = wait_for_offer(sock);
	CU_ASSERT_EQUAL(identity.pid, child);
	CU_ASSERT_EQUAL(identity.uid, 0);
	CU_ASSERT_FALSE(identity.gone);
	finish(sock, &identity, child);
}

/* A new process with the pid of a dead one. Returns -1 if we may not choose pids. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		for (;;)
			pause();
	return child;
}

/* @err: the error of SO_PEERPIDFD; 0: the kernel's own result */
static void a_number_says_nothing(int err, bool used_again)
{
	struct user_socket *sock = listen_here();
	struct user_identity identity;
	pid_t child = offer_and('d'), other = used_again ? fork_as(child) : 0;

	without_peer_pidfd = err;
	identity = wait_for_offer(sock);
	CU_ASSERT_EQUAL(identity.pid, child);
	CU_ASSERT_EQUAL(identity.uid, getuid());
	if (other >= 0) {
		CU_ASSERT_TRUE(identity.gone);
		CU_ASSERT_STRING_EQUAL(identity.exe, "");
		CU_ASSERT_TRUE(identity.pid_fd < 0 || !user_find_has_pid(&identity));
	}
	finish(sock, &identity, other > 0 ? other : 0);
}

static void another_process_with_the_number_is_not_taken_for_the_program(void)
{
	a_number_says_nothing(0, false);
	a_number_says_nothing(0, true);
	a_number_says_nothing(ESRCH, true);
	a_number_says_nothing(ENOPROTOOPT, false);
}

/* On a kernel without SO_PEERPIDFD the process with the pid belongs to another user now. */
static void another_user_s_process_with_the_number_is_not_taken_for_the_program(void)
{
	struct user_socket *sock;
	struct user_identity identity;
	pid_t child;

	if (getuid() != 0)
		return;
	sock = listen_here();
	child = offer_and('u');
	without_peer_pidfd = ENOPROTOOPT;
	identity = wait_for_offer(sock);
	CU_ASSERT_TRUE(identity.gone);
	CU_ASSERT_EQUAL(identity.uid, 0);
	CU_ASSERT_STRING_EQUAL(identity.exe, "");
	finish(sock, &identity, child);
}

static void note_owner(void *context, int fd, struct user_identity *identity)
{
	*(uid_t *)context = identity->uid;
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

/*
 * A process of a user maps a memory and runs a set-user-id program. Here it is a process of root
 * that maps the memory of a user.
 */
static void the_memory_of_a_user_is_not_one_of_root(void)
{
	struct fake_program program;
	uid_t owner = (uid_t)-1;
	uint32_t looked_at;
	pid_t child;

	if (getuid() != 0)
		return;
	CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	CU_ASSERT_EQUAL_FATAL(seteuid(0), 0);
	child = fork();
	if (!child)
		for (;;)
			pause();
	CU_ASSERT_EQUAL(user_find_process(child, note_owner, &owner, &looked_at), 0);
	CU_ASSERT_EQUAL(owner, 65534);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	CASE(a_program_that_runs_is_known_by_its_file),
	CASE(the_user_is_the_one_who_connected),
	CASE(another_process_with_the_number_is_not_taken_for_the_program),
	CASE(another_user_s_process_with_the_number_is_not_taken_for_the_program),
	CASE(the_memory_of_a_user_is_not_one_of_root),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return flight_main("user identity", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_descriptors.c - descriptors that were moved, passed, shared, closed: the file that the
 * waiter's descriptor refers to. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io_ring.h"
#include "waits.h"

/* ---- by a message ---- */

void send_descriptor(int by, int fd)
{
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	require(sendmsg(by, &message, 0) == 1);
}

static int receive_descriptor(int by)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd;

	require(recvmsg(by, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

void measure_passed(int (*receive)(int by))
{
	int by[2], fds[2];
	pid_t child;

	make_unix(by);
	child = fork();
	if (child == 0) {
		make_pipe(fds);
		send_descriptor(by[1], fds[0]);
		sleep_ns(PAUSE_NS);
		write_8(fds);
		_exit(0);
	}
	write_truth("who", child);
	fds[0] = receive(by[0]);
	measure(read_8, fds);
}

static void passed_descriptor(void)
{
	measure_passed(receive_descriptor);
}

/* A pipe with an end that was moved by dup, dup2 over another descriptor, and F_DUPFD, and closed
 * at its old numbers. */
static void duplicated_descriptor(void)
{
	int fds[2], moved;

	make_pipe(fds);
	moved = fcntl(dup2(dup(fds[0]), 100), F_DUPFD, 200);
	close(fds[0]);
	syscall(SYS_close_range, 100, 100, 0);
	fds[0] = moved;
	wait_for_child(write_8, read_8, fds);
}

/* Takes the child's descriptor out of the child. */
static void taken_descriptor(void)
{
	int answer[2], fds[2], number;
	pid_t child;

	make_pipe(answer);
	child = fork();
	if (child == 0) {
		make_pipe(fds);
		require(write(answer[1], &fds[0], sizeof(fds[0])) == sizeof(fds[0]));
		sleep_ns(PAUSE_NS);
		write_8(fds);
		sleep_ns(10 * MS);
		_exit(0);
	}
	write_truth("who", child);
	require(read(answer[0], &number, sizeof(number)) == sizeof(number));
	fds[0] = (int)syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, child, 0), number, 0);
	if (fds[0] < 0)
		skip();
	measure(read_8, fds);
}

/* ---- a writing end that no event gives to the child: it is known by what the child does ---- */

/* The child gets the end by @act, after which it writes or closes it. */
static void measure_end(void (*act)(int by), void (*wait_for)(void *))
{
	int by[2], fds[2];
	pid_t child;

	make_unix(by);
	child = fork();
	if (child == 0) {
		close(by[1]);
		act(by[0]);
		_exit(0);
	}
	close(by[0]);
	write_truth("who", child);
	make_pipe(fds);
	send_descriptor(by[1], fds[1]);
	close(fds[1]);
	measure(wait_for, fds);
}

static void receive_by_ring(int by)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct ring ring;
	int fds[2];

	if (!ring_make(&ring, 0))
		skip();
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_RECVMSG, .fd = by, .addr = (uintptr_t)&message});
	ring_enter(&ring, 1);
	require(CMSG_FIRSTHDR(&message));
	memcpy(&fds[1], CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds[1]));
	sleep_ns(PAUSE_NS);
	write_8(fds);
}

static void end_by_ring(void)
{
	measure_end(receive_by_ring, read_8);
}

/* The child closes the socket of the message, and the end in it. */
static void close_message(int by)
{
	sleep_ns(PAUSE_NS);
	close(by);
}

static void end_in_message(void)
{
	measure_end(close_message, read_all);
}

/* Another process with the same table receives the end. */
static void receive_for_another(int by)
{
	int *fds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t other;

	require(fds != MAP_FAILED);
	other = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (other == 0) {
		fds[1] = receive_descriptor(by);
		_exit(0);
	}
	require(other > 0 && waitpid(other, &status, 0) == other && status == 0);
	sleep_ns(PAUSE_NS);
	write_8(fds);
}

static void end_of_shared_table(void)
{
	measure_end(receive_for_another, read_8);
}

/* ---- tables that threads and processes share, or do not ---- */

#define NUMBER 150

static void *move_it(void *fds)
{
	require(dup2(((int *)fds)[0], NUMBER) == NUMBER);
	close(((int *)fds)[0]);
	return NULL;
}

static void by_thread(void *(*run)(void *), void *context)
{
	pthread_t thread;

	require(!pthread_create(&thread, NULL, run, context) && !pthread_join(thread, NULL));
}

/* A thread puts the pipe under another number, for all threads. */
static void shared_table(void)
{
	int fds[2];

	make_pipe(fds);
	by_thread(move_it, fds);
	fds[0] = NUMBER;
	wait_for_child(write_8, read_8, fds);
}

static void *replace_own(void *fds)
{
	int null = open("/dev/null", O_RDWR);

	require(!unshare(CLONE_FILES) && dup2(null, ((int *)fds)[0]) >= 0 && !close(((int *)fds)[1]));
	return NULL;
}

/* A thread with a table of its own puts another file under the number, only for itself. */
static void unshared_table(void)
{
	int fds[2];

	make_pipe(fds);
	by_thread(replace_own, fds);
	wait_for_child(write_8, read_8, fds);
}

/* Another process, with memory of its own, that shares the table. */
static void table_of_two_processes(void)
{
	int fds[2], status;
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		make_pipe(fds);
		require(dup2(fds[0], NUMBER) == NUMBER && dup2(fds[1], NUMBER + 1) == NUMBER + 1);
		close(fds[0]);
		close(fds[1]);
		_exit(0);
	}
	require(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	fds[0] = NUMBER;
	fds[1] = NUMBER + 1;
	wait_for_child(write_8, read_8, fds);
}

/* The number was another file's until just now, and was closed with many others. */
static void number_used_again(void)
{
	int fds[2], null = open("/dev/null", O_RDWR), first = null;

	for (int i = 0; i < 8; i++)
		require(dup(null) >= 0);
	require(!syscall(SYS_close_range, first, first + 8, 0));
	make_pipe(fds);
	require(fds[0] == first);
	wait_for_child(write_8, read_8, fds);
}

/* ---- exec ---- */

#define SCRIPT "exec /bin/sleep 4"

/* A child that keeps @fd for 4 s; with @cloexec until it calls exec. */
static pid_t keeper(int fd, int other, bool cloexec)
{
	pid_t child = fork();

	if (child)
		return child;
	close(other);
	require(!fcntl(fd, F_SETFD, cloexec ? FD_CLOEXEC : 0));
	execl("/bin/sh", "sh", "-c", SCRIPT, NULL);
	_exit(1);
}

/*
 * Two children keep the writing end, and one of them closes it by exec. A reader that still waits
 * when the recording ends waits for the other one. The children outlive this process for a moment.
 */
static void held_across_exec(void)
{
	int fds[2];
	pid_t reader;

	make_pipe(fds);
	write_truth("who", keeper(fds[1], fds[0], false));
	keeper(fds[1], fds[0], true);
	reader = fork();
	if (reader == 0) {
		close(fds[1]);
		alarm(6);
		_exit((int)read(fds[0], &(char){0}, 1)); /* gets no byte */
	}
	write_truth("pid", reader);
	sleep_ns(500 * MS); /* meanwhile the second calls exec */
	_exit(0);
}

const struct scenario descriptor_scenarios[] = {
	SCENARIO(passed_descriptor),
	SCENARIO(duplicated_descriptor),
	SCENARIO(taken_descriptor),
	SCENARIO(shared_table),
	SCENARIO(unshared_table),
	SCENARIO(table_of_two_processes),
	SCENARIO(number_used_again),
	SCENARIO(end_by_ring),
	SCENARIO(end_in_message),
	SCENARIO(end_of_shared_table),
	{NULL, NULL},
};
/* Scenarios that last longer than the recording: only by name. */
const struct scenario lasting_scenarios[] = {
	SCENARIO(held_across_exec),
	{NULL, NULL},
};

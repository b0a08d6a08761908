/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_descriptors.c - descriptors got in every usual way, for test_e2e_descriptors.c: each
 * scene in processes of its own.
 *
 * 	workload_descriptors TRUTH-FILE SCRATCH-FOLDER
 * 		all scenes
 * 	workload_descriptors TRUTH-FILE SCRATCH-FOLDER early
 * 		the part of a scene that is older than the recording
 * 	workload_descriptors TRUTH-FILE SCRATCH-FOLDER after SCENE [FD...]
 * 		the rest of a scene after exec: write to these FDs
 *
 * The truth file has the kernel's name of each descriptor, from /proc, as lines:
 *
 * 	use SCENE PID READ WRITTEN LINK     so many bytes are read from and written to that file
 * 	mark SCENE PID NUMBER               here the thread calls lseek(-1, NUMBER, MARK_WHENCE);
 * 	                                    below NR_FDS it has only these descriptors:
 * 	open NUMBER FD LINK
 * 	done SCENE / skipped SCENE / failed SCENE LINE ERRNO
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "descriptors.h"
#include "spend.h"

static const char *truth, *folder, *scene;

/* ---- the truth file ---- */

static void say_text(const char *text, size_t bytes)
{
	int fd = open(truth, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes)
		_exit(2);
	close(fd);
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char text[PATH_MAX + 128];
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	say_text(text, (size_t)bytes);
}

static void skip(void)
{
	say("skipped %s\n", scene);
	_exit(0);
}

static void require_at(bool held, int line)
{
	if (held)
		return;
	say("failed %s %d %d\n", scene, line, errno);
	_exit(1);
}
#define require(held) require_at(held, __LINE__)

static bool link_of(int fd, char link[PATH_MAX])
{
	char path[64];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	bytes = readlink(path, link, PATH_MAX - 1);
	link[bytes < 0 ? 0 : bytes] = 0;
	return bytes >= 0;
}

/* Writes all open descriptors, and makes a call that marks this point in the trace. */
static void table(void)
{
	static char text[64 * 1024], link[PATH_MAX];
	long long number = now_ns();
	int bytes = snprintf(text, sizeof(text), "mark %s %d %lld\n", scene, (int)getpid(), number);

	for (int fd = 0; fd < NR_FDS; fd++)
		if (link_of(fd, link))
			bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes, "open %lld %d %s\n", number, fd,
					  link);
	say_text(text, (size_t)bytes);
	syscall(SYS_lseek, -1, number, MARK_WHENCE);
}

static char buffer[4096];

static void put(int fd, size_t bytes)
{
	char link[PATH_MAX];

	require(link_of(fd, link));
	say("use %s %d 0 %zu %s\n", scene, (int)getpid(), bytes, link);
	require(write(fd, buffer, bytes) == (ssize_t)bytes);
}

static void take(int fd, size_t bytes)
{
	char link[PATH_MAX];

	require(link_of(fd, link));
	say("use %s %d %zu 0 %s\n", scene, (int)getpid(), bytes, link);
	require(read(fd, buffer, bytes) == (ssize_t)bytes);
}

/* ---- parts of scenes ---- */

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s-%s", folder, scene, name);
	return path;
}

static int file_of(const char *name, int flags)
{
	int fd = open(path_of(name), O_RDWR | O_CREAT | flags, 0600);

	require(fd >= 0);
	return fd;
}

#define SPARE 3

/* The program loader opens files under the lowest free number: this must be one that no scene makes
 * a claim about. */
static void take_spare(void)
{
	int null = open("/dev/null", O_RDONLY);

	require(null >= 0 && dup2(null, SPARE) == SPARE);
	if (null != SPARE)
		close(null);
}

/* Executes this program again, which writes its table, and writes to @fds (until -1). */
static void run_again(const int *fds)
{
	char numbers[8][12];
	char *arguments[16] = {(char *)"workload_descriptors", (char *)truth, (char *)folder, (char *)"after",
			       (char *)scene};

	for (int i = 0; fds[i] >= 0; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%d", fds[i]);
		arguments[5 + i] = numbers[i];
	}
	close(SPARE);
	execv("/proc/self/exe", arguments);
	_exit(3);
}
#define AGAIN(...) run_again((int[]){__VA_ARGS__, -1})

static void wait_for(pid_t child)
{
	int status = -1;

	require(child > 0 && waitpid(child, &status, 0) == child);
	errno = 0;
	require(status == 0);
}

/* ---- opened ---- */

static void opened(void)
{
	int fd = (int)syscall(SYS_open, path_of("a"), O_RDWR | O_CREAT, 0600);

	put(fd, 101);
	require(lseek(fd, 0, SEEK_SET) == 0);
	take(fd, 51);
	table();
}

static void opened_at(void)
{
	int at = open(folder, O_PATH | O_DIRECTORY), fd = openat(at, "opened_at-a", O_RDWR | O_CREAT, 0600);

	put(fd, 103);
	table();
}

static void opened_at_2(void)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path_of("a"), &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		skip();
	put(fd, 105);
	table();
}

static void created(void)
{
	int fd = creat(path_of("a"), 0600);

	put(fd, 107);
	close(fd);
	fd = file_of("b", 0); /* the same number */
	put(fd, 7);
	table();
}

static void nameless(void)
{
	int fd = open(folder, O_TMPFILE | O_RDWR, 0600);

	if (fd < 0)
		skip();
	put(fd, 109);
	table();
}

static void by_symbolic_link(void)
{
	char link[PATH_MAX];
	int fd = file_of("a", 0);

	close(fd);
	strcpy(link, path_of("link"));
	require(symlink(path_of("a"), link) == 0);
	fd = open(link, O_RDWR);
	put(fd, 111);
	table();
}

/* One request and its result; the ring has no room for more. */
static int by_ring(int ring, const struct io_uring_params *p, struct io_uring_sqe request)
{
	size_t sq_bytes = p->sq_off.array + p->sq_entries * 4,
	       cq_bytes = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	char *sq = mmap(NULL, sq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	char *cq = mmap(NULL, cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	struct io_uring_sqe *entries = mmap(NULL, sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
					    IORING_OFF_SQES);
	uint32_t head;

	require(sq != MAP_FAILED && cq != MAP_FAILED && entries != MAP_FAILED);
	entries[0] = request;
	*(uint32_t *)(sq + p->sq_off.array) = 0;
	head = *(uint32_t *)(cq + p->cq_off.head);
	__atomic_fetch_add((uint32_t *)(sq + p->sq_off.tail), 1, __ATOMIC_RELEASE);
	require(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	__atomic_store_n((uint32_t *)(cq + p->cq_off.head), head + 1, __ATOMIC_RELEASE);
	return ((struct io_uring_cqe *)(cq + p->cq_off.cqes))[head & *(uint32_t *)(cq + p->cq_off.ring_mask)].res;
}

static void opened_by_ring(void)
{
	struct io_uring_params p = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &p), fd;

	if (ring < 0)
		skip();
	fd = by_ring(ring, &p,
		     (struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
					   .fd = AT_FDCWD,
					   .addr = (uintptr_t)path_of("a"),
					   .len = 0600,
					   .open_flags = O_RDWR | O_CREAT | O_CLOEXEC});
	require(fd >= 0);
	put(fd, 167);
	table();
	require(by_ring(ring, &p, (struct io_uring_sqe){.opcode = IORING_OP_CLOSE, .fd = fd}) == 0);
	table();
	require(by_ring(ring, &p,
			(struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
					      .fd = AT_FDCWD,
					      .addr = (uintptr_t)path_of("b"),
					      .len = 0600,
					      .open_flags = O_RDWR | O_CREAT}) == fd);
	put(fd, 9);
	AGAIN(fd);
}

/* ---- moved ---- */

static void duplicated(void)
{
	int fd = file_of("a", O_CLOEXEC), other = dup(fd);

	put(other, 113);
	close(fd);
	put(other, 2);
	table();
	AGAIN(other);
}

static void duplicated_over(void)
{
	int a = file_of("a", 0), b = file_of("b", O_CLOEXEC);

	put(b, 115);
	require(dup2(a, b) == b);
	put(b, 13);
	table();
	AGAIN(a, b);
}

/* It changes nothing: close-on-exec stays set. */
static void duplicated_onto_itself(void)
{
	int a = file_of("a", O_CLOEXEC), b = file_of("b", 0);

	require(dup2(a, a) == a && dup2(b, b) == b);
	put(a, 117);
	table();
	AGAIN(b);
}

static void duplicated_for_this_program(void)
{
	int a = file_of("a", 0);

	require(dup3(a, 40, O_CLOEXEC) == 40 && dup3(a, 41, 0) == 41);
	put(40, 119);
	table();
	AGAIN(a, 41);
}

static void duplicated_by_fcntl(void)
{
	int a = file_of("a", O_CLOEXEC), b = fcntl(a, F_DUPFD, 50), c = fcntl(a, F_DUPFD_CLOEXEC, 60);

	require(b == 50 && c == 60);
	put(b, 121);
	put(c, 3);
	table();
	AGAIN(b);
}

/* ---- pipes, sockets, memory, counters ---- */

static void piped(void)
{
	int fds[2], kept[2];

	require(!pipe2(fds, O_CLOEXEC) && !pipe(kept));
	put(fds[1], 123);
	take(fds[0], 59);
	table();
	AGAIN(kept[1]);
}

static void paired(void)
{
	int fds[2];

	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
	put(fds[1], 125);
	take(fds[0], 61);
	table();
}

static void accepted(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server;

	require(!bind(listener, (struct sockaddr *)&address, bytes) &&
		!getsockname(listener, (struct sockaddr *)&address, &bytes) && !listen(listener, 1));
	require(!connect(client, (struct sockaddr *)&address, bytes));
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	require(server >= 0);
	put(client, 127);
	take(server, 63);
	table();
	AGAIN(-1);
}

static void in_memory(void)
{
	int fd = memfd_create("some name", MFD_CLOEXEC);

	if (fd < 0)
		skip();
	put(fd, 129);
	table();
	AGAIN(-1);
}

static void counted(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	require(fd >= 0);
	buffer[0] = 1;
	for (int i = 0; i < 3; i++)
		put(fd, 8);
	take(fd, 8);
	table();
	AGAIN(-1);
}

static void polled(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC), fds[2];

	require(epoll >= 0 && !pipe(fds) && !epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event) &&
		!epoll_wait(epoll, &event, 1, 1));
	table();
	close(epoll);
	require(file_of("a", 0) == epoll);
	put(epoll, 131);
	table();
}

static void timed(void)
{
	struct itimerspec in = {.it_value.tv_nsec = 1000000};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	require(fd >= 0 && !timerfd_settime(fd, 0, &in, NULL));
	take(fd, 8);
	table();
	AGAIN(-1);
}

static void of_a_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0)
		skip();
	require(!unlockpt(master));
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		skip();
	put(slave, 133);
	take(master, 65);
	table();
	AGAIN(-1);
}

/* ---- from other processes ---- */

/* Each of @nr messages carries @each descriptors, of files a, b, c ... */
static void send_files(int by, int nr, int each)
{
	union {
		char bytes[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = {.iov_base = buffer, .iov_len = 1};

	for (int i = 0; i < nr; i++) {
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = CMSG_SPACE((size_t)each * sizeof(int))};

		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN((size_t)each * sizeof(int))};
		for (int j = 0; j < each; j++) {
			char name[2] = {(char)('a' + i * each + j), 0};

			((int *)CMSG_DATA(&control.header))[j] = file_of(name, 0);
		}
		require(sendmsg(by, &message, 0) == 1);
	}
}

/* A child that sends them; by[0] receives them. */
static void sent_by_child(int by[2], int nr, int each)
{
	pid_t child;

	require(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, by));
	child = fork();
	if (child == 0) {
		send_files(by[1], nr, each);
		_exit(0);
	}
	wait_for(child);
}

static void by_message(void)
{
	union {
		char bytes[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = {.iov_base = buffer, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int by[2], fds[2];

	sent_by_child(by, 1, 2);
	require(recvmsg(by[0], &message, 0) == 1 && CMSG_FIRSTHDR(&message));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
	put(fds[0], 135);
	put(fds[1], 5);
	table();
	AGAIN(fds[0], fds[1]);
}

#define NR_MESSAGES 5
static void by_messages(void)
{
	union {
		char bytes[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr header;
	} controls[NR_MESSAGES];
	struct iovec part = {.iov_base = buffer, .iov_len = 1};
	struct mmsghdr messages[NR_MESSAGES] = {0};
	int by[2], fds[2];

	for (int i = 0; i < NR_MESSAGES; i++)
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &part,
						      .msg_iovlen = 1,
						      .msg_control = &controls[i],
						      .msg_controllen = sizeof(controls[i])};
	sent_by_child(by, NR_MESSAGES - 1, 2);
	require(recvmmsg(by[0], messages, NR_MESSAGES, MSG_CMSG_CLOEXEC | MSG_DONTWAIT, NULL) == NR_MESSAGES - 1);
	for (int i = 0; i < NR_MESSAGES - 1; i++) {
		memcpy(fds, CMSG_DATA(&controls[i].header), sizeof(fds));
		put(fds[0], 137 + 10 * (size_t)i);
		put(fds[1], 139 + 10 * (size_t)i);
	}
	table();
	AGAIN(-1);
}

static void taken_from_another(void)
{
	int answer[2], number, pidfd, fd;
	pid_t child;

	require(!pipe(answer));
	child = fork();
	if (child == 0) {
		number = file_of("a", 0);
		require(write(answer[1], &number, sizeof(number)) == sizeof(number));
		pause();
		_exit(0);
	}
	require(read(answer[0], &number, sizeof(number)) == sizeof(number));
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	kill(child, SIGKILL);
	require(waitpid(child, NULL, 0) == child);
	if (fd < 0)
		skip();
	put(fd, 141);
	table();
	AGAIN(-1); /* pidfd_getfd() and pidfd_open() set close-on-exec */
}

/* ---- closed ---- */

static void closed_by_range(void)
{
	int a = file_of("a", 0);

	for (int i = 40; i < 50; i++)
		require(dup2(a, i) == i);
	if (syscall(SYS_close_range, 42, 45, 0))
		skip();
	/* of which the kernel uses 32 bits */
	require(!syscall(SYS_close_range, 0x700000000ul + 47, 0x100000000ul + 48, 0));
	put(46, 143);
	table();
	require(!syscall(SYS_close_range, 49, ~0u, 0));
	table();
}

static void marked_by_range(void)
{
	int a = file_of("a", 0);

	for (int i = 40; i < 50; i++)
		require(dup2(a, i) == i);
	if (syscall(SYS_close_range, 42, 45, CLOSE_RANGE_CLOEXEC))
		skip();
	require(!syscall(SYS_close_range, 0x700000000ul + 47, 0x100000000ul + 48, CLOSE_RANGE_CLOEXEC));
	put(43, 145);
	table();
	AGAIN(41, 46, 49);
}

static void marked_to_the_last(void)
{
	int a = file_of("a", 0), b = file_of("b", 0);

	if (syscall(SYS_close_range, b, ~0u, CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE))
		skip();
	put(b, 147);
	table();
	AGAIN(a);
}

static void marked_by_ioctl(void)
{
	int a = file_of("a", 0), b = file_of("b", O_CLOEXEC);

	require(!ioctl(a, FIOCLEX) && !ioctl(b, FIONCLEX));
	put(a, 149);
	table();
	AGAIN(b);
}

static void marked_by_fcntl(void)
{
	int a = file_of("a", 0), b = file_of("b", O_CLOEXEC);

	require(!fcntl(a, F_SETFD, FD_CLOEXEC) && !fcntl(b, F_SETFD, 0));
	put(a, 151);
	table();
	AGAIN(b);
}

static void kept_across_exec(void)
{
	int a = file_of("a", 0);

	file_of("b", O_CLOEXEC);
	put(a, 153);
	table();
	AGAIN(a);
}

/* ---- shared tables ---- */

static void of_a_child(void)
{
	int a = file_of("a", 0), b = file_of("b", 0);
	pid_t child = fork();

	if (child == 0) {
		put(a, 155);
		close(b);
		require(file_of("c", 0) == b);
		put(b, 15);
		table();
		_exit(0);
	}
	wait_for(child);
	put(b, 17);
	table();
}

static void of_a_child_that_borrows(void)
{
	int a = file_of("a", 0);
	pid_t child;

	file_of("b", O_CLOEXEC);
	child = vfork();
	if (child == 0) {
		if (dup2(a, 70) == 70)
			AGAIN(a, 70);
		_exit(4);
	}
	wait_for(child);
	put(a, 157);
	table();
}

/* Another process with the same table, until it calls exec. */
static void shared(void)
{
	int a = file_of("a", O_CLOEXEC), status = -1;
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		int b = file_of("b", 0);

		put(b, 159);
		require(dup2(b, 80) == 80);
		table();
		AGAIN(80);
	}
	require(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	put(a, 19);
	put(80, 21);
	table();
}

static void *alone(void *unused)
{
	int a = file_of("a", 0);

	require(!unshare(CLONE_FILES));
	require(dup2(a, 90) == 90);
	put(90, 161);
	table();
	close(a);
	table();
	return unused;
}

static void no_longer_shared(void)
{
	pthread_t thread;

	require(!pthread_create(&thread, NULL, alone, NULL) && !pthread_join(thread, NULL));
	table();
}

static void *open_it(void *number)
{
	*(int *)number = file_of("a", 0);
	return NULL;
}

static void of_a_thread(void)
{
	pthread_t thread;
	int fd;

	require(!pthread_create(&thread, NULL, open_it, &fd) && !pthread_join(thread, NULL));
	put(fd, 163);
	table();
}

/* ---- older than the recording ---- */

static void fifo_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/" EARLY_PREFIX "%s", folder, name);
}

static void early(void)
{
	char go[PATH_MAX], done[PATH_MAX], ready[PATH_MAX];
	int a, fds[2], sockets[2];

	scene = "older_than_the_recording";
	alarm(60);
	take_spare();
	fifo_path(go, "go");
	fifo_path(done, "done");
	fifo_path(ready, "ready");
	require(!mkfifo(go, 0600) && !mkfifo(done, 0600));
	a = file_of("a", 0);
	require(dup3(a, 100, O_CLOEXEC) == 100 && !pipe2(fds, O_CLOEXEC) &&
		!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	eventfd(0, 0);
	epoll_create1(0);
	require(memfd_create("early", 0) >= 0 && open(folder, O_TMPFILE | O_RDWR, 0600) >= 0);
	close(open(ready, O_CREAT | O_WRONLY, 0600));
	require(open(go, O_RDONLY) >= 0 && open(done, O_WRONLY) >= 0);
	put(100, 165);
	put(fds[1], 23);
	take(fds[0], 11);
	put(sockets[1], 25);
	table();
	AGAIN(a, sockets[0]);
}

static void older_than_the_recording(void)
{
	char go[PATH_MAX], done[PATH_MAX];
	int fd;

	fifo_path(go, "go");
	fifo_path(done, "done");
	require(open(go, O_WRONLY) >= 0);
	fd = open(done, O_RDONLY);
	require(fd >= 0 && read(fd, buffer, 1) == 0);
}

/* ---- all scenes ---- */

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
#define SCENE(name, claim) {#name, name},
#include "descriptors.h"
#undef SCENE
};

static void run(size_t i)
{
	pid_t child = fork();

	if (child)
		waitpid(child, NULL, 0);
	if (child)
		return;
	scene = scenes[i].name;
	alarm(20);
	take_spare();
	scenes[i].run();
	say("done %s\n", scene);
	_exit(0);
}

static int after(int argc, char **argv)
{
	scene = argv[4];
	table();
	for (int i = 5; i < argc; i++)
		put(atoi(argv[i]), 201 + 2 * (size_t)i);
	say("done %s\n", scene);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	truth = argv[1];
	folder = argv[2];
	if (argc > 4 && !strcmp(argv[3], "after"))
		return after(argc, argv);
	if (argc > 3) {
		early();
		return 1;
	}
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		run(i);
	return 0;
}

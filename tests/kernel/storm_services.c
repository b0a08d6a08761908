/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * storm_services.c - threads that wait at random for what the kernel or another process does for
 * them, for storms_verify; storm.h has the arguments
 *
 * Three processes of three threads each lock a few files, break leases on them, move data between
 * a few pipes, set timers, submit requests, have page faults that another thread or process
 * serves, and ask a server in another network namespace. Children of them do so, too. A feeder
 * keeps every pipe from being full or empty for long. Calls may fail: nothing here looks at results
 * that are not needed.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spend.h"
#include "storm.h"

enum {
	NR_FILES = 3,
	NR_PIPES = 4,
	PAGE = 4096,
	PORT = 7777,
	HERE = 0x0a630701,  /* 10.99.7.1 */
	THERE = 0x0a630702, /* 10.99.7.2, of the server */
};

static int pipes[NR_PIPES][2]; /* all processes have them */
static bool has_server;
static _Thread_local char bytes[20000];

static void any(long long result)
{
	(void)result;
}

static void close_it(int fd)
{
	if (fd > STDERR_FILENO)
		close(fd);
}

/* ---- tools ---- */

static int open_file(int flags)
{
	char name[8];

	snprintf(name, sizeof(name), "f%u", (unsigned int)below(NR_FILES));
	return open(name, flags | O_CREAT | O_CLOEXEC, 0600);
}

static pid_t fork_child(void)
{
	uint64_t seed = storm_new_seed();
	pid_t pid = fork();

	if (pid == 0) {
		storm_seed(seed);
		signal(SIGALRM, SIG_DFL);
		alarm(2); /* another thread may have had a lock at the fork */
	}
	return pid;
}

static void reap(pid_t child)
{
	if (child > 0)
		waitpid(child, NULL, 0);
}

static int reading_end(void)
{
	return pipes[below(NR_PIPES)][0];
}

static int writing_end(void)
{
	return pipes[below(NR_PIPES)][1];
}

/* Another thread may take what @fd has: then the caller waits for the feeder. */
static bool is_ready(int fd, short events)
{
	struct pollfd pollfd = {.fd = fd, .events = events};

	return poll(&pollfd, 1, (int)below(4)) > 0;
}

/* ---- operations: locks of files ---- */

static void storm_lock(void)
{
	struct flock lock = {.l_type = one_in(3) ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	int fd = open_file(O_RDWR), commands[] = {F_SETLKW, F_OFD_SETLKW, F_SETLK};
	uint32_t kind = below(4);

	if (kind == 3)
		any(flock(fd, one_in(3) ? LOCK_SH : LOCK_EX));
	else
		any(fcntl(fd, commands[kind], &lock));
	nap_us(below(700));
	close_it(fd); /* and all locks of the process on the file, but for flock() and OFD */
}

/* A child has the lock of its parent's description until both have closed it. */
static void storm_inherited_lock(void)
{
	int fd = open_file(O_RDWR);
	pid_t child;

	any(flock(fd, LOCK_EX));
	child = fork_child();
	if (child == 0) {
		nap_us(below(1500));
		_exit(0);
	}
	close_it(fd);
	reap(child);
}

/* A child that begins meanwhile has the description, too, so that closing it here is not enough. */
static void storm_lease(void)
{
	int fd = open_file(O_RDONLY);

	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		nap_us(below(2000));
		any(fcntl(fd, F_SETLEASE, F_UNLCK));
	}
	close_it(fd);
}

static void storm_break_lease(void)
{
	int fd = open_file(O_WRONLY | (one_in(3) ? O_NONBLOCK : 0) | (one_in(4) ? O_TRUNC : 0));

	close_it(fd);
}

static void storm_write(void)
{
	int fd = open_file(O_RDWR);

	any(pwrite(fd, bytes, sizeof(bytes), below(4) * PAGE));
	if (one_in(6))
		any(fdatasync(fd));
	close_it(fd);
}

/* ---- operations: data in pipes ---- */

static void storm_splice(void)
{
	int from = reading_end(), to = writing_end();

	if (is_ready(from, POLLIN) && is_ready(to, POLLOUT))
		any(splice(from, NULL, to, NULL, 1 + below(3000), one_in(2) ? SPLICE_F_NONBLOCK : 0));
}

static void storm_splice_file(void)
{
	int fd = open_file(O_RDWR);
	loff_t at = 0;

	if (one_in(2))
		any(splice(fd, &at, writing_end(), NULL, 1 + below(6000), one_in(2) ? SPLICE_F_NONBLOCK : 0));
	else if (is_ready(reading_end(), POLLIN))
		any(splice(reading_end(), NULL, fd, &at, 1 + below(6000), one_in(2) ? SPLICE_F_NONBLOCK : 0));
	close_it(fd);
}

static void storm_tee(void)
{
	int from = reading_end(), to = writing_end();

	if (is_ready(from, POLLIN) && is_ready(to, POLLOUT))
		any(tee(from, to, 1 + below(3000), one_in(2) ? SPLICE_F_NONBLOCK : 0));
}

static void storm_vmsplice(void)
{
	struct iovec data = {bytes, 1 + below(2000)};

	any(vmsplice(writing_end(), &data, 1, one_in(2) ? SPLICE_F_NONBLOCK : 0));
}

static void storm_sendfile(void)
{
	int fd = open_file(O_RDONLY);
	off_t at = 0;

	any(sendfile(writing_end(), fd, &at, 1 + below(3000)));
	close_it(fd);
}

static void storm_read(void)
{
	int fd = reading_end();

	if (is_ready(fd, POLLIN))
		any(read(fd, bytes, 1 + below(4000)));
}

/* ---- operations: requests ---- */

/* The thread's context of AIO. The kernel ends one in tens of ms, so that is rare. A child has none
 * of its parent's. */
static aio_context_t context_of_thread(void)
{
	static _Thread_local aio_context_t context;
	static _Thread_local pid_t pid;

	if (pid == getpid() && one_in(40))
		any(syscall(SYS_io_destroy, context));
	else if (pid == getpid())
		return context;
	pid = getpid();
	context = 0;
	any(syscall(SYS_io_setup, 8, &context));
	return context;
}

static struct iocb request(int fd, int event)
{
	static const uint16_t codes[] = {IOCB_CMD_PREAD, IOCB_CMD_PWRITE, IOCB_CMD_FDSYNC, IOCB_CMD_POLL};
	struct iocb request = {.aio_lio_opcode = codes[below(4)],
			       .aio_fildes = (uint32_t)fd,
			       .aio_buf = (uintptr_t)bytes,
			       .aio_nbytes = PAGE,
			       .aio_flags = IOCB_FLAG_RESFD,
			       .aio_resfd = (uint32_t)event};

	if (request.aio_lio_opcode == IOCB_CMD_POLL) {
		request.aio_fildes = (uint32_t)reading_end();
		request.aio_buf = POLLIN;
		request.aio_nbytes = 0;
	} else if (request.aio_lio_opcode == IOCB_CMD_FDSYNC) {
		request.aio_buf = request.aio_nbytes = 0;
	}
	return request;
}

/* Requests of AIO, which answer by io_getevents and by a descriptor. */
static void storm_aio(void)
{
	struct timespec limit = {.tv_nsec = below(3000000)};
	int fd = open_file(O_RDWR), event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct iocb requests[2] = {request(fd, event), request(fd, event)}, *list[2] = {&requests[0], &requests[1]};
	aio_context_t context = context_of_thread();
	struct io_event results[2];

	any(syscall(SYS_io_submit, context, 2, list));
	if (one_in(2))
		any(is_ready(event, POLLIN));
	any(syscall(SYS_io_getevents, context, 1 + below(2), 2, results, &limit));
	close_it(event);
	close_it(fd);
}

/* ---- operations: page faults ---- */

struct pages {
	int fd;
	char *memory;
	uint64_t seed;
};

static void serve_fault(const struct pages *pages)
{
	struct uffd_msg message;
	struct uffdio_copy copy = {.src = (uintptr_t)bytes, .len = PAGE};

	if (!is_ready(pages->fd, POLLIN) && !is_ready(pages->fd, POLLIN))
		nap_us(2000);
	any(read(pages->fd, &message, sizeof(message)));
	nap_us(below(600));
	copy.dst = (uintptr_t)pages->memory; /* a fault of later finds the page */
	any(ioctl(pages->fd, UFFDIO_COPY, &copy));
}

static void *serves_fault(void *data)
{
	const struct pages *pages = data;

	storm_seed(pages->seed);
	serve_fault(pages);
	return NULL;
}

/* A thread of the process serves the fault. */
static void fault_with_thread(struct pages *pages)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serves_fault, pages) != 0)
		return;
	*(volatile char *)pages->memory = 1;
	pthread_join(thread, NULL);
}

/* A child has the descriptor, too, and serves the memory of its parent. */
static void fault_with_child(struct pages *pages)
{
	pid_t child = fork_child();

	if (child == 0) {
		serve_fault(pages);
		_exit(0);
	}
	if (child < 0)
		return;
	*(volatile char *)pages->memory = 1;
	reap(child);
}

static void storm_fault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct pages pages = {.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), .seed = storm_new_seed()};

	pages.memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages.memory == MAP_FAILED)
		return close_it(pages.fd);
	range.range.start = (uintptr_t)pages.memory;
	range.range.len = PAGE;
	if (ioctl(pages.fd, UFFDIO_API, &api) == 0 && ioctl(pages.fd, UFFDIO_REGISTER, &range) == 0)
		(one_in(2) ? fault_with_thread : fault_with_child)(&pages);
	close_it(pages.fd);
	munmap(pages.memory, PAGE);
}

/* ---- operations: timers and signals ---- */

static void storm_timer(void)
{
	struct itimerspec times = {.it_value.tv_nsec = 1 + below(1500000)};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	timer_t timer;

	if (one_in(2))
		times.it_interval.tv_nsec = 100000 + below(500000);
	if (timer_create(one_in(2) ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &event, &timer) < 0)
		return;
	timer_settime(timer, 0, &times, NULL);
	if (one_in(2))
		nap_us(below(2500));
	else
		spin_cpu_ns(below(500) * 1000);
	timer_delete(timer);
}

static void storm_clock(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += below(1500000);
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void storm_wait_for_signal(void)
{
	struct timespec limit = {.tv_nsec = below(2000000)};
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2); /* all threads have it blocked */
	if (one_in(2)) {
		sigtimedwait(&signals, NULL, &limit);
		return;
	}
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (is_ready(fd, POLLIN))
		any(read(fd, bytes, 200));
	close_it(fd);
}

static void storm_signal(void)
{
	static const int signals[] = {SIGUSR1, SIGUSR2, SIGALRM};
	pid_t parent = getppid();

	kill(parent > 1 && one_in(2) ? parent : getpid(), signals[below(3)]);
}

/* The kernel closes such a descriptor in tens of ms, so that is rare. */
static void storm_watch(void)
{
	static _Thread_local int fd = -1;

	if (fd < 0) {
		fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		inotify_add_watch(fd, ".", IN_ALL_EVENTS);
	}
	if (is_ready(fd, POLLIN))
		any(read(fd, bytes, 500));
	if (one_in(20)) {
		close_it(fd);
		fd = -1;
	}
}

/* ---- operations: the other network namespace ---- */

static struct sockaddr_in address_of(uint32_t host)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(host),
				    .sin_port = htons(host == THERE ? PORT : 0)};
}

static void limit_waits(int fd)
{
	struct timeval limit = {.tv_usec = 1000 + below(4000)};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static void ask(int type)
{
	struct sockaddr_in there = address_of(THERE);
	int fd = has_server ? socket(AF_INET, type | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return;
	limit_waits(fd);
	if (connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0) {
		any(send(fd, bytes, 1 + below(1000), MSG_NOSIGNAL));
		any(one_in(2) ? read(fd, bytes, 1000) : is_ready(fd, POLLIN));
	}
	close_it(fd);
}

static void storm_connect(void)
{
	ask(SOCK_STREAM);
}

static void storm_datagram(void)
{
	ask(SOCK_DGRAM);
}

/* ---- operations: others ---- */

static void storm_fork(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		for (uint32_t nr = below(20); nr; nr--)
			storm_operate();
		_exit(0);
	}
	if (!one_in(3))
		reap(child);
}

static void storm_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void storm_compute(void)
{
	spin_cpu_ns(below(300) * 1000);
}

static const struct storm_operation operations[] = {
	OPERATION(3, lock),	OPERATION(1, inherited_lock), OPERATION(2, lease),	 OPERATION(2, break_lease),
	OPERATION(1, write),	OPERATION(2, splice),	      OPERATION(2, splice_file), OPERATION(2, tee),
	OPERATION(1, vmsplice), OPERATION(1, sendfile),	      OPERATION(2, read),	 OPERATION(2, aio),
	OPERATION(2, fault),	OPERATION(2, timer),	      OPERATION(1, clock),	 OPERATION(1, wait_for_signal),
	OPERATION(1, signal),	OPERATION(1, watch),	      OPERATION(2, connect),	 OPERATION(2, datagram),
	OPERATION(1, fork),	OPERATION(1, reap),	      OPERATION(1, compute),	 {NULL, 0, NULL},
};

/* ---- the server, and the pair of devices ---- */

static void serve_connection(int listening)
{
	int fd = accept(listening, NULL, NULL);
	ssize_t nr;

	limit_waits(fd);
	nr = read(fd, bytes, 1000);
	if (nr > 0)
		any(write(fd, bytes, (size_t)nr / 2 + 1));
	close_it(fd);
}

static void serve_datagram(int fd)
{
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t nr = recvfrom(fd, bytes, 1000, MSG_DONTWAIT, (struct sockaddr *)&from, &length);

	if (nr % 4)
		any(sendto(fd, bytes, (size_t)nr, MSG_DONTWAIT, (struct sockaddr *)&from, length));
}

static void serve(void)
{
	struct sockaddr_in here = address_of(THERE);
	struct pollfd sockets[2] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN},
				    {.fd = socket(AF_INET, SOCK_DGRAM, 0), .events = POLLIN}};

	for (int i = 0; i < 2; i++)
		if (bind(sockets[i].fd, (struct sockaddr *)&here, sizeof(here)) < 0)
			_exit(1);
	listen(sockets[0].fd, 50);
	for (;;) {
		poll(sockets, 2, -1);
		if (sockets[0].revents)
			serve_connection(sockets[0].fd);
		if (sockets[1].revents)
			serve_datagram(sockets[1].fd);
	}
}

static bool configure(const char *device, uint32_t host)
{
	struct in_addr address = {.s_addr = htonl(host)};
	char command[160];

	snprintf(command, sizeof(command), "{ ip addr add %s/24 dev %s && ip link set %s up; } 2>/dev/null",
		 inet_ntoa(address), device, device);
	return system(command) == 0;
}

/* @fd: tells and hears what the other one has done. */
static void begin_server(int fd)
{
	char byte = 'x';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET) != 0 || write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1 ||
	    !configure("vb", THERE) || write(fd, &byte, 1) != 1)
		_exit(1);
	close(fd);
	serve();
}

/* Without ip(8) or such devices there is no server. */
static bool make_network(void)
{
	char command[128], byte;
	int fds[2];
	pid_t server;
	bool made;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return false;
	server = fork();
	if (server == 0) {
		close(fds[1]);
		begin_server(fds[0]);
	}
	close(fds[0]);
	snprintf(command, sizeof(command), "ip link add va type veth peer name vb netns %d 2>/dev/null", (int)server);
	made = read(fds[1], &byte, 1) == 1 && unshare(CLONE_NEWNET) == 0 && system(command) == 0 &&
	       configure("va", HERE) && write(fds[1], "x", 1) == 1 && read(fds[1], &byte, 1) == 1;
	close(fds[1]);
	return made;
}

/* ---- the storm ---- */

/* Takes from each pipe that is full, and puts into each that is empty. It never waits for them. */
static void feed(void)
{
	struct iovec most = {bytes, sizeof(bytes)}, some = {bytes, 1000};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (int i = 0; i < NR_PIPES; i++) {
			struct pollfd ends[2] = {{.fd = pipes[i][0], .events = POLLIN},
						 {.fd = pipes[i][1], .events = POLLOUT}};

			poll(ends, 2, 0);
			if (!ends[1].revents)
				any(preadv2(pipes[i][0], &most, 1, -1, RWF_NOWAIT));
			if (!ends[0].revents)
				any(pwritev2(pipes[i][1], &some, 1, -1, RWF_NOWAIT));
		}
		nap_us(500);
	}
}

static void *operates(void *seed)
{
	storm_seed((uintptr_t)seed);
	for (;;)
		storm_operate();
	return NULL;
}

static void start_worker(void)
{
	uint64_t seeds[3] = {storm_new_seed(), storm_new_seed(), storm_new_seed()};
	pthread_t thread;

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, operates, (void *)(uintptr_t)seeds[i]);
	operates((void *)(uintptr_t)seeds[2]);
}

static void handle(int signal)
{
	(void)signal;
}

static void set_signals(void)
{
	struct sigaction action = {.sa_handler = handle};
	sigset_t blocked;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN); /* of leases */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static void begin(void)
{
	has_server = make_network();
	set_signals();
	for (int i = 0; i < NR_PIPES; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			exit(1);
	if (fork() == 0)
		feed();
	for (int i = 0; i < 3; i++)
		start_worker();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const struct storm storm = {.operations = operations, .begin = begin};

	return storm_main(&storm, argc, argv);
}

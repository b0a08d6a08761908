/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * storm_exchange.c - threads that exchange data, descriptors, locks and signals at random, for
 * storms_verify; storm.h has the arguments
 *
 * Three processes of three threads each make operations on whatever descriptors their process has
 * at the moment; children of them make some, too. Two processes answer by TCP, and one by UDP.
 * Calls on a wrong descriptor fail, as they may: nothing here looks at results that are not needed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spend.h"
#include "storm.h"

enum {
	NR_SLOTS = 40,
	NR_FILES = 5,
	NR_MUTEXES = 4, /* the last one inherits priorities */
	NR_SEMAPHORES = 3,
	NR_WORDS = 4,
	HIGH_FD = 900, /* no slot is so high */
};

/* Shared by all processes. */
struct board {
	pthread_mutex_t mutexes[NR_MUTEXES];
	sem_t semaphores[NR_SEMAPHORES];
	int words[NR_WORDS];
};

static struct board *board;
static struct sockaddr_in tcp_address, udp_address;
static int semaphore_set, message_queue, descriptors[NR_SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static char folders[2][4096]; /* the current one, and one in it */
static _Thread_local char bytes[70000];

static void any(long long result)
{
	(void)result;
}

/* ---- slots: the descriptors of a process ---- */

static int pick(void)
{
	return descriptors[below(NR_SLOTS)];
}

static int exchange(int fd)
{
	uint32_t i = below(NR_SLOTS);
	int old;

	pthread_mutex_lock(&slots_lock);
	old = descriptors[i];
	descriptors[i] = fd;
	pthread_mutex_unlock(&slots_lock);
	return old;
}

static void close_it(int fd)
{
	if (fd > STDERR_FILENO)
		close(fd);
}

static void put(int fd)
{
	if (fd >= 0)
		close_it(exchange(fd));
}

static void put_both(const int fds[2])
{
	put(fds[0]);
	put(fds[1]);
}

static bool is_regular(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_ready(int fd, short events, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = events};

	return poll(&pollfd, 1, ms) > 0 && !(pollfd.revents & (POLLERR | POLLHUP));
}

/* No operation waits for a socket for longer than a few ms. */
static void limit_waits(int fd)
{
	struct timeval limit = {.tv_usec = 1000 + below(4000)};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static struct timespec in_us(uint32_t most)
{
	return (struct timespec){.tv_nsec = below(most) * 1000L};
}

static struct timespec until_us(uint32_t most)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += below(most) * 1000L;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static const char *file_name(void)
{
	static _Thread_local char names[2][16];
	static _Thread_local unsigned int turn;
	char *name = names[turn++ % 2];

	snprintf(name, sizeof(names[0]), "f%u", (unsigned int)below(NR_FILES));
	return name;
}

/* ---- operations: descriptors ---- */

static void storm_pipe(void)
{
	int fds[2];

	if (pipe2(fds, one_in(2) ? O_NONBLOCK : 0) == 0)
		put_both(fds);
}

static void storm_socketpair(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, one_in(2) ? SOCK_STREAM : SOCK_DGRAM, 0, fds) < 0)
		return;
	limit_waits(fds[0]);
	limit_waits(fds[1]);
	put_both(fds);
}

static void storm_dup(void)
{
	int fd = pick();

	if (fd > STDERR_FILENO)
		put(dup(fd));
}

static void storm_close(void)
{
	close_it(exchange(-1));
}

static void storm_replace(void)
{
	int from, to;

	pthread_mutex_lock(&slots_lock);
	from = pick();
	to = pick();
	if (from > STDERR_FILENO && to > STDERR_FILENO)
		dup2(from, to);
	pthread_mutex_unlock(&slots_lock);
}

static void storm_close_range(void)
{
	int fd;

	any(syscall(SYS_close_range, HIGH_FD + below(30), HIGH_FD + 100, 0));
	pthread_mutex_lock(&slots_lock);
	fd = pick();
	if (fd > STDERR_FILENO)
		dup3(fd, HIGH_FD + (int)below(60), O_CLOEXEC);
	pthread_mutex_unlock(&slots_lock);
}

static void storm_send_descriptor(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd = pick();

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	any(sendmsg(pick(), &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static void storm_receive_descriptor(void)
{
	char control[CMSG_SPACE(16 * sizeof(int))];
	struct iovec data = {bytes, 8};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(pick(), &message, one_in(2) ? MSG_DONTWAIT : 0) <= 0)
		return;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
		if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
			memcpy(&fd, CMSG_DATA(header), sizeof(fd));
			put(fd);
		}
}

/* ---- operations: data ---- */

static void storm_read(void)
{
	struct pollfd pollfd = {.fd = pick(), .events = POLLIN};

	if (poll(&pollfd, 1, (int)below(4)) > 0)
		any(read(pollfd.fd, bytes, 1 + below(4000)));
}

static void storm_write(void)
{
	int fd = pick();

	if (is_ready(fd, POLLOUT, (int)below(3)))
		any(write(fd, bytes, 1 + below(one_in(8) ? 5000 : 300)));
}

static void storm_splice(void)
{
	int fds[2];

	if (pipe(fds) < 0)
		return;
	any(splice(pick(), NULL, fds[1], NULL, 1000, SPLICE_F_NONBLOCK));
	any(tee(fds[0], pick(), 500, SPLICE_F_NONBLOCK));
	put_both(fds);
}

static void storm_shutdown(void)
{
	shutdown(pick(), (int)below(3));
}

static void storm_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	limit_waits(fd);
	if (connect(fd, (const struct sockaddr *)&tcp_address, sizeof(tcp_address)) == 0)
		put(fd);
	else
		close_it(fd);
}

static void storm_datagram(void)
{
	const struct sockaddr *to = (const struct sockaddr *)&udp_address;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	limit_waits(fd);
	if (one_in(2))
		any(connect(fd, to, sizeof(udp_address)));
	any(sendto(fd, bytes, below(500), 0, to, sizeof(udp_address)));
	put(fd);
}

/* ---- operations: events ---- */

static void storm_eventfd(void)
{
	put(eventfd(below(3), one_in(2) ? EFD_NONBLOCK : 0));
}

static void storm_post(void)
{
	int fd = pick();

	if (!is_ready(fd, POLLIN, 0))
		any(write(fd, &(uint64_t){1}, sizeof(uint64_t)));
}

static void storm_timerfd(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec times = {.it_value.tv_nsec = 1 + below(2000000)};

	if (one_in(2))
		times.it_interval.tv_nsec = below(900000);
	timerfd_settime(fd, 0, &times, NULL);
	put(fd);
}

static void storm_epoll(void)
{
	int fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN}, ready[4];

	for (uint32_t nr = 1 + below(6); nr; nr--)
		epoll_ctl(fd, EPOLL_CTL_ADD, pick(), &event);
	any(epoll_wait(fd, ready, 4, (int)below(4)));
	put(fd);
}

static void storm_select(void)
{
	struct timeval limit = {.tv_usec = below(3000)};
	int fd, most = 0;
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < 4; i++) {
		fd = pick();
		if (fd < 0 || fd >= FD_SETSIZE)
			continue;
		FD_SET(fd, &set);
		most = fd > most ? fd : most;
	}
	any(select(most + 1, &set, NULL, NULL, &limit));
}

/* ---- operations: locks ---- */

static void storm_mutex(void)
{
	pthread_mutex_t *mutex = &board->mutexes[below(NR_MUTEXES)];
	struct timespec until = until_us(3000);
	int error = pthread_mutex_timedlock(mutex, &until);

	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(mutex);
	if (error)
		return;
	if (one_in(2))
		nap_us(below(500));
	pthread_mutex_unlock(mutex);
}

static void storm_semaphore_wait(void)
{
	struct timespec until = until_us(2000);

	any(sem_timedwait(&board->semaphores[below(NR_SEMAPHORES)], &until));
}

static void storm_semaphore_post(void)
{
	sem_post(&board->semaphores[below(NR_SEMAPHORES)]);
}

static int *pick_word(void)
{
	return &board->words[below(NR_WORDS)];
}

static void storm_futex_wait(void)
{
	struct timespec limit = in_us(3000);

	any(syscall(SYS_futex, pick_word(), FUTEX_WAIT, 0, &limit, NULL, 0));
}

static void storm_futex_wake(void)
{
	any(syscall(SYS_futex, pick_word(), FUTEX_WAKE, 1 + below(3), NULL, NULL, 0));
}

static void storm_futex_requeue(void)
{
	any(syscall(SYS_futex, &board->words[0], FUTEX_REQUEUE, 1, 1, &board->words[1], 0));
}

static void storm_semaphore_set(void)
{
	struct sembuf change = {.sem_num = (unsigned short)below(2), .sem_op = one_in(2) ? 1 : -1};
	struct timespec limit = in_us(2000);

	any(semtimedop(semaphore_set, &change, 1, &limit));
}

static void storm_message(void)
{
	struct {
		long type;
		char text[32];
	} message = {.type = 1 + below(2)};

	if (one_in(2))
		any(msgsnd(message_queue, &message, below(sizeof(message.text)), IPC_NOWAIT));
	else
		any(msgrcv(message_queue, &message, sizeof(message.text), 0, IPC_NOWAIT));
}

static void storm_file_lock(void)
{
	int fd = open("lock", O_RDWR | O_CREAT, 0600);

	if (flock(fd, LOCK_EX | (one_in(3) ? LOCK_NB : 0)) == 0) {
		nap_us(below(700));
		flock(fd, LOCK_UN);
	}
	close_it(fd);
}

/* ---- operations: files ---- */

static void storm_open(void)
{
	int flags = O_RDWR | O_CREAT | (one_in(6) ? O_TRUNC : 0) | (one_in(5) ? O_SYNC : 0);

	put(open(file_name(), flags, 0600));
}

static void storm_change_folder(void)
{
	any(chdir(folders[below(2)]));
	put(open(file_name(), O_RDONLY));
}

static void storm_rename(void)
{
	const char *from = file_name(), *to = file_name();

	if (one_in(2))
		any(rename(from, to));
	else
		any(unlink(from));
}

static void storm_map(void)
{
	int fd = pick();
	void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, one_in(2) ? MAP_SHARED : MAP_PRIVATE, fd, 0);

	if (memory == MAP_FAILED)
		return;
	if (is_regular(fd))
		madvise(memory, 4096, MADV_WILLNEED);
	munmap(memory, 65536);
}

static void storm_write_file(void)
{
	int fd = pick();

	if (!is_regular(fd))
		return;
	any(pwrite(fd, bytes, below(60000), below(100000)));
	if (one_in(6))
		any(fdatasync(fd));
}

static void storm_sendfile(void)
{
	int from = pick(), to = pick();
	off_t at = 0;

	if (is_regular(from) && is_ready(to, POLLOUT, 0))
		any(sendfile(to, from, &at, below(3000)));
}

/* ---- operations: signals, processes, time ---- */

static void storm_timer_signal(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 1 + below(3000)}, NULL);
}

static void storm_signal(void)
{
	pid_t parent = getppid();

	kill(parent > 1 && one_in(2) ? parent : getpid(), one_in(2) ? SIGUSR1 : SIGALRM);
}

static void storm_read_memory(void)
{
	static char other[1000];
	struct iovec local = {bytes, sizeof(other)}, remote = {other, sizeof(other)};

	any(process_vm_readv(getppid(), &local, 1, &remote, 1, 0));
}

static void storm_fork(void)
{
	uint64_t seed = storm_new_seed();
	pid_t child = fork();

	if (child == 0) {
		storm_seed(seed);
		signal(SIGALRM, SIG_DFL);
		alarm(2); /* another thread may have had a lock at the fork */
		for (uint32_t nr = below(30); nr; nr--)
			storm_operate();
		_exit(0);
	}
	if (child > 0 && !one_in(3))
		waitpid(child, NULL, one_in(2) ? 0 : WNOHANG);
}

static void storm_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void storm_sleep(void)
{
	nap_us(below(2000));
}

static void storm_compute(void)
{
	spin_cpu_ns(below(300) * 1000);
}

static const struct storm_operation operations[] = {
	OPERATION(1, pipe),
	OPERATION(1, socketpair),
	OPERATION(1, dup),
	OPERATION(1, close),
	OPERATION(1, replace),
	OPERATION(1, close_range),
	OPERATION(1, send_descriptor),
	OPERATION(1, receive_descriptor),
	OPERATION(3, read),
	OPERATION(3, write),
	OPERATION(1, splice),
	OPERATION(1, shutdown),
	OPERATION(1, connect),
	OPERATION(1, datagram),
	OPERATION(1, eventfd),
	OPERATION(1, post),
	OPERATION(1, timerfd),
	OPERATION(1, epoll),
	OPERATION(1, select),
	OPERATION(2, mutex),
	OPERATION(1, semaphore_wait),
	OPERATION(1, semaphore_post),
	OPERATION(1, futex_wait),
	OPERATION(1, futex_wake),
	OPERATION(1, futex_requeue),
	OPERATION(1, semaphore_set),
	OPERATION(1, message),
	OPERATION(1, file_lock),
	OPERATION(2, open),
	OPERATION(1, change_folder),
	OPERATION(1, rename),
	OPERATION(1, map),
	OPERATION(1, write_file),
	OPERATION(1, sendfile),
	OPERATION(1, timer_signal),
	OPERATION(1, signal),
	OPERATION(1, read_memory),
	OPERATION(1, fork),
	OPERATION(1, reap),
	OPERATION(1, sleep),
	OPERATION(1, compute),
	{NULL, 0, NULL},
};

/* ---- servers ---- */

/* A socket with a port of its own on the loopback interface. */
static int bound(int type, struct sockaddr_in *ret_address)
{
	socklen_t length = sizeof(*ret_address);
	int fd = socket(AF_INET, type, 0);

	*ret_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(fd, (struct sockaddr *)ret_address, length) < 0 ||
	    getsockname(fd, (struct sockaddr *)ret_address, &length) < 0)
		exit(1);
	return fd;
}

static void serve_tcp(int listening)
{
	ssize_t nr;

	for (;;) {
		int fd = accept(listening, NULL, NULL);

		limit_waits(fd);
		for (int i = 0; i < 3 && (nr = read(fd, bytes, 5000)) > 0; i++)
			any(write(fd, bytes, (size_t)nr / 2 + 1));
		close_it(fd);
	}
}

static void serve_udp(int fd)
{
	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof(from);
		ssize_t nr = recvfrom(fd, bytes, 700, 0, (struct sockaddr *)&from, &length);

		if (nr % 2 == 1)
			any(sendto(fd, bytes, (size_t)nr, MSG_DONTWAIT, (struct sockaddr *)&from, length));
	}
}

static void start_server(void (*serve)(int fd), int fd)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	serve(fd);
}

static void start_servers(void)
{
	int listening = bound(SOCK_STREAM, &tcp_address), receiving = bound(SOCK_DGRAM, &udp_address);

	listen(listening, 50);
	start_server(serve_tcp, listening);
	start_server(serve_tcp, listening);
	start_server(serve_udp, receiving);
	close(listening);
	close(receiving);
}

/* ---- the storm ---- */

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

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void begin(void)
{
	set_signals();
	memset(descriptors, -1, sizeof(descriptors));
	start_servers();
	for (int i = 0; i < 3; i++)
		start_worker();
	for (;;)
		pause();
}

static void prepare_mutexes(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	for (int i = 0; i < NR_MUTEXES; i++) {
		pthread_mutexattr_setprotocol(&attributes,
					      i == NR_MUTEXES - 1 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
		pthread_mutex_init(&board->mutexes[i], &attributes);
	}
}

static void prepare_folders(void)
{
	if (!getcwd(folders[0], sizeof(folders[0])))
		exit(1);
	any(mkdir("inner", 0700));
	any(snprintf(folders[1], sizeof(folders[1]), "%.4000s/inner", folders[0]));
}

static void prepare(void)
{
	prepare_folders();
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		exit(1);
	prepare_mutexes();
	for (int i = 0; i < NR_SEMAPHORES; i++)
		sem_init(&board->semaphores[i], 1, 0);
	semaphore_set = semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT);
	message_queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
}

static void clean(void)
{
	semctl(semaphore_set, 0, IPC_RMID);
	msgctl(message_queue, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
	static const struct storm storm = {
		.operations = operations, .prepare = prepare, .begin = begin, .clean = clean};

	return storm_main(&storm, argc, argv);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * workload_waits.c - one wait of every kind, for test_waits.c: each in a process of its own, with its length measured from inside.
 *
 *	workload_waits TRUTH-FILE SCRATCH-FOLDER
 *
 * For each the truth file has "NAME.pid", "NAME.who" (whom it waits for), "NAME.waited_ns"; "NAME.skipped" where the kernel refuses it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/io_uring.h>

#define MS 1000000ll
#define MIB (1 << 20)
#define PAUSE_NS (200 * MS)

static FILE *truth;
static const char *scratch;
static const char *scenario;
static int ready[2]; /* a child that has to prepare something says so here */

static void tell(const char *key, long long value)
{
	fprintf(truth, "%s.%s %lld\n", scenario, key, value);
	fflush(truth);
}

static void skip(void)
{
	tell("skipped", 1);
	_exit(0);
}

static void require(bool held)
{
	if (held)
		return;
	fprintf(stderr, "workload_waits: %s: %s\n", scenario, strerror(errno));
	_exit(1);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleep_ns(long long ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static const char *scratch_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s-%s", scratch, scenario, name);
	return path;
}

/* ---- the common shape: a child does nothing for a while, then acts; the parent waits for that ---- */

static pid_t child_that(void (*act)(void *), void *context)
{
	pid_t child = fork();

	require(child >= 0);
	if (child == 0) {
		sleep_ns(PAUSE_NS);
		act(context);
		_exit(0);
	}
	tell("who", child);
	return child;
}

static void measure(void (*wait_for)(void *), void *context)
{
	long long start = now_ns();

	wait_for(context);
	tell("waited_ns", now_ns() - start);
}

static void wait_for_child(void (*act)(void *), void (*wait_for)(void *), void *context)
{
	pid_t child = child_that(act, context);

	measure(wait_for, context);
	waitpid(child, NULL, 0);
}

/* Descriptor 0 of the context is waited on, descriptor 1 acted on. */
static void write_8(void *fds)
{
	uint64_t one = 1;

	require(write(((int *)fds)[1], &one, sizeof(one)) > 0);
}

static void read_8(void *fds)
{
	char bytes[512];

	require(read(((int *)fds)[0], bytes, sizeof(bytes)) > 0);
}

static void poll_one(void *fds)
{
	struct pollfd one = {.fd = ((int *)fds)[0], .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

/* The one that becomes ready is in the middle of others. */
static void poll_many(void *fds)
{
	struct pollfd many[3] = {{.events = POLLIN}, {.fd = ((int *)fds)[0], .events = POLLIN}, {.events = POLLIN}};
	int pipe_ends[2], ends[2];

	require(!pipe(pipe_ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	many[0].fd = pipe_ends[0];
	many[2].fd = ends[0];
	require(poll(many, 3, -1) == 1);
}

static void select_one(void *fds)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(((int *)fds)[0], &set);
	require(select(((int *)fds)[0] + 1, &set, NULL, NULL, NULL) == 1);
}

static int epoll_of(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	require(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	return epoll;
}

static void epoll_one(void *fds)
{
	struct epoll_event event;

	require(epoll_wait(epoll_of(((int *)fds)[0]), &event, 1, -1) == 1);
}

static void epoll_nested(void *fds)
{
	struct epoll_event event;

	require(epoll_wait(epoll_of(epoll_of(((int *)fds)[0])), &event, 1, -1) == 1);
}

/* ---- what is waited on ---- */

static void make_pipe(int fds[2])
{
	require(!pipe(fds));
}

static void make_unix(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

static void make_unix_dgram(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
}

static void make_unix_seqpacket(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds));
}

static void make_eventfd(int fds[2])
{
	fds[0] = fds[1] = eventfd(0, 0);
	require(fds[0] >= 0);
}

static int bound(int type, struct sockaddr_in *address)
{
	socklen_t bytes = sizeof(*address);
	int fd = socket(AF_INET, type, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	require(fd >= 0 && !bind(fd, (struct sockaddr *)address, bytes) && !getsockname(fd, (struct sockaddr *)address, &bytes));
	return fd;
}

static void make_tcp(int fds[2])
{
	struct sockaddr_in address;
	int listener = bound(SOCK_STREAM, &address);

	require(!listen(listener, 1));
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	require(!connect(fds[1], (struct sockaddr *)&address, sizeof(address)));
	fds[0] = accept(listener, NULL, NULL);
	require(fds[0] >= 0);
	close(listener);
}

static void make_udp(int fds[2])
{
	struct sockaddr_in address;

	fds[0] = bound(SOCK_DGRAM, &address);
	fds[1] = socket(AF_INET, SOCK_DGRAM, 0);
	require(!connect(fds[1], (struct sockaddr *)&address, sizeof(address)));
}

#define CHANNEL(name, make, wait_for)                    \
	static void name(void)                           \
	{                                                \
		int fds[2];                              \
                                                         \
		make(fds);                               \
		wait_for_child(write_8, wait_for, fds);  \
	}
CHANNEL(pipe_read, make_pipe, read_8)
CHANNEL(unix_stream, make_unix, read_8)
CHANNEL(unix_dgram, make_unix_dgram, read_8)
CHANNEL(unix_seqpacket, make_unix_seqpacket, read_8)
CHANNEL(tcp, make_tcp, read_8)
CHANNEL(udp, make_udp, read_8)
CHANNEL(read_eventfd, make_eventfd, read_8)
CHANNEL(poll_pipe, make_pipe, poll_one)
CHANNEL(poll_unix, make_unix, poll_one)
CHANNEL(poll_tcp, make_tcp, poll_one)
CHANNEL(poll_eventfd, make_eventfd, poll_one)
CHANNEL(poll_many_eventfd, make_eventfd, poll_many)
CHANNEL(poll_many_pipe, make_pipe, poll_many)
CHANNEL(select_pipe, make_pipe, select_one)
CHANNEL(epoll_pipe, make_pipe, epoll_one)
CHANNEL(epoll_unix, make_unix, epoll_one)
CHANNEL(epoll_tcp, make_tcp, epoll_one)
CHANNEL(epoll_eventfd, make_eventfd, epoll_one)
CHANNEL(epoll_in_epoll, make_pipe, epoll_nested)

/* An unconnected sender: only its own act tells who it was. */
static void send_to(void *context)
{
	struct sockaddr_in *address = context;

	require(sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)address, sizeof(*address)) == 1);
}

static int received_on;
static void receive(void *context)
{
	char byte;

	require(recv(received_on, &byte, 1, 0) == 1);
}

static void udp_unconnected(void)
{
	struct sockaddr_in address;

	received_on = bound(SOCK_DGRAM, &address);
	wait_for_child(send_to, receive, &address);
}

/* ---- buffers that are full ---- */

static void drain(void *fds)
{
	char buffer[65536];

	fcntl(((int *)fds)[0], F_SETFL, O_NONBLOCK);
	while (read(((int *)fds)[0], buffer, sizeof(buffer)) > 0)
		;
	sleep_ns(50 * MS);
	while (read(((int *)fds)[0], buffer, sizeof(buffer)) > 0)
		;
}

static void write_16k(void *fds)
{
	static char buffer[16384];

	require(write(((int *)fds)[1], buffer, sizeof(buffer)) > 0);
}

static void fill(int fd)
{
	static char buffer[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, buffer, sizeof(buffer)) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

#define FULL(name, make)                                   \
	static void name(void)                             \
	{                                                  \
		int fds[2];                                \
                                                           \
		make(fds);                                 \
		fill(fds[1]);                              \
		wait_for_child(drain, write_16k, fds);     \
	}
FULL(full_pipe, make_pipe)
FULL(full_unix, make_unix)
FULL(full_tcp, make_tcp)

/* ---- connections ---- */

static void connect_to(void *context)
{
	require(!connect(socket(AF_INET, SOCK_STREAM, 0), context, sizeof(struct sockaddr_in)));
	sleep_ns(50 * MS);
}

static int listener;
static void accept_one(void *context)
{
	require(accept(listener, NULL, NULL) >= 0);
}

static void accept_tcp(void)
{
	struct sockaddr_in address;

	listener = bound(SOCK_STREAM, &address);
	require(!listen(listener, 5));
	wait_for_child(connect_to, accept_one, &address);
}

static void poll_listener(void *context)
{
	struct pollfd one = {.fd = listener, .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

static void poll_accept(void)
{
	struct sockaddr_in address;

	listener = bound(SOCK_STREAM, &address);
	require(!listen(listener, 5));
	wait_for_child(connect_to, poll_listener, &address);
}

static struct sockaddr_un unix_listener(int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	require((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", scratch, scenario) < sizeof(address.sun_path));
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	require(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, backlog));
	return address;
}

static void connect_unix(void *context)
{
	require(!connect(socket(AF_UNIX, SOCK_STREAM, 0), context, sizeof(struct sockaddr_un)));
}

static void accept_unix(void)
{
	struct sockaddr_un address = unix_listener(5);

	wait_for_child(connect_unix, accept_one, &address);
}

static void connect_full(void)
{
	struct sockaddr_un address = unix_listener(0);

	connect_unix(&address);
	wait_for_child(accept_one, connect_unix, &address);
}

/* ---- threads of one process ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool happened;

static void *make_it_happen(void *nothing)
{
	sleep_ns(PAUSE_NS);
	pthread_mutex_lock(&mutex);
	happened = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	sleep_ns(10 * MS);
	return nothing;
}

static void wait_for_condition(void *context)
{
	pthread_mutex_lock(&mutex);
	while (!happened)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void condvar(void)
{
	pthread_t thread;

	tell("who", getpid());
	pthread_create(&thread, NULL, make_it_happen, NULL);
	measure(wait_for_condition, NULL);
	_exit(0);
}

static void *sleep_a_while(void *nothing)
{
	sleep_ns(PAUSE_NS);
	return nothing;
}

static void join_thread(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
}

static void join(void)
{
	pthread_t thread;

	tell("who", getpid());
	pthread_create(&thread, NULL, sleep_a_while, NULL);
	measure(join_thread, &thread);
}

/* ---- between processes ---- */

static void post(void *semaphore)
{
	sem_post(semaphore);
}

static void wait_semaphore(void *semaphore)
{
	sem_wait(semaphore);
}

static void posix_semaphore(void)
{
	sem_t *semaphore = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	require(!sem_init(semaphore, 1, 0));
	wait_for_child(post, wait_semaphore, semaphore);
}

static void sysv_add(int id, short by)
{
	struct sembuf operation = {.sem_op = by};

	require(!semop(id, &operation, 1));
}

static void sysv_post(void *id)
{
	sysv_add(*(int *)id, 1);
}

static void sysv_wait(void *id)
{
	sysv_add(*(int *)id, -1);
}

static void sysv_semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	require(id >= 0);
	wait_for_child(sysv_post, sysv_wait, &id);
	semctl(id, 0, IPC_RMID);
}

struct message {
	long type;
	char text[8];
};

static void message_send(void *id)
{
	struct message message = {.type = 1};

	require(!msgsnd(*(int *)id, &message, sizeof(message.text), 0));
}

static void message_receive(void *id)
{
	struct message message;

	require(msgrcv(*(int *)id, &message, sizeof(message.text), 0, 0) > 0);
}

static void sysv_messages(void)
{
	int id = msgget(IPC_PRIVATE, 0600);

	require(id >= 0);
	wait_for_child(message_send, message_receive, &id);
	msgctl(id, IPC_RMID, NULL);
}

static void queue_send(void *queue)
{
	require(!mq_send(*(mqd_t *)queue, "x", 1, 0));
}

static void queue_receive(void *queue)
{
	char text[64];

	require(mq_receive(*(mqd_t *)queue, text, sizeof(text), NULL) == 1);
}

static void posix_messages(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/workload-waits-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	if (queue == (mqd_t)-1)
		skip();
	mq_unlink(name);
	wait_for_child(queue_send, queue_receive, &queue);
}

/* The child holds a lock, says so, and lets go of it after a while. */
static void wait_for_holder(void (*take)(void *), void *context)
{
	pid_t child = fork();
	char byte = 'x';

	if (child == 0) {
		take(context);
		require(write(ready[1], &byte, 1) == 1);
		sleep_ns(PAUSE_NS);
		_exit(0); /* which lets go */
	}
	tell("who", child);
	require(read(ready[0], &byte, 1) == 1);
	measure(take, context);
	waitpid(child, NULL, 0);
}

static void take_flock(void *path)
{
	require(!flock(open(path, O_RDWR | O_CREAT, 0600), LOCK_EX));
}

static void file_lock(void)
{
	wait_for_holder(take_flock, (void *)scratch_path("lock"));
}

static void take_record_lock(void *path)
{
	struct flock all = {.l_type = F_WRLCK};

	require(!fcntl(open(path, O_RDWR | O_CREAT, 0600), F_SETLKW, &all));
}

static void record_lock(void)
{
	wait_for_holder(take_record_lock, (void *)scratch_path("lock"));
}

/* ---- life of processes ---- */

static void nothing(void *context)
{
}

static void wait_child(void *context)
{
	require(waitpid(-1, NULL, 0) > 0);
}

static void waitpid_any(void)
{
	wait_for_child(nothing, wait_child, NULL);
}

static void vfork_child(void *context)
{
	pid_t child = vfork();

	if (child == 0) {
		struct timespec pause = {.tv_nsec = PAUSE_NS};

		nanosleep(&pause, NULL);
		_exit(0);
	}
	tell("who", child);
}

static void vfork_waits(void)
{
	measure(vfork_child, NULL);
	wait(NULL);
}

static void exit_code(void *context)
{
}

static int pid_descriptor;
static void poll_pidfd(void *context)
{
	struct pollfd one = {.fd = pid_descriptor, .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

static void pidfd(void)
{
	pid_t child = child_that(exit_code, NULL);

	pid_descriptor = (int)syscall(SYS_pidfd_open, child, 0);
	if (pid_descriptor < 0)
		skip();
	measure(poll_pidfd, NULL);
}

/* Stopped by itself, continued by its parent: the roles of the others are swapped. */
static void stop_myself(void *context)
{
	kill(getpid(), SIGSTOP);
}

static void continue_parent(void *context)
{
	kill(getppid(), SIGCONT);
}

static void stopped(void)
{
	wait_for_child(continue_parent, stop_myself, NULL);
}

static void let_tracee_go(void *tracee)
{
	require(!ptrace(PTRACE_DETACH, *(pid_t *)tracee, 0, 0));
}

/* The child is the one that is measured: it stops for its tracer. */
static void traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		tell("pid", getpid());
		require(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		measure(stop_myself, NULL);
		_exit(0);
	}
	require(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	sleep_ns(PAUSE_NS);
	let_tracee_go(&child);
	waitpid(child, NULL, 0);
}

/* ---- signals ---- */

static void on_signal(int number)
{
}

static void signal_parent(void *context)
{
	kill(getppid(), SIGUSR1);
}

static void pause_once(void *context)
{
	pause();
}

static void pause_for_signal(void)
{
	signal(SIGUSR1, on_signal);
	wait_for_child(signal_parent, pause_once, NULL);
}

static sigset_t block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void wait_signal(void *set)
{
	sigwaitinfo(set, NULL);
}

static void sigwait_for_signal(void)
{
	sigset_t set = block_signal();

	wait_for_child(signal_parent, wait_signal, &set);
}

#define SIGNAL_DESCRIPTOR(name, wait_for)                                        \
	static void name(void)                                                   \
	{                                                                        \
		sigset_t set = block_signal();                                   \
		int fds[2] = {signalfd(-1, &set, 0), -1};                        \
                                                                                 \
		wait_for_child(signal_parent, wait_for, fds);                    \
	}
SIGNAL_DESCRIPTOR(signalfd_read, read_8)
SIGNAL_DESCRIPTOR(poll_signalfd, poll_one)

/* ---- time ---- */

#define TIMER_DESCRIPTOR(name, wait_for)                                         \
	static void name(void)                                                   \
	{                                                                        \
		struct itimerspec once = {.it_value.tv_nsec = PAUSE_NS};         \
		int fds[2] = {timerfd_create(CLOCK_MONOTONIC, 0), -1};           \
                                                                                 \
		require(!timerfd_settime(fds[0], 0, &once, NULL));               \
		measure(wait_for, fds);                                          \
	}
TIMER_DESCRIPTOR(timerfd_read, read_8)
TIMER_DESCRIPTOR(poll_timerfd, poll_one)
TIMER_DESCRIPTOR(epoll_timerfd, epoll_one)

static void wait_in_vain(void *context)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PAUSE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &until);
}

static void condvar_timeout(void)
{
	measure(wait_in_vain, NULL);
}

static void receive_in_vain(void *fds)
{
	char byte;

	require(recv(((int *)fds)[0], &byte, 1, 0) < 0);
}

static void receive_timeout(void)
{
	struct timeval limit = {.tv_usec = PAUSE_NS / 1000};
	int fds[2];

	make_tcp(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	measure(receive_in_vain, fds);
}

/* nanosleep as 32-bit programs call it. */
static void sleep_32(void *times)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(162), "b"(times), "c"(0) : "r8", "r9", "r10", "r11", "memory");
	require(ret == 0);
#endif
}

static void refused(int number)
{
	skip();
}

static void sleep_by_32_bit_call(void)
{
#ifdef __x86_64__
	int32_t *times = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	signal(SIGSEGV, refused); /* a kernel without the 32-bit calls */
	times[1] = PAUSE_NS;
	measure(sleep_32, times);
#else
	skip();
#endif
}

/* ---- files ---- */

static void add_file(void *path)
{
	close(open(path, O_RDWR | O_CREAT, 0600));
}

static int watch;
static void read_watch(void *path)
{
	char bytes[4096];

	require(read(watch, bytes, sizeof(bytes)) > 0);
}

static void inotify(void)
{
	char folder[512];

	snprintf(folder, sizeof(folder), "%s", scratch_path("folder"));
	watch = inotify_init1(0);
	require(!mkdir(folder, 0700) && inotify_add_watch(watch, folder, IN_CREATE) >= 0);
	wait_for_child(add_file, read_watch, (void *)scratch_path("folder/new"));
}

static void open_fifo_to_write(void *path)
{
	require(open(path, O_WRONLY) >= 0);
}

static void open_fifo_to_read(void *path)
{
	require(open(path, O_RDONLY) >= 0);
}

static void fifo(void)
{
	const char *path = scratch_path("fifo");

	require(!mkfifo(path, 0600));
	wait_for_child(open_fifo_to_write, open_fifo_to_read, (void *)path);
}

static int terminal[2]; /* slave, master */
static void terminal_read(void)
{
	terminal[1] = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal[1] < 0 || grantpt(terminal[1]) || unlockpt(terminal[1]))
		skip();
	terminal[0] = open(ptsname(terminal[1]), O_RDWR | O_NOCTTY);
	if (terminal[0] < 0)
		skip();
	require(write(terminal[1], "", 0) == 0);
	int fds[2] = {terminal[0], terminal[1]};
	pid_t child = fork();

	if (child == 0) {
		sleep_ns(PAUSE_NS);
		require(write(fds[1], "x\n", 2) == 2);
		sleep_ns(50 * MS);
		_exit(0);
	}
	tell("who", child);
	measure(read_8, fds);
}

/* Made by another process, whose waits for it are its own. */
static int cold_file(void)
{
	static char buffer[MIB];
	int fd = open(scratch_path("data"), O_RDWR | O_CREAT, 0600);

	if (fork()) {
		wait(NULL);
		return fd;
	}
	for (int i = 0; i < 32; i++)
		require(write(fd, buffer, sizeof(buffer)) == (ssize_t)sizeof(buffer));
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	_exit(0);
}

static void touch_pages(void *memory)
{
	for (size_t i = 0; i < 32 * MIB; i += 4096)
		(void)*(volatile char *)(memory + i);
}

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* What is left of the time after the CPU's part: the disk's part and the way onto a CPU. */
static void measure_off_cpu(void (*wait_for)(void *), void *context)
{
	long long start = now_ns(), cpu = cpu_ns();

	wait_for(context);
	tell("waited_ns", now_ns() - start - (cpu_ns() - cpu));
}

static void mapped_file(void)
{
	void *memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, cold_file(), 0);

	require(memory != MAP_FAILED);
	measure_off_cpu(touch_pages, memory);
}

static void sync_file(void *fd)
{
	require(!fsync(*(int *)fd));
}

static void fsync_file(void)
{
	static char buffer[MIB];
	int fd = open(scratch_path("data"), O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 64; i++)
		require(write(fd, buffer, sizeof(buffer)) == (ssize_t)sizeof(buffer));
	measure_off_cpu(sync_file, &fd);
}

/* ---- descriptors that came another way ---- */

static void send_descriptor(int by, int fd)
{
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
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
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd;

	require(recvmsg(by, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void passed_descriptor(void)
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
	tell("who", child);
	fds[0] = receive_descriptor(by[0]);
	measure(read_8, fds);
}

/* A pipe whose end was moved about: dup, dup2 over another, F_DUPFD, and closed where it came from. */
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

/* ---- io_uring, by its system calls ---- */

struct ring {
	int fd;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head;
	struct io_uring_sqe *entries;
};

static struct ring ring_new(void)
{
	struct io_uring_params p = {0};
	struct ring ring = {.fd = (int)syscall(SYS_io_uring_setup, 8, &p)};
	char *sq, *cq;

	if (ring.fd < 0)
		skip();
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
	require(sq != MAP_FAILED && cq != MAP_FAILED && (void *)ring.entries != MAP_FAILED);
	ring.sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	ring.sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (uint32_t *)(sq + p.sq_off.array);
	ring.cq_head = (uint32_t *)(cq + p.cq_off.head);
	return ring;
}

static char ring_buffer[MIB];

/* Submit one read and wait for it. */
static void ring_read(struct ring *ring, int fd, uint64_t offset, unsigned int flags)
{
	uint32_t tail = *ring->sq_tail, slot = tail & *ring->sq_mask;

	ring->entries[slot] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (uint64_t)(uintptr_t)ring_buffer,
						    .off = offset, .len = sizeof(ring_buffer), .flags = (uint8_t)flags, .user_data = 7};
	ring->sq_array[slot] = slot;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	require(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
}

struct ring_context {
	int fds[2];
	struct ring ring;
	unsigned int flags;
};

static void wait_ring(void *context)
{
	struct ring_context *c = context;

	ring_read(&c->ring, c->fds[0], 0, c->flags);
}

static void wait_ring_file(void *context)
{
	struct ring_context *c = context;

	for (uint64_t i = 0; i < 32; i++)
		ring_read(&c->ring, c->fds[0], i * MIB, 0);
}

static void uring_file(void)
{
	struct ring_context c = {.ring = ring_new()};

	c.fds[0] = cold_file();
	measure_off_cpu(wait_ring_file, &c);
}

#define RING(name, make, its_flags)                                \
	static void name(void)                                     \
	{                                                          \
		struct ring_context c = {.flags = its_flags};      \
                                                                   \
		c.ring = ring_new();                               \
		make(c.fds);                                       \
		wait_for_child(write_8, wait_ring, &c);            \
	}
RING(uring_pipe, make_pipe, 0)
RING(uring_unix, make_unix, 0)
RING(uring_worker, make_pipe, IOSQE_ASYNC)

/* ---- all of them ---- */

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
#define SCENARIO(name) {#name, name}
	SCENARIO(pipe_read), SCENARIO(unix_stream), SCENARIO(unix_dgram), SCENARIO(unix_seqpacket), SCENARIO(tcp), SCENARIO(udp),
	SCENARIO(read_eventfd), SCENARIO(poll_pipe), SCENARIO(poll_unix), SCENARIO(poll_tcp), SCENARIO(poll_eventfd),
	SCENARIO(poll_many_eventfd), SCENARIO(poll_many_pipe), SCENARIO(select_pipe), SCENARIO(epoll_pipe), SCENARIO(epoll_unix),
	SCENARIO(epoll_tcp), SCENARIO(epoll_eventfd), SCENARIO(epoll_in_epoll), SCENARIO(udp_unconnected), SCENARIO(full_pipe),
	SCENARIO(full_unix), SCENARIO(full_tcp), SCENARIO(accept_tcp), SCENARIO(poll_accept), SCENARIO(accept_unix), SCENARIO(connect_full),
	SCENARIO(condvar), SCENARIO(join), SCENARIO(posix_semaphore), SCENARIO(sysv_semaphore), SCENARIO(sysv_messages),
	SCENARIO(posix_messages), SCENARIO(file_lock), SCENARIO(record_lock), SCENARIO(waitpid_any), SCENARIO(vfork_waits), SCENARIO(pidfd),
	SCENARIO(stopped), SCENARIO(traced), SCENARIO(pause_for_signal), SCENARIO(sigwait_for_signal), SCENARIO(signalfd_read),
	SCENARIO(poll_signalfd), SCENARIO(timerfd_read), SCENARIO(poll_timerfd), SCENARIO(epoll_timerfd), SCENARIO(condvar_timeout),
	SCENARIO(receive_timeout), SCENARIO(sleep_by_32_bit_call), SCENARIO(inotify), SCENARIO(fifo), SCENARIO(terminal_read),
	SCENARIO(mapped_file), SCENARIO(fsync_file), SCENARIO(passed_descriptor), SCENARIO(duplicated_descriptor), SCENARIO(uring_pipe),
	SCENARIO(uring_unix), SCENARIO(uring_worker), SCENARIO(uring_file),
#undef SCENARIO
};

/* Two at a time: they sleep most of the time. */
static void run_one(size_t i)
{
	if (fork())
		return;
	scenario = scenarios[i].name;
	setpgid(0, 0); /* so that a stop is nobody else's */
	alarm(20);
	require(!pipe(ready));
	tell("pid", getpid());
	scenarios[i].run();
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t nr = sizeof(scenarios) / sizeof(scenarios[0]);

	if (argc != 3) {
		fprintf(stderr, "usage: workload_waits TRUTH-FILE SCRATCH-FOLDER\n");
		return 2;
	}
	truth = fopen(argv[1], "a");
	scratch = argv[2];
	if (!truth)
		return 1;
	for (size_t i = 0; i < nr; i++) {
		if (i >= 2)
			wait(NULL);
		run_one(i);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

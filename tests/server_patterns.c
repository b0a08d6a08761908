// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * server_patterns.c - servers of all shapes, each of which knows what it did for whom: for test_e2e_servers.c.
 *
 *	server_patterns TRUTH-FILE SCRATCH-FOLDER run [PATTERN...]	all patterns, one after the other
 *	server_patterns TRUTH-FILE SCRATCH-FOLDER early			connect first, then wait for "go" in the scratch folder
 *
 * A request says who asks and for how much CPU time. work() spends it and measures itself with CLOCK_THREAD_CPUTIME_ID; the sums
 *go to the truth file as lines
 *
 *	PATTERN exact|shared SERVER-PID CLIENT-PID NS REQUESTS STOLEN-NS	what must be billed
 *	PATTERN server|noserver PID 0 NS 0 STOLEN-NS				listed with NS of background, or not listed
 *	PATTERN nothing SERVER-PID CLIENT-PID 0 0 0				must not be billed
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	    1000000ll
#define NR_CLIENTS  4
#define MAX_SERVERS 8
#define MAX_FDS	    64

struct message {
	int32_t client;
	int32_t ms;
	int32_t wants; /* pattern's own */
	int32_t pad;
};

/* What the processes of a pattern tell each other besides what is under test. */
struct board {
	long long exact[MAX_SERVERS][NR_CLIENTS];
	long long shared[MAX_SERVERS][NR_CLIENTS];
	long long stolen[MAX_SERVERS][NR_CLIENTS];
	int requests[MAX_SERVERS][NR_CLIENTS];
	pid_t server[MAX_SERVERS];
	pid_t client[NR_CLIENTS];
	long long background, background_stolen;
	int ready;
};

static struct board *board;
static FILE *truth;
static const char *scratch, *pattern;
static int nr_requests = 1; /* of each client */
static int weight = 20;	    /* ms of client 0; the others twice, three times ... as much */

static void die(const char *what)
{
	fprintf(stderr, "server_patterns: %s: %s: %s\n", pattern, what, strerror(errno));
	_exit(1);
}

static long long thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static long long wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/*
 * Spend CPU time. Wall time that passed while the thread's clock stood still, without a switch to another or too short for one,
 * was taken by a hypervisor: no tracer in the guest can see it, so it will be in the bill. *@stolen grows by it.
 */
static long long spin(long long ns, long long *stolen)
{
	long long begin = thread_cpu(), at = begin, at_wall = wall(), next, next_wall, gap, lost = 0;
	long before = switches(), now;

	while (at < begin + ns) {
		for (volatile int i = 0; i < 5000; i++)
			;
		next = thread_cpu();
		next_wall = wall();
		gap = (next_wall - at_wall) - (next - at);
		now = gap > 50000 ? switches() : before;
		if (now == before)
			lost += gap;
		before = now;
		at = next;
		at_wall = next_wall;
	}
	*stolen += lost > 0 ? lost : 0;
	return at - begin;
}

static void nap(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void work(int server, const struct message *m)
{
	long long stolen = 0;

	__atomic_add_fetch(&board->exact[server][m->client], spin(m->ms * MS, &stolen), __ATOMIC_RELAXED);
	__atomic_add_fetch(&board->stolen[server][m->client], stolen, __ATOMIC_RELAXED);
	__atomic_add_fetch(&board->requests[server][m->client], 1, __ATOMIC_RELAXED);
}

static void full_read(int fd, void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t ret = read(fd, (char *)data + done, bytes - done);

		if (ret <= 0)
			die("read");
		done += (size_t)ret;
	}
}

static void full_write(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		die("write");
}

static void answer(int fd)
{
	char reply[32] = "done";

	full_write(fd, reply, sizeof(reply));
}

static void get_answer(int fd)
{
	char reply[32];

	full_read(fd, reply, sizeof(reply));
}

/* ---- addresses ---- */

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t unix_address(union address *address, const char *name)
{
	memset(address, 0, sizeof(*address));
	address->un.sun_family = AF_UNIX;
	snprintf(address->un.sun_path, sizeof(address->un.sun_path), "%s/%s", scratch, name);
	return sizeof(address->un);
}

/* A listening socket of @family; *@address is where it can be reached. */
static int listener(int family, int type, union address *address, socklen_t *length)
{
	int fd = socket(family, type, 0);
	static int nr;
	char name[32];

	memset(address, 0, sizeof(*address));
	address->any.sa_family = (sa_family_t)family;
	*length = family == AF_INET ? sizeof(address->in) : sizeof(address->in6);
	if (family == AF_INET)
		address->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (family == AF_INET6)
		address->in6.sin6_addr = in6addr_loopback;
	snprintf(name, sizeof(name), "s%d.%d", (int)getpid(), nr++);
	if (family == AF_UNIX)
		*length = unix_address(address, name);
	if (fd < 0 || bind(fd, &address->any, *length) || (type != SOCK_DGRAM && listen(fd, 64)))
		die("listen");
	if (family != AF_UNIX && getsockname(fd, &address->any, length))
		die("getsockname");
	return fd;
}

static int connected(int type, const union address *address, socklen_t length)
{
	int fd = socket(address->any.sa_family, type, 0), one = 1;

	if (fd < 0 || connect(fd, &address->any, length))
		die("connect");
	if (address->any.sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* ---- processes ---- */

static pid_t begin_process(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		prctl(PR_SET_NAME, name);
	return pid;
}

#define SERVER(slot) if (!(board->server[slot] = begin_process("server")) && (board->server[slot] = getpid()))
#define CLIENTS(i)                                                                                                               \
	for (int i = 0; i < NR_CLIENTS; i++)                                                                                     \
		if (!(board->client[i] = begin_process("client")) && (board->client[i] = getpid()))

/* The clients end by themselves, then the servers are ended. */
static void end_processes(void)
{
	for (int i = 0; i < NR_CLIENTS; i++)
		if (board->client[i] > 0)
			waitpid(board->client[i], NULL, 0);
	for (int i = 0; i < MAX_SERVERS; i++)
		if (board->server[i] > 0 && waitpid(board->server[i], NULL, WNOHANG) == 0) { /* a child of ours, and alive */
			kill(board->server[i], SIGTERM);
			waitpid(board->server[i], NULL, 0);
		}
}

static void client_ask(int fd, int client)
{
	struct message m = {.client = client, .ms = weight * (client + 1)};

	for (int i = 0; i < nr_requests; i++) {
		full_write(fd, &m, sizeof(m));
		get_answer(fd);
	}
}

static void serve_one(int server, int fd)
{
	struct message m;

	full_read(fd, &m, sizeof(m));
	work(server, &m);
	answer(fd);
}

/* ---- event loops ---- */

static void loop_poll(int listening)
{
	struct pollfd fds[MAX_FDS] = {{.fd = listening, .events = POLLIN}};
	int nr = 1;
	struct message m;

	for (;;) {
		poll(fds, (nfds_t)nr, -1);
		for (int i = 1; i < nr; i++) {
			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (recv(fds[i].fd, &m, sizeof(m), 0) <= 0) {
				close(fds[i].fd);
				fds[i--] = fds[--nr];
				continue;
			}
			work(0, &m);
			answer(fds[i].fd);
		}
		if (fds[0].revents & POLLIN)
			fds[nr++] = (struct pollfd){.fd = accept(listening, NULL, NULL), .events = POLLIN};
	}
}

static void loop_epoll(int listening)
{
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[8];
	struct message m;

	epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
	for (;;) {
		int nr = epoll_wait(epoll, events, 8, -1);

		for (int i = 0; i < nr; i++) {
			if (events[i].data.fd == listening) {
				event.data.fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
				epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
				continue;
			}
			if (read(events[i].data.fd, &m, sizeof(m)) <= 0) {
				close(events[i].data.fd);
				continue;
			}
			work(0, &m);
			answer(events[i].data.fd);
		}
	}
}

static void loop_select(int listening)
{
	fd_set all, ready;
	int top = listening;
	struct message m;

	FD_ZERO(&all);
	FD_SET(listening, &all);
	for (;;) {
		ready = all;
		select(top + 1, &ready, NULL, NULL, NULL);
		for (int fd = 0; fd <= top; fd++) {
			if (!FD_ISSET(fd, &ready))
				continue;
			if (fd == listening) {
				int made = accept(listening, NULL, NULL);

				FD_SET(made, &all);
				top = made > top ? made : top;
			} else if (read(fd, &m, sizeof(m)) <= 0) {
				close(fd);
				FD_CLR(fd, &all);
			} else {
				work(0, &m);
				answer(fd);
			}
		}
	}
}

static void loop_sequential(int listening)
{
	for (;;) {
		int fd = accept(listening, NULL, NULL);

		serve_one(0, fd);
		close(fd);
	}
}

static void loop_fork(int listening)
{
	signal(SIGCHLD, SIG_IGN);
	for (int slot = 1;; slot++) {
		int fd = accept(listening, NULL, NULL);

		SERVER(slot)
		{
			serve_one(slot, fd);
			_exit(0);
		}
		close(fd);
	}
}

static void *connection_thread(void *argument)
{
	int fd = (int)(long)argument;
	struct message m;

	while (read(fd, &m, sizeof(m)) == sizeof(m)) {
		work(0, &m);
		answer(fd);
	}
	close(fd);
	return NULL;
}

static void loop_thread_per_client(int listening)
{
	for (;;) {
		long fd = accept(listening, NULL, NULL);
		pthread_t thread;

		pthread_create(&thread, NULL, connection_thread, (void *)fd);
		pthread_detach(thread);
	}
}

/* The request comes in two pieces, the second one late. */
static void loop_pieces(int listening)
{
	struct message m;
	char byte;

	for (;;) {
		int fd = accept(listening, NULL, NULL);

		full_read(fd, &m, 8);
		m.ms /= 2;
		work(0, &m);
		full_read(fd, (char *)&m + 8, sizeof(m) - 8);
		work(0, &m);
		board->requests[0][m.client]--;
		answer(fd);
		if (read(fd, &byte, 1) == 0)
			close(fd);
	}
}

static void loop_reply_pieces(int listening)
{
	struct message m;
	char byte;

	for (;;) {
		int fd = accept(listening, NULL, NULL);

		full_read(fd, &m, sizeof(m));
		m.ms /= 2;
		work(0, &m);
		full_write(fd, "half an answer..", 16);
		work(0, &m);
		board->requests[0][m.client]--;
		full_write(fd, "the other half..", 16);
		if (read(fd, &byte, 1) == 0)
			close(fd);
	}
}

static void *background(void *unused)
{
	board->background += spin(30 * MS, &board->background_stolen);
	return NULL;
}

static void loop_background(int listening)
{
	pthread_t thread;

	pthread_create(&thread, NULL, background, NULL);
	loop_epoll(listening);
}

/* ---- pools ---- */

struct job {
	int fd;
	struct message message;
};

static struct job queue[256];
static unsigned int queue_in, queue_out;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static int pool_fds[2];

static void run_job(const struct job *job)
{
	work(0, &job->message);
	answer(job->fd);
}

static void *condvar_worker(void *unused)
{
	for (;;) {
		struct job job;

		pthread_mutex_lock(&queue_lock);
		while (queue_in == queue_out)
			pthread_cond_wait(&queue_filled, &queue_lock);
		job = queue[queue_out++ % 256];
		pthread_mutex_unlock(&queue_lock);
		run_job(&job);
	}
	return NULL;
}

static void condvar_put(const struct job *job)
{
	pthread_mutex_lock(&queue_lock);
	queue[queue_in++ % 256] = *job;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(&queue_filled);
}

static void *pipe_worker(void *unused)
{
	struct job job;

	while (read(pool_fds[0], &job, sizeof(job)) == sizeof(job))
		run_job(&job);
	return NULL;
}

static void pipe_put(const struct job *job)
{
	full_write(pool_fds[1], job, sizeof(*job));
}

static void *eventfd_worker(void *unused)
{
	uint64_t tickets;

	while (read(pool_fds[0], &tickets, sizeof(tickets)) == sizeof(tickets)) {
		struct job job;

		pthread_mutex_lock(&queue_lock);
		job = queue[queue_out++ % 256];
		pthread_mutex_unlock(&queue_lock);
		run_job(&job);
	}
	return NULL;
}

static void eventfd_put(const struct job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&queue_lock);
	queue[queue_in++ % 256] = *job;
	pthread_mutex_unlock(&queue_lock);
	full_write(pool_fds[0], &one, sizeof(one));
}

/* One thread reads the requests, @nr others do them. */
static void dispatch(int listening, int nr, void *(*worker)(void *), void (*put)(const struct job *))
{
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[8];
	pthread_t thread;

	for (int i = 0; i < nr; i++)
		pthread_create(&thread, NULL, worker, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
	for (;;) {
		int ready = epoll_wait(epoll, events, 8, -1);

		for (int i = 0; i < ready; i++) {
			struct job job = {.fd = events[i].data.fd};

			if (job.fd == listening) {
				event.data.fd = accept(listening, NULL, NULL);
				epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
			} else if (read(job.fd, &job.message, sizeof(job.message)) == sizeof(job.message)) {
				put(&job);
			} else {
				epoll_ctl(epoll, EPOLL_CTL_DEL, job.fd, NULL);
				close(job.fd);
			}
		}
	}
}

static void loop_pool_condvar(int listening)
{
	dispatch(listening, 2, condvar_worker, condvar_put);
}

/* More requests than workers: they find the next job without waiting for it. */
static void loop_pool_busy(int listening)
{
	dispatch(listening, 1, condvar_worker, condvar_put);
}

static void loop_pool_pipe(int listening)
{
	if (pipe(pool_fds))
		die("pipe");
	dispatch(listening, 2, pipe_worker, pipe_put);
}

static void loop_pool_eventfd(int listening)
{
	pool_fds[0] = eventfd(0, EFD_SEMAPHORE);
	dispatch(listening, 2, eventfd_worker, eventfd_put);
}

/* ---- the usual pattern: clients connect, ask, and go ---- */

static void simple(int family, int type, void (*loop)(int))
{
	union address address;
	socklen_t length;
	int listening = listener(family, type, &address, &length);

	SERVER(0) loop(listening);
	CLIENTS(i)
	{
		int fd = connected(type, &address, length);

		client_ask(fd, i);
		_exit(0);
	}
	close(listening);
	end_processes();
}

#define SIMPLE(name, family, type, loop)                                                                                         \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		simple(family, type, loop);                                                                                      \
	}
SIMPLE(unix_sequential, AF_UNIX, SOCK_STREAM, loop_sequential)
SIMPLE(unix_poll, AF_UNIX, SOCK_STREAM, loop_poll)
SIMPLE(unix_epoll, AF_UNIX, SOCK_STREAM, loop_epoll)
SIMPLE(unix_select, AF_UNIX, SOCK_STREAM, loop_select)
SIMPLE(unix_threads, AF_UNIX, SOCK_STREAM, loop_thread_per_client)
SIMPLE(seqpacket_poll, AF_UNIX, SOCK_SEQPACKET, loop_poll)
SIMPLE(tcp4_sequential, AF_INET, SOCK_STREAM, loop_sequential)
SIMPLE(tcp4_epoll, AF_INET, SOCK_STREAM, loop_epoll)
SIMPLE(tcp4_threads, AF_INET, SOCK_STREAM, loop_thread_per_client)
SIMPLE(tcp6_poll, AF_INET6, SOCK_STREAM, loop_poll)
SIMPLE(tcp4_fork, AF_INET, SOCK_STREAM, loop_fork)
SIMPLE(unix_fork, AF_UNIX, SOCK_STREAM, loop_fork)
SIMPLE(pool_condvar, AF_INET, SOCK_STREAM, loop_pool_condvar)
SIMPLE(pool_busy, AF_UNIX, SOCK_STREAM, loop_pool_busy)
SIMPLE(pool_pipe, AF_UNIX, SOCK_STREAM, loop_pool_pipe)
SIMPLE(pool_eventfd, AF_INET6, SOCK_STREAM, loop_pool_eventfd)
SIMPLE(reply_in_pieces, AF_UNIX, SOCK_STREAM, loop_reply_pieces)
SIMPLE(background_thread, AF_UNIX, SOCK_STREAM, loop_background)

static void request_in_pieces(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_pieces(listening);
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);
		struct message m = {.client = i, .ms = weight * (i + 1)};

		full_write(fd, &m, 8);
		nap(5);
		full_write(fd, (char *)&m + 8, sizeof(m) - 8);
		get_answer(fd);
		_exit(0);
	}
	end_processes();
}

static void short_connections(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_sequential(listening);
	CLIENTS(i)
	{
		struct message m = {.client = i, .ms = i + 1};

		for (int j = 0; j < 10; j++) {
			int fd = connected(SOCK_STREAM, &address, length);

			full_write(fd, &m, sizeof(m));
			get_answer(fd);
			close(fd);
		}
		_exit(0);
	}
	end_processes();
}

/* Many requests sent at once, done one after the other. */
static void pipelined(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_thread_per_client(listening);
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);
		struct message all[5];

		for (int j = 0; j < 5; j++)
			all[j] = (struct message){.client = i, .ms = 2 * (i + 1)};
		full_write(fd, all, sizeof(all));
		for (int j = 0; j < 5; j++)
			get_answer(fd);
		_exit(0);
	}
	end_processes();
}

static void datagrams(void)
{
	union address address;
	socklen_t length;
	int socket_fd = listener(AF_UNIX, SOCK_DGRAM, &address, &length);

	SERVER(0) for (;;)
	{
		union address from;
		socklen_t from_length = sizeof(from);
		struct message m;

		if (recvfrom(socket_fd, &m, sizeof(m), 0, &from.any, &from_length) != sizeof(m))
			die("recvfrom");
		work(0, &m);
		if (sendto(socket_fd, "done", 4, 0, &from.any, from_length) != 4)
			die("sendto");
	}
	CLIENTS(i)
	{
		union address own;
		socklen_t own_length;
		int fd = listener(AF_UNIX, SOCK_DGRAM, &own, &own_length);
		struct message m = {.client = i, .ms = weight * (i + 1)};
		char reply[8];

		for (int j = 0; j < 2; j++) {
			sendto(fd, &m, sizeof(m), 0, &address.any, length);
			if (recv(fd, reply, sizeof(reply), 0) != 4)
				die("recv");
		}
		_exit(0);
	}
	end_processes();
}

/* All write to one FIFO, each gets its answer on its own. */
static void fifos(void)
{
	char path[128], own[160];

	snprintf(path, sizeof(path), "%s/fifo%d", scratch, (int)getpid());
	if (mkfifo(path, 0600))
		die("mkfifo");
	for (int i = 0; i < NR_CLIENTS; i++) {
		snprintf(own, sizeof(own), "%s.%d", path, i);
		if (mkfifo(own, 0600))
			die("mkfifo");
	}
	SERVER(0)
	{
		int fd = open(path, O_RDWR), backs[NR_CLIENTS] = {0};
		struct message m;

		for (;;) {
			full_read(fd, &m, sizeof(m));
			work(0, &m);
			snprintf(own, sizeof(own), "%s.%d", path, m.client);
			if (!backs[m.client])
				backs[m.client] = open(own, O_WRONLY);
			answer(backs[m.client]);
		}
	}
	CLIENTS(i)
	{
		struct message m = {.client = i, .ms = weight * (i + 1)};
		int fd = open(path, O_WRONLY), back = 0;

		snprintf(own, sizeof(own), "%s.%d", path, i);
		for (int j = 0; j < 2; j++) {
			full_write(fd, &m, sizeof(m));
			if (!back)
				back = open(own, O_RDONLY);
			get_answer(back);
		}
		_exit(0);
	}
	end_processes();
}

/* A pair of pipes for each client. */
static void pipes(void)
{
	int there[NR_CLIENTS][2], back[NR_CLIENTS][2];

	for (int i = 0; i < NR_CLIENTS; i++)
		if (pipe(there[i]) || pipe(back[i]))
			die("pipe");
	SERVER(0)
	{
		struct pollfd fds[NR_CLIENTS];

		for (int i = 0; i < NR_CLIENTS; i++) {
			fds[i] = (struct pollfd){.fd = there[i][0], .events = POLLIN};
			close(there[i][1]);
			close(back[i][0]);
		}
		for (;;) {
			poll(fds, NR_CLIENTS, -1);
			for (int i = 0; i < NR_CLIENTS; i++) {
				struct message m;

				if (!(fds[i].revents & POLLIN)) {
					if (fds[i].revents & POLLHUP)
						fds[i].fd = -1;
					continue;
				}
				full_read(fds[i].fd, &m, sizeof(m));
				work(0, &m);
				answer(back[i][1]);
			}
		}
	}
	CLIENTS(i)
	{
		struct message m = {.client = i, .ms = weight * (i + 1)};

		for (int j = 0; j < 2; j++) {
			full_write(there[i][1], &m, sizeof(m));
			get_answer(back[i][0]);
		}
		_exit(0);
	}
	for (int i = 0; i < NR_CLIENTS; i++) {
		close(there[i][0]);
		close(there[i][1]);
		close(back[i][0]);
		close(back[i][1]);
	}
	end_processes();
}

static void socket_pairs(void)
{
	int pairs[NR_CLIENTS][2];

	for (int i = 0; i < NR_CLIENTS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			die("socketpair");
	SERVER(0)
	{
		struct pollfd fds[NR_CLIENTS];

		for (int i = 0; i < NR_CLIENTS; i++) {
			fds[i] = (struct pollfd){.fd = pairs[i][0], .events = POLLIN};
			close(pairs[i][1]);
		}
		for (;;) {
			poll(fds, NR_CLIENTS, -1);
			for (int i = 0; i < NR_CLIENTS; i++) {
				struct message m;

				if (!(fds[i].revents & POLLIN))
					continue;
				if (read(fds[i].fd, &m, sizeof(m)) <= 0) {
					fds[i].fd = -1;
					continue;
				}
				work(0, &m);
				answer(fds[i].fd);
			}
		}
	}
	for (int i = 0; i < NR_CLIENTS; i++)
		close(pairs[i][0]);
	CLIENTS(i)
	{
		nr_requests = 2;
		client_ask(pairs[i][1], i);
		_exit(0);
	}
	for (int i = 0; i < NR_CLIENTS; i++)
		close(pairs[i][1]);
	end_processes();
}

/* Two requests are read, done together, and answered: the time is shared. */
static void batch(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_UNIX, SOCK_STREAM, &address, &length);

	SERVER(0)
	{
		int fds[NR_CLIENTS];
		struct pollfd one;

		for (int i = 0; i < NR_CLIENTS; i++)
			fds[i] = accept(listening, NULL, NULL);
		for (int i = 0; i < NR_CLIENTS; i += 2) {
			struct message a, b;
			long long ns, stolen = 0;

			one = (struct pollfd){.fd = fds[i], .events = POLLIN};
			poll(&one, 1, -1);
			one.fd = fds[i + 1];
			poll(&one, 1, -1);
			full_read(fds[i], &a, sizeof(a));
			full_read(fds[i + 1], &b, sizeof(b));
			ns = spin((a.ms + b.ms) * MS, &stolen);
			board->stolen[0][a.client] += stolen / 2;
			board->stolen[0][b.client] += stolen / 2;
			board->shared[0][a.client] += ns / 2;
			board->shared[0][b.client] += ns / 2;
			board->requests[0][a.client]++;
			board->requests[0][b.client]++;
			answer(fds[i]);
			answer(fds[i + 1]);
		}
		pause();
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);

		client_ask(fd, i);
		_exit(0);
	}
	end_processes();
}

/* ---- several servers ---- */

/* The server asks its client back, through a connection of its own: that is the client's own affair, not the server's. */
static void callback(void)
{
	union address address, back_address[NR_CLIENTS];
	socklen_t length, back_length[NR_CLIENTS];
	int listening = listener(AF_UNIX, SOCK_STREAM, &address, &length), backs[NR_CLIENTS];

	for (int i = 0; i < NR_CLIENTS; i++)
		backs[i] = listener(AF_UNIX, SOCK_STREAM, &back_address[i], &back_length[i]);
	SERVER(0) for (;;)
	{
		int fd = accept(listening, NULL, NULL), back;
		struct message m;

		full_read(fd, &m, sizeof(m));
		work(0, &m);
		back = connected(SOCK_STREAM, &back_address[m.client], back_length[m.client]);
		full_write(back, &m, sizeof(m));
		get_answer(back);
		close(back);
		answer(fd);
		close(fd);
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length), back;
		struct message m = {.client = i, .ms = weight * (i + 1)};

		full_write(fd, &m, sizeof(m));
		back = accept(backs[i], NULL, NULL);
		full_read(back, &m, sizeof(m));
		board->server[2 + i] = -getpid(); /* a server for itself; nobody to be ended */
		work(2 + i, &m);
		answer(back);
		get_answer(fd);
		_exit(0);
	}
	end_processes();
	for (int i = 0; i < NR_CLIENTS; i++)
		fprintf(truth, "%s nothing %d %d 0 0 0\n", pattern, (int)board->client[i], (int)board->server[0]);
}

/* Client - first server - second server: the second works for the client, not for the first. */
static void chain_with(void (*first)(int, const union address *, socklen_t))
{
	union address one, two;
	socklen_t one_length, two_length;
	int first_fd = listener(AF_UNIX, SOCK_STREAM, &one, &one_length),
	    second_fd = listener(AF_INET, SOCK_STREAM, &two, &two_length);

	SERVER(0) first(first_fd, &two, two_length);
	SERVER(1) for (;;)
	{
		int fd = accept(second_fd, NULL, NULL);
		struct message m;

		while (read(fd, &m, sizeof(m)) == sizeof(m)) {
			work(1, &m);
			full_write(fd, &m, sizeof(m));
		}
		close(fd);
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &one, one_length);

		client_ask(fd, i);
		_exit(0);
	}
	end_processes();
	fprintf(truth, "%s nothing %d %d 0 0 0\n", pattern, (int)board->server[1], (int)board->server[0]);
}

static void first_blocking(int listening, const union address *next, socklen_t length)
{
	int down = connected(SOCK_STREAM, next, length);

	for (;;) {
		int fd = accept(listening, NULL, NULL);
		struct message m;

		full_read(fd, &m, sizeof(m));
		m.ms /= 2;
		work(0, &m);
		full_write(down, &m, sizeof(m));
		full_read(down, &m, sizeof(m));
		work(0, &m);
		board->requests[0][m.client]--;
		answer(fd);
		close(fd);
	}
}

/* It takes other requests while the second server works, and goes on with each when its part comes back. */
static void first_event_loop(int listening, const union address *next, socklen_t length)
{
	struct pollfd fds[MAX_FDS] = {{.fd = listening, .events = POLLIN},
				      {.fd = connected(SOCK_STREAM, next, length), .events = POLLIN}};
	int nr = 2, who[NR_CLIENTS];
	struct message m;

	for (;;) {
		poll(fds, (nfds_t)nr, -1);
		for (int i = 2; i < nr; i++) {
			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (read(fds[i].fd, &m, sizeof(m)) <= 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
				continue;
			}
			who[m.client] = fds[i].fd;
			m.ms /= 2;
			work(0, &m);
			full_write(fds[1].fd, &m, sizeof(m));
		}
		if (fds[1].revents & POLLIN) {
			full_read(fds[1].fd, &m, sizeof(m));
			work(0, &m);
			board->requests[0][m.client]--;
			answer(who[m.client]);
		}
		if (fds[0].revents & POLLIN)
			fds[nr++] = (struct pollfd){.fd = accept(listening, NULL, NULL), .events = POLLIN};
	}
}

static void chain(void)
{
	chain_with(first_blocking);
}

static void chain_event_loop(void)
{
	chain_with(first_event_loop);
}

/* Nobody here is a server. */
static void pipeline(void)
{
	int ends[2];
	char data[4096] = "";

	if (pipe(ends))
		die("pipe");
	SERVER(0)
	{
		close(ends[1]);
		while (read(ends[0], data, sizeof(data)) > 0)
			spin(MS, &board->background_stolen);
		_exit(0);
	}
	if (!(board->client[0] = begin_process("client"))) {
		for (int i = 0; i < 10; i++)
			full_write(ends[1], data, sizeof(data));
		_exit(0);
	}
	close(ends[0]);
	close(ends[1]);
	waitpid(board->client[0], NULL, 0);
	waitpid(board->server[0], NULL, 0);
	fprintf(truth, "%s noserver %d 0 0 0 0\n", pattern, (int)board->server[0]);
}

/* ---- connected before the recording ---- */

static void wait_for(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	while (access(path, F_OK))
		nap(5);
}

static void note(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void early(int family, int type)
{
	union address address;
	socklen_t length;
	int listening = listener(family, type, &address, &length);

	SERVER(0) loop_poll(listening);
	CLIENTS(i)
	{
		int fd = connected(type, &address, length);

		__atomic_add_fetch(&board->ready, 1, __ATOMIC_SEQ_CST);
		wait_for("go");
		nap(20);
		nr_requests = 2;
		client_ask(fd, i);
		_exit(0);
	}
	while (__atomic_load_n(&board->ready, __ATOMIC_SEQ_CST) < NR_CLIENTS)
		nap(5);
	nap(50); /* until the server rests */
}

/* ---- main ---- */

static const struct {
	const char *name;
	void (*run)(void);
} patterns[] = {
	{"unix_sequential", unix_sequential},
	{"unix_poll", unix_poll},
	{"unix_epoll", unix_epoll},
	{"unix_select", unix_select},
	{"unix_threads", unix_threads},
	{"unix_datagrams", datagrams},
	{"seqpacket_poll", seqpacket_poll},
	{"tcp4_sequential", tcp4_sequential},
	{"tcp4_epoll", tcp4_epoll},
	{"tcp4_threads", tcp4_threads},
	{"tcp6_poll", tcp6_poll},
	{"tcp4_fork", tcp4_fork},
	{"unix_fork", unix_fork},
	{"fifos", fifos},
	{"pipes", pipes},
	{"socket_pairs", socket_pairs},
	{"pool_condvar", pool_condvar},
	{"pool_busy", pool_busy},
	{"pool_pipe", pool_pipe},
	{"pool_eventfd", pool_eventfd},
	{"batch", batch},
	{"callback", callback},
	{"chain", chain},
	{"chain_event_loop", chain_event_loop},
	{"pipelined", pipelined},
	{"request_in_pieces", request_in_pieces},
	{"reply_in_pieces", reply_in_pieces},
	{"short_connections", short_connections},
	{"background_thread", background_thread},
	{"pipeline", pipeline},
};

static void tell_one(const char *kind, int pid, int server, int client, long long ns)
{
	fprintf(truth, "%s %s %d %d %lld %d %lld\n", pattern, kind, pid, (int)board->client[client], ns,
		board->requests[server][client], board->stolen[server][client]);
}

static void tell(void)
{
	for (int i = 0; i < MAX_SERVERS; i++) {
		int pid = board->server[i] < 0 ? -board->server[i] : board->server[i];

		for (int j = 0; j < NR_CLIENTS; j++) {
			if (board->exact[i][j])
				tell_one("exact", pid, i, j, board->exact[i][j]);
			if (board->shared[i][j])
				tell_one("shared", pid, i, j, board->shared[i][j]);
		}
	}
	if (board->background)
		fprintf(truth, "%s server %d 0 %lld 0 %lld\n", pattern, (int)board->server[0], board->background,
			board->background_stolen);
	fflush(truth);
}

static void run_early(void)
{
	static const struct {
		const char *name;
		int family, type;
	} kinds[] = {{"early_unix", AF_UNIX, SOCK_STREAM},
		     {"early_tcp4", AF_INET, SOCK_STREAM},
		     {"early_seqpacket", AF_UNIX, SOCK_SEQPACKET}};
	struct board *boards[3];

	for (int i = 0; i < 3; i++) {
		boards[i] = board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pattern = kinds[i].name;
		early(kinds[i].family, kinds[i].type);
	}
	note("ready");
	for (int i = 0; i < 3; i++) {
		board = boards[i];
		pattern = kinds[i].name;
		end_processes();
		tell();
	}
	note("finished");
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 4;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: server_patterns TRUTH-FILE SCRATCH-FOLDER run|early|go [PATTERN...]\n");
		return 2;
	}
	scratch = argv[2];
	if (strcmp(argv[3], "go") == 0) {
		note("go");
		wait_for("finished");
		return 0;
	}
	truth = fopen(argv[1], "w");
	if (!truth)
		return 1;
	if (strcmp(argv[3], "early") == 0)
		run_early();
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && strcmp(argv[3], "run") == 0; i++) {
		if (!is_wanted(patterns[i].name, argc, argv))
			continue;
		board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pattern = patterns[i].name;
		patterns[i].run();
		tell();
		munmap(board, sizeof(*board));
	}
	return 0;
}

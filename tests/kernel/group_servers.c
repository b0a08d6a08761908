/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * group_servers.c - servers that read the requests of all clients before they serve any, for
 * test_e2e_random_servers.c
 *
 * 	group_servers TRUTH-FILE VARIANT...
 *
 * Each variant is one server and NR clients; client n asks for n + 1 ms. A line of the truth file:
 * VARIANT SERVER-PID CLIENT-PID NS COLLECTING-NS 0 0, or ... ALL_CLIENTS NS 0 0 0. The time
 * is from the clock of the thread that serves.
 *
 * A thread reads its clock where docs/SERVERS.md has a border: before each call that accepts,
 * receives or waits, and behind each answer. The time between two readings is for one client, or
 * for none, so no ns of the thread is left out: where memory is slow a page fault, or the way back
 * from another thread, takes up to 60 us, and the analysis bills it, too.
 *
 * The time in which a thread has a request and reads another one is for one of them, but no call
 * shows for which one. COLLECTING-NS is the sum of these times in the process.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "group_servers.h"

#define NR     4
#define NONE   -1
#define JOB_US 1000u

enum how { HOW_WRITE, HOW_WRITEV, HOW_SENDMSG, HOW_SENDFILE, HOW_SPLICE };

struct variant {
	void (*serve)(void);
	int family, type;
	enum how how;
	bool polls, reversed, together, pieces; /* answers in two pieces */
	bool read_in_pieces, pipelined, early, dropped;
};

struct board {
	int pids[NR];
	int connected, asked;
};

static struct board *board;
static const struct variant *now;
static unsigned int now_nr;
static int truth_fd, listening, fds[NR], clients[NR]; /* the client of each connection; NONE: not known */
static struct sockaddr_storage addresses[NR];
static long long truth[NR], collecting, all; /* @truth: of each connection; @all: for any of them */

/* The connection that a thread works for since it read its clock last, or NONE. */
static _Thread_local int current = NONE;
static _Thread_local bool collects;
static _Thread_local long long read_ns;

static void die(const char *what)
{
	fprintf(stderr, "group_servers: variant %u: %s: %s\n", now_nr, what, strerror(errno));
	_exit(1);
}

static long long clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void nap(unsigned int us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

/* ---- truth ---- */

/* From here on the thread works for connection @at, or for NONE. */
static void works_for(int at)
{
	long long now_ns = clock_now(), ns = now_ns - read_ns;

	if (current != NONE)
		__atomic_add_fetch(&truth[current], ns, __ATOMIC_RELAXED);
	if (collects)
		__atomic_add_fetch(&collecting, ns, __ATOMIC_RELAXED);
	if (current != NONE || collects)
		__atomic_add_fetch(&all, ns, __ATOMIC_RELAXED);
	read_ns = now_ns;
	current = at;
}

/* The thread learns that it has worked for @at since it read its clock last. */
static void worked_for(int at)
{
	current = at;
}

/* From here on the thread reads requests while it has others, or no longer. */
static void collect(bool on)
{
	works_for(current);
	collects = on;
}

static void rest(void)
{
	works_for(NONE);
	ppoll(NULL, 0, &(struct timespec){.tv_nsec = 100000}, NULL);
}

/*
 * A process has its own truth. It begins with a rest, because the first page faults of a process
 * take 100 us and more, and may come between a reading of the clock and the call behind it.
 */
static void begin_truth(void)
{
	memset(truth, 0, sizeof(truth));
	for (int i = 0; i < NR; i++)
		clients[i] = NONE;
	collecting = all = 0;
	collects = false;
	current = NONE;
	rest();
}

static void write_truth(void)
{
	bool any = false;

	rest();
	for (int i = 0; i < NR; i++) {
		if (!truth[i] || clients[i] == NONE)
			continue;
		dprintf(truth_fd, "%u %d %d %lld %lld 0 0\n", now_nr, getpid(), board->pids[clients[i]], truth[i],
			collecting);
		any = true;
	}
	if (any)
		dprintf(truth_fd, "%u %d %d %lld 0 0 0\n", now_nr, getpid(), ALL_CLIENTS, all);
}

/* ---- the server's parts ---- */

static void work(unsigned int us)
{
	long long end = clock_now() + us * 1000LL;

	while (clock_now() < end)
		for (volatile int i = 0; i < 2000; i++)
			;
}

static void read_one(int at)
{
	int job[4] = {0};
	size_t part = now->read_in_pieces ? 4 : sizeof(job);

	works_for(at);
	for (size_t i = 0; i < sizeof(job); i += part)
		if (recv(fds[at], (char *)job + i, part, MSG_WAITALL) != (ssize_t)part)
			die("a request");
	clients[at] = job[0];
}

static void accept_one(int at)
{
	works_for(at);
	fds[at] = accept(listening, NULL, NULL);
	if (fds[at] < 0)
		die("accept");
	__atomic_add_fetch(&board->connected, 1, __ATOMIC_RELEASE);
}

static void send_out(int fd, const char *bytes, size_t nr)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = nr};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	int file, ends[2];

	switch (now->how) {
	case HOW_WRITEV:
		if (writev(fd, &iov, 1) != (ssize_t)nr)
			die("writev");
		break;
	case HOW_SENDMSG:
		sendmsg(fd, &message, MSG_NOSIGNAL);
		break;
	case HOW_SENDFILE:
		file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		sendfile(fd, file, NULL, nr);
		close(file);
		break;
	case HOW_SPLICE:
		if (pipe(ends) == 0 && write(ends[1], bytes, nr) == (ssize_t)nr)
			splice(ends[0], NULL, fd, NULL, nr, 0);
		close(ends[0]);
		close(ends[1]);
		break;
	default:
		send(fd, bytes, nr, MSG_NOSIGNAL);
	}
}

static void answer(int at)
{
	send_out(fds[at], "answered", 8);
}

static unsigned int job_us(int at)
{
	return (1u + (unsigned int)clients[at]) * JOB_US;
}

static void serve_one(int at)
{
	works_for(at);
	if (now->dropped && clients[at] == 1) {
		close(fds[at]);
		return;
	}
	if (!now->pieces) {
		work(job_us(at));
		return;
	}
	work(job_us(at) / 2);
	send_out(fds[at], "answ", 4);
	work(job_us(at) / 2);
}

static void answer_rest(int at)
{
	works_for(at);
	if (now->dropped && clients[at] == 1)
		return;
	if (now->pieces)
		send_out(fds[at], "ered", 4);
	else
		answer(at);
}

static void serve_all(void)
{
	for (int i = 0; i < NR; i++) {
		int at = now->reversed ? NR - 1 - i : i;

		serve_one(at);
		if (!now->together)
			answer_rest(at);
	}
	for (int i = 0; now->together && i < NR; i++)
		answer_rest(i);
}

static void wait_until_asked(int nr)
{
	while (__atomic_load_n(&board->asked, __ATOMIC_ACQUIRE) < nr)
		nap(300);
}

static void wait_in_epoll(int fd)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll");
	works_for(NONE);
	if (epoll_wait(epoll, &event, 1, 20000) != 1)
		die("epoll");
	close(epoll);
}

static void read_all(void)
{
	for (int i = 0; i < NR; i++)
		accept_one(i);
	for (int i = 0; i < NR; i++) {
		if (now->polls)
			wait_in_epoll(fds[i]);
		read_one(i);
		if (i == 0 || i == NR - 1)
			collect(i == 0);
	}
	if (now->early) /* the first ones are gone when they are served */
		wait_until_asked(NR);
}

/* ---- servers ---- */

static void group(void)
{
	read_all();
	serve_all();
}

/* The requests of each connection in turn, three of each client. */
static void pipelines(void)
{
	for (int i = 0; i < NR; i++)
		accept_one(i);
	wait_until_asked(NR);
	for (int i = 0; i < 3 * NR; i++) {
		read_one(i % NR);
		work(job_us(i % NR) / 2);
		answer(i % NR);
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int queued, taken;

/*
 * Returns a connection with a request, or NR. A thread that was woken may find none, because
 * another one took it: its time until then is for one of the requests that were announced.
 */
static int take_job(void)
{
	int at;

	pthread_mutex_lock(&mutex);
	while (queued == taken && taken < NR) {
		works_for(NONE);
		collects = true;
		pthread_cond_wait(&condition, &mutex);
	}
	at = taken < NR ? taken++ : NR;
	pthread_mutex_unlock(&mutex);
	return at;
}

static void *worker(void *unused)
{
	for (int at; (at = take_job()) < NR;) {
		worked_for(at);
		collect(false);
		serve_one(at);
		answer_rest(at);
		works_for(at);
	}
	rest();
	return NULL;
}

static void workers(int nr)
{
	pthread_t threads[NR];

	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
			die("pthread_create");
	for (int i = 0; i < NR; i++)
		accept_one(i);
	for (int i = 0; i < NR; i++) {
		if (i == 1)
			collect(true);
		read_one(i);
		pthread_mutex_lock(&mutex);
		queued++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	collect(false);
	works_for(NONE);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void one_worker(void)
{
	workers(1);
}

static void several_workers(void)
{
	workers(3);
}

static void *connection(void *data)
{
	int at = (int)(intptr_t)data;

	read_one(at);
	serve_one(at);
	answer_rest(at);
	rest();
	return NULL;
}

static void connection_threads(void)
{
	pthread_t threads[NR];

	for (int i = 0; i < NR; i++) {
		accept_one(i);
		if (pthread_create(&threads[i], NULL, connection, (void *)(intptr_t)i) != 0)
			die("pthread_create");
	}
	works_for(NONE);
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
}

static pid_t begin_process(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(30);
	}
	return pid;
}

static void wait_for_children(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad |= status;
	if (bad)
		die("a child");
}

static void forked_child(int at)
{
	begin_truth();
	connection((void *)(intptr_t)at);
	write_truth();
	_exit(0);
}

/* The parent accepts, a child serves. */
static void forked(void)
{
	for (int i = 0; i < NR; i++) {
		accept_one(i);
		if (!begin_process("child"))
			forked_child(i);
		close(fds[i]);
	}
	wait_for_children();
}

static void preforked_child(void)
{
	begin_truth();
	for (int i = 0; i < NR / 2; i++) {
		accept_one(i);
		connection((void *)(intptr_t)i);
	}
	write_truth();
	_exit(0);
}

static void preforked(void)
{
	for (int i = 0; i < 2; i++)
		if (!begin_process("child"))
			preforked_child();
	wait_for_children();
}

static void helper(int fd, bool answers)
{
	begin_truth();
	if (read(-1, NULL, 0) == 0) /* the page with its code */
		die("helper");
	works_for(NONE);
	for (int at, nr = 0; nr < NR && read(fd, &at, sizeof(at)) == sizeof(at); nr++) {
		worked_for(at);
		if (read(fd, &clients[at], sizeof(clients[at])) != sizeof(clients[at]))
			die("helper");
		serve_one(at);
		if (answers)
			answer_rest(at);
		else if (write(fd, &at, sizeof(at)) != sizeof(at))
			die("helper");
		works_for(NONE);
	}
	write_truth();
	_exit(0);
}

/* A process of its own serves: it returns its result, or has the connections and answers. */
static void helped(bool answers)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		die("socketpair");
	for (int i = 0; i < NR; i++)
		accept_one(i);
	rest();
	if (!begin_process("helper"))
		helper(ends[1], answers);
	rest();
	for (int i = 0; i < NR; i++) {
		int job[2] = {i};

		if (answers && i == 1)
			collect(true);
		read_one(i);
		job[1] = clients[i];
		if (write(ends[0], job, sizeof(job)) != sizeof(job) ||
		    (!answers && read(ends[0], job, sizeof(job[0])) != sizeof(job[0])))
			die("helper");
		if (!answers)
			answer(i);
	}
	collect(false);
	rest();
	wait_for_children();
}

static void helper_returns(void)
{
	helped(false);
}

static void helper_answers(void)
{
	helped(true);
}

static void receive_one(int at)
{
	socklen_t bytes = sizeof(addresses[at]);
	int job[4];

	works_for(at);
	if (recvfrom(listening, job, sizeof(job), 0, (struct sockaddr *)&addresses[at], &bytes) != sizeof(job))
		die("recvfrom");
	clients[at] = job[0];
}

static void datagrams(void)
{
	__atomic_add_fetch(&board->connected, NR, __ATOMIC_RELEASE);
	for (int i = 0; i < NR; i++) {
		receive_one(i);
		if (i == 0 || i == NR - 1)
			collect(i == 0);
	}
	for (int i = 0; i < NR; i++) {
		int at = now->reversed ? NR - 1 - i : i;

		works_for(at);
		work(job_us(at));
		sendto(listening, "answered", 8, 0, (const struct sockaddr *)&addresses[at],
		       now->family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_un));
	}
}

/* ---- the clients ---- */

static struct sockaddr_storage address;
static socklen_t address_bytes;

static int open_socket(int nr)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&address;
	struct sockaddr_in *in = (struct sockaddr_in *)&address;

	memset(&address, 0, sizeof(address));
	address_bytes = now->family == AF_INET ? sizeof(*in) : sizeof(*un);
	if (now->family == AF_UNIX) {
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path + 1, sizeof(un->sun_path) - 1, "group-%d-%u-%d", getpid(), now_nr, nr);
	} else {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return socket(now->family, now->type, 0);
}

static void client(int nr, struct sockaddr_storage to)
{
	int job[4] = {nr}, rounds = now->serve == pipelines ? 3 : 1, fd = open_socket(nr);
	char answered[8];

	/* a client that an answer wakes does not take the CPU before the server reads its clock */
	if (sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}) < 0)
		die("sched_setscheduler");
	if (now->type == SOCK_DGRAM && bind(fd, (struct sockaddr *)&address, address_bytes) < 0)
		die("bind");
	nap((unsigned int)nr * 300); /* the order of the requests */
	if (connect(fd, (struct sockaddr *)&to, address_bytes) < 0)
		die("connect");
	if (now->serve != preforked && now->serve != forked)
		while (__atomic_load_n(&board->connected, __ATOMIC_ACQUIRE) < NR)
			nap(200);
	for (int i = 0; i < rounds; i++)
		for (size_t done = 0, part = now->read_in_pieces ? 8 : 16; done < sizeof(job); done += part) {
			if (send(fd, (char *)job + done, part, MSG_NOSIGNAL) != (ssize_t)part)
				die("send");
			if (now->read_in_pieces)
				nap(500);
		}
	if (now->early && nr == 1) {
		nap(2000);
		close(fd);
	}
	__atomic_add_fetch(&board->asked, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < rounds && !(now->early && nr == 1); i++)
		if (recv(fd, answered, sizeof(answered), MSG_WAITALL) != sizeof(answered) && !(now->dropped && nr == 1))
			die("an answer");
	_exit(0);
}

static void server(void)
{
	begin_truth();
	now->serve();
	write_truth();
	_exit(0);
}

#define VARIANT(function, f, t, ...)                                     \
	{                                                                \
		.serve = function, .family = f, .type = t, ##__VA_ARGS__ \
	}
#define UNIX(function, ...) VARIANT(function, AF_UNIX, SOCK_STREAM, ##__VA_ARGS__)
#define TCP(function, ...)  VARIANT(function, AF_INET, SOCK_STREAM, ##__VA_ARGS__)

static const struct variant variants[] = {
	UNIX(group, .polls = true),
	TCP(group, .polls = true),
	UNIX(group),
	TCP(group),
	VARIANT(group, AF_UNIX, SOCK_SEQPACKET),
	UNIX(group, .reversed = true),
	TCP(group, .polls = true, .reversed = true),
	UNIX(group, .how = HOW_WRITEV),
	UNIX(group, .how = HOW_SENDMSG, .polls = true),
	TCP(group, .how = HOW_SENDFILE),
	TCP(group, .how = HOW_SPLICE),
	UNIX(group, .read_in_pieces = true),
	UNIX(pipelines),
	TCP(pipelines),
	VARIANT(datagrams, AF_UNIX, SOCK_DGRAM),
	VARIANT(datagrams, AF_UNIX, SOCK_DGRAM, .reversed = true),
	VARIANT(datagrams, AF_INET, SOCK_DGRAM),
	VARIANT(datagrams, AF_INET, SOCK_DGRAM, .reversed = true),
	UNIX(one_worker),
	TCP(one_worker),
	UNIX(several_workers),
	UNIX(helper_returns),
	UNIX(helper_answers),
	/* from here on a bill includes a worker's begin or end, or is an estimate */
	UNIX(connection_threads),
	TCP(connection_threads),
	UNIX(forked),
	TCP(forked),
	UNIX(preforked),
	TCP(preforked),
	UNIX(group, .pieces = true),
	TCP(group, .pieces = true, .polls = true),
	UNIX(group, .polls = true, .together = true),
	TCP(group, .together = true),
	UNIX(group, .early = true),
	TCP(group, .early = true),
	UNIX(group, .dropped = true),
	TCP(group, .dropped = true, .polls = true),
};
_Static_assert(sizeof(variants) / sizeof(variants[0]) == GROUP_VARIANTS, "group_servers.h counts them");

static void execute(void)
{
	struct sockaddr_storage to;

	memset(board, 0, sizeof(*board));
	listening = open_socket(NR);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, address_bytes) < 0 ||
	    getsockname(listening, (struct sockaddr *)&address, &address_bytes) < 0 ||
	    (now->type != SOCK_DGRAM && listen(listening, NR) < 0))
		die("bind");
	to = address;
	for (int i = 0; i < NR; i++) {
		pid_t pid = begin_process("client");

		if (!pid)
			client(i, to);
		board->pids[i] = pid;
	}
	if (!begin_process("server"))
		server();
	wait_for_children();
	close(listening);
}

int main(int argc, char **argv)
{
	truth_fd = argc >= 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644) : -1;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signal(SIGPIPE, SIG_IGN);
	if (truth_fd < 0 || board == MAP_FAILED)
		die("usage: group_servers TRUTH-FILE VARIANT...");
	for (int i = 2; i < argc; i++) {
		now_nr = (unsigned int)atoi(argv[i]) % GROUP_VARIANTS;
		now = &variants[now_nr];
		execute();
	}
	return 0;
}

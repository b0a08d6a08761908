/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * random_servers.c - random servers (tests/random_server.h) as real programs, for
 * test_e2e_random_servers.c
 *
 * 	random_servers TRUTH-FILE FIRST-SEED COUNT
 *
 * Each plan is executed by a server process with threads, and by a process for each client. The
 * truth is from the clock of each thread (CLOCK_THREAD_CPUTIME_ID), read after each step of it: the
 * time since the last one is for the client of the step, or for none, and no ns is left out. A line
 * of the truth file: SEED SERVER-PID CLIENT-PID NS 0 OWN-NS READING-NS. OWN-NS is what the process
 * spent on steps that take no time in the plan: locks, notes, and looks for requests that are not
 * there. They are for none, but the bill of a client with an open request has them. READING-NS is
 * the part of NS in steps that read: a request is open from its first byte on, and the program does
 * not know when the kernel had that.
 */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "io_ring.h"
#include "random_server.h"

#define JOB_US	   1000u
#define NOTE_WORDS 16 /* between two notes: 64 bytes */

/* Shared by the processes of a plan. */
struct board {
	struct plan plan;
	long long truth[PLAN_ACTORS][PLAN_CLIENTS]; /* by plan_process() */
	long long reading[PLAN_ACTORS][PLAN_CLIENTS], own[PLAN_ACTORS];
	int pids[PLAN_ACTORS];
	int go[PLAN_CLIENTS];	    /* the client may connect, */
	int accepted[PLAN_CLIENTS]; /* and go on: the server knows no client that leaves before that */
	int sent;		    /* datagrams, by all clients */
	struct sockaddr_in server, clients[PLAN_CLIENTS]; /* their sockets */
	/* what a helper needs that has replaced its program */
	uint64_t seed;
	int connections[PLAN_CLIENTS], helper_fds[PLAN_HELPERS][2][2];
};

static struct board *board;
static int board_fd;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct sockaddr_in inet_address = {.sin_family = AF_INET};
static socklen_t address_bytes;
static int listening, listening_inet, connections[PLAN_CLIENTS];
static uint32_t notes[256 * NOTE_WORDS], lock_turn, lock_waiters;
static int note_fds[256][2];
/* of each helper: the ends that read and write, of the thread and of the helper */
static int helper_fds[PLAN_HELPERS][2][2];
static uint64_t seed_now;

static void die(const char *what)
{
	fprintf(stderr, "random_servers: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static long long clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void nap(uint32_t us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

static void spin(uint32_t us)
{
	long long end = clock_now(CLOCK_THREAD_CPUTIME_ID) + us * 1000LL;

	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 2000; i++)
			;
}

/* ---- the ring of a thread ---- */

static bool by_ring(const struct step *step)
{
	return board->plan.ring && step->actor < PLAN_THREADS;
}

/* Returns the result of an operation. */
static int operate(struct io_uring_sqe operation)
{
	static _Thread_local struct ring ring;
	static _Thread_local bool is_made;
	struct io_uring_cqe result;

	if (!is_made && !ring_make(&ring, 0))
		die("io_uring_setup");
	is_made = true;
	ring_put(&ring, operation);
	do
		ring_enter(&ring, 1);
	while (!ring_take(&ring, &result));
	return result.res;
}

static int ring_moves(uint8_t opcode, int fd, char *bytes, size_t nr)
{
	return operate((struct io_uring_sqe){
		.opcode = opcode, .fd = fd, .addr = (uintptr_t)bytes, .len = (uint32_t)nr, .msg_flags = MSG_NOSIGNAL});
}

/* ---- the server's steps ---- */

/* One of some calls that do the same: each plan uses others. */
static unsigned int variety(int fd)
{
	return (unsigned int)(seed_now * 7 + (unsigned int)fd);
}

static void wait_in_epoll(int fd)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 || epoll_wait(epoll, &event, 1, 20000) != 1)
		die("epoll");
	close(epoll);
}

static void wait_in_poll(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	fd_set set;

	switch (variety(fd) % 3) {
	case 0:
		if (poll(&pollfd, 1, 20000) != 1)
			die("poll");
		break;
	case 1:
		FD_ZERO(&set);
		FD_SET(fd, &set);
		if (select(fd + 1, &set, NULL, NULL, &(struct timeval){.tv_sec = 20}) != 1)
			die("select");
		break;
	default:
		wait_in_epoll(fd);
	}
}

static ssize_t receive(int fd, char *bytes, size_t nr)
{
	struct iovec iov = {.iov_base = bytes, .iov_len = nr};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	switch (variety(fd) % 4) {
	case 0:
		return recv(fd, bytes, nr, MSG_WAITALL);
	case 1:
		return readv(fd, &iov, 1);
	case 2:
		return recvmsg(fd, &message, MSG_WAITALL);
	default:
		return read(fd, bytes, nr);
	}
}

static void send_answer(const struct step *step, char *bytes, size_t nr)
{
	int fd = connections[step->client];
	struct iovec iov = {.iov_base = bytes, .iov_len = nr};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t ret;

	if (board->plan.udp) {
		message.msg_name = &board->clients[step->client];
		message.msg_namelen = sizeof(board->clients[step->client]);
		if (variety(fd) % 2 ? sendmsg(fd, &message, 0) < 0
				    : sendto(fd, bytes, nr, 0, message.msg_name, message.msg_namelen) < 0)
			die("sendto");
		return;
	}
	if (by_ring(step)) {
		ret = ring_moves(IORING_OP_SEND, fd, bytes, nr);
		if (ret < 0 && ret != -EPIPE && ret != -ECONNRESET)
			die("an answer through a ring");
		return;
	}
	switch (variety(fd) % 3) {
	case 0:
		ret = send(fd, bytes, nr, MSG_NOSIGNAL);
		break;
	case 1:
		ret = sendmsg(fd, &message, MSG_NOSIGNAL);
		break;
	default:
		ret = writev(fd, &iov, 1);
	}
	if (ret < 0 && errno != EPIPE && errno != ECONNRESET)
		die("send");
}

static void read_request(const struct step *step)
{
	ssize_t piece = 16 / (1 + (step->kind == STEP_READ ? step->note : 0)), wanted;
	socklen_t bytes = sizeof(struct sockaddr_in);
	char message[16];

	if (board->plan.udp) {
		if (recvfrom(connections[step->client], message, 16, 0, &board->clients[step->client], &bytes) != 16 ||
		    message[0] != step->client)
			die("a datagram");
		return;
	}
	if (by_ring(step) && step->kind == STEP_READ) {
		if (ring_moves(IORING_OP_RECV, connections[step->client], message, 16) != 16)
			die("a request through a ring");
		return;
	}
	for (ssize_t done = 0; done < 16; done += wanted) {
		wanted = 16 - done < 2 * piece ? 16 - done : piece;
		if (receive(connections[step->client], message, (size_t)wanted) != wanted)
			die("a request");
	}
}

static uint32_t *note_word(uint32_t note)
{
	return &notes[note * NOTE_WORDS];
}

static bool is_posted(uint32_t note)
{
	return __atomic_load_n(note_word(note), __ATOMIC_ACQUIRE);
}

static void post(const struct step *step)
{
	__atomic_store_n(note_word(step->note), 1, __ATOMIC_RELEASE);
	if (step->kind == STEP_WAKE && board->plan.means == MEANS_FUTEX)
		syscall(SYS_futex, note_word(step->note), FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	else if (step->kind == STEP_WAKE && write(note_fds[step->note][1], &(uint64_t){1}, 8) != 8)
		die("a note");
}

static void wait_for(const struct step *step)
{
	uint64_t value;

	if (step->kind == STEP_WAIT && board->plan.means != MEANS_FUTEX) {
		if (read(note_fds[step->note][0], &value, sizeof(value)) != sizeof(value))
			die("a note");
		return;
	}
	while (!is_posted(step->note)) {
		if (step->kind == STEP_WAIT)
			syscall(SYS_futex, note_word(step->note), FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		else
			nap(200);
	}
}

static void take_lock(uint32_t turn)
{
	uint32_t now;

	__atomic_add_fetch(&lock_waiters, 1, __ATOMIC_SEQ_CST);
	while ((now = __atomic_load_n(&lock_turn, __ATOMIC_SEQ_CST)) != turn)
		syscall(SYS_futex, &lock_turn, FUTEX_WAIT_BITSET_PRIVATE, now, NULL, NULL, ~0u);
	__atomic_sub_fetch(&lock_waiters, 1, __ATOMIC_SEQ_CST);
}

static void pass_lock(void)
{
	__atomic_add_fetch(&lock_turn, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&lock_waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &lock_turn, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* ---- its processes ---- */

static void execute_actor(uint32_t actor);

static pid_t begin_process(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
	}
	return pid;
}

static bool is_helper(uint32_t actor)
{
	return actor >= PLAN_HELPER;
}

/* The process becomes another program: as_helper() goes on. */
static void exec_helper(uint32_t actor)
{
	char number[16], fd[16];

	board->seed = seed_now;
	memcpy(board->connections, connections, sizeof(connections));
	memcpy(board->helper_fds, helper_fds, sizeof(helper_fds));
	snprintf(number, sizeof(number), "%u", actor);
	snprintf(fd, sizeof(fd), "%d", board_fd);
	execl("/proc/self/exe", "helper", "--helper", number, fd, (char *)NULL);
	die("exec");
}

static int as_helper(uint32_t actor, int fd)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		die("mmap");
	seed_now = board->seed;
	memcpy(connections, board->connections, sizeof(connections));
	memcpy(helper_fds, board->helper_fds, sizeof(helper_fds));
	spin(board->plan.startup_us / 2);
	execute_actor(actor);
	return 0;
}

static void begin_actor(uint32_t actor)
{
	if (begin_process(actor < PLAN_THREADS ? "server" : "helper"))
		return;
	board->pids[actor] = getpid();
	spin(board->plan.startup_us / 2);
	if (is_helper(actor) && board->plan.execs)
		exec_helper(actor);
	execute_actor(actor);
	_exit(0);
}

static int helper_fd(const struct step *step, bool writes)
{
	uint32_t helper = is_helper(step->actor) ? step->actor - PLAN_HELPER : step->actor;

	return helper_fds[helper][is_helper(step->actor)][writes];
}

static void give(const struct step *step)
{
	char message[16] = {0};

	if (write(helper_fd(step, true), message, sizeof(message)) != sizeof(message))
		die("a helper");
}

static void take(const struct step *step)
{
	int fd = helper_fd(step, false);
	char message[16];

	if (step->kind == STEP_POLL_GET)
		wait_in_poll(fd);
	if (read(fd, message, sizeof(message)) != sizeof(message))
		die("a helper");
}

static void make_channels(void)
{
	const struct plan *plan = &board->plan;
	int pipes[2][2], pair[2];

	for (uint32_t i = 0; i < plan->nr_notes && plan->means != MEANS_FUTEX; i++) {
		if (plan->means == MEANS_EVENTFD)
			note_fds[i][0] = note_fds[i][1] = eventfd(0, 0);
		else if (pipe(note_fds[i]) < 0)
			die("pipe");
	}
	for (uint32_t h = 0; h < plan->nr_helpers; h++) {
		if (plan->by_pipes && (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0))
			die("pipe");
		if (!plan->by_pipes && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			die("socketpair");
		helper_fds[h][0][0] = plan->by_pipes ? pipes[1][0] : pair[0];
		helper_fds[h][0][1] = plan->by_pipes ? pipes[0][1] : pair[0];
		helper_fds[h][1][0] = plan->by_pipes ? pipes[0][0] : pair[1];
		helper_fds[h][1][1] = plan->by_pipes ? pipes[1][1] : pair[1];
	}
}

static int accept_one(const struct step *step)
{
	int fd = board->plan.tcp ? listening_inet : listening;

	return by_ring(step) ? operate((struct io_uring_sqe){.opcode = IORING_OP_ACCEPT, .fd = fd})
			     : accept(fd, NULL, NULL);
}

static void serve(const struct step *step)
{
	char message[16] = {0};

	switch (step->kind) {
	case STEP_ACCEPT:
		__atomic_store_n(&board->go[step->client], 1, __ATOMIC_RELEASE);
		if (!board->plan.udp)
			connections[step->client] = accept_one(step);
		__atomic_store_n(&board->accepted[step->client], 1, __ATOMIC_RELEASE);
		break;
	case STEP_POLL_READ:
		wait_in_poll(connections[step->client]);
		/* fall through */
	case STEP_READ:
		read_request(step);
		break;
	case STEP_TRY_READ:
		recv(connections[step->client], message, sizeof(message), MSG_DONTWAIT | MSG_PEEK);
		break;
	case STEP_SLEEP:
		nap(step->us);
		break;
	case STEP_TIMER:
		poll(NULL, 0, 1 + (int)step->us / 1000);
		break;
	case STEP_WORK:
		spin(step->us);
		break;
	case STEP_ANSWER:
		send_answer(step, message, 8);
		break;
	case STEP_FORK:
		begin_actor(step->note);
		break;
	case STEP_ASK:
	case STEP_GIVE:
		give(step);
		break;
	case STEP_GET:
	case STEP_POLL_GET:
	case STEP_TAKE:
		take(step);
		break;
	case STEP_DROP:
		close(connections[step->client]);
		break;
	case STEP_WAKE:
	case STEP_WRITE_MEMORY:
		post(step);
		break;
	case STEP_LOCK:
		take_lock(step->note);
		break;
	case STEP_UNLOCK:
		pass_lock();
		break;
	default:
		wait_for(step);
	}
}

static bool takes_no_time(const struct step *step)
{
	switch (step->kind) {
	case STEP_TRY_READ:
	case STEP_WAKE:
	case STEP_WAIT:
	case STEP_WRITE_MEMORY:
	case STEP_LOOK:
	case STEP_LOCK:
	case STEP_UNLOCK:
		return true;
	default:
		return false;
	}
}

static bool reads(const struct step *step)
{
	return step->kind == STEP_READ || step->kind == STEP_POLL_READ || step->kind == STEP_GET ||
	       step->kind == STEP_POLL_GET || step->kind == STEP_TAKE;
}

static bool is_for_client(const struct step *step)
{
	return step->client != NO_CLIENT && step->kind != STEP_ACCEPT && step->kind != STEP_TRY_READ;
}

static void execute_actor(uint32_t actor)
{
	uint32_t process = plan_process(&board->plan, actor);
	long long begin = clock_now(CLOCK_THREAD_CPUTIME_ID), end;

	for (uint32_t i = 0; i < board->plan.nr; i++) {
		const struct step *step = &board->plan.steps[i];

		if (step->actor != actor)
			continue;
		serve(step);
		end = clock_now(CLOCK_THREAD_CPUTIME_ID);
		if (is_for_client(step))
			__atomic_add_fetch(&board->truth[process][step->client], end - begin, __ATOMIC_RELAXED);
		if (is_for_client(step) && reads(step))
			__atomic_add_fetch(&board->reading[process][step->client], end - begin, __ATOMIC_RELAXED);
		if (takes_no_time(step))
			__atomic_add_fetch(&board->own[process], end - begin, __ATOMIC_RELAXED);
		begin = end;
	}
}

static void *server_thread(void *data)
{
	execute_actor((uint32_t)(uintptr_t)data);
	return NULL;
}

/* One socket, which stands for all connections. */
static void make_socket(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(any);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&board->server, &bytes) < 0)
		die("bind");
	for (uint32_t i = 0; i < PLAN_CLIENTS; i++)
		connections[i] = fd;
}

static void server(void)
{
	uint32_t nr = board->plan.forked ? 1 : board->plan.nr_threads;
	pthread_t threads[PLAN_THREADS];
	int status, failed = 0;

	board->pids[0] = getpid();
	make_channels();
	if (board->plan.udp)
		make_socket();
	for (uint32_t i = 1; i < nr; i++)
		if (pthread_create(&threads[i], NULL, server_thread, (void *)(uintptr_t)i) != 0)
			die("pthread_create");
	execute_actor(0);
	for (uint32_t i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
	while (wait(&status) > 0)
		failed |= status;
	_exit(failed != 0);
}

/* ---- a client's steps ---- */

static int connect_to_server(void)
{
	int fd = board->plan.udp ? socket(AF_INET, SOCK_DGRAM, 0)
				 : socket(board->plan.tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);

	if (board->plan.udp)
		return fd;
	if (board->plan.tcp ? connect(fd, (const struct sockaddr *)&inet_address, sizeof(inet_address)) < 0
			    : connect(fd, (const struct sockaddr *)&address, address_bytes) < 0)
		die("connect");
	return fd;
}

/* Datagrams reach the server in the order of the plan. */
static void send_request(int fd, const struct step *step)
{
	char message[16] = {(char)step->client};

	if (!board->plan.udp) {
		send(fd, message, sizeof(message), MSG_NOSIGNAL);
		return;
	}
	while (__atomic_load_n(&board->sent, __ATOMIC_ACQUIRE) != step->note)
		nap(50);
	if (sendto(fd, message, sizeof(message), 0, &board->server, sizeof(board->server)) != sizeof(message))
		die("sendto");
	__atomic_add_fetch(&board->sent, 1, __ATOMIC_RELEASE);
}

static void client(uint32_t actor)
{
	char message[16] = {0};
	int fd = -1;

	for (uint32_t i = 0; i < board->plan.nr; i++) {
		const struct step *step = &board->plan.steps[i];

		if (step->actor != actor)
			continue;
		switch (step->kind) {
		case STEP_CONNECT:
			while (!__atomic_load_n(&board->go[step->client], __ATOMIC_ACQUIRE))
				nap(300);
			fd = connect_to_server();
			while (!__atomic_load_n(&board->accepted[step->client], __ATOMIC_ACQUIRE))
				nap(300);
			break;
		case STEP_SEND:
			send_request(fd, step);
			break;
		case STEP_RECEIVE:
			if (recv(fd, message, 8, MSG_WAITALL) != 8)
				die("an answer");
			break;
		default:
			close(fd);
		}
	}
	_exit(0);
}

/* ---- plans ---- */

static void execute(uint64_t seed, FILE *truth)
{
	pid_t server_pid, clients[PLAN_CLIENTS];
	bool failed = false;
	int status;

	memset(board, 0, sizeof(*board));
	memset(notes, 0, sizeof(notes));
	lock_turn = 0;
	seed_now = seed;
	plan_make(&board->plan, seed, JOB_US);
	server_pid = begin_process("server");
	if (!server_pid)
		server();
	for (uint32_t i = 0; i < board->plan.nr_clients; i++)
		if (!(clients[i] = begin_process("client")))
			client(PLAN_THREADS + i);
	while (wait(&status) > 0)
		failed |= status != 0;
	if (failed) {
		fprintf(stderr, "random_servers: the processes of seed %llu failed\n", (unsigned long long)seed);
		exit(1);
	}
	board->pids[0] = server_pid;
	for (uint32_t actor = 0; actor < PLAN_ACTORS; actor++)
		for (uint32_t i = 0; i < board->plan.nr_clients; i++)
			if (board->truth[actor][i] && plan_has_server(&board->plan))
				fprintf(truth, "%llu %d %d %lld 0 %lld %lld\n", (unsigned long long)seed,
					board->pids[actor], clients[i], board->truth[actor][i], board->own[actor],
					board->reading[actor][i]);
}

static int listen_at_inet(void)
{
	socklen_t bytes = sizeof(inet_address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (const struct sockaddr *)&inet_address, bytes) < 0 || listen(fd, PLAN_CLIENTS) < 0 ||
	    getsockname(fd, (struct sockaddr *)&inet_address, &bytes) < 0)
		die("bind");
	return fd;
}

int main(int argc, char **argv)
{
	uint64_t first = argc == 4 ? strtoull(argv[2], NULL, 0) : 0, nr = argc == 4 ? strtoull(argv[3], NULL, 0) : 0;
	FILE *truth;

	if (argc == 4 && strcmp(argv[1], "--helper") == 0)
		return as_helper((uint32_t)first, (int)nr);
	truth = nr ? fopen(argv[1], "w") : NULL;
	if (!truth)
		die("usage: random_servers TRUTH-FILE FIRST-SEED COUNT");
	board_fd = memfd_create("board", 0); /* open in programs that it becomes */
	if (board_fd < 0 || ftruncate(board_fd, sizeof(*board)) < 0)
		die("memfd_create");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, board_fd, 0);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "random-servers-%d", getpid());
	address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1));
	if (board == MAP_FAILED || bind(listening, (const struct sockaddr *)&address, address_bytes) < 0 ||
	    listen(listening, PLAN_CLIENTS) < 0)
		die("bind");
	listening_inet = listen_at_inet();
	signal(SIGPIPE, SIG_IGN);
	for (uint64_t seed = first; seed < first + nr; seed++)
		execute(seed, truth);
	return fclose(truth);
}

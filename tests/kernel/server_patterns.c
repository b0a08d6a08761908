/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * server_patterns.c - servers of all shapes that measure for which client they work, for
 * test_e2e_servers.c.
 *
 * 	server_patterns TRUTH-FILE SCRATCH-FOLDER run [PATTERN...]
 * 		all patterns, one after the other
 * 	server_patterns TRUTH-FILE SCRATCH-FOLDER early
 * 		connect first, then wait for "go" in the scratch folder
 *
 * A request names its client and the CPU time that it costs. server_patterns.h says how the time is
 * measured. The sums go to the truth file as lines:
 *
 * 	PATTERN exact|shared SERVER-PID CLIENT-PID NS REQUESTS  must be billed
 * 	PATTERN server|noserver PID 0 NS 0                      listed with NS of background, or not
 * 	PATTERN nothing SERVER-PID CLIENT-PID 0 0 0             must not be billed
 * 	PATTERN skipped 0 0 0 0                                 not on this kernel
 * 	PATTERN end PID 0 NS 0                                  its end (<= NS) is in a bill, too
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "server_patterns.h"

struct board *board;
FILE *truth;
const char *scratch, *pattern;
int nr_requests = 1;
int weight = 20;

void die(const char *what)
{
	fprintf(stderr, "server_patterns: %s: %s: %s\n", pattern, what, strerror(errno));
	_exit(1);
}

void nap(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* ---- the client of the current time ---- */

static __thread struct meter *now_for; /* NULL: background */
static __thread struct meter message_meter;
static __thread long long counted;   /* reading of the thread's clock */
static __thread int counter = -1;    /* descriptor of its clock */
static __thread long long uncounted; /* time before it was opened */
bool with_workers;
static struct meter meters[MAX_FDS];

static void counter_open(void)
{
	struct perf_event_attr attributes = {.size = sizeof(attributes),
					     .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .inherit = with_workers};

	uncounted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counter < 0)
		die("perf_event_open");
}

long long thread_spent(void)
{
	uint64_t ns;

	if (counter < 0)
		counter_open();
	if (read(counter, &ns, sizeof(ns)) != sizeof(ns))
		die("read of the thread's clock");
	return uncounted + (long long)ns;
}

static void add(long long *sum, long long ns)
{
	__atomic_add_fetch(sum, ns, __ATOMIC_RELAXED);
}

static void meter_add(struct meter *meter, long long ns)
{
	if (!__atomic_load_n(&meter->known, __ATOMIC_ACQUIRE)) {
		add(&meter->pending, ns);
	} else if (meter->with) {
		add(&board->shared[meter->server][meter->client], ns / 2);
		add(&board->shared[meter->server][meter->with - 1], ns / 2);
	} else {
		add(&board->exact[meter->server][meter->client], ns);
	}
}

static void cut(void)
{
	long long spent = thread_spent();

	if (now_for)
		meter_add(now_for, spent - counted);
	counted = spent;
}

void at_rest(void)
{
	cut();
	now_for = NULL;
}

void charge_to(struct meter *meter)
{
	if (now_for)
		cut();
	now_for = meter;
}

struct meter *the_meter(int fd)
{
	if (fd < 0 || fd >= MAX_FDS)
		die("more connections than expected");
	return &meters[fd];
}

void charge_to_message(void)
{
	message_meter = (struct meter){0};
	charge_to(&message_meter);
}

void bind_meter(int server, int client)
{
	now_for->server = server;
	now_for->client = client;
	__atomic_store_n(&now_for->known, true, __ATOMIC_RELEASE);
	add(&board->exact[server][client], __atomic_exchange_n(&now_for->pending, 0, __ATOMIC_RELAXED));
}

int take_connection(int listening)
{
	int fd;

	at_rest();
	fd = accept(listening, NULL, NULL);
	if (fd < 0)
		return fd;
	*the_meter(fd) = (struct meter){0};
	charge_to(the_meter(fd));
	return fd;
}

ssize_t take(int fd, void *data, size_t bytes)
{
	ssize_t ret;

	at_rest();
	ret = read(fd, data, bytes);
	if (ret > 0)
		charge_to(the_meter(fd));
	return ret;
}

void take_all(int fd, void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t ret = take(fd, (char *)data + done, bytes - done);

		if (ret <= 0)
			die("read");
		done += (size_t)ret;
	}
}

void spin(long long ns)
{
	long long begin = thread_spent();

	while (thread_spent() < begin + ns)
		for (volatile int i = 0; i < 50000; i++)
			;
}

void work(int server, const struct message *m)
{
	bind_meter(server, m->client);
	spin(m->ms * MS);
	cut();
	__atomic_add_fetch(&board->requests[server][m->client], 1, __ATOMIC_RELAXED);
}

/* ---- messages ---- */

void full_read(int fd, void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t ret = read(fd, (char *)data + done, bytes - done);

		if (ret <= 0)
			die("read");
		done += (size_t)ret;
	}
}

void full_write(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		die("write");
}

void answer(int fd)
{
	char reply[32] = "done";

	full_write(fd, reply, sizeof(reply));
}

void get_answer(int fd)
{
	char reply[32];

	full_read(fd, reply, sizeof(reply));
}

/* ---- addresses ---- */

static socklen_t unix_address(union address *address, const char *name)
{
	memset(address, 0, sizeof(*address));
	address->un.sun_family = AF_UNIX;
	snprintf(address->un.sun_path, sizeof(address->un.sun_path), "%s/%s", scratch, name);
	return sizeof(address->un);
}

int listener(int family, int type, union address *address, socklen_t *length)
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

int connected(int type, const union address *address, socklen_t length)
{
	int fd = socket(address->any.sa_family, type, 0), one = 1;

	if (fd < 0 || connect(fd, &address->any, length))
		die("connect");
	if (address->any.sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

void client_ask(int fd, int client)
{
	struct message m = {.client = client, .ms = weight * (client + 1)};

	for (int i = 0; i < nr_requests; i++) {
		full_write(fd, &m, sizeof(m));
		get_answer(fd);
	}
}

/* ---- processes ---- */

pid_t begin_process(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_NAME, name);
		if (counter >= 0)
			close(counter);
		counter = -1;
		counted = 0; /* its clock begins again */
	}
	return pid;
}

void end_processes(void)
{
	for (int i = 0; i < NR_CLIENTS; i++)
		if (board->client[i] > 0)
			waitpid(board->client[i], NULL, 0);
	for (int i = 0; i < 2000 && __atomic_load_n(&board->ended, __ATOMIC_ACQUIRE) < board->children; i++)
		nap(1); /* until the server's children are dead, too */
	nap(10);	/* until the servers are idle: then all time is counted */
	for (int i = 0; i < MAX_SERVERS; i++)
		if (board->server[i] > 0 && waitpid(board->server[i], NULL, WNOHANG) == 0) {
			/* a child of this process, and alive */
			kill(board->server[i], SIGTERM);
			waitpid(board->server[i], NULL, 0);
		}
}

void clients_of_pipes(int there[NR_CLIENTS][2], int back[NR_CLIENTS][2])
{
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
	{"unix_datagrams", unix_datagrams},
	{"udp4", udp4},
	{"udp6", udp6},
	{"shared_memory_futex", shared_memory_futex},
	{"shared_memory_eventfd", shared_memory_eventfd},
	{"seqpacket_poll", seqpacket_poll},
	{"tcp4_sequential", tcp4_sequential},
	{"tcp4_epoll", tcp4_epoll},
	{"tcp4_threads", tcp4_threads},
	{"interpreter_threads", interpreter_threads},
	{"tcp6_poll", tcp6_poll},
	{"tcp4_fork", tcp4_fork},
	{"unix_fork", unix_fork},
	{"two_networks", two_networks},
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
	{"ring_tcp4", ring_tcp4},
	{"ring_unix", ring_unix},
	{"ring_submits", ring_submits},
	{"ring_worker", ring_worker},
	{"ring_polled", ring_polled},
	{"ring_poll", ring_poll},
	{"ring_file", ring_file},
	{"ring_multishot", ring_multishot},
	{"ring_batch", ring_batch},
	{"ring_chain", ring_chain},
	{"ring_pipes", ring_pipes},
};

static void write_bill(const char *kind, int pid, int server, int client, long long ns)
{
	fprintf(truth, "%s %s %d %d %lld %d\n", pattern, kind, pid, (int)board->client[client], ns,
		board->requests[server][client]);
}

static void write_truth(void)
{
	for (int i = 0; i < MAX_SERVERS; i++) {
		int pid = board->server[i] < 0 ? -board->server[i] : board->server[i];

		for (int j = 0; j < NR_CLIENTS; j++) {
			if (board->exact[i][j])
				write_bill("exact", pid, i, j, board->exact[i][j]);
			if (board->shared[i][j])
				write_bill("shared", pid, i, j, board->shared[i][j]);
		}
	}
	for (int i = 0; i < MAX_SERVERS; i++)
		if (board->end[i])
			fprintf(truth, "%s end %d 0 %lld 0\n", pattern, (int)board->server[i], board->end[i]);
	if (board->background)
		fprintf(truth, "%s server %d 0 %lld 0\n", pattern, (int)board->server[0], board->background);
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
		boards[i] = board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					 0);
		pattern = kinds[i].name;
		early(kinds[i].family, kinds[i].type);
	}
	note("ready");
	for (int i = 0; i < 3; i++) {
		board = boards[i];
		pattern = kinds[i].name;
		end_processes();
		write_truth();
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
		write_truth();
		munmap(board, sizeof(*board));
	}
	return 0;
}

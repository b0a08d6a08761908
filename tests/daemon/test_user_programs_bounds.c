/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_programs_bounds.c - the number of one user's programs, memories and connections is
 * bounded. The daemon reports what it refuses, and counts it as lost.
 */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "clients_missing.h"
#include "message.h"
#include "ring_reader.h"
#include "user_bench.h"
#include "user_find.h"
#include "user_limits.h"

static uint64_t stopped_clock(void)
{
	return 1000000000;
}

/** struct daemon_of_programs - the daemon's part for programs, with a socket of its own */
struct daemon_of_programs {
	struct bench *bench;
	struct clients_options options;
	struct clients *clients;
	char path[64];
};

static void daemon_begin(struct daemon_of_programs *daemon, const struct budget_limits *limits)
{
	struct clock_sample start = clock_take_sample();
	struct trace_error error;

	snprintf(daemon->path, sizeof(daemon->path), "%s", getenv("TRACER_SOCKET"));
	daemon->bench = bench_new(NULL);
	daemon->options = (struct clients_options){.selection = &daemon->bench->selection, .limits = limits};
	daemon->clients = clients_new(&daemon->options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(daemon->clients);
	clients_begin(daemon->clients, daemon->bench->recording->drain, daemon->bench->writer, &start);
}

static void daemon_free(struct daemon_of_programs *daemon)
{
	char lock[80];

	clients_free(daemon->clients);
	bench_free(daemon->bench);
	snprintf(lock, sizeof(lock), "%s.lock", daemon->path);
	unlink(lock);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		abort();
	return fd;
}

static void offer(const char *path, int memory_fd)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct iovec vector = {(void *)&offer, sizeof(offer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int connection = connect_to(path);

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	if (sendmsg(connection, &message, MSG_NOSIGNAL) != (ssize_t)sizeof(offer))
		abort();
	close(connection);
}

/*
 * This process offers @nr memories. Returns how many are recorded and refused.
 * @ret_lost: minimum of the lost events
 */
static struct clients_status offer_some(const struct budget_limits *limits, int nr, uint64_t *ret_lost)
{
	struct fake_program *programs = calloc((size_t)nr, sizeof(*programs));
	struct daemon_of_programs daemon;
	struct clients_status status;
	uint64_t claimed;

	daemon_begin(&daemon, limits);
	for (int i = 0; i < nr; i++) {
		programs[i] = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		offer(daemon.path, programs[i].fd);
		clients_dispatch(daemon.clients);
	}
	clients_get_status(daemon.clients, &status);
	clients_switch_off(daemon.clients);
	*ret_lost = clients_close_counts(daemon.clients, &claimed);
	CU_ASSERT_EQUAL(claimed, 0); /* the daemon itself counts those that it does not take */
	daemon_free(&daemon);
	for (int i = 0; i < nr; i++)
		fake_program_free(&programs[i]);
	free(programs);
	return status;
}

/* The lines of clients_close_counts() on stderr; to be freed. */
static char *words_of_close(struct clients *clients, uint64_t *ret_lost, uint64_t *ret_claimed)
{
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	char *text = calloc(1, 4096);

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	*ret_lost = clients_close_counts(clients, ret_claimed);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	CU_ASSERT(pread(fd, text, 4095, 0) >= 0);
	close(saved);
	close(fd);
	return text;
}

/*
 * Both are lost events, but the second number is what an untrusted program wrote into its own
 * memory.
 */
static void programs_not_taken_and_events_that_programs_count_are_told_apart(void)
{
	struct fake_program programs[6];
	struct budget_limits limits = no_limits();
	struct daemon_of_programs daemon;
	uint64_t lost, claimed;
	char *text;

	daemon_begin(&daemon, &limits);
	for (int i = 0; i < 6; i++) { /* a process has four */
		programs[i] = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		offer(daemon.path, programs[i].fd);
		clients_dispatch(daemon.clients);
	}
	programs[0].memory->unready = 1234;
	clients_switch_off(daemon.clients);
	text = words_of_close(daemon.clients, &lost, &claimed);
	CU_ASSERT_EQUAL(claimed, 1234);
	CU_ASSERT_EQUAL(lost, 1236);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "the events of 2 programs are lost: the daemon could not take"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "programs: 1,234 events lost, as they or their children counted"));
	free(text);
	text = words_of_close(daemon.clients, &lost, &claimed);
	CU_ASSERT_EQUAL(lost + claimed, 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	daemon_free(&daemon);
	for (int i = 0; i < 6; i++)
		fake_program_free(&programs[i]);
}

static void a_process_has_few_memories(void)
{
	struct budget_limits limits = no_limits();
	struct clients_status status;
	uint64_t lost;

	status = offer_some(&limits, 7, &lost);
	CU_ASSERT_EQUAL(status.programs, 4);
	CU_ASSERT_EQUAL(status.refused, 3);
	CU_ASSERT_TRUE(lost >= 3);
	limits.trusts_none = false;
	status = offer_some(&limits, 7, &lost);
	CU_ASSERT_EQUAL(status.programs, 7);
	CU_ASSERT_EQUAL(lost, 0);
}

static void programs_of_a_user_are_bounded(void)
{
	static const struct {
		enum budget_amount amount;
		uint64_t most;
	} bounds[] = {{BUDGET_PROGRAMS, 2},
		      {BUDGET_ADDRESS,
		       2 * (4096 + 4096 + FAKE_REGISTRY + FAKE_RINGS * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS))}};

	for (size_t i = 0; i < 2; i++) {
		struct budget_limits limits = no_limits();
		struct clients_status status;
		uint64_t lost;

		limits.per_uid[bounds[i].amount] = bounds[i].most;
		status = offer_some(&limits, 4, &lost);
		CU_ASSERT_EQUAL(status.programs, 2);
		CU_ASSERT_EQUAL(status.refused, 2);
		CU_ASSERT_TRUE(lost >= 2);
	}
}

static void offers_of_a_user_are_bounded(void)
{
	struct budget_limits limits = no_limits();
	struct clients_status status;
	uint64_t lost;

	limits.burst[BUDGET_OFFERS] = limits.per_s[BUDGET_OFFERS] = 2;
	status = offer_some(&limits, 4, &lost);
	CU_ASSERT_EQUAL(status.programs, 2);
	CU_ASSERT_EQUAL(status.refused, 2);
	CU_ASSERT_TRUE(lost >= 2);
}

static void add_text(void *context, const char *text)
{
	strcat(strcat(context, text), "\n");
}

/* Children offer a memory each and die at once; their parent keeps the memories mapped. */
static void dead_programs_of_a_user_are_bounded(void)
{
	struct budget_limits limits = no_limits();
	struct fake_program programs[5];
	struct daemon_of_programs daemon;
	struct clients_status status;
	char text[1000] = "";

	limits.per_uid[BUDGET_DEAD] = 2;
	daemon_begin(&daemon, &limits);
	for (int i = 0; i < 5; i++) {
		pid_t child;

		programs[i] = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		child = fork();
		if (child == 0) {
			offer(daemon.path, programs[i].fd);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		for (int round = 0; round < 3; round++) {
			clients_dispatch(daemon.clients);
			drain_run(daemon.bench->recording->drain);
			clients_look(daemon.clients);
		}
	}
	clients_get_status(daemon.clients, &status);
	CU_ASSERT_EQUAL(status.ever, 5);
	CU_ASSERT_EQUAL(status.programs, 0);
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "children of 3 ended programs"));
	daemon_free(&daemon);
	for (int i = 0; i < 5; i++)
		fake_program_free(&programs[i]);
}

static void connections_of_a_user_are_bounded(void)
{
	struct budget_limits limits = no_limits();
	struct daemon_of_programs daemon;
	int connections[6], open = 0;
	char text[1000] = "";

	limits.burst[BUDGET_ACCEPTS] = limits.per_s[BUDGET_ACCEPTS] = 4;
	limits.per_uid[BUDGET_CONNECTIONS] = 3;
	daemon_begin(&daemon, &limits);
	for (int i = 0; i < 6; i++)
		connections[i] = connect_to(daemon.path);
	clients_dispatch(daemon.clients);
	for (int i = 0; i < 6; i++) {
		struct pollfd hung_up = {.fd = connections[i], .events = POLLIN};

		open += poll(&hung_up, 1, 0) == 0;
		close(connections[i]);
	}
	CU_ASSERT_EQUAL(open, 3);
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "programs of 2 connections"));
	daemon_free(&daemon);
}

/** struct find - the number of memories of @pid that a scan of /proc found */
struct find {
	pid_t pid;
	unsigned int seen;
};

static void count_found(void *context, int fd, struct user_identity *identity)
{
	struct find *find = context;

	find->seen += identity->pid == find->pid;
	close(identity->pid_fd);
	close(fd);
}

static void few_memories_of_a_process_are_found(void)
{
	struct fake_program programs[20];
	struct find find = {0};

	for (int i = 0; i < 20; i++)
		programs[i] = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	find.pid = fork();
	if (find.pid == 0)
		for (;;)
			pause();
	for (int text = 0; text < 2; text++) {
		find.seen = 0;
		user_find_use_text(text);
		user_find_programs(count_found, &find);
		CU_ASSERT_TRUE(find.seen >= 1 && find.seen <= 8);
	}
	user_find_use_text(false);
	kill(find.pid, SIGKILL);
	waitpid(find.pid, NULL, 0);
	for (int i = 0; i < 20; i++)
		fake_program_free(&programs[i]);
}

static const struct unit_case cases[] = {
	CASE(programs_not_taken_and_events_that_programs_count_are_told_apart),
	CASE(a_process_has_few_memories),
	CASE(programs_of_a_user_are_bounded),
	CASE(offers_of_a_user_are_bounded),
	CASE(dead_programs_of_a_user_are_bounded),
	CASE(connections_of_a_user_are_bounded),
	CASE(few_memories_of_a_process_are_found),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	/* A socket of its own: no daemon that runs on this machine finds the programs. */
	snprintf(path, sizeof(path), "/tmp/trace-bounds-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	budget_clock = stopped_clock;
	message_init("test_user_programs_bounds", true);
	return unit_main("bounds of how many programs there are", cases, argc, argv);
}

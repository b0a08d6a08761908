/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_offers.c - how programs and the daemon find each other: programs that send their offer,
 * that are slow, silent, too many, or older than the daemon. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/reader.h>

#include "clients_missing.h"
#include "file_opener.h"
#include "message.h"
#include "offer_child.h"
#include "progress.h"
#include "recording.h"
#include "session.h"
#include "status_json.h"
#include "user_bench.h"
#include "user_find.h"
#include "user_socket.h"

/* ---- offers ---- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int connection, const void *text, size_t bytes, int memory_fd)
{
	struct iovec vector = {(void *)text, bytes};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	CU_ASSERT_EQUAL(sendmsg(connection, &message, MSG_NOSIGNAL), (ssize_t)bytes);
}

/*
 * The first program connects, is accepted, and sends its offer only after @nr silent connections
 * have followed. The daemon handles those first. Then another program connects.
 */
static void offer_among_silent_ones(int nr, size_t expected)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct fake_program first = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS),
			    last = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct clock_sample start = clock_take_sample();
	struct bench *bench = bench_new(NULL);
	struct clients_options options = {.selection = &bench->selection};
	struct clients_status status;
	struct trace_error error;
	int *others = calloc((size_t)nr, sizeof(*others)), slow, quick;
	struct clients *clients;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/trace-offers-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	clients = clients_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(clients);
	clients_begin(clients, bench->recording->drain, bench->writer, &start);
	slow = connect_to(path);
	clients_dispatch(clients);
	for (int i = 0; i < nr; i++)
		others[i] = connect_to(path);
	say(slow, &offer, sizeof(offer), first.fd);
	quick = connect_to(path);
	say(quick, &offer, sizeof(offer), last.fd);
	for (int i = 0; i < nr / 32 + 2; i++)
		clients_dispatch(clients);
	clients_get_status(clients, &status);
	CU_ASSERT_EQUAL(status.programs, expected);
	CU_ASSERT_EQUAL(status.refused, 0);
	for (int i = 0; i < nr; i++)
		close(others[i]);
	close(slow);
	close(quick);
	clients_free(clients);
	snprintf(path, sizeof(path), "/tmp/trace-offers-%d.lock", (int)getpid());
	unlink(path);
	free(others);
	bench_free(bench);
	fake_program_free(&first);
	fake_program_free(&last);
}

/* A complete set of clients with a socket of its own, as a daemon has it. */
struct daemon_of_programs {
	struct bench *bench;
	struct clients_options options;
	struct clients *clients;
	char path[64];
};

static void daemon_begin(struct daemon_of_programs *daemon, const char *name)
{
	struct clock_sample start = clock_take_sample();
	struct trace_error error;

	snprintf(daemon->path, sizeof(daemon->path), "/tmp/trace-%s-%d", name, (int)getpid());
	setenv("TRACER_SOCKET", daemon->path, 1);
	daemon->bench = bench_new(NULL);
	daemon->options = (struct clients_options){.selection = &daemon->bench->selection};
	daemon->clients = clients_new(&daemon->options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(daemon->clients);
	clients_begin(daemon->clients, daemon->bench->recording->drain, daemon->bench->writer, &start);
}

static size_t daemon_programs(const struct daemon_of_programs *daemon)
{
	struct clients_status status;

	clients_get_status(daemon->clients, &status);
	return status.programs;
}

static void daemon_free(struct daemon_of_programs *daemon)
{
	char lock[80];

	clients_free(daemon->clients);
	bench_free(daemon->bench);
	snprintf(lock, sizeof(lock), "%s.lock", daemon->path);
	unlink(lock);
}

/* A program that could not send its offer lives on in another process, which the daemon finds in
 * /proc. */
static pid_t live_elsewhere(const struct fake_program *program)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	(void)program; /* mapped there too */
	return child;
}

/**
 * struct find - a search for the memory of inode @ino
 * @seen: how often it was found, in process @pid
 * @others: how many other files were found
 */
struct find {
	ino_t ino;
	pid_t pid;
	unsigned int seen;
	unsigned int others;
};

static void count_found(void *context, int fd, struct user_identity *identity)
{
	struct find *find = context;
	struct stat status;

	if (identity->pid == find->pid && fstat(fd, &status) == 0) {
		find->seen += status.st_ino == find->ino;
		find->others += status.st_ino != find->ino;
	}
	close(identity->pid_fd);
	close(fd);
}

/* A child maps our memory, and files that only resemble it: mapped privately, not from the
 * beginning, with another name, or with a longer name. */
static void the_memory_is_found_among_all_mappings_of_a_process(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct find find = {0};
	struct stat status;
	char name[USER_MEMORY_NAME_BYTES + 8];
	int fds[3];
	pid_t child;

	user_memory_name(getenv("TRACER_SOCKET"), name);
	fds[0] = memfd_create(name, MFD_CLOEXEC);
	fds[1] = memfd_create("somebody", MFD_CLOEXEC);
	strcat(name, "-not");
	fds[2] = memfd_create(name, MFD_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(ftruncate(fds[i], 8192), 0);
		CU_ASSERT(mmap(NULL, 4096, PROT_READ, i ? MAP_SHARED : MAP_PRIVATE, fds[i], 0) != MAP_FAILED);
		CU_ASSERT(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds[i], 4096) != MAP_FAILED);
	}
	CU_ASSERT_EQUAL(fstat(program.fd, &status), 0);
	child = live_elsewhere(&program);
	for (int text = 0; text < 2; text++) {
		find = (struct find){.ino = status.st_ino, .pid = child};
		user_find_use_text(text);
		user_find_programs(count_found, &find);
		CU_ASSERT_EQUAL(find.seen, 1);
		CU_ASSERT_EQUAL(find.others, (unsigned int)text); /* the text does not show which mapping is private */
		CU_ASSERT_TRUE(user_find_maps(child, status.st_ino));
		CU_ASSERT_FALSE(user_find_maps(child, status.st_ino + 100000));
	}
	user_find_use_text(false);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CU_ASSERT_FALSE(user_find_maps(child, status.st_ino));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	fake_program_free(&program);
}

/*
 * Report the next end before the pending message, as Linux may: see daemon/seqpacket.h. A child
 * receives, so both share it.
 */
static bool *ends_early;

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
/* visible: without LTO the linker wraps the reference of libtrace.so, too */
__attribute__((visibility("default"))) ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	if (!ends_early || !*ends_early || !(flags & MSG_DONTWAIT))
		return __real_recvmsg(fd, message, flags);
	*ends_early = false;
	message->msg_controllen = 0;
	return 0;
}

/* A short-lived program connected, sent its offer, and closed while the daemon looked. */
static void an_offer_from_a_closed_connection_is_read(void)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct daemon_of_programs daemon;
	int connection;

	offer_child_close();
	ends_early = mmap(NULL, sizeof(*ends_early), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(ends_early != MAP_FAILED);
	daemon_begin(&daemon, "hasty");
	connection = connect_to(daemon.path);
	say(connection, &offer, sizeof(offer), program.fd);
	close(connection);
	*ends_early = true;
	clients_dispatch(daemon.clients);
	CU_ASSERT_FALSE(*ends_early);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 1);
	daemon_free(&daemon);
	fake_program_free(&program);
}

static void a_message_of_no_bytes_is_no_end(void)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct daemon_of_programs daemon;
	int connection;

	daemon_begin(&daemon, "empty");
	connection = connect_to(daemon.path);
	CU_ASSERT_EQUAL(send(connection, "", 0, MSG_NOSIGNAL), 0);
	for (int i = 0; i < 3; i++)
		clients_dispatch(daemon.clients);
	say(connection, &offer, sizeof(offer), program.fd);
	close(connection);
	for (int i = 0; i < 3; i++)
		clients_dispatch(daemon.clients);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 1);
	daemon_free(&daemon);
	fake_program_free(&program);
}

static int nr_descriptors(void)
{
	DIR *files = opendir("/proc/self/fd");
	int nr = 0;

	while (readdir(files))
		nr++;
	closedir(files);
	return nr;
}

/* Any process may connect and send descriptors: the daemon keeps none of them. */
static void a_message_of_no_bytes_leaves_no_descriptors_behind(void)
{
	struct daemon_of_programs daemon;
	struct clients_status status;
	int connection, before = 0;

	daemon_begin(&daemon, "nothing");
	for (int i = 0; i < 10; i++) {
		if (i == 1)
			before = nr_descriptors(); /* with the child's */
		connection = connect_to(daemon.path);
		say(connection, "", 0, STDERR_FILENO);
		say(connection, "", 0, STDERR_FILENO);
		for (int j = 0; j < 3; j++)
			clients_dispatch(daemon.clients);
		close(connection);
	}
	CU_ASSERT_EQUAL(nr_descriptors(), before);
	clients_get_status(daemon.clients, &status);
	CU_ASSERT_EQUAL(status.refused, 10);
	daemon_free(&daemon);
}

static void a_program_without_a_read_offer_is_found_at_the_end(void)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct daemon_of_programs daemon;
	struct clients_status status;
	struct fake_program program;
	int connection;
	pid_t child;

	daemon_begin(&daemon, "unheard");
	connection = connect_to(daemon.path);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	child = live_elsewhere(&program);
	for (int i = 0; i < 3; i++)
		clients_dispatch(daemon.clients);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 0);
	/* A second message can only say that its program has no memory. */
	clients_get_status(daemon.clients, &status);
	CU_ASSERT_EQUAL(status.refused, 0);
	CU_ASSERT_EQUAL(send(connection, &offer, sizeof(offer), MSG_NOSIGNAL), (ssize_t)sizeof(offer));
	for (int i = 0; i < 3; i++)
		clients_dispatch(daemon.clients);
	clients_get_status(daemon.clients, &status);
	CU_ASSERT_EQUAL(status.refused, 1);
	close(connection);
	clients_switch_off(daemon.clients);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

static void add_text(void *context, const char *text)
{
	strcat(strcat(context, text), "\n");
}

/*
 * Another daemon, in a process of its own, has the socket and the program until it ends. The events
 * not recorded until then are reported. Without @keeps_socket the second daemon can listen
 * meanwhile, but does not get the program.
 */
static void take_over(bool keeps_socket, const char *missing, const char *missing_at_end)
{
	struct daemon_of_programs first, second;
	struct fake_program program;
	struct clients_status status;
	char text[1000] = "", lock[80];
	int pipe_fds[2];
	pid_t owner, other;
	char byte;

	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fds), 0);
	snprintf(first.path, sizeof(first.path), "/tmp/trace-over-%d", (int)getpid());
	setenv("TRACER_SOCKET", first.path, 1);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	owner = live_elsewhere(&program);
	other = fork();
	if (other == 0) {
		struct clock_sample start = clock_take_sample();
		struct trace_error error;

		first.bench = bench_new(NULL);
		first.options = (struct clients_options){.selection = &first.bench->selection};
		first.clients = clients_new(&first.options, &error);
		clients_begin(first.clients, first.bench->recording->drain, first.bench->writer, &start);
		byte = (char)daemon_programs(&first);
		if (write(pipe_fds[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	CU_ASSERT_EQUAL(read(pipe_fds[0], &byte, 1), 1);
	CU_ASSERT_EQUAL(byte, 1);
	snprintf(lock, sizeof(lock), "%s.lock", first.path);
	if (!keeps_socket)
		unlink(lock);
	daemon_begin(&second, "over");
	clients_dispatch(second.clients);
	CU_ASSERT_EQUAL(daemon_programs(&second), 0);
	clients_get_status(second.clients, &status);
	CU_ASSERT_EQUAL(status.cannot_join, keeps_socket);
	clients_describe_missing(second.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, missing);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	for (int i = 0; i < 100 && daemon_programs(&second) == 0; i++, usleep(1000))
		clients_dispatch(second.clients);
	CU_ASSERT_EQUAL(daemon_programs(&second), 1);
	close(connect_to(second.path)); /* it listens now */
	clients_get_status(second.clients, &status);
	CU_ASSERT_FALSE(status.cannot_join);
	*text = '\0';
	clients_describe_missing(second.clients, add_text, text);
	CU_ASSERT_EQUAL(fnmatch(missing_at_end, text, 0), 0);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	daemon_free(&second);
	fake_program_free(&program);
}

static void a_second_daemon_takes_over_when_the_first_ends(void)
{
	take_over(true, "events of programs: they could not join, another daemon recorded them\n",
		  "events of programs in the first * s: they could not join, another daemon recorded them\n");
	take_over(false, "events of some programs: another daemon recorded them\n",
		  "events of some programs: another daemon recorded them\n");
}

/* Missing programs are reported only if the user asked for events of programs. */
static void programs_that_cannot_join_are_reported_only_if_selected(void)
{
	struct daemon_of_programs daemon;
	struct selection wanted = {0};
	struct clients *none;
	char text[1000] = "";
	struct trace_error error;
	struct clients_options options;

	daemon_begin(&daemon, "asked");
	CU_ASSERT_EQUAL(select_add(&daemon.bench->selection, "sched,-user", &error), 0);
	options = (struct clients_options){.selection = &daemon.bench->selection};
	none = clients_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(none);
	clients_describe_missing(none, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	clients_select(none, &wanted);
	clients_describe_missing(none, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "events of programs: they could not join, another daemon recorded them\n");
	clients_free(none);
	daemon_free(&daemon);
}

static void a_late_offer_is_read(void)
{
	offer_among_silent_ones(200, 2);
}

static void silent_connections_do_not_block_others(void)
{
	offer_among_silent_ones(1500, 2);
}

static bool is_awake(const struct daemon_of_programs *daemon, int timeout_ms)
{
	return poll(&(struct pollfd){.fd = clients_fd(daemon->clients), .events = POLLIN}, 1, timeout_ms) > 0;
}

/* A connection waits at the socket that the daemon cannot accept: it must not keep the daemon
 * awake. */
static void without_descriptors_the_daemon_pauses_and_accepts_later(void)
{
	static const struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct rlimit limit, before;
	struct daemon_of_programs daemon;
	struct clients_status status;
	int connection, fds[1000], nr = 0;

	daemon_begin(&daemon, "none-left");
	while (is_awake(&daemon, 0)) {
		clients_dispatch(daemon.clients);
		clients_look(daemon.clients);
	}
	getrlimit(RLIMIT_NOFILE, &before);
	connection = connect_to(daemon.path);
	limit = before;
	limit.rlim_cur = (rlim_t)connection + 20;
	setrlimit(RLIMIT_NOFILE, &limit);
	while (nr < 1000 && (fds[nr] = dup(connection)) >= 0)
		nr++;
	clients_dispatch(daemon.clients);
	clients_look(daemon.clients);
	CU_ASSERT_FALSE(is_awake(&daemon, 0));
	CU_ASSERT_TRUE(is_awake(&daemon, 2000)); /* it tries again */
	clients_dispatch(daemon.clients);
	while (nr > 0)
		close(fds[--nr]);
	setrlimit(RLIMIT_NOFILE, &before);
	/* without its memory */
	CU_ASSERT_EQUAL(send(connection, &offer, sizeof(offer), MSG_NOSIGNAL), (ssize_t)sizeof(offer));
	for (int i = 0; i < 10; i++) {
		clients_look(daemon.clients);
		is_awake(&daemon, 200);
		clients_dispatch(daemon.clients);
	}
	clients_get_status(daemon.clients, &status);
	CU_ASSERT_EQUAL(status.refused, 1);
	close(connection);
	daemon_free(&daemon);
}

static void events_counted_in_a_memory_without_rings_are_reported(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);

	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	program.memory->unready = 3;
	user_program_close_counts(bench->program);
	CU_ASSERT_EQUAL(user_program_late(bench->program), 3);
	CU_ASSERT_EQUAL(user_program_late(bench->program), 0);
	program.memory->unready += 7; /* counts of a child that still runs */
	CU_ASSERT_EQUAL(user_program_late(bench->program), 7);
	bench_free(bench);
	fake_program_free(&program);
}

static bool never_interrupted(void *context)
{
	return false;
}

/* No recorder can check what a program counts: every number of lost events tells it apart. */
static void tells_claimed(struct recording *recording, const struct recording_status *status)
{
	struct session session = {.recording = recording, .output.path = "t.trace"};
	char text[4096];

	CU_ASSERT_EQUAL(status->claimed, 5);
	progress_print_counts(status, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " recorded, 5 lost (5 of them counted by programs only), 0 missed"));
	progress_print_summary(status, "t.trace", 1, text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " 5 lost (5 of them counted by programs only)"));
	CU_ASSERT_EQUAL(status_json(&session, text, sizeof(text)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"lost\":5,\"claimed\":5,"));
}

/* Neither the program nor the kernel has a ring here: the trace itself must say that events are
 * missing. */
static void events_that_no_ring_can_count_are_in_the_trace(void)
{
	char path[80], trace_path[] = "/tmp/test_user_offers.XXXXXX";
	struct selection selection = {0};
	struct clients_options clients_options = {.selection = &selection};
	struct recording_options options = {.level = 1};
	struct recording_status status;
	struct recording *recording;
	struct fake_program program;
	struct trace_error error;
	struct trace *trace;
	int fd = mkstemp(trace_path);
	pid_t child;

	snprintf(path, sizeof(path), "/tmp/trace-noring-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	child = live_elsewhere(&program);
	options.clients = clients_new(&clients_options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(options.clients);
	recording = recording_begin(NULL, fd, &options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	program.memory->unready += 5;
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &error), 0);
	recording_get_status(recording, &status);
	CU_ASSERT_EQUAL(status.lost, 5);
	tells_claimed(recording, &status);
	recording_free(recording);
	clients_free(options.clients);
	trace = trace_open(trace_path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 5);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fake_program_free(&program);
	close(fd);
	unlink(trace_path);
	strcat(path, ".lock");
	unlink(path);
}

/* Patterns that matched nothing are reported. Patterns that matched, that exclude, or that mean all
 * events are not. */
static void patterns_that_match_nothing_are_reported(void)
{
	struct daemon_of_programs daemon;
	struct fake_program program;
	char text[1000] = "";
	struct trace_error error;
	pid_t child;

	daemon_begin(&daemon, "lack");
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	program.memory->unregistered = 3;
	CU_ASSERT_EQUAL(select_add(&daemon.bench->selection, "shop:p*,x::,shop:nothing,-shop:debug*,shop:p?id", &error),
			0);
	clients_select(daemon.clients, &daemon.bench->selection);
	child = live_elsewhere(&program);
	clients_switch_off(daemon.clients); /* it finds the program */
	CU_ASSERT_EQUAL(clients_describe_unmatched(daemon.clients, add_text, text), 2);
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "x::: no program had such an event\nshop:nothing: no program had such an event\n"
				     "3 tracepoints of programs: a program can have at most 16383 event types\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* All ids are in use: the program's event is not recorded, and the trace says that there was
 * one. */
static void events_that_the_trace_cannot_describe_are_reported(void)
{
	static struct trace_field field = {.name = "n", .offset = 4, .bytes = 4, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.fields = &field,
					.nr_fields = 1,
					.fixed_bytes = 8,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.source = "",
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID};
	struct daemon_of_programs daemon;
	struct fake_program program;
	char text[1000] = "", name[32];
	uint16_t id, last = 0;
	pid_t child;

	daemon_begin(&daemon, "full");
	type.name = name;
	for (int i = 0; snprintf(name, sizeof(name), "many:%d", i) &&
			trace_writer_event_type(daemon.bench->writer, &type, &id, NULL) == 0;
	     i++)
		last = id;
	CU_ASSERT_EQUAL(last, 65535);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	child = live_elsewhere(&program);
	clients_switch_off(daemon.clients); /* it finds the program */
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "1 tracepoints of programs, whose events count as lost: programs have more event "
				     "types than a trace can hold: 65280\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* When as many programs connect at once as can wait, others may have been refused. */
static void a_full_accept_queue_is_reported(void)
{
	struct daemon_of_programs daemon;
	size_t most = user_socket_backlog();
	char text[1000] = "";

	daemon_begin(&daemon, "crowd");
	for (int round = 0; round < 2; round++) { /* one less than fit, then as many as fit */
		for (size_t i = 0; i < most + (size_t)round; i++)
			close(connect_to(daemon.path));
		for (size_t i = 0; i < most / 16; i++)
			clients_dispatch(daemon.clients);
		clients_describe_missing(daemon.clients, add_text, text);
		CU_ASSERT_EQUAL(strstr(text, "were killed before the daemon found them") != NULL, round == 1);
	}
	daemon_free(&daemon);
}

static void on_unexpected_program(void *context, int fd, struct user_identity *identity)
{
	close(fd);
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
}

/* On a busy machine the child that looks at processes may be late, and the search goes on. */
static int search_in_time(void)
{
	int result = 0;

	for (int tries = 0; tries < 5; tries++) {
		uint64_t late = files_unanswered();

		result = user_find_programs(on_unexpected_program, NULL);
		if (files_unanswered() == late)
			break;
	}
	return result;
}

/* A program runs already, and no descriptor is free to search for it: the daemon reports that it
 * does not know. As soon as a descriptor is free it finds the program. */
static void a_failed_search_for_programs_is_reported(void)
{
	struct daemon_of_programs daemon;
	struct fake_program program;
	struct rlimit limit, before;
	char text[1000] = "";
	int next;
	pid_t child;

	daemon_begin(&daemon, "unseen");
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	child = live_elsewhere(&program);
	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	next = dup(STDERR_FILENO);
	close(next);
	for (int left = 0; left < 3; left++) {
		/* none for the list of processes, for the list of mappings, for the list of open
		 * files */
		limit.rlim_cur = (rlim_t)(next + left);
		setrlimit(RLIMIT_NOFILE, &limit);
		CU_ASSERT_EQUAL(search_in_time(), -EMFILE);
		setrlimit(RLIMIT_NOFILE, &before);
	}
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	limit.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &limit);
	clients_switch_off(daemon.clients);
	setrlimit(RLIMIT_NOFILE, &before);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 0);
	clients_describe_missing(daemon.clients, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "programs that already ran: the search for them failed (Too many open files), so "
				     "some may be missing\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* strerror(ETIME) is "Timer expired", which names no cause. */
static void a_search_that_took_too_long_names_its_cause(void)
{
	CU_ASSERT_STRING_EQUAL(user_find_error_text(-ETIME), "the processes of one user take too long to examine");
	CU_ASSERT_STRING_EQUAL(user_find_error_text(-EMFILE), "Too many open files");
}

static const struct unit_case cases[] = {
	{"without_descriptors_the_daemon_pauses_and_accepts_later",
	 without_descriptors_the_daemon_pauses_and_accepts_later},
	{"events_that_no_ring_can_count_are_in_the_trace", events_that_no_ring_can_count_are_in_the_trace},
	{"patterns_that_match_nothing_are_reported", patterns_that_match_nothing_are_reported},
	{"events_that_the_trace_cannot_describe_are_reported", events_that_the_trace_cannot_describe_are_reported},
	{"a_full_accept_queue_is_reported", a_full_accept_queue_is_reported},
	{"a_failed_search_for_programs_is_reported", a_failed_search_for_programs_is_reported},
	{"a_search_that_took_too_long_names_its_cause", a_search_that_took_too_long_names_its_cause},
	{"the_memory_is_found_among_all_mappings_of_a_process", the_memory_is_found_among_all_mappings_of_a_process},
	{"an_offer_from_a_closed_connection_is_read", an_offer_from_a_closed_connection_is_read},
	{"a_message_of_no_bytes_is_no_end", a_message_of_no_bytes_is_no_end},
	{"a_message_of_no_bytes_leaves_no_descriptors_behind", a_message_of_no_bytes_leaves_no_descriptors_behind},
	{"a_program_without_a_read_offer_is_found_at_the_end", a_program_without_a_read_offer_is_found_at_the_end},
	{"a_second_daemon_takes_over_when_the_first_ends", a_second_daemon_takes_over_when_the_first_ends},
	{"programs_that_cannot_join_are_reported_only_if_selected",
	 programs_that_cannot_join_are_reported_only_if_selected},
	{"a_late_offer_is_read", a_late_offer_is_read},
	{"silent_connections_do_not_block_others", silent_connections_do_not_block_others},
	{"events_counted_in_a_memory_without_rings_are_reported",
	 events_counted_in_a_memory_without_rings_are_reported},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	/* A runtime directory of its own, so that no other daemon on this machine finds the
	 * programs. */
	snprintf(path, sizeof(path), "/tmp/trace-offers-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_offers", true);
	return unit_main("user daemon, offers", cases, argc, argv);
}

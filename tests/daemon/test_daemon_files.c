/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_daemon_files.c - what the daemon creates in the file system: traces, which replace only
 * traces, and its control socket. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/format.h>
#include <unistd.h>

#include "control.h"
#include "control_commands.h"
#include "loop.h"
#include "output_file.h"
#include "../../daemon/session.h"

static void output_is_private_and_follows_no_link(void)
{
	char directory[] = "/tmp/test_daemon.XXXXXX";
	struct output_target output;
	struct trace_error error;
	struct stat status;
	int victim;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	CU_ASSERT_EQUAL_FATAL(chdir(directory), 0);
	umask(0);
	CU_ASSERT_EQUAL(output_open(&output, "new", OUTPUT_TRACE, &error), 0);
	CU_ASSERT_EQUAL(fstat(output.fd, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(output_close(&output, &error), 0);

	victim = open("victim", O_CREAT | O_RDWR, 0644);
	CU_ASSERT_EQUAL(write(victim, "precious", 8), 8);
	/* not a trace: the user mistyped the name */
	CU_ASSERT_EQUAL(output_open(&output, "victim", OUTPUT_TRACE, &error), -EEXIST);
	CU_ASSERT_EQUAL(pwrite(victim, TRACE_FILE_MAGIC, 8, 0), 8);
	CU_ASSERT_EQUAL(symlink("victim", "link"), 0);
	CU_ASSERT_EQUAL(output_open(&output, "link", OUTPUT_TRACE, &error), -ELOOP);
	CU_ASSERT_EQUAL(symlink("nowhere", "dangling"), 0);
	CU_ASSERT_EQUAL(output_open(&output, "dangling", OUTPUT_TRACE, &error), -ELOOP);
	CU_ASSERT_EQUAL(mkfifo("fifo", 0666), 0);
	CU_ASSERT_EQUAL(output_open(&output, "fifo", OUTPUT_TRACE, &error), -EEXIST);
	CU_ASSERT_EQUAL(output_open(&output, "/dev/null", OUTPUT_TRACE, &error), -EEXIST);
	CU_ASSERT_EQUAL(output_open(&output, directory, OUTPUT_TRACE, &error), -EISDIR);
	CU_ASSERT_EQUAL(output_open(&output, "none/new", OUTPUT_TRACE, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "none/new"));

	CU_ASSERT_EQUAL(link("victim", "hard"), 0); /* replaced, not written through */
	CU_ASSERT_EQUAL(output_open(&output, "hard", OUTPUT_TRACE, &error), 0);
	CU_ASSERT_EQUAL(output_commit(&output, &error), 0);
	CU_ASSERT_EQUAL(write(output.fd, "x", 1), 1);
	CU_ASSERT_EQUAL(fstat(victim, &status), 0);
	CU_ASSERT_EQUAL(status.st_size, 8);
	output_discard(&output);
	CU_ASSERT_EQUAL(access("hard", F_OK), -1);
	CU_ASSERT_EQUAL(access("victim", F_OK), 0);
	close(victim);
	for (const char *const *name = (const char *const[]){"new", "victim", "link", "dangling", "fifo", NULL}; *name;
	     name++)
		unlink(*name);
	CU_ASSERT_EQUAL(chdir("/"), 0);
	rmdir(directory);
}

static off_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_size : -1;
}

static void an_older_trace_stays_until_there_is_a_new_one(void)
{
	char directory[] = "/tmp/test_daemon.XXXXXX", beside[32];
	struct output_target output;
	struct trace_error error;
	int old;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	CU_ASSERT_EQUAL_FATAL(chdir(directory), 0);
	snprintf(beside, sizeof(beside), "t.trace.%d", (int)getpid());
	old = open("t.trace", O_CREAT | O_RDWR, 0600);
	CU_ASSERT_EQUAL(write(old, TRACE_FILE_MAGIC, 8), 8);

	CU_ASSERT_EQUAL(output_open(&output, "t.trace", OUTPUT_TRACE, &error), 0);
	CU_ASSERT_EQUAL(size_of("t.trace"), 8);
	output_discard(&output); /* the recording failed */
	CU_ASSERT_EQUAL(size_of("t.trace"), 8);
	CU_ASSERT_EQUAL(size_of(beside), -1);

	CU_ASSERT_EQUAL(output_open(&output, "t.trace", OUTPUT_TRACE, &error), 0);
	CU_ASSERT_EQUAL(write(output.fd, "new", 3), 3);
	CU_ASSERT_EQUAL(output_commit(&output, &error), 0);
	CU_ASSERT_EQUAL(size_of("t.trace"), 3);
	CU_ASSERT_EQUAL(size_of(beside), -1);
	CU_ASSERT_EQUAL(output_close(&output, &error), 0);

	CU_ASSERT_EQUAL(truncate("t.trace", 0), 0); /* an empty file counts as a trace */
	CU_ASSERT_EQUAL(output_open(&output, "t.trace", OUTPUT_TRACE, &error), 0);
	CU_ASSERT_EQUAL(rename("t.trace", "elsewhere"), 0);
	CU_ASSERT_EQUAL(mkdir("t.trace", 0700), 0);
	CU_ASSERT_EQUAL(output_commit(&output, &error), -EEXIST); /* not the file that was checked before */
	output_discard(&output);
	CU_ASSERT_EQUAL(size_of(beside), -1);
	close(old);
	rmdir("t.trace");
	unlink("elsewhere");
	CU_ASSERT_EQUAL(chdir("/"), 0);
	CU_ASSERT_EQUAL(rmdir(directory), 0);
}

/* ---- the control socket ---- */

/**
 * struct place - a control socket in a directory of its own
 */
struct place {
	char directory[32], path[64];
	struct control *control;
};

static struct place place_new(void)
{
	struct place place = {.directory = "/tmp/test_daemon.XXXXXX"};
	struct trace_error error;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place.directory));
	snprintf(place.path, sizeof(place.path), "%s/control", place.directory);
	place.control = control_listen(place.path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(place.control);
	return place;
}

static void place_remove(struct place *place)
{
	char lock[80];

	control_close(place->control);
	snprintf(lock, sizeof(lock), "%s.lock", place->path);
	unlink(lock);
	rmdir(place->directory);
}

static int connect_silently(const struct place *place)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, place->path);
	CU_ASSERT_EQUAL(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_and_say(const struct place *place, const char *text)
{
	int fd = connect_silently(place);

	CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	return fd;
}

/* Closes @client. */
static void expect_answer(int client, const char *expected)
{
	char answer[CONTROL_ANSWER_BYTES] = "";
	struct pollfd there = {.fd = client, .events = POLLIN};

	CU_ASSERT_EQUAL(poll(&there, 1, 60000), 1);
	CU_ASSERT(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	CU_ASSERT_STRING_EQUAL(answer, expected);
	close(client);
}

static void control_replaces_nothing_but_sockets(void)
{
	char path[] = "/tmp/test_daemon.XXXXXX";
	struct trace_error error;
	int fd = mkstemp(path);

	CU_ASSERT_EQUAL(write(fd, "precious", 8), 8);
	CU_ASSERT_PTR_NULL(control_listen(path, &error));
	CU_ASSERT_EQUAL(error.code, -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "is not a socket and is not replaced"));
	CU_ASSERT_EQUAL(size_of(path), 8);
	close(fd);
	unlink(path);
}

static void control_refuses_a_second_daemon_and_takes_over_from_a_dead_one(void)
{
	char directory[] = "/tmp/test_daemon.XXXXXX", path[64], lock[80];
	struct control *first, *second;
	struct trace_error error;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/control", directory);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	first = control_listen(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	second = control_listen(path, &error);
	CU_ASSERT_PTR_NULL(second);
	CU_ASSERT_EQUAL(error.code, -EADDRINUSE);
	CU_ASSERT_EQUAL(access(path, F_OK), 0); /* the loser removes nothing */
	control_close(first);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
	CU_ASSERT_EQUAL(mknod(path, S_IFSOCK | 0600, 0), 0); /* the socket that a killed daemon left */
	first = control_listen(path, &error);
	CU_ASSERT_PTR_NOT_NULL(first);
	control_close(first);
	unlink(lock);
	rmdir(directory);
}

/* A client in the accept queue keeps the main loop awake. */
static void control_rejects_clients_when_no_descriptor_is_free(void)
{
	struct place place = place_new();
	struct daemon_options options = {.session.level = 1};
	struct session session = {.options = &options};
	struct pollfd waits = {.events = POLLIN};
	struct iovec text = {(void *)(uintptr_t) "dump", 4};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} ancillary = {.bytes = {0}};
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof(ancillary)};
	struct rlimit before, none;
	int client = connect_silently(&place), next, ends[2];

	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	ancillary.header.cmsg_level = SOL_SOCKET;
	ancillary.header.cmsg_type = SCM_RIGHTS;
	ancillary.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&ancillary.header), &(int){STDERR_FILENO}, sizeof(int));
	CU_ASSERT_EQUAL(sendmsg(ends[0], &message, 0), 4);
	next = dup(STDERR_FILENO);
	close(next);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){(rlim_t)next, before.rlim_max};
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(control_accept(place.control), -1);
	control_commands_answer(&session, ends[1]); /* closes it */
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	waits.fd = control_fd(place.control);
	CU_ASSERT_EQUAL(poll(&waits, 1, 0), 0);
	expect_answer(client, "error\nthe daemon has no free file descriptor for the connection; try again");
	expect_answer(ends[0], "error\nthe daemon has no free file descriptor for the file; try again");
	place_remove(&place);
}

/* ---- the end of a connection, and the messages before it ---- */

static bool ends_early; /* report the next end before the pending message, as Linux may: see daemon/seqpacket.h */
/* becomes readable when the client waits for the answer; the wait continues after the other end has
 * closed */
static int asked_fd = -1;

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
/* visible: without LTO the linker wraps the reference of libtrace.so, too */
__attribute__((visibility("default"))) ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	struct pollfd other = {.fd = fd, .events = ends_early ? POLLIN : 0}; /* POLLHUP is always reported */

	if (asked_fd >= 0 && write(asked_fd, "", 1) == 1)
		poll(&other, 1, -1);
	asked_fd = -1;
	if (!ends_early)
		return __real_recvmsg(fd, message, flags);
	poll(&other, 1, -1);
	ends_early = false;
	message->msg_controllen = 0;
	return 0;
}

/**
 * struct conversation - the daemon's side, in this process, of a process that asks for the status
 */
struct conversation {
	struct place place;
	pid_t child;
	int asked_fd; /* readable when the request has been sent */
};

/* The client expects the result @err with the text @text. */
static void conversation_begin(struct conversation *talk, bool early, int err, const char *text)
{
	char answer[CONTROL_ANSWER_BYTES];
	struct trace_error error;
	int ends[2], asked;

	talk->place = place_new();
	CU_ASSERT_EQUAL(pipe(ends), 0);
	talk->asked_fd = ends[0];
	talk->child = fork();
	if (talk->child == 0) {
		asked_fd = ends[1];
		ends_early = early;
		asked = control_ask(talk->place.path, "status", -1, answer, &error);
		_exit(asked != err ? 1 : strcmp(err ? error.message : answer, text) != 0 ? 2 : 0);
	}
	close(ends[1]);
	CU_ASSERT_EQUAL(read(talk->asked_fd, answer, 1), 1);
}

static void conversation_end(struct conversation *talk)
{
	int status;

	CU_ASSERT_EQUAL(waitpid(talk->child, &status, 0), talk->child);
	CU_ASSERT_EQUAL(status, 0);
	close(talk->asked_fd);
	place_remove(&talk->place);
}

static void an_early_end_of_connection_hides_no_answer(void)
{
	struct conversation talk;
	struct control_request request;
	int client;

	conversation_begin(&talk, true, 0, "done");
	client = control_accept(talk.place.control);
	ends_early = true;
	CU_ASSERT_EQUAL_FATAL(control_receive(client, &request), 0); /* the request fails neither */
	CU_ASSERT_STRING_EQUAL(request.verb, "status");
	control_answer(client, 0, "done");
	close(client);
	conversation_end(&talk);
}

/* The status of many CPUs, where net.core.wmem_default is small. */
static void an_answer_that_does_not_fit_is_reported_as_such(void)
{
	char text[CONTROL_ANSWER_BYTES], expected[128];
	int ends[2];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	CU_ASSERT_EQUAL(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &(int){1}, sizeof(int)), 0);
	control_answer(ends[0], 0, text);
	close(ends[0]);
	snprintf(expected, sizeof(expected), "error\ncannot send the answer (%d bytes): %s", CONTROL_ANSWER_BYTES - 1,
		 strerror(EMSGSIZE));
	expect_answer(ends[1], expected);
}

/* Closing a socket with unread data is an error, and the client gets that error first. */
static void a_client_rejected_before_its_request_learns_why(void)
{
	struct rlimit before, none;
	struct conversation talk;
	int next;

	conversation_begin(&talk, false, -EREMOTEIO,
			   "the daemon has no free file descriptor for the connection; try again");
	next = dup(STDERR_FILENO);
	close(next);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){(rlim_t)next, before.rlim_max};
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	CU_ASSERT_EQUAL(control_accept(talk.place.control), -1);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	conversation_end(&talk);
}

/* A daemon that only serves its control socket. Its command keeps running, so it stays after the
 * end of its recording until @stay[1] is closed. */
static pid_t hear(struct control *control, const int stay[2])
{
	struct daemon_options options = {.session.level = 1};
	struct session session = {.options = &options,
				  .control = control,
				  .signal_fd = eventfd(0, 0),
				  .flush_timer_fd = -1,
				  .flush.period_ns = FLUSH_NEVER};
	struct trace_error error;
	pid_t child = fork();
	char end;

	if (child)
		return child;
	close(stay[1]);
	if (loop_init(&session, &error))
		_exit(1);
	loop_run(&session);
	control_commands_close(&session);
	_exit(read(stay[0], &end, 1) != 0);
}

/* No client waits as long as the command runs. */
static void at_the_end_every_client_gets_an_answer(void)
{
	struct place place = place_new();
	int stay[2], silent, stops, asks, status;
	pid_t child;

	CU_ASSERT_EQUAL(pipe2(stay, O_CLOEXEC), 0);
	silent = connect_silently(&place);
	stops = connect_and_say(&place, "stop");
	asks = connect_and_say(&place, "mode");
	child = hear(place.control, stay);
	expect_answer(silent, "error\nthe recording is ending and takes no more requests");
	expect_answer(asks, "ok\nfile");
	expect_answer(stops, "ok\ntracedaemon: the flight recorder has ended\n");
	close(stay[1]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	close(stay[0]);
	place_remove(&place);
}

static void silent_clients_do_not_block_others(void)
{
	struct place place = place_new();
	int stay[2], silent[SESSION_MAX_CLIENTS + 1], stops, status;
	pid_t child;

	CU_ASSERT_EQUAL(pipe2(stay, O_CLOEXEC), 0);
	child = hear(place.control, stay);
	for (int i = 0; i <= SESSION_MAX_CLIENTS; i++)
		silent[i] = connect_silently(&place);
	expect_answer(silent[0], "error\nthe client sent no request, and too many other clients are connected");
	stops = connect_and_say(&place, "stop");
	expect_answer(silent[1], "error\nthe client sent no request, and too many other clients are connected");
	for (int i = 2; i <= SESSION_MAX_CLIENTS; i++)
		expect_answer(silent[i], "error\nthe recording is ending and takes no more requests");
	expect_answer(stops, "ok\ntracedaemon: the flight recorder has ended\n");
	close(stay[1]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	close(stay[0]);
	place_remove(&place);
}

/* The socket is in a directory open to others, as --control allows. */
static void other_users_requests_are_refused(void)
{
	static const char *const requests[] = {"status",    "mode",  "begin", "halt", "mask",	  "mask all",
					       "mark text", "reset", "dump",  "stop", "nonsense", ""};
	struct place place = place_new();
	char answer[CONTROL_ANSWER_BYTES];
	struct trace_error error;
	int stay[2], stops, status;
	pid_t child, other;

	CU_ASSERT_EQUAL(pipe2(stay, O_CLOEXEC), 0);
	child = hear(place.control, stay);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chmod(place.directory, 0755), 0);
		CU_ASSERT_EQUAL(chmod(place.path, 0666), 0);
		other = fork();
		if (other == 0) {
			if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
				_exit(100);
			for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
				if (control_ask(place.path, requests[i], i % 2 ? -1 : STDIN_FILENO, answer, &error) !=
					    -EREMOTEIO ||
				    strcmp(error.message, "only root and the user of this daemon may control it"))
					_exit(1 + (int)i);
			_exit(0);
		}
		CU_ASSERT_EQUAL(waitpid(other, &status, 0), other);
		CU_ASSERT_EQUAL(status, 0);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, WNOHANG), 0); /* no request stopped it */
	stops = connect_and_say(&place, "stop");
	expect_answer(stops, "ok\ntracedaemon: the flight recorder has ended\n");
	close(stay[1]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	close(stay[0]);
	place_remove(&place);
}

/* Another user, not permitted to ask, holds three connections in front of the permitted client. */
static void unauthorized_clients_do_not_block_permitted_ones(void)
{
	struct place place = place_new();
	int stay[2], ready[2], stops, asks, status;
	pid_t child, other;
	char byte;

	if (geteuid() != 0) {
		printf("skipped: needs root ");
		place_remove(&place);
		return;
	}
	CU_ASSERT_EQUAL(pipe2(stay, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL(pipe2(ready, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL(chmod(place.directory, 0755), 0);
	CU_ASSERT_EQUAL(chmod(place.path, 0666), 0);
	stops = connect_and_say(&place, "stop");
	other = fork();
	if (other == 0) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(1);
		for (int i = 0; i < 3; i++)
			connect_silently(&place);
		_exit(write(ready[1], "", 1) != 1 || pause());
	}
	close(ready[1]);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	asks = connect_and_say(&place, "mode");
	child = hear(place.control, stay);
	expect_answer(asks, "ok\nfile");
	expect_answer(stops, "ok\ntracedaemon: the flight recorder has ended\n");
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	close(stay[1]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	close(stay[0]);
	close(ready[0]);
	place_remove(&place);
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

/* A message with the maximum number of descriptors, where the daemon expects one; and a message of
 * 0 bytes, which does not end the connection. */
static void unexpected_messages_leave_nothing_behind(void)
{
	struct daemon_options options = {.session.level = 1};
	struct session session = {.options = &options};
	struct iovec text = {(void *)(uintptr_t) "mode", 4};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(250 * sizeof(int))];
	} ancillary = {.bytes = {0}};
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof(ancillary)};
	int ends[2], before = nr_descriptors();

	ancillary.header.cmsg_level = SOL_SOCKET;
	ancillary.header.cmsg_type = SCM_RIGHTS;
	ancillary.header.cmsg_len = CMSG_LEN(250 * sizeof(int));
	for (int i = 0; i < 250; i++)
		memcpy(CMSG_DATA(&ancillary.header) + (size_t)i * sizeof(int), &(int){STDERR_FILENO}, sizeof(int));
	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	CU_ASSERT_EQUAL(sendmsg(ends[0], &message, 0), 4);
	control_commands_answer(&session, ends[1]);
	expect_answer(ends[0], "ok\nfile");
	CU_ASSERT_EQUAL(nr_descriptors(), before);
	text.iov_len = 0;
	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	CU_ASSERT_EQUAL(sendmsg(ends[0], &message, 0), 0);
	control_commands_answer(&session, ends[1]);
	expect_answer(ends[0], "error\nthe daemon could not read the request: Connection reset by peer; try again");
	CU_ASSERT_EQUAL(nr_descriptors(), before);
	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	CU_ASSERT_EQUAL(send(ends[0], "", 0, 0), 0);
	control_commands_answer(&session, ends[1]);
	expect_answer(ends[0],
		      "error\nthe daemon could not read the request: Resource temporarily unavailable; try again");
	CU_ASSERT_EQUAL(nr_descriptors(), before);
}

static void control_carries_a_request_and_a_file(void)
{
	char directory[] = "/tmp/test_daemon.XXXXXX", path[64], lock[80], answer[CONTROL_ANSWER_BYTES];
	struct control *control;
	struct trace_error error;
	struct control_request request;
	pid_t child;
	int client;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/control", directory);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	CU_ASSERT_EQUAL(control_ask(path, "status", -1, answer, &error), -ENOENT);
	control = control_listen(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	child = fork();
	if (child == 0) {
		for (int tries = 0; tries < 2; tries++)
			if (control_ask(path, tries ? "verb" : "dump two words\n", tries ? -1 : STDIN_FILENO, answer,
					&error) != (tries ? -EREMOTEIO : 0))
				_exit(1);
		_exit(strcmp(error.message, "sorry"));
	}
	while ((client = control_accept(control)) < 0)
		usleep(1000);
	while (control_receive(client, &request) == -EAGAIN)
		usleep(1000);
	CU_ASSERT_STRING_EQUAL(request.verb, "dump");
	CU_ASSERT_STRING_EQUAL(request.argument, "two words");
	CU_ASSERT(request.file_fd >= 0);
	close(request.file_fd);
	control_answer(client, 0, "done");
	close(client);
	while ((client = control_accept(control)) < 0)
		usleep(1000);
	while (control_receive(client, &request) == -EAGAIN)
		usleep(1000);
	CU_ASSERT_STRING_EQUAL(request.verb, "verb");
	CU_ASSERT_STRING_EQUAL(request.argument, "");
	CU_ASSERT_EQUAL(request.file_fd, -1);
	control_answer(client, -EPERM, "sorry");
	close(client);
	int status;
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	control_close(control);
	unlink(lock);
	rmdir(directory);
}

static const struct unit_case cases[] = {
	{"output_is_private_and_follows_no_link", output_is_private_and_follows_no_link},
	{"an_older_trace_stays_until_there_is_a_new_one", an_older_trace_stays_until_there_is_a_new_one},
	{"control_replaces_nothing_but_sockets", control_replaces_nothing_but_sockets},
	{"control_refuses_a_second_daemon_and_takes_over_from_a_dead_one",
	 control_refuses_a_second_daemon_and_takes_over_from_a_dead_one},
	{"control_rejects_clients_when_no_descriptor_is_free", control_rejects_clients_when_no_descriptor_is_free},
	{"an_early_end_of_connection_hides_no_answer", an_early_end_of_connection_hides_no_answer},
	{"an_answer_that_does_not_fit_is_reported_as_such", an_answer_that_does_not_fit_is_reported_as_such},
	{"a_client_rejected_before_its_request_learns_why", a_client_rejected_before_its_request_learns_why},
	{"at_the_end_every_client_gets_an_answer", at_the_end_every_client_gets_an_answer},
	{"silent_clients_do_not_block_others", silent_clients_do_not_block_others},
	{"other_users_requests_are_refused", other_users_requests_are_refused},
	{"unauthorized_clients_do_not_block_permitted_ones", unauthorized_clients_do_not_block_permitted_ones},
	{"unexpected_messages_leave_nothing_behind", unexpected_messages_leave_nothing_behind},
	{"control_carries_a_request_and_a_file", control_carries_a_request_and_a_file},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("daemon_files", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_interrupted.c - calls that signals, stops and tracers interrupt, and waits on files,
 * directories and memory that a process ends: process, path and length are told.
 *
 * This is the program as well: "test_e2e_interrupted do TRUTH FOLDER" runs all cases side by side.
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "e2e_session.h"
#include "unit.h"

#define MS	 1000000ll
#define SLACK_NS 100000

/* ---- the program ---- */

static FILE *truth;
static const char *folder;

static void tell(const char *name, const char *key, long long value)
{
	fprintf(truth, "%s.%s %lld\n", name, key, value);
	fflush(truth);
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};

	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
}

static void require(bool held)
{
	if (!held)
		_exit(1);
}

static void on_alarm(int number)
{
	(void)number;
}

/* A profiling timer of 10 ms, with SA_RESTART. */
static void read_with_timer(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
	long long from;
	pid_t writer;
	int fds[2];
	char byte;

	require(!pipe(fds));
	writer = fork();
	if (!writer) {
		sleep_ms(300);
		require(write(fds[1], "x", 1) == 1);
		_exit(0);
	}
	sigaction(SIGALRM, &action, NULL);
	from = now_ns();
	setitimer(ITIMER_REAL, &every, NULL);
	require(read(fds[0], &byte, 1) == 1);
	setitimer(ITIMER_REAL, &never, NULL);
	tell("read", "ns", now_ns() - from);
	tell("read", "pid", getpid());
	tell("read", "by", writer);
	wait(NULL);
}

/* ---- stopped in the middle ---- */

static int pipe_fds[2];
static volatile int *word;

static void poll_pipe(void)
{
	struct pollfd one = {.fd = pipe_fds[0], .events = POLLIN};

	close(pipe_fds[1]);
	require(poll(&one, 1, 60000) == 1);
}

static void write_pipe(void)
{
	require(write(pipe_fds[1], "x", 1) == 1);
}

static void wait_futex(void)
{
	struct timespec most = {60, 0};

	while (!*word)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, &most, NULL, 0);
}

static void wake_futex(void)
{
	*word = 1;
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void sleep_whole(void)
{
	sleep_ms(250);
}

static void nothing(void)
{
}

/* The child waits, is stopped after 50 ms for 50 ms, and the parent ends the wait 100 ms later. */
static void stopped(const char *name, void (*wait_for)(void), void (*act)(void))
{
	long long from;
	pid_t child;
	int status;

	require(!pipe(pipe_fds));
	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (!child) {
		from = now_ns();
		wait_for();
		tell(name, "ns", now_ns() - from);
		_exit(0);
	}
	sleep_ms(50);
	require(!kill(child, SIGSTOP));
	require(waitpid(child, &status, WUNTRACED) == child);
	from = now_ns();
	sleep_ms(50);
	tell(name, "stopped_ns", now_ns() - from);
	require(!kill(child, SIGCONT));
	sleep_ms(100);
	act();
	require(waitpid(child, &status, 0) == child);
	tell(name, "pid", child);
	tell(name, "by", getpid());
}

static void stopped_poll(void)
{
	stopped("poll", poll_pipe, write_pipe);
}

static void stopped_futex(void)
{
	stopped("futex", wait_futex, wake_futex);
}

static void stopped_sleep(void)
{
	stopped("sleep", sleep_whole, nothing);
}

/* Each call of the child is held for 2 ms. */
static void traced(void)
{
	long long held = 0, from;
	pid_t child = fork();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		for (int i = 0; i < 25; i++)
			syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(child, &status, 0);
	while (!WIFEXITED(status)) {
		from = now_ns();
		sleep_ms(2);
		ptrace(PTRACE_SYSCALL, child, 0, 0);
		held += now_ns() - from;
		waitpid(child, &status, 0);
	}
	tell("traced", "pid", child);
	tell("traced", "by", getpid());
	tell("traced", "ns", held);
}

/* ---- ended by a process ---- */

/* A page of a memfd by userfaultfd, which a child provides after 50 ms. */
static void provided_page(void)
{
	static char zeros[4096] __attribute__((aligned(4096)));
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), memory = memfd_create("provided", 0);
	struct uffdio_register range = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	struct uffdio_copy copy = {.src = (uint64_t)(uintptr_t)zeros, .len = sizeof(zeros)};
	struct uffdio_api api = {.api = UFFD_API};
	struct uffd_msg message;
	long long from;
	pid_t child;
	char *page;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ftruncate(memory, 4096))
		return;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	range.range.start = copy.dst = (uint64_t)(uintptr_t)page;
	if (ioctl(fd, UFFDIO_REGISTER, &range))
		return;
	child = fork();
	if (!child) {
		require(read(fd, &message, sizeof(message)) == (ssize_t)sizeof(message));
		sleep_ms(50);
		require(!ioctl(fd, UFFDIO_COPY, &copy));
		_exit(0);
	}
	from = now_ns();
	(void)*(volatile char *)page;
	tell("page", "ns", now_ns() - from);
	tell("page", "pid", getpid());
	tell("page", "by", child);
	wait(NULL);
}

/* ---- a file system of a program: one file, each read of it takes 50 ms ---- */

static int device;

static void reply(uint64_t unique, int error, const void *data, size_t bytes)
{
	struct fuse_out_header out = {.len = (uint32_t)(sizeof(out) + (error ? 0 : bytes)),
				      .error = error,
				      .unique = unique};
	struct iovec parts[2] = {{&out, sizeof(out)}, {(void *)data, error ? 0 : bytes}};

	if (writev(device, parts, error || !bytes ? 1 : 2) < 0)
		_exit(0);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = 4096,
				  .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
				  .nlink = 1,
				  .blksize = 4096};
}

static void answer(const struct fuse_in_header *in)
{
	static const char page[4096];
	struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = 2, .attr = attributes(2)};
	struct fuse_attr_out attr = {.attr_valid = 10, .attr = attributes(in->nodeid)};
	struct fuse_open_out file = {.fh = 1, .open_flags = FOPEN_DIRECT_IO};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in->unique, 0, &init, 64);
		break;
	case FUSE_LOOKUP:
		reply(in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(in->unique, 0, &file, sizeof(file));
		break;
	case FUSE_READ:
		sleep_ms(50);
		reply(in->unique, 0, page, sizeof(page));
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(void)
{
	static char in[1 << 20];

	for (;;) {
		ssize_t got = read(device, in, sizeof(in));

		if (got > 0)
			answer((const struct fuse_in_header *)(const void *)in);
		else if (errno != EINTR)
			_exit(0);
	}
}

static void served_file(void)
{
	char path[512], options[128], page[4096];
	long long from;
	pid_t server;
	int fd;

	device = open("/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	snprintf(path, sizeof(path), "%s/served", folder);
	require(!mkdir(path, 0755));
	if (device < 0 || mount("test", path, "fuse", 0, options))
		return;
	server = fork();
	if (!server)
		serve();
	snprintf(path, sizeof(path), "%s/served/slow", folder);
	from = now_ns();
	fd = open(path, O_RDONLY);
	require(fd >= 0);
	for (int i = 0; i < 4; i++)
		require(pread(fd, page, sizeof(page), 0) == (ssize_t)sizeof(page));
	tell("served", "ns", now_ns() - from);
	close(fd);
	tell("served", "pid", getpid());
	tell("served", "by", server);
	snprintf(path, sizeof(path), "%s/served", folder);
	umount2(path, MNT_DETACH);
	kill(server, SIGKILL);
	wait(NULL);
}

static int run(const char *truth_path, const char *at)
{
	static void (*const cases[])(void) = {read_with_timer, stopped_poll,  stopped_futex, stopped_sleep,
					      traced,	       provided_page, served_file};
	int status, failed = 0;

	truth = fopen(truth_path, "ae");
	folder = at;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fork() == 0) {
			cases[i]();
			_exit(0);
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

/* ---- the test ---- */

static struct session session;
static char self[512];

static void record(void)
{
	if (session.report)
		return;
	session_begin(&session);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- %s do %s %s 2>/dev/null", TRACE_BIN, session.trace, self,
				    session.truth, session.folder),
			0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace), 0);
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static long long truth_of(const char *name, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "%s.%s", name, key);
	return session_truth(&session, text);
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* The sum of a process's waits of this kind and means, for the process in the truth. */
static long long waited(const char *name, const char *kind, const char *via, const char *path)
{
	json_t *process = json_process(session.report, truth_of(name, "pid")), *wait;
	long long by = strcmp(kind, "timeout") == 0 ? 0 : truth_of(name, "by"), ns = 0;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait)
		if (strcmp(json_text(wait, "kind"), kind) == 0 && strcmp(json_text(wait, "via"), via) == 0 &&
		    json_number(wait, "pid") == by && ends_with(json_text(wait, "path"), path))
			ns += json_number(wait, "ns");
	return ns;
}

/*
 * Within 1 % or 100 us, beside the process's own time on a CPU and in the queue for one, what is
 * unknown (a wakeup from a process that the kernel hides), and the time that the other process,
 * which measured @ns, was in the queue for a CPU.
 */
static void check(const char *name, const char *kind, const char *via, const char *path, long long ns)
{
	json_t *process = json_process(session.report, truth_of(name, "pid")), *wait;
	json_t *by = json_process(session.report, truth_of(name, "by"));
	long long off = ns - waited(name, kind, via, path), most;
	size_t i;

	CU_ASSERT_FATAL(ns > 0);
	most = json_number(process, "cpu_ns") + json_number(process, "wait_cpu_ns") +
	       json_number(process, "interrupted_ns") + (by ? json_number(by, "wait_cpu_ns") : 0) +
	       (ns / 100 > SLACK_NS ? ns / 100 : SLACK_NS);
	json_array_foreach(json_object_get(process, "waits"), i, wait)
		most += strcmp(json_text(wait, "kind"), "unknown") == 0 ? json_number(wait, "ns") : 0;
	CU_ASSERT(off <= most && -off <= most);
	if (off <= most && -off <= most)
		return;
	fprintf(stderr, "\n    %s: %s via '%s' on '%s' is %lld ns off %lld:\n", name, kind, via, path, off, ns);
	json_array_foreach(json_object_get(process, "waits"), i, wait)
		fprintf(stderr, "    %s\n", json_dumps(wait, JSON_COMPACT));
}

static void a_read_under_a_timer_is_for_the_writer(void)
{
	long long count = 0;
	json_t *row;
	size_t i;

	record();
	check("read", "process", "pipe", "", truth_of("read", "ns"));
	json_array_foreach(json_object_get(session.report, "interruptions"), i, row)
		if (json_number(row, "pid") == truth_of("read", "pid") && strcmp(json_text(row, "call"), "read") == 0 &&
		    json_number(row, "signal") == SIGALRM && json_number(row, "by_pid") == 0)
			count += json_number(row, "count");
	CU_ASSERT(count > 0); /* a busy machine runs the process less often than its timer expires */
}

static void a_stopped_wait_goes_on(void)
{
	static const struct {
		const char *name, *kind, *via;
	} waits[] = {{"poll", "process", "pipe"}, {"futex", "process", "futex"}, {"sleep", "timeout", ""}};

	record();
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		check(waits[i].name, waits[i].kind, waits[i].via, "",
		      truth_of(waits[i].name, "ns") - waited(waits[i].name, "stopped", "signal", ""));
		check(waits[i].name, "stopped", "signal", "", truth_of(waits[i].name, "stopped_ns"));
	}
}

static void a_tracer_holds_its_child(void)
{
	record();
	check("traced", "stopped", "ptrace", "", truth_of("traced", "ns"));
}

static void a_provided_page_names_process_and_file(void)
{
	record();
	if (truth_of("page", "ns") >= 0)
		check("page", "process", "memory", "memfd:provided", truth_of("page", "ns"));
}

static void a_served_file_names_process_and_path(void)
{
	record();
	if (truth_of("served", "ns") >= 0)
		check("served", "process", "fuse", "/slow", truth_of("served", "ns"));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_read_under_a_timer_is_for_the_writer),
		CASE(a_stopped_wait_goes_on),
		CASE(a_tracer_holds_its_child),
		CASE(a_provided_page_names_process_and_file),
		CASE(a_served_file_names_process_and_path),
		{NULL, NULL},
	};
	int failed;

	if (argc == 4 && strcmp(argv[1], "do") == 0)
		return run(argv[2], argv[3]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_interrupted: needs root and a kernel with BTF\n");
		return 77;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	failed = unit_main("e2e_interrupted", cases, argc, argv);
	if (*session.folder)
		session_end(&session);
	return failed;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_calls.c - every system call of a program is in the trace once, with entry, path and exit
 * in order and with its own values, whether it was one record in the ring or several
 * (tracer/kernel/deferred.h).
 *
 * This is the program as well: "test_e2e_calls do TRUTH", and so on. Root only; skipped (77) where
 * the kernel cannot be recorded.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <trace/analysis.h>
#include <trace/tracer.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR_THREADS 2
#define NR_CALLS   60000

/* ---- the programs ---- */

static FILE *truth;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

static void write_truth(const char *key, long long value)
{
	pthread_mutex_lock(&telling);
	fprintf(truth, "%s %lld\n", key, value);
	fflush(truth);
	pthread_mutex_unlock(&telling);
}

static void nothing(int signal)
{
	(void)signal;
}

/* All lengths from 4 up to 130 bytes: short texts are copied in another way than long ones. */
static void fill_path(char *path, long long number)
{
	int length = sprintf(path, "/%lld", number);

	while (length < (int)(number % 127) + 3)
		path[length++] = '.';
	path[length] = 0;
}

/* Calls that their arguments, paths and results identify. In between the thread sleeps, yields and
 * gets signals, so that events of all kinds occur between entry and exit. */
static void *seek(void *number)
{
	long long thread = (long long)(intptr_t)number;
	int fd = open("/proc/self/exe", O_RDONLY);
	char key[16], path[200];

	snprintf(key, sizeof(key), "tid%lld", thread);
	write_truth(key, syscall(SYS_gettid));
	for (long long i = 0; i < NR_CALLS; i++) {
		syscall(SYS_lseek, fd, i * NR_THREADS + thread, SEEK_SET);
		if (i % 4 == 0) {
			fill_path(path, i / 4 * NR_THREADS + thread);
			syscall(SYS_access, path, F_OK);
		}
		if (i % 16 == 0)
			syscall(SYS_getppid);
		if (i % 64 == 0) {
			close(open("/", O_RDONLY)); /* its exit carries a file */
			sched_yield();
		}
		if (i % 1024 == 0)
			usleep(1);
	}
	return NULL;
}

static int do_calls(const char *path)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	pthread_t threads[NR_THREADS];

	truth = fopen(path, "a");
	signal(SIGALRM, nothing);
	setitimer(ITIMER_REAL, &often, NULL);
	for (intptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, seek, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Spends nearly all of its time in one long call without further events. */
static int stay(const char *path)
{
	static char buffer[1 << 21];
	static struct iovec pieces[128];
	int fd = open("/dev/zero", O_RDONLY);

	truth = fopen(path, "a");
	for (int i = 0; i < 128; i++)
		pieces[i] = (struct iovec){buffer, sizeof(buffer)};
	write_truth("pid", getpid());
	for (;;)
		if (readv(fd, pieces, 128) <= 0)
			return 1;
}

#define NR_LATE	    40
#define LATE_STRIDE (1 << 16) /* so far apart that one fault brings in one path */

/* Paths that are not in memory yet when the call is made. */
static int be_late(const char *path)
{
	char name[] = "/tmp/test_e2e_calls.XXXXXX", text[16];
	int fd = mkstemp(name);
	char *paths;

	unlink(name);
	for (int i = 0; i < NR_LATE; i++) {
		snprintf(text, sizeof(text), "/late/%d", i);
		if (pwrite(fd, text, sizeof(text), (off_t)i * LATE_STRIDE) != sizeof(text))
			return 1;
	}
	paths = mmap(NULL, NR_LATE * LATE_STRIDE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (paths == MAP_FAILED)
		return 1;
	truth = fopen(path, "a");
	write_truth("pid", getpid());
	for (int i = 0; i < NR_LATE; i++)
		syscall(SYS_access, paths + (long)i * LATE_STRIDE, F_OK);
	return 0;
}

/* ---- contents of the trace ---- */

/**
 * struct thread_calls - the calls of a thread
 * @next, @next_path: the number of the next call, and of the next path
 * @faults: calls out of order
 */
struct thread_calls {
	long long tid;
	long long next;
	long long next_path;
	long long entries;
	long long exits;
	long long faults;
	uint32_t nr;
	uint64_t value;
	bool inside;
	bool has_path;
};

static struct thread_calls calls[NR_THREADS];

static uint64_t offset_of(const struct trace_event *event)
{
	return event->id == TRACE_EV_sys_enter3 ? ((const struct trace_sys_enter3 *)event->payload)->arg1 : 0;
}

static void on_path(struct thread_calls *own, int thread, const struct trace_event *event)
{
	const struct trace_sys_path *path = (const struct trace_sys_path *)event->payload;
	char text[200];

	own->faults += !own->inside || own->has_path || path->nr != own->nr;
	own->has_path = true;
	if (own->nr != SYS_access || own->next_path > NR_CALLS / 4)
		return;
	fill_path(text, own->next_path++ * NR_THREADS + thread);
	own->faults += strcmp((const char *)(path + 1), text) != 0;
}

static void on_call(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);

	for (int i = 0; thread && i < NR_THREADS; i++) {
		struct thread_calls *own = &calls[i];

		if (trace_thread_tid(thread) != own->tid)
			continue;
		if (event->id == TRACE_EV_sys_path) {
			on_path(own, i, event);
		} else if (event->id != TRACE_EV_sys_exit) {
			own->faults += own->inside;
			own->inside = true;
			own->has_path = false;
			own->entries++;
			own->nr = ((const struct trace_sys_enter *)event->payload)->nr;
			own->value = offset_of(event);
			if (own->nr == SYS_lseek && own->next <= NR_CALLS)
				own->faults += own->value != (uint64_t)(own->next++ * NR_THREADS + i);
		} else if (own->inside || own->entries) { /* a thread begins with the exit of its creator's call */
			own->faults += !own->inside;
			own->faults += (own->nr == SYS_access || own->nr == SYS_openat) && own->inside &&
				       !own->has_path;
			own->inside = false;
			own->exits++;
			if (own->nr == SYS_lseek)
				own->faults += (uint64_t)((const struct trace_sys_exit *)event->payload)->ret !=
					       own->value;
		}
	}
}

static void read_calls(const struct session *s)
{
	struct trace *trace = trace_open(s->trace, NULL);
	struct trace_analysis *analysis;
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	for (uint32_t id = TRACE_EV_sys_enter; id <= TRACE_EV_sys_path; id++)
		mask[id / 64] |= 1ULL << id % 64;
	analysis = trace_analysis_new(trace, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	CU_ASSERT_EQUAL(trace_analysis_on_event(analysis, mask, on_call, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	trace_analysis_free(analysis);
	trace_close(trace);
}

static const char *self;

static void every_call_is_recorded_once_and_in_order(void)
{
	struct session s;
	char key[16];

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon -b2097152 %s -- %s do %s 2>%s/stderr", TRACE_BIN, s.trace,
					  self, s.truth, s.folder),
			      0);
	memset(calls, 0, sizeof(calls));
	for (int i = 0; i < NR_THREADS; i++) {
		snprintf(key, sizeof(key), "tid%d", i);
		calls[i].tid = session_truth(&s, key);
	}
	read_calls(&s);
	for (int i = 0; i < NR_THREADS; i++) {
		CU_ASSERT_EQUAL(calls[i].faults, 0);
		CU_ASSERT_EQUAL(calls[i].next, NR_CALLS);
		CU_ASSERT_EQUAL(calls[i].next_path, NR_CALLS / 4);
		CU_ASSERT(calls[i].entries > NR_CALLS + NR_CALLS / 16 + NR_CALLS / 64);
	}
	session_end(&s);
}

/* On a CPU that records no other event the daemon has to request the flush. */
static void a_deferred_entry_on_another_cpu_can_be_flushed(void)
{
	struct tracer_options options = {.size = sizeof(options), .filter_uid = -1, .filter_gid = -1};
	struct trace_error error;
	struct tracer *tracer;
	volatile trace_u64 none = 0, *deferred_ns = &none;
	trace_u64 seen = 0;
	struct session s;
	pid_t pid;

	for (uint32_t id = TRACE_EV_sys_enter; id <= TRACE_EV_sys_exit; id++)
		options.mask[id / 64] |= 1ULL << id % 64;
	session_begin(&s);
	pid = fork();
	if (pid == 0)
		_exit(stay(s.truth));
	tracer = tracer_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT_EQUAL(tracer_start(tracer, &error), 0);
	for (size_t i = 0; i < 100000 && !seen; i++) {
		deferred_ns = &tracer_get_ring(tracer, i % tracer_nr_rings(tracer))->ring.control->deferred_ns;
		seen = *deferred_ns;
		usleep(seen ? 3000 : 200);
		if (*deferred_ns != seen) /* that of a short call, or other threads run there */
			seen = 0;
	}
	CU_ASSERT_NOT_EQUAL(seen, 0);
	tracer_flush_rings(tracer);
	CU_ASSERT_NOT_EQUAL(*deferred_ns, seen);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tracer_free(tracer);
	session_end(&s);
}

/* The daemon does so at its end; otherwise the call would be missing. */
static void a_call_that_lasts_beyond_the_end_has_begun(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s stay %s & program=$!; %s/tracedaemon -ts1 -esyscall %s 2>%s/stderr; "
					  "status=$?; kill $program; exit $status",
					  self, s.truth, TRACE_BIN, s.trace, s.folder),
			      0);
	memset(calls, 0, sizeof(calls));
	calls[0].tid = session_truth(&s, "pid");
	calls[0].next = NR_CALLS + 1;
	read_calls(&s);
	CU_ASSERT_EQUAL(calls[0].faults, 0);
	CU_ASSERT_EQUAL(calls[0].nr, SYS_readv);
	CU_ASSERT_TRUE(calls[0].inside);
	CU_ASSERT_EQUAL(calls[0].entries, calls[0].exits + 1);
	session_end(&s);
}

/**
 * struct lates - calls with such a path
 * @traps, @trap_exits: in the current call
 */
static struct lates {
	long long tid;
	int nr;
	int traps;
	int trap_exits;
	int faults;
	bool inside;
} lates;

static void on_late(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sys_path *path = (const struct trace_sys_path *)event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	char text[16];

	if (!thread || trace_thread_tid(thread) != lates.tid)
		return;
	switch (event->id) {
	case TRACE_EV_sys_enter3:
		lates.inside = ((const struct trace_sys_enter3 *)event->payload)->nr == SYS_access;
		lates.traps = lates.trap_exits = 0;
		break;
	case TRACE_EV_sys_path:
		if (!lates.inside || !path->late || strncmp((const char *)(path + 1), "/late/", 6) != 0)
			break;
		snprintf(text, sizeof(text), "/late/%d", lates.nr++);
		lates.faults += strcmp((const char *)(path + 1), text) != 0 || lates.traps != 1 ||
				lates.trap_exits != 1;
		break;
	case TRACE_EV_fault_entry:
		lates.traps++;
		break;
	case TRACE_EV_fault_exit:
		lates.trap_exits++;
		break;
	}
}

/* The exit then carries the path. The program has the one fault that the kernel takes to read it,
 * and none from our attempts. */
static void a_path_that_is_not_in_memory_is_recorded_at_the_exit(void)
{
	struct trace_analysis *analysis;
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace *trace;
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s late %s 2>%s/stderr", TRACE_BIN, s.trace, self,
					  s.truth, s.folder),
			      0);
	memset(&lates, 0, sizeof(lates));
	lates.tid = session_truth(&s, "pid");
	trace = trace_open(s.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (uint32_t id = 0; id < TRACE_MASK_WORDS; id++)
		mask[id] = ~0ULL;
	analysis = trace_analysis_new(trace, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	CU_ASSERT_EQUAL(trace_analysis_on_event(analysis, mask, on_late, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(lates.nr, NR_LATE);
	CU_ASSERT_EQUAL(lates.faults, 0);
	trace_analysis_free(analysis);
	trace_close(trace);
	session_end(&s);
}

static const struct unit_case cases[] = {
	{"every_call_is_recorded_once_and_in_order", every_call_is_recorded_once_and_in_order},
	{"a_deferred_entry_on_another_cpu_can_be_flushed", a_deferred_entry_on_another_cpu_can_be_flushed},
	{"a_call_that_lasts_beyond_the_end_has_begun", a_call_that_lasts_beyond_the_end_has_begun},
	{"a_path_that_is_not_in_memory_is_recorded_at_the_exit", a_path_that_is_not_in_memory_is_recorded_at_the_exit},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "do"))
		return do_calls(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "stay"))
		return stay(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "late"))
		return be_late(argv[2]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_calls: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	return unit_main("system calls", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The preload libraries with a program that counts its own actions, read by the small consumer of
 * these tests. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user_consumer.h"

#define COUNT	 200
#define SIZE	 7331
#define THREADS	 4
#define PROGRAMS 4

/**
 * struct seen - contents of the events
 */
struct seen {
	unsigned long long mallocs, callocs, reallocs, frees, aligned, all_frees;
	unsigned long long pointers; /* sum of the pointers of those mallocs */
	unsigned long long contended, acquired, released, locked, rw_contended, rw_acquired, rw_released, waits, woken,
		signals;
	unsigned long long shortest_wait_ns, shortest_hold_ns, mutex, wrong_results;
	unsigned long long enters, exits, function;
	unsigned long long no_caller;
	unsigned long long programs, lost, faults, truth;
	unsigned long long own_maps; /* of the library itself, by its full path */
};

static bool relative; /* the library is given by a relative path */

static bool is(const struct user_record *record, const char *provider, const char *name)
{
	return !strcmp(record->provider, provider) && !strcmp(record->name, name);
}

static void see_malloc(const struct user_record *record, struct seen *seen)
{
	long long size = user_record_integer(record, "size");

	seen->no_caller += !user_record_integer(record, "caller");
	if (is(record, "malloc", "malloc") && size == SIZE) {
		seen->mallocs++;
		seen->pointers += (unsigned long long)user_record_integer(record, "pointer");
	} else if (is(record, "malloc", "calloc") && size == SIZE) {
		seen->callocs += user_record_integer(record, "count") == 3;
	} else if (is(record, "malloc", "realloc") && size == 2 * SIZE) {
		seen->reallocs++;
	} else if (is(record, "malloc", "aligned") && size == SIZE) {
		seen->aligned += user_record_integer(record, "alignment") == 64;
	} else if (is(record, "malloc", "free")) {
		seen->all_frees++;
	}
}

static void least(unsigned long long *value, long long candidate)
{
	if ((unsigned long long)candidate < *value)
		*value = (unsigned long long)candidate;
}

static void see_lock(const struct user_record *record, struct seen *seen)
{
	bool mine = (unsigned long long)user_record_integer(record, "lock") == seen->truth || !seen->truth;

	if (is(record, "pthread", "mutex_contended"))
		seen->contended++;
	else if (is(record, "pthread", "mutex_acquired")) {
		seen->acquired += mine;
		seen->wrong_results += user_record_integer(record, "result") != 0;
		least(&seen->shortest_wait_ns, user_record_integer(record, "waited_ns"));
		seen->mutex = (unsigned long long)user_record_integer(record, "lock");
	} else if (is(record, "pthread", "mutex_released")) {
		seen->released++;
		least(&seen->shortest_hold_ns, user_record_integer(record, "held_ns"));
	} else if (is(record, "pthread", "mutex_locked"))
		seen->locked++;
	else if (is(record, "pthread", "rwlock_contended"))
		seen->rw_contended += user_record_integer(record, "write") == 0;
	else if (is(record, "pthread", "rwlock_acquired"))
		seen->rw_acquired++;
	else if (is(record, "pthread", "rwlock_released"))
		seen->rw_released++;
	else if (is(record, "pthread", "cond_wait"))
		seen->waits++;
	else if (is(record, "pthread", "cond_woken"))
		seen->woken++;
	else if (is(record, "pthread", "cond_signal"))
		seen->signals++;
}

static void see_map(const struct user_record *record, struct seen *seen)
{
	static const char own[] = "/lib/libtracer-malloc.so";
	size_t bytes;
	const char *path = user_record_field(record, "path", &bytes);

	if (path && bytes >= sizeof(own) - 1 && *path == '/' &&
	    !memcmp(path + bytes - (sizeof(own) - 1), own, sizeof(own) - 1))
		seen->own_maps++;
}

static void see(const struct user_record *record, void *argument)
{
	struct seen *seen = argument;

	if (is(record, "program", "map"))
		see_map(record, seen);
	if (!strcmp(record->provider, "malloc"))
		see_malloc(record, seen);
	else if (!strcmp(record->provider, "pthread"))
		see_lock(record, seen);
	else if (is(record, "function", "enter")) {
		seen->enters++;
		seen->function = (unsigned long long)user_record_integer(record, "function");
	} else if (is(record, "function", "exit"))
		seen->exits++;
}

static pid_t start(const char *library, const char *mode, int count, int out)
{
	char number[16], preload[512];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%d", count);
	snprintf(preload, sizeof(preload), "%s/libtracer-%s.so", relative ? "." : TRACE_LIB, library);
	if (relative && chdir(TRACE_LIB))
		_exit(127);
	setenv("LD_PRELOAD", preload, 1);
	dup2(out, STDOUT_FILENO);
	execl(PRELOAD_TARGET, PRELOAD_TARGET, mode, number, NULL);
	_exit(127);
}

/* Takes a program's memory while the program runs. */
static void take_offers(int listener, struct user_consumer *consumers, int *nr, struct seen *seen, int ms)
{
	int fd = *nr < PROGRAMS ? user_accept(listener, ms) : -1;

	if (fd < 0)
		return;
	memset(&consumers[*nr], 0, sizeof(consumers[*nr]));
	if (user_consumer_open(&consumers[*nr], fd))
		return;
	consumers[*nr].each = see;
	consumers[*nr].argument = seen;
	user_consumer_switch(&consumers[*nr], true);
	++*nr;
}

/* Runs the program with a preloaded library, and reads all its events. */
static struct seen run(const char *library, const char *mode, int count)
{
	static struct user_consumer consumers[PROGRAMS];
	struct seen seen = {.shortest_wait_ns = ~0ull, .shortest_hold_ns = ~0ull};
	int listener = user_listen(), nr = 0, status = 0, ends[2];
	char truth[64] = "";
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	pid = start(library, mode, count, ends[1]);
	close(ends[1]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		take_offers(listener, consumers, &nr, &seen, 1);
		for (int i = 0; i < nr; i++)
			user_consumer_drain(&consumers[i], false);
	}
	for (int before = -1; nr > before;) {
		before = nr;
		take_offers(listener, consumers, &nr, &seen, 1);
	}
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(read(ends[0], truth, sizeof(truth) - 1) > 0);
	seen.truth = strtoull(truth, NULL, 10);
	close(ends[0]);
	for (int i = 0; i < nr; i++) {
		user_consumer_salvage(&consumers[i]);
		seen.lost += user_consumer_lost(&consumers[i]);
		seen.faults += consumers[i].faults;
		user_consumer_close(&consumers[i]);
	}
	close(listener);
	seen.programs = (unsigned long long)nr;
	CU_ASSERT_EQUAL(seen.lost, 0);
	CU_ASSERT_EQUAL(seen.faults, 0);
	return seen;
}

static void every_allocation_is_an_event(void)
{
	struct seen seen = run("malloc", "malloc", COUNT);

	CU_ASSERT_EQUAL(seen.programs, 1);
	CU_ASSERT_EQUAL(seen.mallocs, COUNT * THREADS);
	CU_ASSERT_EQUAL(seen.pointers, seen.truth);
	CU_ASSERT_EQUAL(seen.callocs, COUNT * THREADS);
	CU_ASSERT_EQUAL(seen.reallocs, COUNT * THREADS);
	CU_ASSERT_EQUAL(seen.aligned, COUNT * THREADS);
	/* the C library frees some of its own */
	CU_ASSERT(seen.all_frees >= 3 * COUNT * THREADS && seen.all_frees < 3 * COUNT * THREADS + 50);
	CU_ASSERT_EQUAL(seen.no_caller, 0);
}

static void a_library_is_recorded_with_its_full_path(void)
{
	struct seen seen;

	relative = true;
	seen = run("malloc", "malloc", 1);
	relative = false;
	CU_ASSERT_EQUAL(seen.own_maps, 2); /* when the program starts, and when it ends */
}

static void a_forked_child_goes_on_by_itself(void)
{
	struct seen seen = run("malloc", "fork", COUNT);

	CU_ASSERT_EQUAL(seen.programs, 2);
	CU_ASSERT_EQUAL(seen.mallocs, 2 * COUNT);
	CU_ASSERT_EQUAL(seen.reallocs, 2 * COUNT);
}

static void only_waits_for_locks_are_events(void)
{
	struct seen seen = run("pthread", "locks", 10);

	CU_ASSERT(seen.contended >= 10 && seen.contended <= 12); /* the condition's mutex may be contended too */
	CU_ASSERT_EQUAL(seen.acquired, seen.contended);
	CU_ASSERT_EQUAL(seen.wrong_results, 0);
	CU_ASSERT_EQUAL(seen.locked, 0);
	CU_ASSERT(seen.released >= 10);
	CU_ASSERT(seen.shortest_wait_ns > 0 && seen.shortest_wait_ns < 1000000000);
	CU_ASSERT_EQUAL(seen.mutex, seen.truth);
	CU_ASSERT_EQUAL(seen.rw_contended, 10);
	CU_ASSERT_EQUAL(seen.rw_acquired, 10);
	CU_ASSERT_EQUAL(seen.rw_released, 10);
	CU_ASSERT_EQUAL(seen.waits, seen.woken);
	CU_ASSERT_EQUAL(seen.signals, 1);
}

static void all_locks_are_events_when_asked_for(void)
{
	struct seen seen;

	setenv("TRACER_PTHREAD", "all", 1);
	seen = run("pthread", "locks", 10);
	unsetenv("TRACER_PTHREAD");
	CU_ASSERT(seen.locked >= 10); /* those of the thread that did not wait */
	CU_ASSERT_EQUAL(seen.released, seen.locked + seen.acquired + seen.woken);
	CU_ASSERT(seen.shortest_hold_ns < 1000000000);
	CU_ASSERT_EQUAL(seen.rw_released, 20);
}

static void every_instrumented_call_enters_and_exits(void)
{
	struct seen seen = run("functions", "functions", COUNT);

	CU_ASSERT_EQUAL(seen.enters, 3 * COUNT);
	CU_ASSERT_EQUAL(seen.exits, 3 * COUNT);
	CU_ASSERT_EQUAL(seen.function, seen.truth);
}

/* Actions of all kinds of programs at start-up and at exit, before constructors and after
 * destructors. */
static void common_programs_run_unchanged(void)
{
	static const char *const commands[] = {
		"ls /usr/lib | sort | wc -l > /dev/null",
		"awk 'BEGIN { for (i = 0; i < 10000; i++) a[i] = i; exit a[9999] != 9999 }'",
		"sh -c '(exit 0) & wait'",
		"env -i LD_PRELOAD=$LD_PRELOAD true",
		"find /usr/share/doc -name copyright -print0 | xargs -0 -n 50 grep -c GPL > /dev/null; true",
	};
	char command[1024];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(command, sizeof(command),
			 "LD_PRELOAD=%s/libtracer-malloc.so:%s/libtracer-pthread.so; export LD_PRELOAD; %s", TRACE_LIB,
			 TRACE_LIB, commands[i]);
		CU_ASSERT_EQUAL(system(command), 0);
	}
}

static const struct unit_case cases[] = {
	{"every_allocation_is_an_event", every_allocation_is_an_event},
	{"a_library_is_recorded_with_its_full_path", a_library_is_recorded_with_its_full_path},
	{"a_forked_child_goes_on_by_itself", a_forked_child_goes_on_by_itself},
	{"only_waits_for_locks_are_events", only_waits_for_locks_are_events},
	{"all_locks_are_events_when_asked_for", all_locks_are_events_when_asked_for},
	{"every_instrumented_call_enters_and_exits", every_instrumented_call_enters_and_exits},
	{"common_programs_run_unchanged", common_programs_run_unchanged},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("preload", cases, argc, argv);
}

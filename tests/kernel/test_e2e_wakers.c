/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_wakers.c - what ended the waits of workload_wakers.c, which measures them
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/sched.h>
#include <trace/analysis.h>
#include <trace/events.h>

#include "e2e_session.h"
#include "unit.h"

#define NR 4

static const struct {
	const char *waker, *waiter;
} pairs[NR] = {{";wake_by_pipe;", ";wait_for_pipe;"},
	       {";wake_by_event;", ";wait_for_event;"},
	       {";wake_by_condition;", ";wait_for_condition;"},
	       {";wake_deep;wake_deep;", ";wait_for_pipe;"}};

/* The time in stacks with @waiter before, and @waker behind what separates them. */
static long long ns_of(const json_t *profile, const char *waiter, const char *waker)
{
	long long ns = 0;
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_string_value(json_object_get(row, "stack")), *behind = strstr(stack, ";--;"),
			   *at = strstr(stack, waiter);

		if (at && behind && at < behind && strstr(behind, waker))
			ns += (long long)json_integer_value(json_object_get(row, "ns"));
	}
	return ns;
}

/* ---- one recording of all programs ---- */

static struct session all;

static int write_number(const char *path, long number)
{
	FILE *file = fopen(path, "w");
	int result = file ? fprintf(file, "%ld\n", number) : -1;

	return file && fclose(file) == 0 && result > 0 ? 0 : -1;
}

static long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

/* The programs run one after the other, and each has the name of what it does. */
static const struct session *recorded(void)
{
	static const char limit[] = "/proc/sys/kernel/pid_max";
	static const char programs[] =
		"cd %s && ln -s " TRACE_WAKERS " long_waits && ln -s " TRACE_WAKERS
		" short_waits && ln -s " TRACE_WAKERS " second_recorder && %s/tracedaemon --sample %s "
		"-- sh -c './long_waits 2000000 20 >long_waits.truth && ./short_waits 60000 3000 >short_waits.truth && "
		"/proc/%d/exe --sleepers >sleepers && " TRACE_WAKE_KINDS " 20 >kinds && "
		"%s/tracedaemon other.trace -- ./second_recorder 2000000 10 >second' 2>stderr";
	long before = read_number(limit);
	int result;

	if (all.trace[0])
		return &all;
	session_begin(&all);
	CU_ASSERT_FATAL(before > 0 && write_number(limit, 4194304) == 0); /* for the sleepers */
	result = session_run(programs, all.folder, TRACE_BIN, all.trace, (int)getpid(), TRACE_BIN);
	write_number(limit, before);
	CU_ASSERT_EQUAL_FATAL(result, 0);
	return &all;
}

/* @tolerance: of the share of a waker, percent of all waits of the waiter */
static void compare(const char *program, double tolerance)
{
	const struct session *s = recorded();
	long long truth[NR], found[NR], all_truth = 0, all_found = 0;
	char line[128], name[64], options[64];
	json_t *profile;
	FILE *out;

	snprintf(line, sizeof(line), "%s/%s.truth", s->folder, program);
	out = fopen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (int i = 0; i < NR; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof(line), out));
		CU_ASSERT_EQUAL_FATAL(sscanf(line, "%63s %lld", name, &truth[i]), 2);
		all_truth += truth[i];
	}
	fclose(out);
	snprintf(options, sizeof(options), "--folded=wakers --comm=%s --verify", program);
	profile = session_load(s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	for (int i = 0; i < NR; i++) {
		found[i] = ns_of(profile, pairs[i].waiter, pairs[i].waker);
		all_found += found[i];
	}
	for (int i = 0; i < NR; i++) {
		double off = 100.0 * ((double)found[i] / (double)(all_found + !all_found) -
				      (double)truth[i] / (double)(all_truth + !all_truth));

		CU_ASSERT(off < tolerance && off > -tolerance);
		if (off >= tolerance || off <= -tolerance)
			fprintf(stderr, "%s: %lld of %lld ns, expected %lld of %lld\n", pairs[i].waker, found[i],
				all_found, truth[i], all_truth);
		for (int j = 0; j < NR; j++) /* no waker has the waits of another function */
			if (strcmp(pairs[i].waiter, pairs[j].waiter) != 0)
				CU_ASSERT_EQUAL(ns_of(profile, pairs[i].waiter, pairs[j].waker), 0);
	}
	json_decref(profile);
}

static void each_long_wait_has_its_waker(void)
{
	compare("long_waits", 4);
}

/* Of 60 us and its multiples: the longest have 4 times the chance of a stack. */
static void short_waits_have_their_wakers_by_chance(void)
{
	compare("short_waits", 8);
}

/* ---- the choice of waits ---- */

#define NR_LENGTHS     5
#define NR_WAITERS     8
#define SOURCE_OF_WAIT 1

/* struct length - waits shorter than @below_ns: how many there were, should have a stack, and
 * have */
struct length {
	uint64_t below_ns;
	double nr, expected, variance, found;
};

struct waiter {
	uint32_t tid;
	uint64_t since_ns, woken_ns;
	struct length *last; /* of its last wait */
};

struct choices {
	struct length lengths[NR_LENGTHS];
	struct waiter waiters[NR_WAITERS];
};

static struct waiter *waiter_of(struct choices *choices, const struct trace_analysis *analysis, uint32_t tid)
{
	const struct trace_thread *thread = trace_find_thread(analysis, tid);
	struct waiter *at = choices->waiters;

	if (!thread || strcmp(trace_thread_comm(thread), "short_waits") != 0)
		return NULL;
	while (at->tid && at->tid != tid && at < &choices->waiters[NR_WAITERS - 1])
		at++;
	at->tid = tid;
	return at;
}

/* The recorder chooses by the time until the wakeup, or until the switch if it saw none. */
static void end_wait(struct choices *choices, struct waiter *waiter, uint64_t ns)
{
	uint64_t length_ns = (waiter->woken_ns ? waiter->woken_ns : ns) - waiter->since_ns;
	double chance = length_ns < 1000000 ? (double)length_ns / 1e6 : 1;

	waiter->last = choices->lengths;
	while (length_ns >= waiter->last->below_ns)
		waiter->last++;
	waiter->last->nr++;
	waiter->last->expected += chance;
	waiter->last->variance += chance * (1 - chance);
	waiter->since_ns = 0;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct choices *choices = data;
	struct waiter *waiter;

	if (event->id == TRACE_EV_sched_switch) {
		const struct trace_sched_switch *payload = event->payload;

		waiter = waiter_of(choices, analysis, payload->next_tid);
		if (waiter && waiter->since_ns)
			end_wait(choices, waiter, event->ts_ns);
		waiter = payload->prev_state && !(payload->prev_state & 0x80)
				 ? waiter_of(choices, analysis, payload->prev_tid)
				 : NULL;
		if (waiter)
			*waiter = (struct waiter){.tid = payload->prev_tid, .since_ns = event->ts_ns};
	} else if (event->id == TRACE_EV_sched_waking) {
		waiter = waiter_of(choices, analysis, ((const struct trace_sched_waking *)event->payload)->tid);
		if (waiter && waiter->since_ns && !waiter->woken_ns)
			waiter->woken_ns = event->ts_ns;
	} else {
		const struct trace_sample *sample = event->payload;

		waiter = sample->source == SOURCE_OF_WAIT ? waiter_of(choices, analysis, sample->tid) : NULL;
		if (waiter && waiter->last)
			waiter->last->found++;
	}
}

static void count_choices(const char *path, struct choices *choices)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	const uint32_t ids[] = {TRACE_EV_sched_switch, TRACE_EV_sched_waking, TRACE_EV_sample};
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	for (int i = 0; i < 3; i++)
		mask[ids[i] / 64] |= 1ull << ids[i] % 64;
	CU_ASSERT_EQUAL(trace_analysis_on_event(analysis, mask, on_event, choices), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, &error), 0);
	trace_analysis_free(analysis);
	trace_close(trace);
}

/* Waits of 60 us to 0.3 ms, some longer because the machine is busy: of each length as many have
 * stacks as its probability says, as far as chance allows (5 standard deviations). */
static void waits_are_chosen_by_their_length(void)
{
	struct choices choices = {.lengths = {{.below_ns = 100000},
					      {.below_ns = 200000},
					      {.below_ns = 400000},
					      {.below_ns = 1000000},
					      {.below_ns = UINT64_MAX}}};

	count_choices(recorded()->trace, &choices);
	for (int i = 0; i < NR_LENGTHS; i++) {
		const struct length *length = &choices.lengths[i];
		double off = length->found - length->expected;

		CU_ASSERT(fabs(off) <= 5 * sqrt(length->variance));
		if (fabs(off) > 5 * sqrt(length->variance))
			fprintf(stderr, "below %llu ns: %.0f of %.0f waits have stacks, expected %.1f +- %.1f\n",
				(unsigned long long)length->below_ns, length->found, length->nr, length->expected,
				sqrt(length->variance));
	}
	CU_ASSERT(choices.lengths[0].nr + choices.lengths[1].nr + choices.lengths[2].nr > 3000);
}

/* ---- threads with the same slot ---- */

#define SLOTS 65536

/* A process with the number @pid that sleeps for 300 ms three times; -1: it is not free. */
static pid_t sleeper(pid_t pid)
{
	struct clone_args arguments = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	for (int i = 0; child == 0 && i < 3; i++)
		nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	if (child == 0)
		_exit(0);
	return child;
}

/* The time that @pid waited for timers with a stack, ms. */
static long long sampled_ms(const struct session *s, pid_t pid)
{
	char options[64];
	long long ns = 0;
	json_t *profile, *row;
	size_t i;

	snprintf(options, sizeof(options), "--folded=off --pid=%d", pid);
	profile = session_load(s, options);
	json_array_foreach(json_object_get(profile, "folded"), i, row)
		if (strstr(json_string_value(json_object_get(row, "stack")), "nanosleep"))
			ns += json_number(row, "ns");
	json_decref(profile);
	return ns / 1000000;
}

/* This program, recorded: two sleepers with the same low bits in their numbers. */
static int run_sleepers(void)
{
	pid_t first = -1, second = -1;

	for (pid_t pid = 20000; pid < 20100 && second < 0; pid++) {
		if (first > 0) {
			kill(first, SIGKILL);
			waitpid(first, NULL, 0);
		}
		first = sleeper(pid);
		second = first > 0 ? sleeper(pid + SLOTS) : -1;
	}
	if (first < 0 || second < 0)
		return 1;
	waitpid(first, NULL, 0);
	waitpid(second, NULL, 0);
	return printf("%d %d\n", first, second) < 0;
}

static void threads_with_the_same_slot_have_their_stacks(void)
{
	const struct session *s = recorded();
	int first, second;
	char path[160];
	FILE *out;

	snprintf(path, sizeof(path), "%s/sleepers", s->folder);
	out = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_EQUAL_FATAL(fscanf(out, "%d %d", &first, &second), 2);
	fclose(out);
	CU_ASSERT_EQUAL(second - first, SLOTS);
	CU_ASSERT(sampled_ms(s, first) >= 850);
	CU_ASSERT(sampled_ms(s, second) >= 850);
}

/* The program of the event sys_exit is not there to continue with that of the stack. */
static void without_system_calls_waits_have_their_functions(void)
{
	json_t *profile, *row;
	long long ns = 0;
	struct session s;
	size_t i;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample -e sched %s -- " TRACE_WAKERS
					  " 2000000 10 >%s/stdout 2>%s/stderr",
					  TRACE_BIN, s.trace, s.folder, s.folder),
			      0);
	profile = session_load(&s, "--folded=off --comm=workload_wakers");
	json_array_foreach(json_object_get(profile, "folded"), i, row)
		if (strstr(json_string_value(json_object_get(row, "stack")), ";wait_for_pipe;"))
			ns += json_number(row, "ns");
	CU_ASSERT(ns >= 10 * 2000000);
	json_decref(profile);
	session_end(&s);
}

/* ---- what is no thread's doing ---- */

/* The time of the waits in @waiter that @wanted ended, and that of the others. */
static long long ns_woken(const json_t *profile, const char *waiter, const char *wanted, long long *ret_others)
{
	long long ns = 0;
	size_t i;
	json_t *row;

	*ret_others = 0;
	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_string_value(json_object_get(row, "stack")), *behind = strstr(stack, ";--;"),
			   *at = strstr(stack, waiter);

		if (!behind || !at || at > behind)
			continue;
		if (strstr(behind, wanted))
			ns += json_number(row, "ns");
		else
			*ret_others += json_number(row, "ns");
		CU_ASSERT_PTR_NULL(strstr(behind, ";innocent;"));
	}
	return ns;
}

/* Waits of 3 ms that a timer, a known function by a signal, or a softirq ends, while a thread that
 * has nothing to do with them has a CPU. */
static void no_interrupt_has_the_functions_of_a_thread(void)
{
	static const struct {
		const char *waiter, *wanted;
	} waits[] = {{";wait_for_sleep;", ";(timer)"},
		     {";wait_for_timerfd;", ";(timer)"},
		     {";wait_for_alarm;", ";(timer)"},
		     {";wait_for_signal;", ";send_signal;"},
		     {";wait_for_packet;", ";(softirq)"}};
	json_t *profile = session_load(recorded(), "--folded=wakers --comm=workload_wake_k --verify");

	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		long long others, ns = ns_woken(profile, waits[i].waiter, waits[i].wanted, &others);

		/* the thread does other things too, for a short time: its request to the child */
		CU_ASSERT(ns >= 20 * 2500000ll && others <= ns / 10);
		if (ns < 20 * 2500000ll || others > ns / 10)
			fprintf(stderr, "%s: %lld ns%s, %lld ns others\n", waits[i].waiter, ns, waits[i].wanted,
				others);
	}
	json_decref(profile);
}

/* With two programs on a tracepoint the kernel calls them in a function of its own. */
static void a_second_recorder_changes_no_stack(void)
{
	json_t *profile = session_load(recorded(), "--folded=wakers --comm=second_recorder"), *row;
	size_t i, nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_string_value(json_object_get(row, "stack")), *waker = strstr(stack, ";--;");

		if (!waker || !strstr(stack, ";waiter;") || strstr(waker, "(waker not sampled)"))
			continue;
		nr++;
		CU_ASSERT_EQUAL(strncmp(waker, ";--;try_to_wake_up", 18), 0);
	}
	CU_ASSERT(nr >= NR);
	json_decref(profile);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_long_wait_has_its_waker),
		CASE(short_waits_have_their_wakers_by_chance),
		CASE(waits_are_chosen_by_their_length),
		CASE(threads_with_the_same_slot_have_their_stacks),
		CASE(without_system_calls_waits_have_their_functions),
		CASE(no_interrupt_has_the_functions_of_a_thread),
		CASE(a_second_recorder_changes_no_stack),
		{NULL, NULL},
	};
	int result;

	if (argc == 2 && strcmp(argv[1], "--sleepers") == 0)
		return run_sleepers();
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_wakers: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_wakers", cases, argc, argv);
	if (all.trace[0])
		session_end(&all);
	return result;
}

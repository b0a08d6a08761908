/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_crosscheck.c - fifty processes at once on the machine's CPUs (workload_crosscheck.c):
 * compare the kernel's own accounting of each with the analysis and the report. Root only; skipped
 * (77) where the kernel cannot be recorded.
 *
 * The two sides count differently:
 * - Interrupts. The kernel's run time (CLOCK_THREAD_CPUTIME_ID, getrusage, schedstat) includes
 *   interrupts, so the test compares user + system + interrupted. With CONFIG_IRQ_TIME_ACCOUNTING
 *   it does not include them. /proc/stat shows that, and the test takes it into account.
 * - Stolen time. The kernel's run time leaves out what a virtual machine's host took
 *   (CONFIG_PARAVIRT_TIME_ACCOUNTING), which we count as stolen, a part of the CPU time. The kernel
 *   reports it at the end of a time slice, so in the slice in which a thread read its clock it is
 *   unknown how much came before. And the kernel may leave out too little: if another CPU reads the
 *   run queue's clock while the host has this one, the time so far counts for the thread before it
 *   is known to be stolen, and later there is nothing left to subtract it from. So the kernel's
 *   figure may exceed ours by the stolen time.
 * - Wakeups. The kernel's run delay begins when a thread enters a run queue. Our wait_cpu begins
 *   when the waker starts to wake it (sched_waking). In between are the waker's own time and, if
 *   another CPU has to enqueue the thread, the delay until that CPU reacts, which is long when the
 *   host has it. sched_wakeup shows when the thread was in the queue, within PER_WAKEUP_NS.
 * - Preemption at a wakeup. In the kernel's accounting a thread that preempts another on its wakeup
 *   begins to run at the wakeup, and the other's time ends there, because the kernel avoids another
 *   reading of the clock (rq_clock_skip_update() in wakeup_preempt(), and when a thread yields). In
 *   ours it begins at the switch: after the rest of the interrupt that woke it, after the softirqs
 *   at its end (RCU frees memory there, which differs by machine and may be long), and after the
 *   work that the kernel does for the program with preemption off. So the time since the first
 *   wakeup (or move to this CPU, or yield) after which the program did not run may belong to either
 *   thread, within PER_PREEMPTION_NS. The same holds for the time that the host took meanwhile,
 *   which the kernel reports with that of the next slice. The test compares the sum of running and
 *   waiting without that time.
 * - Delayed dequeue. A thread that goes to sleep may stay in its run queue until its share of the
 *   CPU is used up (since Linux 6.12). When such a sleeper is moved to another CPU, the kernel
 *   starts to count run delay, until the wakeup: up to tens of milliseconds next to loaded CPUs,
 *   for a thread that sleeps. The trace has the move and the wakeup, so the test subtracts that
 *   time from the kernel's figure.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <trace/analysis.h>
#include "e2e_session.h"
#include "unit.h"

#define NR_PROCESSES	  50
#define MAX_THREADS	  100
#define MAX_MOVES	  1000 /* of one thread */
#define MAX_CPUS	  1024
#define NR_RECORDINGS	  5
#define SLACK_NS	  100000
#define PER_WAKEUP_NS	  2000
#define PER_PREEMPTION_NS 6000
#define COMPUTE		  0 /* the kind that never blocks */

/**
 * struct figures - of one thread or process: the kernel's figures and ours
 */
struct figures {
	long long cpu_ns, delay_ns;
	long long our_cpu_ns, our_interrupted_ns, our_delay_ns, our_unknown_ns, nr_wakeups, nr_preemptions;
	long long moved_asleep_ns;	      /* from a move during its sleep until its wakeup */
	long long stolen_ns, stolen_after_ns; /* reported after the account was read */
	long long either_ns;		      /* near preemptions: of one thread or the other */
	long long late_ns;		      /* woken, but not in a queue yet */
};

/**
 * struct thread - one thread in one recording
 * @begun: from its birth to to_ns
 * @window: from from_ns to to_ns
 */
struct thread {
	int process, nr;
	long long kind, tid, from_ns, to_ns, from_delay_ns, cpu_ns, run_ns, delay_ns;
	long long ran_until_ns;	    /* end of the latest interval on a CPU */
	long long waking_ns;	    /* 0 = no wakeup has begun */
	long long moves[MAX_MOVES]; /* to other CPUs */
	int nr_moves;
	struct figures begun, window;
};

/**
 * struct recording - one recording
 * @dead: the whole lives of the processes, from the report
 */
struct recording {
	struct thread threads[MAX_THREADS];
	struct figures dead[NR_PROCESSES];
	long long dead_main_delay_ns[NR_PROCESSES], our_main_delay_ns[NR_PROCESSES];
	long long process_cpu_ns[NR_PROCESSES], rusage_ns[NR_PROCESSES], main_cpu_ns[NR_PROCESSES],
		nr_threads[NR_PROCESSES];
	int nr;
	struct {
		/* time at which it got another thread, if the program on it has not run since; 0:
		 * otherwise */
		long long another_ns;
		bool preempts; /* the thread on it now */
		struct thread *preempted;
	} cpus[MAX_CPUS];
};

static struct recording recordings[NR_RECORDINGS];
static int nr_recordings;
static bool irq_time_is_apart;

/* ---- truth ---- */

struct truths {
	struct {
		char key[40];
		long long value;
	} * lines; /* owned */
	size_t nr;
};

static struct truths read_truths(const char *path)
{
	struct truths truths = {.lines = calloc(4096, sizeof(*truths.lines))};
	FILE *file = fopen(path, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (truths.nr < 4096 &&
	       fscanf(file, "%39s %lld", truths.lines[truths.nr].key, &truths.lines[truths.nr].value) == 2)
		truths.nr++;
	fclose(file);
	return truths;
}

static long long truth_of(const struct truths *truths, int process, int thread, const char *name)
{
	char key[64];

	if (thread < 0)
		snprintf(key, sizeof(key), "%d.%s", process, name);
	else
		snprintf(key, sizeof(key), "%d.%d.%s", process, thread, name);
	for (size_t i = 0; i < truths->nr; i++)
		if (strcmp(truths->lines[i].key, key) == 0)
			return truths->lines[i].value;
	fprintf(stderr, "\n    the workload said nothing of %s\n", key);
	CU_FAIL_FATAL("no truth");
	return -1;
}

static void take_truth(struct recording *r, const struct truths *truths, int process)
{
	r->nr_threads[process] = truth_of(truths, process, -1, "threads");
	r->process_cpu_ns[process] = truth_of(truths, process, -1, "process_cpu_ns");
	r->rusage_ns[process] = truth_of(truths, process, -1, "rusage_ns");
	r->dead[process].cpu_ns = truth_of(truths, process, -1, "all_cpu_ns");
	r->dead_main_delay_ns[process] = truth_of(truths, process, -1, "all_delay_ns");
	for (int i = 0; i < r->nr_threads[process]; i++) {
		CU_ASSERT_FATAL(r->nr < MAX_THREADS);
		r->threads[r->nr++] = (struct thread){
			.process = process,
			.nr = i,
			.kind = truth_of(truths, process, -1, "kind"),
			.tid = truth_of(truths, process, i, "tid"),
			.from_ns = truth_of(truths, process, i, "from_ns"),
			.to_ns = truth_of(truths, process, i, "to_ns"),
			.from_delay_ns = truth_of(truths, process, i, "from_delay_ns"),
			.cpu_ns = truth_of(truths, process, i, "cpu_ns"),
			.run_ns = truth_of(truths, process, i, "run_ns"),
			.delay_ns = truth_of(truths, process, i, "delay_ns"),
		};
	}
	r->main_cpu_ns[process] = truth_of(truths, process, 0, "cpu_ns");
}

/* A column of the first line of /proc/stat, which is in hundredths of a second. */
static long long proc_stat_ns(int column)
{
	long long value[10] = {0};
	FILE *file = fopen("/proc/stat", "r");

	if (!file || fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &value[0], &value[1], &value[2],
			    &value[3], &value[4], &value[5], &value[6], &value[7]) != 8)
		value[column] = 0;
	if (file)
		fclose(file);
	return value[column] * 10000000;
}

/* ---- our side ---- */

static long long overlap(const struct trace_interval *interval, long long from_ns, long long to_ns)
{
	long long from = (long long)interval->from_ns > from_ns ? (long long)interval->from_ns : from_ns;
	long long to = (long long)interval->to_ns < to_ns ? (long long)interval->to_ns : to_ns;

	return to > from ? to - from : 0;
}

/* The time during which the kernel counts the thread as waiting for a CPU although it sleeps. */
static long long moved_asleep(const struct thread *thread, const struct trace_interval *interval, long long from_ns,
			      long long to_ns)
{
	for (int i = 0; i < thread->nr_moves; i++) {
		struct trace_interval rest = *interval;

		if (thread->moves[i] <= (long long)interval->from_ns || thread->moves[i] >= (long long)interval->to_ns)
			continue;
		rest.from_ns = (uint64_t)thread->moves[i];
		return overlap(&rest, from_ns, to_ns);
	}
	return 0;
}

static void add(struct figures *figures, const struct thread *thread, const struct trace_interval *interval,
		long long from_ns, long long to_ns, bool preempted)
{
	long long ns = overlap(interval, from_ns, to_ns);

	switch (interval->state) {
	case TRACE_STATE_INTERRUPTED:
		figures->our_interrupted_ns += ns;
		break;
	case TRACE_STATE_WAIT_CPU:
		figures->our_delay_ns += ns;
		figures->nr_preemptions += ns > 0 && preempted;
		figures->nr_wakeups += ns > 0 && !preempted;
		break;
	case TRACE_STATE_BLOCKED:
		figures->our_unknown_ns += interval->kind == TRACE_WAIT_UNKNOWN ? ns : 0;
		figures->moved_asleep_ns += moved_asleep(thread, interval, from_ns, to_ns);
		break;
	default:
		figures->our_cpu_ns += ns;
	}
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct recording *r = data;
	long long tid = trace_thread_tid(interval->thread);
	bool preempted;

	for (int i = 0; i < r->nr; i++) {
		struct thread *thread = &r->threads[i];

		if (thread->tid != tid)
			continue;
		preempted = interval->state == TRACE_STATE_WAIT_CPU &&
			    (long long)interval->from_ns == thread->ran_until_ns;
		add(&thread->begun, thread, interval, 0, thread->to_ns, preempted);
		add(&thread->window, thread, interval, thread->from_ns, thread->to_ns, preempted);
		add(&r->dead[thread->process], thread, interval, 0, INT64_MAX, preempted);
		if (interval->state != TRACE_STATE_WAIT_CPU && interval->state != TRACE_STATE_BLOCKED)
			thread->ran_until_ns = (long long)interval->to_ns;
	}
}

static struct thread *thread_of(struct recording *r, long long tid)
{
	for (int i = 0; i < r->nr; i++)
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	return NULL;
}

static void add_either(struct thread *thread, long long ns, long long either)
{
	if (!thread)
		return;
	thread->begun.either_ns += either;
	if (ns > thread->from_ns)
		thread->window.either_ns += either;
}

static void on_stolen(struct recording *r, uint32_t cpu, struct thread *thread, long long ns, long long stolen)
{
	if (thread && ns > thread->to_ns)
		thread->begun.stolen_after_ns += stolen;
	if (!r->cpus[cpu].preempts)
		return;
	add_either(thread, ns, stolen);
	add_either(r->cpus[cpu].preempted, ns, stolen);
}

static void on_switch(struct recording *r, uint32_t cpu, const struct trace_sched_switch *sw, long long ns)
{
	struct thread *prev = sw->prev_tid ? thread_of(r, sw->prev_tid) : NULL;

	r->cpus[cpu].preempts = sw->prev_tid && sw->prev_state == TRACE_TASK_RUNNING;
	r->cpus[cpu].preempted = r->cpus[cpu].preempts ? prev : NULL;
	if (r->cpus[cpu].preempts && r->cpus[cpu].another_ns) {
		add_either(prev, ns, ns - r->cpus[cpu].another_ns);
		add_either(thread_of(r, sw->next_tid), ns, ns - r->cpus[cpu].another_ns);
	}
	r->cpus[cpu].another_ns = 0;
}

/* @cpu gets another runnable thread, which may preempt the one on it. */
static void on_another(struct recording *r, uint32_t cpu, long long ns)
{
	if (cpu < MAX_CPUS && r->cpus[cpu].another_ns == 0)
		r->cpus[cpu].another_ns = ns;
}

static void on_move(struct recording *r, const struct trace_sched_migrate *move, long long ns)
{
	struct thread *thread = thread_of(r, move->tid);

	if (thread && thread->nr_moves < MAX_MOVES)
		thread->moves[thread->nr_moves++] = ns;
	on_another(r, move->to_cpu, ns);
}

static void on_waking(struct thread *thread, long long ns)
{
	if (thread)
		thread->waking_ns = ns;
}

static void on_wakeup(struct recording *r, const struct trace_sched_wakeup *wakeup, long long ns)
{
	struct thread *thread = thread_of(r, wakeup->tid);

	if (thread && ns <= thread->to_ns && thread->waking_ns)
		thread->begun.late_ns += ns - thread->waking_ns;
	on_waking(thread, 0);
	on_another(r, wakeup->target_cpu, ns);
}

/* A system call of the program: it ran, so no preemption was pending. */
static void on_call(struct recording *r, const struct trace_event *event)
{
	const struct trace_sys_enter *call = event->payload;

	r->cpus[event->cpu].another_ns = event->id == TRACE_EV_sys_enter && call->nr == SYS_sched_yield
						 ? (long long)event->ts_ns
						 : 0;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *running = trace_thread_on_cpu(analysis, event->cpu);
	long long ns = (long long)event->ts_ns;
	struct recording *r = data;

	if (event->cpu >= MAX_CPUS)
		return;
	switch (event->id) {
	case TRACE_EV_cpu_stolen:
		on_stolen(r, event->cpu, running ? thread_of(r, trace_thread_tid(running)) : NULL, ns,
			  (long long)((const struct trace_cpu_stolen *)event->payload)->ns);
		break;
	case TRACE_EV_sched_switch:
		on_switch(r, event->cpu, event->payload, ns);
		break;
	case TRACE_EV_sched_migrate:
		on_move(r, event->payload, ns);
		break;
	case TRACE_EV_sched_waking:
		on_waking(thread_of(r, ((const struct trace_sched_waking *)event->payload)->tid), ns);
		break;
	case TRACE_EV_sched_wakeup:
		on_wakeup(r, event->payload, ns);
		break;
	case TRACE_EV_fault_entry:
		if (((const struct trace_fault_entry *)event->payload)->user)
			on_call(r, event);
		break;
	default:
		on_call(r, event);
	}
}

static void analyze(struct recording *r, const char *path)
{
	static const uint32_t events[] = {TRACE_EV_sched_migrate, TRACE_EV_sched_waking, TRACE_EV_sched_wakeup,
					  TRACE_EV_sched_switch,  TRACE_EV_cpu_stolen,	 TRACE_EV_sys_enter,
					  TRACE_EV_sys_enter3,	  TRACE_EV_sys_enter6,	 TRACE_EV_fault_entry};
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		mask[events[i] / 64] |= 1ull << events[i] % 64;
	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_on_interval(analysis, on_interval, r), 0);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_on_event(analysis, mask, on_event, r), 0);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, &error), 0);
	trace_analysis_free(analysis);
	trace_close(trace);
}

static json_t *thread_row(const json_t *process, long long tid)
{
	json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(process, "threads"), i, thread)
		if (json_number(thread, "tid") == tid)
			return thread;
	return NULL;
}

/* The figures of the report for @thread's process. The sums of the hook must equal them. */
static void take_report(struct recording *r, const json_t *report, const struct thread *thread)
{
	const json_t *process = json_process(report, thread->tid);
	struct figures *dead = &r->dead[thread->process];

	CU_ASSERT_PTR_NOT_NULL_FATAL(process);
	CU_ASSERT_EQUAL(json_number(process, "user_ns") + json_number(process, "system_ns"), dead->our_cpu_ns);
	CU_ASSERT_EQUAL(json_number(process, "interrupted_ns"), dead->our_interrupted_ns);
	CU_ASSERT_EQUAL(json_number(process, "wait_cpu_ns"), dead->our_delay_ns);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(process, "threads")), (size_t)r->nr_threads[thread->process]);
	dead->stolen_ns = json_number(process, "stolen_ns");
	for (struct thread *one = r->threads; one < r->threads + r->nr; one++)
		if (one->process == thread->process)
			one->begun.stolen_ns = json_number(thread_row(process, one->tid), "stolen_ns");
	r->our_main_delay_ns[thread->process] = json_number(thread_row(process, thread->tid), "wait_cpu_ns");
}

static void record_once(struct recording *r)
{
	long long irq = proc_stat_ns(5) + proc_stat_ns(6);
	struct truths truths;
	struct session s;

	memset(r, 0, sizeof(*r));
	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon -b4194304 -e+sched_wakeup %s -- %s %s %s 2>%s/stderr",
					  TRACE_BIN, s.trace, TRACE_WORKLOAD_CROSSCHECK, s.truth, s.folder, s.folder),
			      0);
	irq_time_is_apart = irq_time_is_apart || proc_stat_ns(5) + proc_stat_ns(6) - irq > 100000000;
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, s.trace), 0);
	truths = read_truths(s.truth);
	for (int i = 0; i < NR_PROCESSES; i++)
		take_truth(r, &truths, i);
	free(truths.lines);
	analyze(r, s.trace);
	s.report = session_load(&s, "-a");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	CU_ASSERT_EQUAL(json_number(json_object_get(s.report, "trace"), "lost"), 0);
	for (int i = 0; i < r->nr; i++)
		if (r->threads[i].nr == 0)
			take_report(r, s.report, &r->threads[i]);
	session_end(&s);
}

/* Makes the recordings, once for all cases. */
static void record(void)
{
	while (nr_recordings < NR_RECORDINGS)
		record_once(&recordings[nr_recordings++]);
}

/* ---- comparing ---- */

/**
 * struct worst - over all compared threads: the largest part of the tolerance that was used
 */
struct worst {
	double share;
	long long ns;
	char who[24];
};

/**
 * struct difference - our figure minus the kernel's, and its tolerance
 * @either_ns: the part of the tolerance that comes from preemptions
 */
struct difference {
	long long ns, expected_ns, allowed_ns, either_ns;
};

/* @split: running and waiting are compared separately. */
static struct difference difference_of(long long ours, long long expected, const struct figures *figures, bool split)
{
	long long allowed = expected / 100 > SLACK_NS ? expected / 100 : SLACK_NS;
	long long either = split ? figures->nr_preemptions * PER_PREEMPTION_NS + figures->either_ns : 0;

	allowed += figures->nr_wakeups * PER_WAKEUP_NS + figures->our_unknown_ns + either;
	return (struct difference){ours - expected, expected, allowed, either};
}

static int by_ns(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Compares the median, because the host may take the CPU between our reading of the clock and the
 * scheduler's. */
static void judge(const char *what, int process, int thread, struct difference differences[NR_RECORDINGS],
		  struct worst *worst)
{
	const struct difference *one = &differences[NR_RECORDINGS / 2];
	double share;

	qsort(differences, NR_RECORDINGS, sizeof(*differences), by_ns);
	share = (double)llabs(one->ns) / (double)one->allowed_ns;
	if (share > 1)
		fprintf(stderr,
			"\n    %s of %d.%d: off by %lld of %lld ns, allowed %lld (with %lld about preemptions)\n", what,
			process, thread, one->ns, one->expected_ns, one->allowed_ns, one->either_ns);
	CU_ASSERT(share <= 1);
	if (share >= worst->share) {
		worst->share = share;
		worst->ns = one->ns;
		snprintf(worst->who, sizeof(worst->who), "%d.%d", process, thread);
	}
}

static void print_worst(const char *what, const struct worst *worst)
{
	fprintf(stderr, "\n    %s: worst %s, %lld ns = %.0f %% of what is allowed\n", what, worst->who, worst->ns,
		worst->share * 100);
}

typedef struct difference (*compare_fn)(const struct recording *r, int thread);

static void compare_threads(const char *what, compare_fn compare, long long only_kind)
{
	struct difference differences[NR_RECORDINGS];
	struct worst worst = {0};

	record();
	for (int i = 0; i < recordings[0].nr; i++) {
		if (only_kind >= 0 && recordings[0].threads[i].kind != only_kind)
			continue;
		for (int j = 0; j < NR_RECORDINGS; j++)
			differences[j] = compare(&recordings[j], i);
		judge(what, recordings[0].threads[i].process, recordings[0].threads[i].nr, differences, &worst);
	}
	print_worst(what, &worst);
}

static long long our_cpu(const struct figures *figures)
{
	return figures->our_cpu_ns + (irq_time_is_apart ? 0 : figures->our_interrupted_ns);
}

static long long our_delay(const struct figures *figures)
{
	return figures->our_delay_ns - figures->late_ns;
}

/* ---- the claims ---- */

static struct difference with_room_for_stolen(struct difference difference, const struct figures *figures)
{
	difference.allowed_ns += figures->stolen_after_ns;
	if (difference.ns < 0)
		difference.allowed_ns += figures->stolen_ns;
	return difference;
}

static struct difference cpu_time(const struct recording *r, int i)
{
	const struct thread *thread = &r->threads[i];

	return with_room_for_stolen(difference_of(our_cpu(&thread->begun) - thread->begun.stolen_ns, thread->cpu_ns,
						  &thread->begun, true),
				    &thread->begun);
}

static void cpu_time_agrees_with_each_threads_clock(void)
{
	compare_threads("CPU time", cpu_time, -1);
}

static struct difference run_delay(const struct recording *r, int i)
{
	const struct thread *thread = &r->threads[i];

	return difference_of(our_delay(&thread->begun), thread->delay_ns - thread->begun.moved_asleep_ns,
			     &thread->begun, true);
}

static void waiting_for_a_cpu_agrees_with_run_delay(void)
{
	compare_threads("run delay", run_delay, -1);
}

/* Running or runnable: it does not matter when a thread got the CPU, only when it slept. */
static struct difference runnable(const struct recording *r, int i)
{
	const struct thread *thread = &r->threads[i];

	return with_room_for_stolen(
		difference_of(our_cpu(&thread->begun) - thread->begun.stolen_ns + our_delay(&thread->begun),
			      thread->cpu_ns + thread->delay_ns - thread->begun.moved_asleep_ns, &thread->begun, false),
		&thread->begun);
}

static void running_and_waiting_for_a_cpu_agree_in_sum(void)
{
	compare_threads("run time and delay", runnable, -1);
}

/* A thread that never sleeps was on a CPU whenever it did not wait for one, by the wall clock,
 * whatever the host took meanwhile. */
static struct difference wall_clock(const struct recording *r, int i)
{
	const struct thread *thread = &r->threads[i];
	long long delay = thread->delay_ns - thread->from_delay_ns - thread->window.moved_asleep_ns;

	return difference_of(our_cpu(&thread->window) + thread->window.our_unknown_ns,
			     thread->to_ns - thread->from_ns - delay, &thread->window, true);
}

static void a_thread_that_never_sleeps_ran_for_the_rest_of_the_time(void)
{
	compare_threads("elapsed less delay", wall_clock, COMPUTE);
}

static const struct figures *main_figures(const struct recording *r, int process)
{
	for (int i = 0; i < r->nr; i++)
		if (r->threads[i].process == process && r->threads[i].nr == 0)
			return &r->threads[i].begun;
	CU_FAIL_FATAL("a process without a main thread");
	return NULL;
}

static void whole_lives_agree_with_the_clocks_of_the_dead(void)
{
	struct difference cpu[NR_RECORDINGS], delay[NR_RECORDINGS];
	struct worst worst_cpu = {0}, worst_delay = {0};

	record();
	for (int i = 0; i < NR_PROCESSES; i++) {
		for (int j = 0; j < NR_RECORDINGS; j++) {
			const struct figures *dead = &recordings[j].dead[i], *main = main_figures(&recordings[j], i);

			cpu[j] = with_room_for_stolen(
				difference_of(our_cpu(dead) - dead->stolen_ns, dead->cpu_ns, dead, true), dead);
			delay[j] = difference_of(recordings[j].our_main_delay_ns[i] - main->late_ns,
						 recordings[j].dead_main_delay_ns[i] - main->moved_asleep_ns, dead,
						 true);
			cpu[j].allowed_ns += main->either_ns;
			delay[j].allowed_ns += main->either_ns;
		}
		judge("CPU time of the dead process", i, 0, cpu, &worst_cpu);
		judge("run delay of the dead main thread", i, 0, delay, &worst_delay);
	}
	print_worst("whole lives, CPU time", &worst_cpu);
	print_worst("whole lives, run delay", &worst_delay);
}

/* The sum over all processes: no time is counted for two of them. */
static void the_sum_of_all_processes_agrees(void)
{
	record();
	for (int j = 0; j < NR_RECORDINGS; j++) {
		long long kernel = 0, delay = 0, ours = 0, ours_waiting = 0, stolen = 0, late = 0, unknown = 0;
		const struct recording *r = &recordings[j];

		for (int i = 0; i < r->nr; i++) {
			const struct figures *begun = &r->threads[i].begun;

			kernel += r->threads[i].cpu_ns;
			delay += r->threads[i].delay_ns - begun->moved_asleep_ns;
			ours += our_cpu(begun) - begun->stolen_ns;
			ours_waiting += our_delay(begun);
			stolen += begun->stolen_ns;
			late += begun->late_ns;
			unknown += begun->our_unknown_ns + begun->stolen_after_ns;
		}
		fprintf(stderr,
			"\n    all threads: CPU %.3f ms, ours %+.3f ms; delay %.3f ms, ours %+.3f ms; stolen %.3f ms, "
			"woken late %.3f ms, unknown %.3f ms\n",
			kernel / 1e6, (ours - kernel) / 1e6, delay / 1e6, (ours_waiting - delay) / 1e6, stolen / 1e6,
			late / 1e6, unknown / 1e6);
		CU_ASSERT(ours - kernel <= kernel / 100 + unknown);
		CU_ASSERT(kernel - ours <= kernel / 100 + unknown + stolen);
		CU_ASSERT(llabs(ours_waiting - delay) <= delay / 100 + unknown);
	}
}

/* The kernel's own clocks must agree with each other; otherwise all the comparisons above are
 * meaningless. */
static void the_kernels_clocks_agree_among_each_other(void)
{
	record();
	for (int j = 0; j < NR_RECORDINGS; j++) {
		const struct recording *r = &recordings[j];

		for (int i = 0; i < r->nr; i++) {
			const struct thread *thread = &r->threads[i];

			/* a tick came, or it had to wait */
			CU_ASSERT(thread->run_ns >= thread->cpu_ns && thread->run_ns <= thread->cpu_ns + 5000000);
			if (thread->nr == 0) {
				int p = thread->process;

				CU_ASSERT(llabs(r->rusage_ns[p] - r->process_cpu_ns[p]) < 1000000);
				CU_ASSERT(r->dead[p].cpu_ns >= r->process_cpu_ns[p]);
				CU_ASSERT(r->nr_threads[p] > 1 ||
					  llabs(r->main_cpu_ns[p] - r->process_cpu_ns[p]) < 1000000);
			}
		}
	}
}

static const struct unit_case cases[] = {
	{"the_kernels_clocks_agree_among_each_other", the_kernels_clocks_agree_among_each_other},
	{"cpu_time_agrees_with_each_threads_clock", cpu_time_agrees_with_each_threads_clock},
	{"waiting_for_a_cpu_agrees_with_run_delay", waiting_for_a_cpu_agrees_with_run_delay},
	{"running_and_waiting_for_a_cpu_agree_in_sum", running_and_waiting_for_a_cpu_agree_in_sum},
	{"a_thread_that_never_sleeps_ran_for_the_rest_of_the_time",
	 a_thread_that_never_sleeps_ran_for_the_rest_of_the_time},
	{"whole_lives_agree_with_the_clocks_of_the_dead", whole_lives_agree_with_the_clocks_of_the_dead},
	{"the_sum_of_all_processes_agrees", the_sum_of_all_processes_agrees},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_crosscheck: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("cross-check with the kernel's accounts", cases, argc, argv);
}

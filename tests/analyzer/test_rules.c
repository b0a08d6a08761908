/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rules.c - a result that breaks a rule is reported, with its time and thread.
 *
 * The analysis makes no such result, so the test gives the rules intervals and events that it made
 * up. The program is linked with rules of its own, whose hooks it keeps (-Wl,--wrap).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "rules/rules.h"
#include "unit.h"

static struct {
	trace_interval_fn fn;
	void *data;
} kept[16];
static size_t nr_kept;
static struct {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn fn;
	void *data;
} kept_events[16];
static size_t nr_kept_events;

int __wrap_trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn,
					 void *data);
int __wrap_trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn,
					 void *data)
{
	(void)analysis;
	(void)states;
	kept[nr_kept].fn = fn;
	kept[nr_kept++].data = data;
	return 0;
}

int __wrap_trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn,
				   void *data);
int __wrap_trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn, void *data)
{
	(void)analysis;
	memcpy(kept_events[nr_kept_events].mask, mask, sizeof(kept_events[0].mask));
	kept_events[nr_kept_events].fn = fn;
	kept_events[nr_kept_events++].data = data;
	return 0;
}

/* Behind the pass no thread is in a call, so the test says in which one it is. */
static const char *call_in_progress;
const char *__wrap_trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread);
const char *__wrap_trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread)
{
	(void)analysis;
	(void)thread;
	return call_in_progress;
}

static uint64_t call_args[2];
uint64_t __wrap_trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx);
uint64_t __wrap_trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx)
{
	(void)thread;
	return idx < 2 ? call_args[idx] : 0;
}

/* ---- the state has no answers for made-up intervals ---- */

uint64_t state_socket_peer(const struct trace_analysis *analysis, uint64_t ino)
{
	(void)analysis;
	(void)ino;
	return 0;
}

bool state_file_at(const struct trace_analysis *analysis, const struct trace_thread *thread, uint64_t address,
		   struct trace_file_id *ret_file)
{
	(void)analysis;
	(void)thread;
	(void)address;
	(void)ret_file;
	return false;
}

int state_tables(const struct trace_thread *thread, struct trace_file_id ret_ids[2])
{
	(void)thread;
	(void)ret_ids;
	return 0;
}

bool state_is_complete(const struct trace_analysis *analysis)
{
	(void)analysis;
	return true;
}

bool state_is_windowed(const struct trace_analysis *analysis)
{
	(void)analysis;
	return false;
}

uint64_t state_nr_events(const struct trace_analysis *analysis)
{
	(void)analysis;
	return 0;
}

bool state_has_events(const struct trace_analysis *analysis, uint32_t id)
{
	(void)analysis;
	(void)id;
	return true;
}

bool state_was_traced(const struct trace_process *process)
{
	(void)process;
	return false;
}

size_t state_nr_living(const struct trace_process *process)
{
	return 1;
}

static const struct trace_thread *first_thread(const struct analysis_case *c, uint32_t pid)
{
	return trace_next_thread(case_process(c, pid), NULL);
}

/* "two" lives from 2500 to 6000; "one" all the time. @lose: events are missing at 7000 */
static struct analysis_case two_ends(bool lose)
{
	struct analysis_case c = case_new();
	struct trace_sched_wakeup_new wakeup = {.tid = 20, .target_cpu = 1};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_fork);
	tb_fork(c.tb, 0, 2500, 10, 20, 20, "two");
	tb_event(c.tb, 0, 2600, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup), NULL);
	tb_sys_exit(c.tb, 0, 2700, 20);
	tb_switch(c.tb, 1, 3000, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3100, 0);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	if (lose)
		tb_lost(c.tb, 1, 1);
	tb_switch(c.tb, 1, 8000, 0, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	return c;
}

/*
 * The rules judge an interval in which "one" waited for "two", or "two" woke it.
 *
 * Returns the result of rules_verify().
 */
static int judge(const struct analysis_case *c, uint64_t from, uint64_t to, bool waited, bool woken,
		 struct trace_error *ret_error)
{
	struct trace_interval wait = {
		.thread = first_thread(c, 10),
		.from_ns = from,
		.to_ns = to,
		.state = TRACE_STATE_BLOCKED,
		.kind = TRACE_WAIT_PROCESS,
		.other = waited ? case_process(c, 20) : NULL,
		.waker = woken ? first_thread(c, 20) : NULL,
	};
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	for (size_t i = 0; i < nr_kept; i++)
		kept[i].fn(kept[i].data, c->analysis, &wait);
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

static void a_process_that_lives_may_be_waited_for(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 4000, 7000, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 2000, 2500, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 6000, 7000, true, true, &error), 0);
	case_free(&c);
}

static void a_process_that_has_ended_is_not_waited_for(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, false, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(
		error.message,
		"at 0.000006000 s thread 10 (one) waited for process 20 (two), which did not live during the wait");
	CU_ASSERT_EQUAL(judge(&c, 2000, 2499, true, false, &error), -EBADMSG);
	case_free(&c);
}

static void a_thread_that_has_ended_wakes_no_other(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, true, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message,
			       "at 0.000006000 s thread 10 (one) was woken by thread 20 (two), which did "
			       "not live then (and 1 more violation of rules)");
	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, false, true, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(
		error.message,
		"at 0.000006000 s thread 10 (one) was woken by thread 20 (two), which did not live then");
	case_free(&c);
}

static void a_rule_is_silent_where_events_are_missing(void)
{
	struct analysis_case c = two_ends(true);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 1500, 1600, true, true, &error), -EBADMSG);
	case_free(&c);
}

/* The rules see @event and the one behind it only, if it is not NULL, and judge the results. */
static int judge_results(const struct analysis_case *c, const struct trace_event *event, struct trace_error *ret_error)
{
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	for (size_t i = 0; event && i < 2 * nr_kept_events; i++) {
		const struct trace_event *one = event + i / nr_kept_events;

		if (kept_events[i % nr_kept_events].mask[one->id / 64] >> one->id % 64 & 1)
			kept_events[i % nr_kept_events].fn(kept_events[i % nr_kept_events].data, c->analysis, one);
	}
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

static void a_process_has_the_parent_that_the_events_give_it(void)
{
	struct trace_sched_adopt adopt = {.parent = 10, .reaper = 5};
	struct trace_exit_times last = {.tid = 10};
	struct trace_event events[] = {{.id = TRACE_EV_sched_adopt, .ts_ns = 4000, .payload = &adopt},
				       {.id = TRACE_EV_exit_times, .ts_ns = 4100, .payload = &last}};
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge_results(&c, NULL, &error), 0);
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0); /* 5 is not known */
	adopt.reaper = 20;
	adopt.parent = 1; /* of 10, and not known */
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0);
	case_free(&c);
	c = case_new();
	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "two", 1, true);
	case_run(&c);
	adopt = (struct trace_sched_adopt){.parent = 10, .reaper = 5};
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message, "at 0.000003000 s: process 20 has process 10 as parent in the results, "
					      "but process 5 by its events");
	last.tid = 11; /* it has not passed its children on yet */
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0);
	case_free(&c);
}

static void the_bytes_of_a_file_are_those_of_calls_on_it(void)
{
	struct analysis_case c = case_new();
	struct trace_error error = {0};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 9, 77, 0100600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_sys_exit(c.tb, 0, 3000, 60);
	case_run(&c);
	CU_ASSERT_EQUAL(judge_results(&c, NULL, &error), -EBADMSG); /* the rule has seen no call */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "thread 10 (one) has 60 bytes of /data, but its calls moved 0"));
	case_free(&c);
}

/* ---- idle waits ---- */

/* 10 and 20 run on the CPUs 0 and 1 until the end. */
static struct analysis_case two_servers(bool are_one_process)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, are_one_process ? 10 : 20, 1, "two", 1, true);
	case_run(&c);
	return c;
}

/* Events of CPU 1 from @from_ns to @to_ns are missing. */
static struct analysis_case two_servers_with_a_loss(uint64_t from_ns, uint64_t to_ns)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 10, 1, "two", 1, true);
	tb_switch(c.tb, 1, from_ns, 20, 0, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 1, 5);
	tb_switch(c.tb, 1, to_ns, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	return c;
}

static void feed(const struct analysis_case *c, uint32_t id, uint64_t ns, uint32_t cpu, const void *payload)
{
	struct trace_event event = {.id = id, .ts_ns = ns, .cpu = cpu, .payload = payload};

	for (size_t i = 0; i < nr_kept_events; i++)
		if (kept_events[i].mask[id / 64] >> id % 64 & 1)
			kept_events[i].fn(kept_events[i].data, c->analysis, &event);
}

/*
 * Thread 10 accepts a connection and does @steps, one each 100 ns: r and s, receive and send; S, 20
 * sends; i and b, 10 has an idle wait, or another one. Returns the result of rules_verify().
 */
static int judge_server(const struct analysis_case *c, const char *steps, const char *call, uint16_t type,
			struct trace_error *ret_error)
{
	struct trace_sock_endpoints ends = {.fd = 5, .ino = 500, .type = type};
	struct trace_sock_send bytes = {.ino = 500, .ret = 1};
	struct rules *rules;
	uint64_t ns = 3000;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	call_in_progress = call;
	feed(c, TRACE_EV_sock_endpoints, ns, 0, &ends);
	call_in_progress = NULL;
	for (; *steps; steps++, ns += 100) {
		struct trace_interval wait = {.thread = first_thread(c, 10),
					      .from_ns = ns,
					      .to_ns = ns + 50,
					      .state = TRACE_STATE_BLOCKED,
					      .kind = TRACE_WAIT_NETWORK,
					      .idle = *steps == 'i'};

		if (*steps == 'i' || *steps == 'b')
			for (size_t i = 0; i < nr_kept; i++)
				kept[i].fn(kept[i].data, c->analysis, &wait);
		else
			feed(c, *steps == 'r' ? TRACE_EV_sock_recv : TRACE_EV_sock_send, ns, *steps == 'S', &bytes);
	}
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

static void no_wait_between_a_request_and_its_answer_is_idle(void)
{
	static const struct {
		const char *steps;
		int result;
	} servers[] = {
		{"rs", 0},	    {"irsi", 0},	 {"irsirsi", 0},
		{"rbs", 0},	    {"ri", 0}, /* it may need no answer */
		{"ris", -EBADMSG},  {"rsris", -EBADMSG}, {"rrirs", -EBADMSG},
		{"ribs", -EBADMSG}, {"rSris", 0}, /* 20 answers for 10: it may have worked on it */
	};
	struct trace_error error = {0};

	for (int are_one = 0; are_one < 2; are_one++) {
		struct analysis_case c = two_servers(are_one);

		for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
			CU_ASSERT_EQUAL(judge_server(&c, servers[i].steps, "accept4", SOCK_STREAM, &error),
					servers[i].result);
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "accept", SOCK_SEQPACKET, &error), 0); /* messages */
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "connect", SOCK_STREAM, &error), 0);   /* a client */
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "accept", SOCK_STREAM, &error), -EBADMSG);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message,
					      "thread 10 (one) has an idle wait of 50 ns after it read a "
					      "request, 50 ns before it answered that"));
		case_free(&c);
	}
}

/* 20 may have answered for 10 before; a loss behind the answer hides nothing that counts. */
static void a_loss_before_a_request_may_hide_who_answers(void)
{
	struct analysis_case before = two_servers_with_a_loss(1500, 1700), after = two_servers_with_a_loss(8000, 8500);

	CU_ASSERT_EQUAL(judge_server(&before, "ris", "accept4", SOCK_STREAM, NULL), 0);
	CU_ASSERT_EQUAL(judge_server(&after, "ris", "accept4", SOCK_STREAM, NULL), -EBADMSG);
	case_free(&before);
	case_free(&after);
}

/* ---- own code ---- */

/*
 * Steps of judge_own_code(): x, thread 10 exits; K, F and H, it gets SIGKILL, SIGSEGV for its own
 * fault, and that with a handler; U, I and D, SIGBUS, SIGILL and SIGFPE for its own fault; T and S,
 * SIGTERM and a SIGSEGV that a program sent; f and k, it makes a page fault in user mode and in the
 * kernel; v, in the vsyscall page; e, its fault ends; c, it enters a call; o, it is in its own
 * code, t, in a page fault; O, in its own code since @ns
 */
static void own_code_step(const struct analysis_case *c, char step, uint64_t since_ns, uint64_t ns)
{
	struct trace_interval interval = {.thread = first_thread(c, 10),
					  .from_ns = step == 'O' ? since_ns : ns,
					  .to_ns = ns + 50,
					  .state = step == 't' ? TRACE_STATE_TRAP : TRACE_STATE_USER};
	struct trace_sched_exit exit = {.tid = 10, .tgid = 10};
	struct trace_sys_enter enter = {.nr = SYS_getpid};
	struct trace_signal_deliver signal = {.signal = step == 'K'   ? SIGKILL
							: step == 'T' ? SIGTERM
							: step == 'U' ? SIGBUS
							: step == 'I' ? SIGILL
							: step == 'D' ? SIGFPE
								      : SIGSEGV,
					      .code = strchr("FHUID", step) ? SEGV_MAPERR : SI_USER,
					      .handler = step == 'H' ? 0x4000 : 0};
	struct trace_fault_entry fault = {.address = step == 'v' ? 0xffffffffff600400 : 0x1000, .user = step != 'k'};

	if (strchr("otO", step)) {
		for (size_t i = 0; i < nr_kept; i++)
			kept[i].fn(kept[i].data, c->analysis, &interval);
		return;
	}
	if (step == 'x')
		feed(c, TRACE_EV_sched_exit, ns, 0, &exit);
	else if (strchr("KFHTSUID", step))
		feed(c, TRACE_EV_signal_deliver, ns, 0, &signal);
	else if (strchr("fkv", step))
		feed(c, TRACE_EV_fault_entry, ns, 0, &fault);
	else if (step == 'e')
		feed(c, TRACE_EV_fault_exit, ns, 0, NULL);
	else
		feed(c, TRACE_EV_sys_enter, ns, 0, &enter);
}

/* One step each 100 ns. Returns the result of rules_verify(). */
static int judge_own_code(const struct analysis_case *c, const char *steps, struct trace_error *ret_error)
{
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	for (size_t i = 0; steps[i]; i++)
		own_code_step(c, steps[i], 3000, 3000 + 100 * i);
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

static void no_own_code_is_behind_an_exit_or_in_a_fault_that_ended(void)
{
	static const struct {
		const char *steps, *what; /* NULL: no violation */
	} threads[] = {
		{"xo", "has own code after it began to exit 150 ns before"},
		{"Ko", "has own code after it began to exit 150 ns before"},
		{"KxFo", "has own code after it began to exit 350 ns before"}, /* since the first sign */
		{"Fo", "has own code after it began to exit"},
		{"Uo", "has own code after it began to exit"},
		{"Io", "has own code after it began to exit"},
		{"Do", "has own code after it began to exit"},
		{"xc", "entered a system call (sys_enter) 100 ns after it began to exit"},
		{"xf", "made a page fault in user mode (fault_entry) 100 ns after it began to exit"},
		{"ox", NULL},
		{"cx", NULL},
		{"fx", NULL},
		{"Ho", NULL},
		{"To", NULL}, /* it may be init of a namespace */
		{"So", NULL},
		{"xk", NULL},
		{"xke", NULL},
		{"xv", NULL},
		{"xt", NULL},
		/* a signal ends a fault */
		{"fHt", "is in a page fault, which a signal (signal_deliver) ended 150 ns before"},
		{"ft", NULL},
		{"fHft", NULL},
		{"fHkt", NULL},
		{"fHO", "has own code in a page fault that ended in a signal"},
		{"fHo", NULL},
		{"feHO", NULL},
		{"fcHO", NULL},
		{"kHO", NULL},
		{"HO", NULL},
		{"fO", NULL},
	};
	struct trace_error error = {0};
	struct analysis_case c = two_servers(true);

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		const char *what = threads[i].what;
		int result = judge_own_code(&c, threads[i].steps, &error);

		CU_ASSERT_EQUAL(result, what ? -EBADMSG : 0);
		CU_ASSERT(!what || strstr(error.message, what));
		if (result != (what ? -EBADMSG : 0) || (what && !strstr(error.message, what)))
			printf("\n    %s: %s\n", threads[i].steps, result ? error.message : "");
	}
	case_free(&c);
}

/* Its exit may have been that of another thread of its number. */
static void a_loss_may_hide_why_own_code_is_behind_an_exit(void)
{
	static const char *const steps[] = {"xo", "xc", "fHt", "fHO"};
	struct analysis_case between = two_servers_with_a_loss(3010, 3090), after = two_servers_with_a_loss(8000, 8500);

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		CU_ASSERT_EQUAL(judge_own_code(&between, steps[i], NULL), 0);
		CU_ASSERT_EQUAL(judge_own_code(&after, steps[i], NULL), -EBADMSG);
	}
	case_free(&between);
	case_free(&after);
}

/* ---- calls that go on ---- */

#define ERESTART_RESTARTBLOCK 516

/*
 * Steps of judge_restart(): n and r, thread 10 enters nanosleep() and restart_syscall(); i and j,
 * these are interrupted, and go on later; q, a call that no event told is; z, its call ends; R, it
 * is in restart_syscall() by the results; B, and has been since the first step; N, in nanosleep()
 */
static void restart_step(const struct analysis_case *c, char step, uint64_t ns)
{
	struct trace_interval interval = {.thread = first_thread(c, 10),
					  .from_ns = step == 'B' ? 3000 : ns,
					  .to_ns = ns + 50,
					  .state = TRACE_STATE_SYSCALL,
					  .name = step == 'N' ? "nanosleep" : "restart_syscall"};
	struct trace_sys_enter enter = {.nr = step == 'r' ? SYS_restart_syscall : SYS_nanosleep};
	struct trace_sys_exit exit = {.ret = step == 'z' ? 0 : -ERESTART_RESTARTBLOCK};

	if (strchr("RBN", step)) {
		for (size_t i = 0; i < nr_kept; i++)
			kept[i].fn(kept[i].data, c->analysis, &interval);
	} else if (strchr("nr", step)) {
		feed(c, TRACE_EV_sys_enter, ns, 0, &enter);
	} else {
		call_in_progress = step == 'j' ? "restart_syscall" : step == 'q' ? TRACE_CALL_NOT_SEEN : "nanosleep";
		feed(c, TRACE_EV_sys_exit, ns, 0, &exit);
		call_in_progress = NULL;
	}
}

static int judge_restart(const struct analysis_case *c, const char *steps)
{
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	for (size_t i = 0; steps[i]; i++)
		restart_step(c, steps[i], 3000 + 100 * i);
	result = rules_verify(rules, NULL);
	rules_free(rules);
	return result;
}

static void the_time_of_a_call_that_goes_on_is_its_own(void)
{
	static const struct {
		const char *steps;
		int result;
	} threads[] = {
		{"nirR", -EBADMSG}, {"nirzR", -EBADMSG}, /* until its next call */
		{"nirN", 0},	    {"nirB", 0},	 /* it was in the one before */
		{"rR", 0},				 /* what it continues was before the trace */
		{"irR", 0},				 /* so was the entry of this one */
		{"nzrR", 0},				 /* nothing told that it goes on */
		{"ninrR", 0},				 /* a call of a handler was between them */
		{"nirjrR", 0}, /* of one that is continued twice the first is not known here */
		{"nqrR", 0},	    {"nirznR", 0},
	};
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_restart_syscall, "restart_syscall");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	case_run(&c);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		int result = judge_restart(&c, threads[i].steps);

		CU_ASSERT_EQUAL(result, threads[i].result);
		if (result != threads[i].result)
			printf("\n    %s: %d\n", threads[i].steps, result);
	}
	case_free(&c);
}

/* ---- relayed answers ---- */

static void feed_wait(const struct analysis_case *c, uint64_t ns)
{
	struct trace_interval wait = {.thread = first_thread(c, 10),
				      .from_ns = ns,
				      .to_ns = ns + 50,
				      .state = TRACE_STATE_BLOCKED,
				      .kind = TRACE_WAIT_TIMEOUT,
				      .idle = true};

	for (size_t i = 0; i < nr_kept; i++)
		kept[i].fn(kept[i].data, c->analysis, &wait);
}

/*
 * Steps of judge_proxy(): r and s, 10 receives from its client and sends; a and z, it gets data and
 * the end of its backend's connection; S and R, 20 sends and receives on the client's connection;
 * i, 10 has an idle wait; k, one that the analysis reports at the end; w, it sleeps; d and f, it
 * duplicates the client's descriptor and another one; u, an event of the program
 */
static void proxy_step(const struct analysis_case *c, char step, uint64_t ns)
{
	struct trace_sock_send bytes = {.ino = step == 'a' || step == 'z' ? 501 : 500, .ret = step != 'z'};
	struct trace_sched_switch sw = {.prev_tid = 10, .prev_state = TRACE_TASK_INTERRUPTIBLE};
	struct trace_sys_exit exit = {.ret = 9};

	switch (step) {
	case 'i':
	case 'k':
	case 'w':
		feed(c, TRACE_EV_sched_switch, ns, 0, &sw);
		if (step == 'i')
			feed_wait(c, ns);
		break;
	case 'd':
	case 'f':
		call_in_progress = "dup";
		call_args[0] = step == 'd' ? 5 : 8;
		feed(c, TRACE_EV_sys_exit, ns, 0, &exit);
		call_in_progress = NULL;
		break;
	case 'u':
		feed(c, TRACE_EV_USER, ns, 0, NULL);
		break;
	default:
		feed(c, strchr("Ss", step) ? TRACE_EV_sock_send : TRACE_EV_sock_recv, ns, step == 'S' || step == 'R',
		     &bytes);
	}
}

/*
 * Thread 10 accepts descriptor 5, connects 6, and does @steps, one each 100 ns. Returns the result
 * of rules_verify().
 */
static int judge_proxy(const struct analysis_case *c, const char *steps, struct trace_error *ret_error)
{
	struct trace_sock_endpoints client = {.fd = 5, .ino = 500, .type = SOCK_STREAM},
				    backend = {.fd = 6, .ino = 501, .type = SOCK_STREAM};
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	call_in_progress = "accept";
	feed(c, TRACE_EV_sock_endpoints, 2000, 0, &client);
	call_in_progress = "connect";
	feed(c, TRACE_EV_sock_endpoints, 2100, 0, &backend);
	call_in_progress = NULL;
	for (size_t i = 0; steps[i]; i++)
		proxy_step(c, steps[i], 3000 + 100 * i);
	for (size_t i = 0; steps[i]; i++)
		if (steps[i] == 'k')
			feed_wait(c, 3000 + 100 * i);
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

static void no_wait_between_two_parts_of_an_answer_is_idle(void)
{
	static const struct {
		const char *steps;
		int result;
	} proxies[] = {
		{"rasiasr", -EBADMSG},
		{"raskasr", -EBADMSG},
		{"raswkwzs", -EBADMSG},
		{"rasiwasr", -EBADMSG}, /* and another wait */
		{"raswkasas", -EBADMSG},
		{"rafskafsr", -EBADMSG},
		{"rasias", -EBADMSG},
		{"rasr", 0},
		{"ras", 0},
		{"raski", 0},
		{"rasirasi", 0}, /* the next request came */
		{"raskrask", 0},
		{"rskasr", 0},	  /* the first send brought nothing */
		{"raskwsr", 0},	  /* nor did the second: a push */
		{"raskawsr", 0},  /* it slept behind the part */
		{"raskaSasr", 0}, /* another thread went on */
		{"raskRasr", 0},  /* another thread read */
		{"radskas", 0},	  /* the other descriptor may have been closed */
		{"raskuas", 0},	  /* the analysis keeps no wait across an event of the program */
	};
	struct trace_error error = {0};
	struct analysis_case c = two_servers(true);

	for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
		int result = judge_proxy(&c, proxies[i].steps, &error);

		CU_ASSERT_EQUAL(result, proxies[i].result);
		if (result != proxies[i].result)
			printf("\n    %s: %d\n", proxies[i].steps, result);
	}
	CU_ASSERT_EQUAL(judge_proxy(&c, "raskas", &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "thread 10 (one) has an idle wait of 50 ns between two parts of "
						     "an answer that it relayed"));
	case_free(&c);
}

/* The client's descriptor may have been duplicated since it was accepted. */
static void a_loss_before_an_answer_may_hide_another_descriptor(void)
{
	struct analysis_case since = two_servers_with_a_loss(2200, 2900), before = two_servers_with_a_loss(1500, 1700);

	CU_ASSERT_EQUAL(judge_proxy(&since, "rasias", NULL), 0);
	CU_ASSERT_EQUAL(judge_proxy(&since, "raskas", NULL), 0);
	CU_ASSERT_EQUAL(judge_proxy(&before, "rasias", NULL), -EBADMSG);
	case_free(&since);
	case_free(&before);
}

static void more_waits_than_the_analysis_keeps_are_not_judged(void)
{
	struct trace_error error = {0};
	struct analysis_case c = two_servers(true);
	char steps[300];

	for (int nr = 256; nr <= 257; nr++) {
		memset(steps, 'w', sizeof(steps));
		memcpy(steps, "rask", 4);
		memcpy(steps + 3 + nr, "as", 3);
		CU_ASSERT_EQUAL(judge_proxy(&c, steps, &error), nr == 256 ? -EBADMSG : 0);
	}
	case_free(&c);
}

/* ---- the other end of a socket ---- */

/* Socket @ino of a connection between the ports 40000 and 80 of this machine; or of a pair. */
static void connected(const struct analysis_case *c, uint64_t ino, uint64_t peer_ino, uint16_t local_port)
{
	struct trace_sock_endpoints ends = {.fd = 3,
					    .ino = ino,
					    .peer_ino = peer_ino,
					    .family = peer_ino ? AF_UNIX : AF_INET,
					    .type = SOCK_STREAM,
					    .local_port = local_port,
					    .remote_port = local_port == 80 ? 40000 : 80,
					    .local_lo = 1,
					    .remote_lo = 1};

	feed(c, TRACE_EV_sock_endpoints, 2000, 0, &ends);
}

/* "one" waits in a read of socket 500 for @other, which had socket @had. */
static int judge_read(const struct analysis_case *c, const char *via, uint32_t other, uint64_t had,
		      struct trace_error *ret_error)
{
	struct trace_sys_enter3 enter = {.nr = SYS_read, .arg0 = 3};
	struct trace_file_id known = {.dev = (uint32_t)RULES_DEV_KNOWN, .ino = 1000},
			     end = {.ino = had, .mode = S_IFSOCK};
	struct trace_interval wait = {.thread = first_thread(c, 10),
				      .from_ns = 4000,
				      .to_ns = 5000,
				      .state = TRACE_STATE_BLOCKED,
				      .kind = TRACE_WAIT_PROCESS,
				      .via = via,
				      .other = case_process(c, other)};
	struct rules *rules;
	int result;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	if (strcmp(via, "tcp") == 0) {
		connected(c, 500, 0, 40000);
		connected(c, 501, 0, 80);
	} else {
		connected(c, 500, 501, 0);
	}
	rules_touch(rules, wait.other, &known);
	rules_touch(rules, wait.other, &end);
	feed(c, TRACE_EV_sys_enter3, 3000, 0, &enter);
	for (size_t i = 0; i < nr_kept; i++)
		kept[i].fn(kept[i].data, c->analysis, &wait);
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	return result;
}

/* Whatever the state takes for the other end. */
static void the_other_end_of_a_socket_is_that_of_the_events(void)
{
	static const char *const vias[] = {"tcp", "unix"};
	struct trace_error error = {0};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	case_run(&c);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 20, 501, &error), 0);
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 20, 502, &error), -EBADMSG);
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 10, 500, &error), -EBADMSG);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "for process 10 (one) via "));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "but it never had the other end of its socket"));
	}
	case_free(&c);
}

/* ---- descriptors ---- */

/* Descriptor 4 is of file @ino in the results, after a call that made it of 3. */
static int judge_duplicate(const char *call, uint64_t command, uint64_t ino, bool is_shared,
			   struct trace_error *ret_error)
{
	struct trace_sys_exit exit = {.ret = 4};
	struct trace_sys_enter enter = {.nr = SYS_getpid};
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 30, .tgid = 30, .clone_flags = CLONE_FILES};
	struct analysis_case c = case_new();
	struct rules *rules;
	int result;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 9, 77, S_IFREG | 0600, "/data");
	tb_fd(c.tb, 10, 4, 9, ino, S_IFREG | 0600, "/other");
	tb_sys_enter(c.tb, 0, 2000, SYS_fcntl, 3, command, 0);
	case_run(&c);
	nr_kept = nr_kept_events = 0;
	rules = rules_new(c.analysis, c.trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	call_in_progress = call;
	call_args[0] = 3;
	call_args[1] = command;
	if (is_shared)
		feed(&c, TRACE_EV_sched_fork, 2500, 0, &fork);
	feed(&c, TRACE_EV_sys_exit, 3000, 0, &exit);
	call_in_progress = NULL;
	feed(&c, TRACE_EV_sys_enter, 4000, 0, &enter);
	result = rules_verify(rules, ret_error);
	rules_free(rules);
	case_free(&c);
	return result;
}

static void a_duplicated_descriptor_is_of_the_same_file(void)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 77, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message, "at 0.000002000 s thread 10 (one) has made descriptor 4 of 3, but they "
					      "are not of the same file in the results");
	CU_ASSERT_EQUAL(judge_duplicate("dup", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("dup3", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl", F_DUPFD_CLOEXEC, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl64", F_DUPFD, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl", F_SETFL, 78, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("read", 0, 78, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 78, true, &error), 0); /* the other process may have closed it */
}

static const struct unit_case cases[] = {
	CASE(a_process_that_lives_may_be_waited_for),
	CASE(a_process_that_has_ended_is_not_waited_for),
	CASE(a_thread_that_has_ended_wakes_no_other),
	CASE(a_rule_is_silent_where_events_are_missing),
	CASE(a_process_has_the_parent_that_the_events_give_it),
	CASE(the_bytes_of_a_file_are_those_of_calls_on_it),
	CASE(no_wait_between_a_request_and_its_answer_is_idle),
	CASE(a_loss_before_a_request_may_hide_who_answers),
	CASE(the_other_end_of_a_socket_is_that_of_the_events),
	CASE(a_duplicated_descriptor_is_of_the_same_file),
	CASE(no_own_code_is_behind_an_exit_or_in_a_fault_that_ended),
	CASE(a_loss_may_hide_why_own_code_is_behind_an_exit),
	CASE(the_time_of_a_call_that_goes_on_is_its_own),
	CASE(no_wait_between_two_parts_of_an_answer_is_idle),
	CASE(a_loss_before_an_answer_may_hide_another_descriptor),
	CASE(more_waits_than_the_analysis_keeps_are_not_judged),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("rules", cases, argc, argv);
}

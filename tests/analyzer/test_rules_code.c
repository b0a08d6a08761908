/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rules_code.c - results that a thread was in its own code, or in a call, when it could not be
 */
#include <errno.h>
#include <signal.h>
#include "rules_case.h"
#include "unit.h"

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
		feed_interval(c, &interval);
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
	struct rules *rules = rules_case_begin(c);

	for (size_t i = 0; steps[i]; i++)
		own_code_step(c, steps[i], 3000, 3000 + 100 * i);
	return rules_case_end(rules, ret_error);
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
		feed_interval(c, &interval);
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
	struct rules *rules = rules_case_begin(c);

	for (size_t i = 0; steps[i]; i++)
		restart_step(c, steps[i], 3000 + 100 * i);
	return rules_case_end(rules, NULL);
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

static const struct unit_case cases[] = {
	CASE(no_own_code_is_behind_an_exit_or_in_a_fault_that_ended),
	CASE(a_loss_may_hide_why_own_code_is_behind_an_exit),
	CASE(the_time_of_a_call_that_goes_on_is_its_own),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("rules of code and calls", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_kernel_work.c - the kernel's work for a thread outside of its calls and page faults is
 * neither own code nor a page fault
 *
 * Thread 10 ("one") of process 10 runs on CPU 0 from 1000 to 9000 ns, thread 20 ("two") on CPU 1.
 */
#include <errno.h>
#include <signal.h>
#include "analysis_case.h"
#include "unit.h"

#define HANDLER 0x401000

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_sys_enter(c.tb, 0, 1100, SYS_getpid);
	tb_sys_exit(c.tb, 0, 1200, 10);
	return c;
}

static void deliver(struct analysis_case *c, uint64_t ts_ns, uint32_t number, int32_t code, uint64_t handler)
{
	if (code <= 0 || code >= 0x80) { /* the interrupt by which another CPU sends it */
		tb_vector(c->tb, 0, ts_ns, TRACE_VECTOR_RESCHEDULE);
		tb_vector_exit(c->tb, 0, ts_ns, TRACE_VECTOR_RESCHEDULE);
	}
	tb_add(c->tb, 0, ts_ns, signal_deliver, NULL, .signal = number, .code = code, .handler = handler);
}

static void exit_with(struct analysis_case *c, uint64_t ts_ns, int32_t code)
{
	tb_add(c->tb, 0, ts_ns, sched_exit, NULL, .tid = 10, .tgid = 10, .group_dead = 1, .code = code);
}

static void leave(struct analysis_case *c, uint64_t ts_ns)
{
	tb_switch(c->tb, 0, ts_ns, 10, 0, TRACE_TASK_DEAD);
}

static void task_work(struct analysis_case *c, uint64_t ts_ns)
{
	tb_add(c->tb, 0, ts_ns, task_work, NULL, .tid = 10);
}

static void task_work_end(struct analysis_case *c, uint64_t ts_ns, bool exact)
{
	tb_add(c->tb, 0, ts_ns, task_work_end, NULL, .tid = 10, .exact = exact);
}

static const struct trace_call *work(const struct analysis_case *c, const char *name)
{
	static const struct trace_call none;

	for (size_t i = 0; i < c->one->nr_kernel_work; i++)
		if (strcmp(c->one->kernel_work[i].name, name) == 0)
			return &c->one->kernel_work[i];
	return &none;
}

/* ---- exit ---- */

static void a_killed_thread_is_in_the_kernel_until_its_last_switch(void)
{
	struct analysis_case c = begin();

	deliver(&c, 3000, SIGKILL, 0, 0);
	exit_with(&c, 3500, SIGKILL);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 100 + 5000);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 5000);
	CU_ASSERT_EQUAL(work(&c, "exit")->calls, 1);
	CU_ASSERT_EQUAL(c.one->nr_syscalls, 1);
	case_free(&c);
}

static void an_exit_without_a_recorded_signal_is_one_too(void)
{
	struct analysis_case c = begin();

	exit_with(&c, 3500, SIGSYS); /* seccomp */
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 2300);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 4500);
	case_free(&c);
}

static void the_call_exit_lasts_to_the_end(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 3000, SYS_exit_group, 0);
	exit_with(&c, 3500, 0);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800);
	CU_ASSERT_EQUAL(case_call(c.one, "exit_group")->elapsed_ns, 5000);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

/* seccomp kills a thread in its call, and the kernel dumps core or not. */
static void a_call_is_over_when_the_thread_exits_in_it(void)
{
	for (int dumps = 0; dumps < 2; dumps++) {
		struct analysis_case c = begin();

		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
		exit_with(&c, 3500, SIGSYS | (dumps ? 0x80 : 0));
		leave(&c, 8000);
		case_run(&c);
		CU_ASSERT_EQUAL(case_call(c.one, "read")->elapsed_ns, 1500);
		CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 4500);
		CU_ASSERT_EQUAL(c.one->nr_kernel_work, 1);
		case_free(&c);
	}
}

/* SIGTERM kills the thread. A debugger sees its exit, and then SIGKILL is there, too. */
static void a_thread_dies_once(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGTERM, 0, 0);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_TRACED);
	tb_waking(c.tb, 1, 3900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	deliver(&c, 4500, SIGKILL, 0, 0);
	exit_with(&c, 5000, SIGTERM);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 6000);
	CU_ASSERT_EQUAL(work(&c, "exit")->calls, 1);
	CU_ASSERT_EQUAL(work(&c, "stop")->calls, 0);
	case_free(&c);
}

/* A kernel thread has no way back to user mode, so its exit and its stops are its own work. */
static void a_kernel_thread_has_no_work_beside_its_own(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread thread = {
		.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .running = 1, .flags = TRACE_THREAD_KERNEL};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &thread, sizeof(thread), "kworker/0:1");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_FROZEN);
	tb_waking(c.tb, 1, 2900, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 3000, 0, 10, TRACE_TASK_RUNNING);
	exit_with(&c, 5000, 0);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

static void a_thread_that_exits_during_a_gap_has_no_own_code_behind_it(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGKILL, 0, 0);
	tb_vector(c.tb, 0, 2500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 2500, TRACE_VECTOR_LOCAL_TIMER);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	exit_with(&c, 5000, SIGKILL);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 800);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 100 + 500 + 4000);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 500 + 3000);
	case_free(&c);
}

static void an_exit_waits_for_its_disk(void)
{
	struct analysis_case c = begin();
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_string(c.tb, TRACE_STRING_DEVICE, 0xfe00000, "vda");
	deliver(&c, 2000, SIGKILL, 0, 0);
	exit_with(&c, 2500, SIGKILL);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 0, 5990, 7);
	tb_event(c.tb, 0, 5991, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "vda", 0, ""), 3000);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 6000);
	CU_ASSERT_EQUAL(work(&c, "exit")->wait_ns, 3000);
	case_free(&c);
}

static void a_wait_in_exit_that_ends_for_no_known_reason_is_other(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGKILL, 0, 0);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_OTHER, "exit", 0, ""), 6000);
	case_free(&c);
}

/* ---- signals ---- */

static void a_fault_that_ends_in_a_handler_is_over(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	deliver(&c, 2300, SIGSEGV, 1, HANDLER);
	tb_sys_enter(c.tb, 0, 8000, SYS_getpid); /* after a siglongjmp() */
	tb_sys_exit(c.tb, 0, 8100, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300);
	CU_ASSERT_EQUAL(c.one->traps[0].elapsed_ns, 300);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 200);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 200 - 300);
	case_free(&c);
}

static void a_fault_in_a_handler_is_one_of_its_own(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	deliver(&c, 2300, SIGSEGV, 1, HANDLER);
	tb_fault(c.tb, 0, 4000, 0x7000, true); /* a page of the signal stack */
	tb_fault_end(c.tb, 0, 4100, false);
	tb_fault(c.tb, 0, 5000, 16, true);
	deliver(&c, 5500, SIGSEGV, 1, HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300 + 100 + 500);
	CU_ASSERT_EQUAL(c.one->nr_traps, 3);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100 - 900);
	case_free(&c);
}

static void a_fault_in_the_vsyscall_page_has_no_end(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 0xffffffffff600000, true); /* time() of the vsyscall page */
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->nr_traps, 1);
	CU_ASSERT_EQUAL(c.one->trap_ns, 0);
	case_free(&c);
}

static void a_fault_on_an_address_of_the_kernel_lasts_until_its_signal(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 0xffffffffaf605d06, true);
	tb_add(c.tb, 0, 2900, signal_deliver, NULL, .signal = SIGSEGV, .code = 1, .handler = HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->nr_traps, 1);
	CU_ASSERT_EQUAL(c.one->trap_ns, 900);
	case_free(&c);
}

static void the_delivery_of_a_signal_is_no_own_code(void)
{
	struct analysis_case c = begin();

	tb_vector(c.tb, 0, 3000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 3100, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c.tb, 0, 3900, signal_deliver, NULL, .signal = SIGALRM, .code = 0x80, .handler = HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "signal")->elapsed_ns, 800);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100 - 100 - 800);
	case_free(&c);
}

/*
 * A debugger steps through the thread: the exception's signal at 3000 ns stops it, and it returns
 * to user mode at 4200 ns. @by is the thread for which the signal is.
 */
static struct analysis_case stepped(uint32_t by, uint32_t number, int32_t code)
{
	struct analysis_case c = begin();

	tb_add(c.tb, 0, 3000, signal_generate, NULL, .signal = number, .code = code, .tid = by);
	tb_switch(c.tb, 0, 3600, 10, 0, TRACE_TASK_TRACED);
	tb_waking(c.tb, 1, 4000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 4100, 0, 10, TRACE_TASK_RUNNING);
	task_work_end(&c, 4200, true);
	tb_sys_enter(c.tb, 0, 5200, SYS_getpid);
	tb_sys_exit(c.tb, 0, 5300, 10);
	leave(&c, 5300);
	case_run(&c);
	return c;
}

static void an_exception_is_in_the_kernel_from_its_signal_on(void)
{
	struct analysis_case c = stepped(10, SIGTRAP, TRAP_TRACE);

	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800 + 1000);
	CU_ASSERT_EQUAL(work(&c, "signal")->elapsed_ns, 600);
	CU_ASSERT_EQUAL(work(&c, "signal")->calls, 1);
	CU_ASSERT_EQUAL(work(&c, "stop")->cpu_ns, 100);
	case_free(&c);
}

/*
 * A signal for another thread shows no exception. Nor does one that a program, a terminal, a timer
 * or the end of a transfer has sent.
 */
static void only_an_exception_of_its_own_puts_a_thread_into_the_kernel(void)
{
	static const struct {
		uint32_t tid, number;
		int32_t code;
	} signals[] = {{20, SIGTRAP, TRAP_TRACE}, {10, SIGTRAP, SI_TKILL},  {10, SIGSEGV, SI_USER},
		       {10, SIGABRT, SI_TKILL},	  {10, SIGQUIT, SI_USER},   {10, SIGQUIT, SI_KERNEL},
		       {10, SIGALRM, SI_KERNEL},  {10, SIGXCPU, SI_KERNEL}, {10, SIGIO, POLL_IN}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct analysis_case c = stepped(signals[i].tid, signals[i].number, signals[i].code);

		CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800 + 600 + 1000);
		case_free(&c);
	}
}

/* The interrupt of a counter (perf) sends a signal. The thread goes on behind it. */
static void a_signal_that_an_interrupt_sends_is_no_exception(void)
{
	struct analysis_case c = begin();

	tb_vector(c.tb, 0, 3000, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c.tb, 0, 3050, signal_generate, NULL, .signal = SIGTRAP, .code = 6 /* TRAP_PERF */, .tid = 10);
	tb_vector_exit(c.tb, 0, 3100, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector(c.tb, 0, 7000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 7100, TRACE_VECTOR_LOCAL_TIMER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100 - 200);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

/* The exception was a page fault. */
static void the_signal_for_a_page_fault_is_part_of_the_fault(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	tb_add(c.tb, 0, 2200, signal_generate, NULL, .signal = SIGSEGV, .code = SEGV_MAPERR, .tid = 10);
	tb_add(c.tb, 0, 2300, signal_deliver, NULL, .signal = SIGSEGV, .code = SEGV_MAPERR, .handler = HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

static void a_fault_lasts_until_a_signal_from_elsewhere_is_delivered(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	tb_vector(c.tb, 0, 2500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 2600, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c.tb, 0, 3000, signal_deliver, NULL, .signal = SIGALRM, .code = SI_KERNEL, .handler = HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 900);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

static void an_exception_with_a_handler_ends_with_its_delivery(void)
{
	static const struct {
		uint32_t number;
		int32_t code;
	} signals[] = {{SIGFPE, FPE_INTDIV}, {SIGTRAP, SI_KERNEL}, {SIGSEGV, SI_KERNEL}, {SIGILL, ILL_ILLOPN},
		       {SIGFPE, SI_KERNEL},  {SIGBUS, SI_KERNEL},  {SIGILL, SI_KERNEL},	 {SIGSYS, 1 /* SYS_SECCOMP */}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct analysis_case c = begin();

		tb_add(c.tb, 0, 3000, signal_generate, NULL, .signal = signals[i].number, .code = signals[i].code,
		       .tid = 10);
		tb_add(c.tb, 0, 3400, signal_deliver, NULL, .signal = signals[i].number, .code = signals[i].code,
		       .handler = HANDLER);
		tb_sys_enter(c.tb, 0, 5200, SYS_getpid);
		leave(&c, 8000);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800 + 1800);
		CU_ASSERT_EQUAL(work(&c, "signal")->elapsed_ns, 400);
		case_free(&c);
	}
}

/* Without the delivery, the thread has returned to user mode at some time before the call. */
static void an_exception_without_a_recorded_delivery_leaves_time_unknown(void)
{
	struct analysis_case c = begin();

	tb_add(c.tb, 0, 3000, signal_generate, NULL, .signal = SIGFPE, .code = FPE_INTDIV, .tid = 10);
	tb_sys_enter(c.tb, 0, 5200, SYS_getpid);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 2200);
	case_free(&c);
}

/* The recorder leaves out @id. */
static struct analysis_case begin_without(uint32_t id)
{
	struct analysis_case c = begin();
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	mask[id / 64] &= ~(1ull << id % 64);
	tb_event(c.tb, 0, 1001, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	return c;
}

/* Without the events that end it, no such work begins. */
static void work_without_recorded_ends_is_own_code(void)
{
	for (int which = 0; which < 3; which++) {
		struct analysis_case c = begin_without(which == 0 ? TRACE_EV_signal_deliver : TRACE_EV_task_work_end);

		if (which == 0)
			tb_add(c.tb, 0, 3000, signal_generate, NULL, .signal = SIGFPE, .code = FPE_INTDIV, .tid = 10);
		else if (which == 1)
			tb_add(c.tb, 0, 1200, task_work, NULL, .tid = 10);
		else
			tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_TRACED);
		if (which == 2)
			tb_waking(c.tb, 1, 3100, 10, TRACE_CONTEXT_TASK);
		if (which == 2)
			tb_switch(c.tb, 0, 3200, 0, 10, TRACE_TASK_RUNNING);
		tb_vector(c.tb, 0, 7000, TRACE_VECTOR_LOCAL_TIMER);
		tb_vector_exit(c.tb, 0, 7100, TRACE_VECTOR_LOCAL_TIMER);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100 - 100 - (which == 2 ? 200 : 0));
		CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
		case_free(&c);
	}
}

/* An interrupt without an event may have been before the delivery. */
static void without_interrupts_the_delivery_of_a_signal_is_not_told(void)
{
	struct analysis_case c = begin_without(TRACE_EV_vector_entry);

	tb_add(c.tb, 0, 3900, signal_deliver, NULL, .signal = SIGALRM, .code = SI_KERNEL, .handler = HANDLER);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

static void a_signal_that_is_ignored_or_stops_kills_no_thread(void)
{
	static const uint32_t harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		struct analysis_case c = begin();

		deliver(&c, 2000, harmless[i], 0, 0);
		deliver(&c, 2100, SIGTERM, 0, 1); /* SIG_IGN */
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100);
		CU_ASSERT_EQUAL(c.one->syscall_ns, 100);
		case_free(&c);
	}
}

/* The first process of a pid namespace. */
static struct analysis_case begin_init(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread one = {
		.tid = 10, .tgid = 10, .ppid = 1, .ns_tid = 1, .ns_tgid = 1, .nr = -1, .running = 1};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &one, sizeof(one), "one");
	tb_sys_enter(c.tb, 0, 1100, SYS_getpid);
	tb_sys_exit(c.tb, 0, 1200, 10);
	return c;
}

static void the_first_process_of_a_namespace_survives_signals(void)
{
	struct analysis_case c = begin_init();

	deliver(&c, 2000, SIGTERM, 0, 0);
	deliver(&c, 3000, SIGQUIT, 0x80, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 8000 - 100);
	case_free(&c);
	c = begin_init();
	deliver(&c, 2000, SIGSEGV, 1, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 - 100);
	case_free(&c);
	c = begin_init(); /* sent by a process outside */
	deliver(&c, 2000, SIGKILL, 0, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->user_ns, 1000 - 100);
	case_free(&c);
}

/* ---- core dumps ---- */

static void signals_dump_core_as_signal_7_says(void)
{
	static const uint32_t numbers[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGFPE,	SIGSEGV, SIGBUS, SIGSYS,
					   SIGXCPU, SIGXFSZ, SIGTERM, SIGHUP,  SIGUSR1, SIGALRM, SIGINT};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct analysis_case c = begin();
		bool dumps = i < 10;

		deliver(&c, 2000, numbers[i], SI_USER, 0);
		exit_with(&c, 6000, (int32_t)numbers[i] | (dumps ? 0x80 : 0));
		leave(&c, 7000);
		case_run(&c);
		CU_ASSERT_EQUAL(work(&c, "core dump")->elapsed_ns, dumps ? 4000 : 0);
		CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, dumps ? 1000 : 5000);
		CU_ASSERT_EQUAL(work(&c, "exit")->calls, 1);
		case_free(&c);
	}
}

static void a_core_dump_is_told_as_one(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	deliver(&c, 2300, SIGSEGV, 1, 0);
	exit_with(&c, 6300, SIGSEGV | 0x80);
	leave(&c, 7000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 300);
	CU_ASSERT_EQUAL(work(&c, "core dump")->elapsed_ns, 4000);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 700);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 800);
	case_free(&c);
	c = begin();
	deliver(&c, 2300, SIGSEGV, 1, 0);
	exit_with(&c, 6300, SIGSEGV);
	leave(&c, 7000);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "signal")->elapsed_ns, 4000);
	case_free(&c);
}

static void threads_wait_for_the_one_that_dumps_core(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	deliver(&c, 2000, SIGKILL, 0, 0);
	tb_add(c.tb, 1, 1500, signal_deliver, NULL, .signal = SIGABRT, .code = -6);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_add(c.tb, 1, 6050, sched_exit, NULL, .tid = 11, .tgid = 10, .code = SIGABRT | 0x80);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	exit_with(&c, 6200, SIGABRT | 0x80);
	leave(&c, 7000);
	tb_switch(c.tb, 1, 7000, 11, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "coredump"), 3000);
	CU_ASSERT_EQUAL(work(&c, "core dump")->elapsed_ns, 4550);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 5000 + 950);
	case_free(&c);
}

/*
 * A worker of io_uring, thread 10, copies to a page that another thread maps meanwhile. Process 20
 * kills its process, so the copy fails: no event tells the end of that fault. The worker exits.
 */
static void a_killed_worker_of_a_ring_is_past_its_fault(void)
{
	for (int is_killed = 0; is_killed < 2; is_killed++) {
		struct trace_start_thread worker = {
			.tid = 10, .tgid = 10, .ppid = 1, .nr = -1, .running = 1, .flags = TRACE_THREAD_IO_WORKER};
		struct analysis_case c = case_new();

		tb_thread(c.tb, 20, 20, 1, "two", 1, true);
		tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
		tb_fault(c.tb, 0, 2000, 0x1000, false);
		tb_switch(c.tb, 0, 2100, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(c.tb, 1, 2500, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 2600, 0, 10, TRACE_TASK_RUNNING);
		if (is_killed)
			tb_add(c.tb, 0, 3000, signal_deliver, NULL, .signal = SIGKILL);
		exit_with(&c, 3500, SIGKILL);
		tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		leave(&c, 7000);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->trap_ns, 100 + (is_killed ? 400 : 900));
		CU_ASSERT_EQUAL(c.one->user_ns, 0);
		CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, is_killed ? 4000 : 3500);
		CU_ASSERT_EQUAL(work(&c, "exit")->wait_ns, 2000);
		CU_ASSERT_EQUAL(work(&c, "signal")->calls, 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), 2000);
		case_free(&c);
	}
}

static void a_worker_without_a_fault_is_not_in_a_signal(void)
{
	struct trace_start_thread worker = {
		.tid = 10, .tgid = 10, .ppid = 1, .nr = -1, .running = 1, .flags = TRACE_THREAD_IO_WORKER};
	struct analysis_case c = case_new();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
	deliver(&c, 3000, SIGKILL, 0, 0);
	exit_with(&c, 3500, SIGKILL);
	leave(&c, 7000);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "signal")->calls, 0);
	CU_ASSERT_EQUAL(work(&c, "exit")->elapsed_ns, 4000);
	CU_ASSERT_EQUAL(c.one->syscall_ns, 6000);
	case_free(&c);
}

static void a_dump_waits_for_the_program_that_takes_it(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGSEGV, 1, 0);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	exit_with(&c, 7000, SIGSEGV | 0x80);
	leave(&c, 8000);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "coredump"), 3000);
	case_free(&c);
}

/* ---- task work ---- */

static void task_work_ends_when_the_kernel_says_so(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_munmap, 0x70000, 0x1000);
	tb_sys_exit(c.tb, 0, 2100, 0);
	task_work(&c, 2100);
	tb_vector(c.tb, 0, 4000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 4100, TRACE_VECTOR_LOCAL_TIMER);
	task_work_end(&c, 5000, true);
	tb_sys_enter(c.tb, 0, 8000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 8100, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "munmap")->elapsed_ns, 100);
	CU_ASSERT_EQUAL(work(&c, "task work")->elapsed_ns, 2900);
	CU_ASSERT_EQUAL(work(&c, "task work")->cpu_ns, 2800);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 800 + 3000 + 900);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	case_free(&c);
}

static void task_work_without_a_recorded_end_leaves_time_unknown(void)
{
	struct analysis_case c = begin();

	task_work(&c, 1200);
	tb_vector(c.tb, 0, 2000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 2100, TRACE_VECTOR_LOCAL_TIMER);
	task_work_end(&c, 4000, false);
	tb_vector(c.tb, 0, 4000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(c.tb, 0, 4100, TRACE_VECTOR_LOCAL_TIMER);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "task work")->elapsed_ns, 900);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 1900);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 4900);
	case_free(&c);
}

static void events_of_user_mode_end_task_work(void)
{
	for (int which = 0; which < 3; which++) {
		struct analysis_case c = begin();

		task_work(&c, 1200);
		if (which == 0)
			tb_sys_enter(c.tb, 0, 3200, SYS_getpid);
		else if (which == 1)
			tb_fault(c.tb, 0, 3200, 0x1000, true);
		else
			deliver(&c, 3200, SIGSEGV, 1, HANDLER);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 2000);
		CU_ASSERT_EQUAL(work(&c, "task work")->elapsed_ns, 0);
		CU_ASSERT_EQUAL(c.one->user_ns, which == 2 ? 100 + 5800 : 100);
		case_free(&c);
	}
}

static void the_first_fault_after_exec_shows_that_no_own_code_ran(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_execve, 0, 0, 0);
	tb_exec(c.tb, 0, 2500, 10, "/bin/true");
	tb_sys_exit(c.tb, 0, 3000, 0);
	task_work(&c, 3000);
	tb_fault(c.tb, 0, 4000, 0x1000, true);
	tb_fault_end(c.tb, 0, 4100, false);
	case_run(&c);
	CU_ASSERT_EQUAL(work(&c, "task work")->elapsed_ns, 1000);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	case_free(&c);
}

static void an_unmount_waits_for_its_disk_in_task_work(void)
{
	struct analysis_case c = begin();
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_string(c.tb, TRACE_STRING_DEVICE, 0xfe00000, "vda");
	task_work(&c, 1200);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 0, 5990, 7);
	tb_event(c.tb, 0, 5991, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	task_work_end(&c, 7000, true);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "vda", 0, ""), 3000);
	CU_ASSERT_EQUAL(work(&c, "task work")->elapsed_ns, 5800);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 2000);
	case_free(&c);
}

/* ---- stops ---- */

static void stop(struct analysis_case *c, uint64_t from, uint64_t to)
{
	tb_switch(c->tb, 0, from, 10, 0, TRACE_TASK_TRACED);
	tb_waking(c->tb, 1, to - 100, 10, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 0, to, 0, 10, TRACE_TASK_RUNNING);
}

static void a_stopped_thread_is_in_the_kernel_until_it_returns(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 8, true);
	stop(&c, 2500, 4000); /* ptrace keeps the signal back */
	task_work_end(&c, 5000, true);
	stop(&c, 6000, 7000); /* at the entry of a call */
	tb_sys_enter(c.tb, 0, 7500, SYS_getpid);
	tb_sys_exit(c.tb, 0, 7600, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->trap_ns, 500);
	CU_ASSERT_EQUAL(work(&c, "stop")->calls, 2);
	CU_ASSERT_EQUAL(work(&c, "stop")->elapsed_ns, 2500 + 1500);
	CU_ASSERT_EQUAL(work(&c, "stop")->cpu_ns, 1000 + 500);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 800 + 1000 + 1400);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_STOPPED, "two", 20, "ptrace"), 1400 + 900);
	case_free(&c);
}

/* No kernel tells an exact end here: the thread is in user mode at some time before its call. */
static void a_stop_without_a_recorded_end_leaves_time_unknown(void)
{
	struct analysis_case c = begin();

	stop(&c, 3000, 4000);
	tb_sys_enter(c.tb, 0, 7000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 7100, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 3000);
	CU_ASSERT_EQUAL(c.one->user_ns, 100 + 1800 + 1900);
	case_free(&c);
}

/* It has exact ends for stops. Task work ends without one if a signal comes behind it. */
static void task_work_may_end_without_the_event_that_stops_have(void)
{
	struct analysis_case c = begin();

	stop(&c, 2000, 3000);
	task_work_end(&c, 3500, true);
	tb_sys_enter(c.tb, 0, 4000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 4100, 10);
	task_work(&c, 4100);
	tb_sys_enter(c.tb, 0, 7000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 7100, 10);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 2900);
	case_free(&c);
}

static void a_stop_within_a_call_is_part_of_the_call(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_fork);
	stop(&c, 2500, 4000);
	tb_sys_exit(c.tb, 0, 4500, 30);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "fork")->elapsed_ns, 2500);
	CU_ASSERT_EQUAL(c.one->nr_kernel_work, 0);
	case_free(&c);
}

/* ---- what --verify finds ---- */

static void own_code_after_an_exit_is_a_violation(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGKILL, 0, 0);
	tb_sys_enter(c.tb, 0, 3000, SYS_getpid);
	case_verify(&c, "at 0.000002000 s thread 10 (one) entered a system call (sys_enter) 1000 ns after it began "
			"to exit");
	c = begin();
	exit_with(&c, 2000, 0);
	tb_fault(c.tb, 0, 3000, 0x1000, true);
	case_verify(&c, "at 0.000002000 s thread 10 (one) made a page fault in user mode (fault_entry) 1000 ns");
}

static void lost_events_explain_own_code_after_an_exit(void)
{
	struct analysis_case c = begin();

	deliver(&c, 2000, SIGKILL, 0, 0);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 5000, SYS_getpid);
	case_verify(&c, NULL);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_killed_thread_is_in_the_kernel_until_its_last_switch),
		CASE(an_exit_without_a_recorded_signal_is_one_too),
		CASE(the_call_exit_lasts_to_the_end),
		CASE(a_call_is_over_when_the_thread_exits_in_it),
		CASE(a_thread_dies_once),
		CASE(a_kernel_thread_has_no_work_beside_its_own),
		CASE(a_thread_that_exits_during_a_gap_has_no_own_code_behind_it),
		CASE(an_exit_waits_for_its_disk),
		CASE(a_wait_in_exit_that_ends_for_no_known_reason_is_other),
		CASE(a_fault_that_ends_in_a_handler_is_over),
		CASE(a_fault_in_a_handler_is_one_of_its_own),
		CASE(a_fault_in_the_vsyscall_page_has_no_end),
		CASE(a_fault_on_an_address_of_the_kernel_lasts_until_its_signal),
		CASE(the_delivery_of_a_signal_is_no_own_code),
		CASE(an_exception_is_in_the_kernel_from_its_signal_on),
		CASE(only_an_exception_of_its_own_puts_a_thread_into_the_kernel),
		CASE(a_signal_that_an_interrupt_sends_is_no_exception),
		CASE(the_signal_for_a_page_fault_is_part_of_the_fault),
		CASE(a_fault_lasts_until_a_signal_from_elsewhere_is_delivered),
		CASE(an_exception_with_a_handler_ends_with_its_delivery),
		CASE(an_exception_without_a_recorded_delivery_leaves_time_unknown),
		CASE(work_without_recorded_ends_is_own_code),
		CASE(without_interrupts_the_delivery_of_a_signal_is_not_told),
		CASE(a_signal_that_is_ignored_or_stops_kills_no_thread),
		CASE(the_first_process_of_a_namespace_survives_signals),
		CASE(signals_dump_core_as_signal_7_says),
		CASE(a_core_dump_is_told_as_one),
		CASE(threads_wait_for_the_one_that_dumps_core),
		CASE(a_killed_worker_of_a_ring_is_past_its_fault),
		CASE(a_worker_without_a_fault_is_not_in_a_signal),
		CASE(a_dump_waits_for_the_program_that_takes_it),
		CASE(task_work_ends_when_the_kernel_says_so),
		CASE(task_work_without_a_recorded_end_leaves_time_unknown),
		CASE(events_of_user_mode_end_task_work),
		CASE(the_first_fault_after_exec_shows_that_no_own_code_ran),
		CASE(an_unmount_waits_for_its_disk_in_task_work),
		CASE(a_stopped_thread_is_in_the_kernel_until_it_returns),
		CASE(a_stop_without_a_recorded_end_leaves_time_unknown),
		CASE(task_work_may_end_without_the_event_that_stops_have),
		CASE(a_stop_within_a_call_is_part_of_the_call),
		CASE(own_code_after_an_exit_is_a_violation),
		CASE(lost_events_explain_own_code_after_an_exit),
		{NULL, NULL},
	};

	return unit_main("kernel work", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_ANALYSIS_CASE_H
#define TESTS_ANALYSIS_CASE_H
/*
 * analysis_case.h - a built trace, its analysis, and the figures of threads 10 ("one") and 20
 * ("two").
 *
 * The trace has two CPUs, runs from 1000 to 9000 ns, and has system calls under their real numbers.
 * case_run() also checks that the accounting of every thread adds up.
 */
#include <CUnit/Basic.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/analysis.h>
#include "builder.h"

struct analysis_case {
	struct tb *tb;
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_figures *one; /* of process 10; NULL if the analysis has no process 10 */
	struct trace_figures *two;
};

static inline struct analysis_case case_new(void)
{
	static const struct {
		int nr;
		const char *name;
	} names[] = {
#define NAME(name) {SYS_##name, #name}
		NAME(getpid),	 NAME(read),	       NAME(write),	 NAME(open),	 NAME(openat),
		NAME(close),	 NAME(close_range),    NAME(dup),	 NAME(dup2),	 NAME(fcntl),
		NAME(nanosleep), NAME(pause),	       NAME(fork),	 NAME(vfork),	 NAME(execve),
		NAME(futex),	 NAME(poll),	       NAME(epoll_wait), NAME(select),	 NAME(accept),
		NAME(connect),	 NAME(recvfrom),       NAME(sendto),	 NAME(wait4),	 NAME(fsync),
		NAME(sync),	 NAME(flock),	       NAME(mmap),	 NAME(munmap),	 NAME(kill),
		NAME(semop),	 NAME(exit_group),     NAME(sendfile),	 NAME(ioctl),	 NAME(membarrier),
		NAME(stat),	 NAME(io_uring_enter), NAME(listen),	 NAME(shutdown),
#undef NAME
	};
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = {.tb = tb_new()};

	tb_window(c.tb, 1000, 9000);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		tb_string(c.tb, TRACE_STRING_SYSCALL, (uint64_t)names[i].nr, names[i].name);
	/* a heartbeat shows that CPU 1 exists */
	tb_event(c.tb, 1, 1000, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	return c;
}

static inline const struct trace_process *case_process(const struct analysis_case *c, uint32_t pid)
{
	for (size_t i = 0; i < trace_nr_processes(c->analysis); i++)
		if (trace_process_pid(trace_get_process(c->analysis, i)) == pid)
			return trace_get_process(c->analysis, i);
	return NULL;
}

/* Before case_run(), for a test that wants intervals of the analysis. */
static inline void case_open(struct analysis_case *c)
{
	struct trace_analysis_options options = {.size = sizeof(options), .verify = true};
	struct trace_error error = {0};

	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, &options, &error);
}

static inline void case_run(struct analysis_case *c)
{
	struct trace_error error = {0};

	if (!c->analysis)
		case_open(c);
	CU_ASSERT_EQUAL(trace_analysis_run(c->analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c->analysis, &error), 0);
	if (error.code)
		printf("%s\n", error.message);
	if (case_process(c, 10))
		c->one = trace_process_figures(c->analysis, case_process(c, 10));
	if (case_process(c, 20))
		c->two = trace_process_figures(c->analysis, case_process(c, 20));
}

static inline void case_free(struct analysis_case *c)
{
	trace_figures_free(c->one);
	trace_figures_free(c->two);
	trace_analysis_free(c->analysis);
	trace_close(c->trace);
	tb_free(c->tb);
}

/* The violation that trace_analysis_verify() finds, "" for none. Frees @c. */
static inline const char *case_violation(struct analysis_case *c)
{
	static char message[sizeof(((struct trace_error *)NULL)->message)];
	struct trace_error error = {0};

	if (!c->analysis)
		case_open(c);
	CU_ASSERT_EQUAL(trace_analysis_run(c->analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c->analysis, &error), *error.message ? -EBADMSG : 0);
	snprintf(message, sizeof(message), "%s", error.message);
	case_free(c);
	return message;
}

/* @what: a part of the violation; NULL: there is none. Frees @c. */
static inline void case_verify(struct analysis_case *c, const char *what)
{
	const char *found = case_violation(c);

	CU_ASSERT(what ? strstr(found, what) != NULL : *found == '\0');
	if (what ? !strstr(found, what) : *found)
		printf("\n    %s\n", found);
}

static inline const struct trace_call *case_call(const struct trace_figures *f, const char *name)
{
	static const struct trace_call none;

	for (size_t i = 0; i < f->nr_syscalls_rows; i++)
		if (strcmp(f->syscalls[i].name, name) == 0)
			return &f->syscalls[i];
	return &none;
}

static inline const struct trace_interrupt *case_interrupt(const struct trace_figures *f, const char *name)
{
	static const struct trace_interrupt none;

	for (size_t i = 0; i < f->nr_interrupts; i++)
		if (strcmp(f->interrupts[i].name, name) == 0)
			return &f->interrupts[i];
	return &none;
}

static inline struct trace_cpu_figures case_cpu(const struct analysis_case *c, size_t cpu)
{
	struct trace_cpu_figures figures = {0};

	trace_cpu_figures(c->analysis, cpu, &figures);
	return figures;
}

static inline uint64_t case_taken_by(const struct trace_figures *f, uint32_t pid, const char *comm)
{
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++)
		if (f->wait_cpu_for[i].pid == pid && strcmp(f->wait_cpu_for[i].comm, comm) == 0)
			return f->wait_cpu_for[i].ns;
	return 0;
}

/**
 * case_wait() - the ns of the wait row that matches in every argument; 0 if no row does
 */
static inline uint64_t case_wait(const struct trace_figures *f, enum trace_wait_kind kind, const char *target,
				 uint32_t pid, const char *via)
{
	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == kind && strcmp(f->waits[i].target, target) == 0 && f->waits[i].pid == pid &&
		    strcmp(f->waits[i].via, via) == 0)
			return f->waits[i].ns;
	for (size_t i = 0; i < f->nr_waits; i++) /* print the rows, because the test is about to fail */
		printf("\n    %s '%s' %u via '%s': %llu ns", trace_wait_kind_name(f->waits[i].kind), f->waits[i].target,
		       f->waits[i].pid, f->waits[i].via, (unsigned long long)f->waits[i].ns);
	return 0;
}
#endif

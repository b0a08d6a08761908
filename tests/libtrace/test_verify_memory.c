/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_verify_memory.c - a check of the accounting that runs out of memory reports only that: it
 * calls no sums wrong, and no trace damaged. An analysis that cannot be made leaves no hook. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "no_memory.h"
#include "random_story.h"
#include "unit.h"

/**
 * struct verified - a trace and the results of one pass over it
 */
struct verified {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_servers *servers;
	struct trace_user_events *user;
};

/* Threads die, so their accounting is packed. Others are in calls and alternate on a CPU: their
 * waits are added up only on demand. */
static struct trace *a_trace(void)
{
	static const struct mood mood = {.noise = 5,
					 .nr_tids = 12,
					 .switches = 40,
					 .sleeps = 20,
					 .cuts = 2,
					 .nr_events = 600,
					 .losses = true,
					 .programs = true,
					 .moves = true};
	struct tb *tb = random_story(3, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

static struct verified verified_new(void)
{
	struct verified v = {.trace = a_trace()};

	v.analysis = trace_analysis_new(v.trace, NULL, NULL);
	v.servers = trace_servers_new(v.trace, v.analysis, NULL);
	v.user = trace_user_events_new(v.trace, v.analysis, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(v.analysis, NULL), 0);
	return v;
}

static void verified_free(struct verified *v)
{
	trace_user_events_free(v->user);
	trace_servers_free(v->servers);
	trace_analysis_free(v->analysis);
	trace_close(v->trace);
}

static int verify_analysis(struct verified *v, struct trace_error *ret_error)
{
	return trace_analysis_verify(v->analysis, ret_error);
}

static int verify_servers(struct verified *v, struct trace_error *ret_error)
{
	return trace_servers_verify(v->servers, ret_error);
}

static int verify_user(struct verified *v, struct trace_error *ret_error)
{
	return trace_user_events_verify(v->user, ret_error);
}

static int verify_trace(struct verified *v, struct trace_error *ret_error)
{
	return trace_verify(v->trace, ret_error);
}

/* Returns false if the check makes fewer than @at allocations. @ret_refused: it reported that there
 * is no memory */
static bool without_memory(int (*verify)(struct verified *, struct trace_error *), long at, bool and_after,
			   bool *ret_refused)
{
	struct verified v = verified_new();
	struct trace_error error = {0};
	bool struck;
	int result;

	no_memory_at(at, and_after);
	result = verify(&v, &error);
	struck = no_memory_struck();
	no_memory_at(0, false);
	CU_ASSERT(result == 0 ||
		  (struck && result == -ENOMEM && error.code == -ENOMEM && strstr(error.message, "memory")));
	if (result && result != -ENOMEM)
		printf("\n    no memory for allocation %ld: %d: %s\n", at, result, error.message);
	*ret_refused = result != 0;
	verified_free(&v);
	return struck;
}

static void no_memory_is_no_violation(int (*verify)(struct verified *, struct trace_error *))
{
	for (int and_after = 0; and_after < 2; and_after++) {
		unsigned int refused = 0;
		bool refuses;

		for (long at = 1; without_memory(verify, at, and_after, &refuses); at++)
			refused += refuses;
		CU_ASSERT(refused > 0);
	}
}

static void without_memory_no_threads_sums_are_called_wrong(void)
{
	no_memory_is_no_violation(verify_analysis);
}

static void without_memory_no_servers_bill_is_called_wrong(void)
{
	no_memory_is_no_violation(verify_servers);
}

static void without_memory_no_span_is_called_wrong(void)
{
	no_memory_is_no_violation(verify_user);
}

static void without_memory_no_chunk_is_called_damaged(void)
{
	no_memory_is_no_violation(verify_trace);
}

/* ---- hooks of what could not be made ---- */

#define NR_MADE 3

static void *history_make(const struct trace *trace, struct trace_analysis *analysis)
{
	(void)trace;
	return trace_history_new(analysis, NULL, NULL);
}

static void history_end(void *history)
{
	trace_history_free(history);
}

static void *servers_make(const struct trace *trace, struct trace_analysis *analysis)
{
	return trace_servers_new(trace, analysis, NULL);
}

static void servers_end(void *servers)
{
	trace_servers_free(servers);
}

static void *user_make(const struct trace *trace, struct trace_analysis *analysis)
{
	return trace_user_events_new(trace, analysis, NULL);
}

static void user_end(void *user)
{
	trace_user_events_free(user);
}

/* The pass would call a hook that was left, with data that was freed. */
static bool pass_without(struct trace *trace, size_t kind, long at)
{
	static const struct {
		void *(*make)(const struct trace *trace, struct trace_analysis *analysis);
		void (*end)(void *made);
	} kinds[NR_MADE] = {{history_make, history_end}, {servers_make, servers_end}, {user_make, user_end}};
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	bool struck;
	void *made;

	no_memory_at(at, false);
	made = kinds[kind].make(trace, analysis);
	struck = no_memory_struck();
	no_memory_at(0, false);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	if (made)
		kinds[kind].end(made);
	trace_analysis_free(analysis);
	return struck;
}

static void without_memory_no_hook_is_left(void)
{
	struct trace *trace = a_trace();

	mallopt(M_PERTURB, 0x5a); /* freed memory has other contents */
	for (size_t kind = 0; kind < NR_MADE; kind++)
		for (long at = 1; pass_without(trace, kind, at); at++)
			;
	mallopt(M_PERTURB, 0);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(without_memory_no_threads_sums_are_called_wrong),
		CASE(without_memory_no_servers_bill_is_called_wrong),
		CASE(without_memory_no_span_is_called_wrong),
		CASE(without_memory_no_chunk_is_called_damaged),
		CASE(without_memory_no_hook_is_left),
		{NULL, NULL},
	};

	return unit_main("verify without memory", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_events.c - the programs' own events: counts, scopes, requests, and the times between
 * events, each divided by the states of its thread.
 *
 * Most tests use the story of user_events_case.h.
 */
#include <linux/futex.h>
#include <errno.h>
#include "image.h"
#include "unit.h"
#include "user_events_case.h"

static void run_of(struct story *s, struct trace *trace)
{
	struct trace_error error = {0};

	s->trace = trace;
	s->analysis = trace_analysis_new(s->trace, NULL, &error);
	s->user = trace_user_events_new(s->trace, s->analysis, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->user);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(s->analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_user_events_verify(s->user, &error), 0);
	if (error.code)
		printf("\n%s\n", error.message);
}

static void run(struct story *s)
{
	run_of(s, tb_open_trace(s->tb));
}

static void end(struct story *s)
{
	trace_user_events_free(s->user);
	trace_analysis_free(s->analysis);
	trace_close(s->trace);
	tb_free(s->tb);
}

static const struct trace_span *span(struct story *s, enum trace_span_kind kind, const char *from, const char *name)
{
	for (size_t i = 0; i < trace_nr_spans(s->user); i++) {
		const struct trace_span *span = trace_get_span(s->user, i);

		if (span->kind == kind && strcmp(span->name, name) == 0 && strcmp(span->from, from) == 0)
			return span;
	}
	CU_FAIL_FATAL("no such span");
	return NULL;
}

static const struct trace_user_event *event(struct story *s, const char *name)
{
	for (size_t i = 0; i < trace_nr_user_events(s->user); i++)
		if (strcmp(trace_get_user_event(s->user, i)->name, name) == 0)
			return trace_get_user_event(s->user, i);
	CU_FAIL_FATAL("no such event");
	return NULL;
}

/* ---- events ---- */

static void events_are_counted_by_process_with_the_time_between_them(void)
{
	struct story s = begin();
	uint16_t id = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);

	emit(s.tb, 0, 2000, id, 10, 1);
	emit(s.tb, 0, 3000, id, 10, 2);
	emit(s.tb, 0, 6000, id, 10, 3);
	emit(s.tb, 1, 6500, id, 11, 3); /* another thread: no time between events of two threads */
	run(&s);
	CU_ASSERT_EQUAL(trace_nr_user_events(s.user), 1);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->pid, 10);
	CU_ASSERT_PTR_EQUAL(event(&s, "shop:paid")->process, trace_thread_process(trace_find_thread(s.analysis, 10)));
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 4);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->first_ns, 2000);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->last_ns, 6500);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.sum_ns, 4000);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.min_ns, 1000);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.max_ns, 3000);
	CU_ASSERT_EQUAL(trace_analysis_count(s.analysis, TRACE_EV_USER), 4);
	end(&s);
}

static void counters_have_their_extremes_and_mean(void)
{
	struct story s = begin();
	uint16_t id = event_type(s.tb, "shop:queue", TRACE_ROLE_COUNTER);

	emit(s.tb, 0, 2000, id, 10, -5);
	emit(s.tb, 0, 3000, id, 10, 10);
	emit(s.tb, 0, 4000, id, 10, 4);
	run(&s);
	CU_ASSERT_TRUE(event(&s, "shop:queue")->is_counter);
	CU_ASSERT_EQUAL(event(&s, "shop:queue")->lowest, -5);
	CU_ASSERT_EQUAL(event(&s, "shop:queue")->highest, 10);
	CU_ASSERT_EQUAL(event(&s, "shop:queue")->last, 4);
	CU_ASSERT_EQUAL(event(&s, "shop:queue")->mean, 3);
	end(&s);
}

static void kinds_of_spans_beyond_the_limit_are_told(void)
{
	for (uint32_t nr = 2; nr <= MANY_KINDS; nr += MANY_KINDS - 2) {
		struct story s = begin();

		emit_pairs(s.tb, nr);
		run(&s);
		CU_ASSERT_EQUAL(trace_nr_spans(s.user), nr == 2 ? 4 : 65536);
		CU_ASSERT_EQUAL(trace_spans_left_out(s.user), nr > 2);
		end(&s);
	}
}

/* ---- whose they are ---- */

/* The thread that gets the events with @tid of @cpu's stream, 0: none. "shop" (10) runs on CPU 0,
 * "bank" (50) on CPU 1. */
static uint32_t thread_of(uint32_t cpu, uint32_t pid, uint32_t tid)
{
	uint32_t found;
	struct story s = {.tb = tb_new()};
	uint16_t id = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);

	tb_window(s.tb, 1000, 9000);
	tb_thread(s.tb, 10, 10, 1, "shop", 0, true);
	tb_thread(s.tb, 50, 50, 1, "bank", 1, true);
	tb_thread(s.tb, 11, 10, 1, "shop", 2, false);
	for (uint32_t i = 0; i < 2; i++)
		tb_switch(s.tb, i, 1001, i ? 50 : 10, i ? 50 : 10, TRACE_TASK_RUNNING);
	if (pid != UINT32_MAX)
		stream(s.tb, cpu, pid);
	emit(s.tb, cpu, 2000, id, tid, 1);
	s.trace = tb_open_trace(s.tb);
	s.analysis = trace_analysis_new(s.trace, NULL, NULL);
	s.user = trace_user_events_new(s.trace, s.analysis, NULL);
	CU_ASSERT_EQUAL(trace_analysis_run(s.analysis, NULL), 0);
	found = event(&s, "shop:paid")->process ? trace_process_pid(event(&s, "shop:paid")->process) : 0;
	end(&s);
	return found;
}

static void an_event_is_of_a_thread_of_its_own_process(void)
{
	CU_ASSERT_EQUAL(thread_of(0, 10, 10), 10);
	CU_ASSERT_EQUAL(thread_of(0, 10, 1), 10);  /* in a container it has another number */
	CU_ASSERT_EQUAL(thread_of(1, 10, 11), 10); /* it has just moved */
	CU_ASSERT_EQUAL(thread_of(0, 10, 0), 10);
}

/* SECURITY: any program could have its scopes and requests on the account of another one. */
static void an_event_is_never_of_another_process_s_thread(void)
{
	CU_ASSERT_EQUAL(thread_of(1, 10, 50), 0); /* that one runs there */
	CU_ASSERT_EQUAL(thread_of(1, 10, 0), 0);
	CU_ASSERT_EQUAL(thread_of(0, 50, 10), 0);
	CU_ASSERT_EQUAL(thread_of(0, 99, 50), 0);
	CU_ASSERT_EQUAL(thread_of(1, 0, 50), 0); /* its process is not known */
	CU_ASSERT_EQUAL(thread_of(1, UINT32_MAX, 50), 0);
}

/* ---- scopes ---- */

static void a_scope_is_divided_by_its_threads_states(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	const struct trace_span *scope;

	emit(s.tb, 0, 1500, open, 10, 0);
	read_orders(s.tb);
	tb_vector(s.tb, 0, 6500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(s.tb, 0, 6600, TRACE_VECTOR_LOCAL_TIMER);
	emit(s.tb, 0, 7000, close, 10, 0);
	run(&s);
	scope = span(&s, TRACE_SPAN_SCOPE, "", "shop:checkout");
	CU_ASSERT_EQUAL(scope->elapsed.count, 1);
	CU_ASSERT_EQUAL(scope->elapsed.sum_ns, 5500);
	CU_ASSERT_EQUAL(scope->user_ns, 500 + 700);
	CU_ASSERT_EQUAL(scope->system_ns, 1000 + 100);
	CU_ASSERT_EQUAL(scope->interrupted_ns, 100);
	CU_ASSERT_EQUAL(scope->wait_cpu_ns, 100);
	CU_ASSERT_EQUAL(scope->blocked_ns, 3000);
	CU_ASSERT_EQUAL(scope->unseen_ns, 0);
	CU_ASSERT_EQUAL_FATAL(scope->nr_waits, 1);
	CU_ASSERT_EQUAL(scope->waits[0].kind, TRACE_WAIT_FILE);
	CU_ASSERT_STRING_EQUAL(scope->waits[0].target, "/orders.db");
	CU_ASSERT_EQUAL(scope->waits[0].ns, 3000);
	CU_ASSERT_EQUAL(scope->waits[0].count, 1);
	end(&s);
}

static void scopes_nest_and_each_has_all_of_its_time(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:outer.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:outer.end", TRACE_ROLE_END);
	uint16_t inner_open = event_type(s.tb, "shop:inner.begin", TRACE_ROLE_BEGIN),
		 inner_close = event_type(s.tb, "shop:inner.end", TRACE_ROLE_END);

	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1600, inner_open, 10, 0);
	read_orders(s.tb);
	emit(s.tb, 0, 6300, inner_close, 10, 0);
	emit(s.tb, 0, 6400, inner_open, 10, 0);
	emit(s.tb, 0, 6500, inner_close, 10, 0);
	emit(s.tb, 0, 7000, close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:inner")->elapsed.count, 2);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:inner")->elapsed.sum_ns, 4800);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:inner")->elapsed.min_ns, 100);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:inner")->blocked_ns, 3000);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:outer")->elapsed.sum_ns, 5500);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:outer")->blocked_ns, 3000);
	end(&s);
}

static void scopes_without_begin_or_end_are_reported(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t b = event_type(s.tb, "shop:b.begin", TRACE_ROLE_BEGIN);

	emit(s.tb, 0, 1500, close, 10, 0); /* begun before the trace */
	emit(s.tb, 0, 2000, open, 10, 0);
	emit(s.tb, 0, 2500, b, 10, 0); /* left by longjmp */
	emit(s.tb, 0, 3000, close, 10, 0);
	emit(s.tb, 0, 4000, open, 10, 0); /* never ends */
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 1000);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:b")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:b")->elapsed.count, 0);
	end(&s);
}

static void scopes_deeper_than_can_be_followed_are_counted(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

	for (unsigned int i = 0; i < 70; i++)
		emit(s.tb, 0, 2000 + i, open, 10, 0);
	for (unsigned int i = 0; i < 70; i++)
		emit(s.tb, 0, 3000 + i, close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 64);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 6);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 0);
	end(&s);
}

/* Each of 100 scopes was left by longjmp. The later ones have their times all the same. */
static void scopes_left_in_a_loop_hide_no_later_ones(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END),
		 outer = event_type(s.tb, "shop:outer.begin", TRACE_ROLE_BEGIN),
		 outer_close = event_type(s.tb, "shop:outer.end", TRACE_ROLE_END);

	emit(s.tb, 0, 1900, outer, 10, 0);
	for (unsigned int i = 0; i < 100; i++)
		emit(s.tb, 0, 2000 + i, open, 10, 0);
	emit(s.tb, 0, 3000, open, 10, 0);
	emit(s.tb, 0, 3010, close, 10, 0);
	emit(s.tb, 0, 3020, outer_close, 10, 0);
	emit(s.tb, 0, 3030, outer, 10, 0);
	emit(s.tb, 0, 3040, outer_close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 10);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 62);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 38);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:outer")->elapsed.count, 2);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:outer")->elapsed.sum_ns, 1130);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:outer")->open, 0);
	end(&s);
}

/* The 64 open scopes have 64 names. A scope inside of them is left by longjmp to the outermost. */
static void the_end_of_a_scope_is_not_that_of_a_deeper_one(void)
{
	struct story s = begin();
	uint16_t deep = event_type(s.tb, "shop:deep.begin", TRACE_ROLE_BEGIN),
		 deep_close = event_type(s.tb, "shop:deep.end", TRACE_ROLE_END), close = 0;
	char name[32];

	for (unsigned int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "shop:a%u.begin", i);
		emit(s.tb, 0, 2000 + i, event_type(s.tb, name, TRACE_ROLE_BEGIN), 10, 0);
	}
	close = event_type(s.tb, "shop:a0.end", TRACE_ROLE_END);
	emit(s.tb, 0, 2100, deep, 10, 0);
	emit(s.tb, 0, 2110, deep_close, 10, 0);
	emit(s.tb, 0, 2120, deep, 10, 0);
	emit(s.tb, 0, 3000, close, 10, 0);
	emit(s.tb, 0, 3100, deep, 10, 0);
	emit(s.tb, 0, 3150, deep_close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a0")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a0")->elapsed.sum_ns, 1000);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a63")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:deep")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:deep")->elapsed.sum_ns, 50);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:deep")->unmatched, 2);
	end(&s);
}

/* An event type that is off while one scope ends and the next begins, and on when that one ends,
 * would make one long scope of two. */
static void nothing_is_followed_across_a_change_of_the_mask(void)
{
	struct story s = begin();
	uint16_t begins = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 ends = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t mark = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);

	emit(s.tb, 0, 2000, begins, 10, 0);
	emit(s.tb, 0, 2100, mark, 10, 0);
	tb_event(s.tb, 0, 2500, TRACE_EV_trace_select, "", 0, "-shop:a*");
	tb_event(s.tb, 0, 3000, TRACE_EV_trace_select, "", 0, "all");
	emit(s.tb, 0, 4000, ends, 10, 0);
	emit(s.tb, 0, 4100, mark, 10, 0);
	emit(s.tb, 0, 5000, begins, 10, 0);
	emit(s.tb, 0, 5200, ends, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 200);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 1);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 0);
	end(&s);
}

/* The trace, with its chunk of events that begins at @ns damaged. */
static struct image spoilt_at(struct tb *tb, uint64_t ns)
{
	struct image image = image_new(tb, true);
	struct trace_chunk_header header = {0};
	long at = 0;

	for (size_t i = 0; at >= 0 && !(header.kind == TRACE_CHUNK_EVENTS && header.first_ns == ns); i++)
		at = image_chunk(&image, i, &header);
	CU_ASSERT_FATAL(at >= 0);
	image.data[(size_t)at + header.header_bytes] ^= 1;
	return image;
}

/* The reader finds the damage only when it reads the chunk, so no loss was known before. */
static void nothing_is_followed_across_a_damaged_chunk(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);
	struct image image;

	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1700, paid, 10, 0);
	tb_user_cut(s.tb, 0);
	emit(s.tb, 0, 3000, close, 10, 0);
	emit(s.tb, 1, 3100, open, 11, 0); /* at the same time, in an intact chunk */
	emit(s.tb, 1, 3900, close, 11, 0);
	emit(s.tb, 0, 4000, open, 10, 0);
	tb_user_cut(s.tb, 0);
	emit(s.tb, 0, 7000, paid, 10, 0);
	emit(s.tb, 0, 7100, close, 10, 0);
	emit(s.tb, 0, 8000, open, 10, 0);
	emit(s.tb, 0, 8500, close, 10, 0);
	image = spoilt_at(s.tb, 3000);
	run_of(&s, trace_open(image.path, NULL));
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 0);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 500);
	end(&s);
	image_free(&image);
}

/* A program's first events are in its stream before the daemon has recorded which program it is. */
static void damage_in_a_stream_is_of_its_program_even_if_named_later(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	struct image image;

	emit(s.tb, 2, 3000, open, 10, 0);
	stream_at(s.tb, 2, 3050, 10);
	emit(s.tb, 0, 3100, open, 10, 0); /* at the same time, in an intact chunk */
	emit(s.tb, 0, 3900, close, 10, 0);
	emit(s.tb, 2, 4000, close, 10, 0);
	emit(s.tb, 0, 8000, open, 10, 0);
	emit(s.tb, 0, 8500, close, 10, 0);
	image = spoilt_at(s.tb, 3000);
	run_of(&s, trace_open(image.path, NULL));
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 500);
	end(&s);
	image_free(&image);
}

static void nothing_is_followed_across_lost_events(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);

	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1600, take, 10, 5);
	emit(s.tb, 0, 1700, paid, 10, 0);
	tb_user_lost(s.tb, 0, 3); /* from 1700 to 7000 */
	emit(s.tb, 1, 3000, open, 11, 0);
	emit(s.tb, 1, 4000, close, 11, 0);
	emit(s.tb, 0, 7000, paid, 10, 0);
	emit(s.tb, 0, 7100, close, 10, 0);
	emit(s.tb, 0, 7200, done, 10, 5);
	emit(s.tb, 0, 8000, open, 10, 0);
	emit(s.tb, 0, 8500, close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 0);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unmatched, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.count, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 500);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->open, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->unmatched, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->elapsed.count, 0);
	CU_ASSERT_EQUAL(trace_nr_spans(s.user), 2);
	end(&s);
}

/* A damaged trace may contain any time. After the last gap there is no other gap, whatever time an
 * event claims. */
static void the_end_of_all_time_is_in_no_gap(void)
{
	struct trace_event_type type = {.name = "shop:paid",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "shop",
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON,
					.source = ""};
	struct story s = begin();
	uint16_t id = tb_user_type(s.tb, &type);

	tb_event(s.tb, 0, 2000, id, "", 0, NULL);
	tb_lost(s.tb, 0, 1);
	tb_event(s.tb, 0, 3000, id, "", 0, NULL);
	tb_event(s.tb, 0, UINT64_MAX, id, "", 0, NULL);
	run(&s);
	CU_ASSERT(trace_nr_user_events(s.user) > 0);
	end(&s);
}

static void probe_events_belong_to_the_running_thread_and_share_kernel_gaps(void)
{
	static const struct trace_field field = {.name = "size", .offset = 0, .bytes = 8, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "libc:malloc",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "probe",
					.fields = &field,
					.nr_fields = 1,
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON,
					.source = ""};
	struct story s = begin();
	uint16_t id = tb_user_type(s.tb, &type);
	uint64_t size = 24;

	tb_event(s.tb, 0, 2000, id, &size, sizeof(size), NULL);
	tb_event(s.tb, 0, 2500, id, &size, sizeof(size), NULL);
	tb_event(s.tb, 0, 2600, id, &size, sizeof(size), NULL);
	/* where the gap begins: the running thread is unknown from now on */
	tb_event(s.tb, 0, 3000, id, &size, sizeof(size), NULL);
	tb_lost(s.tb, 0, 1);
	tb_event(s.tb, 0, 6000, id, &size, sizeof(size), NULL);
	run(&s);
	for (size_t i = 0; i < trace_nr_user_events(s.user); i++)
		CU_ASSERT_STRING_EQUAL(trace_get_user_event(s.user, i)->name, "libc:malloc");
	CU_ASSERT_EQUAL(trace_get_user_event(s.user, 0)->count, 3);
	CU_ASSERT_EQUAL(trace_get_user_event(s.user, 0)->pid, 10);
	CU_ASSERT_EQUAL(trace_get_user_event(s.user, 0)->interval.sum_ns, 600);
	CU_ASSERT_EQUAL(trace_get_user_event(s.user, 1)->count, 2);
	CU_ASSERT_PTR_NULL(trace_get_user_event(s.user, 1)->process);
	CU_ASSERT_EQUAL(trace_nr_spans(s.user), 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "libc:malloc", "libc:malloc")->elapsed.count, 2);
	end(&s);
}

/* ---- between two events ---- */

static void the_time_between_two_marks_is_divided_too(void)
{
	struct story s = begin();
	uint16_t a = event_type(s.tb, "shop:a", TRACE_ROLE_EVENT), b = event_type(s.tb, "shop:b", TRACE_ROLE_EVENT);
	uint16_t other = event_type(s.tb, "bank:c", TRACE_ROLE_EVENT);

	emit(s.tb, 0, 1500, a, 10, 0);
	read_orders(s.tb);
	emit(s.tb, 0, 7000, b, 10, 0);
	emit(s.tb, 0, 7500, a, 10, 0);
	emit(s.tb, 0, 8000, other, 10, 0); /* another provider: no pair */
	run(&s);
	CU_ASSERT_EQUAL(trace_nr_spans(s.user), 2);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "shop:a", "shop:b")->elapsed.sum_ns, 5500);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "shop:a", "shop:b")->blocked_ns, 3000);
	CU_ASSERT_STRING_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "shop:a", "shop:b")->waits[0].target, "/orders.db");
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "shop:b", "shop:a")->elapsed.sum_ns, 500);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_BETWEEN, "shop:b", "shop:a")->user_ns, 500);
	end(&s);
}

/* ---- requests ---- */

static void a_request_goes_from_thread_to_thread(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t pass = event_type(s.tb, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);
	const struct trace_span *request;

	emit(s.tb, 0, 1500, take, 10, 77);
	read_orders(s.tb);
	emit(s.tb, 0, 7000, pass, 10, 77);
	emit(s.tb, 1, 9000, take, 11, 77);
	emit(s.tb, 1, 9500, done, 11, 77);
	emit(s.tb, 1, 9600, take, 11, 78);
	run(&s);
	request = span(&s, TRACE_SPAN_REQUEST, "", "shop:order");
	CU_ASSERT_EQUAL(request->elapsed.count, 1);
	CU_ASSERT_EQUAL(request->elapsed.sum_ns, 8000);
	CU_ASSERT_EQUAL(request->queued_ns, 2000);
	CU_ASSERT_EQUAL(request->blocked_ns, 3000);
	CU_ASSERT_EQUAL(request->user_ns, 500 + 800 + 500);
	CU_ASSERT_EQUAL(request->open, 1);
	end(&s);
}

/* Two requests of 300 years each: their sum overflows 64 bits, and would be smaller than either
 * part. */
static void requests_of_six_hundred_years_do_not_overflow(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t pass = event_type(s.tb, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);
	uint64_t later = (1ull << 62) - 5000; /* 146 years; five of them need more than 64 bits */

	tb_window(s.tb, 1000, later + 1000);
	for (int i = 0; i < 5; i++)
		emit(s.tb, 0, 1500 + (unsigned int)i, take, 10, i);
	emit(s.tb, 0, 1700, pass, 10, 4);
	tb_user_cut(s.tb, 0);
	for (int i = 0; i < 5; i++)
		emit(s.tb, 0, later, done, 10, i);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->elapsed.count, 5);
	end(&s);
}

static void requests_that_ended_leave_no_trace_in_memory(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);

	emit(s.tb, 0, 1100, take, 10, -1); /* stays open through all releases of memory */
	for (int i = 0; i < 5000; i++) {
		emit(s.tb, 0, 2000 + 2 * (unsigned int)i, take, 10, i);
		emit(s.tb, 0, 2001 + 2 * (unsigned int)i, done, 10, i);
	}
	emit(s.tb, 0, 19000, done, 10, -1);
	run(&s);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->elapsed.count, 5001);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->elapsed.max_ns, 17900);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->unmatched, 0);
	end(&s);
}

/* Three requests wait for the file at the same time. One ends, one is lost on its thread, and one
 * is lost after it was handed off. */
static void only_requests_that_end_have_waits(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN);
	uint16_t done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t pass = event_type(s.tb, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);
	const struct trace_span *request;

	for (unsigned int i = 0; i < 3; i++)
		emit(s.tb, 0, 1500 + i, take, 10, i);
	read_orders(s.tb);
	emit(s.tb, 0, 7000, done, 10, 0);
	emit(s.tb, 0, 7050, pass, 10, 2);
	emit(s.tb, 0, 7100, pass, 10, 9); /* the gap begins here */
	tb_user_lost(s.tb, 0, 1);
	emit(s.tb, 0, 8000, pass, 10, 3);
	run(&s);
	request = span(&s, TRACE_SPAN_REQUEST, "", "shop:order");
	CU_ASSERT_EQUAL(request->elapsed.count, 1);
	CU_ASSERT_EQUAL(request->open, 2);
	CU_ASSERT_EQUAL(request->blocked_ns, 3000);
	CU_ASSERT_EQUAL_FATAL(request->nr_waits, 1);
	CU_ASSERT_EQUAL(request->waits[0].ns, 3000);
	CU_ASSERT_EQUAL(request->waits[0].count, 1);
	end(&s);
}

/* Thread 10 waits in a futex call from @ns + 5 to @ns + 30 for @tid, which runs on CPU 1. */
static void waits_for_thread(struct tb *tb, uint64_t ns, uint32_t tid)
{
	const struct trace_sched_waking woken = {.tid = 10, .target_cpu = 0, .context = TRACE_CONTEXT_TASK};

	tb_sys_enter(tb, 0, ns, SYS_futex, 0x1000, FUTEX_WAIT_PRIVATE, 2);
	tb_switch(tb, 0, ns + 5, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, ns + 6, 0, tid, TRACE_TASK_RUNNING);
	tb_sys_enter(tb, 1, ns + 10, SYS_futex, 0x1000, FUTEX_WAKE_PRIVATE, 1);
	tb_event(tb, 1, ns + 30, TRACE_EV_sched_waking, &woken, sizeof(woken), NULL);
	tb_sys_exit(tb, 1, ns + 31, 1);
	tb_switch(tb, 1, ns + 32, tid, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, ns + 32, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, ns + 35, 0);
}

/* A process with 300 threads: the first 256 that were waited for have a row each. */
static void a_scope_tells_the_threads_that_it_waited_for(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint32_t nr_told = 0, nr_rows = 0;
	const struct trace_span *scope;
	struct trace_figures *figures;

	tb_string(s.tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_switch(s.tb, 1, 1001, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	for (uint32_t tid = 100; tid < 400; tid++)
		tb_thread(s.tb, tid, 10, 1, "pool", 1, false);
	emit(s.tb, 0, 1500, open, 10, 0);
	for (uint32_t i = 0; i < 300; i++)
		waits_for_thread(s.tb, 2000 + 50 * i, 100 + i);
	emit(s.tb, 0, 19000, close, 10, 0);
	run(&s);
	scope = span(&s, TRACE_SPAN_SCOPE, "", "shop:a");
	CU_ASSERT_EQUAL(scope->nr_waits, 257);
	CU_ASSERT_EQUAL(scope->waits[0].ns, 44 * 25);
	for (size_t i = 1; i < scope->nr_waits; i++)
		nr_told += scope->waits[i].ns == 25 && scope->waits[i].thread == scope->waits[1].thread;
	CU_ASSERT_EQUAL(nr_told, 1);
	figures = trace_process_figures(s.analysis, trace_get_process(s.analysis, 0));
	for (size_t i = 0; i < figures->nr_waits; i++)
		nr_rows += figures->waits[i].thread != NULL;
	CU_ASSERT_EQUAL(nr_rows, 256);
	trace_figures_free(figures);
	end(&s);
}

/* Two clocks may differ: the second request of thread 10 begins before the kernel's event says that
 * the thread no longer waits. */
static void a_request_that_begins_in_a_wait_has_the_rest_of_it(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN);
	uint16_t done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

	emit(s.tb, 0, 1500, take, 10, 0);
	read_orders(s.tb); /* it waits from 3000 to 6000 */
	emit(s.tb, 0, 5000, take, 10, 1);
	emit(s.tb, 0, 5500, open, 10, 0);
	emit(s.tb, 0, 7000, done, 10, 0);
	emit(s.tb, 0, 7000, done, 10, 1);
	emit(s.tb, 0, 7000, close, 10, 0);
	run(&s);
	CU_ASSERT_EQUAL_FATAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->nr_waits, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->waits[0].ns, 4000);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", "shop:order")->waits[0].count, 2);
	CU_ASSERT_EQUAL_FATAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->nr_waits, 1);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->waits[0].ns, 500);
	end(&s);
}

/* With 65 names at the same time, requests of the last name wait for something unknown. Their times
 * are exact. */
static void requests_of_more_names_than_can_be_followed_wait_for_something_unknown(void)
{
	struct story s = begin();
	uint16_t take, done[65];
	char name[32];

	for (unsigned int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "shop:order%u.begin", i);
		take = event_type(s.tb, name, TRACE_ROLE_REQUEST_BEGIN);
		snprintf(name, sizeof(name), "shop:order%u.end", i);
		done[i] = event_type(s.tb, name, TRACE_ROLE_REQUEST_END);
		emit(s.tb, 0, 1500 + i, take, 10, 0);
	}
	read_orders(s.tb);
	for (unsigned int i = 0; i < 65; i++)
		emit(s.tb, 0, 7000 + i, done[i], 10, 0);
	run(&s);
	for (unsigned int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "shop:order%u", i);
		CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", name)->blocked_ns, 3000);
		CU_ASSERT_EQUAL_FATAL(span(&s, TRACE_SPAN_REQUEST, "", name)->nr_waits, 1);
		CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", name)->waits[0].kind,
				i < 64 ? TRACE_WAIT_FILE : TRACE_WAIT_UNKNOWN);
		CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_REQUEST, "", name)->waits[0].ns, 3000);
	}
	end(&s);
}

/* Thread 11 exits without an event, and another thread gets its number. The waits of that thread
 * are not the request's, and are not counted with those of 11. */
static void a_request_does_not_pass_to_a_thread_that_reuses_the_number(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);
	const struct trace_span *request;

	emit(s.tb, 1, 1900, paid, 11, 0);
	emit(s.tb, 1, 2000, take, 11, 77);
	tb_exit(s.tb, 1, 2900, 11, 10, false);
	tb_switch(s.tb, 1, 3000, 11, 0, TRACE_TASK_DEAD);
	tb_fork(s.tb, 0, 4000, 10, 11, 10, "shop");
	tb_switch(s.tb, 1, 4500, 0, 11, TRACE_TASK_RUNNING);
	emit(s.tb, 1, 5000, paid, 11, 0);
	tb_switch(s.tb, 1, 6000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(s.tb, 0, 8000, 11, TRACE_CONTEXT_TASK);
	tb_switch(s.tb, 1, 8100, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(s.tb, 1, 8200, 0);
	emit(s.tb, 0, 9000, done, 10, 77);
	run(&s);
	request = span(&s, TRACE_SPAN_REQUEST, "", "shop:order");
	CU_ASSERT_EQUAL(request->elapsed.sum_ns, 7000);
	CU_ASSERT_EQUAL(request->user_ns, 900);
	CU_ASSERT_EQUAL(request->blocked_ns, 0);
	CU_ASSERT_EQUAL(request->nr_waits, 0);
	CU_ASSERT_EQUAL(request->queued_ns, 4000);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 0);
	end(&s);
}

/* Only when 10 blocks does the trace show that it was in a call. The time before the scope that had
 * counted as user mode was not, and the scope's user time would have become negative. */
static void without_system_calls_no_part_of_a_span_is_negative(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	const struct trace_span *scope;

	for (uint32_t id = TRACE_EV_sys_enter; id <= TRACE_EV_sys_exit; id++)
		mask[id / 64] &= ~(1ull << id % 64);
	tb_event(s.tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	emit(s.tb, 0, 1500, open, 10, 0);
	tb_switch(s.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(s.tb, 1, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(s.tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	emit(s.tb, 0, 3200, close, 10, 0);
	run(&s);
	scope = span(&s, TRACE_SPAN_SCOPE, "", "shop:a");
	CU_ASSERT_EQUAL(scope->elapsed.sum_ns, 1700);
	CU_ASSERT(scope->user_ns <= 600 && scope->system_ns <= 600);
	CU_ASSERT_EQUAL(scope->user_ns + scope->system_ns, 600);
	CU_ASSERT_EQUAL(scope->wait_cpu_ns, 100);
	CU_ASSERT_EQUAL(scope->blocked_ns, 1000);
	end(&s);
}

/* ---- the thread of an event ---- */

static void a_thread_of_a_container_is_found_by_its_cpu(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

	tb_thread(s.tb, 2, 2, 1, "not it", 1, false);
	emit(s.tb, 0, 1500, open, 2, 0); /* thread 10 has the number 2 inside the container */
	read_orders(s.tb);
	emit(s.tb, 0, 7000, close, 2, 0);
	run(&s);
	CU_ASSERT_EQUAL(trace_process_pid(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->process), 10);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->blocked_ns, 3000);
	end(&s);
}

static void without_kernel_events_the_parts_are_unrecorded(void)
{
	struct story s = {.tb = tb_new()};
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

	stream(s.tb, 0, 10);
	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 7000, close, 10, 0);
	run(&s);
	CU_ASSERT_PTR_NULL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->process);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->pid, 10);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->elapsed.sum_ns, 5500);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->unseen_ns, 5500);
	end(&s);
}

static void a_trace_without_such_events_has_no_rows(void)
{
	struct story s = begin();

	read_orders(s.tb);
	run(&s);
	CU_ASSERT_EQUAL(trace_nr_user_events(s.user), 0);
	CU_ASSERT_EQUAL(trace_nr_spans(s.user), 0);
	CU_ASSERT_PTR_NULL(trace_get_span(s.user, 0));
	CU_ASSERT_PTR_NULL(trace_get_user_event(s.user, 0));
	end(&s);
}

static void user_events_have_to_be_created_before_the_pass(void)
{
	struct story s = begin();
	struct trace_error error = {0};

	emit(s.tb, 0, 2000, event_type(s.tb, "shop:a", TRACE_ROLE_EVENT), 10, 0);
	run(&s);
	CU_ASSERT_PTR_NULL(trace_user_events_new(s.trace, s.analysis, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	end(&s);
}

/* ---- readings of a thread's times ---- */

struct reading {
	uint64_t nr, wrong;
};

static void on_any(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_find_thread(analysis, 10);
	struct reading *reading = data;
	struct trace_times t;

	if (!thread || event->id == TRACE_EV_user_stream)
		return;
	trace_thread_times(analysis, thread, &t);
	reading->nr++;
	if (t.user_ns + t.syscall_ns + t.trap_ns + t.interrupted_ns + t.wait_cpu_ns + t.blocked_ns !=
	    trace_analysis_now(analysis) - trace_thread_start_ns(thread))
		reading->wrong++;
}

static void the_times_of_a_thread_add_up_at_every_event(void)
{
	struct story s = begin();
	struct reading reading = {0};

	read_orders(s.tb);
	tb_vector(s.tb, 0, 6500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(s.tb, 0, 6600, TRACE_VECTOR_LOCAL_TIMER);
	tb_fault(s.tb, 0, 7000, 0x1000, true);
	tb_fault_end(s.tb, 0, 7100, false);
	s.trace = tb_open_trace(s.tb);
	s.analysis = trace_analysis_new(s.trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_analysis_on_event(s.analysis, NULL, on_any, &reading), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(s.analysis, NULL), 0);
	CU_ASSERT_EQUAL(reading.nr, 12);
	CU_ASSERT_EQUAL(reading.wrong, 0);
	end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(events_are_counted_by_process_with_the_time_between_them),
		CASE(kinds_of_spans_beyond_the_limit_are_told),
		CASE(an_event_is_of_a_thread_of_its_own_process),
		CASE(an_event_is_never_of_another_process_s_thread),
		CASE(counters_have_their_extremes_and_mean),
		CASE(a_scope_is_divided_by_its_threads_states),
		CASE(scopes_nest_and_each_has_all_of_its_time),
		CASE(scopes_without_begin_or_end_are_reported),
		CASE(scopes_deeper_than_can_be_followed_are_counted),
		CASE(scopes_left_in_a_loop_hide_no_later_ones),
		CASE(the_end_of_a_scope_is_not_that_of_a_deeper_one),
		CASE(nothing_is_followed_across_lost_events),
		CASE(nothing_is_followed_across_a_damaged_chunk),
		CASE(damage_in_a_stream_is_of_its_program_even_if_named_later),
		CASE(nothing_is_followed_across_a_change_of_the_mask),
		CASE(the_end_of_all_time_is_in_no_gap),
		CASE(probe_events_belong_to_the_running_thread_and_share_kernel_gaps),
		CASE(the_time_between_two_marks_is_divided_too),
		CASE(a_request_goes_from_thread_to_thread),
		CASE(requests_of_six_hundred_years_do_not_overflow),
		CASE(requests_that_ended_leave_no_trace_in_memory),
		CASE(only_requests_that_end_have_waits),
		CASE(a_scope_tells_the_threads_that_it_waited_for),
		CASE(a_request_that_begins_in_a_wait_has_the_rest_of_it),
		CASE(requests_of_more_names_than_can_be_followed_wait_for_something_unknown),
		CASE(a_request_does_not_pass_to_a_thread_that_reuses_the_number),
		CASE(without_system_calls_no_part_of_a_span_is_negative),
		CASE(a_thread_of_a_container_is_found_by_its_cpu),
		CASE(without_kernel_events_the_parts_are_unrecorded),
		CASE(a_trace_without_such_events_has_no_rows),
		CASE(user_events_have_to_be_created_before_the_pass),
		CASE(the_times_of_a_thread_add_up_at_every_event),
		{NULL, NULL},
	};

	return unit_main("user_events", cases, argc, argv);
}

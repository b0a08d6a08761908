/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_events.c - the programs' own events: counts, scopes, requests and what lies between, each with where its time went.
 *
 * The story of most: "shop" (10) runs on CPU 0 from the start and reads a file from 2000 to 6200, blocked from 3000 to 6000, queued until 6100.
 */
#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/user_events.h>
#include <unistd.h>
#include "builder.h"
#include "image.h"
#include "unit.h"
#include "visualizer.h"

struct payload { /* tid, and one number */
	uint32_t tid;
	uint32_t pad;
	uint64_t value;
};

struct story {
	struct tb *tb;
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_user_events *user;
};

static uint16_t event_type(struct tb *tb, const char *name, enum trace_event_role role)
{
	static const struct trace_field value = {.name = "value", .offset = 8, .bytes = 8, .is_signed = true, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = name, .classic = "NONE", .text = "", .doc = "", .program = "NONE", .fields = &value, .nr_fields = 1,
					.fixed_bytes = 16, .category = TRACE_CATEGORY_USER, .flags = TRACE_EVENT_ON | TRACE_EVENT_TID, .role = role,
					.source = "shop.c:1 main"};

	return tb_user_type(tb, &type);
}

static void emit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id, uint32_t tid, int64_t value)
{
	struct payload payload = {.tid = tid, .value = (uint64_t)value};

	tb_user_event(tb, cpu, ts_ns, id, &payload, sizeof(payload));
}

/* Which program the events of @cpu are from, as it is told at @ts_ns. */
static void stream_at(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t pid)
{
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + cpu, .pid = pid, .uid = 0, .cpu = cpu};

	tb_event(tb, cpu, ts_ns, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
}

static void stream(struct tb *tb, uint32_t cpu, uint32_t pid)
{
	stream_at(tb, cpu, 1000, pid);
}

static struct story begin(void)
{
	struct story s = {.tb = tb_new()};

	tb_window(s.tb, 1000, 20000);
	tb_string(s.tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(s.tb, 10, 10, 1, "shop", 0, true);
	tb_thread(s.tb, 11, 10, 1, "shop", 1, true);
	tb_fd(s.tb, 10, 3, 1, 100, S_IFREG | 0644, "/orders.db");
	stream(s.tb, 0, 10);
	stream(s.tb, 1, 10);
	return s;
}

static void read_orders(struct tb *tb)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 4096);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 5900, 7);
	tb_event(tb, 0, 5950, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 6050, 7);
	tb_switch(tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 6200, 4096);
}

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
	emit(s.tb, 1, 6500, id, 11, 3); /* another thread: no gap to it */
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

/* ---- scopes ---- */

static void a_scope_is_divided_into_what_its_thread_did(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
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
	uint16_t open = event_type(s.tb, "shop:outer.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:outer.end", TRACE_ROLE_END);
	uint16_t inner_open = event_type(s.tb, "shop:inner.begin", TRACE_ROLE_BEGIN), inner_close = event_type(s.tb, "shop:inner.end", TRACE_ROLE_END);

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

static void what_does_not_begin_or_end_is_told(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
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
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

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

/* What was off while one scope ended and the next began, and is on when that ends, would have made one long scope of two. */
static void nothing_is_followed_across_a_change_of_what_is_recorded(void)
{
	struct story s = begin();
	uint16_t begins = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), ends = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
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

/* The trace with its chunk of events that begins at @ns damaged. */
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

/* That it cannot be read is found when its turn comes: no loss that was known before. */
static void nothing_is_followed_across_a_damaged_chunk(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);
	struct image image;

	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1700, paid, 10, 0);
	tb_user_cut(s.tb, 0);
	emit(s.tb, 0, 3000, close, 10, 0);
	emit(s.tb, 1, 3100, open, 11, 0); /* at the same time, in a good chunk */
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

/* A program's first events are in its stream before the daemon has told whose that is. */
static void damage_is_its_programs_who_is_told_of_only_then(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	struct image image;

	emit(s.tb, 2, 3000, open, 10, 0);
	stream_at(s.tb, 2, 3050, 10);
	emit(s.tb, 0, 3100, open, 10, 0); /* at the same time, in a good chunk */
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
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
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

/* A damaged trace may say any time: behind the last gap there is no other, whenever an event claims to be. */
static void the_end_of_all_time_is_in_no_gap(void)
{
	struct trace_event_type type = {.name = "shop:paid", .classic = "NONE", .text = "", .doc = "", .program = "shop", .category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON, .source = ""};
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

static void events_of_probes_are_of_who_runs_and_share_the_gaps_of_the_kernel(void)
{
	static const struct trace_field field = {.name = "size", .offset = 0, .bytes = 8, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "libc:malloc", .classic = "NONE", .text = "", .doc = "", .program = "probe", .fields = &field,
					.nr_fields = 1, .fixed_bytes = 8, .category = TRACE_CATEGORY_USER, .flags = TRACE_EVENT_ON, .source = ""};
	struct story s = begin();
	uint16_t id = tb_user_type(s.tb, &type);
	uint64_t size = 24;

	tb_event(s.tb, 0, 2000, id, &size, sizeof(size), NULL);
	tb_event(s.tb, 0, 2500, id, &size, sizeof(size), NULL);
	tb_event(s.tb, 0, 2600, id, &size, sizeof(size), NULL);
	tb_event(s.tb, 0, 3000, id, &size, sizeof(size), NULL); /* where the gap begins: who runs from now on is not known */
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
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
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

static void requests_that_ended_leave_no_trace_in_memory(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);

	emit(s.tb, 0, 1100, take, 10, -1); /* lives through all the tidying */
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

/* 11 exits without a word, and another thread gets its number: what that waits for is not the request's, nor is it counted from what 11 met. */
static void a_request_does_not_pass_to_who_has_its_threads_number_next(void)
{
	struct story s = begin();
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
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
	CU_ASSERT_EQUAL(request->user_ns, 1000);
	CU_ASSERT_EQUAL(request->blocked_ns, 0);
	CU_ASSERT_EQUAL(request->nr_waits, 0);
	CU_ASSERT_EQUAL(request->queued_ns, 4000);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->count, 2);
	CU_ASSERT_EQUAL(event(&s, "shop:paid")->interval.count, 0);
	end(&s);
}

/* Until 10 blocks nothing tells that it was in a call: what was taken for user mode before the scope began was not, and user mode would have had less than nothing. */
static void without_system_calls_no_part_of_a_span_is_less_than_nothing(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);
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

/* ---- whose ---- */

static void a_thread_of_a_container_is_found_by_its_cpu(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

	tb_thread(s.tb, 2, 2, 1, "not it", 1, false);
	emit(s.tb, 0, 1500, open, 2, 0); /* 2 is what 10 is called inside */
	read_orders(s.tb);
	emit(s.tb, 0, 7000, close, 2, 0);
	run(&s);
	CU_ASSERT_EQUAL(trace_process_pid(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->process), 10);
	CU_ASSERT_EQUAL(span(&s, TRACE_SPAN_SCOPE, "", "shop:a")->blocked_ns, 3000);
	end(&s);
}

static void without_kernel_events_the_parts_are_unseen(void)
{
	struct story s = {.tb = tb_new()};
	uint16_t open = event_type(s.tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:a.end", TRACE_ROLE_END);

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

static void after_the_pass_it_is_too_late(void)
{
	struct story s = begin();
	struct trace_error error = {0};

	emit(s.tb, 0, 2000, event_type(s.tb, "shop:a", TRACE_ROLE_EVENT), 10, 0);
	run(&s);
	CU_ASSERT_PTR_NULL(trace_user_events_new(s.trace, s.analysis, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	end(&s);
}

/* ---- readings of a thread's books ---- */

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

/* ---- reports ---- */

static char *report(struct tb *tb, const char *options)
{
	char path[] = "/tmp/test_user_events_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	snprintf(arguments, sizeof(arguments), "%s %s", options, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	unlink(path);
	return text;
}

static struct tb *shop(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT), queue = event_type(s.tb, "shop:queue", TRACE_ROLE_COUNTER);

	emit(s.tb, 0, 1400, paid, 10, 0);
	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1600, take, 10, 5);
	emit(s.tb, 0, 1700, queue, 10, 3);
	read_orders(s.tb);
	emit(s.tb, 0, 6500, done, 10, 5);
	emit(s.tb, 0, 7000, close, 10, 0);
	emit(s.tb, 0, 7400, paid, 10, 0);
	emit(s.tb, 0, 7500, open, 10, 0);
	return s.tb;
}

static const char golden[] =
	"Scopes of programs (where the time between begin and end went):\n"
	"  count  time  median  99th %   CPU  for a CPU  for else  name           process\n"
	"      1  5500    5500    5500  2400        100      3000  shop:checkout  shop (10)\n"
	"\n"
	"  1 had not ended when the trace did.\n"
	"\n"
	"  shop:checkout waited 3000 for file /orders.db\n"
	"\n"
	"Requests of programs (from begin to end, on whatever threads; queued: with none):\n"
	"  count  time  median  99th %   CPU  for a CPU  for else  queued  name        process\n"
	"      1  4900    4900    4900  1800        100      3000       0  shop:order  shop (10)\n"
	"\n"
	"  shop:order waited 3000 for file /orders.db\n"
	"\n";

static const char golden_between[] =
	"Between events of programs (of one thread and provider):\n"
	"  count  time  median  99th %   CPU  for a CPU  for else  name               process\n"
	"      1  6000    6000    6000  2900        100      3000  shop:paid .. paid  shop (10)\n";

static void scopes_of_which_none_has_ended_are_told(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	char *text;

	emit(s.tb, 0, 1500, close, 10, 0);
	emit(s.tb, 0, 1600, open, 10, 0);
	text = report(s.tb, "-a");
	contains(text, "\n\nScopes of programs (where the time between begin and end went):\n"
		       "  1 had not ended when the trace did.\n"
		       "  1 ended without a beginning in the trace.\n\n");
	free(text);
	tb_free(s.tb);
}

static void the_report_tells_where_the_time_in_scopes_went(void)
{
	struct tb *tb = shop();
	char *text = report(tb, "-a --ns");

	contains(text, golden);
	contains(text, golden_between);
	contains(text, "  samples  lowest  mean  highest  last  counter     process\n"
		       "        1       3     3        3     3  shop:queue  shop (10)\n");
	CU_ASSERT_PTR_NULL(strstr(text, "shop:checkout.begin")); /* counted as scopes */
	free(text);
	text = report(tb, "-a --ns --pid=999");
	CU_ASSERT_PTR_NULL(strstr(text, "shop:checkout"));
	free(text);
	text = report(tb, "--verify");
	contains(text, "verified");
	free(text);
	tb_free(tb);
}

/* Each in a column of its own, so that the columns add up to the time. */
static void the_report_tells_interruptions_from_waiting_for_a_cpu(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN), close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	char *text;

	emit(s.tb, 0, 1500, open, 10, 0);
	read_orders(s.tb);
	tb_vector(s.tb, 0, 6500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(s.tb, 0, 6570, TRACE_VECTOR_LOCAL_TIMER);
	emit(s.tb, 0, 7000, close, 10, 0);
	text = report(s.tb, "-a --ns");
	contains(text, "  count  time  median  99th %   CPU  interrupted  for a CPU  for else  name           process\n"
		       "      1  5500    5500    5500  2330           70        100      3000  shop:checkout  shop (10)\n");
	free(text);
	tb_free(s.tb);
}

static void the_report_tells_what_was_not_seen_of_a_scope(void)
{
	struct tb *tb = tb_new();
	uint16_t open = event_type(tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t take = event_type(tb, "shop:b.begin", TRACE_ROLE_REQUEST_BEGIN), done = event_type(tb, "shop:b.end", TRACE_ROLE_REQUEST_END);
	char *text;

	stream(tb, 0, 10);
	emit(tb, 0, 1500, open, 10, 0);
	emit(tb, 0, 1600, take, 10, 5);
	emit(tb, 0, 6600, done, 10, 5);
	emit(tb, 0, 7000, close, 10, 0);
	text = report(tb, "-a --ns");
	contains(text, "  count  time  median  99th %  CPU  for a CPU  for else  not seen  name    process\n"
		       "      1  5500    5500    5500    0          0         0      5500  shop:a  shop (10)\n");
	contains(text, "  count  time  median  99th %  CPU  for a CPU  for else  queued  not seen  name    process\n"
		       "      1  5000    5000    5000    0          0         0       0      5000  shop:b  shop (10)\n");
	free(text);
	text = report(tb, "--json");
	contains(text, "\"name\":\"shop:a\",\"from\":\"\",\"pid\":10,\"comm\":\"shop\"");
	free(text);
	tb_free(tb);
}

/* Without the right to record the kernel there are no processes, but there are programs, and they have names and numbers. */
static void programs_alone_are_chosen_by_what_they_run(void)
{
	struct tb *tb = tb_new();
	uint16_t open = event_type(tb, "shop:a.begin", TRACE_ROLE_BEGIN), close = event_type(tb, "shop:a.end", TRACE_ROLE_END);
	static const char *const theirs[] = {"-a --ns --comm=shop", "-a --ns --pid=10", "-a --ns"};
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	stream(tb, 0, 10);
	emit(tb, 0, 1500, open, 10, 0);
	emit(tb, 0, 7000, close, 10, 0);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		text = report(tb, theirs[i]);
		CU_ASSERT_PTR_EQUAL(strstr(text, "The kernel was not recorded, only events of programs: "), text);
		contains(text, "  count  time  median  99th %  name    process\n"
			       "      1  5500    5500    5500  shop:a  shop (10)\n");
		contains(text, "Scheduling changes: not recorded\n");
		CU_ASSERT_PTR_NULL(strstr(text, "No process"));
		CU_ASSERT_PTR_NULL(strstr(text, "% busy"));
		CU_ASSERT_PTR_NULL(strstr(text, "CPUs (%"));
		free(text);
	}
	text = report(tb, "-a --comm=nobody");
	contains(text, "No program that has events here is called nobody;\nwithout --pid,");
	CU_ASSERT_PTR_NULL(strstr(text, "shop"));
	free(text);
	text = report(tb, "--json");
	contains(text, "\"sees_wakeups\":false,\"sees_calls\":false,\"sees_traps\":false,\"sees_interrupts\":false,");
	free(text);
	tb_free(tb);
	tb = tb_new();
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	text = report(tb, "-a");
	contains(text, " There are none.\n");
	contains(text, "\tScheduling changes: not recorded\n"); /* and what else is to be said of what is missing */
	free(text);
	tb_free(tb);
}

static size_t nr_lines(const char *text, const char *with)
{
	size_t nr = 0;

	for (; (text = strstr(text, with)); text += strlen(with))
		nr++;
	return nr;
}

static void the_list_has_the_events_of_programs_that_are_asked_for(void)
{
	static const struct {
		const char *options;
		size_t nr; /* of eight */
	} cases[] = {{"-d", 8}, {"-d -tsched", 0}, {"-d -tuser", 8}, {"-d -ouser", 0}, {"-d -tshop:paid", 2}, {"-d -oshop:paid", 6}, {"-d '-tshop:*'", 8},
		     {"-d '-tshop:q*' -tsched", 1}, {"-d -tshop:checkout", 3}, {"-d -tshop:checkout.end", 1}, {"-d '-oshop:*'", 0}};
	struct tb *tb = shop();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = report(tb, cases[i].options);

		CU_ASSERT_EQUAL(nr_lines(text, "\tshop:") + nr_lines(text, " shop:"), cases[i].nr);
		CU_ASSERT_EQUAL(nr_lines(text, "Sched change") > 0, strcmp(cases[i].options, "-d") == 0 || strstr(cases[i].options, "sched") || strstr(cases[i].options, "-o"));
		if (nr_lines(text, "\tshop:") + nr_lines(text, " shop:") != cases[i].nr)
			printf("\n%s\n%s\n", cases[i].options, text);
		free(text);
	}
	tb_free(tb);
}

static void the_json_has_all_of_it(void)
{
	struct tb *tb = shop();
	char *text = report(tb, "--json");
	json_error_t error;
	json_t *root = json_loads(text, 0, &error), *spans = json_object_get(root, "spans"), *first = json_array_get(spans, 0);
	json_int_t sum = 0;

	CU_ASSERT_EQUAL(json_array_size(spans), 3);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "user_events")), 6);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "name")), "shop:checkout");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "kind")), "scope");
	for (size_t i = 0; i < 7; i++)
		sum += json_integer_value(json_object_get(first, (const char *const[]){"user_ns", "system_ns", "interrupted_ns", "wait_cpu_ns", "blocked_ns",
										       "queued_ns", "unseen_ns"}[i]));
	CU_ASSERT_EQUAL(sum, 5500);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(first, "sum_ns")), 5500);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(json_object_get(first, "waits"), 0), "target")), "/orders.db");
	json_decref(root);
	free(text);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(events_are_counted_by_process_with_the_time_between_them),
		CASE(counters_have_their_extremes_and_mean),
		CASE(a_scope_is_divided_into_what_its_thread_did),
		CASE(scopes_nest_and_each_has_all_of_its_time),
		CASE(what_does_not_begin_or_end_is_told),
		CASE(scopes_deeper_than_can_be_followed_are_counted),
		CASE(nothing_is_followed_across_lost_events),
		CASE(nothing_is_followed_across_a_damaged_chunk),
		CASE(damage_is_its_programs_who_is_told_of_only_then),
		CASE(nothing_is_followed_across_a_change_of_what_is_recorded),
		CASE(the_end_of_all_time_is_in_no_gap),
		CASE(events_of_probes_are_of_who_runs_and_share_the_gaps_of_the_kernel),
		CASE(the_time_between_two_marks_is_divided_too),
		CASE(a_request_goes_from_thread_to_thread),
		CASE(requests_that_ended_leave_no_trace_in_memory),
		CASE(a_request_does_not_pass_to_who_has_its_threads_number_next),
		CASE(without_system_calls_no_part_of_a_span_is_less_than_nothing),
		CASE(a_thread_of_a_container_is_found_by_its_cpu),
		CASE(without_kernel_events_the_parts_are_unseen),
		CASE(a_trace_without_such_events_has_no_rows),
		CASE(after_the_pass_it_is_too_late),
		CASE(the_times_of_a_thread_add_up_at_every_event),
		CASE(the_report_tells_where_the_time_in_scopes_went),
		CASE(scopes_of_which_none_has_ended_are_told),
		CASE(the_report_tells_interruptions_from_waiting_for_a_cpu),
		CASE(the_report_tells_what_was_not_seen_of_a_scope),
		CASE(programs_alone_are_chosen_by_what_they_run),
		CASE(the_list_has_the_events_of_programs_that_are_asked_for),
		CASE(the_json_has_all_of_it),
		{NULL, NULL},
	};

	return unit_main("user_events", cases, argc, argv);
}

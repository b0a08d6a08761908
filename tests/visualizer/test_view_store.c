/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_store.c - a view that is read from its index answers as the view of the pass did, byte
 * for byte
 *
 * 	test_view_store                       random stories
 * 	TRACE_TEST_VIEW=FILE test_view_store  also a recording
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "image.h"
#include "only_client.h"
#include "user_events_case.h"
#include "view_bills.h"
#include "view_scopes.h"
#include "view_store.h"
#include "view_store_case.h"

/* ---- the same facts ---- */

static const struct trace_process *same_process(const struct trace_analysis *from, const struct trace_process *process,
						const struct trace_analysis *to)
{
	for (size_t i = 0; process && i < trace_nr_processes(from); i++)
		if (trace_get_process(from, i) == process)
			return trace_get_process(to, i);
	return NULL;
}

static void check_thread(const struct trace_thread *a, const struct trace_thread *b)
{
	CU_ASSERT_EQUAL(trace_thread_index(a), trace_thread_index(b));
	CU_ASSERT_EQUAL(trace_thread_tid(a), trace_thread_tid(b));
	CU_ASSERT_EQUAL(trace_thread_uid(a), trace_thread_uid(b));
	CU_ASSERT_EQUAL(trace_thread_start_ns(a), trace_thread_start_ns(b));
	CU_ASSERT_EQUAL(trace_thread_end_ns(a), trace_thread_end_ns(b));
	CU_ASSERT_EQUAL(trace_thread_is_kernel(a), trace_thread_is_kernel(b));
	CU_ASSERT_EQUAL(trace_thread_is_io_worker(a), trace_thread_is_io_worker(b));
	CU_ASSERT_STRING_EQUAL(trace_thread_comm(a), trace_thread_comm(b));
}

static void check_process(const struct view_session *of_pass, const struct view_session *of_index, size_t idx,
			  size_t *nr_clients)
{
	const struct trace_analysis *one = of_pass->report.analysis, *two = of_index->report.analysis;
	const struct trace_process *a = trace_get_process(one, idx), *b = trace_get_process(two, idx);
	const struct trace_thread *own = NULL, *other = NULL;
	struct only_client client, wanted;
	bool has_client = only_client_of(&of_pass->report, a, &wanted);

	CU_ASSERT_EQUAL(trace_process_pid(a), trace_process_pid(b));
	CU_ASSERT_EQUAL(trace_process_ppid(a), trace_process_ppid(b));
	CU_ASSERT_EQUAL(trace_process_uid(a), trace_process_uid(b));
	CU_ASSERT_EQUAL(trace_process_gid(a), trace_process_gid(b));
	CU_ASSERT_EQUAL(trace_process_is_kernel(a), trace_process_is_kernel(b));
	CU_ASSERT_STRING_EQUAL(trace_process_comm(a), trace_process_comm(b));
	CU_ASSERT_STRING_EQUAL(trace_process_title(a), trace_process_title(b));
	CU_ASSERT_PTR_EQUAL(same_process(one, trace_process_starter(a), two), trace_process_starter(b));
	while ((own = trace_next_thread(a, own))) {
		other = trace_next_thread(b, other);
		CU_ASSERT_PTR_NOT_NULL_FATAL(other);
		check_thread(own, other);
	}
	CU_ASSERT_EQUAL(trace_nr_threads(a), trace_nr_threads(b));
	CU_ASSERT_EQUAL(only_client_of(&of_index->report, b, &client), has_client);
	if (!has_client)
		return;
	CU_ASSERT_STRING_EQUAL(client.name, wanted.name);
	CU_ASSERT_EQUAL(client.pid, wanted.pid);
	CU_ASSERT_PTR_EQUAL(client.process, same_process(one, wanted.process, two));
	++*nr_clients;
}

static bool is_same_gap(const struct trace_gap *a, const struct trace_gap *b)
{
	return a->stream == b->stream && a->cpu == b->cpu && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	       a->lost == b->lost && a->cause == b->cause;
}

static void check_losses(const struct trace_analysis *a, const struct trace_analysis *b)
{
	uint64_t lost, other_lost;
	const char *damage = trace_analysis_start_damage(a, &lost),
		   *other = trace_analysis_start_damage(b, &other_lost);

	CU_ASSERT(lost == other_lost && !damage == !other && (!damage || strcmp(damage, other) == 0));
	CU_ASSERT_EQUAL(trace_analysis_halted_ns(a), trace_analysis_halted_ns(b));
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(a), trace_analysis_inconsistencies(b));
	CU_ASSERT_EQUAL(trace_analysis_is_filtered(a), trace_analysis_is_filtered(b));
	CU_ASSERT_EQUAL_FATAL(trace_analysis_nr_late_gaps(a), trace_analysis_nr_late_gaps(b));
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(a); i++)
		CU_ASSERT(is_same_gap(trace_analysis_get_late_gap(a, i), trace_analysis_get_late_gap(b, i)));
	for (uint32_t id = 0; id < 256; id++)
		CU_ASSERT_EQUAL(trace_analysis_recorded(a, id), trace_analysis_recorded(b, id));
}

/* Returns the number of servers with one client. */
static size_t check_facts(const struct view_session *of_pass, const struct view_session *of_index)
{
	const struct trace_analysis *a = of_pass->report.analysis, *b = of_index->report.analysis;
	size_t nr_clients = 0;

	CU_ASSERT_EQUAL_FATAL(trace_nr_processes(a), trace_nr_processes(b));
	for (size_t i = 0; i < trace_nr_processes(a); i++)
		check_process(of_pass, of_index, i, &nr_clients);
	check_losses(a, b);
	CU_ASSERT_PTR_EQUAL(same_process(a, of_pass->report.command.process, b), of_index->report.command.process);
	return nr_clients;
}

/* ---- the same answers ---- */

static size_t check_trace(const struct trace *trace, uint64_t seed, unsigned int nr_spans)
{
	static struct view_session of_pass, of_index; /* large */
	size_t nr_clients;
	bool has_beside;

	session_of_pass(&of_pass, trace);
	write_index(&of_pass);
	CU_ASSERT_FATAL(view_store_begin(&of_index, trace, &options, path));
	has_beside = !of_index.is_billed;
	of_index.is_billed = true; /* for "progress" */
	ask_all(&of_index, &of_pass, seed, nr_spans);
	CU_ASSERT_EQUAL(has_beside, view_bills(&of_pass) || view_scopes_exist(&of_pass));
	check_facts(&of_pass, &of_index);
	of_index.is_billed = false;
	ask_beside(&of_index, NULL, seed); /* not yet known, which is no error */
	CU_ASSERT_EQUAL(view_session_step(&of_index, 1, 1), 1);
	ask_all(&of_index, &of_pass, seed, nr_spans);
	ask_beside(&of_index, &of_pass, seed);
	nr_clients = check_facts(&of_pass, &of_index);
	view_session_end(&of_index);
	view_session_end(&of_pass);
	return nr_clients;
}

static void an_index_answers_as_the_pass_did(void)
{
	for (uint64_t seed = 1; seed <= 25; seed += (uint64_t)unit_step(3)) {
		struct trace *trace = story(seed);

		check_trace(trace, seed, 3);
		trace_close(trace);
	}
}

static void an_index_of_a_damaged_trace_answers_as_the_pass_did(void)
{
	for (uint64_t seed = 3; seed <= 11; seed += 4) {
		struct mood mood = mood_of(seed);
		struct tb *tb = random_story(seed, &mood);
		struct image image = image_new(tb, seed % 3 != 2);
		struct trace *trace;

		for (size_t i = 1; image_spoil(&image, TRACE_CHUNK_EVENTS, i); i += 5)
			;
		trace = trace_open(image.path, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
		check_trace(trace, seed, 3);
		trace_close(trace);
		image_free(&image);
		tb_free(tb);
	}
}

/* A server with one client. */
static struct trace *server_trace(void)
{
	char server[sizeof(path) + 8];
	struct trace *trace;
	int fd;

	snprintf(server, sizeof(server), "%s/server", folder);
	fd = open(server, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_FATAL(fd >= 0);
	write_server_trace(fd);
	close(fd);
	trace = trace_open(server, NULL);
	unlink(server);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	return trace;
}

static void an_index_knows_the_only_client_of_a_server(void)
{
	struct trace *trace = server_trace();

	CU_ASSERT(check_trace(trace, 1, 3) > 0);
	trace_close(trace);
}

static void an_index_knows_that_a_program_has_scopes(void)
{
	struct story s = begin();
	uint16_t in = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 out = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	static struct view_session session;
	struct trace *trace;

	emit(s.tb, 0, 1999, in, 10, 1);
	read_orders(s.tb);
	emit(s.tb, 0, 7500, out, 10, 1);
	emit(s.tb, 0, 9000, in, 10, 2); /* is not ended */
	tb_switch(s.tb, 0, 19999, 10, 10, TRACE_TASK_RUNNING);
	trace = tb_open_trace(s.tb);
	check_trace(trace, 1, 3);
	CU_ASSERT(view_store_begin(&session, trace, &options, path) && !session.is_billed);
	CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 1);
	CU_ASSERT(view_scopes_exist(&session));
	view_session_end(&session);
	trace_close(trace);
	tb_free(s.tb);
}

static bool answer_has(struct view_session *session, const char *question, const char *text)
{
	struct view_answer answer = view_answer(session, question);
	bool has = memmem(answer.bytes, answer.size, text, strlen(text));

	free(answer.bytes);
	return has;
}

static void bills_come_after_the_states_and_change_none(void)
{
	static struct view_session session;
	struct trace *trace = server_trace();
	struct view_answer before, after;
	unsigned int nr = 0;

	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 0);
	before = view_answer(&session, "sums");
	for (; nr < 10 && session.nr_bill_steps < 9; nr++) {
		CU_ASSERT(answer_has(&session, "progress", "\"complete\":true"));
		CU_ASSERT(answer_has(&session, "progress", "\"billing\":true"));
		CU_ASSERT(answer_has(&session, "clients", "\"kept\":false"));
		CU_ASSERT(!answer_has(&session, "verdict", "only client"));
		CU_ASSERT_EQUAL(view_session_step(&session, 1, 10), 0);
	}
	CU_ASSERT_EQUAL(view_session_step(&session, 1, 10), 1);
	CU_ASSERT_EQUAL(view_session_step(&session, 1, 10), 1);
	CU_ASSERT(answer_has(&session, "progress", "\"billing\":false"));
	CU_ASSERT(answer_has(&session, "clients", "\"kept\":true"));
	CU_ASSERT(session.report.nr_only_clients > 0);
	after = view_answer(&session, "sums");
	CU_ASSERT(before.size == after.size && memcmp(before.bytes, after.bytes, after.size) == 0);
	free(before.bytes);
	free(after.bytes);
	view_session_end(&session);
	trace_close(trace);
}

/* The same as a pass of their own gives, which a session without kept ones makes. */
static void check_books(struct view_session *session)
{
	struct view_session other = *session;
	struct asker asker = {.session = session, .other = &other};

	CU_ASSERT_PTR_NOT_NULL_FATAL(session->books.text);
	other.books = (struct view_whole_books){0};
	ask(&asker, "books");
	CU_ASSERT(answer_has(session, "books?from=0", "\"window\":true"));
}

static void books_of_the_whole_trace_are_kept_and_in_the_index(void)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		static struct view_session session, of_index;
		struct trace *trace = seed ? story(seed) : server_trace();

		CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
		CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 0);
		CU_ASSERT_PTR_NULL(session.books.text);
		CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 1);
		check_books(&session);
		write_index(&session);
		CU_ASSERT_FATAL(view_store_begin(&of_index, trace, &options, path));
		CU_ASSERT_PTR_NULL(of_index.books.owned);
		check_books(&of_index);
		view_session_end(&of_index);
		view_session_end(&session);
		trace_close(trace);
	}
}

static void an_index_of_a_recording_answers_as_the_pass_did(void)
{
	const char *file = getenv("TRACE_TEST_VIEW");
	struct trace *trace = file ? trace_open(file, NULL) : NULL;

	CU_ASSERT(!file || trace);
	if (trace)
		check_trace(trace, 1, 10);
	trace_close(trace);
}

/* The view alone, because a session becomes coarse at 8 million intervals only. */
static void check_coarse(struct trace *trace, uint64_t seed, size_t max_intervals, bool is_full)
{
	struct trace_view_options asked = {.size = sizeof(asked), .max_intervals = max_intervals};
	static struct view_session of_pass, of_index;
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL), *other;
	struct trace_view *view = trace_view_new(analysis, &asked, NULL), *opened;
	void *bytes;
	size_t size;

	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT(trace_history_is_coarse(trace_view_history(view)));
	CU_ASSERT_EQUAL(trace_view_error(view), is_full ? -E2BIG : 0);
	CU_ASSERT_EQUAL_FATAL(trace_view_save(view, "abc", 3, &bytes, &size, NULL), 0);
	opened = trace_view_open(trace, bytes, size, &other, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
	CU_ASSERT(memcmp(trace_view_notes(opened, &size), "abc", 3) == 0 && size == 3);
	free(bytes);
	view_session_of_index(&of_pass, trace, &options, view, analysis);
	view_session_of_index(&of_index, trace, &options, opened, other);
	of_pass.answer.is_made = of_index.answer.is_made = true;
	ask_all(&of_index, &of_pass, seed, 5);
	view_session_end(&of_index);
	view_session_end(&of_pass);
}

static void an_index_of_a_coarse_view_answers_as_the_view_did(void)
{
	for (uint64_t seed = 60; seed < 66; seed += (uint64_t)unit_step(3)) {
		const struct mood mood = {.nr_tids = 12, .switches = 10, .sleeps = 50};
		struct tb *tb = random_story(seed, &mood);
		struct trace *trace = tb_open_trace(tb);

		tb_free(tb);
		check_coarse(trace, seed, 1400 + 50 * (seed - 60), false);
		trace_close(trace);
	}
}

static void an_index_of_a_full_view_answers_as_the_view_did(void)
{
	for (uint64_t seed = 60; seed < 66; seed += (uint64_t)unit_step(3)) {
		const struct mood mood = {.nr_tids = 12, .switches = 25, .sleeps = 50, .losses = seed & 1};
		struct tb *tb = random_story(seed, &mood);
		struct trace *trace = tb_open_trace(tb);

		tb_free(tb);
		check_coarse(trace, seed, 100 * (seed - 58), true);
		trace_close(trace);
	}
}

/* ---- its size ---- */

#define NR_SMALL      60000u
#define FAULT_WAY_NS  430
#define MOST_PERCENT  60 /* bytes, of the number of events */
#define CHUNK_OF_CALL 4000u

static uint64_t soon(struct dice *dice)
{
	return 100 + below(dice, 900);
}

/* Two threads on two CPUs; each is switched away after some calls. */
static void add_calls(struct tb *tb, struct dice *dice)
{
	uint64_t ns = 2000;

	for (uint32_t i = 0; i < NR_SMALL / 2; i++) {
		uint32_t cpu = i / 8 % 2, tid = 10 + cpu;

		if (i % CHUNK_OF_CALL == 0)
			tb_cut(tb, 0), tb_cut(tb, 1);
		if (i % 160 == 151) {
			tb_switch(tb, cpu, ns += soon(dice), tid, 0, TRACE_TASK_INTERRUPTIBLE);
			tb_waking(tb, cpu, ns += soon(dice), tid, TRACE_CONTEXT_HARDIRQ);
			tb_switch(tb, cpu, ns += soon(dice), 0, tid, TRACE_TASK_RUNNING);
		}
		tb_sys_enter(tb, cpu, ns += soon(dice), SYS_getpid);
		tb_sys_exit(tb, cpu, ns += soon(dice), 10);
	}
}

/* A thread that touches one new page after another: its faults begin before their events. */
static void add_faults(struct tb *tb, struct dice *dice)
{
	struct trace_fault_cost cost = {.ns = FAULT_WAY_NS};
	uint64_t ns = 2000;

	tb_start(tb, 1100, TRACE_EV_fault_cost, &cost, sizeof(cost), NULL);
	for (uint32_t i = 0; i < NR_SMALL / 2; i++) {
		if (i % CHUNK_OF_CALL == 0)
			tb_cut(tb, 0);
		tb_fault(tb, 0, ns += FAULT_WAY_NS + soon(dice), 0x1000 + i * 4096ull, true);
		tb_fault_end(tb, 0, ns += soon(dice), false);
	}
}

/* The trace has the times of events already; as durations they would take more than a byte each. */
static void an_index_has_no_times_that_the_trace_has(void)
{
	static void (*const adds[])(struct tb * tb, struct dice * dice) = {add_calls, add_faults};

	for (size_t i = 0; i < sizeof(adds) / sizeof(adds[0]); i++) {
		struct tb *tb = tb_new();
		struct dice dice = {i, NULL};
		struct trace *trace;
		struct stat info;

		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_thread(tb, 11, 11, 1, "other", 1, true);
		adds[i](tb, &dice);
		trace = tb_open_trace(tb);
		check_trace(trace, 1, 5);
		CU_ASSERT_EQUAL_FATAL(stat(path, &info), 0);
		CU_ASSERT((uint64_t)info.st_size * 100 < trace_get_info(trace)->events * MOST_PERCENT);
		trace_close(trace);
		tb_free(tb);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(an_index_answers_as_the_pass_did),
		CASE(an_index_of_a_damaged_trace_answers_as_the_pass_did),
		CASE(an_index_knows_the_only_client_of_a_server),
		CASE(an_index_knows_that_a_program_has_scopes),
		CASE(bills_come_after_the_states_and_change_none),
		CASE(books_of_the_whole_trace_are_kept_and_in_the_index),
		CASE(an_index_of_a_recording_answers_as_the_pass_did),
		CASE(an_index_of_a_coarse_view_answers_as_the_view_did),
		CASE(an_index_of_a_full_view_answers_as_the_view_did),
		CASE(an_index_has_no_times_that_the_trace_has),
		{NULL, NULL},
	};

	return view_store_main("view_store", cases, argc, argv);
}

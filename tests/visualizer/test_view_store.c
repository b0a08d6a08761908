/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_store.c - a view that is read from its index answers as the view of the pass did, byte
 * for byte; and an index that is damaged, or made to be wrong, is refused or harmless
 *
 * 	test_view_store                       random stories
 * 	TRACE_TEST_VIEW=FILE test_view_store  also a recording
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#include "example_traces.h"
#include "image.h"
#include "only_client.h"
#include "random_story.h"
#include "unit.h"
#include "user_events_case.h"
#include "view_bills.h"
#include "view_row.h"
#include "view_scopes.h"
#include "view_store.h"

#define MAX_ROWS 40u
#define QUESTION 512
#define HEADER	 40 /* bytes: analyzer/view_index.h */
#define SIZE	 8  /* of a section, before it; and of the checksum */

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

/* a folder of this test, and the index in it */
static char folder[] = "/tmp/view_store.XXXXXX", path[sizeof(folder) + 16];

static struct mood mood_of(uint64_t seed)
{
	return (struct mood){.noise = (uint32_t)(seed % 3 * 10),
			     .nr_tids = seed % 5 ? 12 : 60,
			     .switches = 25,
			     .sleeps = 50,
			     .losses = seed & 1,
			     .cuts = 1,
			     .nr_events = 1500,
			     .streams = seed % 3 == 0,
			     .masks = seed % 7 == 1,
			     .moves = seed & 2,
			     .programs = seed & 1};
}

static struct trace *story(uint64_t seed)
{
	struct mood mood = mood_of(seed);
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

/* ---- questions ---- */

/* struct asker - two sessions, of which @other may be NULL: then the answers are only made */
struct asker {
	struct view_session *session, *other;
	struct dice dice;
	size_t nr;
};

static void ask(struct asker *asker, const char *question)
{
	struct view_answer answer = view_answer(asker->session, question);

	asker->nr++;
	if (asker->other) {
		struct view_answer wanted = view_answer(asker->other, question);
		bool is_same = answer.size == wanted.size && memcmp(answer.bytes, wanted.bytes, wanted.size) == 0;

		CU_ASSERT(is_same);
		if (!is_same)
			printf("\n%s\n%.300s\n%.300s\n", question, answer.bytes, wanted.bytes);
		free(wanted.bytes);
	}
	free(answer.bytes);
}

static uint32_t some_row(struct asker *asker, enum trace_row_kind kind)
{
	size_t nr = trace_view_nr_rows(asker->session->view, kind);

	return view_row_number((struct trace_row_id){kind, nr ? (uint32_t)below(&asker->dice, nr) : 0});
}

static void ask_of_row(struct asker *asker, uint32_t row, uint64_t from, uint64_t to)
{
	static const char *const forms[] = {"spans?row=%u&from=%llu&to=%llu", "waits?row=%u&from=%llu&to=%llu",
					    "path?row=%u&from=%llu&to=%llu",
					    "shares?rows=%u&from=%llu&to=%llu&columns=37", "at?row=%u&t=%llu"};
	char text[QUESTION];

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		snprintf(text, sizeof(text), forms[i], row, (unsigned long long)from, (unsigned long long)to);
#pragma GCC diagnostic pop
		ask(asker, text);
	}
}

static void ask_of_span(struct asker *asker, uint64_t from, uint64_t to)
{
	static const char *const names[] = {"sums", "waits", "verdict"};
	char text[QUESTION];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "%s?from=%llu&to=%llu", names[i], (unsigned long long)from,
			 (unsigned long long)to);
		ask(asker, text);
	}
	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		for (unsigned int i = 0; i < 3; i++)
			ask_of_row(asker, some_row(asker, kind), from, to);
}

/* Questions of all kinds, the same for the same seed. */
static void ask_all(struct view_session *session, struct view_session *other, uint64_t seed, unsigned int nr_spans)
{
	static const char *const texts[] = {"about", "progress", "rows", "search?text=e", "search?text=1", "verdict"};
	struct asker asker = {.session = session, .other = other, .dice = {seed, NULL}};
	uint64_t width = session->end - session->start;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ask(&asker, texts[i]);
	ask_of_span(&asker, 0, width);
	for (unsigned int i = 0; i < nr_spans && width > 1; i++) {
		uint64_t from = below(&asker.dice, width), to = from + 1 + below(&asker.dice, width - from);

		ask_of_span(&asker, from, to);
	}
}

/* Questions about what an index does not have. */
static void ask_beside(struct view_session *session, struct view_session *other, uint64_t seed)
{
	static const char *const texts[] = {"clients",
					    "servers",
					    "requests",
					    "counters",
					    "lanes",
					    "counters?name=bytes%20read&columns=50",
					    "counters?name=threads%20that%20wait%20for%20a%20CPU&columns=50",
					    "counters?name=lost%20events&columns=50"};
	static const char *const forms[] = {"scopes?row=%u", "billed?row=%u", "requests?row=%u",
					    "shares?rows=%u&columns=37&by=client"};
	struct asker asker = {.session = session, .other = other, .dice = {seed, NULL}};
	char text[QUESTION];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ask(&asker, texts[i]);
	for (enum trace_row_kind kind = TRACE_ROW_PROCESS; kind <= TRACE_ROW_THREAD; kind++)
		for (uint32_t row = 0; row < trace_view_nr_rows(session->view, kind); row++)
			for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
				snprintf(text, sizeof(text), forms[i],
					 view_row_number((struct trace_row_id){kind, row}));
#pragma GCC diagnostic pop
				ask(&asker, text);
			}
}

static void session_of_pass(struct view_session *session, const struct trace *trace)
{
	CU_ASSERT_EQUAL_FATAL(view_session_begin(session, trace, &options), 0);
	CU_ASSERT_EQUAL_FATAL(view_session_step(session, 1, 1), 0);
	CU_ASSERT_EQUAL_FATAL(view_session_step(session, 1, 1), 1);
}

static void write_index(struct view_session *session)
{
	char *notes = view_store_notes(session);

	CU_ASSERT_FATAL(view_store_write(session, notes, path));
	free(notes);
}

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

/* ---- what may go wrong ---- */

static int reads_fail; /* errno */

/* libtrace reads the index with it, and nothing else. */
ssize_t pread64(int fd, void *bytes, size_t nr, off64_t at);
ssize_t __pread_chk(int fd, void *bytes, size_t nr, off_t at, size_t room);

#pragma GCC visibility push(default)
ssize_t pread64(int fd, void *bytes, size_t nr, off64_t at)
{
	if (reads_fail && at) {
		errno = reads_fail;
		return -1;
	}
	return (ssize_t)syscall(SYS_pread64, fd, bytes, nr, at);
}

ssize_t pread(int fd, void *bytes, size_t nr, off_t at) __attribute__((alias("pread64")));

/* The compiler makes it of pread() where it knows the room for the bytes. */
ssize_t __pread_chk(int fd, void *bytes, size_t nr, off_t at, size_t room)
{
	return nr <= room ? pread64(fd, bytes, nr, at) : -1;
}
#pragma GCC visibility pop

struct index {
	unsigned char *bytes; /* owned */
	size_t size;
};

static struct index index_read(void)
{
	struct index index = {0};
	struct stat info;
	FILE *file = fopen(path, "r");

	CU_ASSERT_FATAL(file && fstat(fileno(file), &info) == 0);
	index.size = (size_t)info.st_size;
	index.bytes = malloc(index.size + 1);
	CU_ASSERT_EQUAL(fread(index.bytes, 1, index.size, file), index.size);
	fclose(file);
	return index;
}

static uint64_t field(const struct index *index, size_t at)
{
	uint64_t value;

	memcpy(&value, index->bytes + at, sizeof(value));
	return value;
}

static void index_sign(struct index *index)
{
	uint64_t checksum = XXH3_64bits(index->bytes, index->size - SIZE);

	memcpy(index->bytes + index->size - SIZE, &checksum, SIZE);
}

static void index_write(const struct index *index)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT_EQUAL(fwrite(index->bytes, 1, index->size, file), index->size);
	fclose(file);
}

static bool index_opens(const struct trace *trace)
{
	static struct view_session session;
	bool opens = view_store_begin(&session, trace, &options, path);

	if (opens) {
		ask_all(&session, NULL, 3, 0);
		session.is_billed = false;
		CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 1);
		ask_beside(&session, NULL, 3);
		view_session_end(&session);
	}
	return opens;
}

static void a_damaged_index_is_refused(void)
{
	static struct view_session session;
	struct trace *trace = story(3), *other = story(4);
	struct dice dice = {7, NULL};
	struct index index;

	session_of_pass(&session, trace);
	write_index(&session);
	index = index_read();
	CU_ASSERT(index_opens(trace));
	CU_ASSERT(!index_opens(other));
	for (int i = 0; i < 200 / unit_step(3); i++) {
		struct index damaged = {malloc(index.size), index.size};
		size_t at = below(&dice, index.size);

		memcpy(damaged.bytes, index.bytes, index.size);
		if (i % 2)
			damaged.size = at;
		else
			damaged.bytes[at] ^= (unsigned char)(1 + below(&dice, 255));
		index_write(&damaged);
		CU_ASSERT(!index_opens(trace));
		free(damaged.bytes);
	}
	free(index.bytes);
	view_session_end(&session);
	trace_close(trace);
	trace_close(other);
}

static void change_bytes(unsigned char *bytes, size_t size, struct dice *dice)
{
	for (uint64_t i = 0; size && i <= below(dice, 3); i++) {
		size_t at = below(dice, size);

		bytes[at] = below(dice, 2) ? (unsigned char)roll(dice)
					   : (unsigned char)(bytes[at] + below(dice, 3) - 1);
	}
}

static uint64_t number_at(const unsigned char *bytes, size_t *at)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		number |= (uint64_t)(bytes[*at] & 0x7f) << shift;
		if (bytes[(*at)++] < 0x80)
			return number;
	}
}

/* Compressed bytes of an index: @packed at @at, and @unpacked. @size: where their section is */
struct packed_part {
	size_t size, at, packed, unpacked;
};

static struct packed_part facts_of(const struct index *index)
{
	return (struct packed_part){HEADER, HEADER + SIZE, field(index, HEADER), field(index, 24)};
}

/* The marks and edges: index_times.c. Their sizes are before them. */
static struct packed_part times_of(const struct index *index)
{
	struct packed_part section = {.size = HEADER + SIZE + field(index, HEADER)};
	size_t end = section.size + SIZE + field(index, section.size);

	section.at = section.size + SIZE;
	for (int i = 0; i < 257; i++)
		section.unpacked += number_at(index->bytes, &section.at);
	section.packed = end - section.at;
	return section;
}

/* The index with a change in a compressed section. */
static struct index section_changed(const struct index *index, struct packed_part section, struct dice *dice)
{
	size_t room = ZSTD_compressBound(section.unpacked), end = section.at + section.packed, packed;
	unsigned char *bytes = malloc(section.unpacked + 1);
	struct index changed = {malloc(index->size + room), 0};
	uint64_t size;

	memcpy(changed.bytes, index->bytes, section.at);
	CU_ASSERT_EQUAL(ZSTD_decompress(bytes, section.unpacked, index->bytes + section.at, section.packed),
			section.unpacked);
	change_bytes(bytes, section.unpacked, dice);
	packed = ZSTD_compress(changed.bytes + section.at, room, bytes, section.unpacked, 1);
	memcpy(changed.bytes + section.at + packed, index->bytes + end, index->size - end);
	changed.size = index->size - section.packed + packed;
	size = field(index, section.size) - section.packed + packed;
	memcpy(changed.bytes + section.size, &size, SIZE);
	free(bytes);
	return changed;
}

/* The index with a change in its facts, in its marks, or anywhere. */
static struct index index_changed(const struct index *index, struct dice *dice)
{
	struct index changed;

	switch (below(dice, 4)) {
	case 0:
		changed = (struct index){malloc(index->size), index->size};
		memcpy(changed.bytes, index->bytes, index->size);
		changed.bytes[below(dice, index->size)] ^= (unsigned char)(1 + below(dice, 255));
		break;
	case 1:
		changed = section_changed(index, times_of(index), dice);
		break;
	default:
		changed = section_changed(index, facts_of(index), dice);
	}
	index_sign(&changed);
	return changed;
}

/*
 * The checksum protects from accidents only. The bytes that it covers may have been made to do
 * harm.
 */
static void a_hostile_index_does_no_harm(void)
{
	unsigned int nr = getenv("TRACE_TEST_LONG") ? 20000 : 300 / (unsigned int)unit_step(3), nr_open = 0;

	for (uint64_t seed = 5; seed < 8; seed++) {
		static struct view_session session;
		struct trace *trace = story(seed);
		struct dice dice = {seed, NULL};
		struct index index;

		session_of_pass(&session, trace);
		write_index(&session);
		index = index_read();
		for (unsigned int i = 0; i < nr / 3; i++) {
			struct index changed = index_changed(&index, &dice);

			index_write(&changed);
			nr_open += index_opens(trace);
			free(changed.bytes);
		}
		free(index.bytes);
		view_session_end(&session);
		trace_close(trace);
	}
	CU_ASSERT(nr_open > 10); /* the changes reach beyond the first checks */
}

/* The lines of view_store_begin() on stderr; to be freed. */
static char *complaint_of_begin(const struct trace *trace)
{
	static struct view_session session;
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	char *text = calloc(1, 4096);

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	CU_ASSERT(!view_store_begin(&session, trace, &options, path));
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	CU_ASSERT(syscall(SYS_pread64, fd, text, 4095, 0) >= 0);
	close(saved);
	close(fd);
	return text;
}

static void expect_complaint(const struct trace *trace, const char *cause)
{
	char *text = complaint_of_begin(trace);

	CU_ASSERT_PTR_NOT_NULL(strstr(text, path));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, cause));
	CU_ASSERT(*text && strchr(text, '\n') == text + strlen(text) - 1);
	free(text);
}

/* The view is right without its index, but takes longer, and the disk may be failing. */
static void an_index_that_fails_to_be_read_is_told_in_one_line(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	char *text;

	session_of_pass(&session, trace);
	write_index(&session);
	reads_fail = EIO;
	expect_complaint(trace, "Input/output error");
	reads_fail = ENOMEM;
	expect_complaint(trace, "out of memory");
	reads_fail = 0;
	CU_ASSERT(index_opens(trace));
	CU_ASSERT_EQUAL(truncate(path, 100), 0);
	text = complaint_of_begin(trace);
	CU_ASSERT_STRING_EQUAL(text, ""); /* an index that does not fit is replaced */
	free(text);
	CU_ASSERT_EQUAL(unlink(path), 0);
	text = complaint_of_begin(trace);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	view_session_end(&session);
	trace_close(trace);
}

/* A byte of the last section is another one, and the checksum is right. */
static void an_index_that_is_damaged_is_told_in_one_line(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	struct index index;

	session_of_pass(&session, trace);
	write_index(&session);
	index = index_read();
	memset(index.bytes + facts_of(&index).at, 0xff, SIZE);
	index_sign(&index);
	index_write(&index);
	expect_complaint(trace, "is damaged");
	free(index.bytes);
	view_session_end(&session);
	trace_close(trace);
}

static void an_index_that_cannot_be_written_is_not_missed(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	char *notes;

	session_of_pass(&session, trace);
	notes = view_store_notes(&session);
	CU_ASSERT(!view_store_write(&session, notes, "/proc/self/no/index"));
	CU_ASSERT(!view_store_begin(&(struct view_session){0}, trace, &options, "/proc/self/no/index"));
	CU_ASSERT(!view_store_begin(&(struct view_session){0}, trace, &options, folder));
	free(notes);
	view_session_end(&session);
	trace_close(trace);
}

static size_t nr_files_of_folder(void)
{
	DIR *dir = opendir(folder);
	size_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* As on a full disk: a limit of the size of files stops the write. */
static void an_index_that_does_not_fit_leaves_the_old_one(void)
{
	static struct view_session session;
	const struct rlimit least = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
	struct trace *trace = story(2);
	struct index before, after;
	struct rlimit limit;
	size_t nr_files;
	char *notes;

	session_of_pass(&session, trace);
	write_index(&session);
	before = index_read();
	nr_files = nr_files_of_folder();
	notes = view_store_notes(&session);
	signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &limit) == 0 && setrlimit(RLIMIT_FSIZE, &least) == 0);
	CU_ASSERT(!view_store_write(&session, notes, path));
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
	after = index_read();
	CU_ASSERT(before.size > least.rlim_cur && before.size == after.size &&
		  memcmp(before.bytes, after.bytes, after.size) == 0);
	CU_ASSERT_EQUAL(nr_files_of_folder(), nr_files);
	CU_ASSERT(index_opens(trace));
	free(before.bytes);
	free(after.bytes);
	free(notes);
	view_session_end(&session);
	trace_close(trace);
}

static void small_traces_and_parts_have_no_index(void)
{
	struct visualizer_options part = options;
	struct trace *trace = story(2);

	CU_ASSERT_PTR_NULL(view_store_path(trace, &options));
	part.no_index = true;
	CU_ASSERT_PTR_NULL(view_store_path(trace, &part));
	trace_close(trace);
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
		CASE(a_damaged_index_is_refused),
		CASE(a_hostile_index_does_no_harm),
		CASE(an_index_that_fails_to_be_read_is_told_in_one_line),
		CASE(an_index_that_is_damaged_is_told_in_one_line),
		CASE(an_index_that_cannot_be_written_is_not_missed),
		CASE(an_index_that_does_not_fit_leaves_the_old_one),
		CASE(small_traces_and_parts_have_no_index),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/index", folder);
	result = unit_main("view_store", cases, argc, argv);
	unlink(path);
	rmdir(folder);
	return result;
}

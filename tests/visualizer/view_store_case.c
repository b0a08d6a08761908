/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view_store_case.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "view_row.h"
#include "view_store.h"

#define QUESTION 512

const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
char folder[] = "/tmp/view_store.XXXXXX", path[INDEX_PATH];

struct mood mood_of(uint64_t seed)
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

struct trace *story(uint64_t seed)
{
	struct mood mood = mood_of(seed);
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	return trace;
}

/* ---- questions ---- */

void ask(struct asker *asker, const char *question)
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
void ask_all(struct view_session *session, struct view_session *other, uint64_t seed, unsigned int nr_spans)
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
void ask_beside(struct view_session *session, struct view_session *other, uint64_t seed)
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

void session_of_pass(struct view_session *session, const struct trace *trace)
{
	CU_ASSERT_EQUAL_FATAL(view_session_begin(session, trace, &options), 0);
	CU_ASSERT_EQUAL_FATAL(view_session_step(session, 1, 1), 0);
	CU_ASSERT_EQUAL_FATAL(view_session_step(session, 1, 1), 1);
}

void write_index(struct view_session *session)
{
	char *notes = view_store_notes(session);

	CU_ASSERT_FATAL(view_store_write(session, notes, path));
	free(notes);
}

int view_store_main(const char *name, const struct unit_case *cases, int argc, char **argv)
{
	int result;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/index", folder);
	result = unit_main(name, cases, argc, argv);
	unlink(path);
	rmdir(folder);
	return result;
}

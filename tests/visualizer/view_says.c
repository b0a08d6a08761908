/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view_says.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "view_session.h"
#include "view_store.h"

#define SHOWN_WAITS 3
#define TRIGGER	    "Saved by a trigger: "

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

/* Lines become one, and blanks one blank; the sign of a cut name is the same in each charset. */
static char *plain(const char *text)
{
	static const char cut[] = "\xe2\x80\xa6";
	char *copy = malloc(3 * strlen(text) + 1), *at = copy;

	for (bool was_blank = false; *text; text++) {
		bool is_blank = *text == '\n' || *text == ' ';

		if (strncmp(text, cut, strlen(cut)) == 0) {
			at = stpcpy(at, "...");
			text += strlen(cut) - 1;
		} else if (!is_blank || !was_blank) {
			*at++ = is_blank ? ' ' : *text;
		}
		was_blank = is_blank;
	}
	*at = '\0';
	return copy;
}

static void has(const char *screen, const char *text)
{
	char *wanted = plain(text);

	CU_ASSERT_PTR_NOT_NULL(strstr(screen, wanted));
	if (!strstr(screen, wanted))
		printf("\n--- the view says:\n%s\n--- and the screen:\n%s\n", wanted, screen);
	free(wanted);
}

/* The view has whole names. On a terminal they are not wider than it, or even shorter. */
static void has_names(const char *screen, const char *text)
{
	static const char *const widths[] = {NULL, "40"};
	const char *columns = getenv("COLUMNS");

	for (size_t i = 0; columns && i < sizeof(widths) / sizeof(widths[0]); i++) {
		char *cut = text_cut_words(text, (size_t)atoi(widths[i] ? widths[i] : columns)), *wanted = plain(cut);
		bool found = strstr(screen, wanted);

		free(cut);
		free(wanted);
		if (found)
			return;
	}
	has(screen, text);
}

/* The screen says when the trigger counted: the view has a link there. */
static void has_sentence(const char *screen, const json_t *verdict)
{
	struct string sentence = {0};
	const char *trigger = NULL;
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(verdict, "sentence"), i, part) {
		const char *words = json_string_value(json_object_get(part, "text"));

		if (i == 0 && strncmp(words, TRIGGER, strlen(TRIGGER)) == 0)
			trigger = words;
		else
			string_add(&sentence, words);
	}
	if (trigger) {
		char *words = strndup(trigger, strlen(trigger) - 1); /* without the full stop */

		has(screen, words);
		free(words);
	}
	has_names(screen, string_text(&sentence));
	string_free(&sentence);
}

/* A cell of the screen's table may be cut: the words before the name of a file are not. */
static void has_waits(const char *screen, const json_t *verdict)
{
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(verdict, "waits"), i, wait) {
		if (i < SHOWN_WAITS) {
			has(screen, json_string_value(json_object_get(wait, "waiter")));
			if (json_object_get(wait, "where"))
				has(screen, json_string_value(json_object_get(wait, "where")));
		}
	}
}

/* The index of the view has the answer, too. */
static void is_stored(struct view_session *session, const struct trace *trace, const struct view_answer *answer)
{
	char path[] = "/tmp/view_says_XXXXXX", *notes = view_store_notes(session);
	static struct view_session again;
	struct view_answer stored;

	close(mkstemp(path));
	CU_ASSERT_FATAL(view_store_write(session, notes, path));
	CU_ASSERT_FATAL(view_store_begin(&again, trace, &options, path));
	stored = view_answer(&again, "verdict");
	CU_ASSERT(stored.size == answer->size && memcmp(stored.bytes, answer->bytes, stored.size) == 0);
	free(stored.bytes);
	view_session_end(&again);
	unlink(path);
	free(notes);
}

/* A session whose pass has ended. */
static struct view_session *shown(const char *path)
{
	static struct view_session session;
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	while (view_session_step(&session, 1, 1) == 0)
		;
	return &session;
}

static void shown_end(struct view_session *session)
{
	const struct trace *trace = session->report.trace;

	view_session_end(session);
	trace_close((struct trace *)trace);
}

char *view_answer_of(const char *path, const char *question)
{
	struct view_session *session = shown(path);
	struct view_answer answer = view_answer(session, question);
	char *text = strndup(answer.bytes, answer.size);

	free(answer.bytes);
	shown_end(session);
	return text;
}

void view_says_the_same(const char *path, const char *text)
{
	struct view_session *session = shown(path);
	struct view_answer answer;
	char *screen = plain(text);
	json_t *verdict;

	answer = view_answer(session, "verdict");
	verdict = json_loadb(answer.bytes, answer.size, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(verdict);
	if (json_object_get(verdict, "ns")) { /* else neither has a critical path */
		has_sentence(screen, verdict);
		has_waits(screen, verdict);
	}
	is_stored(session, session->report.trace, &answer);
	json_decref(verdict);
	free(answer.bytes);
	free(screen);
	shown_end(session);
}

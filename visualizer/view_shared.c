/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_shared.c - a session that several threads use: view_shared.h. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "view_count.h"
#include "view_profile.h"
#include "view_profile_log.h"
#include "view_shared.h"
#include "view_store.h"
#include "view_tables.h"

#define FUNCTIONS "functions"

/* ---- locks ---- */

/*
 * The pass takes the lock again as soon as it has released it, so a question might wait for the
 * whole pass. It holds @next while it waits, which the pass needs first.
 */
void view_shared_lock(struct view_shared *shared)
{
	pthread_mutex_lock(&shared->next);
	pthread_mutex_lock(&shared->lock);
	pthread_mutex_unlock(&shared->next);
}

void view_shared_unlock(struct view_shared *shared)
{
	pthread_mutex_unlock(&shared->lock);
}

/* ---- begin, end ---- */

/* The session of @trace, from its index if it has one. Returns 0, or 1 or 2 after a message. */
static int session_begin(struct view_session *session, const struct trace *trace,
			 const struct visualizer_options *options, char **ret_index)
{
	*ret_index = view_store_path(trace, options);
	if (*ret_index && view_store_begin(session, trace, options, *ret_index)) {
		free(*ret_index);
		*ret_index = NULL; /* it is there */
		return 0;
	}
	return view_session_begin(session, trace, options);
}

int view_shared_begin(struct view_shared *shared, const struct trace *trace, const struct visualizer_options *options)
{
	*shared = (struct view_shared){.options = options,
				       .session = memory_take(1, sizeof(*shared->session)),
				       .lock = PTHREAD_MUTEX_INITIALIZER,
				       .next = PTHREAD_MUTEX_INITIALIZER,
				       .in_use = PTHREAD_RWLOCK_INITIALIZER,
				       .reader = pthread_self()};
	return session_begin(shared->session, trace, options, &shared->index);
}

void view_shared_end(struct view_shared *shared)
{
	struct view_reading reading = {shared->session, shared->trace, shared->index};

	view_reading_end(&reading);
}

/* ---- again ---- */

static struct view_answer answer_of(const char *text, const char *message, bool is_wrong)
{
	struct view_answer answer = {.is_wrong = is_wrong};
	struct text_stream stream;
	struct json json = {.out = memory_stream_begin(&stream), .first = true};

	json_open(&json, NULL, "{");
	json_text(&json, text, message);
	json_close(&json, "}\n");
	answer.bytes = memory_stream_end(&stream, &answer.size);
	return answer;
}

int view_reading_begin(struct view_reading *reading, const char *path, const struct visualizer_options *options,
		       struct trace_error *ret_error)
{
	*reading = (struct view_reading){.session = memory_take(1, sizeof(*reading->session))};
	reading->trace = trace_open(path, ret_error);
	if (reading->trace && session_begin(reading->session, reading->trace, options, &reading->index) == 0)
		return 0;
	view_reading_end(reading);
	return -1;
}

void view_reading_end(struct view_reading *reading)
{
	if (reading->session)
		view_session_end(reading->session);
	trace_close(reading->trace);
	free(reading->session);
	free(reading->index);
	*reading = (struct view_reading){0};
}

void view_shared_replace(struct view_shared *shared, struct view_reading *reading)
{
	struct view_reading old = {shared->session, shared->trace, shared->index};

	reading->session->version = shared->session->version + 1;
	shared->session = reading->session;
	shared->trace = reading->trace;
	shared->index = reading->index;
	*reading = (struct view_reading){0};
	view_reading_end(&old);
}

static struct view_answer read_again(struct view_shared *shared)
{
	struct trace_error error = {.message = "the trace cannot be read again"};
	struct view_reading reading;
	struct view_answer answer;

	pthread_rwlock_wrlock(&shared->in_use);
	view_shared_lock(shared);
	if (view_reading_begin(&reading, trace_get_info(shared->session->report.trace)->file, shared->options,
			       &error) == 0) {
		view_shared_replace(shared, &reading);
		answer = answer_of("file", trace_get_info(shared->trace)->file, false);
		pthread_kill(shared->reader, SHARED_AGAIN);
	} else {
		answer = answer_of("error", error.message, true);
	}
	view_shared_unlock(shared);
	pthread_rwlock_unlock(&shared->in_use);
	return answer;
}

/* ---- answers ---- */

static bool has_own_pass(const char *question)
{
	return strncmp(question, "books", 5) == 0 || strncmp(question, "count?", 6) == 0 ||
	       strcmp(question, "count") == 0 || strncmp(question, "events", 6) == 0 ||
	       strncmp(question, FUNCTIONS, strlen(FUNCTIONS)) == 0;
}

/*
 * Such a question needs the trace and the window of a session only, so it gets a copy. Its row, if
 * it has one, is found in the session before. A wrong question has its answer at once.
 */
static struct view_answer answer_by_own_pass(struct view_shared *shared, const char *question)
{
	bool is_functions = strncmp(question, FUNCTIONS, strlen(FUNCTIONS)) == 0, makes_pass = *question != 'e';
	struct view_answer answer = {0};
	struct view_session copy;
	char *chosen = NULL;

	pthread_rwlock_rdlock(&shared->in_use);
	view_shared_lock(shared);
	copy = *shared->session;
	makes_pass &= !is_functions || !view_profile_log_is_made(copy.profile_log);
	if (is_functions && !(chosen = view_functions_chosen(shared->session, question)))
		answer = view_answer(shared->session, question);
	view_shared_unlock(shared);
	if (!answer.bytes)
		answer = view_answer(&copy, chosen ? chosen : question);
	free(chosen);
	if (makes_pass && !view_count_goes_on(copy.count))
		malloc_trim(0); /* of the pass, in the memory of this thread */
	pthread_rwlock_unlock(&shared->in_use);
	return answer;
}

struct view_answer view_shared_answer(struct view_shared *shared, const char *question)
{
	struct view_answer answer;

	if (strcmp(question, "again") == 0)
		return read_again(shared);
	if (has_own_pass(question))
		return answer_by_own_pass(shared, question);
	view_shared_lock(shared);
	answer = view_answer(shared->session, question);
	view_shared_unlock(shared);
	return answer;
}

/* ---- the pass ---- */

/* Questions change nothing that the index has, so they need not wait for it. */
void view_shared_write_index(struct view_shared *shared)
{
	char *notes = NULL;

	pthread_rwlock_rdlock(&shared->in_use);
	view_shared_lock(shared);
	if (shared->index && shared->session->is_billed && trace_view_error(shared->session->view) != -ENOMEM)
		notes = view_store_notes(shared->session);
	view_shared_unlock(shared);
	if (notes)
		view_store_write(shared->session, notes, shared->index);
	pthread_rwlock_unlock(&shared->in_use);
	free(notes);
}

bool view_shared_has_work(struct view_shared *shared)
{
	bool has_work;

	view_shared_lock(shared);
	has_work = (!shared->session->is_billed || view_tables_are_wanted(shared->session)) &&
		   trace_file_state(shared->session->report.trace) != TRACE_FILE_CHANGED;
	view_shared_unlock(shared);
	return has_work;
}

int view_shared_step(struct view_shared *shared, unsigned int nr, unsigned int of)
{
	struct view_session *session;
	bool was_billed, was_complete, is_of_moment;
	int result;

	view_shared_lock(shared);
	session = shared->session;
	was_billed = session->is_billed;
	was_complete = session->is_complete;
	is_of_moment = session->version && !trace_get_info(session->report.trace)->clean_end;
	if ((!was_billed || view_tables_are_wanted(session)) &&
	    trace_file_state(session->report.trace) == TRACE_FILE_CHANGED) {
		view_shared_unlock(shared); /* what was read by now stays, and the page says why */
		return 1;
	}
	result = view_session_step(session, nr, of);
	if (session->is_complete && !was_complete)
		malloc_trim(0); /* the view has no room for more intervals any more */
	view_shared_unlock(shared);
	if (result > 0 && !was_billed) {
		if (!is_of_moment) /* the file is longer already */
			view_shared_write_index(shared);
		malloc_trim(0); /* of the bills, if there is no server */
	}
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_shared.c - a session that several threads use: view_shared.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "view_shared.h"
#include "view_store.h"

/* ---- locks ---- */

/*
 * The pass takes the lock again as soon as it has released it, so a question might wait for the
 * whole pass. It holds @next while it waits, which the pass needs first.
 */
static void session_lock(struct view_shared *shared)
{
	pthread_mutex_lock(&shared->next);
	pthread_mutex_lock(&shared->lock);
	pthread_mutex_unlock(&shared->next);
}

static void session_unlock(struct view_shared *shared)
{
	pthread_mutex_unlock(&shared->lock);
}

/* ---- begin, end ---- */

/* The session of @trace, from its index if it has one. Returns 0, or 1 or 2 after a message. */
static int session_begin(struct view_session *session, const struct trace *trace,
			 const struct visualizer_options *options, char **ret_index)
{
	*ret_index = view_store_path(trace, options);
	if (*ret_index && view_store_begin(session, trace, options, *ret_index))
		return 0;
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
	view_session_end(shared->session);
	trace_close(shared->trace);
	free(shared->session);
	free(shared->index);
}

/* ---- again ---- */

static struct view_answer answer_of(const char *text, const char *message, bool is_wrong)
{
	struct json json = {.first = true};
	struct view_answer answer = {.is_wrong = is_wrong};

	json.out = open_memstream(&answer.bytes, &answer.size);
	if (!json.out)
		memory_end();
	json_open(&json, NULL, "{");
	json_text(&json, text, message);
	json_close(&json, "}\n");
	if (fclose(json.out) != 0)
		memory_end();
	return answer;
}

/* Nothing of the old session is in use: its locks are held. */
static void replace(struct view_shared *shared, struct trace *trace, struct view_session *session, char *index)
{
	view_session_end(shared->session);
	trace_close(shared->trace);
	free(shared->session);
	free(shared->index);
	shared->session = session;
	shared->trace = trace;
	shared->index = index;
	pthread_kill(shared->reader, SHARED_AGAIN);
}

static struct view_answer read_again(struct view_shared *shared)
{
	struct view_session *session = memory_take(1, sizeof(*session));
	struct view_answer answer;
	struct trace_error error = {.message = "the trace cannot be read again"};
	struct trace *trace;
	char *index = NULL;

	pthread_rwlock_wrlock(&shared->in_use);
	session_lock(shared);
	trace = trace_open(trace_get_info(shared->session->report.trace)->file, &error);
	if (trace && session_begin(session, trace, shared->options, &index) == 0) {
		replace(shared, trace, session, index);
		answer = answer_of("file", trace_get_info(trace)->file, false);
	} else {
		answer = answer_of("error", error.message, true);
		view_session_end(session);
		trace_close(trace);
		free(session);
		free(index);
	}
	session_unlock(shared);
	pthread_rwlock_unlock(&shared->in_use);
	return answer;
}

/* ---- answers ---- */

static bool has_own_pass(const char *question)
{
	return strncmp(question, "books", 5) == 0 || strncmp(question, "events", 6) == 0;
}

/* Such a question needs the trace and the window of a session only, so it gets a copy. */
static struct view_answer answer_by_own_pass(struct view_shared *shared, const char *question)
{
	struct view_answer answer;
	struct view_session copy;

	pthread_rwlock_rdlock(&shared->in_use);
	session_lock(shared);
	copy = *shared->session;
	session_unlock(shared);
	answer = view_answer(&copy, question);
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
	session_lock(shared);
	answer = view_answer(shared->session, question);
	session_unlock(shared);
	return answer;
}

/* ---- the pass ---- */

/*
 * The next view of the trace begins with the index, and needs no pass. Questions change nothing
 * that the index has, so they need not wait for it.
 */
static void write_index(struct view_shared *shared)
{
	char *notes = NULL;

	pthread_rwlock_rdlock(&shared->in_use);
	session_lock(shared);
	if (shared->index && shared->session->is_billed && !trace_view_error(shared->session->view))
		notes = view_store_notes(shared->session);
	session_unlock(shared);
	if (notes)
		view_store_write(shared->session, notes, shared->index);
	pthread_rwlock_unlock(&shared->in_use);
	free(notes);
}

int view_shared_step(struct view_shared *shared, unsigned int nr, unsigned int of)
{
	struct view_session *session;
	bool was_billed;
	int result;

	session_lock(shared);
	session = shared->session;
	was_billed = session->is_billed;
	if (!was_billed && trace_file_state(session->report.trace) == TRACE_FILE_CHANGED) {
		session_unlock(shared); /* what was read by now stays, and the page says why */
		return 1;
	}
	result = view_session_step(session, nr, of);
	session_unlock(shared);
	if (result > 0 && !was_billed)
		write_index(shared);
	return result;
}

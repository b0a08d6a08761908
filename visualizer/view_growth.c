/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_growth.c - a trace that grows while it is shown: view_growth.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "checked_memory.h"
#include "view_bills.h"
#include "view_growth.h"

#define REST	    9 /* times the CPU time of a reading until the next one */
#define LEAST_REST  4 /* the same, of one that takes long */
#define MAX_REST_NS UINT64_C(10000000000)

/*
 * struct view_growth - @version: of the session that is shown
 * @failed: after a message; no other reading is begun
 * @has_servers: what is shown has clients, which bills give: it stays until the bills are known
 */
struct view_growth {
	struct view_shared *shared; /* borrowed */
	struct view_reading reading;
	unsigned int version;
	bool failed;
	bool has_servers;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t view_growth_rest(uint64_t cpu_ns)
{
	uint64_t least = cpu_ns < UINT64_MAX / LEAST_REST ? LEAST_REST * cpu_ns : UINT64_MAX;

	if (least >= MAX_REST_NS)
		return least;
	return cpu_ns < MAX_REST_NS / REST ? REST * cpu_ns : MAX_REST_NS;
}

/*
 * The pause after a reading begins when the thread has made all passes over what it read: that of
 * the bills comes after the states are shown.
 */
static void begin_rest(struct view_shared *shared)
{
	uint64_t rest = view_growth_rest(clock_ns(CLOCK_THREAD_CPUTIME_ID) - shared->reading_cpu_ns);

	shared->next_growth_ns = clock_ns(CLOCK_MONOTONIC) + rest;
	shared->session->rest_ns = rest;
	shared->rests = true;
}

/* The caller has the lock. */
static bool is_due(struct view_shared *shared)
{
	if (!shared->session->is_billed)
		return false;
	if (!shared->rests && shared->session->version)
		begin_rest(shared);
	return clock_ns(CLOCK_MONOTONIC) >= shared->next_growth_ns;
}

/* The name of the file if it has grown since it was read, and is to be read again; NULL: no. */
static char *grown_file(struct view_shared *shared, unsigned int *ret_version, bool *ret_has_servers)
{
	const struct view_session *session;
	char *file = NULL;

	view_shared_lock(shared);
	session = shared->session;
	if (is_due(shared) && trace_file_state(session->report.trace) == TRACE_FILE_GROWN) {
		const char *name = trace_get_info(session->report.trace)->file;

		file = memory_copy(name, strlen(name));
		*ret_version = session->version;
		*ret_has_servers = view_bills(session);
	}
	view_shared_unlock(shared);
	return file;
}

/* Until the key u. The page says why, unless another session is shown meanwhile. */
static void follow_no_longer(struct view_growth *growth, const char *why)
{
	struct view_shared *shared = growth->shared;

	view_shared_lock(shared);
	if (shared->session->version == growth->version)
		snprintf(shared->session->unread, sizeof(shared->session->unread), "%s",
			 *why ? why : "the terminal of the view says why");
	view_shared_unlock(shared);
	shared->next_growth_ns = UINT64_MAX;
}

struct view_growth *view_growth_begin(struct view_shared *shared)
{
	struct trace_error error = {0};
	struct view_growth *growth;
	unsigned int version;
	bool has_servers;
	char *file = grown_file(shared, &version, &has_servers);

	if (!file)
		return NULL;
	growth = memory_take(1, sizeof(*growth));
	*growth = (struct view_growth){.shared = shared, .version = version, .has_servers = has_servers};
	shared->reading_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	shared->rests = false;
	if (view_reading_begin(&growth->reading, file, shared->options, &error) < 0) {
		if (*error.message)
			fprintf(stderr, "tracevisualizer: the view no longer follows the trace: %s\n", error.message);
		follow_no_longer(growth, error.message);
		free(growth);
		growth = NULL;
	}
	free(file);
	return growth;
}

int view_growth_step(struct view_growth *growth, unsigned int nr, unsigned int of)
{
	int result = view_session_step(growth->reading.session, nr, of);

	growth->failed = result < 0;
	return result == 0 && growth->reading.session->is_complete && !growth->has_servers ? 1 : result;
}

static void take_reading(struct view_growth *growth)
{
	struct view_shared *shared = growth->shared;
	bool has_end = trace_get_info(growth->reading.trace)->clean_end;

	pthread_rwlock_wrlock(&shared->in_use);
	view_shared_lock(shared);
	/* a file that was cut meanwhile has other events than those that were read */
	if (shared->session->version == growth->version &&
	    trace_file_state(growth->reading.trace) != TRACE_FILE_CHANGED)
		view_shared_replace(shared, &growth->reading);
	view_shared_unlock(shared);
	pthread_rwlock_unlock(&shared->in_use);
	if (has_end)
		view_shared_write_index(shared);
}

void view_growth_end(struct view_growth *growth, bool take)
{
	if (!growth)
		return;
	if (take)
		take_reading(growth);
	if (growth->failed)
		follow_no_longer(growth, "");
	view_reading_end(&growth->reading);
	free(growth);
}

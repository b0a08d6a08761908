/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_profile_log.c - the functions of any span from one pass: view_profile_log.h. */
#include "view_profile_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <trace/profile.h>
#include <unistd.h>
#include "checked_memory.h"
#include "nameless_file.h"

/* struct view_profile_log - @lock protects all until the pass has ended. @fd: of the log, or -1 */
struct view_profile_log {
	pthread_mutex_t lock;
	struct trace_analysis *analysis; /* owned */
	struct trace_profile_log *log;	 /* owned; NULL: there is none (yet) */
	int fd;
	bool was_made;
};

struct view_profile_log *view_profile_log_new(void)
{
	struct view_profile_log *log = memory_take(1, sizeof(*log));

	*log = (struct view_profile_log){.fd = -1};
	pthread_mutex_init(&log->lock, NULL);
	return log;
}

static void drop(struct view_profile_log *log)
{
	log->log = trace_profile_log_free(log->log);
	log->analysis = trace_analysis_free(log->analysis);
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

struct view_profile_log *view_profile_log_free(struct view_profile_log *log)
{
	if (!log)
		return NULL;
	drop(log);
	pthread_mutex_destroy(&log->lock);
	free(log);
	return NULL;
}

/* In memory it could be larger than the view, so without a file there is none. */
static bool make(struct view_profile_log *log, const struct trace *trace)
{
	struct trace_profile_log_options options = {.size = sizeof(options), .has_file = true};

	log->fd = options.fd = nameless_file_open(trace_get_info(trace)->file);
	log->analysis = log->fd >= 0 ? trace_analysis_new(trace, NULL, NULL) : NULL;
	log->log = log->analysis ? trace_profile_log_new(log->analysis, &options, NULL) : NULL;
	return log->log && trace_analysis_run(log->analysis, NULL) == 0 && trace_profile_log_end(log->log, NULL) == 0;
}

bool view_profile_log_is_made(struct view_profile_log *log)
{
	bool is_made;

	if (pthread_mutex_trylock(&log->lock))
		return false;
	is_made = log->log;
	pthread_mutex_unlock(&log->lock);
	return is_made;
}

bool view_profile_log_of(const struct view_session *session, struct report *report)
{
	struct view_profile_log *log = session->profile_log;
	uint64_t from_ns = report->is_windowed ? report->window.from_ns : 0,
		 to_ns = report->is_windowed && report->window.has_to ? report->window.to_ns : 0;

	if (!log)
		return false;
	pthread_mutex_lock(&log->lock);
	if (!log->was_made && !make(log, report->trace))
		drop(log);
	log->was_made = true;
	pthread_mutex_unlock(&log->lock);
	report->profile = log->log ? trace_profile_of_span(log->log, from_ns, to_ns, NULL) : NULL;
	report->analysis = report->profile ? log->analysis : NULL;
	return report->profile;
}

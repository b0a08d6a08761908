/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SHARED_H
#define VISUALIZER_VIEW_SHARED_H
/*
 * view_shared.h - a session that several threads use: one makes the pass, the others ask.
 *
 * The pass takes the lock for steps of some milliseconds, so a question waits for one step at most.
 * Questions with a pass of their own (books, events) take no lock. The question "again" replaces
 * the session by one of the file as it is now, and so does view_growth.h.
 */
#include <pthread.h>
#include <trace/error.h>
#include "view_session.h"

struct view_shared {
	const struct visualizer_options *options; /* borrowed */
	struct view_session *session;		  /* owned */
	struct trace *trace;			  /* owned; NULL: the trace of the caller */
	char *index;				  /* owned: path of the index to write; NULL: none */
	pthread_mutex_t lock;			  /* of all above */
	pthread_mutex_t next;			  /* held by the thread that gets @lock next */
	pthread_rwlock_t in_use;		  /* the trace: read by passes of questions */
	pthread_t reader;			  /* the thread that makes the pass: again sends it SHARED_AGAIN */
	/*
	 * of the thread of the pass, for view_growth_begin(): its CPU time when it last began to
	 * read the grown file; when it begins the next time; whether that is known
	 */
	uint64_t reading_cpu_ns, next_growth_ns;
	bool rests;
};

/** struct view_reading - a session that is not shown yet; owned, as in struct view_shared */
struct view_reading {
	struct view_session *session;
	struct trace *trace;
	char *index;
};

/** the signal that the thread of the pass gets; blocked in all threads */
#define SHARED_AGAIN SIGUSR1

/** view_shared_begin() - as view_session_begin(), in the thread of the pass */
int view_shared_begin(struct view_shared *shared, const struct trace *trace, const struct visualizer_options *options);
void view_shared_end(struct view_shared *shared);
/** view_shared_answer() - view_answer(), and "again" */
struct view_answer view_shared_answer(struct view_shared *shared, const char *question);
/**
 * view_shared_step() - view_session_step(); the last one writes the index
 * Returns 1 at the end, or if the file was changed, so that the rest cannot be read; 0 if events
 * are left, -1 after a message on stderr.
 */
int view_shared_step(struct view_shared *shared, unsigned int nr, unsigned int of);

/** view_shared_has_work() - a question has asked for a pass that is not made yet */
bool view_shared_has_work(struct view_shared *shared);

/**
 * view_shared_lock() - the lock of the session. A question that waits for it gets it before the
 * next step of the pass
 */
void view_shared_lock(struct view_shared *shared);
void view_shared_unlock(struct view_shared *shared);
/**
 * view_reading_begin() - open the file at @path, and begin its session
 * Returns 0, or -1 with @ret_error (the file), or after a message on stderr (the session).
 */
int view_reading_begin(struct view_reading *reading, const char *path, const struct visualizer_options *options,
		       struct trace_error *ret_error) TRACE_NODISCARD;
void view_reading_end(struct view_reading *reading); /* also of none */
/**
 * view_shared_replace() - show the session of @reading, which becomes none, instead of the old one
 * The caller holds the lock, and in_use for writing: nobody uses the old one.
 */
void view_shared_replace(struct view_shared *shared, struct view_reading *reading);
/**
 * view_shared_write_index() - write the index of a complete session, if it has one
 * The next view of the trace begins with it, and needs no pass.
 */
void view_shared_write_index(struct view_shared *shared);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_PROFILE_LOG_H
#define VISUALIZER_VIEW_PROFILE_LOG_H
/*
 * view_profile_log.h - the functions of any span from one pass for all spans. The first question
 * about functions makes it, and others wait for it. Its log is in a file without a name, beside the
 * trace or in the folder for temporary files.
 *
 * Threads: any may ask, with a copy of the session, too.
 */
#include "report.h"
#include "view_session.h"

struct view_profile_log;

struct view_profile_log *view_profile_log_new(void);
struct view_profile_log *view_profile_log_free(struct view_profile_log *log); /* NULL is fine; returns NULL */
/**
 * view_profile_log_of() - the profile of the window of @report, which gets it, and the analysis of
 * the log, which stays the log's
 * Returns false if there is no log, or memory, or file for it: a pass has the profile.
 */
bool view_profile_log_of(const struct view_session *session, struct report *report);
/** view_profile_log_is_made() - has the pass ended? A question makes none then. Does not wait */
bool view_profile_log_is_made(struct view_profile_log *log);
#endif

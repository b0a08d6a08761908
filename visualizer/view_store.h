/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_STORE_H
#define VISUALIZER_VIEW_STORE_H
/*
 * view_store.h - sessions that are read from an index instead of a pass: t.trace.view beside
 * t.trace.
 *
 * An index that does not fit (another trace or program, damage) is ignored and replaced. One that
 * cannot be written is not missed.
 */
#include "view_session.h"

/** view_store_path() - where the index of this trace belongs; to be freed; NULL: it has none */
char *view_store_path(const struct trace *trace, const struct visualizer_options *options);
/**
 * view_store_begin() - as view_session_begin(), from the index at @path; the session is complete
 * Returns false if there is none that fits. A line on stderr says it if there is a file that cannot
 * be read.
 */
bool view_store_begin(struct view_session *session, const struct trace *trace, const struct visualizer_options *options,
		      const char *path);
/**
 * view_store_notes() - what an index needs of a complete session beside its view; to be freed
 */
char *view_store_notes(struct view_session *session);
/**
 * view_store_write() - write the index to @path, with the permissions of the trace; false: not
 * possible. Other threads may ask @session meanwhile.
 */
bool view_store_write(const struct view_session *session, const char *notes, const char *path);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SESSION_PROBES_H
#define DAEMON_SESSION_PROBES_H
/*
 * session_probes.h - probes of a session: from the command line into the tracer, with their numbers in the trace.
 */
#include <trace/probes.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "select.h"

struct options;

/**
 * probe_parse() - the probes that @options ask for
 * Returns 0 with NULL in @ret_probes if none; or what trace_probes_add() says of the first that is wrong.
 */
int probe_parse(const struct options *options, struct trace_probes **ret_probes, struct trace_error *ret_error);

/**
 * probe_attach() - number the probes for @writer, and attach those that @selection wants; NULL @probes is fine
 * What cannot be attached is told by tracer_not_traced(). Fails only when the writer cannot describe the events.
 */
int probe_attach(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection, struct trace_writer *writer,
		 struct trace_error *ret_error);

/** probe_describe() - for another writer: the same events, in the same order, so that they get the same numbers */
int probe_describe(const struct trace_probes *probes, struct trace_writer *writer, struct trace_error *ret_error);

/** probe_attach_unwritten() - attach for a flight recorder, whose writers come later */
int probe_attach_unwritten(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection, struct trace_error *ret_error);

/**
 * probe_switch() - only those that @selection wants are on; NULL: none. After probe_attach()
 * Say in the trace first that the selection has changed: who pairs events must not take an end that is recorded again for that of an older begin.
 */
void probe_switch(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection);

/** probe_note() - tell @selection which probes there are, for select_unmatched() */
void probe_note(const struct trace_probes *probes, struct selection *selection);
/** probe_print() - which are on and which are off; @buffer has at least 256 bytes */
void probe_print(const struct trace_probes *probes, const struct selection *selection, char *buffer, size_t size);
/** probe_tell_off() - a note if some are off from the start */
void probe_tell_off(const struct trace_probes *probes, const struct selection *selection);

/** probe_tell_unread() - a warning if arguments could not be read */
void probe_tell_unread(const struct tracer *tracer);
#endif

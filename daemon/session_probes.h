/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SESSION_PROBES_H
#define DAEMON_SESSION_PROBES_H
/*
 * session_probes.h - the probes of a session: from the command line into the tracer, with their ids
 * in the trace
 */
#include <trace/probes.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "select.h"

struct daemon_options;

/**
 * session_probes_parse() - the probes of @options
 * Returns 0, with NULL in @ret_probes if there are none; or the error of trace_probes_add() for the
 * first wrong one.
 */
int session_probes_parse(const struct daemon_options *options, struct trace_probes **ret_probes,
			 struct trace_error *ret_error);

/**
 * session_probes_attach() - number the probes for @writer, and attach those that @selection
 * selects; NULL
 * @probes is fine
 * tracer_not_traced() reports probes that cannot be attached. Fails only if the writer cannot
 * describe the events.
 */
int session_probes_attach(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection,
			  struct trace_writer *writer, struct trace_error *ret_error);

/**
 * session_probes_describe() - describe the same events in the same order to another writer, so that
 * they get the same ids
 */
int session_probes_describe(const struct trace_probes *probes, struct trace_writer *writer,
			    struct trace_error *ret_error);

/**
 * session_probes_attach_unwritten() - attach the probes of a flight recorder, which gets its
 * writers later
 */
int session_probes_attach_unwritten(struct tracer *tracer, const struct trace_probes *probes,
				    const struct selection *selection, struct trace_error *ret_error);

/**
 * session_probes_switch() - switch on exactly the probes that @selection selects; NULL: none. Call
 * it after session_probes_attach() First note the changed selection in the trace. Otherwise a
 * reader might pair the end of a scope with an old begin.
 */
void session_probes_switch(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection);

/** session_probes_note() - note the existing probes in @selection, for select_unmatched() */
void session_probes_note(const struct trace_probes *probes, struct selection *selection);
/** session_probes_print() - print which probes are on and off; @buffer has at least 256 bytes */
void session_probes_print(const struct trace_probes *probes, const struct selection *selection, char *buffer,
			  size_t size);
/** session_probes_report_off() - print a note if some probes are off from the start */
void session_probes_report_off(const struct trace_probes *probes, const struct selection *selection);

/**
 * session_probes_refused() - describe the hits with a false condition, and what they cost
 * Returns false if there were none. @text has @size bytes, at least 256.
 */
bool session_probes_refused(const struct tracer *tracer, const struct trace_probes *probes, char *text, size_t size);

/** session_probes_report_unread() - print a warning if arguments could not be read */
void session_probes_report_unread(const struct tracer *tracer);
/**
 * session_probes_report_unhit() - print a warning for each option, or tracepoint of -e, without a
 * hit at any of its places
 */
void session_probes_report_unhit(const struct tracer *tracer, const struct trace_probes *probes,
				 const struct daemon_options *options);
#endif

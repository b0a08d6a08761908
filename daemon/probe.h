/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROBE_H
#define DAEMON_PROBE_H
/*
 * probe.h - probes of a session: from the command line into the tracer, with their numbers in the trace.
 */
#include <trace/probes.h>
#include <trace/tracer.h>
#include <trace/writer.h>

struct options;

/**
 * probe_parse() - the probes that @options ask for
 * Returns 0 with NULL in @ret_probes if none; or what trace_probes_add() says of the first that is wrong.
 */
int probe_parse(const struct options *options, struct trace_probes **ret_probes, struct trace_error *ret_error);

/**
 * probe_attach() - number the probes for @writer and attach them; NULL @probes is fine
 * What cannot be attached is told by tracer_not_traced(). Fails only when the writer cannot describe the events.
 */
int probe_attach(struct tracer *tracer, const struct trace_probes *probes, struct trace_writer *writer, struct trace_error *ret_error);

/** probe_describe() - for another writer: the same events, in the same order, so that they get the same numbers */
int probe_describe(const struct trace_probes *probes, struct trace_writer *writer, struct trace_error *ret_error);

/** probe_attach_unwritten() - attach for a flight recorder, whose writers come later */
int probe_attach_unwritten(struct tracer *tracer, const struct trace_probes *probes, struct trace_error *ret_error);

/** probe_tell_unread() - a warning if arguments could not be read */
void probe_tell_unread(const struct tracer *tracer);
#endif

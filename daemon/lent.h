/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LENT_H
#define DAEMON_LENT_H
/*
 * lent.h - rights that the program has and its user has not.
 *
 * A program with file capabilities (setcap) records for every user who may execute it. A user who is neither root nor a member of the group
 * "tracing" then gets what he may see anyway: his own processes.
 */
#include <stdbool.h>
#include <trace/error.h>
#include <trace/probes.h>
#include <trace/tracer.h>

#define LENT_GROUP "tracing"

/**
 * lent_restrict() - if the rights are lent: record the user's own processes alone, and hide the others'
 * From then on the capabilities are not in force, so that files and /proc show what they show the user, until lent_raise().
 * Returns 0, or -EPERM: @options ask for the processes of another user.
 */
int lent_restrict(struct tracer_options *options, struct trace_error *ret_error);
/** lent_raise() - the recording begins: a restricted user's capabilities are in force again, and a note says what is recorded */
int lent_raise(const struct tracer_options *options, struct trace_error *ret_error);

/**
 * lent_check_probes() - may a restricted user place these probes? NULL @probes is fine
 * A breakpoint is met by each process that runs the file, so the file is the user's, or the probe is for one of his processes; none is in the kernel.
 * Returns 0, or -EPERM.
 */
int lent_check_probes(const struct trace_probes *probes, const struct tracer_options *options, struct trace_error *ret_error);

#endif

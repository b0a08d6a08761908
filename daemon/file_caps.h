/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FILE_CAPS_H
#define DAEMON_FILE_CAPS_H
/*
 * file_caps.h - file capabilities (setcap): permissions that tracedaemon has, but its user does
 * not.
 *
 * A program with file capabilities (setcap) records for every user with permission to execute it. A
 * user that is neither root nor a member of the group "tracing" may then only record processes that
 * this user may see anyway: the user's own.
 */
#include <stdbool.h>
#include <trace/error.h>
#include <trace/probes.h>
#include <trace/tracer.h>

#define FILE_CAPS_GROUP "tracing"

/**
 * file_caps_restrict() - if tracedaemon has file capabilities: record the user's own processes
 * only, and hide others It also clears the effective capabilities until file_caps_raise(), so that
 * files and /proc show what the user may see.
 * Returns 0, or -EPERM: @options select the processes of another user.
 */
int file_caps_restrict(struct tracer_options *options, struct trace_error *ret_error);
/**
 * file_caps_raise() - at the beginning of the recording: set a restricted user's effective
 * capabilities again, and print a note about what is recorded
 */
int file_caps_raise(const struct tracer_options *options, struct trace_error *ret_error);

/**
 * file_caps_check_probes() - may a restricted user place these probes? NULL @probes is fine
 * Every process that runs the file meets the breakpoint. So the file must be the user's, or the
 * probe must be for one of the user's processes; none may be in the kernel.
 * Returns 0, or -EPERM.
 */
int file_caps_check_probes(const struct trace_probes *probes, const struct tracer_options *options,
			   struct trace_error *ret_error);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OPTIONS_CHECK_H
#define DAEMON_OPTIONS_CHECK_H
/* options_check.h - options and names that are valid alone, but not together */
#include "daemon_options.h"

/**
 * options_check() - may all of @options be given together? Sets the limits that follow from others.
 *
 * Returns 0, or -EINVAL with the reason.
 */
int options_check(struct daemon_options *options, struct trace_error *ret_error);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OPTIONS_CHECK_H
#define DAEMON_OPTIONS_CHECK_H
/* options_check.h - options of tracedaemon that are valid alone but not together. */
#include "daemon_options.h"

/**
 * options_check() - refuse a combination of options that has no meaning or more than one
 * Adds what the combination implies, such as the time that --save-on keeps. Returns 0, or -EINVAL
 * with the reason.
 */
int options_check(struct daemon_options *options, struct trace_error *ret_error);
#endif

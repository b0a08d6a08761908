/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_STEPS_H
#define DAEMON_CONTROL_STEPS_H
/*
 * control_steps.h - the requests of one command line to a running daemon: the common code of
 * tracectl and kgmon.
 *
 * All words are read before the first request is sent: a typing error after "stop" must not end the
 * recording.
 */
#include <stddef.h>

#include "option_table.h"

/* Each request has at least one word or letter, and a command line of more is refused. */
#define CONTROL_MAX_STEPS 64

/**
 * struct control_step - one request
 * @argument: NULL: none. @more: the words of a text that follow, without NULL
 */
struct control_step {
	const char *verb;
	const char *argument;
	char **more;
	size_t nr_more;
};

/**
 * struct control_steps - the command line of tracectl or kgmon
 * @control_path: NULL: the default. @json: the status is JSON. @since: of gcov, NULL: not given
 */
struct control_steps {
	const char *control_path;
	const char *since;
	bool json;
	bool help;
	bool version;
	struct control_step steps[CONTROL_MAX_STEPS];
	size_t nr_steps;
};

/** control_steps_add() - add a request. -EINVAL: too many, or a line break in the argument */
int control_steps_add(struct control_steps *steps, struct control_step step, struct trace_error *ret_error);

/** control_steps_main() - the whole program, main() without its name; returns the exit status */
int control_steps_main(const struct option_program *program, int argc, char **argv);

/** tracectl_program, kgmon_program - their command lines, which fill a struct control_steps */
extern const struct option_program tracectl_program;
extern const struct option_program kgmon_program;
#endif

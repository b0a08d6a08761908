/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control_steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "control_client.h"
#include "error_set.h"
#include "gcov.h"
#include "gmon.h"
#include "gprof_dump.h"
#include "message.h"
#include "option_help.h"
#include "option_parse.h"
#include "std_fds.h"
#include "version.h"

static bool has_line_break(const struct control_step *step)
{
	if (step->argument && strpbrk(step->argument, "\r\n"))
		return true;
	for (size_t i = 0; i < step->nr_more; i++)
		if (strpbrk(step->more[i], "\r\n"))
			return true;
	return false;
}

int control_steps_add(struct control_steps *steps, struct control_step step, struct trace_error *ret_error)
{
	/* file names may contain line breaks */
	if (strcmp(step.verb, "dump") && has_line_break(&step))
		return error_set(ret_error, -EINVAL, "%s: give one line, without line breaks", step.verb);
	if (steps->nr_steps == CONTROL_MAX_STEPS)
		return error_set(ret_error, -EINVAL, "%s: at most %d commands at once", step.verb, CONTROL_MAX_STEPS);
	steps->steps[steps->nr_steps++] = step;
	return 0;
}

/* These two ask no daemon. */
static int perform_gcov(const struct control_step *step, const char *since)
{
	return gcov_dump(step->argument, step->nr_more ? step->more[0] : NULL, since);
}

static int perform_gprof(const struct control_step *step)
{
	return gprof_dump(step->argument, step->nr_more ? step->more[0] : NULL);
}

static int perform(const char *control_path, const struct control_step *step)
{
	char line[CONTROL_REQUEST_BYTES];
	size_t used;

	if (!strcmp(step->verb, "gprof"))
		return perform_gprof(step);
	if (!strcmp(step->verb, "gmon"))
		return gmon_dump(control_path);
	if (!strcmp(step->verb, "dump"))
		return control_client_dump(control_path, step->argument);
	used = (size_t)snprintf(line, sizeof(line), "%s%s%s", step->verb, step->argument ? " " : "",
				step->argument ? step->argument : "");
	for (size_t i = 0; i < step->nr_more && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", step->more[i]);
	if (used >= sizeof(line)) {
		message_error("%s: the argument is too long", step->verb);
		return 2;
	}
	return control_client_ask(control_path, line);
}

/*
 * Without arguments, kgmon prints running, off or not there; here the exit status shows it as well.
 */
static int show_state(const char *control_path)
{
	char answer[CONTROL_ANSWER_BYTES], other[CONTROL_PATH_BYTES + 16];
	struct trace_error error;

	if (control_ask(control_path, "status", -1, answer, &error)) {
		if (!control_path && control_other(other))
			message_note("another daemon runs: --control %s", other);
		puts("tracedaemon: not running");
		return 1;
	}
	puts(strstr(answer, ": halted,") ? "tracedaemon: halted" : "tracedaemon: recording");
	return 0;
}

/* --json: the status, and nothing else. */
static int run_json(const struct control_steps *steps)
{
	static const struct control_step status = {.verb = "status", .argument = "json"};

	for (size_t i = 0; i < steps->nr_steps; i++)
		if (strcmp(steps->steps[i].verb, status.verb)) {
			message_error("--json is for status; the answer of %s is text", steps->steps[i].verb);
			return 2;
		}
	return perform(steps->control_path, &status);
}

static bool has_step(const struct control_steps *steps, const char *verb)
{
	for (size_t i = 0; i < steps->nr_steps; i++)
		if (!strcmp(steps->steps[i].verb, verb))
			return true;
	return false;
}

static int run_steps(const struct control_steps *steps)
{
	int status = 0;

	if (steps->since && !has_step(steps, "gcov")) {
		message_error("--since is for gcov: tracectl gcov PID DIR --since EARLIER");
		return 2;
	}
	for (size_t i = 0; i < steps->nr_steps && !status; i++)
		status = strcmp(steps->steps[i].verb, "gcov") ? perform(steps->control_path, &steps->steps[i])
							      : perform_gcov(&steps->steps[i], steps->since);
	return status;
}

static int run(const struct option_program *program, const struct control_steps *steps)
{
	int status = 0;

	if (steps->help)
		option_help(stdout, program, true);
	else if (steps->version)
		printf("%s %s\n", program->name, program_version());
	else if (steps->json)
		status = run_json(steps);
	else if (!steps->nr_steps && !steps->since)
		status = show_state(steps->control_path);
	else
		status = run_steps(steps);
	return message_end(status);
}

int control_steps_main(const struct option_program *program, int argc, char **argv)
{
	struct control_steps steps = {.control_path = NULL};
	struct trace_error error;
	int err;

	std_fds_occupy();
	message_init(program->name, false);
	err = option_parse(program, &steps, argc, argv, &error);
	if (err && !steps.help && !steps.version) {
		message_error("%s", error.message);
		return 2;
	}
	return run(program, &steps);
}

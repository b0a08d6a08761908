/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracedaemon: see docs/man/tracedaemon.1. */
#include <stdio.h>

#include "control_client.h"
#include "file_caps.h"
#include "list_events.h"
#include "message.h"
#include "daemon_options.h"
#include "option_help.h"
#include "session.h"
#include "std_fds.h"
#include "version.h"

static int run(struct daemon_options *options)
{
	switch (options->action) {
	case ACTION_RECORD:
		return session_run(options);
	case ACTION_SHORT_HELP:
	case ACTION_HELP:
		option_help(stdout, &daemon_program, options->action == ACTION_HELP);
		return 0;
	case ACTION_VERSION:
		printf("tracedaemon %s\n", program_version());
		return 0;
	case ACTION_LIST:
		return list_run(options->list_target);
	default:
		if (options->tells_version)
			message_note("-V is -v, the state of the daemon, as ever; this is version %s (--version)",
				     program_version());
		return control_client_run(options);
	}
}

int main(int argc, char **argv)
{
	struct daemon_options options;
	struct trace_error error;

	std_fds_occupy();
	message_init("tracedaemon", false);
	if (options_parse(&options, argc, argv, &error)) {
		message_error("%s", error.message);
		return 2;
	}
	message_init("tracedaemon", options.session.quiet);
	if ((options.action == ACTION_RECORD || options.action == ACTION_LIST) &&
	    file_caps_restrict(&options.tracer, &error)) {
		message_error("%s", error.message);
		return 2;
	}
	return message_end(run(&options));
}

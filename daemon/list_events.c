/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "list_events.h"

#include <stdio.h>
#include <trace/probes.h>
#include <trace/reader.h>
#include <trace/tracer.h>

#include "message.h"
#include "select.h"
#include "user_list.h"

/* Printed after the list, so that its columns are the same on every kernel. */
static void list_missing(FILE *out)
{
	const char *reason;
	bool any = false;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		reason = tracer_unavailable(trace_catalogue_type(i)->id);
		if (!reason)
			continue;
		if (!any)
			fprintf(out, "\nNot on this machine:\n");
		any = true;
		fprintf(out, "  %-18s %s\n", trace_catalogue_type(i)->name, reason);
	}
}

static int list_target(const char *target)
{
	struct trace_error error;
	int result = trace_probes_list(target, stdout, &error);

	if (result >= 0)
		return 0;
	message_error("%s", error.message);
	return 1;
}

/* Without the fields, which --list 'ext4:*' shows. A user that may not see them gets none. */
static void list_tracepoints(void)
{
	struct trace_error error;

	puts("\nTracepoints of the kernel (-e SUBSYSTEM:NAME; their fields: tracedaemon --list 'SUBSYSTEM:*'):");
	if (trace_probes_list("tracepoint:", stdout, &error) < 0)
		printf("  %s\n", error.message);
}

int list_run(const char *target)
{
	if (target)
		return list_target(target);
	select_list(stdout);
	user_list(stdout);
	list_missing(stdout);
	list_tracepoints();
	puts("\nPlaces in programs (--probe): tracedaemon --list "
	     "usdt:FILE|usdt:PID|FILE:'FUNCTIONS'|kernel:'FUNCTIONS'");
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.c - checks of the state that all reports share. */
#include <errno.h>
#include "checked_memory.h"
#include "cut_file.h"
#include "report.h"

void report_check_memory(const struct report *report)
{
	if (report->analysis && trace_analysis_error(report->analysis, NULL) == -EBADMSG)
		cut_file_end();
	if ((report->analysis && trace_analysis_error(report->analysis, NULL) < 0) ||
	    (report->servers && trace_servers_error(report->servers, NULL) < 0) ||
	    (report->user && trace_user_events_error(report->user, NULL) < 0) ||
	    (report->profile && trace_profile_error(report->profile) < 0))
		memory_end();
}

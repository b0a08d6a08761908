/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* time_choice.c - the window of --from and --to. */
#include "complain.h"
#include "time_choice.h"

uint64_t time_of_second(const struct trace *trace, double seconds)
{
	return trace_get_info(trace)->complete_from_ns + (uint64_t)(seconds * 1e9);
}

int time_choice_check(const struct trace *trace, const struct time_choice *window)
{
	const struct trace_info *info = trace_get_info(trace);

	if (info->end_ns <= info->complete_from_ns ||
	    window->from_s * 1e9 <= (double)(info->end_ns - info->complete_from_ns))
		return 0;
	return complain(2, "--from is after the end of the trace, which is %.3f s long",
			(double)(info->end_ns - info->complete_from_ns) / 1e9);
}

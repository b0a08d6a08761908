/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pass_progress.c - how far a pass over the trace is: by the time of its events. */
#include <sys/stat.h>
#include <unistd.h>
#include "checked_memory.h"
#include "pass_progress.h"

#define EVENTS_PER_LOOK 1024u /* at the clock */

struct pass_progress {
	struct work_progress work;
	uint32_t nr_events;
};

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct pass_progress *progress = data;
	uint64_t start, end, now = trace_analysis_now(analysis);

	if (progress->nr_events++ % EVENTS_PER_LOOK)
		return;
	trace_analysis_window(analysis, &start, &end);
	work_progress_at(&progress->work, now - start, end - start);
}

void pass_progress_watch(struct trace_analysis *analysis, const char *what)
{
	static const uint32_t frequent[] = {TRACE_EV_sched_switch, TRACE_EV_sys_exit, TRACE_EV_trace_heartbeat,
					    TRACE_EV_USER};
	static struct pass_progress progress; /* of one pass at a time */
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	if (!progress_line_is_possible())
		return;
	for (size_t i = 0; i < sizeof(frequent) / sizeof(frequent[0]); i++)
		mask[frequent[i] / 64] |= 1ull << frequent[i] % 64;
	progress = (struct pass_progress){.work = work_progress_begin(what)};
	if (trace_analysis_on_event(analysis, mask, on_event, &progress) < 0)
		memory_end();
}

/*
 * No line beside a pipe, whose reader may write to the terminal, nor on a terminal that has the
 * output.
 */
struct work_progress pass_progress_of_file(int fd, const char *what)
{
	struct stat info;

	if (fstat(fd, &info) < 0 || (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) || isatty(fd))
		return (struct work_progress){0};
	return work_progress_begin(what);
}

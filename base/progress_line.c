/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* progress_line.c - how far long work is, on the last line of a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "clock_ns.h"
#include "progress_line.h"

#define SECOND_NS      1000000000ull
#define AFTER_MS       1000
#define REFRESH_NS     (SECOND_NS / 4)
#define ERASE	       "\r\033[K"
#define MAX_LINE_BYTES 256
#define FEW	       0.02 /* of the work */

static bool line_is_shown;

bool progress_line_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

/* One write for the whole line: other programs may write to the terminal, too. */
static void put(const char *text, size_t bytes)
{
	ssize_t written = write(STDERR_FILENO, text, bytes);

	(void)written; /* a line that cannot be shown is no failure of the work */
}

void progress_line_show(const char *text)
{
	static const char to_end[] = "\033[K"; /* erase the rest of a longer line */
	char line[1 + MAX_LINE_BYTES + sizeof(to_end)];
	size_t bytes = strnlen(text, MAX_LINE_BYTES);
	struct winsize size;

	/* a line wider than the terminal could not be erased again */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && bytes >= size.ws_col)
		bytes = size.ws_col - 1u;
	line[0] = '\r';
	memcpy(line + 1, text, bytes);
	memcpy(line + 1 + bytes, to_end, sizeof(to_end) - 1);
	put(line, 1 + bytes + sizeof(to_end) - 1);
	line_is_shown = true;
}

void progress_line_erase(void)
{
	if (line_is_shown)
		put(ERASE, sizeof(ERASE) - 1);
	line_is_shown = false;
}

uint64_t progress_line_after_ns(void)
{
	const char *after = getenv("TRACE_PROGRESS_MS");

	return (after && *after ? strtoul(after, NULL, 10) : AFTER_MS) * 1000000;
}

struct work_progress work_progress_begin(const char *what)
{
	struct work_progress progress = {.begin_ns = clock_monotonic_ns()};

	progress.what = progress_line_is_possible() ? what : NULL;
	progress.next_ns = progress.begin_ns + progress_line_after_ns();
	return progress;
}

static void add_time_left(char *text, size_t room, uint64_t seconds)
{
	if (seconds < 60)
		snprintf(text, room, ", %" PRIu64 " s left", seconds);
	else
		snprintf(text, room, ", %" PRIu64 " min %02" PRIu64 " s left", seconds / 60, seconds % 60);
}

void work_progress_at(struct work_progress *progress, uint64_t done, uint64_t of)
{
	char text[MAX_LINE_BYTES];
	double part = of ? (double)done / (double)of : 0;
	uint64_t now_ns;
	int used;

	if (!progress->what || !done || done > of)
		return;
	now_ns = clock_monotonic_ns();
	if (now_ns < progress->next_ns)
		return;
	progress->next_ns = now_ns + REFRESH_NS;
	used = snprintf(text, sizeof(text), "%s %.0f %%", progress->what, 100 * part);
	if (part >= FEW) /* the beginning of the work says little of the rest */
		add_time_left(text + used, sizeof(text) - (size_t)used,
			      (uint64_t)((double)(now_ns - progress->begin_ns) * (1 - part) / part / (double)SECOND_NS +
					 0.5));
	progress_line_show(text);
}

bool rate_meter_per_second(struct rate_meter *meter, uint64_t now_ns, uint64_t count, uint64_t *ret_rate)
{
	if (!meter->from.ns) {
		meter->from.ns = meter->next.ns = now_ns;
		meter->from.count = meter->next.count = count;
	}
	if (now_ns - meter->next.ns >= SECOND_NS) {
		meter->from = meter->next;
		meter->next.ns = now_ns;
		meter->next.count = count;
	}
	if (now_ns - meter->from.ns < SECOND_NS)
		return false;
	*ret_rate =
		(uint64_t)((double)(count - meter->from.count) * (double)SECOND_NS / (double)(now_ns - meter->from.ns));
	return true;
}

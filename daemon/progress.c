/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <trace/saturate.h>

#include "clock.h"
#include "message.h"
#include "format_text.h"
#include "progress_line.h"

#define PROGRESS_EVENTS_MIN 1000 /* minimum for showing bytes per event */

static uint64_t all_lost(const struct recording_status *status)
{
	return trace_add_saturated(status->lost, status->lost_write + status->not_understood + status->missed);
}

void progress_show(struct progress *progress, const struct recording_status *status)
{
	uint64_t now_ns = clock_now(), rate;
	char line[320];
	int used;

	used = snprintf(line, sizeof(line), "%s  %s, ", text_seconds(now_ns - status->start_ns).s,
			text_events(status->events).s);
	if (rate_meter_per_second(&progress->rate, now_ns, status->events, &rate))
		used += snprintf(line + used, sizeof(line) - (size_t)used, "%s/s, ", text_count(rate).s);
	used += snprintf(line + used, sizeof(line) - (size_t)used, "%s", text_bytes(status->file_bytes).s);
	if (all_lost(status))
		used += snprintf(line + used, sizeof(line) - (size_t)used, ", %s LOST%s",
				 text_count(all_lost(status)).s, number_claimed(status->claimed, true).s);
	if (progress->end_ns > now_ns)
		snprintf(line + used, sizeof(line) - (size_t)used, ", %s to go",
			 text_seconds(progress->end_ns - now_ns).s);
	progress_line_show(line);
}

void progress_show_kept(const struct keeper_status *status, uint64_t start_ns)
{
	uint64_t now_ns = clock_now(), since_ns = status->kept.since_ns;
	char line[256];

	snprintf(line, sizeof(line), "%s  the last %s in %s of memory, %s file%s saved",
		 text_seconds(now_ns - start_ns).s, text_seconds(now_ns > since_ns ? now_ns - since_ns : 0).s,
		 text_bytes(status->kept.bytes).s, text_count(status->nr_files).s, status->nr_files == 1 ? "" : "s");
	progress_line_show(line);
}

static void report_losses(const struct recording *recording, const struct recording_status *status, uint32_t nr_cpus)
{
	uint64_t lost, programs, others;

	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		lost = recording_lost_on_cpu(recording, cpu);
		if (lost)
			message_warning("CPU %u: %s lost, its buffers were full: record fewer events (-e), or use "
					"larger buffers (-b, -n)",
					cpu, text_events(lost).s);
	}
	recording_get_other_losses(recording, &programs, &others);
	if (programs)
		message_warning(
			"programs: %s lost, as they counted: their buffers were full: record fewer events (-e), "
			"use larger buffers (TRACER_BUFFERS), or let programs wait (--block-programs)",
			text_events(programs).s);
	if (others)
		message_warning("%s lost between buffer and trace: a program died while it wrote them, or damaged "
				"them, or the daemon had no time or memory to write them",
				text_events(others).s);
	if (status->missed)
		message_warning("%s missed: the kernel skipped BPF programs that were already running on the same CPU",
				text_events(status->missed).s);
	if (status->lost_write)
		message_warning("%s lost because they could not be written", text_events(status->lost_write).s);
	if (status->not_understood)
		message_warning("%s lost because a program's buffers contained invalid records",
				text_events(status->not_understood).s);
}

/* The file's header and texts take some KB. With few events they would dominate the number. */
static struct text bytes_per_event(const struct recording_status *status)
{
	struct text out = {""};

	if (status->events >= PROGRESS_EVENTS_MIN)
		snprintf(out.s, sizeof(out.s), " (%.1f B/event)", (double)status->file_bytes / (double)status->events);
	return out;
}

void progress_print_summary(const struct recording_status *status, const char *path, uint64_t elapsed_ns,
			    char text[static PROGRESS_SUMMARY_BYTES])
{
	struct text lost = text_count(all_lost(status));

	snprintf(text, PROGRESS_SUMMARY_BYTES, "%.300s: %s, %s%s, %s, %s lost%s", path, text_events(status->events).s,
		 text_bytes(status->file_bytes).s, bytes_per_event(status).s, text_seconds(elapsed_ns).s,
		 all_lost(status) ? lost.s : "nothing", number_claimed(status->claimed, true).s);
}

size_t progress_print_counts(const struct recording_status *status, char *text, size_t size)
{
	uint64_t lost = trace_add_saturated(status->lost, status->lost_write + status->not_understood);

	return (size_t)snprintf(text, size, "Events: %s recorded, %s lost%s, %s missed, %s filtered\n",
				text_count(status->events).s, text_count(lost).s,
				number_claimed(status->claimed, true).s, text_count(status->missed).s,
				text_count(status->filtered).s);
}

void progress_report(const struct recording *recording, const struct recording_status *status, const char *path,
		     uint64_t elapsed_ns, uint32_t nr_cpus)
{
	char summary[PROGRESS_SUMMARY_BYTES];

	report_losses(recording, status, nr_cpus);
	progress_print_summary(status, path, elapsed_ns, summary);
	message_note("%s", summary);
}

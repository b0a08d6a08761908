/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROGRESS_H
#define DAEMON_PROGRESS_H
/* progress.h - the status line of a running recording, and the summary at its end */
#include <stdint.h>

#include "keeper.h"
#include "progress_line.h"
#include "recording.h"

/** struct progress - @end_ns: when the recording will end; 0: not known. The rest is private */
struct progress {
	uint64_t end_ns;
	struct rate_meter rate;
};

/** progress_show() - replace the line on the terminal */
void progress_show(struct progress *progress, const struct recording_status *status);

/** progress_show_kept() - the same for a flight recorder with --watch, which began at @start_ns */
void progress_show_kept(const struct keeper_status *status, uint64_t start_ns);

#define PROGRESS_SUMMARY_BYTES 640

/**
 * progress_print_summary() - print in one line, without newline, what was recorded and lost
 * A very long @path is cut.
 */
void progress_print_summary(const struct recording_status *status, const char *path, uint64_t elapsed_ns,
			    char text[static PROGRESS_SUMMARY_BYTES]);

/**
 * progress_print_counts() - print the numbers of events in one line, for tracectl status
 * Returns the length of the line, also if @size bytes are too few.
 */
size_t progress_print_counts(const struct recording_status *status, char *text, size_t size);

/**
 * progress_report() - print the summary, and advice about the losses; @nr_cpus: highest CPU number
 * + 1
 */
void progress_report(const struct recording *recording, const struct recording_status *status, const char *path,
		     uint64_t elapsed_ns, uint32_t nr_cpus);
#endif

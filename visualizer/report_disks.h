/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_DISKS_H
#define VISUALIZER_REPORT_DISKS_H
/* report_disks.h - figures of disks. */
#include <trace/analysis.h>
#include <trace/reader.h>
#include "json.h"
#include "text_output.h"
#include "time_choice.h"

struct disk_figures;
/**
 * disk_figures_new() - before the pass: follow the requests of block devices
 * @window: a request counts, with its whole time, if it completes in it
 */
struct disk_figures *disk_figures_new(const struct trace *trace, struct trace_analysis *analysis,
				      const struct time_window *window);
struct disk_figures *disk_figures_free(struct disk_figures *disks); /* NULL is fine; returns NULL */
/** report_disks() - one line for each disk */
void report_disks(const struct text_output *output, const struct disk_figures *disks);
/** json_disks() - the figures of disks; @disks: NULL: an empty list */
void json_disks(struct json *json, const struct disk_figures *disks);
#endif

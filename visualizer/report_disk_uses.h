/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_DISK_USES_H
#define VISUALIZER_REPORT_DISK_USES_H
/* report_disk_uses.h - the processes whose requests the disks served. */
#include "json.h"
#include "report.h"

/** report_disk_uses() - a table of the machine */
void report_disk_uses(const struct report *report);
/**
 * disk_use_lines() - for the page of @process with figures @f: the other processes that used the
 * disks for which it waited
 */
void disk_use_lines(const struct report *report, const struct trace_process *process, const struct trace_figures *f);
/**
 * disk_users_add() - a sentence about the other processes that used the disk of the file @path
 * while the process of @thread waited for it; nothing if none has much of it
 */
void disk_users_add(struct string *s, const struct report *report, const struct trace_thread *thread, const char *path);
void json_disk_uses(struct json *json, const struct report *report);
#endif

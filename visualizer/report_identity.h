/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_IDENTITY_H
#define VISUALIZER_REPORT_IDENTITY_H
/* report_identity.h - the users, groups, parents and names that a process had one after another. */
#include "report.h"

/** report_identities() - lines on the page of @process; none if it was the same all the time */
void report_identities(const struct report *report, const struct trace_process *process);
#endif

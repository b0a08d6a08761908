/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_START_H
#define ANALYZER_STATE_START_H
/* state_start.h - the state before the first event */

struct trace_analysis;
struct trace_error;

int start_load(struct trace_analysis *a, struct trace_error *ret_error);
#endif

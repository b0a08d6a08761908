/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_CHECK_H
#define ANALYZER_WAIT_CHECK_H
/* wait_check.h - checks that a process named by a wait can have ended it: see wait_check.c */
struct pending;
struct trace_analysis;
struct trace_error;
struct trace_thread;
struct wait_cause;

/** check_wait() - check the cause @v of @pending, a wait of @thread; its call is its frame */
void check_wait(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		const struct wait_cause *v);
/** check_result() - 0, or -EBADMSG and the first violation */
int check_result(const struct trace_analysis *a, struct trace_error *ret_error);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_JOIN_ERROR_H
#define DAEMON_JOIN_ERROR_H
/*
 * join_error.h - programs that cannot join the recording, for example because another daemon has
 * them. No ring counts their events, so the trace must say that they are missing.
 */
#include <stdbool.h>
#include <stdint.h>
#include "error_set.h"

/**
 * struct join_error - why programs cannot join
 * @why: the reason; code 0: they always could
 * @until_ns: when they could join again; 0: not yet
 * @others_recorded: another daemon had some programs
 * @wanted: events of programs are or were selected; otherwise nothing is reported
 */
struct join_error {
	struct trace_error why;
	uint64_t until_ns;
	bool others_recorded;
	bool wanted;
};

/**
 * join_error_begin() - programs cannot join from now on. @waits: they can when another daemon ends
 */
void join_error_begin(struct join_error *error, bool waits, const struct trace_error *why);
/** join_error_end() - programs can join again */
void join_error_end(struct join_error *error);
/** join_error_now() - are programs unable to join now? */
bool join_error_now(const struct join_error *error);
/**
 * join_error_describe() - report programs that could not join a trace that begins at @start_ns
 * @any_joined: some programs joined all the same. @describe: called with one text, or not at all
 */
void join_error_describe(const struct join_error *error, uint64_t start_ns, bool any_joined,
			 void (*describe)(void *context, const char *text), void *context);
#endif

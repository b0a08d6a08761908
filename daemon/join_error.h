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
 * struct user_barred - why programs cannot join
 * @why: the reason; code 0: they always could
 * @until_ns: when they could join again; 0: not yet
 * @others_had: another daemon had some programs
 * @wanted: events of programs are or were selected; otherwise nothing is reported
 */
struct user_barred {
	struct trace_error why;
	uint64_t until_ns;
	bool others_had;
	bool wanted;
};

/**
 * user_barred_begin() - programs cannot join from now on. @waits: they can when another daemon ends
 */
void user_barred_begin(struct user_barred *barred, bool waits, const struct trace_error *why);
/** user_barred_end() - programs can join again */
void user_barred_end(struct user_barred *barred);
/** user_barred_now() - are programs unable to join now? */
bool user_barred_now(const struct user_barred *barred);
/**
 * user_barred_tell() - report programs that could not join a trace that begins at @start_ns
 * @any_joined: some programs joined all the same. @tell: called with one text, or not at all
 */
void user_barred_tell(const struct user_barred *barred, uint64_t start_ns, bool any_joined, void (*tell)(void *context, const char *text), void *context);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_JOIN_ERROR_H
#define DAEMON_JOIN_ERROR_H
/* join_error.h - programs that could not join, because another daemon had them: no books of ours know what they did, so that the trace has to say it. */
#include <stdbool.h>
#include <stdint.h>
#include "error_set.h"

/**
 * struct user_barred - @why: programs could not join, code 0: they always could; until @until_ns, 0: to the end. @others_had: another daemon had some
 * @wanted: some of their events were chosen, at some time; else nobody is told
 */
struct user_barred {
	struct trace_error why;
	uint64_t until_ns;
	bool others_had;
	bool wanted;
};

/** user_barred_begin() - from now on none can join. @waits: until another daemon ends, whose end is waited for */
void user_barred_begin(struct user_barred *barred, bool waits, const struct trace_error *why);
/** user_barred_end() - now they can */
void user_barred_end(struct user_barred *barred);
/** user_barred_now() - can none join now? */
bool user_barred_now(const struct user_barred *barred);
/** user_barred_tell() - for a trace that begins at @start_ns. @any_joined: some have, all the same. @tell: is given one text, or none */
void user_barred_tell(const struct user_barred *barred, uint64_t start_ns, bool any_joined, void (*tell)(void *context, const char *text), void *context);
#endif

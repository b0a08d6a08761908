/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_WITHIN_H
#define VISUALIZER_PROFILE_WITHIN_H
/*
 * profile_within.h - the time to which a profile is restricted: of a scope or request, for a client
 * of servers, or along the critical path
 *
 * It is found in a pass of its own, before that of the profile.
 */
#include <trace/profile.h>
#include "report.h"

/** enum within_kind - what the profile is of */
enum within_kind { WITHIN_SCOPE, WITHIN_CLIENT, WITHIN_PATH };

/**
 * struct profile_within - @spans: owned. @name: of the scope, client, or of the thread of the path
 * @number: of instances of a scope, of requests of a client, or of segments of a path
 * @ns: the sum of the spans: the bill of the client, or the length of the path
 */
struct profile_within {
	enum within_kind kind;
	struct trace_profile_span *spans;
	size_t nr, room;
	char name[256];
	uint64_t number;
	uint64_t ns;
};

/** profile_is_within() - true if the options restrict the profile */
bool profile_is_within(const struct visualizer_options *options);
/**
 * profile_within_new() - find the spans that the options choose
 * Returns 0 with @ret_within, or 1 or 2 after a message: there is no such scope ...
 */
int profile_within_new(const struct report *report, struct profile_within **ret_within);
struct profile_within *profile_within_free(struct profile_within *within); /* NULL is fine; returns NULL */
/** profile_within_word() - "scope", "client", "path" */
static inline const char *profile_within_word(enum within_kind kind)
{
	return kind == WITHIN_SCOPE ? "scope" : kind == WITHIN_CLIENT ? "client" : "path";
}
#endif

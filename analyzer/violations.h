/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_VIOLATIONS_H
#define ANALYZER_VIOLATIONS_H
/*
 * violations.h - rules that hold in every trace without losses: the first event that breaks one is
 * kept for trace_analysis_verify()
 */
#include <inttypes.h>
#include <stdint.h>

struct trace_analysis;
struct trace_error;

struct violations {
	uint64_t nr;
	uint64_t ns;	/* of the first one */
	char text[192]; /* of the first one */
};

/** violation_note() - an event at @ns breaks a rule; @format: which event, and which rule */
void violation_note(struct trace_analysis *a, uint64_t ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** violations_verify() - 0, or -EBADMSG with the first violation and its time */
int violations_verify(const struct trace_analysis *a, struct trace_error *ret_error);
#endif

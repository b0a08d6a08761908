/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_GAPS_H
#define ANALYZER_SERVERS_SERVERS_GAPS_H
/* servers_gaps.h - what the bills of servers drop at a gap in the trace */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/events.h>

struct trace_servers;
struct trace_event;
struct trace_gap;

struct servers_gaps {
	uint64_t until_ns; /* 0: not in a gap; else the gap ends before this time */
	uint64_t next_ns;  /* the beginning of the next gap in the kernel's events; UINT64_MAX: none */
	uint64_t next_end_ns;
	size_t next;	       /* the index of the gap after that */
	uint64_t next_user_ns; /* the beginning of the next gap in a program's events; UINT64_MAX: none */
	size_t next_user;      /* the index of the next known gap in a program's events, */
	size_t next_late;      /* and of the next late gap */
	/* the needed event types that are recorded now; valid once @masked */
	uint64_t recorded[TRACE_MASK_WORDS];
	bool masked; /* a trace_mask has come */
};

void gaps_prepare(struct trace_servers *s);
/**
 * gaps_pass() - handle gaps in the kernel's events that begin or end before an event at @ns
 *
 * To be called if @ns is next_ns or later, or if until_ns is not 0.
 */
void gaps_pass(struct trace_servers *s, uint64_t ns);
/** gaps_user_pass() - the same for programs' events, if @ns is later than next_user_ns */
void gaps_user_pass(struct trace_servers *s, uint64_t ns);
/** gaps_damage() - a late gap: the chunk could not be read when its turn came */
void gaps_damage(struct trace_servers *s, const struct trace_gap *gap);
/**
 * gaps_lost() - trace_lost, at the end of its gap
 *
 * Requests that the program's events in other streams began inside the gap are dropped, too.
 */
void gaps_lost(struct trace_servers *s, const struct trace_event *event);
/**
 * gaps_mask() - trace_mask: a change of the recorded event types is a gap
 *
 * The first trace_mask of a trace is not: it holds from the beginning on.
 */
void gaps_mask(struct trace_servers *s, const struct trace_event *event);
#endif

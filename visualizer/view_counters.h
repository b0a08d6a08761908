/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_COUNTERS_H
#define VISUALIZER_VIEW_COUNTERS_H
/*
 * view_counters.h - numbers over time: use of CPUs, threads that wait for one, bytes of files, lost
 * events, and the numeric fields of programs' events
 */
#include "json.h"
#include "view_question.h"
#include "view_session.h"

enum counter_kind {
	COUNTER_SHARE,	/* of the time of a CPU: 0 or 1 at each instant */
	COUNTER_LEVEL,	/* a number at each instant */
	COUNTER_AMOUNT, /* each value adds to a sum: per second */
	COUNTER_VALUE,	/* each event has one */
};
enum counter_number { NUMBER_SIGNED, NUMBER_UNSIGNED, NUMBER_FLOAT, NR_COUNTER_NUMBERS };

/* struct counter_value - @bits: a number as counter.number says. LEVEL: from @ns on */
struct counter_value {
	uint64_t ns;
	uint64_t bits;
};
/**
 * struct view_counter - @name: owned; of fields "provider:event.field"
 * @values: owned; in order of time. SHARE, and losses, have none: they are known otherwise
 * @changes: owned; of LEVEL, until it is asked for: ns * 2, and 1 more where the number falls by
 *	one. The others rise by one
 * @cpu: of SHARE
 */
struct view_counter {
	char *name;
	enum counter_kind kind;
	enum counter_number number;
	uint32_t cpu;
	struct counter_value *values;
	uint64_t *changes;
	size_t nr, room; /* of @values, or of @changes */
	bool is_cut;	 /* it has more values than are kept, so it has none */
	bool is_lost;
};
struct view_counter_list;

/** view_counters_begin() - collect them in the pass of @analysis; once, before it */
void view_counters_begin(struct view_session *session, struct trace_analysis *analysis);
/** view_counters_stop() - forget all of them, and collect no more */
void view_counters_stop(struct view_session *session);
void view_counters_free(struct view_session *session);
/**
 * view_counter_at() - NULL past the last. Before the end of the pass there are only those of SHARE
 */
const struct view_counter *view_counter_at(struct view_session *session, size_t idx);
/** view_counters() - answer "counters" */
void view_counters(struct view_session *session, struct view_question *question, struct json *json);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GMON_COUNTS_H
#define DAEMON_GMON_COUNTS_H
/*
 * gmon_counts.h - the counts that a daemon gives kgmon: lines of a kind, a key and a number
 *
 *	period NS		the shortest mean period of the samples
 *	mixed 0|1		there were other periods, too
 *	events 0|1		samples are of an event, and a period is no time
 *	not_counted N
 *	sample ADDRESS N SUM	SUM: of the periods
 *	call NAME N		also call32
 *	irq ADDRESS N		also tasklet, timer, hrtimer, work: the function's address
 *	softirq NUMBER N	also vector
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/counts.h>
#include <trace/error.h>

/** struct gmon_count - @name: of a call; owned */
struct gmon_count {
	enum tracer_count_kind kind;
	char *name;
	uint64_t key, count, sum;
};

struct gmon_counts {
	struct gmon_count *counts; /* owned */
	size_t nr, room;
	uint64_t period, not_counted;
	bool is_mixed, by_event;
};

/** gmon_counts_read() - read all lines of @fd. Returns 0; -ENOMEM; -EBADMSG: another version's */
int gmon_counts_read(struct gmon_counts *counts, int fd, struct trace_error *ret_error);
void gmon_counts_free(struct gmon_counts *counts);
#endif

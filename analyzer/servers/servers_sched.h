/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SCHED_H
#define ANALYZER_SERVERS_SERVERS_SCHED_H
/* servers_sched.h - the events of the scheduler */

struct trace_servers;
struct trace_event;

void sched_on_switch(struct trace_servers *s, const struct trace_event *event);
void sched_on_waking(struct trace_servers *s, const struct trace_event *event);
void sched_on_fork(struct trace_servers *s, const struct trace_event *event);
void sched_on_exec(struct trace_servers *s, const struct trace_event *event);
void sched_on_wakeup_new(struct trace_servers *s, const struct trace_event *event);
#endif

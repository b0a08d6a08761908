/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_EVENT_JSON_H
#define VISUALIZER_EVENT_JSON_H
/* event_json.h - events as JSON, one object a line: -d --json */
#include <stdint.h>
#include <stdio.h>
#include <trace/reader.h>

struct event_json;

/**
 * event_json_new() - to write events of @trace to @out
 * @from_ns: of the first event; 0: the first of the trace
 */
struct event_json *event_json_new(const struct trace *trace, FILE *out, uint64_t from_ns);
/** event_json_put() - write @event, which thread @tid made; UINT32_MAX: not known */
void event_json_put(struct event_json *json, const struct trace_event *event, uint32_t tid);
/** event_json_note() - @event is not written, but may name a thread */
void event_json_note(struct event_json *json, const struct trace_event *event);
/** event_json_free() - write the rest; NULL is fine; returns NULL */
struct event_json *event_json_free(struct event_json *json);
#endif

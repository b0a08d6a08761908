/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slowest_json.c - the report of --slowest as JSON. Keys may be added, but never renamed. */
#include "json.h"
#include "slowest_json.h"
#include "wait_json.h"

static const char *const doubt_words[NR_DOUBTS] = {
	[DOUBT_NONE] = "",
	[DOUBT_BEGIN] = "begin not recorded",
	[DOUBT_END] = "had not ended",
	[DOUBT_BOTH] = "longer than the recording",
	[DOUBT_LOST_END] = "end not recorded",
	[DOUBT_LOSS] = "events lost",
};

static void put_instance(const struct slowest *s, struct json *json, const struct instance_parts *parts)
{
	const struct instance *instance = parts->instance;
	const struct trace_process *process = instance_process(s, instance);

	putc('\n', json->out);
	json_open(json, NULL, "{");
	json_u64(json, "begin_ns", instance->begin_ns);
	json_u64(json, "end_ns", instance->end_ns);
	json_u64(json, "least_ns", instance->least_ns);
	json_bool(json, "exact", instance->doubt == DOUBT_NONE);
	json_text(json, "doubt", doubt_words[instance->doubt]);
	json_u64(json, "pid", instance_pid(s, instance));
	json_text(json, "comm", process ? trace_process_comm(process) : "");
	json_text(json, "title", process ? trace_process_title(process) : "");
	json_u64(json, "tid", instance_tid(s, instance));
	json_text(json, "thread", instance->thread ? trace_thread_comm(instance->thread) : "");
	json_u64(json, "cpu_ns", parts->cpu_ns);
	json_u64(json, "interrupted_ns", parts->interrupted_ns);
	json_u64(json, "wait_cpu_ns", parts->wait_cpu_ns);
	json_u64(json, "blocked_ns", parts->blocked_ns);
	json_u64(json, "queued_ns", parts->queued_ns);
	json_u64(json, "unseen_ns", parts->unseen_ns);
	json_open(json, "waits", "[");
	for (size_t i = 0; i < parts->nr_waits; i++)
		json_wait(json, &parts->waits[i]);
	json_close(json, "]");
	json_close(json, "}");
}

static void put_numbers(struct json *json, const struct instance_numbers *n)
{
	size_t doubtful = 0;

	for (size_t i = DOUBT_NONE + 1; i < NR_DOUBTS; i++)
		doubtful += n->nr_doubtful[i];
	json_u64(json, "count", n->nr);
	json_u64(json, "sum_ns", n->sum_ns);
	json_known(json, "min_ns", n->min_ns, n->nr);
	json_known(json, "p50_ns", n->p50_ns, n->nr);
	json_known(json, "p99_ns", n->p99_ns, n->nr);
	json_known(json, "max_ns", n->max_ns, n->nr);
	json_u64(json, "doubtful", doubtful);
}

static uint64_t within(uint64_t ns, uint64_t start, uint64_t end)
{
	return ns < start ? start : ns > end ? end : ns;
}

void slowest_json(const struct report *report, const struct slowest *s, const struct slowest_parts *parts,
		  const char *name)
{
	struct json json_of_out = {.out = report->output.out, .first = true}, *json = &json_of_out;
	uint64_t start, end;

	trace_analysis_window(report->analysis, &start, &end);
	json_open(json, NULL, "{");
	json_text(json, "schema", "trace-slowest/1");
	json_text(json, "file", trace_get_info(report->trace)->file);
	json_text(json, "kind", instance_kind_word(s->kind));
	json_text(json, "name", name);
	json_u64(json, "start_ns", start);
	json_u64(json, "from_ns", within(report->window.has_from ? report->window.from_ns : start, start, end));
	json_u64(json, "to_ns", within(report->window.has_to ? report->window.to_ns : end, start, end));
	put_numbers(json, &s->numbers);
	json_open(json, "instances", "[");
	for (size_t i = 0; i < parts->nr; i++)
		put_instance(s, json, &parts->at[i]);
	json_close(json, "]");
	json_close(json, "}\n");
}

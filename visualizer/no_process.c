/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_process.c - the message if --pid, --comm and --cgroup choose no process of the trace. */
#include <string.h>
#include "no_process.h"
#include "process_choice.h"
#include "recorded.h"
#include "report_user.h"
#include "similar_task.h"
#include "value_text.h"

#define NAME_BYTES 256

/*
 * The process of thread @tid, because users may give a thread id, as for lists. NULL if @tid is a
 * process id, or unknown.
 */
static const struct trace_process *process_of_thread(const struct trace_analysis *analysis, int64_t tid)
{
	const struct trace_process *found = NULL;

	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);

		if (trace_process_pid(process) == tid)
			return NULL;
		for (const struct trace_thread *thread = trace_next_thread(process, NULL); thread;
		     thread = trace_next_thread(process, thread))
			if (trace_thread_tid(thread) == tid)
				found = process;
	}
	return found;
}

static void add_chosen(struct string *s, const struct report *report)
{
	char name[NAME_BYTES];
	const struct visualizer_options *options = report->options;
	const char *wanted = options->processes.comm ? options->processes.comm : options->processes.thread;
	const char *near = wanted ? similar_task(report->analysis, wanted) : NULL;
	const struct trace_process *process = options->processes.pid >= 0
						      ? process_of_thread(report->analysis, options->processes.pid)
						      : NULL;

	if (options->processes.pid >= 0)
		string_addf(s, " number %lld,", (long long)options->processes.pid);
	if (process)
		string_addf(s, " which is a thread of process %u,", trace_process_pid(process));
	if (options->processes.tid >= 0)
		string_addf(s, "%s the one with thread %lld,", options->processes.pid >= 0 ? " and" : "",
			    (long long)options->processes.tid);
	if (options->processes.thread)
		string_addf(s, "%s one with a thread called %s,", options->processes.pid >= 0 ? " and" : "",
			    text_name(options->processes.thread, name, sizeof(name)));
	if (options->processes.comm) {
		string_add(s, options->processes.pid >= 0 ? " and called " : " called ");
		string_add(s, text_name(options->processes.comm, name, sizeof(name)));
		string_add(s, ",");
	}
	if (options->processes.cgroup) {
		string_add(s, options->processes.pid >= 0 || options->processes.comm ? " and in the control group "
										     : " in the control group ");
		string_add(s, text_name(options->processes.cgroup, name, sizeof(name)));
		string_add(s, ",");
	}
	s->bytes[s->len - 1] = ';';
	if (near)
		string_addf(s, " did you mean %s?", text_name(near, name, sizeof(name)));
	string_addf(s, " %sithout --pid, --tid, --comm and --cgroup all are listed", near ? "W" : "w");
}

static bool finds_any(const struct report *report)
{
	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		return !report->user || report_user_has_any(report);
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (process_is_chosen(&report->options->processes, process) && trace_nr_threads(process))
			return true;
	}
	return false;
}

bool report_finds_no_process(const struct report *sides, int nr_sides)
{
	const struct visualizer_options *options = sides[0].options;
	struct string s = {0};

	if (!has_process_choice(&options->processes))
		return false;
	for (int side = 0; side < nr_sides; side++)
		if (finds_any(&sides[side]))
			return false;
	string_add(&s, "tracevisualizer: no ");
	string_add(&s, is_left_out(sides[0].trace, TRACE_LEFT_OUT_KERNEL) ? "program that has events here is"
		       : nr_sides > 1					  ? "process of either trace is"
									  : "process of this trace is");
	add_chosen(&s, &sides[0]);
	fprintf(stderr, "%s\n", string_text(&s));
	string_free(&s);
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest_cause.c - what the longest instances depended on.
 *
 * The critical path of the thread from begin to end of an instance has what the books of the thread
 * do not: which thread had the CPU that it waited for, and what the threads did that it waited for.
 * A request of several threads has several paths, so it has no sentence.
 */
#include <errno.h>
#include <glib.h>
#include "path_tree.h"
#include "slowest_cause.h"
#include "value_text.h"
#include "verdict.h"
#include "wait_text.h"

#define TEXT_BYTES 512

/* NULL: no thread is known, several threads had it, or the history gave up. */
static struct trace_critical_path *path_of(const struct report *report, const struct slowest *slowest,
					   const struct instance *instance)
{
	const struct trace_span_piece *pieces;
	struct trace_span_piece one;
	struct trace_error error = {0};
	struct trace_critical_path *path;

	if (!report->history || instance_pieces(slowest, instance, &one, &pieces) != 1 || !pieces->thread)
		return NULL;
	path = trace_critical_path_new(report->history, pieces->thread, pieces->from_ns, pieces->to_ns, &error);
	if (!path && error.code == -ENOMEM)
		memory_end();
	return path;
}

void slowest_verdict_add(struct string *s, const struct report *report, const struct slowest *slowest,
			 const struct instance_parts *parts)
{
	struct trace_critical_path *path = path_of(report, slowest, parts->instance);
	struct path_tree tree;

	if (!path)
		return;
	tree = path_tree_new(path);
	verdict_add(s, report, &tree, NULL);
	path_tree_clear(&tree);
	trace_critical_path_free(path);
}

/* "a CPU", with the process that had it for the longest part of the wait */
static void add_cpu(struct string *s, const struct report *report, const struct slowest *slowest,
		    const struct instance_parts *parts)
{
	struct trace_critical_path *path = path_of(report, slowest, parts->instance);
	const struct path_wait *longest = NULL;
	struct path_tree tree = {0};

	if (path)
		tree = path_tree_new(path);
	for (size_t i = 0; i < tree.nr_waits && !longest; i++)
		if (tree.waits[i].link == 0 && tree.waits[i].place == PLACE_WAIT_CPU)
			longest = &tree.waits[i];
	if (longest)
		verdict_wait_text(report, longest, s);
	else
		string_add(s, "a CPU");
	if (longest && longest->ns < parts->wait_cpu_ns - longest->ns)
		string_add(s, ", and others");
	path_tree_clear(&tree);
	trace_critical_path_free(path);
	g_strdelimit(string_text(s), UNBROKEN_BLANK, ' ');
}

void slowest_main_wait_add(struct string *s, const struct report *report, const struct slowest *slowest,
			   const struct instance_parts *parts)
{
	bool is_cpu = parts->wait_cpu_ns && (!parts->nr_waits || parts->wait_cpu_ns > parts->waits[0].ns);
	char wait[TEXT_BYTES];
	struct value_text ns;

	if (!is_cpu && !parts->nr_waits)
		return;
	string_addf(s, "%s ", text_ns(&report->output, is_cpu ? parts->wait_cpu_ns : parts->waits[0].ns, &ns));
	if (is_cpu)
		add_cpu(s, report, slowest, parts);
	else
		string_add(s, text_wait(report->analysis, &parts->waits[0], instance_pid(slowest, parts->instance),
					wait, sizeof(wait)));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * saved_pressure.c - a trace that the kernel's pressure saved: see saved_pressure.h
 *
 * The kernel says that some tasks waited too long for a resource, and not which. The figures of all
 * threads tell the ones that waited for it longest in the whole trace; of these the path in the
 * time of the trigger decides.
 */
#include <stdlib.h>
#include <string.h>
#include "answer_path.h"
#include "checked_figures.h"
#include "path_tree.h"
#include "saved_pressure.h"
#include "value_text.h"
#include "verdict.h"

#define VICTIMS 8

/* struct victim - a thread, and how long it waited for the resource */
struct victim {
	const struct trace_thread *thread;
	uint64_t ns;
};

/* struct resource - @key: in the words of the trigger; @name: in the sentence */
struct resource {
	const char *key, *name;
	enum path_place place;
};

static const struct resource *resource_of(const char *text)
{
	static const struct resource resources[] = {{"(psi:io", "files", PLACE_BLOCKED + TRACE_WAIT_FILE},
						    {"(psi:memory", "memory", PLACE_BLOCKED + TRACE_WAIT_MEMORY},
						    {"(psi:cpu", "a CPU", PLACE_WAIT_CPU}};

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		if (strstr(text, resources[i].key))
			return &resources[i];
	return NULL;
}

static uint64_t waited_ns(const struct report *report, const struct trace_thread *thread, enum path_place place)
{
	struct trace_figures *f = checked_figures(trace_thread_figures(report->analysis, thread));
	uint64_t ns = place == PLACE_WAIT_CPU ? f->wait_cpu_ns : 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (place == (enum path_place)(PLACE_BLOCKED + f->waits[i].kind))
			ns += f->waits[i].ns;
	trace_figures_free(f);
	return ns;
}

/* Keeps the longest first. */
static void take(struct victim *list, struct victim victim)
{
	for (size_t i = 0; i < VICTIMS && victim.ns; i++)
		if (victim.ns > list[i].ns) {
			struct victim next = list[i];

			list[i] = victim;
			victim = next;
		}
}

/* The recorder and the threads of the kernel wait because of the others. */
static void find(const struct report *report, const struct process_row *rows, size_t nr, enum path_place place,
		 struct victim *list)
{
	for (size_t i = 0; i < nr; i++) {
		const struct trace_process *process = rows[i].process;

		if (trace_process_is_kernel(process) || strcmp(trace_process_comm(process), "tracedaemon") == 0)
			continue;
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
			take(list, (struct victim){thread, waited_ns(report, thread, place)});
	}
}

static uint64_t on_path_ns(const struct trace_critical_path *path, enum path_place place)
{
	struct path_tree tree = path_tree_new(path);
	uint64_t ns = tree.links[0].places[place];

	path_tree_clear(&tree);
	return ns;
}

static void add_sentence(struct string *s, const struct report *report, const struct trace_thread *thread,
			 const struct resource *resource, uint64_t ns)
{
	struct value_text time;

	verdict_thread_text(thread, s);
	string_addf(s, " waited longest for %s then: %s.", resource->name, text_ns(&report->output, ns, &time));
}

struct trace_critical_path *saved_pressure_path(const struct report *report, const struct process_row *rows, size_t nr,
						const struct saved_for *saved, struct string *s)
{
	const struct resource *resource = resource_of(saved->text);
	struct victim list[VICTIMS] = {0};
	struct trace_critical_path *best = NULL;
	uint64_t most_ns = 0;

	if (!resource)
		return NULL;
	find(report, rows, nr, resource->place, list);
	for (size_t i = 0; i < VICTIMS && list[i].thread; i++) {
		uint64_t from = saved->begin_ns == saved->end_ns ? 0 : saved->begin_ns;
		struct trace_critical_path *path = answer_path_of(report, list[i].thread, from, saved->end_ns);
		uint64_t ns = path ? on_path_ns(path, resource->place) : 0;

		if (ns > most_ns) {
			trace_critical_path_free(best);
			best = path;
			most_ns = ns;
		} else {
			trace_critical_path_free(path);
		}
	}
	if (best)
		add_sentence(s, report, trace_critical_path_thread(best), resource, most_ns);
	return best;
}

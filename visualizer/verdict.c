/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdict.c - the words for a critical path.
 *
 * The sentence follows the greatest part: from the chosen thread to the program that it waited for
 * the longest, to what that one waited for the longest, until a program waited for nothing that
 * another one did: it ran, slept, or waited for a device, a host or a CPU. A part that is not all
 * of the time of its link has its share, so that the sentence does not say more than the path.
 */
#include <stdlib.h>
#include <string.h>
#include "losses.h"
#include "only_client.h"
#include "text_output.h"
#include "value_text.h"
#include "wait_places.h"
#include "verdict.h"
#include "wait_text.h"

#define NAME_BYTES    256
#define NS_PER_SECOND 1000000000u
#define NEARLY_ALL    95 /* percent: needs no share of its own */
#define NAMED_ALONE   90 /* percent: the others of a name are not told */
#define SECOND_MATTER 10 /* percent: the second part of the chosen thread is named, too */
#define MAX_LINKS     6	 /* in the sentence */

/* struct part - what most of a link's time went to: a link below, a CPU, or a place */
struct part {
	size_t below; /* 0: none */
	bool on_cpu;
	enum path_place place;
	uint64_t ns;
};

static const char *const blocked_words[TRACE_NR_WAIT_KINDS] = {[TRACE_WAIT_FILE] = "waiting for files",
							       [TRACE_WAIT_PROCESS] = "waiting for processes",
							       [TRACE_WAIT_NETWORK] = "waiting for the network",
							       [TRACE_WAIT_TIMEOUT] = "sleeping, timeouts",
							       [TRACE_WAIT_DEVICE] = "waiting for devices",
							       [TRACE_WAIT_MEMORY] = "waiting for memory",
							       [TRACE_WAIT_STOPPED] = "stopped",
							       [TRACE_WAIT_OTHER] = "blocked in system calls",
							       [TRACE_WAIT_UNKNOWN] = "unknown",
							       [TRACE_WAIT_KERNEL] = "waiting for the kernel",
							       [TRACE_WAIT_QUOTA] = "out of CPU quota"};
_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");

const char *verdict_place(enum path_place place)
{
	static const char *const words[PLACE_BLOCKED] = {[PLACE_OWN_CODE] = "own code",
							 [PLACE_KERNEL] = "kernel",
							 [PLACE_CPU] = "on a CPU",
							 [PLACE_INTERRUPTED] = "interrupted",
							 [PLACE_WAIT_CPU] = "waiting for a CPU"};

	return place < PLACE_BLOCKED ? words[place] : blocked_words[place - PLACE_BLOCKED];
}

/* ---- names ---- */

/* Whole: the writer of the sentence cuts names, if a terminal has no room for them. */
static void add_name(struct string *s, const char *name)
{
	size_t size = 4 * strlen(name) + 1; /* four characters for a byte that is none */
	char *buffer = memory_take(size, 1);

	string_add(s, text_name(name, buffer, size));
	free(buffer);
}

/* Several processes of one name: "postgres processes" */
static void add_processes(struct string *s, const char *name)
{
	if (*name) {
		add_name(s, name);
		string_add(s, " processes");
	} else {
		string_add(s, "processes without a name");
	}
}

static void add_process(struct string *s, const struct trace_process *process)
{
	if (*trace_process_comm(process))
		add_name(s, trace_process_title(process));
	else
		string_add(s, "process");
	string_addf(s, UNBROKEN_BLANK "%u", trace_process_pid(process));
}

void verdict_thread_text(const struct trace_thread *thread, struct string *s)
{
	const struct trace_process *process = trace_thread_process(thread);
	const char *comm = trace_process_comm(process), *own = trace_thread_comm(thread);

	add_process(s, process);
	if (trace_thread_tid(thread) == trace_process_pid(process))
		return;
	string_add(s, " thread" UNBROKEN_BLANK);
	add_name(s, strcmp(comm, own) == 0 ? "" : own);
	string_addf(s, "%s%u", *own && strcmp(comm, own) != 0 ? UNBROKEN_BLANK : "", trace_thread_tid(thread));
}

/* The name that a thread does not have from its process: the threads of most programs have that. */
static const char *own_name(const struct trace_thread *thread)
{
	const char *name = trace_thread_comm(thread);

	return strcmp(name, trace_process_comm(trace_thread_process(thread))) == 0 ? "" : name;
}

/* "its thread cruncher 813" */
static void add_thread(struct string *s, const struct trace_thread *thread)
{
	const char *name = own_name(thread);

	string_add(s, "its thread ");
	add_name(s, name);
	string_addf(s, "%s%u", *name ? UNBROKEN_BLANK : "", trace_thread_tid(thread));
}

/* "its threads cruncher" */
static void add_threads(struct string *s, const struct trace_thread *thread)
{
	const char *name = own_name(thread);

	string_add(s, *name ? "its threads " : "its other threads");
	add_name(s, name);
}

/* One of several processes has so much of @ns that the words are about it alone. */
static bool is_nearly_all(uint64_t most_ns, uint64_t ns)
{
	return percent(most_ns, ns) >= NAMED_ALONE;
}

void verdict_root_text(const struct path_tree *tree, struct string *s)
{
	const struct path_link *root = &tree->links[0];

	if (root->nr == 1) {
		verdict_thread_text(root->thread, s);
		return;
	}
	string_addf(s, "%zu threads of ", root->nr);
	add_process(s, root->process);
}

void verdict_waiter_text(const struct path_wait *wait, const struct trace_thread *root, struct string *s)
{
	const struct trace_process *process = trace_thread_process(wait->first.thread);
	const char *comm = trace_process_comm(process), *own = trace_thread_comm(wait->first.thread);
	bool several_processes = wait->several_processes && !is_nearly_all(wait->most_ns, wait->ns);

	if (wait->link == 0 && wait->several_threads) {
		string_add(s, "these threads");
	} else if (wait->several_processes && !several_processes) {
		add_process(s, process);
	} else if (wait->first.thread != root && process == trace_thread_process(root) && !several_processes) {
		if (wait->several_threads)
			add_threads(s, wait->first.thread);
		else
			add_thread(s, wait->first.thread);
	} else if (several_processes) {
		add_processes(s, *comm ? process_program(process) : own);
	} else if (wait->several_threads) {
		add_process(s, process);
		string_add(s, " threads");
		if (strcmp(comm, own) != 0) {
			string_add(s, UNBROKEN_BLANK);
			add_name(s, own);
		}
	} else {
		verdict_thread_text(wait->first.thread, s);
	}
}

/* One process (or thread) has so much of the time of @link that the sentence is about it alone. */
static bool is_one(const struct path_link *link)
{
	return link->nr == 1 || is_nearly_all(link->most_ns, link->ns);
}

/* It has most of the time, so it is named before the others. */
static bool has_first(const struct path_link *link)
{
	return link->most_ns > link->ns - link->most_ns;
}

/*
 * "postgres 13786", "postgres 13786 and 2 others", "postgres processes"
 * @root: a server waits for its client, which waits for the server itself, for another thread.
 */
static void add_link(struct string *s, const struct path_link *link, const struct path_link *root)
{
	bool is_named = is_one(link) || has_first(link);

	if (link->is_thread && is_named) {
		add_thread(s, link->thread);
	} else if (link->is_thread) {
		add_threads(s, link->thread);
	} else if (is_named) {
		add_process(s, link->process);
		if (link->process == root->process)
			string_add(s, " itself");
	} else {
		add_processes(s, process_program(link->process));
	}
	if (is_named && !is_one(link))
		string_addf(s, " and %zu other%s", link->nr - 1, link->nr == 2 ? "" : "s");
}

/*
 * The one client of a server, if it is not the program that waited for it. It is told before the
 * threads of the server.
 * @next: the link that is told next; 0: none. If that is the client, it is not named twice: returns
 * true.
 */
static bool add_client(struct string *s, const struct report *report, const struct path_tree *tree, size_t link,
		       size_t next)
{
	struct only_client client;

	if (tree->links[link].is_thread || !is_one(&tree->links[link]) ||
	    !only_client_of(report, tree->links[link].process, &client) ||
	    client.process == tree->links[tree->links[link].parent].process)
		return false;
	if (next && client.process && client.process == tree->links[next].process && is_one(&tree->links[next]))
		return true;
	string_add(s, " (its only client: ");
	add_name(s, client.name);
	string_addf(s, client.pid ? UNBROKEN_BLANK "%u)" : ")", client.pid);
	return false;
}

/* ---- parts ---- */

static void take(struct part *best, const struct part *part, const struct part *skipped)
{
	bool is_skipped = skipped && skipped->below == part->below && skipped->on_cpu == part->on_cpu &&
			  skipped->place == part->place;

	if (!is_skipped && part->ns > best->ns)
		*best = *part;
}

/* The greatest part of @link but @skipped. */
static struct part greatest_part(const struct path_tree *tree, size_t link, const struct part *skipped)
{
	const struct path_link *own = &tree->links[link];
	struct part best = {0}, on_cpu = {.on_cpu = true};

	for (size_t i = link + 1; i < tree->nr_links; i++)
		if (tree->links[i].parent == link)
			take(&best, &(struct part){.below = i, .ns = tree->links[i].ns}, skipped);
	for (enum path_place place = 0; place < PLACE_WAIT_CPU; place++)
		on_cpu.ns += own->places[place];
	take(&best, &on_cpu, skipped);
	for (enum path_place place = PLACE_WAIT_CPU; place < NR_PLACES; place++)
		take(&best, &(struct part){.place = place, .ns = own->places[place]}, skipped);
	return best;
}

/* The longest wait of @link in @place; NULL: none. */
static const struct path_wait *longest(const struct path_tree *tree, size_t link, enum path_place place)
{
	for (size_t i = 0; i < tree->nr_waits; i++)
		if (tree->waits[i].link == link && tree->waits[i].place == place)
			return &tree->waits[i];
	return NULL;
}

/* The time of all waits for the thing of @wait, in whichever call; a timeout is that of a call. */
static uint64_t in_all_calls_ns(const struct path_tree *tree, const struct path_wait *wait)
{
	const struct trace_path_segment *first = &wait->first;
	uint64_t ns = 0;

	if (wait->place == PLACE_WAIT_CPU || first->kind == TRACE_WAIT_TIMEOUT)
		return wait->ns;
	for (size_t i = 0; i < tree->nr_waits; i++) {
		const struct path_wait *other = &tree->waits[i];

		if (other->link == wait->link && other->place == wait->place &&
		    strcmp(path_other_name(&other->first), path_other_name(first)) == 0 &&
		    strcmp(other->first.via, first->via) == 0 &&
		    (*path_other_name(first) ||
		     (path_target_bytes(&other->first) == path_target_bytes(first) &&
		      strncmp(other->first.target, first->target, (size_t)path_target_bytes(first)) == 0)))
			ns += other->ns;
	}
	return ns;
}

static void add_percent(struct string *s, uint64_t part, uint64_t whole)
{
	double share = percent(part, whole);

	string_addf(s, share >= 9.95 ? "%.0f" UNBROKEN_BLANK "%%" : "%.1f" UNBROKEN_BLANK "%%", share);
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* ---- the sentence ---- */

/* struct sentence - @clauses: NULL: not wanted */
struct sentence {
	struct string *text;
	const struct report *report;
	const struct path_tree *tree;
	struct verdict_clauses *clauses;
};

/* The text since @begin is about @thread, or about its @wait. */
static void add_clause(const struct sentence *sentence, size_t begin, const struct trace_thread *thread,
		       const struct path_wait *wait)
{
	struct verdict_clauses *clauses = sentence->clauses;

	if (clauses && clauses->nr < VERDICT_CLAUSES)
		clauses->list[clauses->nr++] = (struct verdict_clause){begin, sentence->text->len, thread, wait};
}

/* The same, for a wait that may not be known: NULL. */
static void add_wait_clause(const struct sentence *sentence, size_t begin, const struct path_wait *wait)
{
	if (wait)
		add_clause(sentence, begin, wait->first.thread, wait);
}

/* A call that is its own means is named once: "poll", not "poll via poll". */
static void add_via(struct string *s, const struct trace_path_segment *segment)
{
	if (*segment->via && !(segment->kind == TRACE_WAIT_OTHER && begins_with(segment->target, segment->via)))
		string_addf(s, " via %s", segment->via);
}

static void add_origin(struct string *s, const struct process_origin *origin)
{
	const struct trace_process *starter = process_origin(origin);

	if (!starter)
		return;
	string_add(s, origin->is_direct ? " started by " : " under ");
	add_name(s, trace_process_title(starter));
	string_addf(s, UNBROKEN_BLANK "%u", trace_process_pid(starter));
}

static void add_holder(struct string *s, const struct path_wait *wait)
{
	const struct trace_thread *holder = wait->first.holder;

	if (holder && path_own_holder(&wait->first)) {
		if (wait->several_holders)
			add_threads(s, holder);
		else
			add_thread(s, holder);
		return;
	}
	if (holder && wait->several_holder_processes && is_nearly_all(wait->holder_ns, wait->ns)) {
		add_process(s, trace_thread_process(holder));
		return;
	}
	if (holder && wait->several_holder_processes) {
		add_processes(s, process_program(trace_thread_process(holder)));
		add_origin(s, &wait->origin);
		return;
	}
	if (holder) {
		if (wait->several_holders)
			add_process(s, trace_thread_process(holder));
		else
			verdict_thread_text(holder, s);
		return;
	}
	if (strcmp(wait->first.holder_name, "unknown") == 0)
		string_add(s, "others, which were not recorded");
	else
		add_name(s, wait->first.holder_name);
}

static void add_target(struct string *s, const struct report *report, const struct trace_path_segment *segment)
{
	struct string target = {0};

	string_addf(&target, "%.*s", path_target_bytes(segment), segment->target);
	add_name(s, string_text(&target));
	if (segment->kind == TRACE_WAIT_NETWORK)
		listener_text(s, report->analysis, segment->target);
	string_free(&target);
}

/* Words for the target of a wait that is no name of a process; NULL: it is one, or another kind */
static const char *unidentified(const struct trace_path_segment *s)
{
	return s->kind == TRACE_WAIT_PROCESS && (!s->other || !trace_process_pid(s->other))
		       ? text_unidentified(s->target)
		       : NULL;
}

/* A wait for another thread of the process, which is not known: the path ends there. */
static bool is_own_process(const struct trace_path_segment *s)
{
	return s->kind == TRACE_WAIT_PROCESS && s->other && s->other == trace_thread_process(s->thread);
}

/* The limit of a quota, " of 0.5 CPUs" */
static void add_limit(struct string *s, const struct path_wait *wait)
{
	uint64_t limit_ns = trace_process_cpu_limit(trace_thread_process(wait->first.thread));

	if (limit_ns)
		string_addf(s, " of %.3g CPU%s", (double)limit_ns / 1e9, limit_ns == NS_PER_SECOND ? "" : "s");
}

void verdict_wait_text(const struct report *report, const struct path_wait *wait, struct string *s)
{
	const struct trace_path_segment *first = &wait->first;

	if (wait->place == PLACE_WAIT_CPU) {
		bool is_idle = !first->holder && strcmp(first->holder_name, "idle CPU") == 0;

		string_add(s, is_idle ? "an idle CPU to wake up" : "a CPU, taken by ");
		if (!is_idle)
			add_holder(s, wait);
		return;
	}
	if (unidentified(first)) {
		string_add(s, unidentified(first));
	} else if (is_own_process(first)) {
		string_add(s, "another of its threads");
	} else if (first->kind == TRACE_WAIT_PROCESS && wait->several_others) {
		string_add(s, *path_other_name(first) ? "processes " : "processes without a name");
		add_name(s, path_other_name(first));
	} else {
		string_add(s, first->kind == TRACE_WAIT_OTHER ? "system call" : trace_wait_kind_name(first->kind));
		if (first->other && !wait->several_others)
			string_addf(s, UNBROKEN_BLANK "%u", trace_process_pid(first->other));
	}
	if (*first->target && !unidentified(first) && !is_own_process(first) &&
	    !(first->kind == TRACE_WAIT_PROCESS && wait->several_others)) {
		string_add(s, " ");
		add_target(s, report, first);
	}
	if (first->kind == TRACE_WAIT_QUOTA)
		add_limit(s, wait);
	add_via(s, first);
	if (*first->name && !begins_with(first->target, first->name)) {
		string_add(s, " in ");
		add_name(s, first->name);
	}
}

/* A sleep, or the timeout of a call that may also end for another reason, as a poll. */
static void add_timeout(struct string *s, const struct path_wait *wait, bool is_most)
{
	if (!is_most || !wait->first.name[0] || wait->first.name[0] == '(') /* (not seen) */
		return;
	if (strcmp(wait->first.name, "nanosleep") == 0 || strcmp(wait->first.name, "clock_nanosleep") == 0)
		string_add(s, " (it slept)");
	else
		string_addf(s, " (%s timed out)", wait->first.name);
}

/* The process of a wait that no chain goes on with: its work was not recorded, or is not known. */
static void add_other(struct string *s, const struct path_wait *wait, bool is_most)
{
	string_add(s, is_most ? "for " : "for processes such as ");
	if (is_own_process(&wait->first)) {
		string_add(s, "another of its threads");
	} else if (wait->several_others) {
		add_processes(s, path_other_name(&wait->first));
	} else {
		add_process(s, wait->first.other);
	}
	if (is_most)
		add_via(s, &wait->first);
	if (is_most && strcmp(wait->first.via, "tcp_timer") == 0)
		string_add(s, " (a delayed acknowledgement, or data that Nagle's algorithm kept back)");
}

static void add_cpu(const struct sentence *sentence, const struct path_wait *wait, bool is_most)
{
	size_t begin = sentence->text->len;

	string_add(sentence->text, "for a CPU");
	add_wait_clause(sentence, begin, wait);
	if (is_most && wait->first.holder) {
		string_add(sentence->text, ", taken mostly by ");
		add_holder(sentence->text, wait);
	}
}

/*
 * Behind the process that has most of the time in @place: its share, and that of processes which
 * nothing identifies, such as one that had not answered when the recording ended.
 */
static void add_unidentified(const struct sentence *sentence, size_t link, enum path_place place, uint64_t most_ns)
{
	const struct path_tree *tree = sentence->tree;
	uint64_t whole = tree->links[link].ns, ns = 0;

	for (size_t i = 0; i < tree->nr_waits; i++) {
		const struct path_wait *wait = &tree->waits[i];

		if (wait->link == link && wait->place == place && unidentified(&wait->first))
			ns += wait->ns;
	}
	if (!ns || is_nearly_all(most_ns, most_ns + ns))
		return;
	string_add(sentence->text, " (");
	add_percent(sentence->text, most_ns, whole);
	string_add(sentence->text, "; ");
	add_percent(sentence->text, ns, whole);
	string_add(sentence->text, " for unknown processes)");
}

static bool gap_is_within(const struct trace_gap *gap, const struct trace_path_segment *segment)
{
	return gap->start_ns < segment->to_ns && gap->end_ns > segment->from_ns;
}

static bool is_of_loss(const struct report *report, const struct trace_path_segment *segment)
{
	for (size_t i = 0; i < trace_nr_gaps(report->trace); i++)
		if (gap_is_within(trace_get_gap(report->trace, i), segment))
			return true;
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(report->analysis); i++)
		if (gap_is_within(trace_analysis_get_late_gap(report->analysis, i), segment))
			return true;
	return false;
}

/* ", because 17 events were lost": nothing is known of a time without events. */
static void add_loss(struct string *s, const struct report *report, const struct path_wait *wait)
{
	struct losses_text text;
	size_t gaps;

	if (wait && is_of_loss(report, &wait->first))
		string_addf(s, ", because %s %s lost", losses_text(report->trace, report->analysis, &text),
			    losses_lost(report->trace, report->analysis, &gaps) == 1 ? "was" : "were");
}

/* "waited" for a place that is not on a CPU, without the share: "for the file /x", "in a sleep" */
static void add_place(const struct sentence *sentence, size_t link, enum path_place place)
{
	/* before the name of the one, or of one of several */
	static const struct {
		const char *one, *several;
	} for_what[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = {"for the file ", "for files such as "},
		[TRACE_WAIT_PROCESS] = {"for process ", "for processes such as "},
		[TRACE_WAIT_NETWORK] = {"for the network, ", "for the network, such as "},
		[TRACE_WAIT_TIMEOUT] = {"for a timer", "for a timer"},
		[TRACE_WAIT_DEVICE] = {"for the device ", "for devices such as "},
		[TRACE_WAIT_MEMORY] = {"for memory", "for memory"},
		[TRACE_WAIT_STOPPED] = {"while stopped", "while stopped"},
		[TRACE_WAIT_OTHER] = {"in the system call ", "in system calls such as "},
		[TRACE_WAIT_UNKNOWN] = {"for something unknown", "for something unknown"},
		[TRACE_WAIT_KERNEL] = {"for the kernel: ", "for the kernel, such as: "},
		[TRACE_WAIT_QUOTA] = {"for its CPU quota", "for its CPU quota"},
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");
	const struct path_tree *tree = sentence->tree;
	const struct path_wait *wait = longest(tree, link, place);
	struct string *s = sentence->text;
	size_t begin = s->len;
	uint64_t whole = tree->links[link].places[place];
	uint64_t ns = wait ? in_all_calls_ns(tree, wait) : 0;
	bool is_most = wait && ns >= whole - ns;
	enum trace_wait_kind kind = (enum trace_wait_kind)(place - PLACE_BLOCKED);

	if (place == PLACE_WAIT_CPU) {
		add_cpu(sentence, wait, is_most);
		return;
	}
	if (is_most && !is_nearly_all(ns, whole))
		string_add(s, "mostly ");
	if (kind == TRACE_WAIT_PROCESS && wait && wait->first.other && trace_process_pid(wait->first.other)) {
		add_other(s, wait, is_most);
		add_unidentified(sentence, link, place, ns);
	} else if (wait && unidentified(&wait->first)) {
		string_addf(s, "for %s", unidentified(&wait->first));
		add_via(s, &wait->first);
	} else {
		string_add(s, is_most ? for_what[kind].one : for_what[kind].several);
		if (kind != TRACE_WAIT_TIMEOUT && kind != TRACE_WAIT_MEMORY && kind != TRACE_WAIT_STOPPED &&
		    kind != TRACE_WAIT_UNKNOWN && kind != TRACE_WAIT_QUOTA && wait)
			add_target(s, sentence->report, &wait->first);
		if (kind == TRACE_WAIT_QUOTA && wait)
			add_limit(s, wait);
		if (kind == TRACE_WAIT_UNKNOWN)
			add_loss(s, sentence->report, wait);
		if (kind == TRACE_WAIT_TIMEOUT)
			add_timeout(s, wait, is_most);
		else if (is_most)
			add_via(s, &wait->first);
	}
	add_wait_clause(sentence, begin, wait);
}

/* " (flush_orders 64 %)": of the thread's own code; nothing without samples */
static void add_function(struct string *s, const struct report *report, const struct path_link *link)
{
	struct wait_place place = cpu_place_of_thread(report->places, link->thread, CPU_OWN_CODE);
	struct string where = {0};
	char name[NAME_BYTES];

	if (is_one(link))
		cpu_place_text(&place, &where);
	if (*string_text(&where))
		string_addf(s, " (%s)", text_name(string_text(&where), name, sizeof(name)));
	string_free(&where);
}

static void add_on_cpu(const struct sentence *sentence, const struct path_link *link, uint64_t ns)
{
	struct string *s = sentence->text;
	uint64_t own = link->places[PLACE_OWN_CODE], kernel = link->places[PLACE_KERNEL];

	if (own >= ns - own) {
		string_addf(s, ", mostly in %s own code", is_one(link) ? "its" : "their");
		add_function(s, sentence->report, link);
	} else if (kernel >= ns - kernel)
		string_add(s, ", mostly in the kernel");
}

/* The links below @link: ", which waited for postgres 13786, which slept". */
static void add_chain(const struct sentence *sentence, size_t link)
{
	const struct path_tree *tree = sentence->tree;
	struct string *s = sentence->text;
	bool is_client = false;

	for (int nr = 0; link; nr++) {
		struct part part = greatest_part(tree, link, NULL);
		uint64_t whole = tree->links[link].ns;
		bool is_all = percent(part.ns, whole) >= NEARLY_ALL;
		size_t begin = s->len;

		if (nr == MAX_LINKS) {
			string_add(s, "others, and so on");
			return;
		}
		add_link(s, &tree->links[link], &tree->links[0]);
		add_clause(sentence, begin, tree->links[link].thread, NULL);
		string_add(s, is_client ? " (its only client)" : "");
		is_client = add_client(s, sentence->report, tree, link, nr + 1 < MAX_LINKS ? part.below : 0);
		string_add(s, part.on_cpu ? ", which ran on a CPU" : ", which waited");
		if (!is_all) {
			string_add(s, part.on_cpu ? " for " : " ");
			add_percent(s, part.ns, whole);
			string_add(s, " of that");
		}
		if (part.on_cpu) {
			add_on_cpu(sentence, &tree->links[link], part.ns);
			return;
		}
		string_add(s, part.below ? " for " : " ");
		if (!part.below)
			add_place(sentence, link, part.place);
		link = part.below;
	}
}

static void add_part(const struct sentence *sentence, const struct part *part)
{
	if (part->below) {
		string_add(sentence->text, " for ");
		add_chain(sentence, part->below);
	} else if (part->on_cpu) {
		add_on_cpu(sentence, &sentence->tree->links[0], part->ns);
	} else {
		string_add(sentence->text, " ");
		add_place(sentence, 0, part->place);
	}
}

void verdict_add(struct string *s, const struct report *report, const struct path_tree *tree,
		 struct verdict_clauses *clauses)
{
	const struct sentence sentence = {s, report, tree, clauses};
	size_t begin = s->len;
	struct part first = greatest_part(tree, 0, NULL), second = greatest_part(tree, 0, &first);
	struct value_text time;

	if (clauses)
		clauses->nr = 0;
	verdict_root_text(tree, s);
	add_clause(&sentence, begin, tree->links[0].thread, NULL);
	string_add(s, first.on_cpu ? " ran on a CPU for " : " waited ");
	add_percent(s, first.ns, tree->ns);
	string_addf(s, " of %s %s", tree->links[0].nr == 1 ? "its" : "their",
		    text_ns(&report->output, tree->ns, &time));
	add_part(&sentence, &first);
	if (percent(second.ns, tree->ns) >= SECOND_MATTER) {
		string_addf(s, "; %s %s ", tree->links[0].nr == 1 ? "it" : "they",
			    second.on_cpu ? "ran on a CPU for" : "waited");
		add_percent(s, second.ns, tree->ns);
		add_part(&sentence, &second);
	}
	string_add(s, ".");
}

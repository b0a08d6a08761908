/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * overview_waits.c - what processes waited for, in words.
 *
 * One wait that has all of the time is named behind it: "waited 34 % of its 5.2 s for the file /x".
 * Else the parts follow, which add up to the time before them:
 *
 *	waited 88 % of its 9.8 s: 29 % for process 22018 python3, 28 % for a timer, 31 % for others
 */
#include <glib.h>
#include <string.h>
#include "overview_waits.h"
#include "value_text.h"
#include "wait_text.h"

#define NAME_BYTES   256
#define NAMED	     2 /* waits that a sentence names */
#define WORTH_NAMING 1 /* percent */

/* ---- words ---- */

void overview_percent(struct string *s, uint64_t part, uint64_t whole)
{
	double share = percent(part, whole);

	if (share >= 9.95 || part == 0)
		string_addf(s, "%.0f" UNBROKEN_BLANK "%%", share);
	else if (share >= 0.095)
		string_addf(s, "%.1f" UNBROKEN_BLANK "%%", share);
	else
		string_add(s, "under" UNBROKEN_BLANK "0.1" UNBROKEN_BLANK "%");
}

void overview_ns(struct string *s, const struct text_output *output, uint64_t ns)
{
	struct value_text t;

	text_ns(output, ns, &t);
	string_add(s, ns ? g_strdelimit(t.bytes, " ", *UNBROKEN_BLANK) : "0");
	if (output->exact)
		string_add(s, UNBROKEN_BLANK "ns");
}

void overview_name(struct string *s, const char *name)
{
	char buffer[NAME_BYTES];

	string_add(s, text_name(name, buffer, sizeof(buffer)));
}

/* The object of the wait, without its means. */
static void add_cause(struct string *s, const struct trace_analysis *analysis, const struct trace_wait *wait)
{
	static const char *const plain[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = "the file ",
		[TRACE_WAIT_PROCESS] = "process ",
		[TRACE_WAIT_NETWORK] = "the network, ",
		[TRACE_WAIT_TIMEOUT] = "a timer",
		[TRACE_WAIT_DEVICE] = "the device ",
		[TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "being continued after a stop",
		[TRACE_WAIT_OTHER] = "the system call ",
		[TRACE_WAIT_UNKNOWN] = "something unknown",
		[TRACE_WAIT_KERNEL] = "the kernel: ",
		[TRACE_WAIT_QUOTA] = "the CPU quota of its control group",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");

	if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid && text_unidentified(wait->target)) {
		string_add(s, text_unidentified(wait->target));
	} else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid) {
		string_add(s, "processes named ");
		overview_name(s, wait->target);
	} else if (wait_is_for_disk(analysis, wait)) {
		string_add(s, "the disk ");
		overview_name(s, wait->target);
	} else {
		string_add(s, plain[wait->kind]);
		if (wait->kind == TRACE_WAIT_STOPPED && *wait->target)
			string_add(s, " by process ");
		if (wait->kind == TRACE_WAIT_PROCESS || (wait->kind == TRACE_WAIT_STOPPED && wait->pid))
			string_addf(s, *wait->target ? "%u" UNBROKEN_BLANK : "%u", wait->pid);
		if (wait->kind == TRACE_WAIT_UNKNOWN && *wait->target)
			string_add(s, ", ");
		if (wait->kind == TRACE_WAIT_QUOTA && *wait->target)
			string_add(s, " ");
		overview_name(s, wait->target);
	}
}

static void add_means(struct string *s, const struct trace_wait *wait)
{
	if (*wait_via(wait))
		string_addf(s, " via %s", wait_via(wait));
	if (wait->path && *wait->path) {
		string_add(s, " on ");
		overview_name(s, wait->path);
	}
	if (wait->idle)
		string_add(s, " (idle between requests)");
}

void overview_wait(struct string *s, const struct trace_analysis *analysis, const struct trace_wait *wait)
{
	add_cause(s, analysis, wait);
	add_means(s, wait);
}

/* ---- own threads ---- */

/* struct own_threads - the threads that a process waited for; @nr: known ones, @all_ns: of all */
struct own_threads {
	const struct own_wait *first, *second; /* the longest ones that are known */
	size_t nr;
	uint64_t all_ns;
	bool has_unknown, has_one_name;
};

static struct own_threads own_threads_of(const struct process_sum *sum, bool idle)
{
	struct own_threads own = {.has_one_name = true};

	for (size_t i = 0; i < sum->nr_own; i++) {
		const struct own_wait *wait = &sum->own[i];

		if (wait->idle != idle)
			continue;
		own.all_ns += wait->ns;
		own.has_unknown |= !wait->thread;
		if (!wait->thread)
			continue;
		if (own.nr++ == 0)
			own.first = wait;
		else if (own.nr == 2)
			own.second = wait;
		own.has_one_name &= strcmp(trace_thread_comm(wait->thread), trace_thread_comm(own.first->thread)) == 0;
	}
	return own;
}

static const char *thread_text(const struct own_wait *wait, char *text, size_t size)
{
	return text_process(trace_thread_comm(wait->thread), trace_thread_tid(wait->thread), text, size);
}

/*
 * "its thread cache (13)", "its threads cache (13) and gc (14)", "3 of its threads worker",
 * "5 of its threads, mostly cache (13)"; if some are not known, "5 or more of its threads".
 */
static void add_own_threads(struct string *s, const struct own_threads *own)
{
	char name[NAME_BYTES + 32], other[NAME_BYTES + 32];
	const char *more = own->has_unknown ? " or more" : "";

	if (!own->nr) {
		string_add(s, "another of its threads");
	} else if (own->nr == 1 && !own->has_unknown) {
		string_add(s, text_own_thread(own->first->thread, name, sizeof(name)));
	} else if (own->has_one_name && own->nr > 1) {
		string_addf(s, "%zu%s of its threads %s", own->nr, more,
			    text_comm(trace_thread_comm(own->first->thread), name, sizeof(name)));
	} else if (own->nr == 2 && !own->has_unknown) {
		string_addf(s, "its threads %s and %s", thread_text(own->first, name, sizeof(name)),
			    thread_text(own->second, other, sizeof(other)));
	} else {
		string_addf(s, "%zu%s of its threads, %s %s", own->nr, more,
			    own->first->ns >= own->all_ns - own->first->ns ? "mostly" : "the longest for",
			    thread_text(own->first, name, sizeof(name)));
	}
}

static void add_wait(struct string *s, const struct report *report, const struct process_sum *sum,
		     const struct trace_wait *wait, uint32_t own_pid)
{
	struct own_threads own;

	if (wait->kind != TRACE_WAIT_PROCESS || wait->pid != own_pid || !own_pid) {
		overview_wait(s, report->analysis, wait);
		return;
	}
	own = own_threads_of(sum, wait->idle);
	add_own_threads(s, &own);
	add_means(s, wait);
}

/* ---- parts ---- */

/* A share of the reference, or the time, if the sum is of a family: its times have no one whole. */
static void add_part(struct string *s, const struct report *report, const struct overview_scale *scale, uint64_t ns)
{
	if (scale->is_family)
		overview_ns(s, &report->output, ns);
	else
		overview_percent(s, ns, scale->reference_ns);
}

/* True if the text for @wait would be that for all of @whole_ns. */
static bool reads_like_all(const struct overview_scale *scale, const struct trace_wait *wait, uint64_t whole_ns)
{
	struct string part = {0}, whole = {0};
	bool same;

	if (percent(wait->ns, whole_ns) > 100 - WORTH_NAMING)
		return true;
	if (scale->is_family || percent(wait->ns, scale->reference_ns) < WORTH_NAMING)
		return false;
	overview_percent(&part, wait->ns, scale->reference_ns);
	overview_percent(&whole, whole_ns, scale->reference_ns);
	same = strcmp(string_text(&part), string_text(&whole)) == 0;
	string_free(&part);
	string_free(&whole);
	return same;
}

/* The one wait with nearly all of the time, else NULL. */
static const struct trace_wait *only_wait(const struct process_sum *sum, const struct overview_scale *scale)
{
	for (size_t i = 0; i < sum->nr_waits; i++)
		if (reads_like_all(scale, &sum->waits[i], sum->blocked_ns - sum->among_ns))
			return &sum->waits[i];
	return NULL;
}

/* Returns the time of the waits that are named. */
static uint64_t add_named(struct string *s, const struct report *report, const struct process_sum *sum,
			  const struct overview_scale *scale)
{
	uint64_t named_ns = 0;
	size_t named = 0;

	for (size_t i = 0; i < sum->nr_waits && named < NAMED; i++) {
		const struct trace_wait *wait = &sum->waits[i];

		if (percent(wait->ns, scale->reference_ns) < WORTH_NAMING)
			continue; /* idle waits follow, which may be longer */
		string_add(s, named++ ? ", " : ": ");
		add_part(s, report, scale, wait->ns);
		string_add(s, " for ");
		add_wait(s, report, sum, wait, scale->own_pid);
		named_ns += wait->ns;
	}
	return named_ns;
}

void overview_waits(struct string *s, const struct report *report, const struct process_sum *sum,
		    const struct overview_scale *scale)
{
	uint64_t whole_ns = sum->blocked_ns - sum->among_ns, named_ns;
	const struct trace_wait *only = only_wait(sum, scale);

	if (only) {
		string_add(s, " for ");
		add_wait(s, report, sum, only, scale->own_pid);
		return;
	}
	if (scale->is_family)
		string_add(s, " not for one another");
	named_ns = add_named(s, report, sum, scale);
	if (!named_ns) {
		string_add(s, scale->is_family ? ", in short waits" : " in short waits");
	} else if (percent(whole_ns - named_ns, scale->reference_ns) >= WORTH_NAMING) {
		string_add(s, ", ");
		add_part(s, report, scale, whole_ns - named_ns);
		string_add(s, " for others");
	}
}

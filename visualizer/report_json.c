/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_json.c - the summary as JSON, schema trace-summary/1. Keys may be added, but never
 * renamed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checked_figures.h"
#include "cpu_takers.h"
#include "checked_memory.h"
#include "json.h"
#include "losses.h"
#include "process_pairs.h"
#include "process_rows.h"
#include "recorded.h"
#include "report_disk_uses.h"
#include "report_disks.h"
#include "report_groups.h"
#include "report_json.h"
#include "report_probes.h"
#include "report_user.h"
#include "report_work.h"
#include "thread_choice.h"
#include "wait_json.h"
#include "wait_places.h"
#include "whole_trace.h"

#define PAGE_PROCESSES 1000u /* that a page lists, with their own times only, */
#define PAGE_THREADS   5000u /* if the trace has more threads than these */

/* ---- the trace ---- */

static void put_gap(struct json *json, const struct trace_gap *gap)
{
	json_open(json, NULL, "{");
	json_u64(json, "cpu", gap->cpu);
	json_u64(json, "start_ns", gap->start_ns);
	json_u64(json, "end_ns", gap->end_ns);
	json_u64(json, "lost", gap->lost);
	json_close(json, "}");
}

static void put_gaps(struct json *json, const struct report *report)
{
	json_open(json, "gaps", "[");
	for (size_t i = 0; i < trace_nr_gaps(report->trace); i++)
		if (!trace_gap_is_older(report->trace, trace_get_gap(report->trace, i)))
			put_gap(json, trace_get_gap(report->trace, i));
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(report->analysis); i++)
		put_gap(json, trace_analysis_get_late_gap(report->analysis, i));
	json_close(json, "]");
}

/* Reading may find a damaged chunk: its events are counted as lost, too. */
static uint64_t readable_events(const struct report *report)
{
	uint64_t events = whole_trace_events(report->trace);

	for (size_t i = 0; i < trace_analysis_nr_late_gaps(report->analysis); i++)
		events -= trace_analysis_get_late_gap(report->analysis, i)->lost;
	return events;
}

/* The head is open: report_json_head(). */
static void put_trace(struct json *json, const struct report *report)
{
	size_t gaps;
	const struct trace_info *info = trace_get_info(report->trace);
	const char *recorder = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_RECORDER);
	uint64_t start, end, claimed;
	bool is_known;

	trace_analysis_window(report->analysis, &start, &end);
	json_text(json, "host", info->host);
	json_text(json, "kernel", info->kernel);
	json_text(json, "recorder", recorder ? recorder : "");
	json_text(json, "clock", info->clock);
	json_u64(json, "start_ns", start);
	json_u64(json, "end_ns", end);
	json_u64(json, "elapsed_ns", end - start);
	if (report->is_windowed)
		json_bool(json, "window", true);
	json_u64(json, "events", readable_events(report));
	json_u64(json, "lost", losses_lost(report->trace, report->analysis, &gaps));
	is_known = losses_claimed(report->trace, &claimed);
	json_known(json, "claimed", claimed, is_known);
	json_u64(json, "overwritten", losses_of(report->trace).overwritten);
	json_u64(json, "older", losses_older(report->trace));
	if (report->command.process) {
		json_u64(json, "command_pid", trace_process_pid(report->command.process));
		json_bool(json, "command_is_sure", report->command.is_sure);
		json_bool(json, "command_has_ended", command_has_ended(&report->command));
		json_u64(json, "command_ran_ns", command_ran_ns(&report->command));
	}
	json_u64(json, "contradictions", whole_trace_contradictions(report->trace, report->analysis));
	json_u64(json, "halted_ns", trace_analysis_halted_ns(report->analysis));
	json_bool(json, "sees_wakeups", trace_analysis_sees_wakeups(report->analysis));
	json_bool(json, "sees_calls", trace_analysis_sees_calls(report->analysis));
	json_bool(json, "sees_traps", trace_analysis_sees_traps(report->analysis));
	json_bool(json, "sees_interrupts", trace_analysis_sees_interrupts(report->analysis));
	json_bool(json, "filtered", trace_analysis_is_filtered(report->analysis));
	put_gaps(json, report);
	json_open(json, "not_recorded", "[");
	for (enum trace_category category = 0; category < TRACE_NR_CATEGORIES; category++)
		if (is_unrecorded(report->trace, report->analysis, category)) {
			json_separate(json);
			json_string(json, trace_category_name(category));
		}
	json_close(json, "]");
	json_open(json, "not_traced", "[");
	for (size_t i = 0; trace_not_traced(report->trace, i); i++) {
		json_separate(json);
		json_string(json, trace_not_traced(report->trace, i));
	}
	json_close(json, "]");
	json_close(json, "}");
}

static void put_cpus(struct json *json, const struct trace_analysis *analysis)
{
	bool switches = has_scheduling(analysis), calls = switches && trace_analysis_sees_calls(analysis);
	bool irqs = switches &&
		    (has_recorded(analysis, TRACE_EV_irq_entry) || has_recorded(analysis, TRACE_EV_vector_entry));
	struct trace_cpu_figures f;

	json_open(json, "cpus", "[");
	for (size_t i = 0; i < trace_nr_cpus(analysis); i++) {
		trace_cpu_figures(analysis, i, &f);
		json_open(json, NULL, "{");
		json_u64(json, "cpu", f.cpu);
		json_known(json, "cpu_ns", f.user_ns + f.system_ns, switches);
		json_known(json, "user_ns", f.user_ns, calls);
		json_known(json, "system_ns", f.system_ns, calls);
		json_known(json, "irq_ns", f.irq_ns, irqs);
		json_known(json, "softirq_ns", f.softirq_ns,
			   switches && has_recorded(analysis, TRACE_EV_softirq_entry));
		json_known(json, "idle_ns", f.idle_ns, switches && !trace_analysis_is_filtered(analysis));
		json_u64(json, "unknown_ns", f.unknown_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
}

/* ---- figures ---- */

static void put_wait(struct json *json, const struct trace_analysis *analysis, const struct trace_wait *wait)
{
	json_wait_keys(json, wait);
	json_text(json, "device", wait->kind == TRACE_WAIT_FILE ? trace_file_device(analysis, wait->target) : "");
}

static void put_waits(struct json *json, const struct trace_analysis *analysis, const char *key,
		      const struct trace_wait *waits, size_t nr)
{
	json_open(json, key, "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		put_wait(json, analysis, &waits[i]);
		json_close(json, "}");
	}
	json_close(json, "]");
}

/** struct figures_owner - a process, or one of its threads; the other is NULL */
struct figures_owner {
	const struct trace_process *process;
	const struct trace_thread *thread;
};

/* The waits of a process or thread, each with the function with most of it. A trace without stacks
 * of waits has no such keys. */
static void put_own_waits(struct json *json, const struct report *report, const struct trace_figures *f,
			  const struct figures_owner *owner)
{
	json_open(json, "waits", "[");
	for (size_t i = 0; i < f->nr_waits; i++) {
		const struct trace_wait *wait = &f->waits[i];
		struct wait_place place = owner->thread ? wait_place_of_thread(report->places, owner->thread, wait)
							: wait_place_of_process(report->places, owner->process, wait);

		json_open(json, NULL, "{");
		put_wait(json, report->analysis, wait);
		if (wait_places_know(report->places, false)) {
			json_text(json, "where", place.function ? place.function : "");
			json_text(json, "where_file", place.file);
			json_u64(json, "where_ns", place.ns);
			json_text(json, "woken_in", place.woken_in ? place.woken_in : "");
			json_u64(json, "woken_in_ns", place.woken_in_ns);
		}
		json_close(json, "}");
	}
	json_close(json, "]");
}

/* The function with most of the CPU time. A trace without samples has no such keys. */
static void put_cpu_place(struct json *json, const struct report *report, const struct figures_owner *owner)
{
	struct wait_place place;

	if (!wait_places_know(report->places, true))
		return;
	place = owner->thread ? cpu_place_of_thread(report->places, owner->thread, CPU_ALL)
			      : cpu_place_of_process(report->places, owner->process, CPU_ALL);
	json_text(json, "cpu_where", place.function ? place.function : "");
	json_text(json, "cpu_where_file", place.file);
	json_u64(json, "cpu_where_ns", place.ns);
}

static void put_cpu_waits(struct json *json, const char *key, const struct trace_cpu_wait *waits, size_t nr)
{
	json_open(json, key, "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_u64(json, "pid", waits[i].pid);
		json_text(json, "comm", waits[i].comm);
		json_u64(json, "tid", waits[i].thread ? trace_thread_tid(waits[i].thread) : 0);
		json_text(json, "thread", waits[i].thread ? trace_thread_comm(waits[i].thread) : "");
		json_u64(json, "ns", waits[i].ns);
		json_close(json, "}");
	}
	json_close(json, "]");
}

/* Pairs: from so many ns on, to twice of it; and the number of calls. */
static void put_times(struct json *json, const struct trace_figures *figures, const struct trace_call *call)
{
	struct trace_time_range ranges[TRACE_TIME_RANGES];
	size_t nr = trace_call_times(figures, call, ranges);

	json_open(json, "times", "[");
	for (size_t i = 0; i < nr; i++) {
		json_separate(json);
		fprintf(json->out, "[%llu,%llu]", (unsigned long long)ranges[i].from_ns,
			(unsigned long long)ranges[i].count);
	}
	json_close(json, "]");
}

static void put_calls(struct json *json, const struct trace_analysis *analysis, const char *key,
		      const struct trace_figures *figures, const struct trace_call *calls, size_t nr, bool traps)
{
	json_open(json, key, "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_text(json, "name", calls[i].name);
		json_u64(json, traps ? "count" : "calls", calls[i].calls);
		json_u64(json, traps ? "major" : "errors", calls[i].errors);
		json_u64(json, "elapsed_ns", calls[i].elapsed_ns);
		json_u64(json, "cpu_ns", calls[i].cpu_ns);
		json_known(json, "interrupted_ns", calls[i].interrupted_ns, has_interrupts(analysis));
		json_u64(json, "wait_cpu_ns", calls[i].wait_cpu_ns);
		json_u64(json, "wait_ns", calls[i].wait_ns);
		json_u64(json, "min_ns", calls[i].min_ns);
		json_u64(json, "p50_ns", calls[i].p50_ns);
		json_u64(json, "p99_ns", calls[i].p99_ns);
		json_u64(json, "max_ns", calls[i].max_ns);
		put_times(json, figures, &calls[i]);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_interrupts(struct json *json, const struct trace_interrupt *list, size_t nr)
{
	json_open(json, "interrupts", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_text(json, "type", list[i].type);
		json_text(json, "name", list[i].name);
		json_u64(json, "ns", list[i].ns);
		json_u64(json, "count", list[i].count);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_files(struct json *json, const struct trace_analysis *analysis, const struct trace_figures *f)
{
	json_open(json, "files", "[");
	for (size_t i = 0; i < f->nr_files; i++) {
		json_open(json, NULL, "{");
		json_text(json, "path", f->files[i].path);
		json_u64(json, "read_bytes", f->files[i].read_bytes);
		json_u64(json, "written_bytes", f->files[i].written_bytes);
		json_u64(json, "reads", f->files[i].reads);
		json_u64(json, "writes", f->files[i].writes);
		json_u64(json, "wait_ns", f->files[i].wait_ns);
		json_text(json, "device", trace_file_device(analysis, f->files[i].path));
		json_close(json, "}");
	}
	json_close(json, "]");
}

void report_json_calls(struct json *json, const struct report *report, const struct trace_figures *f)
{
	put_calls(json, report->analysis, "syscalls", f, f->syscalls,
		  is_unrecorded(report->trace, report->analysis, TRACE_CATEGORY_SYSCALL) ? 0 : f->nr_syscalls_rows,
		  false);
	put_calls(json, report->analysis, "kernel_work", f, f->kernel_work, f->nr_kernel_work, false);
	put_calls(json, report->analysis, "traps", f, f->traps, f->nr_traps_rows, true);
}

void report_json_files(struct json *json, const struct report *report, const struct trace_figures *f)
{
	put_files(json, report->analysis, f);
}

static void put_figures(struct json *json, const struct report *report, const struct trace_figures *f,
			const struct figures_owner *owner)
{
	bool scheduling = has_scheduling(report->analysis),
	     calls = scheduling && trace_analysis_sees_calls(report->analysis);

	json_u64(json, "elapsed_ns", f->elapsed_ns);
	json_known(json, "cpu_ns", f->user_ns + f->syscall_ns + f->trap_ns, scheduling);
	put_cpu_place(json, report, owner);
	json_known(json, "user_ns", f->user_ns, calls);
	json_known(json, "system_ns", f->syscall_ns + f->trap_ns, calls);
	json_known(json, "syscall_ns", f->syscall_ns, calls);
	json_known(json, "trap_ns", f->trap_ns, calls && has_recorded(report->analysis, TRACE_EV_fault_entry));
	if (f->probe_hits) {
		json_u64(json, "probe_hits", f->probe_hits);
		json_u64(json, "probe_ns", f->probe_ns);
		json_u64(json, "probe_least_ns", f->probe_least_ns);
		json_u64(json, "probe_most_ns", f->probe_most_ns);
	}
	if (f->event_records) {
		json_u64(json, "event_records", f->event_records);
		json_u64(json, "event_ns", f->event_ns);
		json_u64(json, "event_least_ns", f->event_least_ns);
		json_u64(json, "event_most_ns", f->event_most_ns);
	}
	json_known(json, "interrupted_ns", f->interrupted_ns, scheduling && has_interrupts(report->analysis));
	json_known(json, "stolen_ns", f->stolen_ns, scheduling);
	json_known(json, "wait_cpu_ns", f->wait_cpu_ns, scheduling);
	put_cpu_waits(json, "wait_cpu_for", f->wait_cpu_for, f->nr_wait_cpu_for);
	put_own_waits(json, report, f, owner);
	report_json_calls(json, report, f);
	put_interrupts(json, f->interrupts, f->nr_interrupts);
	put_files(json, report->analysis, f);
}

static void put_thread(struct json *json, const struct report *report, const struct trace_thread *thread)
{
	struct trace_figures *f = checked_figures(trace_thread_figures(report->analysis, thread));

	json_open(json, NULL, "{");
	json_u64(json, "tid", trace_thread_tid(thread));
	json_text(json, "comm", trace_thread_comm(thread));
	json_known(json, "uid", trace_thread_uid(thread), trace_thread_uid(thread) != TRACE_ID_UNKNOWN);
	json_u64(json, "start_ns", trace_thread_start_ns(thread));
	json_u64(json, "end_ns", trace_thread_end_ns(thread));
	put_figures(json, report, f, &(struct figures_owner){.thread = thread});
	json_close(json, "}");
	trace_figures_free(f);
}

static void put_identity(struct json *json, const struct trace_analysis *analysis,
			 const struct trace_identity *identity)
{
	const struct trace_times *times = &identity->times;
	uint64_t system_ns = times->syscall_ns + times->trap_ns, cpu_ns = times->user_ns + system_ns;

	json_open(json, NULL, "{");
	json_known(json, "uid", identity->uid, identity->uid != TRACE_ID_UNKNOWN);
	json_known(json, "gid", identity->gid, identity->gid != TRACE_ID_UNKNOWN);
	json_u64(json, "ppid", identity->ppid);
	json_text(json, "cgroup", identity->cgroup);
	json_text(json, "comm", identity->comm);
	json_u64(json, "first_ns", identity->first_ns);
	json_u64(json, "last_ns", identity->last_ns);
	json_u64(json, "count", identity->count);
	json_u64(json, "elapsed_ns", cpu_ns + times->interrupted_ns + times->wait_cpu_ns + times->blocked_ns);
	json_known(json, "cpu_ns", cpu_ns, has_scheduling(analysis));
	json_known(json, "interrupted_ns", times->interrupted_ns, has_interrupts(analysis));
	json_known(json, "wait_cpu_ns", times->wait_cpu_ns, has_scheduling(analysis));
	json_u64(json, "blocked_ns", times->blocked_ns);
	json_close(json, "}");
}

/* Empty for a process that was the same all the time. */
static void put_identities(struct json *json, const struct trace_analysis *analysis,
			   const struct trace_process *process)
{
	size_t nr = 0;
	struct trace_identity *identities = trace_process_identities(analysis, process, &nr);

	if (!identities)
		memory_end();
	json_open(json, "identities", "[");
	for (size_t i = 0; i < nr && nr > 1; i++)
		put_identity(json, analysis, &identities[i]);
	json_close(json, "]");
	free(identities);
}

/* If arguments were cut, the last one may be the beginning of a longer one. */
static void put_args(struct json *json, const struct trace_process *process)
{
	const char *at = trace_process_args(process);

	json_open(json, "args", "[");
	while (*at) {
		size_t bytes = strcspn(at, (const char[]){TRACE_ARGS_SEPARATOR, 0});
		char word[TRACE_RECORD_MAX_BYTES];

		snprintf(word, sizeof(word), "%.*s", (int)bytes, at);
		json_separate(json);
		json_string(json, word);
		at += bytes + (at[bytes] != 0);
	}
	json_close(json, "]");
	json_bool(json, "args_are_cut", trace_process_args_are_cut(process));
}

static void put_process(struct json *json, const struct report *report, const struct trace_process *process,
			bool has_threads)
{
	struct trace_figures *f = chosen_figures(report, process);

	json_open(json, NULL, "{");
	json_u64(json, "pid", trace_process_pid(process));
	json_u64(json, "ppid", trace_process_ppid(process));
	json_u64(json, "ns_pid", trace_process_ns_pid(process));
	json_text(json, "cgroup", trace_process_cgroup(process));
	json_text(json, "comm", trace_process_comm(process));
	json_text(json, "title", trace_process_title(process));
	put_args(json, process);
	json_text(json, "exe", trace_process_exe(process));
	json_known(json, "uid", trace_process_uid(process), trace_process_uid(process) != TRACE_ID_UNKNOWN);
	json_known(json, "gid", trace_process_gid(process), trace_process_gid(process) != TRACE_ID_UNKNOWN);
	json_bool(json, "kernel", trace_process_is_kernel(process));
	json_u64(json, "start_ns", trace_process_start_ns(process));
	json_u64(json, "end_ns", trace_process_end_ns(process));
	put_figures(json, report, f, &(struct figures_owner){.process = process});
	trace_figures_free(f);
	put_identities(json, report->analysis, process);
	json_open(json, "threads", "[");
	for (const struct trace_thread *thread = NULL; has_threads && (thread = trace_next_thread(process, thread));)
		if (thread_is_chosen(report, thread))
			put_thread(json, report, thread);
	json_close(json, "]");
	json_close(json, "}");
}

static void put_client(struct json *json, const struct trace_analysis *analysis,
		       const struct trace_server_client *client)
{
	json_open(json, NULL, "{");
	json_u64(json, "pid", client->pid);
	json_text(json, "comm", client->comm);
	json_text(json, "address", client->address);
	json_u64(json, "cpu_ns", client->cpu_ns);
	json_u64(json, "exact_ns", client->exact_ns);
	json_u64(json, "shared_ns", client->shared_ns);
	json_u64(json, "least_ns", client->least_ns);
	json_u64(json, "most_ns", client->most_ns);
	json_u64(json, "requests", client->requests);
	json_known(json, "softirq_ns", client->softirq_ns, has_recorded(analysis, TRACE_EV_softirq_entry));
	json_known(json, "interrupted_ns", client->interrupted_ns, has_interrupts(analysis));
	json_close(json, "}");
}

static void put_servers(struct json *json, const struct report *report)
{
	json_open(json, "servers", "[");
	for (size_t i = 0; i < trace_nr_servers(report->servers); i++) {
		const struct trace_server *server = trace_get_server(report->servers, i);

		json_open(json, NULL, "{");
		json_u64(json, "pid", server->pid);
		json_text(json, "comm", server->comm);
		json_u64(json, "cpu_ns", server->cpu_ns);
		json_u64(json, "exact_ns", server->exact_ns);
		json_u64(json, "shared_ns", server->shared_ns);
		json_u64(json, "background_ns", server->background_ns);
		json_known(json, "softirq_ns", server->softirq_ns,
			   has_recorded(report->analysis, TRACE_EV_softirq_entry));
		json_open(json, "clients", "[");
		for (size_t j = 0; j < server->nr_clients; j++)
			put_client(json, report->analysis, &server->clients[j]);
		json_close(json, "]");
		json_close(json, "}");
	}
	json_close(json, "]");
}

static uint32_t tid_or_0(const struct trace_thread *thread)
{
	return thread ? trace_thread_tid(thread) : 0;
}

static const char *name_or_empty(const struct trace_thread *thread)
{
	return thread ? trace_thread_comm(thread) : "";
}

void report_json_locks(struct json *json, const struct trace_lock_wait *locks, size_t nr)
{
	json_open(json, "locks", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_u64(json, "pid", trace_process_pid(locks[i].waiter));
		json_text(json, "comm", trace_process_comm(locks[i].waiter));
		json_u64(json, "tid", tid_or_0(locks[i].waiter_thread));
		json_text(json, "thread", name_or_empty(locks[i].waiter_thread));
		json_u64(json, "holder_pid", trace_process_pid(locks[i].holder));
		json_text(json, "holder_comm", trace_process_comm(locks[i].holder));
		json_u64(json, "holder_tid", tid_or_0(locks[i].holder_thread));
		json_text(json, "holder_thread", name_or_empty(locks[i].holder_thread));
		json_text(json, "via", locks[i].via);
		json_text(json, "path", locks[i].path);
		json_u64(json, "address", locks[i].address);
		json_u64(json, "ns", locks[i].ns);
		json_u64(json, "count", locks[i].count);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_locks(struct json *json, const struct trace_analysis *analysis)
{
	size_t nr = 0;
	struct trace_lock_wait *locks = trace_lock_waits(analysis, &nr);

	if (!locks)
		memory_end();
	report_json_locks(json, locks, nr);
	free(locks);
}

static void put_interruptions(struct json *json, const struct trace_analysis *analysis)
{
	struct trace_interruption *list;
	size_t nr = 0;

	list = trace_interruptions(analysis, &nr);
	if (!list)
		memory_end();
	json_open(json, "interruptions", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_u64(json, "pid", trace_process_pid(list[i].process));
		json_text(json, "comm", trace_process_comm(list[i].process));
		json_text(json, "call", list[i].call);
		json_u64(json, "by_pid", list[i].by ? trace_process_pid(list[i].by) : 0);
		json_text(json, "by_comm", list[i].by ? trace_process_comm(list[i].by) : "");
		json_text(json, "via", list[i].via);
		json_u64(json, "signal", list[i].signal);
		json_u64(json, "ns", list[i].ns);
		json_u64(json, "count", list[i].count);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}

static void put_system_interrupts(struct json *json, const struct trace_analysis *analysis)
{
	struct trace_interrupt *list;
	size_t nr = 0;

	list = trace_system_interrupts(analysis, &nr);
	if (!list)
		memory_end();
	put_interrupts(json, list, nr);
	free(list);
}

static void put_server_waits(struct json *json, const struct report *report)
{
	json_open(json, "server_waits", "[");
	for (size_t i = 0; i < trace_nr_server_waits(report->servers); i++) {
		const struct trace_server_wait *wait = trace_get_server_wait(report->servers, i);

		json_open(json, NULL, "{");
		json_u64(json, "client_pid", trace_process_pid(wait->client));
		json_text(json, "client_comm", trace_process_comm(wait->client));
		json_u64(json, "server_pid", trace_process_pid(wait->server));
		json_text(json, "server_comm", trace_process_comm(wait->server));
		json_u64(json, "count", wait->count);
		json_u64(json, "wait_ns", wait->wait_ns);
		json_u64(json, "for_client_ns", wait->for_client_ns);
		json_u64(json, "for_others_ns", wait->for_others_ns);
		json_u64(json, "server_waited_ns", wait->server_waited_ns);
		json_u64(json, "server_wait_cpu_ns", wait->server_wait_cpu_ns);
		json_u64(json, "rest_ns", wait->rest_ns);
		put_waits(json, report->analysis, "server_waits", wait->waits, wait->nr_waits);
		put_cpu_waits(json, "server_wait_cpu_for", wait->wait_cpu_for, wait->nr_wait_cpu_for);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_receivers(struct json *json, const struct report *report)
{
	json_open(json, "receivers", "[");
	for (size_t i = 0; i < trace_nr_receivers(report->servers); i++) {
		const struct trace_receiver *receiver = trace_get_receiver(report->servers, i);

		json_open(json, NULL, "{");
		json_u64(json, "pid", receiver->process ? trace_process_pid(receiver->process) : 0);
		json_text(json, "comm", receiver->process ? trace_process_comm(receiver->process) : "");
		json_u64(json, "softirq_ns", receiver->softirq_ns);
		json_u64(json, "deliveries", receiver->deliveries);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_pairs(struct json *json, const struct trace_analysis *analysis, bool is_cut)
{
	size_t nr;
	struct process_pair *pairs = process_pairs(analysis, &nr);

	json_open(json, "pairs", "[");
	for (size_t i = 0; i < nr && (!is_cut || i < PAGE_PROCESSES); i++) {
		const struct process_pair *pair = &pairs[i];

		json_open(json, NULL, "{");
		json_u64(json, "pid", trace_process_pid(pair->waiter));
		json_text(json, "comm", trace_process_comm(pair->waiter));
		json_u64(json, "for_pid", pair->wait.pid);
		json_text(json, "for_comm", pair->wait.comm);
		json_text(json, "via", pair->wait.via);
		json_bool(json, "idle", pair->wait.idle);
		json_u64(json, "ns", pair->wait.ns);
		json_u64(json, "count", pair->wait.count);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(pairs);
}

/* The parts of the whole recording: a window has no figures of them. */
static void put_whole(struct json *json, const struct report *report)
{
	put_servers(json, report);
	put_server_waits(json, report);
	put_receivers(json, report);
}

static void put_takers(struct json *json, const struct trace_analysis *analysis)
{
	struct trace_figures *system = checked_figures(trace_system_figures(analysis));

	json_takers(json, system);
	trace_figures_free(system);
}

struct json report_json_head(FILE *out, const struct trace *trace)
{
	struct json json = {.out = out, .first = true};

	json_open(&json, NULL, "{");
	json_text(&json, "schema", "trace-summary/1");
	json_open(&json, "trace", "{");
	json_text(&json, "file", trace_get_info(trace)->file);
	return json;
}

/* ---- too many processes for a page ---- */

/* All chosen threads of @rows; a browser reads a report of 5,000 of them in a tenth of a second. */
static size_t count_threads(const struct report *report, const struct process_row *rows, size_t nr)
{
	size_t nr_threads = 0;

	for (size_t i = 0; i < nr; i++)
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(rows[i].process, thread));)
			nr_threads += thread_is_chosen(report, thread);
	return nr_threads;
}

/* The sums of @rows, which are not listed, and the calls and files of all processes. */
static void put_rest(struct json *json, const struct report *report, const struct process_row *rows, size_t nr,
		     size_t nr_threads)
{
	struct trace_figures *all = checked_figures(trace_system_figures(report->analysis));
	uint64_t cpu = 0, wait_cpu = 0, blocked = 0;

	for (size_t i = 0; i < nr; i++) {
		cpu += rows[i].user_ns + rows[i].system_ns;
		wait_cpu += rows[i].wait_cpu_ns;
		blocked += rows[i].blocked_ns;
	}
	json_open(json, "rest", "{");
	json_u64(json, "processes", nr);
	json_u64(json, "cpu_ns", cpu);
	json_u64(json, "wait_cpu_ns", wait_cpu);
	json_u64(json, "wait_ns", blocked);
	json_u64(json, "all_threads", nr_threads);
	json_close(json, "}");
	json_open(json, "all", "{");
	report_json_calls(json, report, all);
	report_json_files(json, report, all);
	json_close(json, "}");
	trace_figures_free(all);
}

static size_t most_rows(const struct report *report, size_t nr, bool is_cut)
{
	size_t top = (size_t)report->options->rows.top;

	if (is_cut && PAGE_PROCESSES < nr)
		nr = PAGE_PROCESSES;
	return top && top < nr ? top : nr;
}

void report_json(const struct report *report)
{
	struct json json = report_json_head(report->output.out, report->trace);
	size_t nr, limit, nr_threads;
	struct process_row *rows = process_rows(report, &nr);
	bool is_cut;

	nr_threads = report->is_for_page ? count_threads(report, rows, nr) : 0;
	is_cut = nr_threads > PAGE_THREADS;
	limit = most_rows(report, nr, is_cut);
	put_trace(&json, report);
	put_cpus(&json, report->analysis);
	json_open(&json, "processes", "[");
	for (size_t i = 0; i < limit; i++) {
		putc('\n', json.out);
		put_process(&json, report, rows[i].process, !is_cut);
	}
	json_close(&json, "]");
	if (is_cut)
		put_rest(&json, report, rows + limit, nr - limit, nr_threads);
	json_groups(&json, report, rows, nr);
	put_takers(&json, report->analysis);
	if (!report->is_windowed)
		put_whole(&json, report);
	report_user_json(&json, report);
	json_probes(&json, report);
	json_event_costs(&json, report);
	json_work(&json, report);
	put_locks(&json, report->analysis);
	put_interruptions(&json, report->analysis);
	json_disks(&json, report->disks);
	json_disk_uses(&json, report);
	put_pairs(&json, report->analysis, is_cut);
	put_system_interrupts(&json, report->analysis);
	report_check_memory(report);
	json_close(&json, "}\n");
	free(rows);
}

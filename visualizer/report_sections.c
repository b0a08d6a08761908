/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_sections.c - the machine-wide tables: files, locks, pairs of processes, interrupts,
 * devices and system calls.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "cpu_takers.h"
#include "grid.h"
#include "linux_names.h"
#include "process_choice.h"
#include "process_pairs.h"
#include "report_disk_uses.h"
#include "report_disks.h"
#include "report_files.h"
#include "report_sections.h"
#include "row_limit.h"
#include "value_text.h"
#include "wait_text.h"

#define ROWS	   15 /* in each table, unless --top or --all choose another number */
#define INDENT	   "  "
#define NAME_BYTES 256

static void end(struct grid *grid, const struct text_output *output, const struct row_limit *limit)
{
	struct value_text rest;

	grid_end(grid, row_limit_rest(limit, output, &rest));
	fputs("\n", output->out);
}

/* ---- by kind ---- */

/*
 * In a recording of some processes most time is that of the others, and unknown: it stands behind
 * the known times, and is no part of their sum.
 */
static void by_kind(const struct report *report, const struct trace_figures *f)
{
	const struct text_output *output = &report->output;
	bool is_filtered = trace_analysis_is_filtered(report->analysis);
	static const struct grid_column columns[] = {
		{"time", GRID_RIGHT}, {"%", GRID_RIGHT}, {"waits", GRID_RIGHT}, {"for", GRID_ELASTIC}};
	enum { AT_REST = TRACE_NR_WAIT_KINDS, NEXT_JOB, HIDDEN, ASLEEP, FILTERED, NR_ROWS };
	static const char *const words[NR_ROWS] = {
		[TRACE_WAIT_FILE] = "files",
		[TRACE_WAIT_PROCESS] = "other processes",
		[TRACE_WAIT_NETWORK] = "the network",
		[TRACE_WAIT_TIMEOUT] = "timers (sleeps and timeouts)",
		[TRACE_WAIT_DEVICE] = "devices and terminals",
		[TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "being continued (job control, tracing)",
		[TRACE_WAIT_OTHER] = "system calls without a known cause",
		[TRACE_WAIT_UNKNOWN] = "unknown (not recorded)",
		[TRACE_WAIT_KERNEL] = "the kernel (its threads, RCU)",
		[TRACE_WAIT_QUOTA] = "the CPU quota of their control groups",
		[AT_REST] = "the next request (idle servers)",
		[NEXT_JOB] = "the next job (idle kernel threads)",
		[HIDDEN] = "unknown (threads hidden from the recorder)",
		[ASLEEP] = "blocked during the whole trace (threads hidden from the recorder)",
		[FILTERED] = "unknown (not recorded, such as processes that the filter left out)",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");
	uint64_t ns[NR_ROWS] = {0}, count[NR_ROWS] = {0}, whole;
	struct grid *grid;

	if (!f->blocked_ns && !f->wait_cpu_ns)
		return;
	grid = grid_new(output, INDENT, columns, 4);
	for (size_t i = 0; i < f->nr_waits; i++) {
		const struct trace_wait *wait = &f->waits[i];
		int row = (int)wait->kind;

		if (wait->kind == TRACE_WAIT_UNKNOWN && is_filtered)
			row = FILTERED;
		else if (wait->kind == TRACE_WAIT_UNKNOWN && *wait->target)
			row = wait->idle ? ASLEEP : HIDDEN;
		else if (wait->idle)
			row = wait->kind == TRACE_WAIT_KERNEL ? NEXT_JOB : AT_REST;
		ns[row] += wait->ns;
		count[row] += wait->count;
	}
	whole = f->blocked_ns + f->wait_cpu_ns - ns[FILTERED];
	output_title(output, "",
		     is_filtered ? "What the recorded threads waited for (all added up; % of that sum):"
				 : "What threads waited for (all threads added up; % of that sum):");
	for (int i = 0; i < FILTERED; i++) {
		if (!ns[i])
			continue;
		grid_ns(grid, ns[i]);
		grid_percent(grid, ns[i], whole);
		grid_count(grid, count[i]);
		grid_text(grid, words[i]);
	}
	grid_ns(grid, f->wait_cpu_ns);
	grid_percent(grid, f->wait_cpu_ns, whole);
	grid_text(grid, "");
	grid_text(grid, "a CPU");
	if (ns[FILTERED]) {
		grid_ns(grid, ns[FILTERED]);
		grid_text(grid, "");
		grid_text(grid, "");
		grid_text(grid, words[FILTERED]);
	}
	grid_end(grid, NULL);
	fputs("\n", output->out);
}

/* ---- by file ---- */

static void by_file(const struct report *report, const struct trace_figures *f)
{
	uint64_t wait_ns = 0;

	if (!f->nr_files)
		return;
	for (size_t i = 0; i < f->nr_files; i++)
		wait_ns += f->files[i].wait_ns;
	output_title(&report->output, "",
		     "Files (waited: time that threads were blocked on them; reads, writes: number of calls):");
	report_files(report, INDENT, f, wait_ns, ROWS);
	fputs("\n", report->output.out);
}

/* ---- by lock ---- */

/* A process, and which of its threads. NULL: not known; the first thread needs no name. */
static void grid_thread(struct grid *grid, const struct trace_process *process, const struct trace_thread *thread)
{
	char whole[NAME_BYTES + 32], one[NAME_BYTES + 32], both[2 * NAME_BYTES + 80];

	if (!thread || trace_nr_threads(process) == 1) {
		grid_process(grid, trace_process_title(process), trace_process_pid(process));
		return;
	}
	snprintf(both, sizeof(both), "%s, thread %s",
		 text_process(trace_process_title(process), trace_process_pid(process), whole, sizeof(whole)),
		 text_process(trace_thread_comm(thread), trace_thread_tid(thread), one, sizeof(one)));
	grid_text(grid, both);
}

static void grid_holder(struct grid *grid, const struct trace_lock_wait *lock)
{
	char text[NAME_BYTES + 48];

	if (lock->holder != lock->waiter) {
		grid_thread(grid, lock->holder, lock->holder_thread);
		return;
	}
	if (!lock->holder_thread) {
		grid_text(grid, "another of its threads");
		return;
	}
	grid_text(grid, text_own_thread(lock->holder_thread, text, sizeof(text)));
}

static void put_lock(struct grid *grid, const struct trace_lock_wait *lock)
{
	struct value_text text;

	grid_ns(grid, lock->ns);
	grid_count(grid, lock->count);
	grid_thread(grid, lock->waiter, lock->waiter_thread);
	grid_holder(grid, lock);
	snprintf(text.bytes, sizeof(text.bytes), "futex 0x%" PRIx64, lock->address);
	if (lock->address || !*lock->path)
		grid_text(grid, text.bytes);
	else
		grid_name(grid, lock->path);
}

static bool lock_is_shown(const struct report *report, const struct trace_lock_wait *lock)
{
	return process_is_chosen(&report->options->processes, lock->waiter) ||
	       process_is_chosen(&report->options->processes, lock->holder);
}

void report_locks(const struct report *report)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},
						     {"waits", GRID_RIGHT},
						     {"waiter", GRID_ELASTIC},
						     {"held by", GRID_ELASTIC},
						     {"lock", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct trace_lock_wait *locks;
	uint64_t whole = 0;
	struct grid *grid;
	size_t nr = 0;

	locks = trace_lock_waits(report->analysis, &nr);
	if (!locks)
		memory_end();
	for (size_t i = 0; i < nr; i++)
		if (lock_is_shown(report, &locks[i]))
			whole += locks[i].ns;
	if (whole) {
		output_title(&report->output, "",
			     "Locks (futexes: mutexes, conditions; file locks; semaphores; a wait is split among the "
			     "threads that held the lock in turn):");
		grid = grid_new(&report->output, INDENT, columns, 5);
		for (size_t i = 0; i < nr; i++)
			if (lock_is_shown(report, &locks[i]) && row_limit_shows(&limit, locks[i].ns, whole))
				put_lock(grid, &locks[i]);
		end(grid, &report->output, &limit);
	}
	free(locks);
}

/* ---- by interruption ---- */

static void put_interruption(struct grid *grid, const struct trace_interruption *row)
{
	const char *signal = linux_signal_name(row->signal);
	struct value_text text;

	grid_ns(grid, row->ns);
	grid_count(grid, row->count);
	grid_process(grid, trace_process_title(row->process), trace_process_pid(row->process));
	grid_name(grid, row->call);
	if (signal)
		snprintf(text.bytes, sizeof(text.bytes), "SIG%s", signal);
	else if (row->signal)
		snprintf(text.bytes, sizeof(text.bytes), "signal %u", row->signal);
	else
		snprintf(text.bytes, sizeof(text.bytes), "%s", *row->via ? row->via : "the kernel");
	grid_text(grid, text.bytes);
	if (row->by)
		grid_process(grid, trace_process_title(row->by), trace_process_pid(row->by));
	else
		grid_text(grid, "(an interrupt)");
}

static void by_interruption(const struct report *report)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},	    {"times", GRID_RIGHT},
						     {"process", GRID_ELASTIC},	    {"call", GRID_ELASTIC},
						     {"interrupted", GRID_ELASTIC}, {"by", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct trace_interruption *list;
	uint64_t whole = 0;
	struct grid *grid;
	size_t nr = 0;

	list = trace_interruptions(report->analysis, &nr);
	if (!list)
		memory_end();
	for (size_t i = 0; i < nr; i++)
		whole += list[i].ns;
	if (whole) {
		output_title(&report->output, "",
			     "Interrupted calls (waited: before the interruption; the waits are accounted to what the "
			     "calls were for):");
		grid = grid_new(&report->output, INDENT, columns, 6);
		for (size_t i = 0; i < nr; i++)
			if (row_limit_shows(&limit, list[i].ns, whole))
				put_interruption(grid, &list[i]);
		end(grid, &report->output, &limit);
	}
	free(list);
}

/* ---- by pair ---- */

static void grid_own_thread(struct grid *grid, const struct trace_thread *thread)
{
	char text[NAME_BYTES + 48];

	grid_text(grid, thread ? text_own_thread(thread, text, sizeof(text)) : "another of its threads");
}

static void by_pair(const struct report *report)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},
						     {"waits", GRID_RIGHT},
						     {"waiter", GRID_ELASTIC},
						     {"waited for", GRID_ELASTIC},
						     {"via", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid;
	uint64_t whole = 0;
	size_t nr;
	struct process_pair *pairs = process_pairs(report->analysis, &nr);

	for (size_t i = 0; i < nr; i++)
		whole += pairs[i].wait.ns;
	if (nr) {
		output_title(&report->output, "", "Waits between processes:");
		grid = grid_new(&report->output, INDENT, columns, 5);
		for (size_t i = 0; i < nr; i++) {
			const struct process_pair *pair = &pairs[i];

			if (!row_limit_shows(&limit, pair->wait.ns, whole))
				continue;
			grid_ns(grid, pair->wait.ns);
			grid_count(grid, pair->wait.count);
			grid_process(grid, trace_process_title(pair->waiter), trace_process_pid(pair->waiter));
			if (pair->wait.pid == trace_process_pid(pair->waiter))
				grid_own_thread(grid, pair->wait.thread);
			else
				grid_process(grid, pair->wait.target, pair->wait.pid);
			grid_text(grid, pair->wait.idle ? "(idle)" : pair->wait.via);
		}
		end(grid, &report->output, &limit);
	}
	free(pairs);
}

/* ---- by interrupt, by device ---- */

static void by_interrupt(const struct report *report)
{
	static const struct grid_column columns[] = {{"time", GRID_RIGHT},
						     {"count", GRID_RIGHT},
						     {"mean", GRID_RIGHT},
						     {"kind", GRID_ELASTIC},
						     {"name", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct trace_interrupt *list;
	struct grid *grid;
	uint64_t whole = 0;
	size_t nr = 0;

	list = trace_system_interrupts(report->analysis, &nr);
	if (!list)
		memory_end();
	for (size_t i = 0; i < nr; i++)
		whole += list[i].ns;
	if (nr) {
		output_title(&report->output, "", "Interrupts (the CPU time that they took, also on idle CPUs):");
		grid = grid_new(&report->output, INDENT, columns, 5);
		for (size_t i = 0; i < nr; i++) {
			if (!row_limit_shows(&limit, list[i].ns, whole))
				continue;
			grid_ns(grid, list[i].ns);
			grid_count(grid, list[i].count);
			grid_ns(grid, list[i].count ? list[i].ns / list[i].count : 0);
			grid_text(grid, list[i].type);
			grid_name(grid, list[i].name);
		}
		end(grid, &report->output, &limit);
	}
	free(list);
}

static void by_device(const struct report *report, const struct trace_figures *f)
{
	static const struct grid_column columns[] = {{"waited", GRID_RIGHT},
						     {"waits", GRID_RIGHT},
						     {"for", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = NULL;
	uint64_t whole = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_NETWORK)
			whole += f->waits[i].ns;
	if (!whole)
		return;
	output_title(&report->output, "",
		     "Devices and hosts of the network (waited: time that threads were blocked on them):");
	grid = grid_new(&report->output, INDENT, columns, 3);
	for (size_t i = 0; i < f->nr_waits; i++) {
		char text[512];

		if ((f->waits[i].kind != TRACE_WAIT_DEVICE && f->waits[i].kind != TRACE_WAIT_NETWORK) ||
		    !row_limit_shows(&limit, f->waits[i].ns, whole))
			continue;
		grid_ns(grid, f->waits[i].ns);
		grid_count(grid, f->waits[i].count);
		grid_text(grid, text_wait(report->analysis, &f->waits[i], 0, text, sizeof(text)));
	}
	end(grid, &report->output, &limit);
}

void report_sections(const struct report *report, const struct trace_figures *system)
{
	if (report_has(report, SECTION_KINDS))
		by_kind(report, system);
	if (report_has(report, SECTION_TAKERS))
		report_takers(report, system);
	if (report_has(report, SECTION_FILES))
		by_file(report, system);
	if (report_has(report, SECTION_LOCKS))
		report_locks(report);
	if (report_has(report, SECTION_INTERRUPTED))
		by_interruption(report);
	if (report_has(report, SECTION_PAIRS))
		by_pair(report);
	if (report_has(report, SECTION_INTERRUPTS))
		by_interrupt(report);
	if (report_has(report, SECTION_DEVICES))
		by_device(report, system);
	if (report_has(report, SECTION_DISKS)) {
		report_disks(&report->output, report->disks);
		report_disk_uses(report);
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_text.c - the summary for people: the labels and the order of the original, and what it could not know: what each process waited for.
 *
 * From the general to the particular: a verdict of the machine, the numbers of events, the CPUs, a line for each process,
 * a page for each process, and the sums of the whole system.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

#define NAME_BYTES 256

static void heading(const struct report *report, const char *indent, const char *text)
{
	fprintf(report->out, "%s%s%s%s\n", indent, report->colour ? "\033[1m" : "", text, report->colour ? "\033[0m" : "");
}

static void seconds(FILE *out, const char *label, uint64_t ns)
{
	fprintf(out, "%s(%" PRIu64 ", %" PRIu64 ")\n", label, ns / 1000000000, ns / 1000 % 1000000);
}

static void share(FILE *out, const char *label, uint64_t ns, uint64_t whole)
{
	fprintf(out, "%s(%" PRIu64 ", %" PRIu64 ") => %2.2f %%\n", label, ns / 1000000000, ns / 1000 % 1000000, percent(ns, whole));
}

/* ---- the summary of the original ---- */

/* What each line of the original counts. */
static const struct {
	const char *label;
	uint32_t ids[3];
} counted[] = {
	{"Scheduling changes", {TRACE_EV_sched_switch}},
	{"Kernel timer tics", {TRACE_EV_vector_entry}},
	{"System call entries", {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6}},
	{"System call exits", {TRACE_EV_sys_exit}},
	{"Trap entries", {TRACE_EV_fault_entry}},
	{"Trap exits", {TRACE_EV_fault_exit}},
	{"IRQ entries", {TRACE_EV_irq_entry}},
	{"IRQ exits", {TRACE_EV_irq_exit}},
	{"Bottom halves", {TRACE_EV_softirq_entry}},
	{"Timer expiries", {TRACE_EV_timer_expire, TRACE_EV_hrtimer_expire}},
	{"Page allocations", {TRACE_EV_page_alloc}},
	{"Page frees", {TRACE_EV_page_free}},
	{"Packets Out", {TRACE_EV_net_tx}},
	{"Packets In", {TRACE_EV_net_rx}},
};

static void put_losses(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	uint64_t contradictions = trace_analysis_contradictions(report->analysis);
	size_t gaps = trace_nr_gaps(report->trace);

	if (contradictions)
		fprintf(report->out, "\n%" PRIu64 " times a thread was where it could not be: events are missing that no gap tells of, or were filtered.\n",
			contradictions);
	if (gaps)
		fprintf(report->out, "\nLost: %" PRIu64 " events in %zu gaps; what they touch is counted as unknown.\n", info->lost, gaps);
	for (size_t i = 0; trace_not_traced(report->trace, i); i++)
		fprintf(report->out, "%sNot traced: %s\n", i || gaps ? "" : "\n", trace_not_traced(report->trace, i));
}

void report_summary(struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	uint64_t start, end, events = 0, offset;

	trace_analysis_window(report->analysis, &start, &end);
	offset = info->start_realtime_ns ? info->start_realtime_ns - info->start_ns : 0;
	seconds(report->out, "Trace start time: ", start + offset);
	seconds(report->out, "Trace end time: ", end + offset);
	seconds(report->out, "Trace duration: ", end - start);
	for (uint32_t id = TRACE_EV_sys_enter; id < TRACE_EV_MAX; id++) /* what comes before is about the trace itself */
		events += trace_analysis_count(report->analysis, id);
	fprintf(report->out, "\nNumber of occurences of:\n\tEvents: %" PRIu64 "\n", events);
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		uint64_t nr = 0;

		for (int j = 0; j < 3; j++)
			if (counted[i].ids[j])
				nr += trace_analysis_count(report->analysis, counted[i].ids[j]);
		fprintf(report->out, "\t%s: %" PRIu64 "\n", counted[i].label, nr);
	}
	put_losses(report);
}

/* ---- the verdict ---- */

struct cpu_total {
	uint64_t user, system, interrupts, idle, unknown, all;
};

static struct cpu_total cpu_total(const struct report *report)
{
	struct cpu_total total = {0};
	struct trace_cpu_figures f;

	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		trace_cpu_figures(report->analysis, i, &f);
		total.user += f.user_ns;
		total.system += f.system_ns;
		total.interrupts += f.irq_ns + f.softirq_ns;
		total.idle += f.idle_ns;
		total.unknown += f.unknown_ns;
	}
	total.all = total.user + total.system + total.interrupts + total.idle + total.unknown;
	return total;
}

static const struct process_row *busiest(const struct process_row *rows, size_t nr)
{
	const struct process_row *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!best || rows[i].user_ns + rows[i].system_ns > best->user_ns + best->system_ns)
			best = &rows[i];
	return best && best->user_ns + best->system_ns ? best : NULL;
}

static const struct process_row *hungriest(const struct process_row *rows, size_t nr)
{
	const struct process_row *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!best || rows[i].wait_cpu_ns > best->wait_cpu_ns)
			best = &rows[i];
	return best && best->wait_cpu_ns ? best : NULL;
}

/* The greatest wait of the machine that somebody should look at: neither idle nor the sleep of a process that wanted it. */
static bool worst_wait(const struct trace_figures *f, struct trace_wait *ret_wait)
{
	for (size_t i = 0; i < f->nr_waits; i++)
		if (!f->waits[i].idle && (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
					  f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_MEMORY)) {
			*ret_wait = f->waits[i];
			return true;
		}
	return false;
}

static void verdict(const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system)
{
	const struct trace_info *info = trace_get_info(report->trace);
	struct cpu_total cpus = cpu_total(report);
	const struct process_row *busy = busiest(rows, nr), *hungry = hungriest(rows, nr);
	struct trace_wait wait;
	struct text one, two;
	uint64_t start, end;
	char name[NAME_BYTES];
	FILE *out = report->out;

	trace_analysis_window(report->analysis, &start, &end);
	fprintf(out, "In %s", text_ns(report, end - start, &one));
	fprintf(out, " the %zu CPU%s of %s %s %.1f %% busy: %.1f %% in user mode, %.1f %% in the kernel, %.1f %% in interrupts; %.1f %% idle",
		trace_nr_cpus(report->analysis), trace_nr_cpus(report->analysis) == 1 ? "" : "s", *info->host ? info->host : "the machine",
		trace_nr_cpus(report->analysis) == 1 ? "was" : "were", percent(cpus.user + cpus.system + cpus.interrupts, cpus.all),
		percent(cpus.user, cpus.all), percent(cpus.system, cpus.all), percent(cpus.interrupts, cpus.all), percent(cpus.idle, cpus.all));
	if (cpus.unknown)
		fprintf(out, ", %.1f %% unknown", percent(cpus.unknown, cpus.all));
	fputs(".", out);
	if (busy)
		fprintf(out, " Most of it went to %s (%u): %s.", text_name(trace_process_comm(busy->process), name, sizeof(name)),
			trace_process_pid(busy->process), text_ns(report, busy->user_ns + busy->system_ns, &one));
	if (hungry)
		fprintf(out, " Threads waited %s for a CPU, %s (%u) the longest, %s.", text_ns(report, system->wait_cpu_ns, &one),
			text_name(trace_process_comm(hungry->process), name, sizeof(name)), trace_process_pid(hungry->process),
			text_ns(report, hungry->wait_cpu_ns, &two));
	if (worst_wait(system, &wait))
		fprintf(out, " The longest wait for input or output: %s for the %s %s.", text_ns(report, wait.ns, &one),
			trace_wait_kind_name(wait.kind), text_name(wait.target, name, sizeof(name)));
	if (trace_nr_gaps(report->trace))
		fprintf(out, " %" PRIu64 " events were lost: what they touch is unknown.", info->lost);
	fputs("\n\n", out);
}

/* ---- tables ---- */

static void cpu_table(const struct report *report)
{
	struct trace_cpu_figures f;
	struct text t[6];

	heading(report, "", "CPUs:");
	fprintf(report->out, "\t%4s %14s %14s %14s %14s %14s %14s\n", "CPU", "user", "system", "irq", "softirq", "idle", "unknown");
	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		trace_cpu_figures(report->analysis, i, &f);
		fprintf(report->out, "\t%4u %14s %14s %14s %14s %14s %14s\n", f.cpu, text_ns(report, f.user_ns, &t[0]),
			text_ns(report, f.system_ns, &t[1]), text_ns(report, f.irq_ns, &t[2]), text_ns(report, f.softirq_ns, &t[3]),
			text_ns(report, f.idle_ns, &t[4]), text_ns(report, f.unknown_ns, &t[5]));
	}
	fputs("\n", report->out);
}

static void process_line(const struct report *report, const struct process_row *row)
{
	struct text t[6];
	char name[NAME_BYTES];

	fprintf(report->out, "\t%8u %8u %14s %14s %14s %14s %14s %14s  %s\n", trace_process_pid(row->process), trace_process_ppid(row->process),
		text_ns(report, row->elapsed_ns, &t[0]), text_ns(report, row->user_ns, &t[1]), text_ns(report, row->system_ns, &t[2]),
		text_ns(report, row->interrupted_ns, &t[3]), text_ns(report, row->wait_cpu_ns, &t[4]), text_ns(report, row->blocked_ns, &t[5]),
		text_name(trace_process_comm(row->process), name, sizeof(name)));
}

static void folded_line(const struct report *report, const struct process_row *rows, size_t nr)
{
	uint64_t kernel_ns = 0;
	size_t kernel = 0, idle = 0;
	struct text t;

	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].folded)
			continue;
		if (trace_process_is_kernel(rows[i].process)) {
			kernel++;
			kernel_ns += rows[i].system_ns;
		} else {
			idle++;
		}
	}
	if (kernel + idle)
		fprintf(report->out, "\t%zu kernel threads used %s of CPU; %zu processes did nothing (--all shows them).\n", kernel,
			text_ns(report, kernel_ns, &t), idle);
}

static void process_table(const struct report *report, const struct process_row *rows, size_t nr, size_t limit)
{
	size_t shown = 0, left = 0;

	heading(report, "", "Processes:");
	fprintf(report->out, "\t%8s %8s %14s %14s %14s %14s %14s %14s  %s\n", "PID", "PPID", "elapsed", "user", "system", "interrupted",
		"waiting: CPU", "other", "command");
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].folded)
			continue;
		if (shown < limit) {
			process_line(report, &rows[i]);
			shown++;
		} else {
			left++;
		}
	}
	if (left)
		fprintf(report->out, "\t%zu more.\n", left);
	folded_line(report, rows, nr);
	fputs("\n", report->out);
}

static void call_table(const struct report *report, const char *title, const struct trace_call *calls, size_t nr, const char *errors,
		       uint64_t whole)
{
	struct text t[5];

	if (!nr)
		return;
	heading(report, "\t\t", title);
	fprintf(report->out, "\t\t\t%10s %8s %14s %7s %14s %14s %14s %14s  %s\n", "count", errors, "elapsed", "%", "CPU", "interrupted",
		"waiting: CPU", "other", "name");
	for (size_t i = 0; i < nr; i++)
		fprintf(report->out, "\t\t\t%10" PRIu64 " %8" PRIu64 " %14s %7.2f %14s %14s %14s %14s  %s\n", calls[i].calls, calls[i].errors,
			text_ns(report, calls[i].elapsed_ns, &t[0]), percent(calls[i].elapsed_ns, whole),
			text_ns(report, calls[i].cpu_ns, &t[1]), text_ns(report, calls[i].interrupted_ns, &t[2]),
			text_ns(report, calls[i].wait_cpu_ns, &t[3]), text_ns(report, calls[i].wait_ns, &t[4]), calls[i].name);
}

static void time_line(const struct report *report, uint64_t ns, uint64_t whole, uint64_t count, const char *text)
{
	struct text t, n;

	snprintf(n.bytes, sizeof(n.bytes), "%" PRIu64, count);
	fprintf(report->out, "\t\t\t%14s %7.2f %10s  %s\n", text_ns(report, ns, &t), percent(ns, whole), count ? n.bytes : "", text);
}

static void mode_table(const struct report *report, const struct trace_figures *f)
{
	heading(report, "\t\t", "Where the time went:");
	time_line(report, f->elapsed_ns, f->elapsed_ns, 0, "elapsed, of all threads");
	time_line(report, f->user_ns, f->elapsed_ns, 0, "user mode");
	time_line(report, f->syscall_ns, f->elapsed_ns, f->nr_syscalls, "system calls");
	time_line(report, f->trap_ns, f->elapsed_ns, f->nr_traps, "traps");
	time_line(report, f->interrupted_ns, f->elapsed_ns, 0, "interrupted");
	time_line(report, f->wait_cpu_ns, f->elapsed_ns, 0, "waiting for a CPU");
	time_line(report, f->blocked_ns, f->elapsed_ns, 0, "waiting for something else");
}

static void interrupt_table(const struct report *report, const struct trace_figures *f)
{
	char text[NAME_BYTES + 64], name[NAME_BYTES];

	if (!f->nr_interrupts)
		return;
	heading(report, "\t\t", "Interrupted by:");
	for (size_t i = 0; i < f->nr_interrupts; i++) {
		snprintf(text, sizeof(text), "%s %s", f->interrupts[i].type, text_name(f->interrupts[i].name, name, sizeof(name)));
		time_line(report, f->interrupts[i].ns, f->elapsed_ns, f->interrupts[i].count, text);
	}
}

static void cpu_wait_table(const struct report *report, const struct trace_figures *f)
{
	char text[NAME_BYTES + 64], name[NAME_BYTES];

	if (!f->nr_wait_cpu_for)
		return;
	heading(report, "\t\t", "Waiting for a CPU that was taken by:");
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		text_name(f->wait_cpu_for[i].comm, name, sizeof(name));
		if (f->wait_cpu_for[i].pid)
			snprintf(text, sizeof(text), "process %u %s", f->wait_cpu_for[i].pid, name);
		else
			snprintf(text, sizeof(text), "(%s)", name);
		time_line(report, f->wait_cpu_for[i].ns, f->elapsed_ns, 0, text);
	}
}

static void wait_text(const struct trace_wait *wait, char *text, size_t size)
{
	char name[NAME_BYTES], pid[32] = "";

	text_name(wait->target, name, sizeof(name));
	if (wait->kind == TRACE_WAIT_PROCESS)
		snprintf(pid, sizeof(pid), "%u ", wait->pid);
	snprintf(text, size, "%s%s%s%s%s%s%s", trace_wait_kind_name(wait->kind), *pid || *name ? " " : "", pid, name, *wait->via ? " via " : "",
		 wait->via, wait->idle ? " (idle)" : "");
}

static void wait_table(const struct report *report, const struct trace_figures *f)
{
	char text[2 * NAME_BYTES];

	if (!f->nr_waits)
		return;
	heading(report, "\t\t", "Waiting for:");
	for (size_t i = 0; i < f->nr_waits; i++) {
		wait_text(&f->waits[i], text, sizeof(text));
		time_line(report, f->waits[i].ns, f->elapsed_ns, f->waits[i].count, text);
	}
}

static void file_table(const struct report *report, const struct trace_figures *f)
{
	struct text t[3];
	char name[NAME_BYTES];

	if (!f->nr_files)
		return;
	heading(report, "\t\t", "Files:");
	fprintf(report->out, "\t\t\t%14s %10s %12s %10s %12s  %s\n", "waited", "reads", "read", "writes", "written", "path");
	for (size_t i = 0; i < f->nr_files; i++)
		fprintf(report->out, "\t\t\t%14s %10" PRIu64 " %12s %10" PRIu64 " %12s  %s\n", text_ns(report, f->files[i].wait_ns, &t[0]),
			f->files[i].reads, text_bytes(report, f->files[i].read_bytes, &t[1]), f->files[i].writes,
			text_bytes(report, f->files[i].written_bytes, &t[2]), text_name(f->files[i].path, name, sizeof(name)));
}

static uint64_t io_ns(const struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_NETWORK)
			ns += f->waits[i].ns;
	return ns;
}

/* The lines of the original, in its words. Percentages are of the trace, as they were. */
static void classic_lines(const struct report *report, const struct trace_figures *f, uint64_t trace_ns)
{
	struct text t[2];

	fprintf(report->out, "\t\tNumber of system calls: %" PRIu64 "\n\t\tNumber of traps: %" PRIu64 "\n", f->nr_syscalls, f->nr_traps);
	fprintf(report->out, "\t\tQuantity of data read from files: %s\n\t\tQuantity of data written to files: %s\n",
		text_bytes(report, f->read_bytes, &t[0]), text_bytes(report, f->written_bytes, &t[1]));
	share(report->out, "\t\tTime executing process code: ", f->user_ns, trace_ns);
	share(report->out, "\t\tTime running: ", f->user_ns + f->syscall_ns + f->trap_ns, trace_ns);
	share(report->out, "\t\tTime waiting for I/O: ", io_ns(f), trace_ns);
}

static bool process_page(const struct report *report, const struct process_row *row, uint64_t trace_ns)
{
	struct trace_figures *f = trace_process_figures(report->analysis, row->process);
	char title[2 * NAME_BYTES + 64], name[NAME_BYTES], exe[NAME_BYTES];

	if (!f)
		return false;
	text_name(trace_process_comm(row->process), name, sizeof(name));
	text_name(trace_process_exe(row->process), exe, sizeof(exe));
	snprintf(title, sizeof(title), "Process (%u, %u): %s%s%s:", trace_process_pid(row->process), trace_process_ppid(row->process), name,
		 *exe ? "  " : "", exe);
	heading(report, "\t", title);
	classic_lines(report, f, trace_ns);
	mode_table(report, f);
	call_table(report, "System call usage:", f->syscalls, f->nr_syscalls_rows, "errors", f->elapsed_ns);
	call_table(report, "Traps:", f->traps, f->nr_traps_rows, "major", f->elapsed_ns);
	interrupt_table(report, f);
	cpu_wait_table(report, f);
	wait_table(report, f);
	file_table(report, f);
	fputs("\n", report->out);
	trace_figures_free(f);
	return true;
}

/* How much of a server's CPU time is known to be for whom: the greater the exact share, the surer the bill. */
static void server_table(const struct report *report)
{
	char name[NAME_BYTES];
	struct text t[4];

	if (!trace_nr_servers(report->servers))
		return;
	heading(report, "", "Servers:");
	for (size_t i = 0; i < trace_nr_servers(report->servers); i++) {
		const struct trace_server *server = trace_get_server(report->servers, i);

		fprintf(report->out, "\t%s (%u): %s of CPU time, %.1f %% exact, %.1f %% shared, %.1f %% background\n",
			text_name(server->comm, name, sizeof(name)), server->pid, text_ns(report, server->cpu_ns, &t[0]),
			percent(server->exact_ns, server->cpu_ns), percent(server->shared_ns, server->cpu_ns),
			percent(server->background_ns, server->cpu_ns));
		fprintf(report->out, "\t\t%14s %14s %14s %10s  %s\n", "CPU time", "exact", "shared", "requests", "for client");
		for (size_t j = 0; j < server->nr_clients; j++) {
			const struct trace_server_client *client = &server->clients[j];
			char pid[24] = "";

			if (client->process)
				snprintf(pid, sizeof(pid), " (%u)", client->pid);
			fprintf(report->out, "\t\t%14s %14s %14s %10" PRIu64 "  %s%s\n", text_ns(report, client->cpu_ns, &t[1]),
				text_ns(report, client->exact_ns, &t[2]), text_ns(report, client->shared_ns, &t[3]), client->requests,
				text_name(client->process ? client->comm : client->address, name, sizeof(name)), pid);
		}
	}
	fputs("\n", report->out);
}

static void system_page(const struct report *report, const struct trace_figures *f, uint64_t trace_ns)
{
	struct cpu_total cpus = cpu_total(report);
	uint64_t nr = trace_nr_cpus(report->analysis), whole = trace_ns * (nr ? nr : 1);

	heading(report, "\t", "System-wide:");
	share(report->out, "\t\tTotal process time: ", cpus.user, whole);
	share(report->out, "\t\tTotal system time: ", cpus.system + cpus.interrupts, whole);
	share(report->out, "\t\tSystem idle: ", cpus.idle, whole);
	call_table(report, "System call usage:", f->syscalls, f->nr_syscalls_rows, "errors", f->elapsed_ns);
}

int report_text(struct report *report)
{
	size_t nr, limit, shown = 0;
	struct process_row *rows = process_rows(report, &nr);
	struct trace_figures *system = trace_system_figures(report->analysis);
	uint64_t start, end;
	bool ok = rows && system;

	if (ok) {
		trace_analysis_window(report->analysis, &start, &end);
		limit = report->options->top ? (size_t)report->options->top : nr;
		verdict(report, rows, nr, system);
		report_summary(report);
		fputs("\n", report->out);
		cpu_table(report);
		process_table(report, rows, nr, limit);
		server_table(report);
		heading(report, "", "Analysis details:");
		for (size_t i = 0; i < nr && shown < limit && ok; i++)
			if (!rows[i].folded) {
				ok = process_page(report, &rows[i], end - start);
				shown++;
			}
		system_page(report, system, end - start);
	}
	trace_figures_free(system);
	free(rows);
	return ok ? 0 : -ENOMEM;
}

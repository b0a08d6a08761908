/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_rows.c - choose and sort the processes of a report, and format its values. */
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>
#include "complain.h"
#include "report.h"

/* True in the control group @cgroup and its descendants. */
static bool is_in_cgroup(const struct trace_process *process, const char *cgroup)
{
	const char *path = trace_process_cgroup(process);
	size_t length = strlen(cgroup);

	while (length && cgroup[length - 1] == '/')
		length--;
	return *path && strncmp(path, cgroup, length) == 0 && (path[length] == 0 || path[length] == '/');
}

bool comm_is(const char *comm, const char *name)
{
	return strncmp(comm, name, COMM_BYTES - 1) == 0;
}

bool process_wanted(const struct report *report, const struct trace_process *process)
{
	const struct options *options = report->options;

	if (options->pid >= 0 && trace_process_pid(process) != (uint32_t)options->pid)
		return false;
	if (options->cgroup && !is_in_cgroup(process, options->cgroup))
		return false;
	return !options->comm || comm_is(trace_process_comm(process), options->comm);
}

static int descending(uint64_t left, uint64_t right)
{
	return left > right ? -1 : left < right;
}

static uint64_t cpu_ns(const struct process_row *row)
{
	return row->user_ns + row->system_ns;
}

/* User and system time cannot be told apart without system calls: then sort by their sum. */
static enum sort_key sort_key_of(const struct report *report)
{
	enum sort_key key = report->options->sort;

	return (key == SORT_USER || key == SORT_SYSTEM) && !trace_analysis_sees_calls(report->analysis) ? SORT_CPU : key;
}

int process_rows_compare(const void *left, const void *right, void *data)
{
	const struct process_row *l = left, *r = right;
	int order = (int)r->of_command - (int)l->of_command;
	const struct report *report = data;

	if (order)
		return order;

	switch (sort_key_of(report)) {
	case SORT_ELAPSED:
		order = descending(l->elapsed_ns, r->elapsed_ns);
		break;
	case SORT_CPU:
		break; /* the second key of every order */
	case SORT_USER:
		order = descending(l->user_ns, r->user_ns);
		break;
	case SORT_SYSTEM:
		order = descending(l->system_ns, r->system_ns);
		break;
	case SORT_WAIT:
		order = descending(l->blocked_ns, r->blocked_ns);
		break;
	case SORT_WAIT_CPU:
		order = descending(l->wait_cpu_ns, r->wait_cpu_ns);
		break;
	case SORT_PID:
		order = -descending(trace_process_pid(l->process), trace_process_pid(r->process));
		break;
	case SORT_NAME:
		order = strcmp(trace_process_comm(l->process), trace_process_comm(r->process));
		break;
	}
	if (!order)
		order = descending(cpu_ns(l), cpu_ns(r));
	return order ? order : -descending(trace_process_pid(l->process), trace_process_pid(r->process));
}

/*
 * The time in which a process ran, or was kept from running: waits for CPUs, files, network and
 * memory, without idle waits.
 */
static uint64_t weight_ns(const struct trace_figures *f)
{
	uint64_t ns = f->user_ns + f->syscall_ns + f->trap_ns + f->wait_cpu_ns;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (!f->waits[i].idle && (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
					  f->waits[i].kind == TRACE_WAIT_MEMORY))
			ns += f->waits[i].ns;
	return ns;
}

uint64_t not_seen_ns(const struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		ns += f->waits[i].kind == TRACE_WAIT_UNKNOWN ? f->waits[i].ns : 0;
	return ns;
}

/* A process that a filter excluded has unknown time only. */
static bool is_known(const struct trace_figures *f)
{
	return not_seen_ns(f) < f->elapsed_ns;
}

struct trace_figures *whole_figures(struct trace_figures *figures)
{
	if (!figures)
		memory_end();
	return figures;
}

void report_is_whole(const struct report *report)
{
	if ((report->analysis && trace_analysis_error(report->analysis, NULL) < 0) || (report->servers && trace_servers_error(report->servers, NULL) < 0) ||
	    (report->user && trace_user_events_error(report->user, NULL) < 0))
		memory_end();
}

static void find_worst(const struct trace_figures *f, struct process_row *row)
{
	uint64_t ns[TRACE_NR_WAIT_KINDS] = {0};

	if (!f->nr_waits)
		return;
	row->worst = f->waits[0];
	row->only_own = true;
	for (size_t i = 0; i < f->nr_waits; i++) {
		ns[f->waits[i].kind] += f->waits[i].idle ? 0 : f->waits[i].ns;
		row->only_own &= f->waits[i].kind != TRACE_WAIT_PROCESS || f->waits[i].pid == trace_process_pid(row->process);
	}
	for (int kind = 0; kind < TRACE_NR_WAIT_KINDS; kind++) {
		if (ns[kind] <= row->worst_kind_ns)
			continue;
		row->worst_kind = (enum trace_wait_kind)kind;
		row->worst_kind_ns = ns[kind];
	}
}

static void fill(const struct report *report, const struct trace_process *process, struct process_row *row)
{
	struct trace_figures *f = whole_figures(trace_process_figures(report->analysis, process));
	uint64_t start, end;

	*row = (struct process_row){
		.process = process,
		.elapsed_ns = f->elapsed_ns,
		.user_ns = f->user_ns,
		.system_ns = f->syscall_ns + f->trap_ns,
		.interrupted_ns = f->interrupted_ns,
		.wait_cpu_ns = f->wait_cpu_ns,
		.blocked_ns = f->blocked_ns,
	};
	find_worst(f, row);
	trace_analysis_window(report->analysis, &start, &end);
	row->folded = !weight_ns(f) || (!report->options->top && percent(weight_ns(f), end - start) < WORTH_A_ROW);
	if (trace_analysis_is_filtered(report->analysis) && is_known(f)) /* the filter chose it */
		row->folded = false;
	trace_figures_free(f);
}

/*
 * Users record a command to learn about that command. By elapsed time a daemon with three sleeping
 * threads would come first: it has three times the elapsed time.
 */
bool command_comes_first(const struct report *report)
{
	const struct options *options = report->options;

	return report->command && !options->sorted && !options->json && options->pid < 0 && !options->comm && !options->cgroup;
}

static void mark_command(const struct report *report, struct process_row *rows, size_t nr)
{
	struct pointers family = command_family(report);
	struct hash_table members = {0}; /* rows are keys: addresses of processes */

	for (size_t i = 0; i < family.nr; i++)
		memory_row(&members, sizeof(uint64_t), (uintptr_t)family.at[i]);
	for (size_t i = 0; i < nr; i++)
		rows[i].of_command = table_find(&members, sizeof(uint64_t), (uintptr_t)rows[i].process);
	table_clear(&members);
	pointers_free(&family);
}

struct process_row *process_rows(const struct report *report, size_t *ret_nr)
{
	size_t all = trace_nr_processes(report->analysis), nr = 0;
	struct process_row *list = memory_take(all + 1, sizeof(*list));
	bool named = report->options->pid >= 0 || report->options->comm || report->options->cgroup || report->options->all;

	for (size_t i = 0; i < all; i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (!process_wanted(report, process) || !trace_nr_threads(process))
			continue;
		fill(report, process, &list[nr]);
		if (named)
			list[nr].folded = false;
		nr++;
	}
	if (command_comes_first(report))
		mark_command(report, list, nr);
	memory_sort(list, nr, sizeof(*list), process_rows_compare, (void *)report);
	*ret_nr = nr;
	return list;
}

/* ---- which rows of a table ---- */

struct fold fold_begin(const struct report *report, size_t most)
{
	if (report->options->all)
		most = SIZE_MAX;
	else if (report->options->top)
		most = (size_t)report->options->top;
	return (struct fold){.report = report, .most = most};
}

bool fold_shows_if(struct fold *fold, bool matters, uint64_t ns)
{
	const struct options *options = fold->report->options;
	bool is_first = !fold->shown && !fold->left;

	if (fold->shown < fold->most && (options->all || options->top || matters || (is_first && ns))) {
		fold->shown++;
		return true;
	}
	fold->left++;
	fold->left_ns += ns;
	return false;
}

bool fold_shows(struct fold *fold, uint64_t part, uint64_t whole)
{
	return fold_shows_if(fold, percent(part, whole) >= WORTH_A_ROW, part);
}

const char *fold_rest(const struct fold *fold, struct text *text)
{
	struct text ns;

	text->bytes[0] = 0;
	if (fold->left)
		snprintf(text->bytes, sizeof(text->bytes), "%zu more row%s%s%.30s", fold->left, fold->left == 1 ? "" : "s", fold->left_ns ? ", " : "",
			 fold->left_ns ? text_ns(fold->report, fold->left_ns, &ns) : "");
	return text->bytes;
}

/* ---- values ---- */

/* The kernel's path of every socket of a protocol. */
static const struct {
	const char *path, *text;
} socket_paths[] = {
	{"MPTCP", "(sockets, MPTCP)"},	 {"NETLINK", "(sockets, netlink)"}, {"PACKET", "(sockets, packets)"}, {"PING", "(sockets, ping)"},
	{"RAW", "(sockets, raw)"},	 {"RAWv6", "(sockets, raw)"},	    {"TCP", "(sockets, TCP)"},	      {"TCPv6", "(sockets, TCPv6)"},
	{"UDP", "(sockets, UDP)"},	 {"UDPv6", "(sockets, UDPv6)"},	    {"UNIX", "(sockets, unix)"},      {"UNIX-STREAM", "(sockets, unix)"},
};

/*
 * A path is a disk if its device is the path itself. A file can have a path without a '/', too:
 * relative to the working directory of its process.
 */
static bool is_disk(const struct report *report, const char *path)
{
	return *path && strcmp(path, trace_file_device(report->analysis, path)) == 0;
}

const char *text_path(const struct report *report, const char *path)
{
	if (!*path)
		return "(pipes and others without a name)";
	for (size_t i = 0; i < sizeof(socket_paths) / sizeof(socket_paths[0]); i++)
		if (strcmp(path, socket_paths[i].path) == 0)
			return socket_paths[i].text;
	return is_disk(report, path) ? "(blocks of unknown files)" : path;
}

bool wait_is_for_disk(const struct report *report, const struct trace_wait *wait)
{
	return wait->kind == TRACE_WAIT_FILE && is_disk(report, wait->target);
}

const char *text_wait(const struct report *report, const struct trace_wait *wait, uint32_t own_pid, char *buffer, size_t size)
{
	const char *via = *wait->via ? " via " : "", *idle = wait->idle ? " (idle)" : "";
	char name[256];

	text_name(wait->target, name, sizeof(name));
	if (wait_is_for_disk(report, wait))
		snprintf(buffer, size, "disk %s%s%s%s", name, via, wait->via, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS && wait->pid == own_pid && own_pid)
		snprintf(buffer, size, "another of its threads%s%s%s", via, wait->via, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid)
		snprintf(buffer, size, "%s processes%s%s%s", name, via, wait->via, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS)
		snprintf(buffer, size, "process %u%s%s%s%s%s", wait->pid, *name ? " " : "", name, via, wait->via, idle);
	else if (wait->kind == TRACE_WAIT_UNKNOWN)
		snprintf(buffer, size, "something unknown%s%s%s", *name ? ", " : "", name, idle);
	else if (wait->kind == TRACE_WAIT_OTHER)
		snprintf(buffer, size, "the end of %s%s%s%s", name, via, wait->via, idle);
	else
		snprintf(buffer, size, "%s%s%s%s%s%s", trace_wait_kind_name(wait->kind), *name ? " " : "", name, via, wait->via, idle);
	return buffer;
}

const char *text_ns(const struct report *report, uint64_t ns, struct text *text)
{
	if (report->options->exact)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64, ns);
	else if (ns == 0)
		snprintf(text->bytes, sizeof(text->bytes), "-");
	else if (ns < 1000)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64 " ns", ns);
	else if (ns < 999995) /* a value that rounds to 1000.00 takes the next unit */
		snprintf(text->bytes, sizeof(text->bytes), "%.2f us", (double)ns / 1e3);
	else if (ns < 999995000)
		snprintf(text->bytes, sizeof(text->bytes), "%.2f ms", (double)ns / 1e6);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%.3f s", (double)ns / 1e9);
	return text->bytes;
}

const char *text_bytes(const struct report *report, uint64_t bytes, struct text *text)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (report->options->exact || bytes < 1024) {
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64 "%s", bytes, report->options->exact ? "" : " B");
		return text->bytes;
	}
	for (; value >= 1023.95 && unit < 5; unit++) /* rounds to 1024.0 */
		value /= 1024;
	snprintf(text->bytes, sizeof(text->bytes), "%.1f %s", value, units[unit]);
	return text->bytes;
}

const char *text_name(const char *name, char *buffer, size_t size)
{
	size_t used = 0;

	while (*name) {
		gunichar c = g_utf8_get_char_validated(name, -1);
		bool plain = c != (gunichar)-1 && c != (gunichar)-2 && !g_unichar_iscntrl(c) && c != 0x2028 && c != 0x2029;
		size_t bytes = plain ? (size_t)(g_utf8_next_char(name) - name) : 1;

		if (used + (plain ? bytes : 4) >= size)
			break;
		if (plain)
			memcpy(buffer + used, name, bytes);
		else
			snprintf(buffer + used, size - used, "\\x%02x", (unsigned char)*name);
		used += plain ? bytes : 4;
		name += bytes;
	}
	buffer[used] = 0;
	return buffer;
}

const char *text_comm(const char *comm, char *buffer, size_t size)
{
	return text_name(*comm ? comm : "(no name)", buffer, size);
}

const char *text_process(const char *comm, uint32_t pid, char *buffer, size_t size)
{
	char number[16];

	if (!pid)
		return text_comm(comm, buffer, size);
	snprintf(number, sizeof(number), " (%u)", pid);
	if (!*comm)
		snprintf(buffer, size, "process %u", pid);
	else
		strcat((char *)text_name(comm, buffer, size - strlen(number)), number);
	return buffer;
}

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- what is missing ---- */

struct losses trace_losses(const struct trace *trace)
{
	struct losses losses = {0};

	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		if (trace_gap_is_older(trace, gap)) {
			if (gap->cause == TRACE_GAP_OVERWRITTEN)
				losses.overwritten = trace_add_saturated(losses.overwritten, gap->lost);
			continue;
		}
		losses.gaps++;
		losses.lost = trace_add_saturated(losses.lost, gap->lost);
		losses.is_least |= !gap->lost;
	}
	return losses;
}

uint64_t report_moment(const struct report *report, double seconds)
{
	return trace_get_info(report->trace)->complete_from_ns + (uint64_t)(seconds * 1e9);
}

int report_check_from(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);

	if (info->end_ns <= info->complete_from_ns || report->options->from_s * 1e9 <= (double)(info->end_ns - info->complete_from_ns))
		return 0;
	return complain(2, "--from is after the end of the trace, which is %.3f s long",
			(double)(info->end_ns - info->complete_from_ns) / 1e9);
}

uint64_t report_older(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	struct trace_cursor_options options = {.size = sizeof(options), .to_ns = info->complete_from_ns, .no_lost = true};
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint64_t nr = 0;
	int error;

	if (info->complete_from_ns <= info->start_ns)
		return 0;
	cursor = trace_cursor_new(report->trace, &options, NULL);
	if (!cursor)
		memory_end();
	while ((event = trace_cursor_next(cursor)))
		nr += event->type->category != TRACE_CATEGORY_START;
	error = trace_cursor_end(cursor, NULL);
	if (error && error != -EBADMSG) /* events of a damaged chunk cannot be counted */
		memory_end();
	return nr;
}

uint64_t report_lost(const struct report *report, size_t *ret_gaps)
{
	struct losses losses = trace_losses(report->trace);
	size_t damages = report->analysis ? trace_analysis_nr_late_gaps(report->analysis) : 0;
	uint64_t start_lost = 0;

	for (size_t i = 0; i < damages; i++)
		losses.lost = trace_add_saturated(losses.lost, trace_analysis_get_late_gap(report->analysis, i)->lost);
	if (report->analysis && trace_analysis_start_damage(report->analysis, &start_lost))
		damages++;
	*ret_gaps = losses.gaps + damages;
	return losses.lost + start_lost;
}

void warn_damages(const struct trace_analysis *analysis)
{
	size_t nr = trace_analysis_nr_late_gaps(analysis);
	uint64_t lost = 0, start_lost;
	const char *start_damage = trace_analysis_start_damage(analysis, &start_lost);
	char line[4 * sizeof(((struct trace_error *)0)->message)];

	if (start_damage)
		fprintf(stderr, "tracevisualizer: warning: %" PRIu64 " event%s of the start state cannot be read: %s\n", start_lost, start_lost == 1 ? "" : "s",
			text_name(start_damage, line, sizeof(line)));

	for (size_t i = 0; i < nr && i < MAX_WARNINGS; i++)
		fprintf(stderr,
			"tracevisualizer: warning: a damaged chunk of CPU %u loses %" PRIu64 " event%s; the affected times are "
			"shown as unknown (details: --verify)\n",
			trace_analysis_get_late_gap(analysis, i)->cpu, trace_analysis_get_late_gap(analysis, i)->lost,
			trace_analysis_get_late_gap(analysis, i)->lost == 1 ? "" : "s");
	for (size_t i = MAX_WARNINGS; i < nr; i++)
		lost = trace_add_saturated(lost, trace_analysis_get_late_gap(analysis, i)->lost);
	if (lost)
		fprintf(stderr, "tracevisualizer: warning: %zu more damaged chunks lose %" PRIu64 " events\n", nr - MAX_WARNINGS, lost);
}

const char *text_lost(const struct report *report, struct text *text)
{
	size_t gaps;
	uint64_t lost = report_lost(report, &gaps);

	if (gaps && !lost)
		snprintf(text->bytes, sizeof(text->bytes), "an unknown number of events");
	else
		snprintf(text->bytes, sizeof(text->bytes), "%s%" PRIu64 " event%s", trace_losses(report->trace).is_least ? "at least " : "", lost,
			 lost == 1 ? "" : "s");
	return text->bytes;
}

bool is_left_out(const struct trace *trace, const char *what)
{
	const char *left_out = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT);

	return left_out && strcmp(left_out, what) == 0;
}

bool has_recorded(const struct report *report, uint32_t id)
{
	return trace_analysis_recorded(report->analysis, id) != TRACE_RECORDED_NEVER;
}

bool has_turns(const struct report *report)
{
	uint64_t start, end;

	trace_analysis_window(report->analysis, &start, &end);
	/* after recording halts, some events may still come until their BPF program is released */
	return trace_analysis_halted_ns(report->analysis) < end - start;
}

bool has_interrupts(const struct report *report)
{
	return has_recorded(report, TRACE_EV_irq_entry) || has_recorded(report, TRACE_EV_softirq_entry) || has_recorded(report, TRACE_EV_vector_entry);
}

bool is_unrecorded(const struct report *report, enum trace_category category)
{
	const struct trace_event_type *type;
	bool any = false;

	for (size_t i = 0; (type = trace_get_type(report->trace, i)); i++) {
		if (type->category != category || type->id >= TRACE_EV_MAX || strcmp(type->program, "NONE") == 0)
			continue;
		if (has_recorded(report, type->id))
			return false;
		any = true;
	}
	return any;
}

void report_loss_sentence(struct string *s, const struct report *report)
{
	struct text text;
	size_t gaps;
	uint64_t lost = report_lost(report, &gaps), overwritten = trace_losses(report->trace).overwritten, older = report_older(report);

	if (overwritten)
		string_addf(s,
			    " %" PRIu64 " older event%s overwritten: the report covers the time for which the flight recorder "
			    "had the events of all CPUs.",
			    overwritten, overwritten == 1 ? " was" : "s were");
	if (older)
		string_addf(s, " Only -d shows the %" PRIu64 " older event%s of some CPUs and of programs.", older, older == 1 ? "" : "s");
	if (!gaps)
		return;
	text_lost(report, &text);
	if (lost)
		string_addf(s, " %c%s %s lost: the affected times are unknown.", g_ascii_toupper(*text.bytes), text.bytes + 1,
				       lost == 1 ? "was" : "were");
	else
		string_add(s, " Events may have been lost (count unknown): the affected times are unknown.");
}

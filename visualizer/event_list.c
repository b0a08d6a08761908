/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_list.c - the event list: one line per event, in the columns of the original.
 *
 * It needs no analysis. The PID column is the thread on the CPU, which follows from the last
 * scheduling change and the next. Only paths of descriptors (-y) need the analysis' state. Lines
 * are built by hand in a large buffer: printf() would take most of the time.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace/symbols.h>
#include <unistd.h>
#include "call_text.h"
#include "charset.h"
#include "complain.h"
#include "checked_memory.h"
#include "event_json.h"
#include "event_list.h"
#include "losses.h"
#include "pass_progress.h"
#include "report_file.h"
#include "running_threads.h"
#include "thread_choice.h"
#include "value_text.h"
#include "similar.h"

#define BUFFER_BYTES	(1u << 20)
#define EVENTS_PER_LOOK 4096u /* at the clock, for progress */
#define LINE_BYTES	8192u
#define NAME_BYTES	32u /* "Syscall entry          \t" is copied as one block */
#define NAME_WIDTH	23u
#define NS_PER_SECOND	1000000000ull
#define NO_CPU		UINT32_MAX /* for a gap on an unknown CPU */
#define ID_WORDS	(65536 / 64)

_Static_assert(CALL_TEXT_BYTES <= LINE_BYTES / 2, "a line has room for the text of a call");

/* A name as the list prints it, padded and with its tab. */
struct padded_name {
	char text[NAME_BYTES];
	size_t bytes;
};

struct event_list {
	const struct report *report;
	char *buffer; /* owned */
	size_t used;
	struct running_threads threads;
	uint64_t mask[ID_WORDS];		/* events to show, also of programs */
	struct padded_name names[TRACE_EV_MAX]; /* by event id */
	/* "000," to "999,"; one more, because a copy may read two bytes too many */
	char thousands[1001][4];
	uint64_t second;					   /* the millions in time_text */
	char time_text[40];					   /* the first digits of times in that second */
	size_t time_bytes;					   /* of time_text; 0: none yet */
	void (*put_time)(struct event_list *list, uint64_t ts_ns); /* --time */
	int64_t offset_ns;					   /* CLOCK_MONOTONIC to the time shown */
	struct call_texts *calls;				   /* owned */
	struct trace_symbols *symbols;				   /* owned; created for the first address */
	struct trace_analysis *state;				   /* owned; NULL without -y */
	const struct trace_thread *thread;			   /* of the current line, with -y */
	struct work_progress progress;
	uint32_t nr_events;	 /* since the last look at the clock */
	struct event_json *json; /* owned; NULL: text */
	bool any;		 /* line was written */
	uint8_t *chosen;	 /* owned; bit for each thread that names choose; NULL: no names */
	size_t nr_chosen;
};

/* ---- names of the original ---- */

static const struct {
	const char *class;
	const char *shown;
} classic_names[] = {
	{"START", "Trace start"},
	{"SYS_ENTRY", "Syscall entry"},
	{"SYS_EXIT", "Syscall exit"},
	{"TRAP_ENTRY", "Trap entry"},
	{"TRAP_EXIT", "Trap exit"},
	{"IRQ_ENTRY", "IRQ entry"},
	{"IRQ_EXIT", "IRQ exit"},
	{"SCHED", "Sched change"},
	{"KTIMER", "Kernel timer"},
	{"SIRQ", "Soft IRQ"},
	{"PROCESS", "Process"},
	{"FS", "File system"},
	{"TIMER", "Timer"},
	{"MEM", "Memory"},
	{"SOCKET", "Socket"},
	{"IPC", "IPC"},
	{"NET", "Network"},
	{"NEWEV", "Event creation"},
	{"CHMSK", "Change trace mask"},
	{"HEARTBEAT", "Heartbeat"},
};

static const char *shown_name(const struct trace_event_type *type)
{
	for (size_t i = 0; i < sizeof(classic_names) / sizeof(classic_names[0]); i++)
		if (strcmp(classic_names[i].class, type->classic) == 0)
			return classic_names[i].shown;
	return type->name;
}

/* CORE of the original: the minimum of events for an analysis. */
static bool is_core(const char *classic)
{
	static const char *const core[] = {"SYS_ENTRY", "SYS_EXIT", "TRAP_ENTRY", "TRAP_EXIT",
					   "IRQ_ENTRY", "IRQ_EXIT", "SCHED"};

	for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++)
		if (strcmp(core[i], classic) == 0)
			return true;
	return false;
}

/*
 * Match events of programs against a pattern, with or without the suffix that the two ends of a
 * scope have, as tracedaemon -e does.
 */
static bool pattern_matches(const struct trace_event_type *type, const char *pattern)
{
	char *stem = memory_copy(type->name, trace_type_stem(type));
	bool matches = fnmatch(pattern, type->name, 0) == 0 || fnmatch(pattern, stem, 0) == 0;

	free(stem);
	return matches;
}

/*
 * sys_enter, sys_enter3 and sys_enter6 are one event in three sizes: each name chooses all of them,
 * as with tracedaemon -e.
 */
static bool is_entry(const char *name)
{
	return strcasecmp(name, "sys_enter") == 0 || strcasecmp(name, "sys_enter3") == 0 ||
	       strcasecmp(name, "sys_enter6") == 0;
}

static bool matches_class(const struct trace_event_type *type, const char *name)
{
	return strcmp(type->classic, "NONE") != 0 && strcmp(name, type->classic) == 0;
}

static bool matches_category(const struct trace_event_type *type, const char *name)
{
	return strcasecmp(name, trace_category_name(type->category)) == 0;
}

static bool matches_event(const struct trace_event_type *type, const char *name)
{
	return strcasecmp(name, type->name) == 0 || (is_entry(type->name) && is_entry(name));
}

static bool matches_pattern(const struct trace_event_type *type, const char *name)
{
	return (type->id >= TRACE_EV_MAX || strpbrk(name, "*?[")) && pattern_matches(type, name);
}

static bool matches_class_any_case(const struct trace_event_type *type, const char *name)
{
	return strcmp(type->classic, "NONE") != 0 && strcasecmp(name, type->classic) == 0;
}

static bool matches_core(const struct trace_event_type *type, const char *name)
{
	return strcasecmp(name, "CORE") == 0 && is_core(type->classic);
}

/*
 * The first rule with a match decides, as with tracedaemon -e: so SCHED is the classic class, and
 * sched the category.
 */
static bool (*const name_rules[])(const struct trace_event_type *, const char *) = {
	matches_class, matches_category, matches_event, matches_pattern, matches_class_any_case, matches_core,
};

/* Add the types of this name to the mask. Returns false if there are none. */
static bool mask_name(const struct trace *trace, const char *name, uint64_t *mask)
{
	bool found = false;

	for (size_t rule = 0; rule < sizeof(name_rules) / sizeof(name_rules[0]) && !found; rule++)
		for (size_t i = 0; i < trace_nr_types(trace); i++) {
			const struct trace_event_type *type = trace_get_type(trace, i);

			if (!name_rules[rule](type, name) || type->id / 64 >= ID_WORDS)
				continue;
			mask[type->id / 64] |= 1ull << type->id % 64;
			found = true;
		}
	return found;
}

static int complain_of_name(const struct trace *trace, const char *name)
{
	struct similar best = {.wanted = name};

	for (size_t i = 0; i < trace_nr_types(trace); i++) {
		const struct trace_event_type *type = trace_get_type(trace, i);

		similar_offer(&best, type->name);
		similar_offer(&best, trace_category_name(type->category));
	}
	if (best.name)
		return complain(2, "'%s' is not an event, class or category of this trace; did you mean %s?", name,
				best.name);
	return complain(2,
			"'%s' is not an event, class or category of this trace; examples: sched_switch, SCHED, sched, "
			"and 'shop:*' for programs",
			name);
}

static int mask_names(const struct event_list *list, const char **names, size_t nr, uint64_t *mask)
{
	for (size_t i = 0; i < nr; i++)
		if (!mask_name(list->report->trace, names[i], mask))
			return complain_of_name(list->report->trace, names[i]);
	return 0;
}

/* True if an option names types of the start state, which are in the trace but not in time. */
static bool names_start_state(const struct event_list *list)
{
	const struct visualizer_options *options = list->report->options;
	const struct trace *trace = list->report->trace;
	uint64_t mask[ID_WORDS] = {0};

	for (size_t i = 0; i < options->events.nr_traced; i++)
		mask_name(trace, options->events.traced[i], mask);
	for (size_t i = 0; i < trace_nr_types(trace); i++) {
		const struct trace_event_type *type = trace_get_type(trace, i);

		if (strcmp(type->classic, "START") == 0 && type->id / 64 < ID_WORDS &&
		    mask[type->id / 64] >> type->id % 64 & 1)
			return true;
	}
	return false;
}

static void report_empty(const struct event_list *list)
{
	if (names_start_state(list))
		fputs("tracevisualizer: start_thread and the other types of the start state are not events; lists do "
		      "not show them\n",
		      stderr);
	else
		fputs("tracevisualizer: the trace has no events of the requested kinds; tracevisualizer -s shows their "
		      "numbers, and what was not recorded\n",
		      stderr);
}

static int choose_events(struct event_list *list)
{
	const struct visualizer_options *options = list->report->options;
	uint64_t omitted[ID_WORDS] = {0};
	int error;

	memset(list->mask, options->events.nr_traced ? 0 : 0xff, sizeof(list->mask));
	error = mask_names(list, options->events.traced, options->events.nr_traced, list->mask);
	if (!error)
		error = mask_names(list, options->events.omitted, options->events.nr_omitted, omitted);
	for (int i = 0; i < ID_WORDS; i++)
		list->mask[i] &= ~omitted[i];
	return error;
}

/* ---- lines ---- */

static void flush(struct event_list *list)
{
	list->any |= list->used > 0;
	charset_write(list->buffer, list->used, list->report->output.out);
	list->used = 0;
}

static inline void put_char(struct event_list *list, char character)
{
	list->buffer[list->used++] = character;
}

/* A blank and a tab, between columns. */
static inline void put_gap(struct event_list *list)
{
	memcpy(list->buffer + list->used, " \t", 2);
	list->used += 2;
}

/*
 * Three digits of @number; without leading zeros if it is the @first group. Copies four bytes: the
 * next output overwrites the comma.
 */
static inline void put_group(struct event_list *list, unsigned int number, bool first)
{
	unsigned int skipped = !first || number >= 100 ? 0 : number >= 10 ? 1 : 2;

	memcpy(list->buffer + list->used, list->thousands[number] + skipped, 4);
	list->used += 3 - skipped;
}

static void put_large(struct event_list *list, uint64_t number)
{
	if (number >= 1000)
		put_large(list, number / 1000);
	put_group(list, number % 1000, number < 1000);
}

/* For CPUs, thread ids and lengths, without commas. */
static inline void put_number(struct event_list *list, uint64_t number)
{
	if (number < 1000) {
		put_group(list, (unsigned int)number, true);
	} else if (number < 1000000) {
		put_group(list, (unsigned int)number / 1000, true);
		put_group(list, (unsigned int)number % 1000, false);
	} else {
		put_large(list, number);
	}
}

static void put_unknown(struct event_list *list)
{
	memcpy(list->buffer + list->used, "N/A", 3);
	list->used += 3;
}

/* With commas between groups of three digits. */
static void put_grouped(struct event_list *list, uint64_t number)
{
	if (number >= 1000) {
		put_grouped(list, number / 1000);
		put_char(list, ',');
	}
	put_group(list, number % 1000, number < 1000);
}

static void put_name(struct event_list *list, const struct trace_event *event)
{
	static const struct padded_name unknown = {"(unknown event)        \t", NAME_WIDTH + 1};
	const struct padded_name *name = event->id < TRACE_EV_MAX && event->type ? &list->names[event->id] : &unknown;
	char text[256];

	if (event->id >= TRACE_EV_MAX && event->type) { /* an event of a program: provider:event */
		list->used += (size_t)snprintf(list->buffer + list->used, LINE_BYTES / 8, "%-*s\t", (int)NAME_WIDTH,
					       text_name(event->type->name, text, sizeof(text)));
		return;
	}
	memcpy(list->buffer + list->used, name->text, NAME_BYTES);
	list->used += name->bytes;
}

static void prepare_names(struct event_list *list)
{
	const struct trace *trace = list->report->trace;

	for (size_t i = 0; i < trace_nr_types(trace); i++) {
		const struct trace_event_type *type = trace_get_type(trace, i);
		char text[NAME_BYTES - 1];
		struct padded_name *name;

		if (type->id >= TRACE_EV_MAX)
			continue;
		name = &list->names[type->id];
		name->bytes = (size_t)snprintf(name->text, sizeof(name->text), "%-*s\t", (int)NAME_WIDTH,
					       text_name(shown_name(type), text, sizeof(text)));
	}
	for (unsigned int i = 0; i < 1000; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%03u,", i);
		memcpy(list->thousands[i], text, 4);
	}
}

/* The fraction of a second, in us, or in ns with --ns. */
static void put_fraction(struct event_list *list, uint64_t ns)
{
	bool exact = list->report->output.exact;

	list->used += (size_t)snprintf(list->buffer + list->used, 16, exact ? ".%09u" : ".%06u",
				       (unsigned int)(exact ? ns : ns / 1000));
}

/* The time of day, 23:06:41.123456; its whole second is kept for the next event */
static void put_wall(struct event_list *list, uint64_t ts_ns)
{
	uint64_t ns = ts_ns + (uint64_t)list->offset_ns;
	time_t second = (time_t)(ns / NS_PER_SECOND);
	struct tm local = {0};

	if (ns / NS_PER_SECOND != list->second || !list->time_bytes) {
		localtime_r(&second, &local);
		list->second = ns / NS_PER_SECOND;
		list->time_bytes = strftime(list->time_text, sizeof(list->time_text), "%H:%M:%S", &local);
	}
	memcpy(list->buffer + list->used, list->time_text, list->time_bytes);
	list->used += list->time_bytes;
	put_fraction(list, ns % NS_PER_SECOND);
}

/* Seconds after the start of the trace; events of a flight recorder may be older. */
static void put_relative(struct event_list *list, uint64_t ts_ns)
{
	uint64_t start = trace_get_info(list->report->trace)->complete_from_ns;
	uint64_t ns = ts_ns < start ? start - ts_ns : ts_ns - start;

	if (ts_ns < start)
		put_char(list, '-');
	put_number(list, ns / NS_PER_SECOND);
	put_fraction(list, ns % NS_PER_SECOND);
}

/* Usually all digits but the last two groups equal those of the previous event, and are copied. */
static void put_time(struct event_list *list, uint64_t ts_ns)
{
	uint64_t ns = ts_ns + (uint64_t)list->offset_ns, time = list->report->output.exact ? ns : ns / 1000;
	uint64_t second = time / 1000000;
	unsigned int rest = (unsigned int)(time % 1000000);

	if (second == 0) {
		put_grouped(list, time);
		return;
	}
	if (second != list->second || !list->time_bytes) {
		size_t begin = list->used;

		put_grouped(list, second);
		put_char(list, ',');
		list->second = second;
		list->time_bytes = list->used - begin;
		list->used = begin;
		memcpy(list->time_text, list->buffer + begin, list->time_bytes);
	}
	memcpy(list->buffer + list->used, list->time_text, sizeof(list->time_text));
	list->used += list->time_bytes;
	put_group(list, rest / 1000, false);
	put_char(list, ',');
	put_group(list, rest % 1000, false);
}

static const char *path_of(void *data, int fd)
{
	struct event_list *list = data;

	return trace_thread_file(list->state, list->thread, fd);
}

static size_t put_call(struct event_list *list, const struct trace_event *event)
{
	char *at = list->buffer + list->used;
	const char *name;

	list->thread = list->state ? trace_thread_on_cpu(list->state, event->cpu) : NULL;
	if (!list->thread)
		return call_text(list->calls, event, at, NULL, NULL, false);
	name = event->id == TRACE_EV_sys_exit ? trace_thread_syscall(list->state, list->thread) : NULL;
	return call_text(list->calls, event, at, path_of, list, name && call_text_makes_fd(list->calls, name));
}

static void put_symbol(struct event_list *list, const char *field, const struct trace_symbol *symbol)
{
	const char *base = strrchr(symbol->file, '/') ? strrchr(symbol->file, '/') + 1 : symbol->file;
	char name[61], function[301], file[101];

	list->used += (size_t)snprintf(list->buffer + list->used, 512, "; %s = %s+0x%llx (%s%s%.60s)",
				       text_name(field, name, sizeof(name)),
				       *symbol->function ? text_name(symbol->function, function, sizeof(function))
							 : "?",
				       (unsigned long long)(*symbol->function ? symbol->offset : symbol->file_address),
				       text_name(base, file, sizeof(file)), *symbol->why ? ", " : "", symbol->why);
}

/* After an event of a program, a caller or a sample: the symbols of its addresses. */
static void put_symbols(struct event_list *list, const struct trace_event *event, uint32_t tid)
{
	struct trace_symbol symbol;

	for (size_t i = 0; i < event->type->nr_fields; i++) {
		const struct trace_field *field = &event->type->fields[i];
		uint64_t address = field->kind == TRACE_KIND_HEX && field->bytes == 8 ? trace_event_u64(event, field)
										      : 0;

		if (!address || list->used > BUFFER_BYTES - 1024)
			continue;
		if (!list->symbols)
			list->symbols = trace_symbols_new(list->report->trace, NULL);
		if (!list->symbols)
			memory_end();
		trace_symbols_set_folder(list->symbols, list->report->options->symbols.folder);
		trace_symbols_want_debuginfod(list->symbols, list->report->options->symbols.debuginfod);
		if (trace_symbols_find(list->symbols, tid, event->ts_ns, address, &symbol))
			put_symbol(list, field->name, &symbol);
		if (trace_symbols_error(list->symbols, NULL) == -ENOMEM)
			memory_end();
	}
}

static void put_text(struct event_list *list, const struct trace_event *event, uint32_t pid)
{
	size_t room = LINE_BYTES / 2,
	       known = event->id >= TRACE_EV_sys_enter && event->id <= TRACE_EV_sys_exit ? put_call(list, event) : 0;
	int bytes;

	list->used += known;
	if (known)
		return;
	bytes = trace_event_format(list->report->trace, event, list->buffer + list->used, room);
	list->used += bytes < (int)room ? (size_t)bytes : room - 1;
	if ((event->id >= TRACE_EV_MAX || event->id == TRACE_EV_sys_caller || event->id == TRACE_EV_sample) &&
	    event->type)
		put_symbols(list, event, pid);
}

static void put_line(struct event_list *list, const struct trace_event *event, uint32_t pid)
{
	unsigned int hidden_columns = list->report->options->events.hidden_columns;

	if (list->used > BUFFER_BYTES - LINE_BYTES)
		flush(list);
	if (!(hidden_columns & COLUMN_CPU)) {
		if (event->cpu == NO_CPU)
			put_unknown(list);
		else
			put_number(list, event->cpu);
		put_gap(list);
	}
	put_name(list, event);
	if (!(hidden_columns & COLUMN_TIME)) {
		list->put_time(list, event->ts_ns);
		put_gap(list);
	}
	if (!(hidden_columns & COLUMN_PID)) {
		if (pid == NO_THREAD)
			put_unknown(list);
		else
			put_number(list, pid);
		put_gap(list);
	}
	if (!(hidden_columns & COLUMN_LENGTH)) {
		put_number(list, event->payload_bytes);
		put_gap(list);
	}
	if (!(hidden_columns & COLUMN_TEXT))
		put_text(list, event, pid);
	put_char(list, '\n');
}

static void put_header(struct event_list *list)
{
	static const char rule[] = "####################################################################\n";
	const struct visualizer_options *options = list->report->options;
	FILE *out = list->report->output.out;

	if (options->events.cpu >= 0)
		fprintf(out, "Tracing CPU %lld only\n", (long long)options->events.cpu);
	if (options->processes.pid >= 0)
		fprintf(out, "Tracing process %lld only\n", (long long)options->processes.pid);
	if (options->processes.tid >= 0)
		fprintf(out, "Tracing thread %lld only\n", (long long)options->processes.tid);
	if (list->chosen)
		fprintf(out, "Tracing %zu thread%s only\n", list->nr_chosen, list->nr_chosen == 1 ? "" : "s");
	fprintf(out, "\n%s%s%-23s\t%s%s%s%s\n%s", rule, options->events.hidden_columns & COLUMN_CPU ? "" : "CPU-ID\t",
		"Event", options->events.hidden_columns & COLUMN_TIME ? "" : "Time\t",
		options->events.hidden_columns & COLUMN_PID ? "" : "PID\t",
		options->events.hidden_columns & COLUMN_LENGTH ? "" : "Length\t",
		options->events.hidden_columns & COLUMN_TEXT ? "" : "Description", rule);
}

/* --pid chooses a process or thread here. */
static bool is_listed(const struct report *report, const struct trace_thread *thread)
{
	int64_t pid = report->options->processes.pid;

	return trace_thread_tid(thread) < TIDS && thread_is_chosen(report, thread) &&
	       (pid < 0 || trace_thread_tid(thread) == pid || trace_process_pid(trace_thread_process(thread)) == pid);
}

static bool of_process(const struct event_list *list, uint32_t tid)
{
	const struct process_choice *choice = &list->report->options->processes;

	if (list->chosen)
		return tid < TIDS && (list->chosen[tid / 8] >> tid % 8 & 1);
	return tid == (uint32_t)(choice->tid >= 0 ? choice->tid : choice->pid);
}

/* The threads that names choose: the analysis before the list knows their numbers. */
static int choose_threads(struct event_list *list)
{
	const struct report *report = list->report;

	if (!report->options->processes.comm && !report->options->processes.thread)
		return 0;
	list->chosen = calloc(TIDS / 8, 1);
	if (!list->chosen)
		return -ENOMEM;
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++)
		for (const struct trace_thread *thread = NULL;
		     (thread = trace_next_thread(trace_get_process(report->analysis, i), thread));)
			if (is_listed(report, thread)) {
				list->chosen[trace_thread_tid(thread) / 8] |= 1 << trace_thread_tid(thread) % 8;
				list->nr_chosen++;
			}
	return 0;
}

/* With --pid the original also shows the scheduling change that brings the process in. */
static bool pid_wanted(const struct event_list *list, const struct trace_event *event, uint32_t pid)
{
	const struct process_choice *choice = &list->report->options->processes;

	if ((choice->pid < 0 && choice->tid < 0 && !list->chosen) || of_process(list, pid))
		return true;
	return switch_of(event) && of_process(list, switch_of(event)->next_tid);
}

static void put_event(struct event_list *list, const struct trace_event *event, uint32_t tid)
{
	if (!list->json) {
		put_line(list, event, tid);
		return;
	}
	event_json_put(list->json, event, tid);
	list->any = true;
}

static void show_progress(struct event_list *list, uint64_t ts_ns)
{
	const struct trace_info *info = trace_get_info(list->report->trace);
	const struct time_window *window = &list->report->window;
	uint64_t from = window->has_from ? window->from_ns : info->start_ns,
		 to = window->has_to ? window->to_ns : info->end_ns;

	list->nr_events = 0;
	if (ts_ns > from)
		work_progress_at(&list->progress, ts_ns - from, to - from);
}

static void list_event(struct event_list *list, const struct trace_event *event)
{
	bool shown = event->id / 64 >= ID_WORDS || (list->mask[event->id / 64] >> event->id % 64 & 1);
	uint32_t tid = running_threads_before(&list->threads, event);

	if (++list->nr_events == EVENTS_PER_LOOK)
		show_progress(list, event->ts_ns);
	if (shown && pid_wanted(list, event, tid))
		put_event(list, event, tid);
	if (list->json)
		event_json_note(list->json, event);
	running_threads_after(&list->threads, event);
}

/*
 * With -y: list an event from within an analysis. The window and the CPUs are chosen here, because
 * the state needs all events.
 */
static void list_hook(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct event_list *list = data;
	const struct visualizer_options *options = list->report->options;

	if (options->events.cpu >= 0 && event->cpu != (uint32_t)options->events.cpu)
		return;
	if (event->ts_ns >= list->report->window.from_ns && event->ts_ns < list->report->window.to_ns)
		list_event(list, event);
}

static void list_late_gap(void *data, struct trace_analysis *analysis, const struct trace_gap *gap)
{
	struct event_list *list = data;

	running_threads_note_gap(&list->threads, gap);
}

static int list_with_state(struct event_list *list)
{
	struct trace_error cause = {0};
	int error;

	list->state = trace_analysis_new(list->report->trace, NULL, NULL);
	if (!list->state)
		return -ENOMEM;
	running_threads_begin(&list->threads, list->report->window.from_ns);
	error = trace_analysis_on_event(list->state, NULL, list_hook, list);
	if (!error)
		error = trace_analysis_on_late_gap(list->state, list_late_gap, list);
	if (!error)
		error = trace_analysis_run(list->state, &cause);
	if (!error)
		error = trace_analysis_error(list->state, &cause); /* for the paths */
	if (error && error != -ENOMEM)
		error = complain_of_error(&cause);
	flush(list);
	if (!list->report->analysis) /* else the caller has warned already */
		losses_warn_late(list->state);
	trace_analysis_free(list->state);
	return error;
}

static int list_events(struct event_list *list)
{
	const struct visualizer_options *options = list->report->options;
	uint32_t cpu = (uint32_t)options->events.cpu;
	struct trace_cursor_options window = {.size = sizeof(window),
					      .from_ns = list->report->window.from_ns,
					      .decode_ahead = 4,
					      .damaged = running_threads_note_gap,
					      .damaged_data = &list->threads};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	if (!list->report->window.has_from)
		window.from_ns = 0;
	if (list->report->window.has_to)
		window.to_ns = list->report->window.to_ns;
	if (options->events.cpu >= 0) {
		window.cpus = &cpu;
		window.nr_cpus = 1;
	}
	running_threads_begin(&list->threads, window.from_ns);
	list->threads.cursor = cursor = pass_cursor(list->report->trace, &window);
	while ((event = trace_cursor_next(cursor)))
		list_event(list, event);
	flush(list);
	events_pass_end(cursor, false);
	return 0;
}

/* Reports the cause of a list that would be empty. */
static int check_window(const struct report *report)
{
	const struct visualizer_options *options = report->options;
	const struct trace_info *info = trace_get_info(report->trace);

	if (options->events.cpu >= info->nr_cpus)
		return complain(2, "the trace has no CPU %lld: it has %u, counted from 0",
				(long long)options->events.cpu, info->nr_cpus);
	if (options->events.time == LIST_TIME_WALL && !info->start_realtime_ns)
		return complain(2, "--time=wall: the trace does not tell the wall clock; choose relative");
	return 0;
}

/* One line for all files whose names are missing. */
static void warn_symbols(const struct event_list *list)
{
	struct trace_error error = {0};
	char line[4 * sizeof(error.message)]; /* a file name may have any bytes: four characters for each */

	if (list->symbols && trace_symbols_error(list->symbols, &error) < 0)
		fprintf(stderr, "tracevisualizer: warning: %s\n", text_name(error.message, line, sizeof(line)));
}

static void begin(struct event_list *list)
{
	const struct report *report = list->report;

	list->progress = pass_progress_of_file(report->file ? report_file_fd(report->file) : STDOUT_FILENO,
					       "tracevisualizer: list");
	if (report->options->reports.list_json) {
		list->json = event_json_new(report->trace, report->output.out,
					    report->window.has_from ? report->window.from_ns : 0);
		return;
	}
	prepare_names(list);
	put_header(list);
}

int report_list(const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	struct event_list list = {.report = report, .offset_ns = (int64_t)(info->start_realtime_ns - info->start_ns)};
	int error = check_window(report);

	list.put_time = report->options->events.time == LIST_TIME_WALL	     ? put_wall
			: report->options->events.time == LIST_TIME_RELATIVE ? put_relative
									     : put_time;
	if (!error)
		error = choose_events(&list);
	if (error)
		return error;
	if (!info->start_realtime_ns)
		list.offset_ns = 0;
	list.buffer = malloc(BUFFER_BYTES);
	list.calls = call_texts_new(report->trace);
	/* an analysis reports damage of the start state itself */
	error = running_threads_init(&list.threads, report->trace, report->options->events.paths || report->analysis);
	if (!error && (!list.buffer || !list.calls))
		error = -ENOMEM;
	if (!error)
		error = choose_threads(&list);
	if (!error) {
		begin(&list);
		error = report->options->events.paths ? list_with_state(&list) : list_events(&list);
	}
	progress_line_erase();
	list.json = event_json_free(list.json);
	if (!error && !list.any)
		report_empty(&list);
	warn_symbols(&list);
	running_threads_release(&list.threads);
	free(list.buffer);
	free(list.chosen);
	call_texts_free(list.calls);
	trace_symbols_free(list.symbols);
	return error;
}

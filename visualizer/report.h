/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_H
#define VISUALIZER_REPORT_H
/* report.h - the outputs of tracevisualizer, and what they share: which processes in which order, and how values are written. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h> /* MIN(), MAX() */
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/reader.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "memory.h"
#include "visualizer_options.h"

struct process_row;
struct blocks;
struct timeline;
struct report {
	const struct trace *trace;
	struct trace_analysis *analysis; /* NULL for lists */
	struct trace_servers *servers;	 /* the same */
	struct trace_user_events *user;	 /* the same */
	struct trace_history *history;	 /* of --critical-path, else NULL */
	const struct trace_process *command; /* that the recorder started; NULL: none, or not seen */
	bool command_is_sure;		     /* else the first of its name: command_words() */
	uint64_t command_exec_ns;	     /* when it began to run its program */
	bool command_exited;		     /* all of its threads, or the last of them just then */
	struct table holds;		     /* by process: what those that a recorder started waited to be let go; empty: no command */
	struct blocks *blocks;		     /* of -a and --json, else NULL */
	struct timeline *timeline;	     /* of --timeline, else NULL */
	const struct options *options;
	FILE *out;
	struct output *file; /* behind it, if it is one of its own: report_file.h; owned by it */
	bool colour;
	size_t width; /* columns of the terminal; 0: no limit */
};

/* The reports need no results: without memory the program ends (memory.h). */

/** report_is_whole() - ends the program, as for lack of memory, if the analysis had none for a part of what it was, or will be, asked for */
void report_is_whole(const struct report *report);
/** whole_figures() - @figures, of trace_process_figures() or its kin; if they are NULL, there was no memory for them, and the program ends */
struct trace_figures *whole_figures(struct trace_figures *figures);
/** report_json() - schema trace-summary/1 */
void report_json(struct report *report);
/** report_text() - the verdict, the classic summary, and the time of every process */
void report_text(struct report *report);
/** command_begin() - before the pass: look for the command that was recorded, for @report->command */
void command_begin(struct report *report);
/** command_end() - release what it keeps */
void command_end(struct report *report);
/** command_words() - what report->command is, in front of its name or of what it did: one that was known by its name only may be another */
const char *command_words(const struct report *report);
/** command_from_ns() - when the recorder let it go; if it is not known to have been held, when it was first there */
uint64_t command_from_ns(const struct report *report);
/** command_ran_ns() - how long it ran, from then */
uint64_t command_ran_ns(const struct report *report);
/** command_has_ended() - was it seen to? command_not_ended() - what is said of it if not: where events were lost, its end may be among them */
bool command_has_ended(const struct report *report);
const char *command_not_ended(const struct report *report);
/** command_free_figures() - take out of @figures, those of report->command, what it waited for the recorder */
void command_free_figures(const struct report *report, struct trace_figures *figures);
/** not_seen_ns() - of its time off the CPUs, that of which nobody knows what it was */
uint64_t not_seen_ns(const struct trace_figures *f);
/** command_family() - after it: report->command, and all that it started; the caller's list of struct trace_process */
struct pointers command_family(const struct report *report);
/** report_wrapped() - a paragraph, and an empty line; @text is taken to pieces. "\x01" in it is a blank where no line breaks */
void report_wrapped(const struct report *report, char *text);
/** report_verdict() - the first paragraph: of the processes asked for, or of the command, and of the machine */
void report_verdict(const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system);
/**
 * report_finds_nobody() - --pid, --comm and --cgroup ask for processes that are not there; of two traces one has to have one
 * Says so in one line on stderr then. False as well if they ask for nobody.
 */
bool report_finds_nobody(const struct report *sides, int nr_sides);
/** report_verdict_of_programs() - the same, where of the kernel nothing was recorded; @any: programs told of what was asked for */
void report_verdict_of_programs(const struct report *report, bool any);
/** report_sections() - machine-wide: by kind of wait, file, lock, pair of processes, interrupt, device, system call */
void report_sections(const struct report *report, const struct trace_figures *system);
/** report_files() - the files of @f; @whole_ns: what the time waited for a file is a part of; @most: rows, unless --top or --all say otherwise */
void report_files(const struct report *report, const char *indent, const struct trace_figures *f, uint64_t whole_ns, size_t most);
/** report_diff() - @sides: two of them, analyzed; the first has the output. Text, or JSON of schema trace-diff/1 */
void report_diff(struct report *sides);
/** blocks_begin() - before the pass: follow what disks do */
void blocks_begin(struct report *report);
struct blocks *blocks_free(struct blocks *blocks); /* NULL is fine; returns NULL */
/** report_blocks() - a line for each disk */
void report_blocks(const struct report *report);
/** report_servers() - servers and their clients, what clients waited for, and who received from the network */
void report_servers(const struct report *report);
/** report_summary() - times and numbers of events */
void report_summary(struct report *report);
/** report_list() - one line per event. 0, or 2 after a message: a name that is no event */
int report_list(struct report *report);

/** critical_path_begin() - before the pass: keep what --critical-path will need. 0, or 1 or 2 after a message */
int critical_path_begin(struct report *report);
/** report_critical_path() - text, or JSON of schema trace-critical-path/1. 0, or 1 after a message */
int report_critical_path(struct report *report);

/** timeline_check() - before anything is written: is there something to show? 0, or 1 or 2 after a message */
int timeline_check(const struct report *report);
/** timeline_begin() - before the pass, in which it is written to @report->out already */
void timeline_begin(struct report *report);
/** timeline_end() - after the pass: the rest of it */
void timeline_end(struct report *report);
struct timeline *timeline_free(struct timeline *timeline); /* NULL is fine; returns NULL */

/* ---- what text and JSON have in common ---- */

/** struct pair - one process waited for another */
struct pair {
	const struct trace_process *waiter;
	struct trace_wait wait;
};
/** report_pairs() - for free(), greatest time first */
struct pair *report_pairs(const struct report *report, size_t *ret_nr);
struct json;
/** json_blocks() - what disks did */
void json_blocks(struct json *json, const struct report *report);

/* ---- which processes ---- */

struct process_row {
	const struct trace_process *process;
	uint64_t elapsed_ns, user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns;
	struct trace_wait worst; /* the longest of its waits; ns 0: none */
	enum trace_wait_kind worst_kind; /* of what it waited for most, all targets added up, */
	uint64_t worst_kind_ns;		 /* and how long that was; rests left out */
	bool only_own;			 /* the processes that it waited for are itself */
	bool of_command;	 /* the command that was recorded, or started by it, where these come first */
	bool folded;		 /* too little to matter: one line for all of them, unless --all */
};

#define COMM_BYTES 16 /* as the kernel has it: what is longer it cuts */
/** comm_is() - is a process or thread of @comm called @name, as far as the kernel keeps it? */
bool comm_is(const char *comm, const char *name);
/** process_wanted() - is it one of those that --pid, --comm and --cgroup ask for? */
bool process_wanted(const struct report *report, const struct trace_process *process);
/** command_comes_first() - with all that it started, in the text, unless an order or some processes were asked for */
bool command_comes_first(const struct report *report);
/** process_rows() - those that the options ask for, sorted; owned by the caller */
struct process_row *process_rows(const struct report *report, size_t *ret_nr);
/** process_rows_compare() - of two struct process_row, as --sort has it; @report: a struct report */
int process_rows_compare(const void *left, const void *right, void *report);

/* ---- which rows of a table ---- */

#define WORTH_A_ROW 0.1 /* percent */

struct fold {
	const struct report *report;
	size_t most, shown, left;
	uint64_t left_ns;
};
/** fold_begin() - at most @most rows, unless --top or --all say otherwise */
struct fold fold_begin(const struct report *report, size_t most);
/** fold_shows() - is this row shown, that has @part of @whole? The first one is: a table of what it leaves out tells nothing. Otherwise it is counted for fold_rest(). */
bool fold_shows(struct fold *fold, uint64_t part, uint64_t whole);
/** fold_shows_if() - the same, where something else than the time tells whether it matters */
bool fold_shows_if(struct fold *fold, bool matters, uint64_t ns);

/* ---- how values are written ---- */

struct text { /* room for one formatted value */
	char bytes[64];
};

/** fold_rest() - "12 more rows, 3.45 ms", or "" */
const char *fold_rest(const struct fold *fold, struct text *text);
/** is_idle() - nobody had the CPU: that long it took to wake up */
static inline bool is_idle(const struct trace_cpu_wait *wait)
{
	return !wait->pid && strcmp(wait->comm, "idle") == 0;
}
/** text_path() - @path of a row of files, or what to say where it is none */
const char *text_path(const struct report *report, const char *path);
/** wait_is_for_disk() - of kind file, but which file is not known: the target is a block device */
bool wait_is_for_disk(const struct report *report, const struct trace_wait *wait);
/** text_wait() - what a thread waited for: "file /etc/passwd", "process 4711 cc1 via waitpid", "timeout"; @own_pid: whose wait it is, 0: nobody's in particular */
const char *text_wait(const struct report *report, const struct trace_wait *wait, uint32_t own_pid, char *buffer, size_t size);
/** text_ns() - "1.234 ms", or "1234567" with --ns */
const char *text_ns(const struct report *report, uint64_t ns, struct text *text);
/** text_bytes() - "812 B", "1.2 MiB", or "1258291" with --ns */
const char *text_bytes(const struct report *report, uint64_t bytes, struct text *text);
/** text_name() - a name for a terminal: control characters and invalid UTF-8 come out as \xNN. Cut to @size. Returns @buffer. */
const char *text_name(const char *name, char *buffer, size_t size);
/** text_comm() - the same of a thread or process, or "(no name)": it was there from the start, and could not be asked */
const char *text_comm(const char *comm, char *buffer, size_t size);
/** text_process() - "make (4711)"; "process 4711" without a name; 0: the name alone */
const char *text_process(const char *comm, uint32_t pid, char *buffer, size_t size);
/**
 * struct losses - what is missing of a trace. @is_least: of some gaps it is known that something is missing, and not how much: of a recorder that was
 * killed, of a file that ends too soon. @overwritten: by a flight recorder, before the time of which it has everything; in no @gaps
 */
struct losses {
	uint64_t lost;
	uint64_t overwritten;
	size_t gaps;
	bool is_least;
};
struct losses trace_losses(const struct trace *trace);
/** report_moment() - @seconds after the start of the trace, as the summary has it: what --from and --to count from */
uint64_t report_moment(const struct report *report, double seconds);
/** report_check_from() - is there something behind --from? 0, or 2 after a message: it would be an empty report without a reason */
int report_check_from(const struct report *report);
/** report_older() - events that a flight recorder has of some CPUs and programs of the time before it has all of it, in no figure: only lists have them */
uint64_t report_older(const struct report *report);
/** report_lost() - events that are missing, also in chunks that turned out to be damaged; @ret_gaps: in how many gaps */
uint64_t report_lost(const struct report *report, size_t *ret_gaps);
#define MAX_WARNINGS 5u /* of one kind: --verify tells the rest */
/** warn_damages() - on stderr, after the pass: of what was found only when the events were read */
void warn_damages(const struct trace_analysis *analysis);
/** text_lost() - "17 events", "at least 17 events", "nobody knows how many events" */
const char *text_lost(const struct report *report, struct text *text);
/** is_left_out() - by the recorder, as a whole: TRACE_LEFT_OUT_... */
bool is_left_out(const struct trace *trace, const char *what);
/** is_unrecorded() - none of the kernel's events of @category, at no time: to have seen none says nothing */
bool is_unrecorded(const struct report *report, enum trace_category category);
/** has_recorded() - an event of this id, for some time: else to have seen none says nothing */
bool has_recorded(const struct report *report, uint32_t id);
/** has_turns() - were scheduling changes recorded for some time, so that there are times to tell of? */
bool has_turns(const struct report *report);
/** has_interrupts() - interrupts, softirqs or vectors, for some time */
bool has_interrupts(const struct report *report);
/** report_loss_sentence() - append it, a blank before it; nothing if nothing was lost */
void report_loss_sentence(struct string *s, const struct report *report);
struct json;
/** report_json_wait() - an object */
void report_json_wait(struct json *json, const struct trace_wait *wait);
/** report_json_string() - quoted and escaped */
void report_json_string(FILE *out, const char *text);
double percent(uint64_t part, uint64_t whole);
#endif

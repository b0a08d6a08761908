/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_H
#define VISUALIZER_REPORT_H
/*
 * report.h - the reports of tracevisualizer, and what they share: the choice and order of
 * processes, and the format of values.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h> /* MIN(), MAX() */
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/reader.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "checked_memory.h"
#include "visualizer_options.h"

struct process_row;
struct blocks;
struct timeline;
struct report {
	const struct trace *trace;
	struct trace_analysis *analysis; /* NULL for event lists */
	struct trace_servers *servers;	 /* the same */
	struct trace_user_events *user;	 /* the same */
	struct trace_history *history;	 /* for --critical-path, else NULL */
	/* the one that the recorder started; NULL: none, or not recorded */
	const struct trace_process *command;
	bool command_is_sure; /* false: the first process of that name: command_words() */
	uint64_t command_exec_ns;	     /* time of its exec */
	bool command_exited;		     /* true: all of its threads have exited */
	/* by process: how long a command waited until the recorder let it run; empty: no command */
	struct hash_table holds;
	struct blocks *blocks;		     /* for -a and --json, else NULL */
	struct timeline *timeline;	     /* for --timeline, else NULL */
	const struct options *options;
	FILE *out;
	/* under @out, if the report has an output file: report_file.h; owned by it */
	struct output *file;
	bool colour;
	size_t width; /* columns of the terminal; 0: no limit */
};

/* Functions of reports return no error for lack of memory: the program ends (checked_memory.h). */

/**
 * report_is_whole() - end the program if the analysis, the servers or the user events lacked memory
 */
void report_is_whole(const struct report *report);
/**
 * whole_figures() - return @figures; end the program if they are NULL
 * @figures: from trace_process_figures() and similar functions, which return NULL for lack of
 *   memory
 */
struct trace_figures *whole_figures(struct trace_figures *figures);
/** report_json() - JSON of schema trace-summary/1 */
void report_json(struct report *report);
/**
 * report_text() - the first paragraph, the summary of the original, and the time of every process
 */
void report_text(struct report *report);
/** command_begin() - before the pass: look for the recorded command, for @report->command */
void command_begin(struct report *report);
/** command_end() - release the memory of command_begin() */
void command_end(struct report *report);
/**
 * command_words() - the words before the name of report->command
 * They say so if the command was found by its name only, because it may be another process then.
 */
const char *command_words(const struct report *report);
/**
 * command_from_ns() - when the recorder let the command run; when it began, if no wait for the
 * recorder is known
 */
uint64_t command_from_ns(const struct report *report);
/** command_ran_ns() - how long the command ran, from command_from_ns() */
uint64_t command_ran_ns(const struct report *report);
/**
 * command_has_ended() - was its end recorded?
 * command_not_ended() - the words for a command without one: where events were lost, its end may be
 * among them
 */
bool command_has_ended(const struct report *report);
const char *command_not_ended(const struct report *report);
/**
 * command_free_figures() - subtract from @figures, those of report->command, its wait for the
 * recorder
 */
void command_free_figures(const struct report *report, struct trace_figures *figures);
/** not_seen_ns() - off-CPU time of unknown cause */
uint64_t not_seen_ns(const struct trace_figures *f);
/**
 * command_family() - report->command and all of its descendants; the caller frees the list of
 * struct trace_process
 */
struct pointers command_family(const struct report *report);
/**
 * report_wrapped() - write a paragraph and an empty line; modifies @text
 * "\x01" in @text is a blank at which no line breaks.
 */
void report_wrapped(const struct report *report, char *text);
/**
 * report_verdict() - the first paragraph: about the chosen processes or the command, and about the
 * machine
 */
void report_verdict(const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system);
/**
 * report_finds_nobody() - true, after a line on stderr, if --pid, --comm and --cgroup choose no
 * process
 * With two traces, one process in either is enough. False without these options.
 */
bool report_finds_nobody(const struct report *sides, int nr_sides);
/**
 * report_verdict_of_programs() - the first paragraph of a trace without kernel events; @any:
 * programs recorded some events
 */
void report_verdict_of_programs(const struct report *report, bool any);
/**
 * report_sections() - machine-wide tables: kinds of waits, files, locks, pairs of processes,
 * interrupts, devices, system calls
 */
void report_sections(const struct report *report, const struct trace_figures *system);
/**
 * report_files() - the files of @f
 * @whole_ns: 100 % for the time waited for a file
 * @most: maximum of rows, unless --top or --all choose another one
 */
void report_files(const struct report *report, const char *indent, const struct trace_figures *f, uint64_t whole_ns, size_t most);
/**
 * report_diff() - compare two analyzed traces; text, or JSON of schema trace-diff/1
 * @sides: the two reports; the output is that of the first
 */
void report_diff(struct report *sides);
/** blocks_begin() - before the pass: follow the requests of block devices */
void blocks_begin(struct report *report);
struct blocks *blocks_free(struct blocks *blocks); /* NULL is fine; returns NULL */
/** report_blocks() - one line for each disk */
void report_blocks(const struct report *report);
/**
 * report_servers() - servers and their clients, what clients waited for, and receivers from the
 * network
 */
void report_servers(const struct report *report);
/** report_summary() - the times and the numbers of events */
void report_summary(struct report *report);
/**
 * report_list() - one line per event
 * Returns 0, or 2 after a message: an option names an event that does not exist.
 */
int report_list(struct report *report);

/**
 * critical_path_begin() - before the pass: keep what --critical-path needs. Returns 0, or 1 or 2
 * after a message
 */
int critical_path_begin(struct report *report);
/**
 * report_critical_path() - text, or JSON of schema trace-critical-path/1. Returns 0, or 1 after a
 * message
 */
int report_critical_path(struct report *report);

/**
 * timeline_check() - before any output: 0 if there is something to show, or 1 or 2 after a message
 */
int timeline_check(const struct report *report);
/** timeline_begin() - before the pass, which writes the timeline to @report->out as it reads */
void timeline_begin(struct report *report);
/** timeline_end() - after the pass: write the rest */
void timeline_end(struct report *report);
struct timeline *timeline_free(struct timeline *timeline); /* NULL is fine; returns NULL */

/* ---- shared by text and JSON ---- */

/** struct pair - a process waited for another one */
struct pair {
	const struct trace_process *waiter;
	struct trace_wait wait;
};
/** report_pairs() - the pairs, longest time first; the caller frees them */
struct pair *report_pairs(const struct report *report, size_t *ret_nr);
struct json;
/** json_blocks() - the figures of disks */
void json_blocks(struct json *json, const struct report *report);

/* ---- the choice of processes ---- */

struct process_row {
	const struct trace_process *process;
	uint64_t elapsed_ns, user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns;
	struct trace_wait worst; /* its longest wait; ns 0: none */
	/* kind with the longest time over all targets, without idle waits, */
	enum trace_wait_kind worst_kind;
	uint64_t worst_kind_ns;		 /* and that time */
	bool only_own;			 /* it waited for no process but itself */
	bool of_command;	 /* the command or a descendant, where these come first */
	bool folded;		 /* below WORTH_A_ROW: one line for all of them, unless --all */
};

#define COMM_BYTES 16 /* TASK_COMM_LEN of the kernel, which cuts longer names */
/**
 * comm_is() - true if @comm, of a process or thread, equals @name up to the length that the kernel
 * keeps
 */
bool comm_is(const char *comm, const char *name);
/** process_wanted() - true if --pid, --comm and --cgroup choose @process, or are absent */
bool process_wanted(const struct report *report, const struct trace_process *process);
/**
 * command_comes_first() - true if the text lists the command and its descendants first
 * That is so unless an option chooses an order or some processes.
 */
bool command_comes_first(const struct report *report);
/** process_rows() - the chosen processes, sorted; owned by the caller */
struct process_row *process_rows(const struct report *report, size_t *ret_nr);
/** process_rows_compare() - order two struct process_row by --sort; @report: a struct report */
int process_rows_compare(const void *left, const void *right, void *report);

/* ---- the choice of rows of a table ---- */

#define WORTH_A_ROW 0.1 /* percent */

struct fold {
	const struct report *report;
	size_t most, shown, left;
	uint64_t left_ns;
};
/** fold_begin() - show at most @most rows, unless --top or --all choose another maximum */
struct fold fold_begin(const struct report *report, size_t most);
/**
 * fold_shows() - true if a row with @part of @whole is shown; otherwise count it for fold_rest()
 * The first row is always shown: a table with nothing but a count of hidden rows is useless.
 */
bool fold_shows(struct fold *fold, uint64_t part, uint64_t whole);
/** fold_shows_if() - the same, where @matters decides instead of the row's part of the time */
bool fold_shows_if(struct fold *fold, bool matters, uint64_t ns);

/* ---- the format of values ---- */

struct text { /* room for one formatted value */
	char bytes[64];
};

/** fold_rest() - "12 more rows, 3.45 ms", or "" */
const char *fold_rest(const struct fold *fold, struct text *text);
/** is_idle() - true if the thread waited for an idle CPU to wake up */
static inline bool is_idle(const struct trace_cpu_wait *wait)
{
	return !wait->pid && strcmp(wait->comm, "idle") == 0;
}
/** text_path() - @path of a row of files, or the text for a row without a path */
const char *text_path(const struct report *report, const char *path);
/**
 * wait_is_for_disk() - true for a wait of kind file with an unknown file: its target is a block
 * device
 */
bool wait_is_for_disk(const struct report *report, const struct trace_wait *wait);
/**
 * text_wait() - the target of a wait: "file /etc/passwd", "process 4711 cc1 via waitpid", "timeout"
 * @own_pid: the process that waited; 0: several
 */
const char *text_wait(const struct report *report, const struct trace_wait *wait, uint32_t own_pid, char *buffer, size_t size);
/** text_ns() - "1.234 ms", or "1234567" with --ns */
const char *text_ns(const struct report *report, uint64_t ns, struct text *text);
/** text_bytes() - "812 B", "1.2 MiB", or "1258291" with --ns */
const char *text_bytes(const struct report *report, uint64_t bytes, struct text *text);
/**
 * text_name() - format @name for a terminal: control characters and invalid UTF-8 become \xNN
 * Cut to @size. Returns @buffer.
 */
const char *text_name(const char *name, char *buffer, size_t size);
/**
 * text_comm() - the same for a thread or process; "(no name)" if its name could not be read at the
 * start
 */
const char *text_comm(const char *comm, char *buffer, size_t size);
/** text_process() - "make (4711)"; "process 4711" without a name; the name alone if the pid is 0 */
const char *text_process(const char *comm, uint32_t pid, char *buffer, size_t size);
/**
 * struct losses - what is missing in a trace
 * @is_least: the size of some gap is unknown, after the recorder was killed or in a truncated file
 * @overwritten: by a flight recorder, before the time from which it has everything; not in @gaps
 */
struct losses {
	uint64_t lost;
	uint64_t overwritten;
	size_t gaps;
	bool is_least;
};
struct losses trace_losses(const struct trace *trace);
/**
 * report_moment() - @seconds after the start of the trace in the summary, from which --from and
 * --to count
 */
uint64_t report_moment(const struct report *report, double seconds);
/**
 * report_check_from() - 0, or 2 after a message if --from is after the end of the trace
 * Without it the report would be empty, and would not say why.
 */
int report_check_from(const struct report *report);
/**
 * report_older() - events from before the time from which a flight recorder has everything
 * The recorder has them for some CPUs and programs. Only lists show them; no figure contains them.
 */
uint64_t report_older(const struct report *report);
/** report_lost() - number of missing events, also in damaged chunks; @ret_gaps: in how many gaps */
uint64_t report_lost(const struct report *report, size_t *ret_gaps);
#define MAX_WARNINGS 5u /* of one kind: --verify prints all */
/**
 * warn_damages() - after the pass: warn on stderr of late gaps, which are found only while reading
 */
void warn_damages(const struct trace_analysis *analysis);
/** text_lost() - "17 events", "at least 17 events", or that the number is unknown */
const char *text_lost(const struct report *report, struct text *text);
/** is_left_out() - true if the recorder left @what out as a whole; @what: TRACE_LEFT_OUT_... */
bool is_left_out(const struct trace *trace, const char *what);
/**
 * is_unrecorded() - true if no kernel event of @category was recorded at any time
 * If so, the absence of such events means nothing.
 */
bool is_unrecorded(const struct report *report, enum trace_category category);
/**
 * has_recorded() - true if this event was recorded for some time; if not, its absence means nothing
 */
bool has_recorded(const struct report *report, uint32_t id);
/** has_turns() - true if scheduling changes were recorded for some time, so that times are known */
bool has_turns(const struct report *report);
/** has_interrupts() - true if interrupts, softirqs or vectors were recorded for some time */
bool has_interrupts(const struct report *report);
/**
 * report_loss_sentence() - append a blank and the sentence about losses; nothing if nothing was
 * lost
 */
void report_loss_sentence(struct string *s, const struct report *report);
struct json;
/** report_json_wait() - a wait as a JSON object */
void report_json_wait(struct json *json, const struct trace_wait *wait);
/** report_json_string() - @text, quoted and escaped */
void report_json_string(FILE *out, const char *text);
double percent(uint64_t part, uint64_t whole);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VISUALIZER_OPTIONS_H
#define VISUALIZER_VISUALIZER_OPTIONS_H
/* visualizer_options.h - the command line of tracevisualizer. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "completion.h"
#include "option_table.h"
#include "opreport.h"
#include "profile_by.h"
#include "readprofile.h"
#include "strace_options.h"
#include "time_choice.h"

#define OPTIONS_MAX_WORDS 4

enum sort_key { SORT_ELAPSED, SORT_CPU, SORT_USER, SORT_SYSTEM, SORT_WAIT, SORT_WAIT_CPU, SORT_PID, SORT_NAME };

/** enum list_time - how lists show times, in the order of the words of --time */
enum list_time { LIST_TIME_CLASSIC, LIST_TIME_WALL, LIST_TIME_RELATIVE };

enum list_column { COLUMN_CPU = 1, COLUMN_TIME = 2, COLUMN_PID = 4, COLUMN_LENGTH = 8, COLUMN_TEXT = 16 };

/** struct report_choice - the reports to write */
struct report_choice {
	bool analyze; /* -a */
	bool list;    /* -d */
	bool summary; /* -s */
	bool answer;  /* none of these: the answer on one screen */
	bool json;
	bool list_json; /* -d --json: the events; then @json is false */
	bool verify;
	bool critical_path;
	const char *critical_task; /* PID, TID or name; NULL: the recorded command */
	const char *slowest;	   /* NAME, scope:NAME, call:NAME or command:NAME; NULL: not given */
	bool profile;
	bool strace;
	bool diff;
	bool timeline;
	bool view;
	bool benchmark;	 /* -b */
	bool short_help; /* -h */
	bool help;
	bool version;
	bool complete; /* --complete, which the completions of shells ask */
	enum completion_kind completion;
};

/** enum profile_form - of the report of --profile, --lines, --asm, --callers, ... */
enum profile_form {
	PROFILE_FLAT,
	PROFILE_TREE,
	PROFILE_LINES,
	PROFILE_CALLERS,
	PROFILE_CALLEES,
	PROFILE_FOLDED,
	PROFILE_ASM,
	PROFILE_BY,
};
#define PROFILE_FORMS "flat tree lines"

/** enum profile_part - the time in folded stacks, in the order of the words of --folded */
enum profile_part { PROFILE_ON_CPU, PROFILE_OFF_CPU, PROFILE_ALL, PROFILE_WAKERS };
#define PROFILE_PARTS "on off all wakers"

/**
 * struct profile_choice - @form: unless @has_form, the flat one
 * @is_flat: --profile was given. @flame, @pprof: files to write
 */
struct profile_choice {
	enum profile_form form;
	bool has_form;
	bool is_flat;
	const char *function; /* of --callers or --callees */
	const char *source;   /* of --lines */
	const char *code;     /* the function of --asm */
	struct profile_by_choice by;
	enum profile_part part;
	const char *flame, *pprof;
	const char *scope, *client; /* only its time; NULL: all */
	bool along_path;	    /* the same, of the critical path of reports.critical_task */
};

/* enum section - the parts of -a after the first sentences; in the order of SECTIONS */
enum section {
	SECTION_CPUS,
	SECTION_PROCESSES,
	SECTION_GROUPS,
	SECTION_SERVERS,
	SECTION_PROGRAMS,
	SECTION_PROBES,
	SECTION_KINDS,
	SECTION_TAKERS,
	SECTION_FILES,
	SECTION_LOCKS,
	SECTION_INTERRUPTED,
	SECTION_PAIRS,
	SECTION_INTERRUPTS,
	SECTION_DEVICES,
	SECTION_DISKS,
	SECTION_WORK,
	SECTION_EVENTS,
	SECTION_DETAILS,
};
#define SECTIONS                                                                                                       \
	"cpus processes groups servers programs probes kinds takers files locks interrupted pairs interrupts devices " \
	"disks "                                                                                                       \
	"work events details"

/** struct process_choice - the processes to show: process_choice.h */
struct process_choice {
	int64_t pid; /* -1: all */
	int64_t tid; /* of one of its threads; -1: all */
	const char *comm;
	bool in_args;	    /* no task is called @comm: it is a part of arguments */
	const char *thread; /* name of one of its threads; NULL: all */
	const char *cgroup; /* path; NULL: all */
};

/** struct event_choice - the events of a list, and its columns */
struct event_choice {
	int64_t cpu;	     /* -1: all */
	const char **traced; /* owned array; -t */
	size_t nr_traced;
	const char **omitted; /* owned array; -o */
	size_t nr_omitted;
	bool paths;	     /* -y */
	enum list_time time; /* --time */
	bool has_time;
	unsigned int hidden_columns; /* enum list_column; -f */
};

/** struct symbol_choice - where the names of functions come from, in lists */
struct symbol_choice {
	const char *folder; /* instead of "/"; NULL: none */
	bool debuginfod;
};

/** struct row_choice - the number and the order of rows: row_limit.h, process_rows.h */
struct row_choice {
	long top; /* 0: the default of each table */
	bool all;
	enum sort_key sort;
	bool sorted; /* --sort was given */
};

/** struct fail_choice - --fail-above: how much longer the command of B may run */
struct fail_choice {
	const char *text; /* as given; NULL: there is no limit */
	double share;	  /* of the run of A; 0: @ns is the limit */
	uint64_t ns;
};

/** struct visualizer_options - strings are borrowed from argv */
struct visualizer_options {
	struct report_choice reports;
	struct process_choice processes;
	struct symbol_choice symbols;
	struct profile_choice profile;
	struct readprofile_choice readprofile;
	struct opreport_choice opreport;
	struct event_choice events;
	struct time_choice window;
	struct row_choice rows;
	struct fail_choice fail;
	struct strace_choice strace;
	uint32_t sections;  /* bit n: enum section n; 0: all */
	bool exact;	    /* --ns */
	bool no_pager;	    /* --no-pager */
	bool no_browser;    /* --no-browser */
	bool no_index;	    /* --no-index */
	const char *html;   /* --html; NULL: not given */
	bool anonymous;	    /* --anonymous: that page has no names */
	uint64_t max_size;  /* of that page, bytes */
	bool has_max_size;  /* --max-size was given */
	uint16_t port;	    /* --port; 0: the kernel chooses one */
	const char *output; /* NULL: stdout */
	const char *trace;
	const char *other_trace; /* of --diff, --view; NULL: one */
	const char *proc;
	const char *words[OPTIONS_MAX_WORDS]; /* the arguments */
	size_t nr_words;
};

/**
 * options_set_from() - --from, and so on: of tracevisualizer and its personalities
 * @into: struct visualizer_options. Returns 0, or -EINVAL with the reason
 */
int options_set_from(void *into, const char *value, struct trace_error *ret_error) TRACE_NODISCARD;
int options_set_to(void *into, const char *value, struct trace_error *ret_error) TRACE_NODISCARD;
int options_set_help(void *into, const char *value, struct trace_error *ret_error) TRACE_NODISCARD;
int options_set_version(void *into, const char *value, struct trace_error *ret_error) TRACE_NODISCARD;

/** visualizer_program - the command line of tracevisualizer */
extern const struct option_program visualizer_program;

/**
 * visualizer_options_parse() - parse the command line
 * Returns 0, or 2 after a message on stderr that names the error and the way out.
 */
int visualizer_options_parse(struct visualizer_options *options, int argc, char **argv);
void visualizer_options_release(struct visualizer_options *options);
/** section_is_chosen() - true if -a has this part */
static inline bool section_is_chosen(const struct visualizer_options *options, enum section section)
{
	return !options->sections || (options->sections >> section & 1);
}
/** options_is_trace() - true if the file begins with the magic of a trace */
bool options_is_trace(const char *path);
#endif

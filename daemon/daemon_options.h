/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DAEMON_OPTIONS_H
#define DAEMON_DAEMON_OPTIONS_H
/*
 * daemon_options.h - tracedaemon's command line. One table drives the parser, --help, and the test
 * that the manual page and the completion know every option.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/tracer.h>

#include "auto_save.h"
#include "format_text.h"
#include "option_table.h"
#include "select.h"

enum action {
	ACTION_RECORD,
	ACTION_SHORT_HELP, /* -h */
	ACTION_HELP,
	ACTION_VERSION,
	ACTION_LIST,
	/* the following send a request to a running daemon */
	ACTION_PRINT_MASK,
	ACTION_SET_MASK,
	ACTION_STATUS,
	ACTION_SNAPSHOT,
	ACTION_STOP,
};

/**
 * struct output_options - the output file. @path: "-" for stdout. @is_default_name: the daemon
 * chose the name. @is_bare_word: an argument without a dot. @is_after_letter: -o gave it.
 * @proc_path: NULL: none
 */
struct output_options {
	const char *path;
	const char *proc_path;
	bool is_default_name;
	bool is_bare_word;
	bool is_after_letter;
};

/**
 * struct keep_choice - a flight recorder of the last seconds. @keep_ns: 0: the rings keep what they
 * can. @max_bytes: of memory
 */
struct keep_choice {
	uint64_t keep_ns;
	uint64_t max_bytes;
};

/**
 * struct session_options - how the recording runs. @duration_ns: 0: until it is stopped. @flush_ns:
 * 0: adaptive, UINT64_MAX: never
 */
struct session_options {
	uint64_t duration_ns;
	uint64_t flush_ns;
	int level;
	bool quiet;
	bool background;
	bool foreground; /* although it is a flight recorder */
	bool block_programs;
	const char *control_path; /* NULL = the default */
	char **command;		  /* NULL-terminated; NULL = none */
	const char *command_user; /* NULL = the daemon's */
};

#define OPTIONS_MAX_PROBES 64
#define OPTIONS_MAX_WORDS  3

/**
 * struct daemon_options - the parsed command line
 * @probes: their texts, as given
 * @list_target: what to list; NULL: the events
 * @preload: libraries for the command, or NULL
 * @typed_record: "record" came first, as for perf
 * @words: the arguments: device, trace, list of processes
 */
struct daemon_options {
	enum action action;
	const char *probes[OPTIONS_MAX_PROBES];
	size_t nr_probes;
	const char *list_target;
	const char *preload;
	struct selection selection;
	struct tracer_options tracer; /* mask still empty: see select_finish() */
	struct output_options output;
	struct session_options session;
	struct keep_choice keep;
	struct auto_options saves;
	const char *saves_detail; /* the last option about @saves that was given; NULL: none */
	bool flight;		  /* the latest events stay in memory */
	bool follow_command;
	bool typed_record;
	bool tells_version; /* beside the state: -V */
	const char *words[OPTIONS_MAX_WORDS];
	size_t nr_words;
	struct text default_name;
};

/** daemon_program - the command line of tracedaemon */
extern const struct option_program daemon_program;

/** options_table() - all options, for the tests */
const struct option_spec *options_table(size_t *ret_nr);

/**
 * options_parse() - parse the command line into @ret_options, which borrows strings from @argv
 * Reports ignored old options on stderr. Returns 0, or -EINVAL with the reason; the program then
 * exits with 2.
 */
int options_parse(struct daemon_options *ret_options, int argc, char **argv, struct trace_error *ret_error);
#endif

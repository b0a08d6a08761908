/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_OPTIONS_H
#define VISUALIZER_STRACE_OPTIONS_H
/* strace_options.h - the options that tracevisualizer --strace has from strace(1). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "option_table.h"

/** enum strace_status - of -e status=: how a call ended; bits */
enum strace_status { STATUS_SUCCESSFUL = 1, STATUS_FAILED = 2, STATUS_UNFINISHED = 4 };

/** enum strace_time - of -t, -tt and -ttt */
enum strace_time { TIME_NONE, TIME_SECONDS, TIME_DAY, TIME_EPOCH };

/** enum strace_column - of --add-columns: what strace cannot know; bits */
enum strace_column { STRACE_CPU = 1, STRACE_RUNNABLE = 2, STRACE_WAIT = 4, STRACE_FOR = 8, STRACE_ON = 16 };
#define STRACE_COLUMNS "cpu runnable wait for on"

/** enum summary_column - of -U and -S, in the order of SUMMARY_COLUMNS */
enum summary_column {
	SUMMARY_PERCENT,
	SUMMARY_TOTAL,
	SUMMARY_MIN,
	SUMMARY_MAX,
	SUMMARY_AVG,
	SUMMARY_CALLS,
	SUMMARY_ERRORS,
	SUMMARY_NAME,
	SUMMARY_CPU,
	SUMMARY_WAIT,
	SUMMARY_RUNNABLE,
	NR_SUMMARY_COLUMNS,
};
#define SUMMARY_COLUMNS                                                                                          \
	"time-percent total-time min-time max-time avg-time calls errors name cpu-time wait-time runnable-time " \
	"nothing"

/** struct strace_words - owned list of borrowed words */
struct strace_words {
	const char **at;
	size_t nr;
};

/**
 * struct strace_choice - the options of strace
 * @follow: 1: -f; 2: -ff. @fds: 1: -y; 2: -yy
 * @trace: the sets of -e trace=; the last one counts. NULL: all calls
 * @signals: of -e signal=. @pids: of -p
 */
struct strace_choice {
	bool is_chosen;
	int follow;
	int fds;
	bool comms;
	int time;
	bool relative;
	bool durations;
	bool summary;
	bool summary_only;
	bool wall;
	bool stacks;
	bool numbers;
	bool quiet;
	uint8_t statuses;
	uint8_t columns;
	uint8_t summary_columns[NR_SUMMARY_COLUMNS];
	size_t nr_summary_columns;
	int sort; /* enum summary_column; -1: nothing */
	bool is_sorted;
	long indent;
	long string_bytes;
	const char *trace;
	const char *signals;
	struct strace_words paths;
	struct strace_words pids;
};

/** strace_letters - the table of these options: a personality of visualizer_program */
extern const struct option_program strace_letters;

/** strace_choice_init() - the defaults */
void strace_choice_init(struct strace_choice *choice);
void strace_choice_release(struct strace_choice *choice);
#endif

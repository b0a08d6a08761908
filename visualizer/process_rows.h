/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROCESS_ROWS_H
#define VISUALIZER_PROCESS_ROWS_H
/* process_rows.h - the processes of a report, sorted, with the figures of a line. */
#include "report.h"

/* The first key of the order, unless the user chose an order or some processes. */
enum row_rank {
	RANK_ASKED, /* the recording was made for it: recorded_family.h */
	RANK_OTHER,
	RANK_NOT_RECORDED, /* the filter left its events out: its time is unknown */
};

struct process_row {
	const struct trace_process *process;
	uint64_t elapsed_ns, user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns;
	struct trace_wait worst; /* its longest wait; ns 0: none */
	/* kind with the longest time over all targets, without idle waits, */
	enum trace_wait_kind worst_kind;
	uint64_t worst_kind_ns; /* and that time */
	/* blocked time by kind without idle waits, and that of idle waits: together @blocked_ns */
	uint64_t kind_ns[TRACE_NR_WAIT_KINDS], idle_ns;
	bool only_own; /* it waited for no process but itself */
	bool folded;   /* below WORTH_A_ROW: one line for all of them, unless --all */
	enum row_rank rank;
};

/** process_rows() - the chosen processes, sorted; owned by the caller */
struct process_row *process_rows(const struct report *report, size_t *ret_nr);
/** process_rows_compare() - order two struct process_row by --sort; @report: a struct report */
int process_rows_compare(const void *left, const void *right, void *report);
/** command_comes_first() - true if the text lists the command and its descendants first */
bool command_comes_first(const struct report *report);
#endif

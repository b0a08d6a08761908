/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CPU_TAKERS_H
#define VISUALIZER_CPU_TAKERS_H
/* cpu_takers.h - the programs that had a CPU while others waited for it. */
#include "checked_memory.h"
#include "json.h"
#include "process_origin.h"
#include "report.h"

/**
 * struct cpu_taker - the processes of one name and origin
 * @first: one of them; its process is NULL for an idle CPU, interrupts, and what is not known
 * @origin: the process that they come from
 * @cgroup: control group of all of them; NULL: they are in several
 * @nr: number of processes, the last one @last_pid
 * @threads: number of threads, if the process is the waiting one itself
 * @ns: how long they had the CPUs
 */
struct cpu_taker {
	struct trace_cpu_wait first;
	struct process_origin origin;
	const char *cgroup;
	size_t nr, threads;
	uint32_t last_pid;
	uint64_t ns;
};

/**
 * cpu_takers() - add up @waits by name and origin; longest first, owned by the caller
 * @own_pid: its threads are added up by name; 0: none, and each process is one taker
 */
struct cpu_taker *cpu_takers(const struct trace_cpu_wait *waits, size_t nr, uint32_t own_pid, size_t *ret_nr);
/**
 * cpu_taker_text() - append "sh (812)" or "15 sh started by hog.sh (812)"
 * @cgroup: of the waiting process: another one is named; NULL: none is named
 */
void cpu_taker_text(struct string *s, const struct cpu_taker *taker, const char *cgroup);
/** cpu_taker_own_text() - append "its thread gc (813)": threads of the waiting process itself */
void cpu_taker_own_text(struct string *s, const struct cpu_taker *taker);

/** report_takers() - the table of the machine */
void report_takers(const struct report *report, const struct trace_figures *system);
void json_takers(struct json *json, const struct trace_figures *system);
#endif

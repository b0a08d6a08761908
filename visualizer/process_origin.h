/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROCESS_ORIGIN_H
#define VISUALIZER_PROCESS_ORIGIN_H
/* process_origin.h - the process that started others, or from which they descend. */
#include <trace/analysis.h>
#include "checked_memory.h"

/**
 * struct process_origin - of a set of processes; zeroed = of none
 * @starter: started each of them if @is_direct, else their nearest common ancestor; NULL: not known
 */
struct process_origin {
	const struct trace_process *starter;
	bool is_direct, any;
};

/**
 * process_program() - the name by which processes are added up: the title, but the comm if the
 * program wrote the title, which then has the client or the state of the moment
 */
const char *process_program(const struct trace_process *process);
/** program_of() - the same of a process with this title and this comm */
const char *program_of(const char *title, const char *comm);
/** process_origin_add() - @process, which may be NULL, belongs to the set */
void process_origin_add(struct process_origin *origin, const struct trace_process *process);
/** process_origin() - the starter; NULL: not known, or init, from which all processes descend */
const struct trace_process *process_origin(const struct process_origin *origin);
/** process_origin_text() - append " started by make (500)", or " under make (500)", or nothing */
void process_origin_text(struct string *s, const struct process_origin *origin);
#endif

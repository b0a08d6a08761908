/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_EVIDENCE_H
#define ANALYZER_WAIT_EVIDENCE_H
/* wait_evidence.h - which process ever had which file, pipe, socket or memory: for wait_check.h */
#include <stdbool.h>
#include <stdint.h>
#include "state_file.h"

struct trace_analysis;
struct trace_process;
struct trace_thread;

struct wait_evidence {
	struct hash_table touched; /* keys of pairs of a process and a file or table, as a set */
	uint64_t start_read_ns;	   /* when the last descriptor of the start state was read */
	char violation[400];	   /* the first one, as a sentence; "": none */
};

/** wait_evidence_new() - NULL: out of memory */
struct wait_evidence *wait_evidence_new(void);
struct wait_evidence *wait_evidence_free(struct wait_evidence *evidence);
/** evidence_add() - the process of @thread has @file open or mapped from now on */
void evidence_add(struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
/** evidence_start() - a descriptor that the process of @thread had at the start was read at @ns */
void evidence_start(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns);
/** evidence_inherit() - @child begins with the descriptors and memory of @parent */
void evidence_inherit(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent);
/** evidence_has_file() - did @process ever have @file, or the other end of this pipe? */
bool evidence_has_file(const struct trace_analysis *a, const struct trace_process *process, file_idx file);
/** evidence_has_socket() - did it ever have the socket @ino? */
bool evidence_has_socket(const struct trace_analysis *a, const struct trace_process *process, uint64_t ino);
/** evidence_shares() - did @process ever share the descriptors or memory that @thread has now? */
bool evidence_shares(const struct trace_analysis *a, const struct trace_process *process,
		     const struct trace_thread *thread);
/**
 * evidence_is_complete() - are all descriptors that @process had since @from_ns known?
 *
 * Not if it began before the recording and ended before the recorder read them, and for no process
 * before all were read.
 */
bool evidence_is_complete(const struct trace_analysis *a, const struct trace_process *process, uint64_t from_ns);
#endif

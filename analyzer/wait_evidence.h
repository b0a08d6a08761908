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
	struct hash_table touched; /* keys of pairs of a process and a file, as a set */
	char violation[400];	   /* the first one, as a sentence; "": none */
};

/** wait_evidence_new() - NULL: out of memory */
struct wait_evidence *wait_evidence_new(void);
struct wait_evidence *wait_evidence_free(struct wait_evidence *evidence);
/** evidence_add() - the process of @thread has @file open or mapped from now on */
void evidence_add(struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
/** evidence_inherit() - @thread begins with the descriptors and the memory that it has now */
void evidence_inherit(struct trace_analysis *a, const struct trace_thread *thread);
/** evidence_has_file() - did @process ever have @file, or the other end of this pipe? */
bool evidence_has_file(const struct trace_analysis *a, const struct trace_process *process, file_idx file);
/** evidence_has_socket() - did it ever have the socket @ino? */
bool evidence_has_socket(const struct trace_analysis *a, const struct trace_process *process, uint64_t ino);
/** evidence_has_any() - did it ever have any file? If not, its descriptors are not known */
bool evidence_has_any(const struct trace_analysis *a, const struct trace_process *process);
#endif

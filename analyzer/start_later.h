/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_LATER_H
#define ANALYZER_START_LATER_H
/* start_later.h - what of the start state is true from later on */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_analysis;

/* Since @ns a process has a descriptor or directory, if @end a mapping, if @ppid a parent. */
struct later {
	uint64_t ns;
	uint64_t start, end;
	uint64_t offset; /* of a mapping, as @is_private */
	uint32_t tid;	 /* of a thread with a table of its own; 0: what the process has */
	uint32_t pid;
	uint32_t fd;   /* or TRACE_FD_WORKING_DIRECTORY, TRACE_FD_ROOT_DIRECTORY */
	uint32_t file; /* file_idx, of a descriptor with FD_CLOEXEC_BIT */
	uint32_t ppid;
	bool is_private;
};

struct later_list {
	struct later *list; /* owned; by time once it is complete */
	size_t nr, max, next;
	uint64_t next_ns; /* of the next one, if there is one */
};

/** later_next() - the time of the next one; UINT64_MAX: none */
static inline uint64_t later_next(const struct later_list *later)
{
	return later->next < later->nr ? later->next_ns : UINT64_MAX;
}

void later_add(struct trace_analysis *a, const struct later *new);
/** later_complete() - all are added: sort them */
void later_complete(struct trace_analysis *a);
/** later_apply() - apply those that are true since @ns or earlier */
void later_apply(struct trace_analysis *a, uint64_t ns);
/** later_mark() - set the bits of their files */
void later_mark(const struct later_list *later, uint64_t *marks);
void later_clear(struct later_list *later);
#endif

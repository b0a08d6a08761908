/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_system.c - for WebAssembly: what a page does not have. */
#include <stddef.h>
#include <sys/mman.h>
#include <trace/reader.h>
#include <unistd.h>
#include "ahead.h"
#include "cut_file.h"
#include "growing.h"
#include "pass_progress.h"
#include "progress_line.h"
#include "report_file.h"

/* ---- threads: cursors decode all chunks themselves ---- */

struct ahead *ahead_new(const struct trace *trace, const struct timeline *timeline, size_t span_idx,
			unsigned int window, struct pool *pool, ahead_wants_fn wants, const void *context)
{
	return NULL;
}

bool ahead_take(struct ahead *ahead, size_t span_idx, struct block *block, int *ret_error, const char **ret_reason)
{
	return false;
}

struct ahead *ahead_free(struct ahead *ahead)
{
	return NULL;
}

/* ---- files: the trace is in memory ---- */

enum trace_file_state trace_file_state(const struct trace *trace)
{
	return TRACE_FILE_SAME;
}

struct follow *follow_free(struct follow *follow)
{
	return NULL;
}

/* ---- large pages ---- */

int madvise(void *memory, size_t bytes, int advice)
{
	return 0;
}

/* ---- the terminal, and the file of --output ---- */

void progress_line_erase(void)
{
}

struct work_progress pass_progress_of_file(int fd, const char *what)
{
	return (struct work_progress){0};
}

void work_progress_at(struct work_progress *progress, uint64_t done, uint64_t of)
{
}

int report_file_fd(const struct report_file *file)
{
	return -1;
}

void report_file_take_back(void)
{
}

/* Nothing cuts the memory that the trace is in. */
void cut_file_end(void)
{
	_exit(1);
}

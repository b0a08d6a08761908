/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stored_file.c - the file of an open trace: is it still the same? */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "chunk.h"
#include "stored_file.h"
#include "trace.h"

#define DIGEST_BYTES (64u << 10) /* from the begin, and from the end */

static bool is_input(const struct trace *trace)
{
	return trace->fd < 0 || strcmp(trace->path, "-") == 0;
}

/* The file is longer than it was: it has grown, or another one was written over it. */
static enum trace_file_state longer_state(const struct trace *trace)
{
	unsigned char head[FILE_HEAD_BYTES];
	size_t bytes = trace->bytes < sizeof(head) ? trace->bytes : sizeof(head);
	ssize_t got = pread(trace->fd, head, bytes, 0);

	if (got < 0)
		return TRACE_FILE_UNKNOWN;
	return got == (ssize_t)bytes && file_head(head, bytes) == trace->head ? TRACE_FILE_GROWN : TRACE_FILE_CHANGED;
}

enum trace_file_state trace_file_state(const struct trace *trace)
{
	struct stat own, now;

	if (is_input(trace))
		return TRACE_FILE_SAME;
	if (fstat(trace->fd, &own) < 0)
		return TRACE_FILE_UNKNOWN;
	if (stat(trace->path, &now) < 0)
		return errno == ENOENT || errno == ENOTDIR ? TRACE_FILE_GONE : TRACE_FILE_UNKNOWN;
	if (own.st_dev != now.st_dev || own.st_ino != now.st_ino)
		return TRACE_FILE_REPLACED;
	if ((uint64_t)own.st_size > trace->bytes)
		return longer_state(trace);
	return (uint64_t)own.st_size < trace->bytes || file_mtime_ns(&own) != trace->mtime_ns ? TRACE_FILE_CHANGED
											      : TRACE_FILE_SAME;
}

static bool is_as_opened(const struct trace *trace)
{
	struct stat own;

	return trace->fd < 0 || (fstat(trace->fd, &own) == 0 && (uint64_t)own.st_size == trace->bytes &&
				 file_mtime_ns(&own) == trace->mtime_ns);
}

uint64_t trace_file_digest(const struct trace *trace)
{
	size_t edge = trace->bytes < DIGEST_BYTES ? trace->bytes : DIGEST_BYTES;
	uint64_t parts[4];

	if (!is_as_opened(trace))
		return 0;
	parts[0] = trace->bytes;
	parts[1] = trace->mtime_ns;
	parts[2] = checksum_of(trace->data, edge);
	parts[3] = checksum_of(trace->data + trace->bytes - edge, edge);
	parts[0] = checksum_of(parts, sizeof(parts));
	return parts[0] ? parts[0] : 1;
}

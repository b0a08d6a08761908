/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "program_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <trace/symbols.h>

#include "message.h"

#define MAX_FILE_BYTES (512ll << 20)

static int add_name(void *writer, enum trace_string_space space, uint64_t key, const char *text)
{
	return trace_writer_string(writer, space, key, text);
}

/* The file has no index and no end yet: the reader goes from chunk to chunk. */
static struct trace *open_until_now(struct trace_writer *writer, int fd, struct trace_error *ret_error)
{
	struct stat file;
	char path[64];

	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || file.st_size > MAX_FILE_BYTES ||
	    trace_writer_flush_strings(writer, NULL) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return trace_open(path, ret_error);
}

void program_names_write(struct trace_writer *writer, int fd, uint64_t limit_ns)
{
	struct trace_error error = {0};
	struct trace *trace = open_until_now(writer, fd, &error);
	struct trace_symbols *symbols = trace ? trace_symbols_new(trace, &error) : NULL;
	uint64_t nr_left = symbols ? trace_symbols_of_samples(symbols, limit_ns) : 0;

	if (error.code == -ENOMEM)
		message_warning("the names of code could not be added to the trace: no memory");
	if (nr_left)
		message_note("the trace lacks the names of %" PRIu64 " addresses of code: a profile on this machine "
			     "finds them, one on another machine does not",
			     nr_left);
	if (symbols && trace_symbols_export(symbols, add_name, writer) < 0)
		message_warning("the names of code could not be added to the trace: no memory");
	else if (symbols && trace_symbols_error(symbols, &error) == -EBADMSG)
		message_warning("the trace lacks names of code: %s", error.message);
	trace_symbols_free(symbols);
	trace_close(trace);
}

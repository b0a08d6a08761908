/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "program_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <trace/symbols.h>

#include "build_ids.h"
#include "format_text.h"
#include "kept_names.h"
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

/* Returns false: nothing lacks, or a profile finds it as well as this recording. */
static bool describe_missing(const struct trace_symbols *symbols, uint64_t nr_left, int result, char *text, size_t size)
{
	struct trace_error error = {0};

	if (result == -ENOMEM)
		snprintf(text, size, "names of code: there was no memory for them");
	else if (symbols && trace_symbols_error(symbols, &error) == -EBADMSG)
		snprintf(text, size, "names of code: %s", error.message);
	else if (nr_left)
		snprintf(text, size,
			 "the names of %s addresses of code: there was no time for them; a profile on this machine "
			 "finds them, one on another machine does not",
			 text_count(nr_left).s);
	else
		return false;
	return true;
}

static bool has_kept(const void *ids, uint32_t dev, uint64_t ino)
{
	return build_ids_has_names(ids, dev, ino);
}

static int open_kept(const void *ids, uint32_t dev, uint64_t ino)
{
	return build_ids_open_names(ids, dev, ino);
}

static void note(struct trace_writer *writer, uint64_t number, const char *text)
{
	message_warning("not traced: %s", text);
	trace_writer_string(writer, TRACE_STRING_NOT_TRACED, number, text);
}

static void note_lost(struct trace_writer *writer, const struct build_ids *ids, uint64_t number)
{
	char text[256];

	if (!build_ids_nr_lost(ids))
		return;
	snprintf(text, sizeof(text),
		 "names of code: those of %s files that may be gone when a profile is made were not kept: they have "
		 "more than %u MiB, or those of one user %u, or those of all %u",
		 text_count(build_ids_nr_lost(ids)).s, (unsigned int)(KEPT_NAMES_FILE_BYTES >> 20),
		 (unsigned int)(KEPT_NAMES_USER_BYTES >> 20), (unsigned int)(KEPT_NAMES_BYTES >> 20));
	note(writer, number, text);
}

void program_names_write(struct trace_writer *writer, int fd, uint64_t limit_ns, const struct build_ids *ids,
			 uint64_t next_note)
{
	struct trace_error error = {0};
	struct trace *trace = open_until_now(writer, fd, &error);
	struct trace_symbols *symbols = trace ? trace_symbols_new(trace, &error) : NULL;
	uint64_t nr_left = 0;
	int result = error.code;
	char text[sizeof(error.message) + 64];

	if (symbols) {
		trace_symbols_set_kept(symbols, &(struct trace_symbols_kept){has_kept, open_kept, ids});
		nr_left = trace_symbols_of_samples(symbols, limit_ns);
	}
	if (symbols && trace_symbols_export(symbols, add_name, writer) < 0)
		result = -ENOMEM;
	if (describe_missing(symbols, nr_left, result, text, sizeof(text)))
		note(writer, next_note++, text);
	note_lost(writer, ids, next_note);
	trace_symbols_free(symbols);
	trace_close(trace);
}

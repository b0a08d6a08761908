/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_TRACEFS_H
#define TRACER_TRACEFS_H
/* tracefs.h - the kernel's tracepoints as tracefs describes them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#define TRACEFS_NAME_BYTES   128
#define TRACEFS_FORMAT_BYTES 32768

/** struct tracefs_event - a tracepoint; @format: its file of that name, valid during the call */
struct tracefs_event {
	const char *subsystem;
	const char *name;
	const char *format;
};

/**
 * tracefs_each() - call @visit for the tracepoints that match, sorted by name, until it returns
 * other than 0
 * @subsystem, @name: globs. @ret_subsystem: a subsystem matched; may be NULL
 * @with_format: read the formats, too
 * Returns 0, the result of @visit, or a negative errno if tracefs cannot be read.
 */
int tracefs_each(const char *subsystem, const char *name, bool with_format,
		 int (*visit)(void *context, const struct tracefs_event *event), void *context, bool *ret_subsystem,
		 struct trace_error *ret_error);

/** enum tracefs_kind - how the record of a tracepoint stores a field */
enum tracefs_kind {
	TRACEFS_NUMBER,
	TRACEFS_ARRAY,	  /* @count numbers of @bytes bytes at @offset */
	TRACEFS_DATA_LOC, /* 4 bytes: offset from the begin of the record, and size << 16 */
	TRACEFS_REL_LOC,  /* the same, but the offset is from the end of these 4 bytes */
};

/**
 * struct tracefs_field - @type: the C type as written, without the name
 * @bytes: of a number, or of one element
 */
struct tracefs_field {
	char name[TRACEFS_NAME_BYTES];
	char type[TRACEFS_NAME_BYTES];
	enum tracefs_kind kind;
	uint32_t offset;
	uint32_t bytes;
	uint32_t count;
	bool is_signed;
};

/**
 * tracefs_next_field() - the next field of a format after *@at, without the common ones; initially
 * *@at is the format. false: no more
 */
bool tracefs_next_field(const char **at, struct tracefs_field *ret_field);

/** tracefs_event_id() - the number of the tracepoint in its format; 0: none */
uint32_t tracefs_event_id(const char *format);

#endif

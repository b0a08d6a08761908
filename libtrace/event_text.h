/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_EVENT_TEXT_H
#define LIBTRACE_EVENT_TEXT_H
/* event_text.h - the text of an event, from its type's template, which is compiled once. */
#include <trace/reader.h>

/**
 * struct text_piece - literal text, then a field in the form of its kind
 * @field: NULL: no field follows. @named: its name and "=" precede it
 * @needs_escape: the literal is not all printable ASCII
 * @or_unknown: the field is a number of events, and 0 means that the number is unknown
 */
struct text_piece {
	const char *literal;
	uint32_t literal_bytes;
	const struct trace_field *field;
	const struct trace_field *beside; /* SYSCALL: the field "abi"; ADDR: the lower half; or NULL */
	bool named;
	bool needs_escape;
	bool or_unknown;
};

struct text_template {
	struct text_piece *pieces; /* owned */
	size_t nr;
};

/** text_compile() - compile the template of @type. Returns 0 or -ENOMEM */
int text_compile(const struct trace_event_type *type, struct text_template *ret_template) TRACE_NODISCARD;

#endif

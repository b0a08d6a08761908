/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_ANONYMOUS_NAMES_H
#define LIBTRACE_ANONYMOUS_NAMES_H
/* anonymous_names.h - names of numbers, and descriptions of events, with pseudonyms. */
#include <trace/error.h>
#include "pseudonym.h"

/** anonymous_strings() - the payload of a strings chunk. Returns 0, -ENOMEM or -EBADMSG */
int anonymous_strings(struct pseudonyms *names, const unsigned char *raw, size_t bytes,
		      struct writer_buffer *out) TRACE_NODISCARD;
/** anonymous_schema() - the payload of a schema chunk; that of the catalogue stays as it is */
int anonymous_schema(struct pseudonyms *names, const unsigned char *raw, size_t bytes, struct writer_buffer *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_ANONYMOUS_EVENT_H
#define LIBTRACE_ANONYMOUS_EVENT_H
/* anonymous_event.h - the payload of one event with pseudonyms. */
#include "pseudonym.h"
#include "schema.h"

/** anonymous_has_names() - has the type a text, an address or a user? */
bool anonymous_has_names(const struct trace_event_type *type);
/**
 * anonymous_event() - rewrite a payload
 * @payload: type->fixed_bytes of it, in place. @text: the @bytes after them; the new ones are
 *     appended to @out
 */
void anonymous_event(struct pseudonyms *names, const struct trace_event_type *type, unsigned char *payload,
		     const char *text, size_t bytes, struct writer_buffer *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_ANONYMOUS_H
#define LIBTRACE_ANONYMOUS_H
/*
 * anonymous.h - payloads of chunks with pseudonyms in place of names: those of programs, threads,
 * files, hosts, addresses, users, arguments, tracepoints and their texts.
 *
 * All else stays: times, numbers of events, processes, sizes, ports and the integers in events. So
 * an analysis gets the same figures.
 */
#include <trace/error.h>
#include "pseudonym.h"
#include "schema.h"

/**
 * struct anonymous - zeroed = new
 * @out: the payload. @words, @lengths, @text: scratch memory
 */
struct anonymous {
	struct pseudonyms names;
	struct writer_buffer out;
	struct writer_buffer words;
	struct writer_buffer lengths;
	struct writer_buffer text;
};

/**
 * anonymous_payload() - rewrite the payload of a chunk
 * @schema: of the trace. @raw: of header->raw_bytes
 * Returns 0 with the payload in @anonymous->out; -ENOMEM; -EBADMSG: it is not as the format says,
 * and must not be copied.
 */
int anonymous_payload(struct anonymous *anonymous, const struct schema *schema, const struct trace_chunk_header *header,
		      const unsigned char *raw) TRACE_NODISCARD;
void anonymous_release(struct anonymous *anonymous);

#endif

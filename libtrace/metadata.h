/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_METADATA_H
#define LIBTRACE_METADATA_H
/* metadata.h - load the chunks other than events. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#include "unpack.h"

struct trace;
struct trace_statistics_stream;

/**
 * struct statistics - streams of the statistics chunks so far, while their list continues in
 * another chunk
 */
struct statistics {
	size_t nr;
	size_t room;
	struct trace_statistics_stream *streams; /* owned */
};

/**
 * struct metadata - how far the metadata are loaded; zeroed: nothing is
 * @next: index in trace->metadata
 * @bytes: of all payloads so far
 * @lacks_statistics: the last statistics in the file are not all there
 */
struct metadata {
	size_t next;
	uint64_t bytes;
	bool lacks_statistics;
	struct statistics statistics;
	struct unpacker unpacker;
};

/** metadata_load() - load those that trace->metadata has since the last call */
int metadata_load(struct trace *trace, struct metadata *metadata);
/** metadata_end() - there are no more; release the memory. Returns @error, or its own one */
int metadata_end(struct trace *trace, struct metadata *metadata, int error) TRACE_NODISCARD;

void metadata_clear(struct metadata *metadata);

#endif

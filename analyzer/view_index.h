/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_VIEW_INDEX_H
#define ANALYZER_VIEW_INDEX_H
/*
 * view_index.h - the index of a view: the view as bytes.
 *
 *	header   struct index_header
 *	facts    compressed: texts, processes, threads, activities, and what else is not a series
 *	times    which entries of the series end at events of the trace: index_times.h; or nothing
 *	series   of the threads, of the CPUs of the history, of the CPUs of the view: index_series.h
 *	and the checksum
 *
 * Facts and times are a section each, series are one or more: index_file.h.
 *
 * An index is of one trace and one program: both have a number in the header. There are no
 * versions: an index of another program, even of the same version, is made again.
 */
#include <stdint.h>
#include "index_series.h"

#define INDEX_MAGIC	  "TRVIEW1\n"
#define INDEX_MAX_ENTRIES (24u << 20) /* of all series together */
#define INDEX_MAX_FACTS	  (256u << 20)

struct index_header {
	char magic[8];
	uint64_t trace;	   /* trace_file_digest() */
	uint64_t program;  /* build_stamp() */
	uint64_t unpacked; /* bytes of the facts, uncompressed */
	uint64_t notes;	   /* bytes of the caller's notes, at the end of the facts */
};

/**
 * index_series() - the series of @view, in their order; to be freed. NULL: no memory
 */
struct stored_series *index_series(const struct trace_view *view, size_t *ret_nr);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PERF_MAPS_H
#define TRACER_PERF_MAPS_H
/*
 * perf_maps.h - names of functions that programs generate: /tmp/perf-PID.map, which node
 * (--perf-basic-prof), java (jcmd PID Compiler.perfmap) and others write for perf
 *
 * SECURITY: any user can write such a file. A child opens it without following links, below the
 * root of the process (file_opener.h), only a file of root or of the user of the process counts,
 * and another child without rights reads its lines. They only give names to addresses of that
 * process.
 */
#include <trace/tracer.h>
#include "walk_files.h"

#define PERF_MAPS_FILE_BYTES  (256ll << 20)
#define PERF_MAPS_CPU_SECONDS 20

/**
 * struct perf_maps_missing - files whose names are missing
 * @too_large: have more than PERF_MAPS_FILE_BYTES
 * @unread: were not read to their end: it took more than PERF_MAPS_CPU_SECONDS, their file system
 *     did not answer, or the reader failed; the names before that are there, if any
 */
struct perf_maps_missing {
	uint64_t too_large, unread;
};

/**
 * perf_maps_emit() - name the functions at these addresses: TRACE_STRING_PROGRAM_CODE
 * @addresses: sorted by process and address
 * @ret_missing: also written after an error
 * Returns 0, -ENOMEM, or what @emit returned
 */
int perf_maps_emit(const struct walk_address *addresses, size_t nr, tracer_string_fn emit, void *context,
		   struct perf_maps_missing *ret_missing);

#endif

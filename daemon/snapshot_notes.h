/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SNAPSHOT_NOTES_H
#define DAEMON_SNAPSHOT_NOTES_H
/*
 * snapshot_notes.h - at the end of a flight recorder's trace: what it does not contain, and names
 */
#include <stdint.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "clients.h"

struct build_ids;

/**
 * struct snapshot_facts - what is known at the end of a snapshot; pointers may be NULL
 * @nr_lost_maps: how often it is not known where programs mapped their code
 * @start_ns: of the trace
 */
struct snapshot_facts {
	struct tracer *tracer;
	struct clients *clients;
	const struct tracer_options *filter;
	const struct build_ids *build_ids;
	uint64_t nr_lost_maps;
	uint64_t start_ns;
};

/**
 * snapshot_notes_write() - store the texts in @writer, after tracefile_describe()
 * Returns the number of the next text of TRACE_STRING_NOT_TRACED
 */
uint64_t snapshot_notes_write(struct trace_writer *writer, const struct snapshot_facts *facts);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SAMPLE_TABLES_H
#define TRACER_SAMPLE_TABLES_H
/*
 * sample_tables.h - a thread that gives the BPF programs the unwind tables of the files that they
 * meet
 */
#include <stdint.h>

struct samples_bpf;
struct sample_tables;

/** struct sample_table_counts - @made: tables. @bytes: of them. @refused: files beyond the limit */
struct sample_table_counts {
	uint64_t made;
	uint64_t bytes;
	uint64_t refused;
};

/**
 * sample_tables_start() - make tables from now on, for the loaded @skeleton. Returns 0 or a
 * negative errno
 */
int sample_tables_start(struct samples_bpf *skeleton, struct sample_tables **ret_tables);
void sample_tables_get_counts(const struct sample_tables *tables, struct sample_table_counts *ret_counts);
/** sample_tables_stop() - end the thread; NULL is fine */
void sample_tables_stop(struct sample_tables *tables);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SAMPLE_TABLES_H
#define TRACER_SAMPLE_TABLES_H
/*
 * sample_tables.h - a thread that gives the BPF programs the unwind tables of the files that they
 * meet
 */
#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_TABLES_BYTES (128ull << 20) /* of all */

struct samples_bpf;
struct sample_tables;

/** struct sample_table_counts - @made: tables. @bytes: of them. @refused: files beyond the limit */
struct sample_table_counts {
	uint64_t made;
	uint64_t bytes;
	uint64_t refused;
};

/**
 * sample_table_counts_add() - account a table. Returns false if it is beyond SAMPLE_TABLES_BYTES;
 * then it is counted as refused
 */
bool sample_table_counts_add(struct sample_table_counts *counts, uint32_t nr_words);

/**
 * sample_tables_start() - make tables from now on, for the loaded @skeleton
 * @command: arguments of a program; the tables of its files and of those that its arguments name
 *     (command_files.h) are ready when the function returns, unless that takes more than 2 s; NULL:
 *     none. Borrowed until sample_tables_stop()
 * Returns 0 or a negative errno
 */
int sample_tables_start(struct samples_bpf *skeleton, char *const *command, struct sample_tables **ret_tables);
void sample_tables_get_counts(const struct sample_tables *tables, struct sample_table_counts *ret_counts);
/** sample_tables_stop() - end the threads, and keep the new tables on disk; NULL is fine */
void sample_tables_stop(struct sample_tables *tables);

#endif

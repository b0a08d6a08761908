/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_GMON_RECORDS_H
#define BASE_GMON_RECORDS_H
/*
 * gmon_records.h - the records of gmon.out, as gprof of binutils reads them on machines with
 * addresses of 64 bits
 *
 *	"gmon", version 1, 12 bytes of 0
 *	0: a histogram: from, to, number of bins, units a second, name of what is counted, then bins
 *	   of 16 bits
 *	1: an arc: from, self, count of 32 bits
 *
 * gprof adds histograms of the same addresses, and arcs, so a count that is too large for a record
 * continues in another one. Errors of the stream stay in it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GMON_MAX_BIN UINT16_MAX

/**
 * struct gmon_histogram - the head of a histogram
 * @rate: units of a bin in one of @unit. @unit: ends with a zero byte
 */
struct gmon_histogram {
	uint64_t from, to;
	uint32_t nr_bins;
	uint32_t rate;
	char unit[15];
	char unit_letter;
} __attribute__((packed));

void gmon_put_head(FILE *file);
/** gmon_put_histogram() - @bins: as many as @head tells */
void gmon_put_histogram(FILE *file, const struct gmon_histogram *head, const uint16_t *bins);
void gmon_put_arc(FILE *file, uint64_t from, uint64_t self, uint64_t count);
/** gmon_seconds() - the head of a histogram of CPU time; @period_ns: of a unit */
struct gmon_histogram gmon_seconds(uint64_t from, uint64_t to, uint32_t nr_bins, uint64_t period_ns);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gmon_records.h"

#include <string.h>

#define TAG_HISTOGRAM 0
#define TAG_ARC	      1
#define MAX_ARC	      UINT32_MAX
#define NS_A_SECOND   1000000000ull

struct gmon_head {
	char cookie[4];
	uint32_t version;
	char spare[12];
} __attribute__((packed));

struct gmon_call {
	uint64_t from, self;
	uint32_t count;
} __attribute__((packed));

_Static_assert(sizeof(struct gmon_head) == 20 && sizeof(struct gmon_histogram) == 40 && sizeof(struct gmon_call) == 20,
	       "the forms that gprof expects of addresses of 64 bits");

void gmon_put_head(FILE *file)
{
	const struct gmon_head head = {.cookie = {'g', 'm', 'o', 'n'}, .version = 1};

	fwrite(&head, sizeof(head), 1, file);
}

void gmon_put_histogram(FILE *file, const struct gmon_histogram *head, const uint16_t *bins)
{
	fputc(TAG_HISTOGRAM, file);
	fwrite(head, sizeof(*head), 1, file);
	fwrite(bins, sizeof(*bins), head->nr_bins, file);
}

void gmon_put_arc(FILE *file, uint64_t from, uint64_t self, uint64_t count)
{
	while (count) {
		struct gmon_call call = {.from = from,
					 .self = self,
					 .count = (uint32_t)(count < MAX_ARC ? count : MAX_ARC)};

		fputc(TAG_ARC, file);
		fwrite(&call, sizeof(call), 1, file);
		count -= call.count;
	}
}

struct gmon_histogram gmon_seconds(uint64_t from, uint64_t to, uint32_t nr_bins, uint64_t period_ns)
{
	uint64_t rate = (NS_A_SECOND + period_ns / 2) / period_ns;

	return (struct gmon_histogram){.from = from,
				       .to = to,
				       .nr_bins = nr_bins,
				       .rate = (uint32_t)(rate ? rate : 1),
				       .unit = "seconds",
				       .unit_letter = 's'};
}

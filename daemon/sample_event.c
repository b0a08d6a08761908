/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample_event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"

#define MAX_COUNT (1ull << 40)

/** struct known_event - as in struct perf_event_attr; the names are those of perf */
struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct known_event events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
};

/* "r1a2": an event of this processor, by the number in its manual */
static bool take_raw(const char *name, size_t chars, struct known_event *ret_event)
{
	char digits[17] = "";

	if (chars < 2 || chars > sizeof(digits) || name[0] != 'r')
		return false;
	memcpy(digits, name + 1, chars - 1);
	if (digits[strspn(digits, "0123456789abcdefABCDEF")])
		return false;
	*ret_event = (struct known_event){.type = PERF_TYPE_RAW, .config = strtoull(digits, NULL, 16)};
	return true;
}

static bool find(const char *name, size_t chars, struct known_event *ret_event)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i].name) == chars && !strncmp(events[i].name, name, chars)) {
			*ret_event = events[i];
			return true;
		}
	return take_raw(name, chars, ret_event);
}

int sample_event_take(const char *text, struct tracer_options *options, struct trace_error *ret_error)
{
	size_t chars = strcspn(text, ":");
	struct known_event event;
	unsigned long long count;
	char *end;

	if (!find(text, chars, &event))
		return error_set(
			ret_error, -EINVAL,
			"--sample: \"%.*s\" is not an event that samples can be taken by: cycles, "
			"instructions, cache-misses, branch-misses, page-faults ... as perf names them, or rNNNN",
			(int)chars, text);
	errno = 0;
	count = isdigit((unsigned char)text[chars + 1]) ? strtoull(text + chars + 1, &end, 10) : 0;
	if (!count || *end || errno || count > MAX_COUNT)
		return error_set(ret_error, -EINVAL,
				 "--sample: a sample is taken each so many events, from 1 to a million million: "
				 "--sample=cycles:1000000");
	options->sample_period = count;
	options->sample_event = text;
	options->sample_type = event.type;
	options->sample_config = event.config;
	return 0;
}

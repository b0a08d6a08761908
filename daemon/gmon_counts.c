/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gmon_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "read_end.h"

static struct gmon_count *add(struct gmon_counts *counts, enum tracer_count_kind kind)
{
	if (counts->nr == counts->room) {
		size_t more = counts->room ? 2 * counts->room : 1024;
		struct gmon_count *bigger = reallocarray(counts->counts, more, sizeof(*bigger));

		if (!bigger)
			return NULL;
		counts->counts = bigger;
		counts->room = more;
	}
	counts->counts[counts->nr] = (struct gmon_count){.kind = kind};
	return &counts->counts[counts->nr++];
}

/* Returns false if the line is of no known kind. */
static bool read_head(struct gmon_counts *counts, const char *word, uint64_t number)
{
	if (!strcmp(word, "period"))
		counts->period = number;
	else if (!strcmp(word, "mixed"))
		counts->is_mixed = number;
	else if (!strcmp(word, "events"))
		counts->by_event = number;
	else if (!strcmp(word, "not_counted"))
		counts->not_counted = number;
	else
		return false;
	return true;
}

static int read_line(struct gmon_counts *counts, const char *line)
{
	static const struct {
		const char *word;
		enum tracer_count_kind kind;
	} kinds[] = {
		{"sample", TRACER_COUNT_SAMPLE},   {"call", TRACER_COUNT_CALL},	      {"call32", TRACER_COUNT_CALL_32},
		{"irq", TRACER_COUNT_IRQ},	   {"softirq", TRACER_COUNT_SOFTIRQ}, {"vector", TRACER_COUNT_VECTOR},
		{"tasklet", TRACER_COUNT_TASKLET}, {"timer", TRACER_COUNT_TIMER},     {"hrtimer", TRACER_COUNT_HRTIMER},
		{"work", TRACER_COUNT_WORK},
	};
	char word[16], key[64];
	uint64_t number = 0, sum = 0;
	int nr = sscanf(line, "%15s %63s %" SCNu64 " %" SCNu64, word, key, &number, &sum);

	if (nr == 2)
		return read_head(counts, word, strtoull(key, NULL, 10)) ? 0 : -EBADMSG;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && nr >= 3; i++) {
		struct gmon_count *count;

		if (strcmp(word, kinds[i].word) != 0)
			continue;
		count = add(counts, kinds[i].kind);
		if (!count)
			return -ENOMEM;
		count->count = number;
		count->sum = sum;
		if (count->kind != TRACER_COUNT_CALL && count->kind != TRACER_COUNT_CALL_32)
			count->key = strtoull(key, NULL, 16);
		else if (!(count->name = strdup(key)))
			return -ENOMEM;
		return 0;
	}
	return -EBADMSG;
}

int gmon_counts_read(struct gmon_counts *counts, int fd, struct trace_error *ret_error)
{
	int own = dup(fd), err = 0, failed;
	FILE *file = own < 0 ? NULL : fdopen(own, "r");
	char line[256];

	if (!file) {
		err = -errno;
		if (own >= 0)
			close(own);
		return error_set(ret_error, err, "the counts cannot be read: %s", strerror(-err));
	}
	rewind(file);
	while (!err && fgets(line, sizeof(line), file))
		err = read_line(counts, line);
	failed = read_end(file);
	if (!err && failed)
		return error_set(ret_error, failed, "the counts cannot be read: %s", strerror(-failed));
	if (!err && !counts->period)
		err = -EBADMSG;
	if (err)
		error_set(ret_error, err, "%s",
			  err == -ENOMEM ? "no memory for the counts"
					 : "the daemon is of another version than kgmon: use the kgmon of its version");
	return err;
}

void gmon_counts_free(struct gmon_counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++)
		free(counts->counts[i].name);
	free(counts->counts);
	*counts = (struct gmon_counts){0};
}

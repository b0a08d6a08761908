/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

#include "text_stream.h"

#define MAX_NUMBERS 512 /* of system calls */

struct profile_counts profile_counts_init(uint64_t period, uint64_t now_ns)
{
	return (struct profile_counts){.since_ns = now_ns, .period = period, .shortest = period, .multiplier = 1};
}

void profile_counts_release(struct profile_counts *profile)
{
	free(profile->base);
	profile->base = NULL;
	profile->nr_base = 0;
}

int profile_counts_reset(struct profile_counts *profile, const struct tracer *tracer, uint64_t now_ns)
{
	struct tracer_count *counts = NULL;
	uint64_t not_counted = 0;
	size_t nr = 0;
	int err = tracer_read_counts(tracer, &counts, &nr, &not_counted);

	if (err)
		return err;
	free(profile->base);
	profile->base = counts;
	profile->nr_base = nr;
	profile->base_not_counted = not_counted;
	profile->since_ns = now_ns;
	profile->is_mixed = false;
	profile->shortest = profile->period / profile->multiplier;
	return 0;
}

uint64_t profile_counts_multiply(struct profile_counts *profile, unsigned int multiplier, uint64_t min)
{
	uint64_t mean = profile->period / multiplier;

	mean = mean < min ? min : mean;
	profile->is_mixed |= multiplier != profile->multiplier;
	profile->multiplier = multiplier;
	if (mean < profile->shortest)
		profile->shortest = mean;
	return mean;
}

/* ---- writing ---- */

/** struct call_names - of the numbers of native and 32-bit calls; owned */
struct call_names {
	char *names[2][MAX_NUMBERS];
};

static int take_name(void *context, int space, uint64_t key, const char *text)
{
	struct call_names *names = context;

	if ((space != TRACE_STRING_SYSCALL && space != TRACE_STRING_SYSCALL_32) || key >= MAX_NUMBERS)
		return 0;
	free(names->names[space == TRACE_STRING_SYSCALL_32][key]);
	names->names[space == TRACE_STRING_SYSCALL_32][key] = strdup(text);
	return names->names[space == TRACE_STRING_SYSCALL_32][key] ? 0 : -ENOMEM;
}

static void free_names(struct call_names *names)
{
	for (size_t i = 0; i < MAX_NUMBERS; i++) {
		free(names->names[0][i]);
		free(names->names[1][i]);
	}
}

static void put_count(FILE *file, const struct tracer_count *count, const struct call_names *names)
{
	static const char *const kinds[TRACER_NR_COUNTS] = {
		[TRACER_COUNT_SAMPLE] = "sample",   [TRACER_COUNT_CALL] = "call",
		[TRACER_COUNT_CALL_32] = "call32",  [TRACER_COUNT_IRQ] = "irq",
		[TRACER_COUNT_SOFTIRQ] = "softirq", [TRACER_COUNT_VECTOR] = "vector",
		[TRACER_COUNT_TASKLET] = "tasklet", [TRACER_COUNT_TIMER] = "timer",
		[TRACER_COUNT_HRTIMER] = "hrtimer", [TRACER_COUNT_WORK] = "work",
	};
	bool is_call = count->kind == TRACER_COUNT_CALL || count->kind == TRACER_COUNT_CALL_32;
	const char *name = is_call && count->key < MAX_NUMBERS
				   ? names->names[count->kind == TRACER_COUNT_CALL_32][count->key]
				   : NULL;

	if (count->kind >= TRACER_NR_COUNTS)
		return;
	if (is_call)
		fprintf(file, "%s %s %" PRIu64 "\n", kinds[count->kind], name ? name : "?", count->count);
	else if (count->kind == TRACER_COUNT_SAMPLE)
		fprintf(file, "sample %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", count->key, count->count, count->sum);
	else
		fprintf(file, "%s %" PRIx64 " %" PRIu64 "\n", kinds[count->kind], count->key, count->count);
}

/* Both lists are sorted, and no count is ever removed from them. */
static void subtract(const struct profile_counts *profile, struct tracer_count *counts, size_t nr)
{
	size_t k = 0;

	for (size_t i = 0; i < nr && k < profile->nr_base; i++) {
		const struct tracer_count *base = &profile->base[k];

		if (counts[i].kind != base->kind || counts[i].key != base->key)
			continue;
		counts[i].count -= base->count;
		counts[i].sum -= base->sum;
		k++;
	}
}

static void sum_up(struct profile_sums *sums, const struct tracer_count *count)
{
	if (count->kind == TRACER_COUNT_SAMPLE) {
		sums->samples += count->count;
		sums->addresses += count->count != 0;
	} else {
		sums->runs += count->count;
	}
}

/* A descriptor of the client, which closes it with the request. */
static int write_text(int fd, const char *text, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t put = write(fd, text + at, bytes - at);

		if (put <= 0 && errno != EINTR)
			return put < 0 ? -errno : -ENOSPC;
		at += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

static int write_counts(const struct profile_counts *profile, const struct tracer_count *counts, size_t nr,
			uint64_t not_counted, bool by_event, int fd)
{
	struct call_names names = {0};
	struct text_stream stream;
	char *text = NULL;
	size_t bytes = 0;
	int err = tracer_strings(take_name, &names, NULL);

	if (!err)
		err = text_stream_begin(&stream);
	if (!err) {
		fprintf(stream.out, "period %" PRIu64 "\nmixed %d\nevents %d\nnot_counted %" PRIu64 "\n",
			profile->shortest, profile->is_mixed, by_event, not_counted);
		for (size_t i = 0; i < nr; i++)
			if (counts[i].count)
				put_count(stream.out, &counts[i], &names);
		err = text_stream_end(&stream, &text, &bytes);
	}
	if (!err)
		err = write_text(fd, text, bytes);
	free(text);
	free_names(&names);
	return err;
}

int profile_counts_write(const struct profile_counts *profile, const struct tracer *tracer, bool by_event, int fd,
			 struct profile_sums *ret_sums)
{
	struct tracer_count *counts = NULL;
	uint64_t not_counted = 0;
	size_t nr = 0;
	int err = tracer_read_counts(tracer, &counts, &nr, &not_counted);

	if (err)
		return err;
	*ret_sums = (struct profile_sums){.not_counted = not_counted - profile->base_not_counted};
	subtract(profile, counts, nr);
	for (size_t i = 0; i < nr; i++)
		sum_up(ret_sums, &counts[i]);
	if (fd >= 0)
		err = write_counts(profile, counts, nr, ret_sums->not_counted, by_event, fd);
	free(counts);
	return err;
}

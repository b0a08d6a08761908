/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_verify.c - the rule of a profile: its shares add up to the figures of each thread.
 *
 * User mode and system calls are compared together: the figures count the cost of probes as the
 * kernel's, intervals as the program's. So are page faults, for the same reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <trace/profile.h>
#include "error_set.h"
#include "profile_spans.h"
#include "profile_verify.h"

enum { PART_CPU, PART_INTERRUPTED, PART_WAIT_CPU, PART_BLOCKED, NR_PARTS };

static const char *const part_names[NR_PARTS] = {"on a CPU", "interrupted", "waiting for a CPU", "blocked"};

struct thread_sums {
	uint64_t ns[NR_PARTS];
};

struct sums {
	struct thread_sums *threads; /* owned; by trace_thread_index() */
	size_t nr;
	uint64_t samples;
};

static int part_of(enum trace_state state)
{
	switch (state) {
	case TRACE_STATE_INTERRUPTED:
		return PART_INTERRUPTED;
	case TRACE_STATE_WAIT_CPU:
		return PART_WAIT_CPU;
	case TRACE_STATE_BLOCKED:
		return PART_BLOCKED;
	default:
		return PART_CPU;
	}
}

static bool add_share(struct sums *sums, const struct trace_profile_share *share)
{
	size_t idx = trace_thread_index(share->thread), nr = idx + idx / 2 + 64;

	if (idx >= sums->nr) {
		struct thread_sums *bigger = reallocarray(sums->threads, nr, sizeof(*bigger));

		if (!bigger)
			return false;
		for (size_t i = sums->nr; i < nr; i++)
			bigger[i] = (struct thread_sums){0};
		sums->threads = bigger;
		sums->nr = nr;
	}
	sums->threads[idx].ns[part_of(share->state)] += share->ns;
	sums->samples += share->samples;
	return true;
}

static int check_thread(const struct sums *sums, const struct trace_profile *profile, const struct trace_thread *thread,
			struct trace_error *ret_error)
{
	static const struct thread_sums none;
	size_t idx = trace_thread_index(thread);
	const struct thread_sums *sum = idx < sums->nr ? &sums->threads[idx] : &none;
	struct trace_figures *figures = trace_thread_figures(profile_analysis(profile), thread);
	uint64_t expected[NR_PARTS];
	int result = figures ? 0 : error_set(ret_error, -ENOMEM, "no memory to verify a profile");

	if (!figures)
		return result;
	expected[PART_CPU] = figures->user_ns + figures->syscall_ns + figures->trap_ns;
	expected[PART_INTERRUPTED] = figures->interrupted_ns;
	expected[PART_WAIT_CPU] = figures->wait_cpu_ns;
	expected[PART_BLOCKED] = figures->blocked_ns;
	for (int part = 0; part < NR_PARTS && !result; part++)
		if (sum->ns[part] != expected[part])
			result = error_set(ret_error, -EBADMSG,
					   "profile: thread %" PRIu32 " was %" PRIu64
					   " ns %s, and its shares are %" PRIu64 " ns",
					   trace_thread_tid(thread), expected[part], part_names[part], sum->ns[part]);
	trace_figures_free(figures);
	return result;
}

/* The profile of spans has all of the thread's time in them. */
static int check_spans(const struct sums *sums, const struct trace_profile *profile, const struct trace_thread *thread,
		       struct trace_error *ret_error)
{
	uint32_t idx = trace_thread_index(thread);
	uint64_t from, to, sum = 0, expected;

	trace_analysis_window(profile_analysis(profile), &from, &to);
	if (trace_thread_start_ns(thread) > from)
		from = trace_thread_start_ns(thread);
	if (trace_thread_end_ns(thread) < to)
		to = trace_thread_end_ns(thread);
	expected = from < to ? profile_spans_ns(profile_spans(profile), idx, from, to) : 0;
	for (int part = 0; part < NR_PARTS && idx < sums->nr; part++)
		sum += sums->threads[idx].ns[part];
	if (sum == expected)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "profile: the spans of thread %" PRIu32 " have %" PRIu64 " ns, and its shares are %" PRIu64
			 " ns",
			 trace_thread_tid(thread), expected, sum);
}

int trace_profile_verify(struct trace_profile *profile, struct trace_error *ret_error)
{
	const struct trace_analysis *analysis = profile_analysis(profile);
	struct trace_profile_numbers numbers;
	struct trace_profile_share share;
	struct sums sums = {0};
	int result = 0;

	for (size_t i = 0; !result && trace_profile_get_share(profile, i, &share); i++)
		if (!add_share(&sums, &share))
			result = error_set(ret_error, -ENOMEM, "no memory to verify a profile");
	if (!result && trace_profile_error(profile) < 0)
		result = error_set(ret_error, trace_profile_error(profile), "no memory for the shares of a profile");
	for (size_t i = 0; i < trace_nr_processes(analysis) && !result; i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		const struct trace_thread *thread = NULL;

		while (!result && (thread = trace_next_thread(process, thread)))
			result = profile_spans(profile) ? check_spans(&sums, profile, thread, ret_error)
							: check_thread(&sums, profile, thread, ret_error);
	}
	free(sums.threads);
	trace_profile_get_numbers(profile, &numbers);
	if (!result && sums.samples + numbers.unplaced != numbers.samples)
		result = error_set(ret_error, -EBADMSG,
				   "profile: %" PRIu64 " samples were read, and its shares have %" PRIu64,
				   numbers.samples, sums.samples + numbers.unplaced);
	return result;
}

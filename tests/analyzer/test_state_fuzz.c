/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_fuzz.c - whatever the events say, the accounting adds up.
 *
 * The test analyzes random stories (random_story.h) in several moods, from pure noise to a crowded
 * machine, where threads rarely sleep and often wait for each other's time slices. It compares the
 * interval hook with the accounting: the intervals of each thread cover its life without hole or
 * overlap. It also checks the bills of servers, critical paths, and the times between programs'
 * events.
 *
 * 	test_state_fuzz            200,000 events in several traces
 */
#include <stdlib.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "builder.h"
#include "image.h"
#include "random_story.h"
#include "unit.h"

#define NR_TRACES 13 /* in each mood */

/* ---- the check ---- */

/* of one thread, summed up from its intervals */
struct life {
	const struct trace_thread *thread;
	uint64_t sum;
	uint64_t by_state[TRACE_STATE_RUNNING + 1];
};

struct lives {
	struct life *life;
	size_t nr;
	uint64_t backward; /* intervals that end before they begin */
};

static void add_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct lives *lives = data;
	size_t i = 0;

	CU_ASSERT(interval->target && interval->via); /* a user's program prints them */
	while (i < lives->nr && lives->life[i].thread != interval->thread)
		i++;
	if (i == lives->nr) {
		lives->life = reallocarray(lives->life, ++lives->nr, sizeof(*lives->life));
		memset(&lives->life[i], 0, sizeof(lives->life[i]));
		lives->life[i].thread = interval->thread;
	}
	lives->backward += interval->to_ns <= interval->from_ns;
	lives->life[i].sum += interval->to_ns - interval->from_ns;
	lives->life[i].by_state[interval->state] += interval->to_ns - interval->from_ns;
}

static void check_lives(struct trace_analysis *analysis, const struct lives *lives)
{
	CU_ASSERT_EQUAL(lives->backward, 0);
	for (size_t i = 0; i < lives->nr; i++) {
		const struct life *life = &lives->life[i];
		struct trace_figures *f = trace_thread_figures(analysis, life->thread);

		CU_ASSERT_EQUAL(life->sum, f->elapsed_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_TRAP], f->trap_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_INTERRUPTED], f->interrupted_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_WAIT_CPU], f->wait_cpu_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_BLOCKED], f->blocked_ns);
		trace_figures_free(f);
	}
}

/* The critical paths of the first threads, and of parts of their lives, account for every
 * instant. */
static void check_paths(struct trace_analysis *analysis, struct trace_history *history, uint64_t seed)
{
	struct dice dice = {seed, NULL};
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	for (size_t i = 0; i < trace_nr_processes(analysis) && i < 16; i++)
		for (const struct trace_thread *thread = NULL;
		     (thread = trace_next_thread(trace_get_process(analysis, i), thread));) {
			uint64_t from = below(&dice, 2) ? 0 : start + below(&dice, end - start + 1);
			struct trace_critical_path *path = trace_critical_path_new(history, thread, from, UINT64_MAX,
										   NULL);
			struct trace_error error = {0};

			if (path)
				CU_ASSERT_EQUAL(trace_critical_path_verify(path, &error), 0);
			if (error.code)
				printf("seed %llu, thread %u: %s\n", (unsigned long long)seed, trace_thread_tid(thread),
				       error.message);
			trace_critical_path_free(path);
		}
}

/* Two rows with the same cause would be one wait, told twice. */
static void check_spans(struct trace_user_events *user)
{
	size_t nr_twice = 0;

	for (size_t i = 0; i < trace_nr_spans(user); i++) {
		const struct trace_span *span = trace_get_span(user, i);

		for (size_t j = 0; j < span->nr_waits; j++)
			for (size_t k = 0; k < j; k++) {
				const struct trace_wait *a = &span->waits[j], *b = &span->waits[k];

				nr_twice += a->kind == b->kind && a->pid == b->pid && a->idle == b->idle &&
					    strcmp(a->target, b->target) == 0 && strcmp(a->via, b->via) == 0 &&
					    strcmp(a->comm, b->comm) == 0 && !a->pid;
			}
	}
	CU_ASSERT_EQUAL(nr_twice, 0);
}

static void check_trace(struct trace *trace, uint64_t seed, const struct mood *mood)
{
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	struct trace_servers *servers = trace_servers_new(trace, analysis, NULL);
	struct trace_user_events *user = trace_user_events_new(trace, analysis, NULL);
	/* some histories become coarse, some are given up */
	struct trace_history_options few = {.size = sizeof(few), .max_intervals = 2000 + seed % 3 * 4000};
	struct trace_history *history = trace_history_new(analysis, &few, NULL);
	struct trace_error error = {0};
	struct lives lives = {0};

	CU_ASSERT_EQUAL(trace_analysis_on_interval(analysis, add_interval, &lives), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	if (!error.code)
		CU_ASSERT_EQUAL(trace_servers_verify(servers, &error), 0);
	if (!error.code)
		CU_ASSERT_EQUAL(trace_user_events_verify(user, &error), 0);
	if (error.code)
		printf("seed %llu, %u threads, noise %u, losses %d: %s\n", (unsigned long long)seed, mood->nr_tids,
		       mood->noise, mood->losses, error.message);
	check_lives(analysis, &lives);
	free(lives.life);
	check_paths(analysis, history, seed);
	check_spans(user);
	trace_history_free(history);
	trace_user_events_free(user);
	trace_servers_free(servers);
	trace_analysis_free(analysis);
}

static void check(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	check_trace(trace, seed, &mood);
	trace_close(trace);
}

static void noise_never_breaks_the_balance(void)
{
	for (uint64_t seed = 1; seed <= NR_TRACES; seed += (uint64_t)unit_step(5))
		check(seed, (struct mood){.noise = 100, .nr_tids = 12, .losses = seed & 1});
}

static void plausible_traces_with_noise_balance(void)
{
	for (uint64_t seed = 100; seed < 100 + NR_TRACES; seed += (uint64_t)unit_step(5))
		check(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 15),
					  .nr_tids = 12,
					  .switches = 25,
					  .sleeps = 50,
					  .losses = seed & 1});
}

static void crowded_machines_balance(void)
{
	for (uint64_t seed = 200; seed < 200 + 2 * NR_TRACES; seed += (uint64_t)unit_step(5))
		check(seed, (struct mood){.noise = (uint32_t)(seed / 2 % 3),
					  .nr_tids = seed & 1 ? 40 : 300,
					  .switches = 80,
					  .sleeps = (uint32_t)(seed / 2 % 8),
					  .losses = seed % 4 == 0});
}

/* ---- damage that is found when a chunk is read ---- */

/* Prints everything that the analysis says of the threads and their waits, as one text. */
static char *told(struct image *image)
{
	struct trace *trace = trace_open(image->path, NULL);
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	struct lives lives = {0};
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_EQUAL(trace_analysis_on_interval(analysis, add_interval, &lives), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, NULL), 0);
	check_lives(analysis, &lives);
	free(lives.life);
	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		struct trace_figures *f = trace_process_figures(analysis, process);

		fprintf(out, "%u %s: %llu %llu %llu %llu %llu %llu\n", trace_process_pid(process),
			trace_process_comm(process), (unsigned long long)f->elapsed_ns, (unsigned long long)f->user_ns,
			(unsigned long long)f->syscall_ns, (unsigned long long)f->trap_ns,
			(unsigned long long)f->interrupted_ns, (unsigned long long)f->wait_cpu_ns);
		for (size_t j = 0; j < f->nr_waits; j++)
			fprintf(out, "  %d %s %u %s %llu %llu\n", f->waits[j].kind, f->waits[j].target, f->waits[j].pid,
				f->waits[j].via, (unsigned long long)f->waits[j].ns,
				(unsigned long long)f->waits[j].count);
		for (size_t j = 0; j < f->nr_wait_cpu_for; j++)
			fprintf(out, "  cpu %s %u %llu\n", f->wait_cpu_for[j].comm, f->wait_cpu_for[j].pid,
				(unsigned long long)f->wait_cpu_for[j].ns);
		trace_figures_free(f);
	}
	for (size_t i = 0; i < trace_nr_cpus(analysis); i++) {
		struct trace_cpu_figures f;

		trace_cpu_figures(analysis, i, &f);
		fprintf(out, "CPU %zu: %llu %llu %llu %llu %llu\n", i, (unsigned long long)f.user_ns,
			(unsigned long long)f.system_ns, (unsigned long long)(f.irq_ns + f.softirq_ns),
			(unsigned long long)f.idle_ns, (unsigned long long)f.unknown_ns);
	}
	fprintf(out, "%llu contradictions\n", (unsigned long long)trace_analysis_inconsistencies(analysis));
	fclose(out);
	trace_analysis_free(analysis);
	trace_close(trace);
	return text;
}

/* A truncated chunk is known before the pass; other damage is found during it. Both must give the
 * same result. */
static void check_found(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct image image = image_new(tb, true), pieces;
	struct dice dice = {seed, &mood};
	size_t spoilt = 0;
	char *found, *known;

	for (size_t i = 0; i < 2000; i++)
		spoilt += below(&dice, 6) == 0 && image_spoil(&image, TRACE_CHUNK_EVENTS, i);
	CU_ASSERT(spoilt > 0);
	found = told(&image);
	pieces = image_with_pieces(&image);
	known = told(&pieces);
	CU_ASSERT_STRING_EQUAL(found, known);
	if (strcmp(found, known) != 0)
		printf("seed %llu, streams %d, %zu chunks damaged, found:\n%s\nknown:\n%s\n", (unsigned long long)seed,
		       mood.streams, spoilt, found, known);
	free(found);
	free(known);
	image_free(&pieces);
	image_free(&image);
	tb_free(tb);
}

static void check_found_seed(uint64_t seed, bool streams)
{
	check_found(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 15),
					.nr_tids = 12,
					.switches = 25,
					.sleeps = 50,
					.losses = seed & 1,
					.cuts = 1,
					.streams = streams});
}

/*
 * Out of 1,300 seeds of either kind, these once gave different results. Three seeds ended in chunks
 * without scheduling changes and missed damage there: the look ahead for the first thread on a CPU
 * (385, 412), and for the thread that leaves it after a hidden thread (995). Five seeds are with
 * streams: damage in a program's events made impossible switches doubtful (301); damage in
 * structural events hid the thread that leaves (905); and peeking returned a switch although
 * another chunk came before it (1484, 1495).
 */
static void late_damage_that_once_changed_results_is_a_gap_like_others(void)
{
	static const uint64_t plain[] = {385, 412, 526, 598, 889, 981, 995, 1124, 1214, 1339},
			      streams[] = {301, 314, 905, 1484, 1495};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		check_found_seed(plain[i], false);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		check_found_seed(streams[i], true);
}

static void damage_that_is_found_late_is_a_gap_like_others(void)
{
	for (uint64_t seed = 300; seed < 300 + NR_TRACES; seed += (uint64_t)unit_step(5)) {
		check_found_seed(seed, false);
		check_found_seed(seed, true);
	}
}

static struct mood mixed_mood(uint64_t seed)
{
	return (struct mood){.noise = (uint32_t)(seed % 5 * 20),
			     .nr_tids = seed % 7 ? 12 : 200,
			     .switches = 25,
			     .sleeps = 50,
			     .losses = seed & 1,
			     .streams = seed % 3 == 0,
			     .masks = seed & 2};
}

static void accounting_adds_up_for_any_selection_of_events(void)
{
	for (uint64_t seed = 400; seed < 400 + 2 * NR_TRACES; seed++)
		check(seed, mixed_mood(seed));
}

static void threads_that_come_and_go_balance(void)
{
	for (uint64_t seed = 600; seed < 600 + 2 * NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed % 3),
					  .nr_tids = seed & 1 ? 20 : 200,
					  .switches = 70,
					  .sleeps = (uint32_t)(seed % 5 * 10),
					  .losses = seed % 4 == 0,
					  .programs = seed & 2,
					  .moves = true});
}

static void program_events_add_up(void)
{
	for (uint64_t seed = 500; seed < 500 + 2 * NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed % 5 * 10),
					  .nr_tids = seed % 3 ? 8 : 40,
					  .switches = 25,
					  .sleeps = 60,
					  .losses = seed & 1,
					  .programs = true});
}

/* A wait of one thread was once added to another that reused its number. */
static void waits_of_an_earlier_thread_of_the_same_number_stay_its_own(void)
{
	static const uint64_t seeds[] = {51, 57, 72, 81, 108, 111, 117};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		check(seeds[i], mixed_mood(seeds[i]));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"noise_never_breaks_the_balance", noise_never_breaks_the_balance},
		{"plausible_traces_with_noise_balance", plausible_traces_with_noise_balance},
		{"crowded_machines_balance", crowded_machines_balance},
		{"accounting_adds_up_for_any_selection_of_events", accounting_adds_up_for_any_selection_of_events},
		{"threads_that_come_and_go_balance", threads_that_come_and_go_balance},
		{"program_events_add_up", program_events_add_up},
		{"waits_of_an_earlier_thread_of_the_same_number_stay_its_own",
		 waits_of_an_earlier_thread_of_the_same_number_stay_its_own},
		{"damage_that_is_found_late_is_a_gap_like_others", damage_that_is_found_late_is_a_gap_like_others},
		{"late_damage_that_once_changed_results_is_a_gap_like_others",
		 late_damage_that_once_changed_results_is_a_gap_like_others},
		{NULL, NULL},
	};

	return unit_main("state_fuzz", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_index_blocks.c - an index in blocks of any length has the entries of the view, and a view is
 * saved and opened with little more memory than its entries take; nor do its sums take more than
 * they need
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "index_series.h"
#include "random_story.h"
#include "unit.h"
#include "view_rows.h"
#ifdef TRACE_COUNTS_MEMORY
#include "peak_memory.h"
#endif

/* struct case_of_view - a view of a story, after the pass */
struct case_of_view {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_view *view;
};

static struct case_of_view view_of(struct tb *tb, size_t max_intervals)
{
	struct trace_view_options asked = {.size = sizeof(asked), .max_intervals = max_intervals};
	struct case_of_view of = {.trace = tb_open_trace(tb)};

	tb_free(tb);
	of.analysis = trace_analysis_new(of.trace, NULL, NULL);
	of.view = trace_view_new(of.analysis, &asked, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(of.analysis, NULL), 0);
	return of;
}

static void end(struct case_of_view *of)
{
	trace_view_free(of->view);
	trace_analysis_free(of->analysis);
	trace_close(of->trace);
}

static int file_of(const struct trace_view *view)
{
	int fd = memfd_create("index", 0);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(trace_view_save_file(view, "note", 4, fd, NULL), 0);
	return fd;
}

static off_t size_of(int fd)
{
	struct stat info = {0};

	CU_ASSERT_EQUAL(fstat(fd, &info), 0);
	return info.st_size;
}

/* ---- the same entries ---- */

static bool is_same(const struct series *a, const struct series *b)
{
	return a->nr == b->nr &&
	       (!a->nr || (a->end == b->end && memcmp(a->from, b->from, a->nr * sizeof(*a->from)) == 0 &&
			   memcmp(a->value, b->value, a->nr * sizeof(*a->value)) == 0));
}

static void check_threads(const struct trace_history *a, const struct trace_history *b)
{
	CU_ASSERT_EQUAL_FATAL(a->nr_timelines, b->nr_timelines);
	for (uint32_t i = 0; i < a->nr_timelines; i++) {
		const struct thread_timeline *one = &a->timelines[i], *two = &b->timelines[i];

		CU_ASSERT(is_same(&one->series, &two->series));
		CU_ASSERT_EQUAL_FATAL(one->nr_pieces, two->nr_pieces);
		CU_ASSERT(!one->nr_pieces ||
			  memcmp(one->pieces, two->pieces, one->nr_pieces * sizeof(*one->pieces)) == 0);
	}
}

static void check_view(const struct trace_view *a, const struct trace_view *b)
{
	check_threads(a->history, b->history);
	CU_ASSERT_EQUAL_FATAL(a->history->nr_cpus, b->history->nr_cpus);
	for (uint32_t i = 0; i < a->history->nr_cpus; i++)
		CU_ASSERT(is_same(&a->history->cpus[i], &b->history->cpus[i]));
	CU_ASSERT_EQUAL_FATAL(a->nr_cpus, b->nr_cpus);
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		CU_ASSERT(is_same(&a->cpus[i].runs, &b->cpus[i].runs));
}

static void check_blocks(struct case_of_view *of, uint32_t entries)
{
	struct trace_analysis *other;
	struct trace_view *opened;
	void *bytes;
	size_t size;
	int fd;

	of->view->block_entries = entries;
	fd = file_of(of->view);
	opened = trace_view_open_file(of->trace, fd, &other, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
	check_view(opened, of->view);
	CU_ASSERT(memcmp(trace_view_notes(opened, &size), "note", 4) == 0 && size == 4);
	CU_ASSERT_EQUAL_FATAL(trace_view_save(of->view, "note", 4, &bytes, &size, NULL), 0);
	CU_ASSERT_EQUAL((off_t)size, size_of(fd));
	trace_view_free(opened);
	trace_analysis_free(other);
	opened = trace_view_open(of->trace, bytes, size, &other, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
	check_view(opened, of->view);
	trace_view_free(opened);
	trace_analysis_free(other);
	free(bytes);
	close(fd);
}

static void an_index_in_blocks_of_any_length_has_all_entries(void)
{
	static const uint32_t lengths[] = {1, 2, 7, 64, 1000, INDEX_BLOCK};

	for (uint64_t seed = 60; seed < 66; seed += (uint64_t)unit_step(3)) {
		const struct mood mood = {
			.nr_tids = 12, .switches = 10, .sleeps = 50, .losses = seed & 1, .nr_events = 2000};
		size_t nr = 0;

		for (uint32_t i = 0; i < 3; i++) { /* all intervals; mixtures; a full view */
			struct case_of_view of = view_of(random_story(seed, &mood), i == 0   ? 0
										    : i == 1 ? nr / 2
											     : nr / 8);

			CU_ASSERT_EQUAL(trace_history_is_coarse(trace_view_history(of.view)), i > 0);
			nr = i ? nr : trace_history_nr_intervals(trace_view_history(of.view));
			for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
				check_blocks(&of, lengths[k]);
			end(&of);
		}
	}
}

static void check_sums(const struct row_sums *sums, const uint64_t *ns)
{
	uint32_t classes = 0;

	for (uint32_t i = 0; i < TRACE_NR_CLASSES; i++)
		classes |= ns[i] ? 1u << i : 0;
	CU_ASSERT_PTR_NOT_NULL(sums->sums);
	CU_ASSERT_EQUAL(sums->nr_classes, (uint32_t)__builtin_popcount(sums->classes));
	CU_ASSERT_EQUAL(sums->classes & ~classes, 0);
}

static void a_sum_has_the_classes_of_its_row_only(void)
{
	for (uint64_t seed = 60; seed < 66; seed += (uint64_t)unit_step(3)) {
		const struct mood mood = {.nr_tids = 12, .switches = 10, .sleeps = 50};
		struct case_of_view of = view_of(random_story(seed, &mood), seed & 1 ? 1000 : 0);
		uint64_t ns[TRACE_NR_CLASSES], from, to;

		trace_analysis_window(of.analysis, &from, &to);
		for (uint32_t i = 0; i < trace_view_nr_rows(of.view, TRACE_ROW_THREAD); i++) {
			struct trace_row_id id = {TRACE_ROW_THREAD, i};

			CU_ASSERT_EQUAL(trace_view_columns(of.view, id, from, to, 1, ns), 0);
			check_sums(&of.view->threads[i].sums, ns);
		}
		for (uint32_t i = 0; i < of.view->nr_cpus; i++) {
			struct trace_row_id id = {TRACE_ROW_CPU, i};

			CU_ASSERT_EQUAL(trace_view_columns(of.view, id, from, to, 1, ns), 0);
			check_sums(&of.view->cpus[i].sums, ns);
		}
		end(&of);
	}
}

#ifdef TRACE_COUNTS_MEMORY
#define NR_SLEEPS 30000u
#define SMALL	  1024u /* entries of a block */

/* Threads that sleep for times that no compression makes small. */
static struct case_of_view sleepers(uint32_t nr)
{
	struct tb *tb = tb_new();
	struct dice dice = {3, NULL};
	uint64_t ns = 2000;

	for (uint32_t tid = 10; tid < 14; tid++)
		tb_thread(tb, tid, tid, 1, "sleeper", 0, tid == 10);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t tid = 10 + i % 4, next = 10 + (i + 1) % 4;

		if (i % 4000 == 0)
			tb_cut(tb, 0);
		tb_waking(tb, 0, ns += 100 + below(&dice, 100000), next, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, ns += 100 + below(&dice, 100000), tid, next, TRACE_TASK_INTERRUPTIBLE);
	}
	return view_of(tb, 2 * (size_t)nr); /* mixtures: the trace does not give the times */
}

/* struct use - bytes of an index, and those that were allocated beside the view */
struct use {
	size_t index, saved, opened;
};

static struct use use_of(uint32_t nr)
{
	struct case_of_view of = sleepers(nr);
	struct trace_analysis *other;
	struct trace_view *opened;
	struct use use;
	int fd;

	of.view->block_entries = SMALL;
	peak_memory_begin();
	fd = file_of(of.view);
	use.saved = peak_memory();
	use.index = (size_t)size_of(fd);
	peak_memory_begin();
	opened = trace_view_open_file(of.trace, fd, &other, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
	use.opened = peak_memory() - peak_memory_kept();
	trace_view_free(opened);
	trace_analysis_free(other);
	close(fd);
	end(&of);
	return use;
}

/* Neither the writer nor the reader has more than some blocks in memory. */
static void an_index_is_written_and_read_in_pieces(void)
{
	struct use small = use_of(NR_SLEEPS), large = use_of(4 * NR_SLEEPS);
	size_t more = large.index - small.index;

	CU_ASSERT(more > 400000);
	CU_ASSERT(large.saved < small.saved + more / 4);
	CU_ASSERT(large.opened < small.opened + more / 4);
	if (large.saved >= small.saved + more / 4 || large.opened >= small.opened + more / 4)
		printf("\nindex %zu %zu, saved %zu %zu, opened %zu %zu\n", small.index, large.index, small.saved,
		       large.saved, small.opened, large.opened);
}
#endif

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(an_index_in_blocks_of_any_length_has_all_entries),
		CASE(a_sum_has_the_classes_of_its_row_only),
#ifdef TRACE_COUNTS_MEMORY
		CASE(an_index_is_written_and_read_in_pieces),
#endif
		{NULL, NULL},
	};

	return unit_main("index_blocks", cases, argc, argv);
}

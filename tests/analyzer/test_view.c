/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view.c - a view's figures of any span are those of the accounting in that window, and the
 * columns of any division of the span add up to them
 *
 * 	test_view                          random stories
 * 	TRACE_TEST_WINDOW=FILE test_view   also some spans of a recording
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/view.h>
#include "critical_path_case.h"
#include "random_story.h"
#include "unit.h"

#define MAX_COLUMNS  61
#define BEYOND_PARTS 1024u /* analyzer/view_beyond.h */

struct picture {
	struct trace *trace;
	struct trace_analysis *analysis;
	struct trace_view *view;
	uint64_t start, end;
};

static struct picture picture_new(struct trace *trace, size_t max_intervals)
{
	struct picture p = {.trace = trace, .analysis = trace_analysis_new(trace, NULL, NULL)};
	struct trace_view_options options = {.size = sizeof(options), .max_intervals = max_intervals};

	p.view = trace_view_new(p.analysis, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p.view);
	CU_ASSERT_EQUAL(trace_analysis_run(p.analysis, NULL), 0);
	trace_analysis_window(p.analysis, &p.start, &p.end);
	return p;
}

static void picture_free(struct picture *p)
{
	trace_view_free(p->view);
	trace_analysis_free(p->analysis);
}

/* ---- a span, by one column and by several ---- */

static void columns_of(struct picture *p, struct trace_row_id id, uint64_t from, uint64_t to, uint32_t nr,
		       uint64_t *ret_sum)
{
	uint64_t ns[MAX_COLUMNS][TRACE_NR_CLASSES];

	CU_ASSERT_EQUAL(trace_view_columns(p->view, id, from, to, nr, ns[0]), 0);
	memset(ret_sum, 0, TRACE_NR_CLASSES * sizeof(*ret_sum));
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t width = from + (to - from) * (i + 1) / nr - (from + (to - from) * i / nr), sum = 0;

		for (int class = 0; class < TRACE_NR_CLASSES; class ++) {
			ret_sum[class] += ns[i][class];
			sum += ns[i][class];
		}
		if (id.kind != TRACE_ROW_PROCESS)
			CU_ASSERT_EQUAL(sum, width);
	}
}

static void check_division(struct picture *p, struct trace_row_id id, uint64_t from, uint64_t to, uint32_t nr,
			   uint64_t *ret_sum)
{
	uint64_t parts[TRACE_NR_CLASSES];

	columns_of(p, id, from, to, 1, ret_sum);
	columns_of(p, id, from, to, nr, parts);
	CU_ASSERT_EQUAL(memcmp(parts, ret_sum, sizeof(parts)), 0);
}

/* ---- equal to the accounting of the window ---- */

static void check_figures(const uint64_t *ns, const struct trace_figures *f)
{
	uint64_t waits[TRACE_NR_CLASSES] = {0};

	for (size_t i = 0; i < f->nr_waits; i++)
		waits[f->waits[i].idle ? TRACE_CLASS_REST : TRACE_CLASS_WAIT + f->waits[i].kind] += f->waits[i].ns;
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_USER], f->user_ns);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_SYSCALL], f->syscall_ns);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_TRAP], f->trap_ns);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_INTERRUPTED], f->interrupted_ns);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_WAIT_CPU], f->wait_cpu_ns);
	for (int class = TRACE_CLASS_REST; class < TRACE_CLASS_RUNNING; class ++)
		CU_ASSERT_EQUAL(ns[class], waits[class]);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_RUNNING], 0);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_UNREAD], 0);
}

static bool is_same(const struct trace_thread *left, const struct trace_thread *right)
{
	return trace_thread_index(left) == trace_thread_index(right);
}

/* Each thread of the window has a row, and the rows of its threads are those of the process. */
static void check_process(struct picture *p, const struct trace_analysis *part, const struct trace_process *process,
			  const struct trace_process *same, uint64_t from, uint64_t to, uint32_t nr)
{
	struct trace_figures *f = trace_process_figures(part, process);
	const struct trace_thread *mine = NULL;
	uint64_t ns[TRACE_NR_CLASSES];
	struct trace_row_id id;

	if (trace_view_row_of_process(p->view, same, &id)) {
		check_division(p, id, from, to, nr, ns);
		check_figures(ns, f);
	} else {
		CU_ASSERT_EQUAL(f->elapsed_ns, 0);
	}
	trace_figures_free(f);
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));) {
		mine = trace_next_thread(same, mine);
		CU_ASSERT(is_same(thread, mine));
		f = trace_thread_figures(part, thread);
		if (trace_view_row_of(p->view, mine, &id)) {
			check_division(p, id, from, to, nr, ns);
			check_figures(ns, f);
			CU_ASSERT_EQUAL(ns[TRACE_CLASS_ABSENT], to - from - f->elapsed_ns);
		} else {
			CU_ASSERT_EQUAL(f->elapsed_ns, 0);
		}
		trace_figures_free(f);
	}
}

static void check_cpu(struct picture *p, const struct trace_analysis *part, uint32_t cpu, uint64_t from, uint64_t to,
		      uint32_t nr)
{
	struct trace_row_id id = {TRACE_ROW_CPU, cpu};
	struct trace_cpu_figures figures;
	uint64_t ns[TRACE_NR_CLASSES];

	check_division(p, id, from, to, nr, ns);
	trace_cpu_figures(part, cpu, &figures);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_USER] + ns[TRACE_CLASS_SYSCALL] + ns[TRACE_CLASS_TRAP] +
				ns[TRACE_CLASS_INTERRUPTED] + ns[TRACE_CLASS_RUNNING],
			figures.user_ns + figures.system_ns + figures.irq_ns + figures.softirq_ns);
	if (!trace_history_is_coarse(trace_view_history(p->view))) {
		/* coarse: a thread that moves without a switch has one piece for two CPUs */
		CU_ASSERT_EQUAL(ns[TRACE_CLASS_USER], figures.user_ns);
		CU_ASSERT_EQUAL(ns[TRACE_CLASS_SYSCALL] + ns[TRACE_CLASS_TRAP], figures.system_ns);
		CU_ASSERT_EQUAL(ns[TRACE_CLASS_INTERRUPTED], figures.irq_ns + figures.softirq_ns);
	}
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_IDLE], figures.idle_ns);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN], figures.unknown_ns);
}

static void check_span(struct picture *p, uint64_t from, uint64_t to, uint32_t nr)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = from, .to_ns = to};
	struct trace_analysis *part = trace_analysis_new(p->trace, &options, NULL);

	CU_ASSERT_EQUAL(trace_analysis_run(part, NULL), 0);
	for (size_t i = 0; i < trace_nr_processes(part); i++)
		check_process(p, part, trace_get_process(part, i), trace_get_process(p->analysis, i), from, to, nr);
	for (uint32_t i = 0; i < trace_nr_cpus(part); i++)
		check_cpu(p, part, i, from, to, nr);
	trace_analysis_free(part);
}

/* ---- the spans of a row cover it ---- */

struct cover {
	uint64_t at;
	uint64_t classes[TRACE_NR_CLASSES];
};

static bool cover(void *data, const struct trace_view_span *span)
{
	struct cover *cover = data;

	CU_ASSERT(span->to_ns > span->from_ns);
	CU_ASSERT(!cover->at || span->from_ns == cover->at);
	cover->at = span->to_ns;
	cover->classes[span->class_of_time] += span->to_ns - span->from_ns;
	return true;
}

static void check_spans(struct picture *p)
{
	for (uint32_t i = 0; i < trace_view_nr_rows(p->view, TRACE_ROW_THREAD); i++) {
		struct trace_row_id id = {TRACE_ROW_THREAD, i};
		struct cover covered = {0};
		uint64_t ns[TRACE_NR_CLASSES];

		CU_ASSERT_EQUAL(trace_view_spans(p->view, id, p->start, p->end, cover, &covered), 0);
		CU_ASSERT_EQUAL(trace_view_columns(p->view, id, p->start, p->end, 1, ns), 0);
		for (int class = 0; class < TRACE_CLASS_ABSENT; class ++)
			CU_ASSERT_EQUAL(covered.classes[class], ns[class]);
	}
}

/* A coarse view has the same figures of the whole, and of each span the same time on a CPU. */
static void check_coarse(struct trace *trace, uint64_t seed, size_t max_intervals)
{
	struct picture p = picture_new(trace, max_intervals), fine = picture_new(trace, 0);
	struct dice dice = {seed, NULL};

	CU_ASSERT(trace_history_is_coarse(trace_view_history(p.view)));
	CU_ASSERT_EQUAL(trace_view_error(p.view), 0);
	CU_ASSERT_EQUAL(trace_view_nr_rows(p.view, TRACE_ROW_THREAD), trace_view_nr_rows(fine.view, TRACE_ROW_THREAD));
	check_span(&p, p.start, p.end, MAX_COLUMNS);
	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		for (uint32_t i = 0; i < trace_view_nr_rows(p.view, kind); i++) {
			struct trace_row_id id = {kind, i};
			uint64_t from = p.start + below(&dice, p.end - p.start),
				 to = from + 1 + below(&dice, p.end - from);
			uint64_t ns[TRACE_NR_CLASSES], wanted[TRACE_NR_CLASSES];

			check_division(&p, id, from, to, 1 + (uint32_t)below(&dice, MAX_COLUMNS), ns);
			columns_of(&fine, id, from, to, 1, wanted);
			for (int class = TRACE_CLASS_WAIT_CPU; class < TRACE_NR_CLASSES; class ++)
				CU_ASSERT(class == TRACE_CLASS_RUNNING || ns[class] == wanted[class]);
			CU_ASSERT_EQUAL(ns[0] + ns[1] + ns[2] + ns[3] + ns[TRACE_CLASS_RUNNING],
					wanted[0] + wanted[1] + wanted[2] + wanted[3]);
		}
	picture_free(&p);
	picture_free(&fine);
}

static uint32_t tid_of(const struct trace_thread *thread)
{
	return thread ? trace_thread_tid(thread) : 0;
}

static bool is_on_cpu(enum trace_state state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}

/* A coarse view does not tell the interrupts of a thread that had a CPU. */
static bool is_same_segment(const struct trace_path_segment *s, const struct trace_path_segment *fine)
{
	if (tid_of(s->thread) != tid_of(fine->thread) || s->depth != fine->depth)
		return false;
	if (is_on_cpu(s->state) && is_on_cpu(fine->state))
		return true;
	return s->state == fine->state &&
	       (strcmp(fine->holder_name, "interrupts") == 0 ||
		(tid_of(s->holder) == tid_of(fine->holder) && strcmp(s->holder_name, fine->holder_name) == 0));
}

/* At each instant both paths have the same segment. Returns the number of waits for a CPU. */
static size_t check_same_path(const struct trace_critical_path *path, const struct trace_critical_path *fine)
{
	size_t at = 0, nr_queued = 0;
	struct trace_path_segment s, f;

	CU_ASSERT(trace_critical_path_nr_segments(path) <= trace_critical_path_nr_segments(fine));
	trace_critical_path_segment(path, 0, &s);
	for (size_t i = 0; i < trace_critical_path_nr_segments(fine); i++) {
		trace_critical_path_segment(fine, i, &f);
		while (s.to_ns <= f.from_ns && at + 1 < trace_critical_path_nr_segments(path))
			trace_critical_path_segment(path, ++at, &s);
		CU_ASSERT(s.from_ns <= f.from_ns && is_same_segment(&s, &f));
		/* interrupts of two threads that had the CPU one after the other are one segment */
		CU_ASSERT(f.to_ns <= s.to_ns || strcmp(f.holder_name, "interrupts") == 0);
		nr_queued += f.state == TRACE_STATE_WAIT_CPU;
	}
	CU_ASSERT_EQUAL(at + 1, trace_critical_path_nr_segments(path));
	return nr_queued;
}

/* The history of a coarse view has no series of CPUs: the runs of the view have the threads. */
static void coarse_views_have_the_same_paths(void)
{
	size_t nr_queued = 0, nr_paths = 0;

	for (uint64_t seed = 60; seed < 70; seed++) {
		const struct mood mood = {.nr_tids = 12, .switches = 10, .sleeps = 50};
		struct tb *tb = random_story(seed, &mood);
		struct trace *trace = tb_open_trace(tb);
		struct picture p = picture_new(trace, 1400), fine = picture_new(trace, 0);

		CU_ASSERT(trace_history_is_coarse(trace_view_history(p.view)));
		for (uint32_t i = 0; i < trace_view_nr_rows(p.view, TRACE_ROW_THREAD); i++) {
			const struct trace_row_id id = {TRACE_ROW_THREAD, i};
			struct trace_critical_path *path, *wanted;
			struct trace_row row, same;

			CU_ASSERT(trace_view_get_row(p.view, id, &row) && trace_view_get_row(fine.view, id, &same));
			path = trace_critical_path_new(trace_view_history(p.view), row.thread, p.start, p.end, NULL);
			wanted = trace_critical_path_new(trace_view_history(fine.view), same.thread, p.start, p.end,
							 NULL);
			CU_ASSERT_EQUAL(!path, !wanted);
			if (path && wanted) {
				nr_queued += check_same_path(path, wanted);
				nr_paths++;
			}
			trace_critical_path_free(path);
			trace_critical_path_free(wanted);
		}
		picture_free(&p);
		picture_free(&fine);
		tb_free(tb);
		trace_close(trace);
	}
	CU_ASSERT(nr_paths > 50 && nr_queued > 100);
}

static void coarse_views_have_the_figures_of_the_whole(void)
{
	for (uint64_t seed = 60; seed < 66; seed++) {
		const struct mood mood = {.nr_tids = 12, .switches = 10, .sleeps = 50};
		struct tb *tb = random_story(seed, &mood);
		struct trace *trace = tb_open_trace(tb);

		tb_free(tb);
		check_coarse(trace, seed, 1400 + 50 * (seed - 60));
		trace_close(trace);
	}
}

static uint64_t on_cpu(const uint64_t *ns)
{
	return ns[0] + ns[1] + ns[2] + ns[3] + ns[TRACE_CLASS_RUNNING];
}

/* The first of the parts of a full view, view_beyond.h, that begins at @ns or later. */
static uint64_t part_from(const struct picture *p, uint64_t ns)
{
	uint64_t width = (p->end - p->start) / BEYOND_PARTS + 1;

	return p->start + (ns - p->start + width - 1) / width * width;
}

/* The same in all classes; in those of own code and system calls together if that is known late. */
static void check_same(struct picture *p, struct picture *fine, struct trace_row_id id, uint64_t from, uint64_t to)
{
	uint64_t ns[TRACE_NR_CLASSES], wanted[TRACE_NR_CLASSES];

	check_division(p, id, from, to, MAX_COLUMNS, ns);
	columns_of(fine, id, from, to, 1, wanted);
	CU_ASSERT_EQUAL(on_cpu(ns), on_cpu(wanted));
	CU_ASSERT_EQUAL(memcmp(ns + TRACE_CLASS_TRAP, wanted + TRACE_CLASS_TRAP,
			       (TRACE_CLASS_RUNNING - TRACE_CLASS_TRAP) * sizeof(*ns)),
			0);
	CU_ASSERT_EQUAL(memcmp(ns + TRACE_CLASS_IDLE, wanted + TRACE_CLASS_IDLE,
			       (TRACE_NR_CLASSES - TRACE_CLASS_IDLE) * sizeof(*ns)),
			0);
}

/*
 * A view that became full has no wrong figures, and the same ones of whole parts after that. The
 * hole of a wait that was told later is unknown.
 */
static void check_full(struct picture *p, struct picture *fine, struct trace_row_id id, struct dice *dice)
{
	uint64_t full = trace_view_full_ns(p->view), ns[TRACE_NR_CLASSES], wanted[TRACE_NR_CLASSES], from, to;

	check_division(p, id, p->start, p->end, MAX_COLUMNS, ns);
	columns_of(fine, id, p->start, p->end, 1, wanted);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_ABSENT], wanted[TRACE_CLASS_ABSENT]);
	CU_ASSERT_EQUAL(ns[TRACE_CLASS_UNREAD], 0);
	CU_ASSERT(on_cpu(ns) <= on_cpu(wanted));
	for (int class = TRACE_CLASS_WAIT_CPU; class < TRACE_CLASS_ABSENT; class ++)
		CU_ASSERT(class == TRACE_CLASS_RUNNING || class == TRACE_CLASS_WAIT + TRACE_WAIT_UNKNOWN ||
			  ns[class] <= wanted[class]);
	check_same(p, fine, id, part_from(p, full), p->end);
	from = part_from(p, full + below(dice, p->end - full));
	to = part_from(p, full + below(dice, p->end - full));
	if (from < to && to < p->end)
		check_same(p, fine, id, from, to);
}

static void a_view_that_is_full_has_the_sums_of_what_comes_later(void)
{
	for (uint64_t seed = 70; seed < 82; seed++) {
		const struct mood mood = {
			.nr_tids = 12, .switches = 25, .sleeps = 50, .noise = seed % 3 * 10, .losses = seed & 1};
		struct dice dice = {seed, NULL};
		struct tb *tb = random_story(seed, &mood);
		struct trace *trace = tb_open_trace(tb);
		struct picture p = picture_new(trace, 100 * (seed % 6)), fine = picture_new(trace, 0);

		if (seed % 6) {
			CU_ASSERT_EQUAL(trace_view_error(p.view), -E2BIG);
			CU_ASSERT(trace_view_full_ns(p.view) > p.start && trace_view_full_ns(p.view) < p.end);
		}
		CU_ASSERT_EQUAL(trace_view_full_ns(fine.view), 0);
		for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD && seed % 6; kind += 2) {
			CU_ASSERT_EQUAL(trace_view_nr_rows(p.view, kind), trace_view_nr_rows(fine.view, kind));
			for (uint32_t i = 0; i < trace_view_nr_rows(p.view, kind); i++)
				check_full(&p, &fine, (struct trace_row_id){kind, i}, &dice);
		}
		picture_free(&p);
		picture_free(&fine);
		tb_free(tb);
		trace_close(trace);
	}
}

static void check_trace(struct trace *trace, uint64_t seed, unsigned int nr)
{
	struct picture p = picture_new(trace, 0);
	struct dice dice = {seed, NULL};

	check_span(&p, p.start, p.end, 7);
	check_spans(&p);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t from = p.start + below(&dice, p.end - p.start), to = from + 1 + below(&dice, p.end - from);

		check_span(&p, from, to, 1 + (uint32_t)below(&dice, MAX_COLUMNS));
	}
	picture_free(&p);
}

static void check_story(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	check_trace(trace, seed, 5);
	trace_close(trace);
}

static void spans_of_plausible_traces_are_those_of_the_accounting(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		check_story(seed, (struct mood){.nr_tids = 12, .switches = 25, .sleeps = 50, .nr_events = 2000});
}

static void spans_of_crowded_machines_are_those_of_the_accounting(void)
{
	for (uint64_t seed = 20; seed < 23; seed++)
		check_story(seed, (struct mood){.nr_tids = 60, .switches = 80, .sleeps = 10, .moves = true});
}

static void spans_of_noise_and_gaps_are_those_of_the_accounting(void)
{
	for (uint64_t seed = 40; seed < 48; seed++)
		check_story(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 20),
						.nr_tids = 12,
						.switches = 25,
						.sleeps = 50,
						.nr_events = 2000,
						.losses = true});
}

static void spans_of_a_recording_are_those_of_the_accounting(void)
{
	const char *path = getenv("TRACE_TEST_WINDOW");
	struct trace *trace = path ? trace_open(path, NULL) : NULL;

	CU_ASSERT(!path || trace);
	if (trace)
		check_trace(trace, 7, 3);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(spans_of_plausible_traces_are_those_of_the_accounting),
		CASE(spans_of_crowded_machines_are_those_of_the_accounting),
		CASE(spans_of_noise_and_gaps_are_those_of_the_accounting),
		CASE(coarse_views_have_the_figures_of_the_whole),
		CASE(coarse_views_have_the_same_paths),
		CASE(a_view_that_is_full_has_the_sums_of_what_comes_later),
		CASE(spans_of_a_recording_are_those_of_the_accounting),
		{NULL, NULL},
	};

	return unit_main("view", cases, argc, argv);
}

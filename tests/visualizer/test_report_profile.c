/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_profile.c - the contexts of a profile: the whole time of a function, its callers, its
 * callees, the tree, and stacks as lines
 *
 * The functions are those of the kernel, whose names a built trace can have.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <trace/profile.h>
#include <unistd.h>
#include <zlib.h>
#include "file_case.h"
#include "random_story.h"
#include "report_case.h"
#include "sample_case.h"
#include "visualizer.h"

#define CODE	 0xffffffff81000000ull
#define START	 (CODE + 0x010) /* ret_from_fork_asm */
#define F	 (CODE + 0x110)
#define G	 (CODE + 0x210)
#define H	 (CODE + 0x310)
#define NOWHERE	 0x1234567ull
#define NR_NAMES 4

static struct tb *with_names(struct tb *tb)
{
	static const char *const names[NR_NAMES] = {"ret_from_fork_asm", "f", "g", "h"};

	for (uint32_t i = 0; i < NR_NAMES; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%llx 256 %s", CODE + 0x100 * i, names[i]);
		tb_string(tb, TRACE_STRING_KERNEL_CODE, i, text);
	}
	return tb;
}

/* 7000 ns of thread 10 in its own code, divided among @nr samples; then it blocks for 2000 ns */
static struct tb *made_of(const uint64_t (*stacks)[MAX_LIST], const uint8_t *cuts, size_t nr)
{
	struct tb *tb = with_names(tb_new());

	tb_thread(tb, 10, 10, 1, "one", 0, false);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	for (size_t i = 0; i < nr; i++) {
		struct lists lists = {.cut = cuts ? cuts[i] : 0};

		for (; lists.nr_kernel + 1 < MAX_LIST && stacks[i][lists.nr_kernel + 1]; lists.nr_kernel++)
			lists.kernel[lists.nr_kernel] = stacks[i][lists.nr_kernel + 1];
		add_sample(tb, 0, 3000 + 10 * i, 10, stacks[i][0], &lists);
	}
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 11000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 11000, 0, 10, 0);
	return tb;
}

/* Innermost first. The 7 samples have 1000 ns each. */
static const uint64_t stacks[7][MAX_LIST] = {
	{F, START}, {F, F, START}, {G, F, F, START}, {G, F, G, F, START}, {H, START}, {H, G, START}, {NOWHERE},
};

/* The line of --verify is on stderr. */
static json_t *profile_of(struct tb *tb, const char *options)
{
	char path[] = "/tmp/test_report_profile_XXXXXX", command[1024];
	int fd = mkstemp(path);
	json_t *profile;
	FILE *pipe;

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer %s --json --verify %s 2>/dev/null", options,
		 path);
	pipe = popen(command, "r");
	profile = json_loadf(pipe, 0, NULL);
	CU_ASSERT_EQUAL(pclose(pipe), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	unlink(path);
	return profile;
}

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

/* The elapsed time in the row of @list with this @key; -1: there is none */
static long long ns_of(const json_t *list, const char *key, const char *wanted, const char *part)
{
	size_t i;
	json_t *row;

	json_array_foreach(list, i, row)
		if (!strcmp(json_string_value(json_object_get(row, key)), wanted))
			return number_of(part ? json_object_get(row, part) : row, "elapsed_ns");
	return -1;
}

static void a_function_that_calls_itself_counts_once(void)
{
	json_t *profile = profile_of(made_of(stacks, NULL, 7), "--profile --comm=one"),
	       *rows = json_object_get(profile, "rows");

	CU_ASSERT_EQUAL(ns_of(rows, "name", "f", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "f", "total"), 4000);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "g", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "g", "total"), 3000);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "h", "total"), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "ret_from_fork_asm", NULL), 0);
	CU_ASSERT_EQUAL(ns_of(rows, "name", "ret_from_fork_asm", "total"), 6000);
	CU_ASSERT_EQUAL(ns_of(rows, "kind", "stack incomplete", NULL), 0);
	CU_ASSERT_EQUAL(ns_of(rows, "kind", "stack incomplete", "total"), 1000);
	CU_ASSERT_EQUAL(number_of(json_object_get(profile, "stacks"), "whole"), 6);
	CU_ASSERT_EQUAL(number_of(json_object_get(profile, "stacks"), "incomplete"), 1);
	json_decref(profile);
}

/* Thread 10 is on the CPU when the events from 3000 to 5000 ns are lost, and seen again at 7000. */
static void time_that_no_event_tells_is_a_row(void)
{
	struct tb *tb = with_names(tb_new());
	json_t *profile, *rows;

	tb_thread(tb, 10, 10, 1, "one", 0, false);
	tb_string(tb, TRACE_STRING_NOT_TRACED, 0, "fault_exit: not on this kernel");
	tb_switch(tb, 0, 2000, 0, 10, 0);
	add_sample(tb, 0, 2500, 10, F, &(struct lists){.cut = 0});
	tb_sys_enter(tb, 0, 3000, SYS_getpid);
	tb_lost(tb, 0, 3);
	tb_switch(tb, 0, 7000, 0, 10, 0);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_DEAD);
	profile = profile_of(tb, "--profile --comm=one");
	rows = json_object_get(profile, "rows");
	CU_ASSERT_EQUAL(ns_of(rows, "kind", "not traced", NULL), 4000);
	CU_ASSERT_EQUAL(number_of(profile, "not_traced_ns"), 4000);
	CU_ASSERT_EQUAL(ns_of(rows, "kind", "blocked", NULL), -1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(profile, "not_traced"), 0)),
			       "fault_exit: not on this kernel");
	json_decref(profile);
}

static void callers_add_up_to_the_whole_time_of_a_function(void)
{
	json_t *profile = profile_of(made_of(stacks, NULL, 7), "--callers=g"),
	       *callers = json_object_get(profile, "callers");

	CU_ASSERT_EQUAL(number_of(json_object_get(profile, "total"), "elapsed_ns"), 3000);
	CU_ASSERT_EQUAL(number_of(json_object_get(profile, "self"), "elapsed_ns"), 2000);
	CU_ASSERT_EQUAL(json_array_size(callers), 2);
	CU_ASSERT_EQUAL(ns_of(callers, "name", "f", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(callers, "name", "ret_from_fork_asm", NULL), 1000);
	json_decref(profile);
}

/* g, f, g, f: the innermost f called g. */
static void callees_and_the_function_itself_add_up_to_its_whole_time(void)
{
	json_t *profile = profile_of(made_of(stacks, NULL, 7), "--callees=f"),
	       *callees = json_object_get(profile, "callees"), *row;
	long long itself = 0;
	size_t i;

	json_array_foreach(callees, i, row)
		if (json_is_true(json_object_get(row, "itself")))
			itself += number_of(row, "elapsed_ns");
	CU_ASSERT_EQUAL(number_of(json_object_get(profile, "total"), "elapsed_ns"), 4000);
	CU_ASSERT_EQUAL(itself, 2000);
	CU_ASSERT_EQUAL(ns_of(callees, "name", "g", NULL), 2000);
	CU_ASSERT_EQUAL(json_array_size(callees), 2);
	json_decref(profile);
}

static void a_function_without_samples_has_no_callers(void)
{
	char *text = refusal_of(made_of(stacks, NULL, 7), "--callers=nothing");

	contains(text, "no sample has the function 'nothing': --profile --all lists those that have some");
	free(text);
}

static void the_tree_has_callers_before_what_they_call(void)
{
	char *text = report_of(made_of(stacks, NULL, 7), "--profile=tree --ns --verify --comm=one");

	join_lines(text);
	contains(text, "7 samples divide those on a CPU among functions. Stacks: 85.7 % are whole, 14.3 % have frame "
		       "pointers that lead nowhere.");
	contains(text, "1000 are in code without a name: the rows say why. 1000 of that are in no file: if programs "
		       "generated that code, node --perf-basic-prof,");
	free(text);
	text = report_of(made_of(stacks, NULL, 7), "--profile=tree --ns --comm=one");
	contains(text, " 9000  100.00     0  one\n");
	contains(text, " 6000   66.67     0    ret_from_fork_asm ");
	contains(text, " 4000   44.44  1000      f  ");
	contains(text, " 2000   22.22  1000        f  ");
	contains(text, " 1000   11.11  1000          g  ");
	contains(text, " 1000   11.11     0    (stack incomplete)\n");
	contains(text, " 1000   11.11  1000      (no name: in no file, and not in /tmp/perf-PID.map)\n");
	free(text);
	text = report_of(made_of(stacks, NULL, 7), "--profile=tree --ns --comm=one --top=2");
	contains(text, "ret_from_fork_asm");
	CU_ASSERT_PTR_NULL(strstr(text, "(stack incomplete)"));
	contains(text, "(12 more, 9000 in them)\n");
	free(text);
}

/* The frames inwards of the cut are right. */
static void a_stack_that_was_cut_begins_with_what_is_known(void)
{
	static const uint64_t cut_stacks[2][MAX_LIST] = {{G, F, F}, {F, START}};
	static const uint8_t cuts[2] = {1, 0};
	char *text = report_of(made_of(cut_stacks, cuts, 2), "--folded=on --comm=one");

	CU_ASSERT_STRING_EQUAL(text, "one;ret_from_fork_asm_[k];f_[k] 3500\none;(stack incomplete) longer than what is "
				     "recorded;f_[k];f_[k];g_[k] 3500\n");
	free(text);
}

/* The walk says where it ended, also where no function has a name. */
static void a_walk_by_tables_tells_whether_the_stack_is_whole(void)
{
	static const uint64_t walked[4][MAX_LIST] = {{NOWHERE}, {F, G}, {G}, {H}};
	static const uint8_t cuts[4] = {TRACE_PROFILE_END_WHOLE << 3, TRACE_PROFILE_END_WHOLE << 3,
					TRACE_PROFILE_END_NOT_READY << 3, TRACE_PROFILE_END_UNMAPPED << 3};
	char *text = report_of(made_of(walked, cuts, 4), "--profile=tree --ns --verify --comm=one");
	json_t *profile = profile_of(made_of(walked, cuts, 4), "--profile --comm=one"),
	       *ends = json_object_get(profile, "stacks");

	join_lines(text);
	contains(text,
		 " Stacks: 50.0 % are whole, 25.0 % end at a file before its unwind table was ready, 25.0 % end at "
		 "code in an unknown mapping.");
	contains(text, "(stack incomplete) unwind table not ready ");
	contains(text, "(stack incomplete) unknown mapping ");
	free(text);
	CU_ASSERT_EQUAL(number_of(ends, "whole"), 2);
	CU_ASSERT_EQUAL(number_of(ends, "incomplete"), 2);
	CU_ASSERT_EQUAL(number_of(ends, "not_ready"), 1);
	CU_ASSERT_EQUAL(number_of(ends, "unmapped"), 1);
	CU_ASSERT_EQUAL(number_of(ends, "by_pointers"), 0);
	json_decref(profile);
}

/* f() is in itself five times, and then in g(). */
static void a_function_that_only_calls_itself_is_one_line_of_the_tree(void)
{
	static const uint64_t recursive[2][MAX_LIST] = {{G, F, F, F, F, F}, {G, F, F, F, F, F}};
	static const uint8_t cuts[2] = {TRACE_PROFILE_END_WHOLE << 3, TRACE_PROFILE_END_WHOLE << 3};
	char *text = report_of(made_of(recursive, cuts, 2), "--profile=tree --ns --verify --comm=one");

	contains(text, "    0    f (5 times) ");
	contains(text, " 7000      g ");
	free(text);
}

static void folded_stacks_are_a_line_each(void)
{
	char *text = report_of(made_of(stacks, NULL, 7), "--folded=on --comm=one");

	contains(text, "one;ret_from_fork_asm_[k];f_[k];g_[k];f_[k];g_[k] 1000\n");
	contains(text, "one;(stack incomplete);(no name: in no file, and not in /tmp/perf-PID.map) 1000\n");
	CU_ASSERT_PTR_NULL(strstr(text, "blocked"));
	free(text);
	text = report_of(made_of(stacks, NULL, 7), "--folded=off --comm=one");
	CU_ASSERT_PTR_NULL(strstr(text, "ret_from_fork_asm"));
	contains(text, " 2000\n");
	free(text);
}

static void forms_of_the_profile_exclude_each_other(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("--profile=tree --callers=f", &text), 2);
	contains(text, "another form of the profile is chosen already");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("--profile=trees", &text), 2);
	contains(text, "flat");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("--folded=some", &text), 2);
	contains(text, "off");
	free(text);
}

/* ---- the difference of two ---- */

static void write_to(struct tb *tb, char *path)
{
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

/* The status of the program, and what it printed */
static int diff_of(struct tb *a, struct tb *b, const char *options, char **ret_text)
{
	char paths[2][40] = {"/tmp/test_report_profile_XXXXXX", "/tmp/test_report_profile_XXXXXX"}, arguments[256];
	int status;

	write_to(a, paths[0]);
	write_to(b, paths[1]);
	snprintf(arguments, sizeof(arguments), "--profile --diff %s %s %s", options, paths[0], paths[1]);
	status = visualizer_run(arguments, ret_text);
	unlink(paths[0]);
	unlink(paths[1]);
	return status;
}

static long long of_side(const json_t *row, const char *key, const char *side)
{
	return number_of(json_object_get(row, key), side);
}

/* A: f 2000, g 2000, h 2000, 1000 without a name. B: f 3500, h 3500. */
static void a_difference_has_each_function_of_both_sides(void)
{
	static const uint64_t others[2][MAX_LIST] = {{F, START}, {H, START}};
	json_t *diff, *rows, *row;
	long long sums[2] = {0}, last = INT64_MAX;
	char *text;
	size_t i;

	CU_ASSERT_EQUAL(diff_of(made_of(stacks, NULL, 7), made_of(others, NULL, 2), "--json --comm=one", &text), 0);
	diff = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(diff);
	rows = json_object_get(diff, "rows");
	json_array_foreach(rows, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		long long change = number_of(row, "change_ns");

		sums[0] += of_side(row, "self_ns", "a");
		sums[1] += of_side(row, "self_ns", "b");
		CU_ASSERT(llabs(change) <= last);
		last = llabs(change);
		CU_ASSERT_EQUAL(change, of_side(row, "self_ns", "difference"));
		if (!strcmp(name, "f"))
			CU_ASSERT_EQUAL(change, 1500);
		if (!strcmp(name, "g"))
			CU_ASSERT_EQUAL(change, -2000);
	}
	CU_ASSERT_EQUAL(sums[0], 9000);
	CU_ASSERT_EQUAL(sums[1], 9000);
	CU_ASSERT_EQUAL(of_side(diff, "elapsed_ns", "a"), 9000);
	CU_ASSERT_FALSE(json_is_true(json_object_get(diff, "scaled")));
	json_decref(diff);
	free(text);
}

/* B is the same with twice as much time of the recording: its times count half. */
static void recordings_of_other_lengths_are_scaled(void)
{
	struct tb *longer = made_of(stacks, NULL, 7);
	char *text;

	tb_switch(longer, 0, 20000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	CU_ASSERT_EQUAL(diff_of(made_of(stacks, NULL, 7), longer, "--ns --comm=one", &text), 0);
	join_lines(text);
	contains(text, "The recordings differ in length: for the differences, times of B are multiplied by 0.500.");
	contains(text, "  2000  2000  -1000  1167  f  ");
	free(text);
	CU_ASSERT_EQUAL(diff_of(made_of(stacks, NULL, 7), tb_new(), "--json", &text), 1);
	free(text);
	CU_ASSERT_EQUAL(diff_of(made_of(stacks, NULL, 7), made_of(stacks, NULL, 7), "--callers=f", &text), 2);
	contains(text, "compares profiles by function");
	free(text);
}

/* ---- files ---- */

static void a_flame_graph_is_a_page_that_needs_nothing_else(void)
{
	static const char begin[] = "<script type=\"application/json\" id=\"profile\">";
	struct file_case file = file_of(made_of(stacks, NULL, 7), "--flame");
	char *at = strstr(file.text, begin), *end;
	json_t *profile, *number;
	long long sum = 0;
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	CU_ASSERT_PTR_NULL(strstr(file.text, "src="));
	CU_ASSERT_PTR_NULL(strstr(file.text, "href="));
	CU_ASSERT_PTR_NULL(strstr(file.text, "://"));
	contains(file.text, "default-src 'none'; script-src 'sha256-");
	at += sizeof(begin) - 1;
	end = strstr(at, "</script>");
	profile = json_loadb(at, (size_t)(end - at), 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	json_array_foreach(json_object_get(profile, "nodes"), i, number)
		sum += i % 7 < 3 || i % 7 == 6 ? 0 : (long long)json_integer_value(number);
	CU_ASSERT_EQUAL(sum, 9000);
	CU_ASSERT_EQUAL(i % 7, 0);
	json_decref(profile);
	free(file.text);
}

static void a_name_cannot_end_the_data_of_the_page(void)
{
	struct tb *tb = made_of(stacks, NULL, 7);
	struct file_case file;

	tb_thread(tb, 20, 20, 1, "</script><b>", 1, true);
	tb_switch(tb, 1, 2000, 0, 20, 0);
	tb_switch(tb, 1, 5000, 20, 0, TRACE_TASK_RUNNING);
	file = file_of(tb, "--flame");
	contains(file.text, "\"\\u003c/script>\\u003cb>\"");
	CU_ASSERT_PTR_NULL(strstr(file.text, "</script><b>"));
	free(file.text);
}

static void a_file_for_pprof_has_each_stack_with_its_times(void)
{
	struct file_case file = file_of(made_of(stacks, NULL, 7), "--pprof");
	const unsigned char *at = (const unsigned char *)file.text, *end = at + file.size;
	size_t nr_samples = 0, nr_locations = 0, nr_texts = 0;
	uint64_t elapsed = 0;

	while (at < end) {
		uint64_t field = varint(&at), value = varint(&at);

		if (field >> 3 == 2) {
			elapsed += sample_elapsed(at, at + value, &nr_locations);
			nr_samples++;
		}
		if (field >> 3 == 6)
			CU_ASSERT_EQUAL(value == 0, nr_texts++ == 0); /* the first text is "" */
		at += (field & 7) == 2 ? value : 0;
	}
	CU_ASSERT_PTR_EQUAL(at, end);
	CU_ASSERT_EQUAL(elapsed, 9000);
	CU_ASSERT_EQUAL(nr_samples, 8); /* seven stacks, and a wait */
	CU_ASSERT_EQUAL(nr_locations, 3 + 4 + 5 + 6 + 3 + 4 + 3 + 2);
	free(file.text);
}

/* ---- any trace ---- */

static struct tb *any_trace(uint64_t seed)
{
	static const struct mood plausible = {.nr_tids = 12, .switches = 30, .sleeps = 60, .moves = true},
				 noise = {.noise = 30, .nr_tids = 20, .switches = 40, .sleeps = 50, .programs = true};
	const struct mood *mood = seed % 2 ? &plausible : &noise;
	struct tb *tb = with_names(random_story(seed, mood));
	struct dice dice = {.state = seed, .mood = mood};

	for (int i = 0; i < 300; i++) {
		struct lists lists = {.nr_kernel = below(&dice, 6),
				      .nr_user = below(&dice, 4),
				      .cut = below(&dice, 20) == 0,
				      .source = (uint16_t)(below(&dice, 2) * below(&dice, 3))};

		for (size_t k = 0; k < lists.nr_kernel; k++)
			lists.kernel[k] = CODE + 0x100 * below(&dice, NR_NAMES + 1);
		add_sample(tb, (uint32_t)below(&dice, 2), 1000 + below(&dice, 100000), 1 + (uint32_t)below(&dice, 12),
			   below(&dice, 3) ? F : NOWHERE, &lists);
	}
	return tb;
}

static long long sum_of(const json_t *list, const char *key)
{
	long long sum = 0;
	size_t i;
	json_t *row;

	json_array_foreach(list, i, row)
		sum += number_of(row, key);
	return sum;
}

/* Events at random may be what no kernel tells, for example a thread that runs after its end. */
static bool is_possible(uint64_t seed)
{
	char path[] = "/tmp/test_report_profile_XXXXXX", command[1024];
	struct tb *tb = any_trace(seed);
	int fd = mkstemp(path), status;

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer --verify %s >/dev/null 2>&1", path);
	status = system(command);
	unlink(path);
	return status == 0;
}

static void check_contexts(uint64_t seed)
{
	json_t *flat = profile_of(any_trace(seed), "--profile"), *tree = profile_of(any_trace(seed), "--profile=tree"),
	       *folded = profile_of(any_trace(seed), "--folded"), *callers = profile_of(any_trace(seed), "--callers=f"),
	       *callees = profile_of(any_trace(seed), "--callees=f"),
	       *by = profile_of(any_trace(seed), "--by=exe,dso,symbol,line,thread,cpu,cgroup,client");
	long long elapsed = number_of(flat, "elapsed_ns"),
		  total = number_of(json_object_get(callers, "total"), "elapsed_ns");

	CU_ASSERT_TRUE(elapsed > 0 && total > 0);
	CU_ASSERT_EQUAL(sum_of(json_object_get(flat, "rows"), "elapsed_ns"), elapsed);
	CU_ASSERT_EQUAL(sum_of(json_object_get(tree, "nodes"), "elapsed_ns"), elapsed);
	CU_ASSERT_EQUAL(sum_of(json_object_get(folded, "folded"), "ns"), elapsed);
	CU_ASSERT_EQUAL(sum_of(json_object_get(by, "rows"), "elapsed_ns"), elapsed);
	CU_ASSERT_EQUAL(sum_of(json_object_get(by, "rows"), "samples"), number_of(flat, "samples"));
	CU_ASSERT_EQUAL(sum_of(json_object_get(callers, "callers"), "elapsed_ns"), total);
	CU_ASSERT_EQUAL(sum_of(json_object_get(callees, "callees"), "elapsed_ns"), total);
	CU_ASSERT_EQUAL(ns_of(json_object_get(flat, "rows"), "name", "f", NULL) > total, 0);
	json_decref(flat);
	json_decref(tree);
	json_decref(folded);
	json_decref(callers);
	json_decref(callees);
	json_decref(by);
}

/* The 7 samples have 1000 ns each, and thread 10 is blocked for 2000 ns. */
static void other_keys_divide_the_same_time(void)
{
	json_t *profile = profile_of(made_of(stacks, NULL, 7), "--by=symbol,cpu --comm=one"),
	       *rows = json_object_get(profile, "rows");

	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(profile, "by"), 1)), "cpu");
	CU_ASSERT_EQUAL(ns_of(rows, "symbol", "f", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "symbol", "g", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "symbol", "h", NULL), 2000);
	CU_ASSERT_EQUAL(ns_of(rows, "symbol", "(blocked, where is not known)", NULL), 2000);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "cpu")), "0");
	CU_ASSERT_EQUAL(sum_of(rows, "elapsed_ns"), number_of(profile, "elapsed_ns"));
	json_decref(profile);
	profile = profile_of(made_of(stacks, NULL, 7), "--by=dso,thread,exe,cgroup,line --comm=one");
	rows = json_object_get(profile, "rows");
	CU_ASSERT_EQUAL(ns_of(rows, "dso", "[kernel]", NULL), 6000);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "thread")), "one (10)");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "exe")), "one");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "line")), "(no line)");
	CU_ASSERT_EQUAL(sum_of(rows, "elapsed_ns"), number_of(profile, "elapsed_ns"));
	json_decref(profile);
}

static void wrong_keys_are_refused(void)
{
	static const struct {
		const char *option, *said;
	} wrong[] = {{"--by=exee", "did you mean exe?"},
		     {"--by=", "is none of its words"},
		     {"--by=exe,exe", "'exe' is given twice"},
		     {"--by=exe --callers=f", "another form of the profile"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char command[256], line[512] = "";
		FILE *pipe;

		snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer %s no.trace 2>&1", wrong[i].option);
		pipe = popen(command, "r");
		CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof(line), pipe));
		CU_ASSERT_EQUAL(pclose(pipe), 2 << 8);
		CU_ASSERT_PTR_NOT_NULL(strstr(line, wrong[i].said));
		if (!strstr(line, wrong[i].said))
			printf("\n    %s: %s", wrong[i].option, line);
	}
}

static void contexts_of_any_trace_add_up_to_the_elapsed_time(void)
{
	int nr_left = unit_step(5) > 1 ? 2 : 6;

	for (uint64_t seed = 1; nr_left; seed++) {
		CU_ASSERT_TRUE_FATAL(seed < 30);
		if (is_possible(seed)) {
			check_contexts(seed);
			nr_left--;
		}
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_function_that_calls_itself_counts_once),
		CASE(time_that_no_event_tells_is_a_row),
		CASE(callers_add_up_to_the_whole_time_of_a_function),
		CASE(callees_and_the_function_itself_add_up_to_its_whole_time),
		CASE(a_function_without_samples_has_no_callers),
		CASE(the_tree_has_callers_before_what_they_call),
		CASE(a_stack_that_was_cut_begins_with_what_is_known),
		CASE(a_walk_by_tables_tells_whether_the_stack_is_whole),
		CASE(a_function_that_only_calls_itself_is_one_line_of_the_tree),
		CASE(folded_stacks_are_a_line_each),
		CASE(forms_of_the_profile_exclude_each_other),
		CASE(a_difference_has_each_function_of_both_sides),
		CASE(recordings_of_other_lengths_are_scaled),
		CASE(a_flame_graph_is_a_page_that_needs_nothing_else),
		CASE(a_name_cannot_end_the_data_of_the_page),
		CASE(a_file_for_pprof_has_each_stack_with_its_times),
		CASE(other_keys_divide_the_same_time),
		CASE(wrong_keys_are_refused),
		CASE(contexts_of_any_trace_add_up_to_the_elapsed_time),
		{NULL, NULL},
	};

	return report_main("report_profile", cases, argc, argv);
}

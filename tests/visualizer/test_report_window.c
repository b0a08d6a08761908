/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_window.c - times by the wall clock, and the window that they choose */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "report_case.h"
#include "visualizer.h"

#define S	 1000000000ull
#define START_NS (1000 * S)

/*
 * 4 s from 22:13:20 UTC on 2023-11-14, the wall clock of every built trace. Thread 10 makes a call
 * at 0.5 s, 1.5 s, 2.5 s and 3.5 s; the numbers of the calls are 100 to 103.
 */
static struct tb *four_seconds(void)
{
	static const char *const names[] = {"at_half", "at_one", "at_two", "at_three"};
	struct tb *tb = tb_new();

	tb_window(tb, START_NS, START_NS + 4 * S);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (unsigned int i = 0; i < 4; i++) {
		tb_string(tb, TRACE_STRING_SYSCALL, 100 + i, names[i]);
		tb_sys_enter(tb, 0, START_NS + i * S + S / 2, 100 + i, 0);
		tb_sys_exit(tb, 0, START_NS + i * S + S / 2 + 1000, 0);
	}
	return tb;
}

static char four_path[] = "/tmp/report_window_XXXXXX";

static void write_four(void)
{
	struct tb *tb = four_seconds();
	int fd = mkstemp(four_path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

static int run_on_four(const char *zone, const char *options, char **ret_text)
{
	char arguments[512];

	setenv("TZ", zone, 1);
	snprintf(arguments, sizeof(arguments), "%s %s", options, four_path);
	return visualizer_run(arguments, ret_text);
}

/* Which of the four calls a list has: "0123" for all of them */
static void lists(const char *zone, const char *options, const char *wanted)
{
	static const char *const names[] = {"at_half", "at_one", "at_two", "at_three"};
	char *text, found[8] = "", all[512];

	snprintf(all, sizeof(all), "-d %s", options);
	CU_ASSERT_EQUAL(run_on_four(zone, all, &text), 0);
	for (int i = 0; i < 4; i++)
		if (strstr(text, names[i]))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%d", i);
	CU_ASSERT_STRING_EQUAL(found, wanted);
	if (strcmp(found, wanted) != 0)
		printf("\n--- %s %s: %s, not %s\n%s\n", zone, options, found, wanted, text);
	free(text);
}

static void a_time_is_from_the_start_before_the_end_or_by_the_wall_clock(void)
{
	lists("UTC", "--from=2", "23");
	lists("UTC", "--from=1.5s", "123");
	lists("UTC", "--from=1600ms --to=3s", "2");
	lists("UTC", "--to=600000us", "0");
	lists("UTC", "--from=-1s", "3");
	lists("UTC", "--from -2.6s --to -1s", "12");
	lists("UTC", "--from=-1h", "0123");
	lists("UTC", "--from=22:13:22", "23");
	lists("UTC", "--from=22:13:21.6 --to=22:13:23", "2");
	lists("UTC", "--from='2023-11-14 22:13:23'", "3");
	lists("UTC", "--from=2023-11-14T22:13:23", "3");
	lists("UTC", "--to=22:13:21", "0");
	lists("UTC", "--from=2023-11-14", "0123");
	lists("UTC", "--from=22:13 --to=22:14", "0123"); /* as exactly as typed: the minute overlaps */
}

static void a_window_around_a_time_has_both_ends(void)
{
	lists("UTC", "--around=22:13:21.5+-100ms", "1");
	lists("UTC",
	      "--around=22:13:21.5\302\261"
	      "100ms",
	      "1");
	lists("UTC", "--around=22:13:21+-600ms", "01");
	lists("UTC", "--around=2+-0.6", "12");
	lists("UTC", "--around=-1s+-600ms", "23");
	lists("UTC", "--around=22:13:19.9+-700ms", "0"); /* begins before the trace */
}

static void the_time_zone_is_the_readers(void)
{
	lists("EAT-3", "--from=01:13:22", "23");
	lists("EST5", "--from=17:13:22", "23");
	lists("EAT-3", "--from='2023-11-15 01:13:22'", "23");
}

static void a_time_may_have_its_zone(void)
{
	lists("EAT-3", "--from=2023-11-14T22:13:22Z", "23");
	lists("EAT-3", "--from=2023-11-14T22:13:21.499999Z --to=2023-11-14T22:13:22.4Z", "1");
	lists("EST5", "--from='2023-11-14 22:13:22 UTC'", "23");
	lists("UTC", "--from=2023-11-15T01:13:22+03:00", "23");
	lists("UTC", "--from=2023-11-15T03:43:22+0530", "23");
	lists("EAT-3", "--from=2023-11-14T17:13:22-05", "23");
	lists("EAT-3", "--around=22:13:21.5Z+-100ms", "1");
	lists("<-11>11", "--from=12:13:22+14:00", "23");
	lists("<+14>-14", "--from=11:13:22-11:00", "23");
}

/* In this zone the trace is from 23:59:58 to 00:00:02. */
static void a_window_may_cross_midnight(void)
{
	static const char zone[] = "LMT-1:46:38";

	lists(zone, "--from=23:59:59 --to=00:00:01", "12");
	lists(zone, "--from=00:00:00", "23");
	lists(zone, "--to=00:00:00", "01");
	lists(zone, "--around=00:00:00+-600ms", "12");
	lists(zone, "--from='2023-11-15 00:00:01'", "3");
}

static void a_time_outside_the_trace_says_its_range(void)
{
	static const struct {
		const char *options, *says;
	} cases[] = {
		{"-d --from=5", "--from is after the end of the trace, which is 4.000 s long, 2023-11-14 "
				"22:13:20.000000 to 22:13:24.000000 UTC\n"},
		{"-d --from=23:00", "--from is after the end of the trace, which is 4.000 s long, 2023-11-14 22:13:20"},
		{"-d --from=21:00", "--from is before the start of the trace, which is 4.000 s long, 2023-11-14 22"},
		{"-d --to=22:13:19", "--to is before the start of the trace"},
		{"-d --to=22:15", "--to is after the end of the trace"},
		{"-d --around=22:13:10+-1s", "--around is before the start of the trace"},
		{"-d --around=22:13:19+-900ms", "--around ends before the start of the trace, which is 4.000 s long"},
		{"-d --from=22:13:22+15:00", "option --from: '22:13:22+15:00' is not a time"},
		{"-d --from=22:13:22+3:00", "option --from: '22:13:22+3:00' is not a time"},
		{"-d --from=22:13:22+03:60", "option --from: '22:13:22+03:60' is not a time"},
		{"-d --from=22:13:22ZZ", "option --from: '22:13:22ZZ' is not a time"},
		{"-d --from='2024-11-14 22:13:22'", "--from is after the end of the trace"},
		{"-d --from=22:13:22 --to=22:13:21", "--from has to be before --to, and both in the trace"},
		{"-d --from=25:00", "option --from: '25:00' is not a time: 1.5 or 300ms after the start"},
		{"-d --from=1e3", "option --from: '1e3' is not a time"},
		{"-d --around=5", "option --around: '5' is not TIME+-SPAN, such as 23:06:41+-100ms"},
		{"-d --around=1+-1 --from=1", "is a second value"},
		{"-d --around=1+-1 --to=1", "--around has both ends of the window; leave out --to"},
		{"-d --time=day", "--time: \"day\" is none of its words (classic wall relative)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		CU_ASSERT_EQUAL(run_on_four("UTC", cases[i].options, &text), 2);
		contains(text, cases[i].says);
		CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

static void reports_show_the_wall_clock(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_four("UTC", "-s", &text), 0);
	contains(text, "Trace start time: (1700000000, 0)\n");
	contains(text, "Wall clock: 2023-11-14 22:13:20.000000 to 22:13:24.000000 UTC\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_four("LMT-1:46:38", "-a", &text), 0);
	CU_ASSERT_PTR_EQUAL(strstr(text, "2023-11-14 23:59:58.000000 to 2023-11-15 00:00:02.000000 LMT\n"), text);
	free(text);
}

static void a_list_shows_times_as_people_read_them(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_four("UTC", "-d --time=wall", &text), 0);
	contains(text, "\t22:13:21.500001 \tN/A \t8 \tRETURN");
	free(text);
	CU_ASSERT_EQUAL(run_on_four("UTC", "-d --time=relative --ns", &text), 0);
	contains(text, "\t1.500001000 \tN/A \t8 \tRETURN");
	free(text);
	CU_ASSERT_EQUAL(run_on_four("UTC", "-d --time=classic", &text), 0);
	contains(text, "\t1,700,000,001,500,001 \tN/A \t8 \tRETURN");
	free(text);
}

/* The disk completes a request 5.5 us after the start, 4 us after its issue. */
static void a_window_has_the_disk_requests_that_complete_in_it(void)
{
	static const char one[] = "[{'device':'vda','reads':1,'read_bytes':4096,'writes':0,'written_bytes':0,"
				  "'others':0,'requests_ns':4000,'requests_timed':1,'longest_ns':4000}]";
	static const struct {
		const char *options, *disks;
	} cases[] = {{"--from=5us", one}, {"--to=6us", one}, {"--to=5us", "[]"}, {"--from=6us", "[]"}};
	char options[64], *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(options, sizeof(options), "--json %s", cases[i].options);
		text = report_of(disk_story(), options);
		json_has(text, "disks", cases[i].disks);
		free(text);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_time_is_from_the_start_before_the_end_or_by_the_wall_clock),
		CASE(a_window_around_a_time_has_both_ends),
		CASE(the_time_zone_is_the_readers),
		CASE(a_time_may_have_its_zone),
		CASE(a_window_may_cross_midnight),
		CASE(a_time_outside_the_trace_says_its_range),
		CASE(reports_show_the_wall_clock),
		CASE(a_list_shows_times_as_people_read_them),
		CASE(a_window_has_the_disk_requests_that_complete_in_it),
		{NULL, NULL},
	};
	int status;

	write_four();
	status = report_main("report_window", cases, argc, argv);
	unlink(four_path);
	return status;
}

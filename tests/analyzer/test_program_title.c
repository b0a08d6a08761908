/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_program_title.c - the short titles of processes: base/program_title.c */
#include <stdio.h>
#include <string.h>
#include <trace/events.h>
#include "program_title.h"
#include "unit.h"

/* "|" stands for the separator. @title NULL: that is the comm. */
static const struct {
	const char *args, *comm, *title;
} cases[] = {
	{"python3|app.py", "python3", "python3 app.py"},
	{"/usr/bin/python3.11|-u|-W|ignore|/srv/shop/app.py|--port|80", "python3.11", "python3.11 app.py"},
	{"python3|-m|http.server|8000", "python3", "python3 -m http.server"},
	{"python3|-c|import os; os.fork()", "python3", "python3 -c"},
	{"python3|-uc|print(1)|x.py", "python3", "python3 -c"},
	{"/usr/bin/python3|./report.py", "report.py", "python3 report.py"},
	{"python3", "python3", NULL},
	{"python3|-", "python3", NULL},
	{"python3|-I|--|-odd.py", "python3", "python3 -odd.py"},
	{"pythonish|app.py", "pythonish", NULL},
	{"sh|hog.sh", "sh", "sh hog.sh"},
	{"/bin/sh|-e|-o|pipefail|/tmp/a b.sh|x", "sh", "sh a b.sh"},
	{"bash|-eo|pipefail|build.sh", "bash", "bash build.sh"},
	{"sh|-c|sleep 1; make", "sh", "sh -c"},
	{"-bash", "bash", NULL},
	{"java|-Xmx1g|-cp|lib/a.jar:lib/b.jar|com.example.Shop|--fast", "java", "java Shop"},
	{"/opt/jdk/bin/java|-jar|/srv/shop.jar", "java", "java shop.jar"},
	{"java|@options|Shop.java", "java", "java Shop.java"},
	{"java|-m|shop/com.example.Main", "java", "java Main"},
	{"node|--require|./trace.js|/srv/server.js", "MainThread", "node server.js"},
	{"perl|-lane|print $F[0]", "perl", "perl -e"},
	{"perl|-Mstrict|-I|lib|job.pl", "perl", "perl job.pl"},
	{"php|-f|/srv/cron.php", "php", "php cron.php"},
	{"postgres: 15/main: app shop 127.0.0.1(54321) idle", "postgres",
	 "postgres: 15/main: app shop 127.0.0.1(54321) idle"},
	{"nginx: worker process", "nginx", "nginx: worker process"},
	{"/usr/lib/systemd/systemd-timesyncd", "systemd-timesyn", "systemd-timesyncd"},
	{"/usr/lib/chromium/chromium --type=renderer --dir=/a/b", "chromium", NULL},
	{"", "kworker/0:1", NULL},
	{"", "", NULL},
	{"/usr/bin/make|-j2", "make", NULL},
	{"/usr/bin/make|-j2", "", "make"},
};

static char *separated(const char *args)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s", args);
	for (char *at = text; (at = strchr(at, '|'));)
		*at = TRACE_ARGS_SEPARATOR;
	return text;
}

static void the_title_is_what_people_call_it(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char title[PROGRAM_TITLE_BYTES] = "";
		bool has = program_title(separated(cases[i].args), false, cases[i].comm, title);

		CU_ASSERT_EQUAL(has, cases[i].title != NULL);
		if (strcmp(title, cases[i].title ? cases[i].title : "") != 0) {
			printf("\n%s: \"%s\"", cases[i].args, title);
			CU_FAIL("another title");
		}
	}
}

/* A script whose name is cut, or that comes after the cut, is unknown: the comm remains. */
static void a_cut_name_is_no_title(void)
{
	char title[PROGRAM_TITLE_BYTES];

	CU_ASSERT_FALSE(program_title(separated("python3|-u|/srv/very/long/ap"), true, "python3", title));
	CU_ASSERT_FALSE(program_title(separated("java|-cp|a.jar:b.ja"), true, "java", title));
	CU_ASSERT_TRUE(program_title(separated("python3|app.py|--names=a,b,c"), true, "python3", title));
	CU_ASSERT_STRING_EQUAL(title, "python3 app.py");
}

static void a_long_title_ends_with_a_whole_character(void)
{
	char args[256] = "x: ", title[PROGRAM_TITLE_BYTES];

	for (int i = 0; i < 40; i++)
		strcat(args, "\xc3\xa4");
	CU_ASSERT_TRUE(program_title(args, false, "x", title));
	CU_ASSERT_EQUAL(strlen(title), 63);
	strcpy(args + 1, ": ");
	strcat(args, "y");
	for (int i = 0; i < 40; i++)
		strcat(args, "\xc3\xa4");
	CU_ASSERT_TRUE(program_title(args, false, "x", title));
	CU_ASSERT_EQUAL(strlen(title), 62);
}

static void a_name_is_that_of_the_program_or_script(void)
{
	static const struct {
		const char *args, *comm, *name;
		bool is_called;
	} names[] = {
		{"/usr/bin/python3|/usr/bin/flask|run", "flask", "flask", true},
		{"python3|/srv/app.py|x.py", "python3", "app.py", true},
		{"python3|/srv/app.py|x.py", "python3", "python3", true},
		{"python3|/srv/app.py|x.py", "python3", "python3 app.py", true},
		{"python3|/srv/app.py|x.py", "python3", "x.py", false},
		{"python3|/srv/app.py", "python3", "pp.py", false},
		{"postgres: writer", "postgres", "postgres", true},
		{"postgres: writer", "postgres", "postgres: writer", true},
		{"java|com.example.Shop", "java", "Shop", true},
		{"/usr/lib/systemd-timesyncd", "systemd-timesyn", "systemd-timesyncd", true},
		{"/usr/bin/make", "make", "", false},
		{"", "kworker/0:1", "kworker/0:1", true},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_EQUAL(program_is_called(separated(names[i].args), false, names[i].comm, names[i].name),
				names[i].is_called);
}

/* Completions offer these. */
static void each_name_of_a_program_calls_it(void)
{
	static const struct {
		const char *args, *comm;
		size_t nr;
		const char *names[PROGRAM_NAMES];
	} programs[] = {
		{"/usr/bin/python3|/srv/app.py|x.py", "python3", 3, {"python3", "app.py", "python3 app.py"}},
		{"java|com.example.Shop", "java", 3, {"java", "Shop", "java Shop"}},
		{"postgres: writer", "postgres", 2, {"postgres", "postgres: writer"}},
		{"/usr/lib/systemd-timesyncd", "systemd-timesyn", 2, {"systemd-timesyncd", "systemd-timesyncd"}},
		{"/usr/bin/make|-j2", "make", 1, {"make"}},
		{"", "kworker/0:1", 0, {NULL}},
	};
	char names[PROGRAM_NAMES][PROGRAM_TITLE_BYTES];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *args = separated(programs[i].args);

		CU_ASSERT_EQUAL_FATAL(program_names(args, false, programs[i].comm, names), programs[i].nr);
		for (size_t k = 0; k < programs[i].nr; k++) {
			CU_ASSERT_STRING_EQUAL(names[k], programs[i].names[k]);
			CU_ASSERT_TRUE(program_is_called(args, false, programs[i].comm, names[k]));
		}
	}
}

/* A part of a script's name calls nothing: is_called() compares the whole. */
static void a_name_that_is_too_long_is_not_among_the_names(void)
{
	char args[160] = "python3|", names[PROGRAM_NAMES][PROGRAM_TITLE_BYTES];

	memset(args + strlen(args), 'a', 100);
	CU_ASSERT_EQUAL(program_names(separated(args), false, "python3", names), 2);
	for (size_t k = 0; k < 2; k++)
		CU_ASSERT_TRUE(program_is_called(separated(args), false, "python3", names[k]));
}

/* As pgrep -f, with blanks between the arguments. */
static void a_part_of_the_arguments_is_found(void)
{
	const char *args = separated("python3|/srv/app.py|x.py");

	CU_ASSERT_TRUE(program_args_have(args, "srv/app"));
	CU_ASSERT_TRUE(program_args_have(args, "app.py x.py"));
	CU_ASSERT_TRUE(program_args_have(args, "python3"));
	CU_ASSERT_FALSE(program_args_have(args, "x.py y"));
	CU_ASSERT_FALSE(program_args_have(args, ""));
	CU_ASSERT_FALSE(program_args_have("", "python3"));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases_of[] = {
		CASE(the_title_is_what_people_call_it),		CASE(a_cut_name_is_no_title),
		CASE(a_long_title_ends_with_a_whole_character), CASE(a_name_is_that_of_the_program_or_script),
		CASE(each_name_of_a_program_calls_it),		CASE(a_name_that_is_too_long_is_not_among_the_names),
		CASE(a_part_of_the_arguments_is_found),		{NULL, NULL},
	};

	return unit_main("program_title", cases_of, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_opreport.c - --profile=opreport: programs, symbols, details, callers, two traces, and
 * wrong command lines
 *
 * Thread 10 ("one") has five samples: two in f, two in g, which f called once, and one in code
 * without a name. Thread 20 ("two") has one in g.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "builder.h"
#include "file_case.h"
#include "sample_case.h"
#include "unit.h"

#define CODE	0xffffffff81000000ull
#define F	(CODE + 0x010)
#define F_LATER (CODE + 0x020)
#define G	(CODE + 0x110)
#define NOWHERE 0x1234567ull

static char one_path[64], two_path[64];

/* @more: samples in f beside those above. @two: the name of thread 20 */
static void write_trace(char *path, int more, const char *two)
{
	static const uint64_t samples[] = {F, F_LATER, G, G, NOWHERE};
	static const char *const names[] = {"f", "g"};
	struct tb *tb = tb_new();
	int fd;

	for (uint32_t i = 0; i < 2; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%llx 256 %s", CODE + 0x100 * i, names[i]);
		tb_string(tb, TRACE_STRING_KERNEL_CODE, i, text);
	}
	tb_thread(tb, 10, 10, 1, "one", 0, false);
	tb_thread(tb, 20, 20, 1, two, 1, false);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	tb_switch(tb, 1, 2000, 0, 20, 0);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct lists lists = {.nr_kernel = samples[i] == G && i == 3, .kernel = {F}};

		add_sample(tb, 0, 3000 + 10 * i, 10, samples[i], &lists);
	}
	for (int i = 0; i < more; i++)
		add_sample(tb, 0, 4000 + 10 * (uint64_t)i, 10, F, NULL);
	add_sample(tb, 1, 3000, 20, G, NULL);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 9000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	strcpy(path, "/tmp/test_opreport_XXXXXX");
	fd = mkstemp(path);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

/* All that it prints, on both streams. */
static const char *said(const char *options, int status)
{
	static char text[8192];
	char command[512];
	size_t bytes;
	FILE *pipe;

	snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer --profile=opreport %s 2>&1", options);
	pipe = popen(command, "r");
	bytes = fread(text, 1, sizeof(text) - 1, pipe);
	text[bytes] = '\0';
	CU_ASSERT_EQUAL(pclose(pipe), status << 8);
	return text;
}

static const char *of_one(const char *options)
{
	char words[256];

	snprintf(words, sizeof(words), "%s %s", options, one_path);
	return said(words, 0);
}

static void expect(const char *text, const char *wanted)
{
	CU_ASSERT_STRING_EQUAL(text, wanted);
	if (strcmp(text, wanted) != 0)
		printf("\n%s\n", text);
}

static void without_options_there_is_a_line_for_each_program(void)
{
	expect(of_one(""), "Counted TIMER: 6 samples\n"
			   "  samples|      %|\n"
			   "------------------\n"
			   "        5 83.3333 one\n"
			   "\t        4 80.0000 [kernel]\n"
			   "\t        1 20.0000 (in no file)\n"
			   "        1 16.6667 two\n"
			   "\t        1 100.0000 [kernel]\n");
	expect(of_one("-x -n"), "");
}

static void symbols_have_their_file_and_program(void)
{
	expect(of_one("-l -n"), "2        33.3333  [kernel]                 one                      f\n"
				"2        33.3333  [kernel]                 one                      g\n"
				"1        16.6667  (in no file)             one                      (no symbols)\n"
				"1        16.6667  [kernel]                 two                      g\n");
	expect(of_one("-l -n -i g,h -t 20"), "2        33.3333  [kernel]                 one                      g\n");
	expect(of_one("-l -n -e f,g -r"),
	       "1        16.6667  (in no file)             one                      (no symbols)\n");
	expect(of_one("-l -n -a -i f,g -t 17%"),
	       "2        2             33.3333  33.3333    [kernel]                 one                      f\n"
	       "2        4             33.3333  66.6667    [kernel]                 one                      g\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(of_one("-l"), "samples  %        image name               app name"));
	CU_ASSERT_PTR_NOT_NULL(strstr(of_one("-l -a"), "samples  cum. samples  %        cum. %     image name"));
}

static void details_are_addresses_and_lines(void)
{
	expect(of_one("-d -n -i f"), "2        33.3333  [kernel]                 one                      f\n"
				     "  ffffffff81000010  1        50.0000\n"
				     "  ffffffff81000020  1        50.0000\n");
	expect(of_one("-g -n -i f"),
	       "2        33.3333  (no line)                   [kernel]                 one                      f\n");
}

static void callers_stand_above_and_callees_below(void)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(of_one("-c -n -i f"), "2        33.3333  [kernel]                 f\n"
							    "  2        66.6667                           f [self]\n"
							    "  1        33.3333  [kernel]                 g\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(of_one("-c -n -i g"), "  1        33.3333  [kernel]                 f\n"
							    "3        50.0000  [kernel]                 g\n"));
}

static void two_traces_are_compared(void)
{
	char words[256];

	snprintf(words, sizeof(words), "-l -n { %s } { archive:%s }", one_path, two_path);
	expect(said(words, 0),
	       "6        60.0000  +200.0000  [kernel]                 one                      f\n"
	       "2        20.0000  +0.0000    [kernel]                 one                      g\n"
	       "1        10.0000  +0.0000    (in no file)             one                      (no symbols)\n"
	       "1        10.0000  +0.0000    [kernel]                 two                      g\n");
}

static void names_cannot_command_the_terminal(void)
{
	static const char *const forms[] = {"", "-l", "-d -g", "-c"};
	char path[64], words[256];

	write_trace(path, 0, "t\x1b[2Jwo");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(words, sizeof(words), "%s %s", forms[i], path);
		CU_ASSERT_PTR_NULL(strchr(said(words, 0), '\x1b'));
	}
	snprintf(words, sizeof(words), "-l { %s } { %s }", one_path, path);
	CU_ASSERT_PTR_NULL(strchr(said(words, 0), '\x1b'));
	CU_ASSERT_PTR_NOT_NULL(strstr(said(words, 0), "+++"));
	unlink(path);
}

static void wrong_command_lines_say_why(void)
{
	static const struct {
		const char *options, *why;
	} wrong[] = {
		{"", "no trace given"},
		{"a b", "argument b is one too many"},
		{"{ a } b", "argument b is one too many"},
		{"{ a }", "two traces are compared as { A } { B }"},
		{"{ a } }", "the braces are not those of"},
		{"-d { a } { b }", "are for one trace"},
		{"-c -d a", "exclude each other"},
		{"-t 101 a", "'101' is no percentage"},
		{"-t x a", "'x' is no percentage"},
		{"-i f -i g a", "'g' is a second list"},
		{"-e '' a", "'' is no symbol"},
		{"-z a", "unknown option -z"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *text = said(wrong[i].options, 2);

		CU_ASSERT_PTR_NOT_NULL(strstr(text, wrong[i].why));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "see tracevisualizer --profile=opreport --help\n"));
		CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		if (!strstr(text, wrong[i].why))
			printf("\n    %s: %s", wrong[i].options, text);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(without_options_there_is_a_line_for_each_program),
		CASE(symbols_have_their_file_and_program),
		CASE(details_are_addresses_and_lines),
		CASE(callers_stand_above_and_callees_below),
		CASE(two_traces_are_compared),
		CASE(names_cannot_command_the_terminal),
		CASE(wrong_command_lines_say_why),
		{NULL, NULL},
	};
	int result;

	write_trace(one_path, 0, "two");
	write_trace(two_path, 4, "two");
	result = unit_main("opreport", cases, argc, argv);
	unlink(one_path);
	unlink(two_path);
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_strace.c - system calls as strace(1) shows them: tracevisualizer --strace */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include "builder.h"
#include "call_arguments.h"
#include "report_case.h"
#include "syscall_table.h"
#include "unit.h"
#include "visualizer.h"

static const char *const names[] = {[SYS_read] = "read", [SYS_write] = "write", [SYS_openat] = "openat",
				    [SYS_mmap] = "mmap", [SYS_wait4] = "wait4", [SYS_exit_group] = "exit_group"};

/* Process 10 on CPU 0 and its thread 11 on CPU 1. */
static struct tb *make_two_threads(void)
{
	struct tb *tb = tb_new();

	for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i])
			tb_string(tb, TRACE_STRING_SYSCALL, i, names[i]);
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	tb_thread(tb, 11, 10, 1, "worker", 1, true);
	return tb;
}

static void each_row_of_the_table_is_of_a_call_and_has_its_arguments(void)
{
	struct call_meaning call;
	const char *name;

	for (size_t i = 0; (name = call_meaning_name(i)); i++) {
		const struct syscall_row *row = syscall_row_find(name, false);

		CU_ASSERT(call_meaning_make(name, false, &call));
		CU_ASSERT_PTR_NOT_NULL_FATAL(row);
		if (call.nr_arguments != strlen(row->arguments))
			fprintf(stderr, "%s\n", name);
		CU_ASSERT_EQUAL(call.nr_arguments, strlen(row->arguments));
		for (unsigned int arg = 0; arg < call.nr_arguments; arg++) {
			bool is_memory = call.arguments[arg].kind == KIND_MEMORY ||
					 call.arguments[arg].kind == KIND_OTHER_MEMORY;

			CU_ASSERT_EQUAL(call.arguments[arg].kind == KIND_PATH, row->arguments[arg] == 'p');
			CU_ASSERT(is_memory || row->arguments[arg] != 'a');
		}
	}
}

static void a_call_that_another_thread_interrupts_is_two_lines(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
	tb_sys_enter(tb, 1, 2000, SYS_write, 1, 1, 5);
	tb_sys_exit(tb, 1, 3000, 5);
	tb_sys_exit(tb, 0, 4000, -11);
	text = report_of(tb, "--strace -fT");
	contains(text, "read(3,  <unfinished ...>\n");
	contains(text, "[pid    11] write(1, ..., 5)            = 5 <0.000001>\n");
	contains(text, "<... read resumed>..., 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000003>\n");
	free(text);
}

static void flags_have_names_and_other_values_stay_numbers(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_openat, AT_FDCWD, 1, O_WRONLY | O_CREAT | 0x40000000, 0640);
	tb_sys_path(tb, 0, 1000, SYS_openat, "a\n\"file\"");
	tb_sys_exit(tb, 0, 2000, 3);
	tb_sys_enter(tb, 0, 3000, SYS_mmap, 0, 4096, 0, 0x22, -1, 0);
	tb_sys_exit(tb, 0, 4000, 0x7f0000000000);
	text = report_of(tb, "--strace");
	contains(text, "openat(AT_FDCWD, \"a\\n\\\"file\\\"\", O_WRONLY|O_CREAT|0x40000000, 0640) = 3\n");
	contains(text, "mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000\n");
	free(text);
}

static void a_set_chooses_calls_and_an_end_does(void)
{
	static const struct {
		const char *options;
		bool reads, writes;
	} cases[] = {{"-e read", true, false},
		     {"-e trace=write", false, true},
		     {"-e '!read'", false, true},
		     {"-e %desc", true, true},
		     {"-e %file", false, false},
		     {"-e /^wr/", false, true},
		     {"-e status=failed", true, false},
		     {"-z", false, true},
		     {"-Z", true, false},
		     {"-e read,%file", true, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = make_two_threads();
		char options[64], *text;

		tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
		tb_sys_exit(tb, 0, 2000, -9);
		tb_sys_enter(tb, 0, 3000, SYS_write, 1, 1, 5);
		tb_sys_exit(tb, 0, 4000, 5);
		snprintf(options, sizeof(options), "--strace %s", cases[i].options);
		text = cases[i].reads || cases[i].writes ? report_of(tb, options) : refusal_of(tb, options);
		CU_ASSERT_EQUAL(strstr(text, "read(3") != NULL, cases[i].reads);
		CU_ASSERT_EQUAL(strstr(text, "write(1") != NULL, cases[i].writes);
		free(text);
	}
}

static void an_exit_has_its_status_and_the_table_its_calls(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
	tb_sys_exit(tb, 0, 2000, -9);
	tb_sys_enter(tb, 0, 3000, SYS_exit_group, 3);
	tb_add(tb, 0, 4000, sched_exit, NULL, .tid = 10, .tgid = 10, .code = 3 << 8);
	text = report_of(tb, "--strace -C -w -p10");
	contains(text, "read(3, ..., 100)                       = -1 EBADF (Bad file descriptor)\n");
	contains(text, "exit_group(3)                           = ?\n+++ exited with 3 +++\n");
	contains(text, "100.00    0.000001           1         1         1 read\n");
	CU_ASSERT_PTR_NULL(strstr(text, " exit_group\n"));
	free(text);
}

static void a_wrong_option_is_one_line(void)
{
	static const struct {
		const char *options, *message;
	} cases[] = {{"--strace -e raed", "'raed' is no system call; did you mean read?"},
		     {"--strace -e '/(/'", "'/(/' is not a regular expression between two /"},
		     {"--strace -e inject=read:error=EIO", "changes a running program"},
		     {"--strace -S tim", "\"tim\" is none of its words; did you mean"},
		     {"--strace -p one", "'one' is not a list of process ids"},
		     {"--strace -e signal=NONE", "'NONE' is no signal"},
		     {"--strace -ff", "name it with -o FILE"},
		     {"--strace -d", "--strace cannot be combined"},
		     {"--strace --add-columns=cpu,gpu", "\"gpu\" is none of its words"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text, options[96];

		snprintf(options, sizeof(options), "%s", cases[i].options);
		CU_ASSERT_NOT_EQUAL(run_on_trace(options, &text), 0);
		contains(text, cases[i].message);
		CU_ASSERT_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_row_of_the_table_is_of_a_call_and_has_its_arguments),
		CASE(a_call_that_another_thread_interrupts_is_two_lines),
		CASE(flags_have_names_and_other_values_stay_numbers),
		CASE(a_set_chooses_calls_and_an_end_does),
		CASE(an_exit_has_its_status_and_the_table_its_calls),
		CASE(a_wrong_option_is_one_line),
		{NULL, NULL},
	};

	return report_main("strace", cases, argc, argv);
}

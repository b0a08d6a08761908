/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_gmon.c - gmon.out of counts and functions that the test knows, as the real gprof shows it
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gmon_arcs.h"
#include "gmon_counts.h"
#include "gmon_file.h"
#include "kernel_symbols.h"
#include "unit.h"

static char folder[] = "/tmp/test_gmon_XXXXXX";

/* As in /proc/kallsyms: in no order, with data and a module. */
static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81003000 t vmstat_update\n"
			      "ffffffff81000100 T do_syscall_64\n"
			      "ffffffff81000200 T x64_sys_call\n"
			      "ffffffff81000300 t __x64_sys_newfstat\n"
			      "ffffffff81000400 t __x64_sys_read\n"
			      "ffffffff81000500 t read_zero.isra.0\n"
			      "ffffffff81000600 t handle_softirqs\n"
			      "ffffffff81000700 t net_rx_action\n"
			      "ffffffff81000800 t process_one_work\n"
			      "ffffffff81000900 t asm_sysvec_apic_timer_interrupt\n"
			      "ffffffff81000a00 t sysvec_apic_timer_interrupt\n"
			      "ffffffff81000b00 t __handle_irq_event_percpu\n"
			      "ffffffff81000c00 t call_timer_fn.constprop.0\n"
			      "ffffffff81003100 T _etext\n"
			      "ffffffff82000000 d data\n"
			      "ffffffffc0000000 t disk_done\t[disk]\n"
			      "ffffffffc0000200 t disk_exit\t[disk]\n";

/* 1000 samples a second. */
static const char head[] = "period 1000000\nmixed 0\nevents 0\nnot_counted 0\n";

static int read_text(struct gmon_counts *counts, const char *lines)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);
	int err = write(fd, lines, strlen(lines)) == (ssize_t)strlen(lines) ? 0 : -1;

	if (!err)
		err = gmon_counts_read(counts, fd, NULL);
	close(fd);
	return err;
}

static off_t room_bytes;    /* for each file; 0: no limit */
static int result_of_write; /* of gmon_files_write() */

/* gmon.out and gmon.syms of @lines behind @begin. */
static struct gmon_numbers write_gmon(const char *begin, const char *lines, uint64_t *ret_nameless)
{
	struct kernel_symbols list = {0};
	struct gmon_counts counts = {0};
	struct gmon_arcs arcs = {0};
	struct gmon_numbers numbers = {0};
	struct rlimit old;
	FILE *file = fopen("kallsyms", "w");
	char text[4096];

	fputs(symbols, file);
	fclose(file);
	snprintf(text, sizeof(text), "%s%s", begin, lines);
	CU_ASSERT_EQUAL_FATAL(kernel_symbols_read(&list, "kallsyms", NULL), 0);
	CU_ASSERT_EQUAL_FATAL(read_text(&counts, text), 0);
	CU_ASSERT_EQUAL_FATAL(gmon_arcs_make(&arcs, &counts, &list), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	if (room_bytes)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = (rlim_t)room_bytes, .rlim_max = old.rlim_max});
	result_of_write = gmon_files_write(&counts, &arcs, &list, &numbers, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	*ret_nameless = arcs.nameless;
	gmon_counts_free(&counts);
	gmon_arcs_free(&arcs);
	kernel_symbols_clear(&list);
	return numbers;
}

/* Does a line of gprof match the extended regular expression? */
static void gprof_shows(const char *option, const char *expression)
{
	char command[512];
	int status;

	snprintf(command, sizeof(command), "gprof -b %s -S gmon.syms /bin/true gmon.out 2>&1 | grep -Eq '%s'", option,
		 expression);
	status = system(command);
	if (status) {
		printf("gprof %s does not show %s:\n", option, expression);
		snprintf(command, sizeof(command), "gprof -b %s -S gmon.syms /bin/true gmon.out", option);
		CU_ASSERT_NOT_EQUAL(system(command), -1);
		CU_FAIL("another output");
	}
}

static void samples_are_times_of_functions(void)
{
	uint64_t nameless;
	struct gmon_numbers numbers =
		write_gmon(head,
			   "sample ffffffff81000500 3 3000000\nsample ffffffff810005ff 2000 2000000000\n"
			   "sample ffffffff81000600 500 500000000\nsample ffffffffc0000010 10 10000000\n"
			   "sample ffffffffd0000000 7 7000000\n",
			   &nameless);

	CU_ASSERT_EQUAL(numbers.samples, 2513);
	CU_ASSERT_EQUAL(numbers.nameless, 7);
	gprof_shows("-p", "^ *79\\.[67][0-9]* +2\\.00 +2\\.00 +read_zero\\.isra\\.0$");
	gprof_shows("-p", " 0\\.50 +handle_softirqs$");
	gprof_shows("-p", " 0\\.01 +disk_done\\[disk\\]$");
	gprof_shows("-p", "^Each sample counts as 0\\.001 seconds\\.$");
}

/* 65535 is the highest number of a bin, 4294967295 that of an arc. */
static void counts_are_not_saturated(void)
{
	uint64_t nameless;

	write_gmon(head,
		   "sample ffffffff81000500 200005 200005000000\nsample ffffffff81000501 1 1000000\n"
		   "call read 6000000007\n",
		   &nameless);
	CU_ASSERT_EQUAL(nameless, 0);
	gprof_shows("-p", " 200\\.01 +200\\.01 +read_zero");
	gprof_shows("-q", " 6000000007/6000000007 +__x64_sys_read \\[");
}

static void calls_are_those_of_the_kernel(void)
{
	uint64_t nameless;

	write_gmon(head,
		   "sample ffffffff81000400 5 5000000\nsample ffffffff81003001 5 5000000\ncall read 5\ncall fstat "
		   "7\ncall tuxcall 2\nsoftirq 3 11\nvector 0 13\nirq ffffffffc0000000 17\n"
		   "timer ffffffff81003000 19\nwork ffffffff81003000 23\n",
		   &nameless);
	CU_ASSERT_EQUAL(nameless, 2);
	gprof_shows("-q", " 5/5 +__x64_sys_read \\[");
	gprof_shows("-q", " 7/7 +__x64_sys_newfstat \\[");
	gprof_shows("-q", " 14/14 +x64_sys_call \\[");
	gprof_shows("-q", " 11/11 +handle_softirqs \\[");
	gprof_shows("-q", " 13/13 +asm_sysvec_apic_timer_interrupt \\[");
	gprof_shows("-q", " 17/17 +__handle_irq_event_percpu \\[");
	gprof_shows("-q", " 19/42 +vmstat_update \\[");
	gprof_shows("-q", " 23/42 +vmstat_update \\[");
}

/* 100 samples of 10 ms and 300 of 1 ms are 1.3 s. */
static void samples_of_several_periods_add_up(void)
{
	uint64_t nameless;

	write_gmon("period 1000000\nmixed 1\nevents 0\nnot_counted 0\n",
		   "sample ffffffff81000500 100 1000000000\nsample ffffffff81000520 300 300000000\n", &nameless);
	gprof_shows("-p", " 1\\.30 +1\\.30 +read_zero");
}

static void samples_of_events_are_no_times(void)
{
	uint64_t nameless;

	write_gmon("period 20\nmixed 0\nevents 1\nnot_counted 0\n", "sample ffffffff81000500 42 840\n", &nameless);
	gprof_shows("-p", "^Each sample counts as 1 samples\\.$");
	gprof_shows("-p", " 42\\.00 +42\\.00 +read_zero");
}

/* The bytes of gmon.out and gmon.syms, and the number of files in the folder. */
struct files {
	off_t out, list;
	unsigned int nr;
};

static struct files files_now(void)
{
	struct stat out = {0}, list = {0};
	FILE *names = popen("ls | wc -l", "r");
	struct files files = {0};

	CU_ASSERT(stat(GMON_FILE, &out) == 0 && stat(GMON_LIST, &list) == 0 && fscanf(names, "%u", &files.nr) == 1);
	pclose(names);
	files.out = out.st_size;
	files.list = list.st_size;
	return files;
}

/* First there is no room for gmon.out, then none for the list of symbols either. */
static void a_disk_that_is_full_leaves_the_old_files(void)
{
	struct files before, after;
	uint64_t nameless;

	write_gmon(head, "sample ffffffff81000500 42 840\n", &nameless);
	CU_ASSERT_EQUAL(result_of_write, 0);
	before = files_now();
	signal(SIGXFSZ, SIG_IGN);
	for (room_bytes = before.list; room_bytes >= before.list - 1; room_bytes--) {
		write_gmon(head, "sample ffffffff81000400 7 140\nsample ffffffff81000500 7 140\n", &nameless);
		CU_ASSERT_EQUAL(result_of_write, -EFBIG);
	}
	room_bytes = 0;
	after = files_now();
	CU_ASSERT_EQUAL(after.out, before.out);
	CU_ASSERT_EQUAL(after.list, before.list);
	CU_ASSERT_EQUAL(after.nr, before.nr);
}

static void other_versions_are_refused(void)
{
	struct gmon_counts counts = {0};

	CU_ASSERT_EQUAL(read_text(&counts, "period 5\nglyph 7 8\n"), -74);
	gmon_counts_free(&counts);
	CU_ASSERT_EQUAL(read_text(&counts, ""), -74);
	gmon_counts_free(&counts);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(samples_are_times_of_functions), CASE(counts_are_not_saturated),
		CASE(calls_are_those_of_the_kernel),  CASE(samples_of_several_periods_add_up),
		CASE(samples_of_events_are_no_times), CASE(a_disk_that_is_full_leaves_the_old_files),
		CASE(other_versions_are_refused),     {NULL, NULL}};
	char remove[128];
	int status;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	status = unit_main("gmon", cases, argc, argv);
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	return system(remove) ? 1 : status;
}

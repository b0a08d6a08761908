/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_failed_reads.c - a part of a file, or of the output of objdump, does not look like the whole
 * if a read of the rest fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failing_stream.h"
#include "kernel_symbols.h"
#include "objdump.h"
#include "readprofile.h"
#include "source_lines.h"
#include "unit.h"

static char path[] = "/tmp/failed_reads_XXXXXX";

static void write_file(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void a_part_of_a_map_is_no_map(void)
{
	struct kernel_symbols list = {0};
	struct trace_error error = {0};

	write_file("ffffffff81000000 T _stext\nffffffff81000100 T one\nffffffff81000200 T two\n");
	CU_ASSERT_EQUAL(kernel_symbols_read(&list, path, NULL), 0);
	CU_ASSERT_EQUAL(list.nr, 3);
	kernel_symbols_clear(&list);
	streams_fail_after(50);
	CU_ASSERT_EQUAL(kernel_symbols_read(&list, path, &error), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Input/output error"));
	kernel_symbols_clear(&list);
	streams_fail_after(0);
}

/* Lines are parsed in a buffer of some KiB: they cross its end at every place, and the last one has
 * no end. */
static void a_map_is_read_line_by_line_at_any_length(void)
{
	enum { NR = 6000, LONGEST = 200 };
	size_t room = (size_t)NR * (LONGEST + 24), at = 0, same = 0;
	char *text = malloc(room), name[LONGEST + 8];
	struct kernel_symbols list = {0};

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (int i = 0; i < NR; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%016x %c f%0*d%s", i ? "\n" : "", 0x1000 + i,
				       "tTwW"[i % 4], i % LONGEST + 1, i, i % 7 ? "" : "\t[module]");
	write_file(text);
	CU_ASSERT_EQUAL_FATAL(kernel_symbols_read(&list, path, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(list.nr, NR);
	for (int i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "f%0*d", i % LONGEST + 1, i);
		same += list.symbols[i].address == 0x1000u + (unsigned int)i &&
			!strncmp(kernel_symbols_name(&list, (size_t)i), name, strlen(name)) &&
			!strcmp(kernel_symbols_name(&list, (size_t)i) + strlen(name), i % 7 ? "" : " [module]");
	}
	CU_ASSERT_EQUAL(same, NR);
	kernel_symbols_clear(&list);
	write_file("ffffffff81000000 T _stext\nffffffff81000100\nffffffff81000100 T\nffffffff81000100 T \n\n"
		   "ffffffff81000100 d data\nffffffff81000200 T one\nffffffff81000300 T _etext\nffffffff8100");
	CU_ASSERT_EQUAL(kernel_symbols_read(&list, path, NULL), 0);
	CU_ASSERT_EQUAL(list.nr, 3);
	CU_ASSERT_EQUAL(list.begin, 0xffffffff81000000);
	CU_ASSERT_EQUAL(list.end, 0xffffffff81000300);
	kernel_symbols_clear(&list);
	free(text);
}

static void a_part_of_the_counters_is_no_profile(void)
{
	static const struct kernel_rows rows = {.begin = 0x1000, .end = 0x1000};
	struct hits hits = {0};
	struct trace_error error = {0};
	uint32_t counters[5000] = {1};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	counters[0] = 4;
	CU_ASSERT_EQUAL(write(fd, counters, sizeof(counters)), (ssize_t)sizeof(counters));
	close(fd);
	CU_ASSERT_EQUAL(hits_of_file(&hits, path, &rows, true, NULL), 0);
	hits = (struct hits){0};
	streams_fail_after(8192);
	CU_ASSERT_EQUAL(hits_of_file(&hits, path, &rows, true, &error), -EIO);
	streams_fail_after(0);
}

static void missing_lines_of_a_source_are_told(void)
{
	struct source_lines sources = {0};

	write_file("one\ntwo\nthree\n");
	CU_ASSERT_STRING_EQUAL(source_line(&sources, path, 3), "three");
	CU_ASSERT_EQUAL(sources.error, 0);
	source_lines_clear(&sources);
	sources = (struct source_lines){0};
	streams_fail_after(8);
	CU_ASSERT_STRING_EQUAL(source_line(&sources, path, 3), "");
	CU_ASSERT_EQUAL(sources.error, -EIO);
	source_lines_clear(&sources);
	streams_fail_after(0);
}

static bool count_line(void *context, const struct objdump_line *line)
{
	(*(unsigned int *)context)++;
	return true;
}

static void a_part_of_the_instructions_is_not_all_of_them(void)
{
	struct trace_error error = {0};
	unsigned int nr = 0, part = 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CU_ASSERT_EQUAL(objdump_run(fd, 0, count_line, &nr, NULL), 0);
	streams_fail_after(100000);
	CU_ASSERT_EQUAL(objdump_run(fd, 0, count_line, &part, &error), -EIO);
	CU_ASSERT(part < nr);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Input/output error"));
	streams_fail_after(0);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_part_of_a_map_is_no_map),
		CASE(a_map_is_read_line_by_line_at_any_length),
		CASE(a_part_of_the_counters_is_no_profile),
		CASE(missing_lines_of_a_source_are_told),
		CASE(a_part_of_the_instructions_is_not_all_of_them),
		{NULL, NULL},
	};
	int result;

	close(mkstemp(path));
	result = unit_main("failed reads", cases, argc, argv);
	unlink(path);
	return result;
}

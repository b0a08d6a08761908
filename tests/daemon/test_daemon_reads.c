/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_daemon_reads.c - what tracectl and kgmon read, if the rest of it cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "control.h"
#include "failing_stream.h"
#include "gcov_objects.h"
#include "gmon_arcs.h"
#include "gmon_counts.h"
#include "gmon_file.h"
#include "kernel_symbols.h"
#include "no_memory.h"
#include "process_name.h"
#include "read_end.h"
#include "unit.h"
#include "user_find.h"

static const char lines[] = "period 1000000\nmixed 0\nevents 0\nnot_counted 0\n";

static void a_part_of_the_counts_is_an_error(void)
{
	struct gmon_counts counts = {0};
	struct trace_error error = {0};
	int fd = memfd_create("counts", MFD_CLOEXEC);

	CU_ASSERT_EQUAL(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, NULL), 0);
	gmon_counts_free(&counts);
	streams_fail_after(30);
	CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, &error), -EIO);
	CU_ASSERT_STRING_EQUAL(error.message, "the counts cannot be read: Input/output error");
	gmon_counts_free(&counts);
	streams_fail_after(0);
	close(fd);
}

static const char more_lines[] = "period 1000000\nmixed 0\nevents 0\nnot_counted 0\n"
				 "sample ffffffff81000500 3 3000000\nsample ffffffff81000540 2 2000000\n"
				 "sample ffffffff81000580 1 1000000\n";

/* Each byte of the counts may be the last one that can be read. */
static void any_part_of_the_counts_is_an_error(void)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);

	CU_ASSERT_EQUAL(write(fd, more_lines, strlen(more_lines)), (ssize_t)strlen(more_lines));
	for (size_t bytes = 1; bytes <= strlen(more_lines); bytes++) {
		struct gmon_counts counts = {0};
		struct trace_error error = {0};

		streams_fail_after(bytes);
		CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, &error), -EIO);
		CU_ASSERT_STRING_EQUAL(error.message, "the counts cannot be read: Input/output error");
		gmon_counts_free(&counts);
	}
	streams_fail_after(0);
	close(fd);
}

/* The counts and the calls of functions that they become. */
static int counts_and_arcs(int fd, size_t *ret_nr)
{
	struct kernel_symbols symbols = {0};
	struct gmon_counts counts = {0};
	struct gmon_arcs arcs = {0};
	int result = gmon_counts_read(&counts, fd, NULL);

	*ret_nr = counts.nr;
	if (!result)
		result = gmon_arcs_make(&arcs, &counts, &symbols);
	gmon_arcs_free(&arcs);
	gmon_counts_free(&counts);
	return result;
}

static void counts_without_memory_are_whole_or_an_error(void)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);
	size_t nr_whole, nr;
	long nr_failed = 0;

	CU_ASSERT_EQUAL(write(fd, more_lines, strlen(more_lines)), (ssize_t)strlen(more_lines));
	CU_ASSERT_EQUAL(counts_and_arcs(fd, &nr_whole), 0);
	CU_ASSERT_EQUAL(nr_whole, 3);
	for (int and_after = 0; and_after < 2; and_after++) {
		bool struck = true;

		for (long at = 1; struck; at++) {
			int result;

			no_memory_at(at, and_after);
			result = counts_and_arcs(fd, &nr);
			struck = no_memory_struck();
			no_memory_at(0, false);
			CU_ASSERT(result == -ENOMEM || (!result && nr == nr_whole));
			nr_failed += result == -ENOMEM;
		}
	}
	CU_ASSERT(nr_failed >= 4);
	close(fd);
}

/* A file of the current folder, or "" */
static const char *text_of_file(const char *name)
{
	static char text[2][4096];
	static int other;
	FILE *file = fopen(name, "re");
	size_t bytes = 0;

	other = !other;
	if (file) {
		bytes = fread(text[other], 1, sizeof(text[other]) - 1, file);
		CU_ASSERT_EQUAL(read_end(file), 0);
	}
	memset(text[other] + bytes, 0, sizeof(text[other]) - bytes);
	return text[other];
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	CU_ASSERT_EQUAL(fclose(file), 0);
}

/* Writes gmon.out without the @at-th allocation. True: an allocation has failed. */
static bool write_profile(const struct gmon_counts *counts, const struct kernel_symbols *symbols, long at,
			  bool and_after, int *ret_result)
{
	static const struct gmon_arcs none;
	struct gmon_numbers numbers = {0};
	struct trace_error error = {0};
	bool struck;

	write_file(GMON_FILE, "old");
	write_file(GMON_LIST, "old");
	no_memory_at(at, and_after);
	*ret_result = gmon_files_write(counts, &none, symbols, &numbers, &error);
	struck = no_memory_struck();
	no_memory_at(0, false);
	CU_ASSERT_EQUAL(*ret_result ? 0 : 3, numbers.functions);
	CU_ASSERT(!*ret_result == !*error.message);
	return struck;
}

static void write_profiles(const struct gmon_counts *counts, const struct kernel_symbols *symbols)
{
	char whole[4096], list[4096];
	long nr_failed = 0;
	int result;

	write_profile(counts, symbols, 0, false, &result);
	CU_ASSERT_EQUAL(result, 0);
	memcpy(whole, text_of_file(GMON_FILE), sizeof(whole));
	memcpy(list, text_of_file(GMON_LIST), sizeof(list));
	CU_ASSERT_STRING_NOT_EQUAL(list, "old");
	for (int and_after = 0; and_after < 2; and_after++)
		for (long at = 1; write_profile(counts, symbols, at, and_after, &result); at++) {
			CU_ASSERT(result == 0 || result == -ENOMEM);
			CU_ASSERT(result ? !strcmp(text_of_file(GMON_FILE), "old") &&
						   !strcmp(text_of_file(GMON_LIST), "old")
					 : !memcmp(text_of_file(GMON_FILE), whole, sizeof(whole)) &&
						   !strcmp(text_of_file(GMON_LIST), list));
			nr_failed += result == -ENOMEM;
		}
	CU_ASSERT(nr_failed >= 14); /* also the bins and the sums of each of the three functions */
}

static void a_profile_without_memory_is_whole_or_an_error(void)
{
	static const char names[] = "ffffffff81000500 T one\nffffffff81000540 T two\nffffffff81000580 T three\n"
				    "ffffffff81000600 T _etext\n";
	char folder[] = "/tmp/test_daemon_reads_XXXXXX";
	int fd = memfd_create("counts", MFD_CLOEXEC), before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct kernel_symbols symbols = {0};
	struct gmon_counts counts = {0};

	CU_ASSERT_FATAL(mkdtemp(folder) && before >= 0 && chdir(folder) == 0);
	CU_ASSERT_EQUAL(write(fd, more_lines, strlen(more_lines)), (ssize_t)strlen(more_lines));
	CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, NULL), 0);
	write_file("names", names);
	CU_ASSERT_EQUAL(kernel_symbols_read(&symbols, "names", NULL), 0);
	write_profiles(&counts, &symbols);
	unlink("names");
	unlink(GMON_FILE);
	unlink(GMON_LIST);
	CU_ASSERT_EQUAL(fchdir(before), 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing else was left */
	kernel_symbols_clear(&symbols);
	gmon_counts_free(&counts);
	close(before);
	close(fd);
}

static void a_part_of_the_mappings_is_an_error(void)
{
	struct gcov_object *objects;
	struct trace_error error = {0};
	struct gcov_missing missing;
	size_t nr;

	CU_ASSERT_EQUAL(gcov_objects_find(getpid(), &objects, &nr, &missing, NULL), 0);
	gcov_objects_free(objects, nr);
	streams_fail_after(200);
	CU_ASSERT_EQUAL(gcov_objects_find(getpid(), &objects, &nr, &missing, &error), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Input/output error"));
	streams_fail_after(0);
}

/* getline() has no memory for the first mapping: the process has no other ones, either. */
static void a_list_of_mappings_without_memory_is_no_end(void)
{
	struct gcov_object *objects;
	struct trace_error error = {0};
	struct gcov_missing missing;
	size_t nr;

	for (long at = 1; at < 4; at++) {
		int result;

		no_memory_at(at, true);
		result = gcov_objects_find(getpid(), &objects, &nr, &missing, &error);
		no_memory_at(0, false);
		CU_ASSERT_EQUAL(result, -ENOMEM);
	}
}

static void name_itself(void *context, int fd, struct user_identity *identity)
{
	(void)context;
	(void)identity;
	close(fd);
}

/* The process or program that is looked for may be in the rest. */
static void a_part_of_the_processes_is_an_error(void)
{
	struct trace_error error = {0};
	pid_t pid = 0;

	CU_ASSERT_EQUAL(user_find_programs(name_itself, NULL), 0);
	CU_ASSERT_EQUAL(process_of_name("no such process", &pid, &error), -EINVAL);
	folders_fail_after(4);
	CU_ASSERT_EQUAL(user_find_programs(name_itself, NULL), -EIO);
	folders_fail_after(4);
	CU_ASSERT_EQUAL(process_of_name("no such process", &pid, &error), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/proc cannot be read"));
	folders_fail_after(0);
	CU_ASSERT_EQUAL(pid, 0);
}

/* The child that opens files has the arguments of its parent, and is none that a user asks for. */
static void the_child_that_opens_files_is_not_found(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char name[4096] = "";
	struct trace_error error = {0};
	pid_t pid = 0;

	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT(fread(name, 1, sizeof(name) - 1, file) > 0);
	CU_ASSERT_EQUAL(read_end(file), 0);
	CU_ASSERT_EQUAL(process_of_name(name, &pid, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no process is called"));
	CU_ASSERT_EQUAL(pid, 0);
}

/* SECURITY: a user that could not be read is not root, number 0. */
static void a_part_of_a_status_has_no_owner(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	uid_t uid = 1;
	gid_t gid;
	size_t before = 0;

	while (file && fgets(line, sizeof(line), file) && strncmp(line, "Uid:", 4) != 0)
		before += strlen(line);
	CU_ASSERT_EQUAL(read_end(file), 0);
	CU_ASSERT(user_find_owner(getpid(), &uid, &gid) && uid == geteuid());
	if (geteuid())
		return; /* the folder's owner tells */
	streams_fail_after(before);
	CU_ASSERT(user_find_owner(getpid(), &uid, &gid) && uid == (uid_t)-1);
	streams_fail_after(0);
}

static void a_search_for_other_daemons_without_memory_finds_none(void)
{
	char path[CONTROL_PATH_BYTES + 16];

	for (long at = 1; at < 40; at++)
		for (int and_after = 0; and_after < 2; and_after++) {
			bool found;

			no_memory_at(at, and_after);
			found = control_other(path);
			no_memory_at(0, false);
			CU_ASSERT(!found || *path == '/');
		}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_part_of_the_counts_is_an_error),
		CASE(any_part_of_the_counts_is_an_error),
		CASE(counts_without_memory_are_whole_or_an_error),
		CASE(a_profile_without_memory_is_whole_or_an_error),
		CASE(a_part_of_the_mappings_is_an_error),
		CASE(a_part_of_a_status_has_no_owner),
		CASE(a_list_of_mappings_without_memory_is_no_end),
		CASE(a_search_for_other_daemons_without_memory_finds_none),
		/* they look at all processes, and those of other tests may not answer */
		CASE(a_part_of_the_processes_is_an_error),
		CASE(the_child_that_opens_files_is_not_found),
		{NULL, NULL},
	};

	return unit_main("reads of tracectl and kgmon", cases, argc, argv);
}

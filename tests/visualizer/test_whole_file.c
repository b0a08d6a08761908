/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_whole_file.c - files that belong together have their new content, or all have their old one.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "unit.h"
#include "whole_file.h"

#define NR 2

static char folder[] = "/tmp/test_whole_file_XXXXXX";
static const char *const names[NR] = {"list", "out"};

static void write_old(void)
{
	for (size_t i = 0; i < NR; i++) {
		FILE *file = fopen(names[i], "we");

		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		fputs("old", file);
		CU_ASSERT_EQUAL(fclose(file), 0);
	}
}

static bool has_text(const char *name, const char *wanted)
{
	char text[16] = "";
	FILE *file = fopen(name, "re");
	bool is_read = file && fgets(text, sizeof(text), file);

	if (file)
		fclose(file);
	return is_read && !strcmp(text, wanted);
}

static unsigned int nr_entries(void)
{
	DIR *here = opendir(".");
	unsigned int nr = 0;

	while (here && readdir(here))
		nr++;
	if (here)
		closedir(here);
	return nr - 2; /* . and .. */
}

static void open_both(struct whole_file *files)
{
	size_t idx;

	CU_ASSERT_EQUAL_FATAL(whole_files_open(files, names, NR, &idx), 0);
	for (size_t i = 0; i < NR; i++)
		fputs("new", files[i].out);
}

static void remove_both(void)
{
	for (size_t i = 0; i < NR; i++)
		unlink(names[i]);
}

static void both_files_have_their_names(void)
{
	struct whole_file files[NR];
	size_t idx;

	for (int has_old = 0; has_old < 2; has_old++) {
		if (has_old)
			write_old();
		open_both(files);
		CU_ASSERT_EQUAL(whole_files_close(files, NR, 0, &idx), 0);
		CU_ASSERT(has_text("list", "new") && has_text("out", "new"));
		CU_ASSERT_EQUAL(nr_entries(), 2);
	}
	remove_both();
}

/* A folder takes the name of the second one, after that of the first has succeeded. */
static void a_second_name_that_fails_gives_back_the_first(void)
{
	struct whole_file files[NR];
	size_t idx;

	for (int has_old = 0; has_old < 2; has_old++) {
		idx = NR;
		if (has_old)
			write_old();
		open_both(files);
		unlink("out");
		CU_ASSERT_EQUAL_FATAL(mkdir("out", 0700), 0);
		CU_ASSERT_EQUAL(whole_files_close(files, NR, 0, &idx), -EISDIR);
		CU_ASSERT_EQUAL(idx, 1);
		CU_ASSERT(has_old ? has_text("list", "old") : access("list", F_OK) < 0);
		CU_ASSERT_EQUAL(rmdir("out"), 0);
		CU_ASSERT_EQUAL(nr_entries(), (unsigned int)has_old);
	}
	remove_both();
}

/* There is room for one of the two only. */
static void a_file_that_is_not_whole_keeps_the_other_from_its_name(void)
{
	struct whole_file files[NR];
	struct rlimit old;

	getrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < NR; i++) {
		size_t idx = NR;

		write_old();
		open_both(files);
		fputs("er", files[i].out);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 4, .rlim_max = old.rlim_max});
		CU_ASSERT_EQUAL(whole_files_close(files, NR, 0, &idx), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		CU_ASSERT_EQUAL(idx, i);
		CU_ASSERT(has_text("list", "old") && has_text("out", "old"));
		CU_ASSERT_EQUAL(nr_entries(), 2);
	}
	remove_both();
}

static void a_file_that_cannot_be_opened_leaves_none_open(void)
{
	static const char *const paths[NR] = {"list", "no/folder"};
	struct whole_file files[NR];
	size_t idx = NR;

	write_old();
	CU_ASSERT_EQUAL(whole_files_open(files, paths, NR, &idx), -ENOENT);
	CU_ASSERT_EQUAL(idx, 1);
	CU_ASSERT_PTR_NULL(files[0].out);
	CU_ASSERT(has_text("list", "old"));
	CU_ASSERT_EQUAL(nr_entries(), 2);
	remove_both();
}

static void an_error_of_what_is_written_changes_nothing(void)
{
	struct whole_file files[NR];
	size_t idx = NR;

	write_old();
	open_both(files);
	CU_ASSERT_EQUAL(whole_files_close(files, NR, -ENODATA, &idx), -ENODATA);
	CU_ASSERT_EQUAL(idx, NR);
	CU_ASSERT(has_text("list", "old") && has_text("out", "old"));
	CU_ASSERT_EQUAL(nr_entries(), 2);
	remove_both();
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(both_files_have_their_names),
		CASE(a_second_name_that_fails_gives_back_the_first),
		CASE(a_file_that_is_not_whole_keeps_the_other_from_its_name),
		CASE(a_file_that_cannot_be_opened_leaves_none_open),
		CASE(an_error_of_what_is_written_changes_nothing),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	result = unit_main("whole files", cases, argc, argv);
	return rmdir(folder) ? 1 : result;
}

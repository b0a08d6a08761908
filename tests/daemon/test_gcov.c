/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of counters that are wrong, in the memory of this process, and .gcda files that are
 * damaged.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gcov_counters.h"
#include "gcov_file.h"
#include "process_dump.h"

#define GCC_12 0x4232322au /* "B22*" */

/* As libgcov has them: gcov_counters.c */
struct list_function {
	const void *info;
	uint32_t ident, line_checksum, graph_checksum;
	struct {
		uint32_t nr;
		const int64_t *counts;
	} kinds[1];
};

struct list_info {
	uint32_t version;
	const void *next;
	uint32_t stamp, checksum;
	const char *path;
	const void *merge[8];
	uint32_t nr_functions;
	const struct list_function *const *functions;
};

static const int64_t arcs[] = {7, 0, 1ll << 40};
static struct list_info info;
static const struct list_function function = {&info, 11, 12, 13, {{3, arcs}}};
static const struct list_function other = {&arcs, 21, 22, 23, {{3, arcs}}}; /* of another object file */
static const struct list_function *const functions[] = {&function, &other, NULL};
static const void *root;
static struct trace_error error;
static int folder;
static char folder_path[] = "/tmp/test_gcov.XXXXXX";

static void make_list(void)
{
	info = (struct list_info){.version = GCC_12,
				  .stamp = 100,
				  .checksum = 200,
				  .path = "/build/shop.gcda",
				  .merge = {arcs},
				  .nr_functions = 3,
				  .functions = functions};
	root = &info;
	error = (struct trace_error){0};
}

static int read_list(struct gcov_units *units)
{
	*units = (struct gcov_units){0};
	return gcov_units_read(units, getpid(), "shop", (uint64_t)(uintptr_t)&root, &error);
}

static void lists_are_read(void)
{
	struct gcov_units units;

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	CU_ASSERT_EQUAL_FATAL(units.nr, 1);
	CU_ASSERT_STRING_EQUAL(units.units[0].path, "/build/shop.gcda");
	CU_ASSERT_EQUAL_FATAL(units.units[0].nr, 3);
	CU_ASSERT_EQUAL(units.units[0].functions[0].ident, 11);
	CU_ASSERT_EQUAL(units.units[0].functions[0].counts[2], 1ull << 40);
	CU_ASSERT_PTR_NULL(units.units[0].functions[1].counts);
	CU_ASSERT_PTR_NULL(units.units[0].functions[2].counts);
	CU_ASSERT_EQUAL(gcov_unit_counts(&units.units[0]), 3);
	gcov_units_free(&units);
}

static void expect_error(int code, const char *text)
{
	struct gcov_units units;

	CU_ASSERT_EQUAL(read_list(&units), code);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, text));
	gcov_units_free(&units);
}

static void other_versions_of_gcc_are_refused(void)
{
	static const struct {
		uint32_t version;
		int code;
		const char *text;
	} rows[] = {
		{0x4139332a, -ENOTSUP, "gcc 9, whose"},	 /* A93* */
		{0x4231312a, -ENOTSUP, "gcc 11, whose"}, /* B11* */
		{0x4234312a, -ENOTSUP, "gcc 14, whose"}, {0x5a39392a, -EBADMSG, "damaged"}, {0, -EBADMSG, "damaged"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_list();
		info.version = rows[i].version;
		expect_error(rows[i].code, rows[i].text);
	}
	make_list();
	info.version = 0x4233312a; /* gcc 13 */
	struct gcov_units units;
	CU_ASSERT_EQUAL(read_list(&units), 0);
	gcov_units_free(&units);
}

static void wild_lists_are_told(void)
{
	struct list_function huge = function;
	const struct list_function *const huge_functions[] = {&huge};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_list();
	info.next = (const void *)16;
	expect_error(-EBADMSG, "damaged");
	make_list();
	info.next = &info; /* for ever */
	info.nr_functions = 0;
	expect_error(-EBADMSG, "damaged");
	make_list();
	info.nr_functions = UINT32_MAX;
	expect_error(-EBADMSG, "damaged");
	make_list();
	huge.kinds[0].nr = UINT32_MAX;
	info.nr_functions = 1;
	info.functions = huge_functions;
	expect_error(-EBADMSG, "damaged");
	make_list();
	munmap(page + 4096, 4096);
	memset(page, 'x', 4096); /* a path without an end, before a hole */
	info.path = page + 4000;
	expect_error(-EBADMSG, "damaged");
	make_list();
	memcpy(page + 4085, "/a/b.gcda", 10); /* one that ends at the hole */
	info.path = page + 4085;
	struct gcov_units units;
	CU_ASSERT_EQUAL(read_list(&units), 0);
	CU_ASSERT_STRING_EQUAL(units.units[0].path, "/a/b.gcda");
	gcov_units_free(&units);
	munmap(page, 4096);
}

/* The list is small, and what it says is not: one function again and again, with many counts. */
static void lists_do_not_take_more_memory_than_there_is(void)
{
	enum { NR_FUNCTIONS = 1000, NR_COUNTS = 1 << 20 };
	static const struct list_function *many[NR_FUNCTIONS];
	struct list_function large = function;

	make_list();
	large.kinds[0].nr = NR_COUNTS;
	large.kinds[0].counts = calloc(NR_COUNTS, sizeof(*large.kinds[0].counts));
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		many[i] = &large;
	info.nr_functions = NR_FUNCTIONS;
	info.functions = many;
	expect_error(-EFBIG, "more than 256 MiB");
	make_list();
	info.next = &info;
	info.nr_functions = NR_FUNCTIONS;
	info.functions = many;
	expect_error(-EFBIG, "more than 256 MiB");
	free((void *)large.kinds[0].counts);
}

static void a_folder_that_another_user_prepared_is_refused(void)
{
	char link[64], own[64];
	int chosen;

	snprintf(link, sizeof(link), "%s/gcov.1", folder_path);
	CU_ASSERT_EQUAL(symlink("/tmp", link), 0);
	CU_ASSERT(process_dump_folder(link, false, &error) < 0);
	chosen = process_dump_folder(link, true, &error);
	CU_ASSERT(chosen >= 0);
	close(chosen);
	unlink(link);
	snprintf(own, sizeof(own), "%s/gcov.2", folder_path);
	chosen = process_dump_folder(own, false, &error);
	CU_ASSERT(chosen >= 0);
	close(chosen);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chown(own, 65534, 65534), 0);
		CU_ASSERT_EQUAL(process_dump_folder(own, false, &error), -EPERM);
	}
	rmdir(own);
}

static void names_stay_below_the_folder(void)
{
	static const char *const rows[][2] = {
		{"/build/a.gcda", "build/a.gcda"},
		{"a.gcda", "a.gcda"},
		{"../../etc/a.gcda", "etc/a.gcda"},
		{"/a/./b/../c.gcda", "a/b/c.gcda"},
		{"//x//..//y.gcda", "x/y.gcda"},
		{"..", ""},
		{"/", ""},
		{"...", "..."},
		{"/x/\033]0;title\007a.gcda", "x/?]0;title?a.gcda"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gcov_unit unit = {.path = (char *)rows[i][0]};
		char name[64];

		gcov_file_name(&unit, name, sizeof(name));
		CU_ASSERT_STRING_EQUAL(name, rows[i][1]);
	}
}

static void files_have_the_counts(void)
{
	struct gcov_units units;
	struct gcov_unit again = {0};

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	CU_ASSERT_EQUAL(gcov_files_write(folder, &units, "folder", &error), 0);
	CU_ASSERT_EQUAL_FATAL(gcov_file_read(folder, "build/shop.gcda", &again), 0);
	CU_ASSERT_EQUAL(again.version, GCC_12);
	CU_ASSERT_EQUAL(again.stamp, 100);
	CU_ASSERT_EQUAL_FATAL(again.nr, 3);
	CU_ASSERT_EQUAL(again.functions[0].counts[0], 7);
	CU_ASSERT_EQUAL(again.functions[0].counts[2], 1ull << 40);
	CU_ASSERT_PTR_NULL(again.functions[1].counts);
	CU_ASSERT_EQUAL(gcov_unit_subtract(&units.units[0], &again), 0);
	CU_ASSERT_EQUAL(units.units[0].functions[0].counts[2], 0);
	CU_ASSERT_EQUAL(gcov_unit_subtract(&units.units[0], &again), -ERANGE);
	again.stamp++;
	CU_ASSERT_EQUAL(gcov_unit_subtract(&units.units[0], &again), -ESTALE);
	/* counts that are all 0 are left out of the file */
	CU_ASSERT_EQUAL(gcov_files_write(folder, &units, "folder", &error), 0);
	gcov_unit_free(&again);
	CU_ASSERT_EQUAL_FATAL(gcov_file_read(folder, "build/shop.gcda", &again), 0);
	CU_ASSERT_EQUAL(again.functions[0].nr, 3);
	CU_ASSERT_EQUAL(again.functions[0].counts[0], 0);
	gcov_unit_free(&again);
	gcov_units_free(&units);
}

static void files_do_not_follow_links(void)
{
	struct gcov_units units;

	make_list();
	info.path = "link/shop.gcda";
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	CU_ASSERT_EQUAL(symlinkat("/tmp", folder, "link"), 0);
	CU_ASSERT(gcov_files_write(folder, &units, "folder", &error) < 0);
	unlinkat(folder, "link", 0);
	gcov_units_free(&units);
}

static bool is_there(const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The second file would be behind a link. */
static void files_are_all_new_or_all_old(void)
{
	struct gcov_units one, two;
	struct gcov_unit both[2];

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&one), 0);
	info.path = "link/mart.gcda";
	CU_ASSERT_EQUAL_FATAL(read_list(&two), 0);
	CU_ASSERT_EQUAL(symlinkat("/tmp", folder, "link"), 0);
	both[0] = one.units[0];
	both[1] = two.units[0];
	unlinkat(folder, "build/shop.gcda", 0);
	CU_ASSERT(gcov_files_write(folder, &(struct gcov_units){.units = both, .nr = 2}, "folder", &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "link/mart.gcda"));
	CU_ASSERT(!is_there("build/shop.gcda"));
	CU_ASSERT(!is_there("build/.shop.gcda.0.part"));
	unlinkat(folder, "link", 0);
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = both, .nr = 2}, "folder", &error), 0);
	CU_ASSERT(is_there("build/shop.gcda"));
	CU_ASSERT(is_there("link/mart.gcda"));
	unlinkat(folder, "build/shop.gcda", 0);
	unlinkat(folder, "link/mart.gcda", 0);
	unlinkat(folder, "link", AT_REMOVEDIR);
	gcov_units_free(&one);
	gcov_units_free(&two);
}

static int renames_fail_at; /* 0: never */
static bool hard_links_fail;

int __real_renameat(int from_at, const char *from, int to_at, const char *to);
int __wrap_renameat(int from_at, const char *from, int to_at, const char *to);
int __wrap_renameat(int from_at, const char *from, int to_at, const char *to)
{
	if (!renames_fail_at || --renames_fail_at)
		return __real_renameat(from_at, from, to_at, to);
	errno = EIO;
	return -1;
}

int __real_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	if (!hard_links_fail)
		return __real_linkat(from_at, from, to_at, to, flags);
	errno = EPERM;
	return -1;
}

static void make_file(const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static bool has_text(const char *name, const char *text)
{
	char bytes[64] = "";
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes) - 1);

	close(fd);
	return got >= 0 && !strcmp(bytes, text);
}

/* Three files: there is an old one of the first and the third, and the third one gets no name. */
static void files_are_all_old_after_a_name_that_fails(void)
{
	static char paths[3][16] = {"a.gcda", "b.gcda", "c.gcda"};
	struct gcov_unit unit[3];
	struct gcov_units units;

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	for (int i = 0; i < 3; i++) {
		unit[i] = units.units[0];
		unit[i].path = paths[i];
	}
	make_file("a.gcda", "old");
	make_file("c.gcda", "old");
	renames_fail_at = 3;
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = unit, .nr = 3}, "folder", &error), -EIO);
	CU_ASSERT_STRING_EQUAL(error.message, "folder: the file of c.gcda: Input/output error");
	CU_ASSERT_TRUE(has_text("a.gcda", "old"));
	CU_ASSERT_FALSE(is_there("b.gcda"));
	CU_ASSERT_TRUE(has_text("c.gcda", "old"));
	CU_ASSERT_FALSE(is_there(".a.gcda.0.old"));
	CU_ASSERT_FALSE(is_there(".c.gcda.2.old"));
	CU_ASSERT_FALSE(is_there(".c.gcda.2.part"));
	/* without links no old file can come back */
	renames_fail_at = 3;
	hard_links_fail = true;
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = unit, .nr = 3}, "folder", &error), -EIO);
	hard_links_fail = false;
	CU_ASSERT_STRING_EQUAL(error.message, "folder: the file of c.gcda: Input/output error; 2 of the 3 files are "
					      "new, the others old");
	CU_ASSERT_FALSE(has_text("a.gcda", "old"));
	CU_ASSERT_TRUE(has_text("c.gcda", "old"));
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = unit, .nr = 3}, "folder", &error), 0);
	CU_ASSERT_FALSE(has_text("c.gcda", "old"));
	CU_ASSERT_FALSE(is_there(".c.gcda.2.old"));
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(unlinkat(folder, paths[i], 0), 0);
	gcov_units_free(&units);
}

static bool links_fail;

int __real_symlinkat(const char *target, int at, const char *name);
int __wrap_symlinkat(const char *target, int at, const char *name);
int __wrap_symlinkat(const char *target, int at, const char *name)
{
	if (!links_fail)
		return __real_symlinkat(target, at, name);
	errno = ENOSPC;
	return -1;
}

static void notes_that_cannot_be_linked_are_an_error(void)
{
	char notes[64], path[64];
	struct gcov_units units;
	struct gcov_unit unit;

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	snprintf(notes, sizeof(notes), "%s/a.gcno", folder_path);
	snprintf(path, sizeof(path), "%s/a.gcda", folder_path);
	close(open(notes, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	unit = units.units[0];
	unit.path = path;
	links_fail = true;
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = &unit, .nr = 1}, "folder", &error),
			-ENOSPC);
	links_fail = false;
	CU_ASSERT(!is_there(path + 1));
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = &unit, .nr = 1}, "folder", &error), 0);
	CU_ASSERT(is_there(path + 1));
	CU_ASSERT(is_there(notes + 1));
	unlinkat(folder, path + 1, 0);
	unlinkat(folder, notes + 1, 0);
	unlink(notes);
	/* a look for them could wait for a file system for ever */
	CU_ASSERT_EQUAL(gcov_files_write(folder, &(struct gcov_units){.units = &unit, .nr = 1}, "folder", &error), 0);
	CU_ASSERT_EQUAL(unlinkat(folder, path + 1, 0), 0);
	CU_ASSERT_EQUAL(unlinkat(folder, notes + 1, 0), 0);
	gcov_units_free(&units);
}

/* A file that is larger than the buffer of its stream. */
static void a_file_without_room_says_why(void)
{
	struct rlimit before, limit;
	struct gcov_units units;
	struct gcov_function *many;

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	many = &units.units[0].functions[0];
	free(many->counts);
	many->nr = 10000;
	many->counts = calloc(many->nr, sizeof(*many->counts));
	CU_ASSERT_PTR_NOT_NULL_FATAL(many->counts);
	many->counts[0] = 1; /* counts that are all 0 are left out */
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 20000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_EQUAL(gcov_files_write(folder, &units, "folder", &error), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT_EQUAL(gcov_files_write(folder, &units, "folder", &error), 0);
	unlinkat(folder, "build/shop.gcda", 0);
	gcov_units_free(&units);
}

/*
 * Each length of a good file, and each byte of it changed: read or refused, and no more. A shorter
 * one is refused.
 */
static void damaged_files_are_harmless(void)
{
	struct gcov_units units;
	unsigned char good[512], bad[512];
	ssize_t bytes;
	int fd;

	make_list();
	CU_ASSERT_EQUAL_FATAL(read_list(&units), 0);
	CU_ASSERT_EQUAL_FATAL(gcov_files_write(folder, &units, "folder", &error), 0);
	gcov_units_free(&units);
	fd = openat(folder, "build/shop.gcda", O_RDWR);
	bytes = pread(fd, good, sizeof(good), 0);
	CU_ASSERT(bytes > 60 && bytes < (ssize_t)sizeof(good));
	for (ssize_t length = 0; length <= bytes; length++)
		for (ssize_t at = 0; at < (length < bytes ? 1 : bytes); at++) {
			struct gcov_unit unit = {0};
			int err;

			memcpy(bad, good, sizeof(bad));
			if (length == bytes)
				bad[at] ^= 0xff;
			CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 0), 0);
			CU_ASSERT_EQUAL_FATAL(pwrite(fd, bad, (size_t)length, 0), length);
			err = gcov_file_read(folder, "build/shop.gcda", &unit);
			CU_ASSERT(err == 0 || err == -EBADMSG);
			CU_ASSERT(length == bytes || err == -EBADMSG);
			gcov_unit_free(&unit);
		}
	close(fd);
}

static const struct unit_case cases[] = {
	CASE(lists_are_read),
	CASE(other_versions_of_gcc_are_refused),
	CASE(wild_lists_are_told),
	CASE(lists_do_not_take_more_memory_than_there_is),
	CASE(a_folder_that_another_user_prepared_is_refused),
	CASE(names_stay_below_the_folder),
	CASE(files_have_the_counts),
	CASE(files_do_not_follow_links),
	CASE(files_are_all_new_or_all_old),
	CASE(files_are_all_old_after_a_name_that_fails),
	CASE(notes_that_cannot_be_linked_are_an_error),
	CASE(a_file_without_room_says_why),
	CASE(damaged_files_are_harmless),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int result;

	if (!mkdtemp(folder_path))
		return 1;
	folder = open(folder_path, O_RDONLY | O_DIRECTORY);
	result = unit_main("gcov", cases, argc, argv);
	unlinkat(folder, "build/shop.gcda", 0);
	unlinkat(folder, "build", AT_REMOVEDIR);
	rmdir(folder_path);
	return result;
}

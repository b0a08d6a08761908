/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_unwind_cache.c - tables on disk: found again, never wrong, bounded, in a safe folder */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "failing_stream.h"
#include "unit.h"
#include "unwind_cache.h"

#define PROGRAM	 "/bin/bash"
#define NR_WORDS (2 * UNWIND_BLOCK_WORDS)

static char home[64], folder[128];

static struct unwind_cache begin(void)
{
	snprintf(home, sizeof(home), "/tmp/unwind_cache_XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(home));
	snprintf(folder, sizeof(folder), "%s/tracetoolkit/unwind", home);
	setenv("XDG_CACHE_HOME", home, 1);
	return unwind_cache_open();
}

static void end(struct unwind_cache *cache)
{
	char command[256];

	unwind_cache_close(cache, UNWIND_CACHE_MAX_BYTES);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	CU_ASSERT_EQUAL(system(command), 0);
}

static struct unwind_cache_key key_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_cache_key key = {0};

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(unwind_cache_key(fd, &key), 0);
	close(fd);
	return key;
}

static struct unwind_table table_of(uint64_t *words)
{
	for (uint64_t i = 0; i < NR_WORDS; i++)
		words[i] = i * 0x123456789abcdefull;
	return (struct unwind_table){.words = words, .room = NR_WORDS, .nr_words = NR_WORDS, .nr_pages = 7};
}

static int find(const struct unwind_cache *cache, const struct unwind_cache_key *key, uint64_t *words)
{
	struct unwind_cached cached;
	int result = unwind_cache_find(cache, key, &cached);

	if (result)
		return result;
	CU_ASSERT_EQUAL_FATAL(cached.nr_words, NR_WORDS);
	result = unwind_cache_take(cache, key, &cached, words);
	CU_ASSERT(result || cached.nr_pages == 7);
	return result;
}

/* Calls @fn for the only file of the folder. */
static void of_file(void (*fn)(const char *path, size_t at), size_t at)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	char path[512];

	CU_ASSERT_PTR_NOT_NULL_FATAL(entries);
	while ((entry = readdir(entries))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			fn(path, at);
	}
	closedir(entries);
}

static unsigned int nr_files;

static void count(const char *path, size_t at)
{
	nr_files += access(path, F_OK) == 0 && at == 0;
}

static unsigned int files(void)
{
	nr_files = 0;
	of_file(count, 0);
	return nr_files;
}

static void a_kept_table_is_found_again(void)
{
	static uint64_t words[NR_WORDS], found[NR_WORDS];
	struct unwind_cache cache = begin();
	struct unwind_cache_key key = key_of(PROGRAM);
	struct unwind_table table = table_of(words);

	CU_ASSERT_FATAL(cache.folder >= 0);
	CU_ASSERT_EQUAL(find(&cache, &key, found), -ENOENT);
	CU_ASSERT_EQUAL(unwind_cache_put(&cache, &key, &table), 0);
	CU_ASSERT_EQUAL(find(&cache, &key, found), 0);
	CU_ASSERT_EQUAL(memcmp(words, found, sizeof(words)), 0);
	CU_ASSERT_EQUAL(files(), 1);
	end(&cache);
}

/* Any other device, inode, size, time, boot or build. */
static void the_table_of_another_file_is_not_taken(void)
{
	static uint64_t words[NR_WORDS], found[NR_WORDS];
	struct unwind_cache cache = begin();
	struct unwind_cache_key key = key_of(PROGRAM), other = key_of("/bin/sh");
	struct unwind_table table = table_of(words);

	CU_ASSERT_EQUAL(unwind_cache_put(&cache, &key, &table), 0);
	CU_ASSERT_EQUAL(find(&cache, &other, found), -ENOENT);
	for (size_t i = 0; i < sizeof(key) / sizeof(uint64_t); i++) {
		other = key;
		((uint64_t *)&other)[i]++;
		CU_ASSERT_EQUAL(find(&cache, &other, found), -ENOENT);
	}
	end(&cache);
}

/* Within the resolution of the times, a second change would have the key of the first. */
static void a_file_that_has_just_changed_has_no_key(void)
{
	char path[] = "/tmp/unwind_fresh_XXXXXX";
	struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct unwind_cache_key key;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(unwind_cache_key(fd, &key), -EAGAIN);
	CU_ASSERT_EQUAL(futimens(fd, old), 0); /* what a user can set does not count */
	CU_ASSERT_EQUAL(unwind_cache_key(fd, &key), -EAGAIN);
	close(fd);
	unlink(path);
}

static void damage(const char *path, size_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char byte;

	CU_ASSERT_EQUAL_FATAL(pread(fd, &byte, 1, (off_t)at), 1);
	byte = (unsigned char)~byte;
	CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

static void cut(const char *path, size_t at)
{
	CU_ASSERT_EQUAL(truncate(path, (off_t)at), 0);
}

/* Each byte, and each length */
static void a_damaged_table_is_deleted_and_not_used(void)
{
	static uint64_t words[NR_WORDS], found[NR_WORDS];
	struct unwind_cache cache = begin();
	struct unwind_cache_key key = key_of(PROGRAM);
	struct unwind_table table = table_of(words);
	size_t bytes = sizeof(words) + sizeof(key) + 24, step = (size_t)unit_step(31);

	/* the sizes and the checksum behind the key: each byte */
	for (size_t at = 0; at < bytes; at += at >= sizeof(key) && at < sizeof(key) + 24 ? 1 : step) {
		CU_ASSERT_EQUAL_FATAL(unwind_cache_put(&cache, &key, &table), 0);
		of_file(at & 1 ? cut : damage, at);
		CU_ASSERT_FATAL(find(&cache, &key, found) < 0);
		CU_ASSERT_EQUAL_FATAL(files(), 0);
	}
	end(&cache);
}

static void expect_no_cache(void)
{
	static uint64_t words[NR_WORDS];
	struct unwind_cache cache = unwind_cache_open();
	struct unwind_cache_key key = key_of(PROGRAM);
	struct unwind_table table = table_of(words);

	CU_ASSERT_EQUAL(cache.folder, -1);
	CU_ASSERT_EQUAL(unwind_cache_put(&cache, &key, &table), -ENOENT);
	unwind_cache_close(&cache, 0);
}

static void a_folder_that_others_can_write_or_own_is_no_cache(void)
{
	struct unwind_cache cache = begin();
	char target[160];

	CU_ASSERT_FATAL(cache.folder >= 0);
	CU_ASSERT_EQUAL(chmod(folder, 0770), 0);
	expect_no_cache();
	CU_ASSERT_EQUAL(chmod(folder, 0702), 0);
	expect_no_cache();
	CU_ASSERT_EQUAL(chmod(folder, 0700), 0);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chown(folder, 65534, 65534), 0);
		expect_no_cache();
	}
	snprintf(target, sizeof(target), "%s/elsewhere", home);
	CU_ASSERT_EQUAL(rename(folder, target), 0);
	CU_ASSERT_EQUAL(symlink(target, folder), 0);
	expect_no_cache();
	end(&cache);
}

static void the_tables_used_longest_ago_are_deleted(void)
{
	static uint64_t words[NR_WORDS], found[NR_WORDS];
	struct unwind_cache cache = begin();
	struct unwind_cache_key key = key_of(PROGRAM);
	struct unwind_table table = table_of(words);

	for (int i = 0; i < 4; i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		key.ino++;
		CU_ASSERT_EQUAL(unwind_cache_put(&cache, &key, &table), 0);
		nanosleep(&pause, NULL);
	}
	folders_fail_after(3); /* the oldest one may be in the rest: all stay */
	unwind_cache_close(&cache, 0);
	folders_fail_after(0);
	cache = unwind_cache_open();
	CU_ASSERT_EQUAL(files(), 4);
	unwind_cache_close(&cache, 2 * (sizeof(words) + 1024));
	cache = unwind_cache_open();
	CU_ASSERT_EQUAL(files(), 2);
	for (int i = 0; i < 4; i++, key.ino--)
		CU_ASSERT_EQUAL(find(&cache, &key, found), i < 2 ? 0 : -ENOENT);
	end(&cache);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_kept_table_is_found_again),
		CASE(the_table_of_another_file_is_not_taken),
		CASE(a_file_that_has_just_changed_has_no_key),
		CASE(a_damaged_table_is_deleted_and_not_used),
		CASE(a_folder_that_others_can_write_or_own_is_no_cache),
		CASE(the_tables_used_longest_ago_are_deleted),
		{NULL, NULL},
	};

	return unit_main("unwind_cache", cases, argc, argv);
}

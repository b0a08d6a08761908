/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "read_end.h"

#define SUFFIX	   ".table"
#define NAME_BYTES 32
#define MAX_FILES  16384
#define SETTLED_NS 2000000000ull /* file systems have times of up to 10 ms; of FAT: 2 s */
#define OLD_NS	   (24 * 3600 * 1000000000ull)

static const char magic[8] = "TTunwin4";

/** struct head - the begin of a file; the words of the table follow */
struct head {
	char magic[8];
	struct unwind_cache_key key;
	uint32_t nr_words;
	uint32_t nr_pages;
	uint64_t checksum;
};

/* Names and checksums of files: they are the same in each run. */
#define MULTIPLIER 0x9e3779b97f4a7c15ull

static uint64_t mixed(uint64_t number)
{
	number *= MULTIPLIER;
	return number ^ number >> 32;
}

/* ---- the folder ---- */

static uint64_t time_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static bool is_safe(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Closes @parent. */
static int open_folder(int parent, const char *name)
{
	int fd;

	if (parent < 0)
		return -1;
	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST) {
		close(parent);
		return -1;
	}
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(parent);
	if (fd >= 0 && !is_safe(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_path(const char *folder)
{
	return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_parent(void)
{
	const char *chosen = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int fd;

	if (chosen && chosen[0] == '/')
		return open_path(chosen);
	if (geteuid() == 0)
		return open_path("/var/cache");
	fd = home && home[0] == '/' ? open_path(home) : -1;
	return fd < 0 ? fd : open_folder(fd, ".cache");
}

struct unwind_cache unwind_cache_open(void)
{
	return (struct unwind_cache){.folder = open_folder(open_folder(open_parent(), "tracetoolkit"), "unwind")};
}

/* ---- keys ---- */

static uint64_t boot_number(void)
{
	char text[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint64_t number = 1;

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = 0;
		fclose(file);
	}
	for (const char *at = text; *at; at++)
		number = mixed(number ^ (unsigned char)*at);
	return number;
}

/* Another build may make other tables. */
static uint64_t build_number(void)
{
	struct stat status;

	if (stat("/proc/self/exe", &status) < 0)
		return 0;
	return mixed(mixed((uint64_t)status.st_size) ^ time_ns(status.st_mtim));
}

static uint64_t statx_ns(struct statx_timestamp time)
{
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* SECURITY: fstat() would wait for a file system that its user serves. */
int unwind_cache_key(int fd, struct unwind_cache_key *ret_key)
{
	struct timespec now;
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0)
		return -errno;
	if (!S_ISREG(status.stx_mode)) /* an envelope (file_envelope.h) */
		return -EAGAIN;
	clock_gettime(CLOCK_REALTIME, &now);
	if (statx_ns(status.stx_ctime) + SETTLED_NS > time_ns(now))
		return -EAGAIN;
	*ret_key = (struct unwind_cache_key){.dev = makedev(status.stx_dev_major, status.stx_dev_minor),
					     .ino = status.stx_ino,
					     .bytes = status.stx_size,
					     .mtime_ns = statx_ns(status.stx_mtime),
					     .ctime_ns = statx_ns(status.stx_ctime),
					     .boot = status.stx_dev_major ? 0 : boot_number(),
					     .build = build_number()};
	return 0;
}

static void name_of(const struct unwind_cache_key *key, char ret_name[NAME_BYTES])
{
	const uint64_t *words = (const uint64_t *)key;
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(*key) / sizeof(*words); i++)
		hash = mixed(hash ^ words[i]);
	snprintf(ret_name, NAME_BYTES, "%016" PRIx64 SUFFIX, hash);
}

/* ---- tables ---- */

#define LANES 4

/* Four sums at a time: 0.3 ms for the 480,000 rows of a compiler. */
static uint64_t checksum(const uint64_t *words, uint32_t nr, uint32_t nr_pages)
{
	uint64_t sums[LANES] = {nr, nr_pages, 2, 3}, all = 0;

	for (uint32_t i = 0; i + LANES <= nr; i += LANES)
		for (uint32_t lane = 0; lane < LANES; lane++)
			sums[lane] = ((sums[lane] ^ words[i + lane]) * MULTIPLIER) ^ sums[lane] >> 29;
	for (uint32_t lane = 0; lane < LANES; lane++)
		all = mixed(all ^ sums[lane]);
	return all;
}

static int check_head(int fd, const struct unwind_cache_key *key, struct head *ret_head)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    read(fd, ret_head, sizeof(*ret_head)) != (ssize_t)sizeof(*ret_head))
		return -EBADMSG;
	if (memcmp(ret_head->magic, magic, sizeof(magic)) || memcmp(&ret_head->key, key, sizeof(*key)) ||
	    ret_head->nr_words > UNWIND_MAX_WORDS || ret_head->nr_words % UNWIND_BLOCK_WORDS ||
	    ret_head->nr_pages > ret_head->nr_words ||
	    (uint64_t)status.st_size != sizeof(*ret_head) + ret_head->nr_words * sizeof(uint64_t))
		return -EBADMSG;
	return 0;
}

int unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		      struct unwind_cached *ret_cached)
{
	char name[NAME_BYTES];
	struct head head;
	int fd;

	if (cache->folder < 0)
		return -ENOENT;
	name_of(key, name);
	fd = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT;
	if (check_head(fd, key, &head)) {
		close(fd);
		unlinkat(cache->folder, name, 0);
		return -ENOENT;
	}
	*ret_cached = (struct unwind_cached){fd, head.nr_words, head.nr_pages, head.checksum};
	return 0;
}

static bool read_words(int fd, uint64_t *words, uint32_t nr)
{
	size_t bytes = nr * sizeof(*words), got = 0;

	while (got < bytes) {
		ssize_t n = read(fd, (char *)words + got, bytes - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* The last use of a table is the time of its file. */
static void note_use(int fd)
{
	struct timespec now;
	struct stat status;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(fd, &status) == 0 && time_ns(status.st_mtim) + OLD_NS < time_ns(now))
		futimens(fd, NULL);
}

int unwind_cache_take(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		      struct unwind_cached *cached, uint64_t *words)
{
	bool is_right = read_words(cached->fd, words, cached->nr_words) &&
			checksum(words, cached->nr_words, cached->nr_pages) == cached->checksum;
	char name[NAME_BYTES];

	if (is_right)
		note_use(cached->fd);
	close(cached->fd);
	cached->fd = -1;
	if (is_right)
		return 0;
	name_of(key, name);
	unlinkat(cache->folder, name, 0);
	return -EBADMSG;
}

static bool write_all(int fd, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(fd, (const char *)from + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* A reader finds all of the file, or none. */
int unwind_cache_put(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		     const struct unwind_table *table)
{
	struct head head = {.key = *key,
			    .nr_words = table->nr_words,
			    .nr_pages = table->nr_pages,
			    .checksum = checksum(table->words, table->nr_words, table->nr_pages)};
	char name[NAME_BYTES], part[NAME_BYTES];
	int fd, result = 0;

	if (cache->folder < 0)
		return -ENOENT;
	memcpy(head.magic, magic, sizeof(magic));
	name_of(key, name);
	snprintf(part, sizeof(part), "%d.part", (int)getpid());
	unlinkat(cache->folder, part, 0);
	fd = openat(cache->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!write_all(fd, &head, sizeof(head)) ||
	    !write_all(fd, table->words, table->nr_words * sizeof(table->words[0])) ||
	    renameat(cache->folder, part, cache->folder, name) < 0)
		result = errno ? -errno : -EIO;
	close(fd);
	if (result)
		unlinkat(cache->folder, part, 0);
	return result;
}

/* ---- its size ---- */

/** struct kept - a file of the folder */
struct kept {
	uint64_t used_ns, bytes;
	char name[NAME_BYTES];
};

static int by_use(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	return a->used_ns < b->used_ns ? 1 : -(a->used_ns > b->used_ns);
}

static bool take_kept(int folder, const char *name, struct kept *ret_kept)
{
	struct stat status;

	if (name[0] == '.' || strlen(name) >= NAME_BYTES || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode))
		return false;
	ret_kept->used_ns = time_ns(status.st_mtim);
	ret_kept->bytes = (uint64_t)status.st_size;
	strcpy(ret_kept->name, name);
	return true;
}

static size_t list_kept(int folder, struct kept *list)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t nr = 0;
	int error = 0;

	if (!entries && fd >= 0)
		close(fd);
	while (entries && nr < MAX_FILES && (entry = folder_next(entries, &error)))
		nr += take_kept(folder, entry->d_name, &list[nr]);
	if (entries)
		closedir(entries);
	return error ? 0 : nr; /* the oldest ones may be in the rest */
}

/* Also the parts that a daemon left which was killed: they are the oldest some time. */
static void trim(int folder, uint64_t max_bytes)
{
	struct kept *list = calloc(MAX_FILES, sizeof(*list));
	size_t nr = list ? list_kept(folder, list) : 0;
	uint64_t bytes = 0;

	if (list)
		qsort(list, nr, sizeof(*list), by_use);
	for (size_t i = 0; i < nr; i++) {
		bytes += list[i].bytes;
		if (bytes > max_bytes || i >= MAX_FILES / 2)
			unlinkat(folder, list[i].name, 0);
	}
	free(list);
}

void unwind_cache_close(struct unwind_cache *cache, uint64_t max_bytes)
{
	if (cache->folder < 0)
		return;
	trim(cache->folder, max_bytes);
	close(cache->folder);
	cache->folder = -1;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_file.c - find the file that a name means.
 *
 * Like ld.so it searches LD_LIBRARY_PATH, /etc/ld.so.cache and the standard folders. A run path
 * (DT_RUNPATH) belongs to the loading program. For such libraries there is NAME@PID, which searches
 * the files that a process has mapped, through its root if it is in a container.
 */
#include "probe_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error_set.h"
#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "read_end.h"

#define CPU_SECONDS 20

#define CACHE_MAGIC "glibc-ld.so.cache1.1"

/*
 * glibc's elf/cache.c (format 1.1, since 2.2): the header, @nr entries, the strings. Offsets are
 * relative to the header.
 */
struct cache_header {
	char magic[20];
	uint32_t nr;
	uint32_t string_bytes;
	uint32_t unused[5];
};
struct cache_entry {
	uint32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t os_version;
	uint64_t hardware;
};

#if defined(__x86_64__)
#define CACHE_FLAGS 0x0303u /* libc6, x86-64 */
#elif defined(__aarch64__)
#define CACHE_FLAGS 0x0a03u
#else
#define CACHE_FLAGS 0x0003u
#endif

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Accept libc.so.6, libc and c. */
static bool library_matches(const char *library, const char *name)
{
	size_t chars = strlen(name);

	if (!strcmp(library, name))
		return true;
	if (!strncmp(library, name, chars) && !strncmp(library + chars, ".so", 3))
		return true;
	return !strncmp(library, "lib", 3) && !strncmp(library + 3, name, chars) &&
	       !strncmp(library + 3 + chars, ".so", 3);
}

/* ---- ld.so's cache ---- */

static const char *cache_string(const char *cache, size_t bytes, uint32_t offset)
{
	return offset < bytes && memchr(cache + offset, 0, bytes - offset) ? cache + offset : "";
}

static bool search_entries(const char *cache, size_t bytes, const char *name, bool exact, char ret_path[4096])
{
	struct cache_header header;
	struct cache_entry entry;

	memcpy(&header, cache, sizeof(header));
	for (uint32_t i = 0; i < header.nr && sizeof(header) + (i + 1ull) * sizeof(entry) <= bytes; i++) {
		const char *library, *path;

		memcpy(&entry, cache + sizeof(header) + i * sizeof(entry), sizeof(entry));
		library = cache_string(cache, bytes, entry.name);
		path = cache_string(cache, bytes, entry.path);
		if (entry.flags != CACHE_FLAGS ||
		    (exact ? strcmp(library, name) != 0 : !library_matches(library, name)) || !is_file(path))
			continue;
		snprintf(ret_path, 4096, "%s", path);
		return true;
	}
	return false;
}

/* Returns 1: found, 0, or a negative errno: the cache cannot be read. */
static int search_cache(const char *name, char ret_path[4096])
{
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	char *cache, *header;
	bool found = false;
	ssize_t got;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	cache = fstat(fd, &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
	got = cache ? read(fd, cache, (size_t)status.st_size) : -1;
	if (got < 0) {
		int err = errno;

		close(fd);
		free(cache);
		return -err;
	}
	close(fd);
	header = got > 0 ? memmem(cache, (size_t)got, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) : NULL;
	if (header && (size_t)got - (size_t)(header - cache) >= sizeof(struct cache_header)) {
		size_t bytes = (size_t)got - (size_t)(header - cache);

		found = search_entries(header, bytes, name, true, ret_path) ||
			search_entries(header, bytes, name, false, ret_path);
	}
	free(cache);
	return found;
}

/* Folders are separated by colons. */
static bool search_folders(const char *folders, const char *name, char ret_path[4096])
{
	size_t chars;

	for (; folders; folders = folders[chars] ? folders + chars + 1 : NULL) {
		chars = strcspn(folders, ":");
		snprintf(ret_path, 4096, "%.*s%s%s", (int)chars, folders, chars ? "/" : "./", name);
		if (is_file(ret_path))
			return true;
	}
	return false;
}

/* As search_cache() */
static int search_system(const char *name, char ret_path[4096])
{
	bool is_library = strstr(name, ".so");
	int result;

	if (search_folders(getenv(is_library ? "LD_LIBRARY_PATH" : "PATH"), name, ret_path))
		return 1;
	result = search_cache(name, ret_path);
	if (result != 1 && is_library && search_folders("/lib:/usr/lib:/lib64:/usr/lib64", name, ret_path))
		return 1;
	return result;
}

/* ---- files of a process ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A path that opens a mapped file: in the root of the process, or, if it was deleted or replaced,
 * the mapping itself.
 */
static void mapped_path(pid_t pid, const char *range, const char *path, char ret_path[4096])
{
	if ((size_t)snprintf(ret_path, 4096, "/proc/%d/root%s", pid, path) >= 4096 || !is_file(ret_path))
		snprintf(ret_path, 4096, "/proc/%d/map_files/%s", pid, range);
}

static int search_process(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error)
{
	char line[4400], range[64], link[4096];
	bool found = false;
	ssize_t chars;
	FILE *maps;
	int err;

	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	maps = fopen(line, "re");
	if (!maps)
		return error_set(ret_error, errno == ENOENT || errno == ESRCH ? -ENOENT : -errno, "process %d: %s", pid,
				 errno == ENOENT || errno == ESRCH ? "no such process" : strerror(errno));
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	chars = readlink(link, line, sizeof(line) - 1);
	line[chars > 0 ? chars : 0] = '\0';
	if (!strcmp(base_name(line), name)) {
		fclose(maps);
		snprintf(ret_path, 4096, "%s", link);
		return 0;
	}
	while (!found && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (!path || sscanf(line, "%63s", range) != 1 || !library_matches(base_name(path), name))
			continue;
		mapped_path(pid, range, path, ret_path);
		found = true;
	}
	err = read_end(maps);
	if (err)
		return error_set(ret_error, err, "process %d: %s", pid, strerror(-err));
	return found ? 0
		     : error_set(ret_error, -ENOENT, "process %d has not mapped %s; see /proc/%d/maps", pid, name, pid);
}

/* ---- both ---- */

int probe_find_file_here(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error)
{
	char path[4096 + 64];
	int result;

	if (pid && !strchr(name, '/'))
		return search_process(name, pid, ret_path, ret_error);
	if (!strchr(name, '/')) {
		result = search_system(name, path);
		if (result < 0)
			return error_set(ret_error, result, "%s: cannot read /etc/ld.so.cache: %s; give a path", name,
					 strerror(-result));
		if (result)
			return realpath(path, ret_path) ? 0
							: error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
		return error_set(ret_error, -ENOENT,
				 "%s: there is no library of this name, and no program in PATH; give a path, or %s@PID "
				 "for a library of a process",
				 name, name);
	}
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s%s", pid, *name == '/' ? "root" : "cwd/", name);
	else
		snprintf(path, sizeof(path), "%s", name);
	if (access(path, R_OK) < 0)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	if (!is_file(path))
		return error_set(ret_error, -EINVAL, "%s: not a program or library", path);
	if (pid) /* resolving links could leave the root of the process */
		snprintf(ret_path, 4096, "%.*s", 4095, path);
	else if (!realpath(path, ret_path))
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

/* ---- in a child: a file system on the way may not answer (file_opener.h) ---- */

/** struct find_task - arguments, in the child's copy. @real: resolve the links of @name, no more */
struct find_task {
	const char *name;
	pid_t pid;
	bool real;
};

struct find_answer {
	int result;
	char path[PATH_MAX];
	struct trace_error error;
};

static void __attribute__((noreturn)) run_child(void *context)
{
	static struct find_answer answer;
	struct jail jail = {
		.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true, .filter_optional = true};
	const struct find_task *task = context;

	answer.result = jail_enter(&jail);
	if (answer.result)
		error_set(&answer.error, answer.result, "%s cannot be looked for: %s", task->name,
			  strerror(-answer.result));
	else if (task->real && !realpath(task->name, answer.path))
		answer.result = error_set(&answer.error, -errno, "%s: %s", task->name, strerror(errno));
	else if (task->real)
		answer.result = 0;
	else
		answer.result = probe_find_file_here(task->name, task->pid, answer.path, &answer.error);
	_exit(!jail_send(JAIL_SOCKET, &answer, sizeof(answer), -1, 0));
}

static int find_in_child(struct find_task *task, char ret_path[PATH_MAX], struct trace_error *ret_error)
{
	const struct jail_role role = {.run = run_child, .context = task, .cpu_seconds = CPU_SECONDS};
	struct find_answer answer;
	struct jail_child child;
	int result = jail_child_start(&role, &child);
	ssize_t got;

	if (result)
		return error_set(ret_error, result, "%s: cannot start a process to look for it: %s", task->name,
				 file_why(result));
	got = jail_answer(&child, &answer, sizeof(answer), NULL, FILE_ANSWER_NS, -1);
	jail_child_end(&child, false, NULL, 0);
	if (got == -ETIMEDOUT)
		return error_set(ret_error, -ETIMEDOUT, "%s: it does not answer: " FILE_WHY, task->name);
	if (got != sizeof(answer) || answer.path[PATH_MAX - 1] ||
	    answer.error.message[sizeof(answer.error.message) - 1])
		return error_set(ret_error, -EIO, "%s: the process that looks for it stopped", task->name);
	if (answer.result && ret_error)
		*ret_error = answer.error;
	if (!answer.result)
		snprintf(ret_path, PATH_MAX, "%s", answer.path);
	return answer.result;
}

int probe_find_file(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error)
{
	struct find_task task = {.name = name, .pid = pid};

	return find_in_child(&task, ret_path, ret_error);
}

int probe_real_path(const char *path, char ret_path[4096])
{
	struct find_task task = {.name = path, .real = true};

	return find_in_child(&task, ret_path, NULL);
}

int probe_file_exists(const char *path, struct trace_error *ret_error)
{
	struct find_task task = {.name = path, .real = true};
	char found[PATH_MAX];
	int result = find_in_child(&task, found, ret_error);

	switch (result) {
	case 0:
		return 1;
	case -ENOENT:
	case -ENOTDIR:
	case -EACCES:
	case -ELOOP:
	case -ENAMETOOLONG:
		return 0;
	default:
		return result;
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_origin.c - find the file that gives the names of a mapped file.
 *
 * A program that was built again has other functions at the same addresses, so its path proves
 * nothing. The trace has the build id of the file that was mapped, and only a file with the same
 * one
 * is read: the path itself, the same path below the user's folder, or a separate debug file. A
 * file
 * without a build id must not have changed since it was mapped.
 *
 * The process without rights that reads the tables reads the build id, too.
 */
#include "symbol_origin.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol_roots.h"
#include "symbol_server.h"

#define WHY_REBUILT "built again since; see --symfs"
#define WHY_DURING  "built again while it was recorded; see --symfs"
#define WHY_OTHER   "not the build that ran; see --symfs"
#define WHY_UNREAD  "changed since, and its build id was not read; see --symfs"
#define WHY_CHANGED "changed since, and has no build id; see --symfs"
#define WHY_MISSING "not on this machine; see --symfs"
#define WHY_HIDDEN  "not found, and /proc cannot be read to search the containers; see --symfs"
#define WHY_MUTE    "its file system does not answer"
#define WHY_LATE    "debuginfod took too long; see DEBUGINFOD_MAXTIME"

/* ---- one candidate ---- */

/**
 * struct finding - @why: why the last candidate was refused. @is_missing: there is no such file
 * @is_late: debuginfod had no time to answer
 */
struct finding {
	const struct symbol_origin *origin;
	struct symbol_search *search;
	struct symbol_reader *reader;
	int fd;
	const char *why;
	bool no_memory, is_missing, is_late;
};

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static bool is_unchanged(const struct symbol_origin *origin, const struct stat *status)
{
	const struct timespec *latest = status->st_mtim.tv_sec > status->st_ctim.tv_sec ? &status->st_mtim
											: &status->st_ctim;

	return ns_of(latest) <= origin->mapped_ns;
}

/*
 * A file with another build id. A program can set its mtime, but not its ctime, which is when it
 * was written or got its name at the latest.
 */
static const char *why_other_id(const struct symbol_origin *origin, const struct stat *status)
{
	uint64_t ns = ns_of(&status->st_ctim);

	if (ns <= origin->mapped_ns)
		return WHY_OTHER;
	return ns <= origin->last_mapped_ns ? WHY_DURING : WHY_REBUILT;
}

/* Has the file @fd the recorded build id? Its reader stays for the names. */
static bool has_id(struct finding *finding, int fd)
{
	static struct symbol_answer answer;
	struct trace_error error;
	int result;

	symbol_reader_stop(finding->reader);
	result = symbol_reader_ask_id(finding->reader, fd, &answer, &error);
	finding->no_memory |= result == -ENOMEM;
	if (result)
		return false;
	if (finding->origin->identity == SYMBOL_WITH_ID)
		return !strcmp(answer.function, finding->origin->id);
	return !*answer.function;
}

static bool is_right(struct finding *finding, int fd, const struct stat *status, bool is_copy)
{
	const struct symbol_origin *origin = finding->origin;

	if (origin->identity == SYMBOL_UNRECORDED)
		return is_copy || !origin->ino || origin->ino == status->st_ino;
	if (origin->identity == SYMBOL_UNREAD) {
		finding->why = WHY_UNREAD;
		return is_copy || (origin->ino == status->st_ino && is_unchanged(origin, status));
	}
	if (!has_id(finding, fd)) {
		finding->why = why_other_id(origin, status);
		return false;
	}
	if (origin->identity == SYMBOL_WITH_ID || is_copy || is_unchanged(origin, status))
		return true;
	finding->why = WHY_CHANGED;
	return false;
}

/*
 * SECURITY: the path may come from a traced program, and another user may own the file and serve
 * its file system. A child opens it, and only a regular file. @is_copy: the user named the folder.
 */
static bool try_path(struct finding *finding, const char *path, bool is_copy)
{
	struct file_place place = {0};
	struct stat status;
	int fd;

	snprintf(place.name, sizeof(place.name), "%s", path);
	fd = file_opener_open(&finding->search->opener, &place, &status);
	finding->no_memory |= fd == -ENOMEM;
	finding->is_missing = fd == -ENOENT || fd == -ENOTDIR;
	if (fd == -ETIMEDOUT || fd == -EBUSY || fd == -EAGAIN) {
		finding->search->nr_unopened++;
		finding->search->open_err = fd;
		finding->why = fd == -EBUSY ? SYMBOL_WHY_FULL : WHY_MUTE;
	}
	if (fd < 0)
		return false;
	if (is_right(finding, fd, &status, is_copy)) {
		finding->fd = fd;
		return true;
	}
	symbol_reader_stop(finding->reader);
	close(fd);
	return false;
}

/* ---- candidates ---- */

static bool try_format(struct finding *finding, bool is_copy, const char *folder, const char *before, const char *name,
		       const char *after)
{
	char path[PATH_MAX];
	int chars = snprintf(path, sizeof(path), "%s%s%s%s", folder, before, name, after);

	return chars > 0 && (size_t)chars < sizeof(path) && try_path(finding, path, is_copy);
}

/*
 * Separate debug files, as .gnu_debuglink and build ids name them; their own build id is checked.
 */
static bool try_debug_files(struct finding *finding, const char *folder)
{
	const struct symbol_origin *origin = finding->origin;
	const char *slash = strrchr(origin->path, '/');
	char name[SYMBOL_ID_BYTES + 16], beside[PATH_MAX];

	if (origin->identity != SYMBOL_WITH_ID || strlen(origin->id) < 3)
		return false;
	snprintf(name, sizeof(name), "/.build-id/%.2s/%s", origin->id, origin->id + 2);
	if (try_format(finding, false, folder, "/usr/lib/debug", name, ".debug") ||
	    (*folder && try_format(finding, false, folder, "", name, ".debug")) ||
	    try_format(finding, false, folder, "/usr/lib/debug", origin->path, ".debug") ||
	    try_format(finding, false, folder, "", origin->path, ".debug"))
		return true;
	if (!slash || snprintf(beside, sizeof(beside), "%.*s/.debug", (int)(slash - origin->path), origin->path) >=
			      (int)sizeof(beside))
		return false;
	return try_format(finding, false, folder, beside, slash, ".debug");
}

/* Ask debuginfod, as the user wanted: its client fetches the file and prints its path. */
static bool try_debuginfod(struct finding *finding)
{
	char path[PATH_MAX];
	int result;

	if (!finding->search->debuginfod || finding->origin->identity != SYMBOL_WITH_ID)
		return false;
	result = symbol_server_find(finding->origin->id, &finding->search->debuginfod_ns, path);
	finding->no_memory |= result == -ENOMEM;
	finding->is_late = result == -ETIMEDOUT;
	return !result && try_path(finding, path, false);
}

/*
 * A process in a container has another file at this path, or one that is nowhere else. The build id
 * proves that it is the right one.
 */
static bool try_root(void *context, const char *root)
{
	struct finding *finding = context;

	return try_format(finding, false, root, "", finding->origin->path, "");
}

/* Returns as symbol_roots_search() does. */
static int try_containers(struct finding *finding)
{
	return finding->origin->identity == SYMBOL_WITH_ID && *finding->origin->path == '/'
		       ? symbol_roots_search(try_root, finding)
		       : 0;
}

bool symbol_origin_is_kept(const struct symbol_origin *origin, const struct symbol_search *search)
{
	return search->kept.has && origin->ino &&
	       (origin->identity == SYMBOL_WITH_ID || origin->identity == SYMBOL_WITHOUT_ID) &&
	       search->kept.has(search->kept.context, origin->dev, origin->ino);
}

/* A copy of the tables of the very inode, made while it was mapped, if it has the recorded id */
static bool try_kept(struct finding *finding)
{
	const struct trace_symbols_kept *kept = &finding->search->kept;
	const struct symbol_origin *origin = finding->origin;
	int fd;

	if (!symbol_origin_is_kept(origin, finding->search))
		return false;
	fd = kept->open(kept->context, origin->dev, origin->ino);
	finding->no_memory |= fd == -ENOMEM;
	if (fd < 0)
		return false;
	if (has_id(finding, fd)) {
		finding->fd = fd;
		return true;
	}
	symbol_reader_stop(finding->reader);
	close(fd);
	return false;
}

static bool find(struct finding *finding)
{
	const char *folder = finding->search->folder, *path = finding->origin->path, *refused;
	int found;

	if (*folder && (try_debug_files(finding, folder) || try_format(finding, true, folder, "", path, "")))
		return true;
	if (try_debug_files(finding, "") || try_debuginfod(finding))
		return true;
	refused = finding->why;
	finding->why = "";
	if (try_path(finding, path, false))
		return true;
	if (finding->is_missing && *path == '/') /* not [vdso] */
		finding->why = *refused ? refused : WHY_MISSING;
	refused = finding->why;
	found = try_containers(finding);
	finding->no_memory |= found == -ENOMEM;
	if (found <= 0)
		finding->why = found ? WHY_HIDDEN : refused;
	return found > 0 || try_kept(finding);
}

int symbol_origin_open(const struct symbol_origin *origin, struct symbol_search *search, struct symbol_reader *reader,
		       int *ret_fd, const char **ret_why)
{
	struct finding finding = {.origin = origin, .search = search, .reader = reader, .fd = -1, .why = ""};
	bool found = find(&finding);

	*ret_fd = found ? finding.fd : -1;
	*ret_why = finding.is_late ? WHY_LATE : found ? "" : finding.why;
	return !found && finding.no_memory ? -ENOMEM : 0;
}

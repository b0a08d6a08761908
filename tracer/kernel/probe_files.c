/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_files.c - the files that may be opened for a program: itself, its debug file, and the
 * supplementary file of dwz.
 *
 * SECURITY: the program contains the names of the latter two, and another user may have made it.
 * Only the folders that debuggers use are searched: the folder of the program, .debug/ in it, and
 * /usr/lib/debug. Each file is opened by regular_open().
 */
#include "probe_files.h"

#include <stdbool.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "probe_file.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* SECURITY: another user may serve the file, so a child opens it. */
static int open_regular(struct probe_files *files, const char *path)
{
	struct file_place place = {0};

	if ((size_t)snprintf(place.name, sizeof(place.name), "%s", path) >= sizeof(place.name))
		return -ENAMETOOLONG;
	return file_opener_open(&files->opener, &place, &files->status);
}

/* Open @path, unless it is the program itself. */
static int open_debug(struct probe_files *files, const char *path, bool remember)
{
	int fd;

	if (!strcmp(path, files->path))
		return -ENOENT;
	fd = open_regular(files, path);
	if (fd >= 0 && remember)
		snprintf(files->debug, sizeof(files->debug), "%s", path);
	return fd;
}

/* Debian's -dbgsym packages and similar ones. */
static int open_by_id(struct probe_files *files, const char *id, bool remember)
{
	size_t chars = strlen(id);
	char path[256];

	if (chars < 4 || chars > 128 || strspn(id, "0123456789abcdef") != chars)
		return -EPERM;
	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", id, id + 2);
	return open_debug(files, path, remember);
}

static bool is_plain_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..") && strlen(name) <= NAME_MAX;
}

/* Length of the folder part of @path, including the last slash. */
static int folder_chars(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* The file NAME in one of the folders that debuggers search, in their order. */
static int open_by_link(struct probe_files *files, enum probe_related which, const char *name)
{
	static const struct {
		const char *before;
		const char *below;
	} folders[] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
	size_t at = which - PROBE_FILE_DEBUG_LINK;
	char path[sizeof(files->debug)];

	if (!is_plain_name(name))
		return -EPERM;
	snprintf(path, sizeof(path), "%s%.*s%s%s", folders[at].before, folder_chars(files->path), files->path,
		 folders[at].below, name);
	return open_debug(files, path, true);
}

/* A plain name next to the debug file, or a path that resolves to a file below /usr/lib/debug. */
static int open_alt(struct probe_files *files, const char *name)
{
	const char *from = *files->debug ? files->debug : files->path;
	char path[sizeof(files->debug)], real[PATH_MAX];
	int result;

	if (*name == '/')
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%.*s%.4000s", folder_chars(from), from, name);
	if (is_plain_name(name))
		return open_debug(files, path, false);
	result = probe_real_path(path, real);
	if (result)
		return result;
	return strncmp(real, DEBUG_FOLDER "/", sizeof(DEBUG_FOLDER)) ? -EPERM : open_debug(files, real, false);
}

int probe_files_open(struct probe_files *files, enum probe_related which, const char *name)
{
	switch (which) {
	case PROBE_FILE_SELF:
		return open_regular(files, files->path);
	case PROBE_FILE_DEBUG_ID:
		return open_by_id(files, name, true);
	case PROBE_FILE_DEBUG_LINK:
	case PROBE_FILE_DEBUG_LINK_BELOW:
	case PROBE_FILE_DEBUG_LINK_GLOBAL:
		return open_by_link(files, which, name);
	case PROBE_FILE_ALT_ID:
		return open_by_id(files, name, false);
	case PROBE_FILE_ALT_PATH:
		return open_alt(files, name);
	}
	return -EPERM;
}

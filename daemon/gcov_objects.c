/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov_objects.c - find __gcov_root, the head of libgcov's lists, in each file that a process has
 * mapped: a local symbol that each program and each library built with --coverage has of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "error_set.h"
#include "file_opener.h"
#include "gcov_elf.h"
#include "gcov_objects.h"
#include "read_end.h"

#define MAX_SYMBOLS (16u << 20) /* of all files, and sections */

/** struct gcov_mapped - the first mapping of a file */
struct gcov_mapped {
	uint64_t begin, end, offset, inode;
	unsigned int major, minor;
	char path[4096];
};

/* ---- mappings ---- */

static bool parse_mapping(const char *line, struct gcov_mapped *ret)
{
	int path_at = -1;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->begin, &ret->end,
		   &ret->offset, &ret->major, &ret->minor, &ret->inode, &path_at) < 6 ||
	    path_at < 0 || line[path_at] != '/' || !ret->inode)
		return false;
	snprintf(ret->path, sizeof(ret->path), "%s", line + path_at);
	ret->path[strcspn(ret->path, "\n")] = '\0';
	return true;
}

/*
 * The very file that is mapped: by the kernel's link to it, or by its path if that has not
 * changed.
 */
static int open_mapped(struct file_opener *opener, pid_t pid, const struct gcov_mapped *mapped)
{
	struct file_place place = file_mapping((uint32_t)pid, mapped->begin, mapped->end);
	struct stat status;
	int fd = file_opener_open(opener, &place, &status);

	if (fd >= 0 || fd == -ETIMEDOUT || fd == -EBUSY)
		return fd;
	if (snprintf(place.name, sizeof(place.name), "/proc/%d/root%s", (int)pid, mapped->path) >=
	    (int)sizeof(place.name))
		return -ENAMETOOLONG;
	fd = file_opener_open(opener, &place, &status);
	if (fd >= 0 && (status.st_ino != mapped->inode || status.st_dev != makedev(mapped->major, mapped->minor))) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/** struct search - what gcov_objects_find() has found so far. @nr_left: of MAX_SYMBOLS */
struct gcov_search {
	struct gcov_object *objects;
	size_t nr;
	struct gcov_missing missing;
	struct file_opener opener;
	uint64_t nr_left;
};

static int add_object(struct gcov_search *search, const char *path, uint64_t root)
{
	struct gcov_object *bigger = reallocarray(search->objects, search->nr + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	search->objects = bigger;
	bigger[search->nr] = (struct gcov_object){strdup(path), root};
	return bigger[search->nr].path ? (search->nr++, 0) : -ENOMEM;
}

static int look_at(pid_t pid, const struct gcov_mapped *mapped, struct gcov_search *search)
{
	int fd = open_mapped(&search->opener, pid, mapped), err;
	struct gcov_root root;

	search->missing.nr_unread += fd == -ETIMEDOUT || fd == -EBUSY;
	if (fd < 0)
		return 0;
	err = gcov_elf_root(fd, mapped->offset, search->nr_left, &root);
	close(fd);
	if (err == -ETIMEDOUT) {
		files_note_unanswered((uint32_t)pid);
		search->missing.nr_unread++;
		return 0;
	}
	if (err)
		return err;
	search->nr_left -= root.nr_symbols;
	search->missing.nr_stripped += root.kind == GCOV_STRIPPED;
	search->missing.nr_unread += root.kind == GCOV_UNREAD;
	return root.kind == GCOV_HAS_ROOT ? add_object(search, mapped->path, mapped->begin + root.at) : 0;
}

/* The mappings of a file follow each other; its first one is looked at. */
static int look_at_all(pid_t pid, FILE *maps, struct gcov_search *search)
{
	struct gcov_mapped mapped, last = {0};
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, maps) >= 0) {
		if (!parse_mapping(line, &mapped) || (mapped.inode == last.inode && mapped.major == last.major &&
						      mapped.minor == last.minor && !strcmp(mapped.path, last.path)))
			continue;
		err = look_at(pid, &mapped, search);
		last = mapped;
	}
	if (!err)
		err = read_lines_error(maps);
	free(line);
	return err;
}

int gcov_objects_find(pid_t pid, struct gcov_object **ret_objects, size_t *ret_nr, struct gcov_missing *ret_missing,
		      struct trace_error *ret_error)
{
	struct gcov_search search = {.nr_left = MAX_SYMBOLS};
	FILE *maps = file_opener_text(&search.opener, (uint32_t)pid, "maps");
	int err;

	if (!maps) {
		err = -errno;
		file_opener_close(&search.opener);
		return error_set(ret_error, err == -ENOENT ? -ESRCH : err, "process %d: %s", (int)pid,
				 err == -ENOENT ? "there is no such process" : file_why(err));
	}
	err = look_at_all(pid, maps, &search);
	fclose(maps);
	file_opener_close(&search.opener);
	if (err) {
		gcov_objects_free(search.objects, search.nr);
		return error_set(ret_error, err, "process %d: %s", (int)pid, strerror(-err));
	}
	*ret_objects = search.objects;
	*ret_nr = search.nr;
	*ret_missing = search.missing;
	return 0;
}

void gcov_objects_free(struct gcov_object *objects, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(objects[i].path);
	free(objects);
}

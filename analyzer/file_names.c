/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_names.c - the names of files in reports
 *
 * A path may be that of several files in turn: an editor writes a new file and renames it over the
 * old one, while other programs have the old one open. Containers have different files under one
 * path, too. The rows of a report are by name, so each inode gets a name of its own:
 *
 *	/etc/conf                     the first inode that was used
 *	/etc/conf (2nd inode)         the next one, ...
 *	/etc/conf (8th inode)
 *	/etc/conf (later inodes)      all others together, so that the rows have a limit
 *
 * The numbers are in the order of use, so that two recordings of one program have the same names.
 * This is for regular files with a path. Those of /proc and /sys get a new inode whenever the
 * kernel needs one, for the same file.
 */
#include <stdio.h>
#include <string.h>
#include "file_names.h"
#include "kernel_numbers.h"
#include "state.h"

#define MAX_INODES  8
#define MAJOR_SHIFT 20 /* of the kernel's device numbers */

/*
 * An overlay gives a file the inode number of the real file, in bits that suffice for most file
 * systems, and a device of its own that is no disk.
 */
#define REAL_INODE_BITS 0xffffffffu

bool inode_shows(uint32_t dev, uint64_t ino, uint32_t real_dev, uint64_t real_ino)
{
	if (dev == real_dev)
		return ino == real_ino;
	return ino && !(dev >> MAJOR_SHIFT) && !((ino ^ real_ino) & REAL_INODE_BITS);
}

bool is_kernel_file(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

struct first_row {
	uint64_t key;
	uint64_t ino;
	uint32_t dev;
	uint32_t nr; /* inodes so far, this one included; 0: a new row */
};

struct name_row {
	uint64_t key;
	string_id string;
};

static string_id name_of(struct trace_analysis *a, string_id path, uint32_t number)
{
	static const char *const ending[] = {"th", "st", "nd", "rd"};
	const char *text = strings_text(&a->strings, path);
	char *name = NULL;
	int length = number > MAX_INODES
			     ? asprintf(&name, "%s (later inodes)", text)
			     : asprintf(&name, "%s (%u%s inode)", text, number, ending[number < 4 ? number : 0]);
	string_id id = length < 0 ? 0 : strings_take(&a->strings, name);
	struct name_row *row = id ? acct_row(a, &a->files.names.paths, sizeof(*row), id) : NULL;

	if (!row || a->failed) {
		a->failed = -ENOMEM;
		return path;
	}
	row->string = path;
	return id;
}

static string_id other_name(struct trace_analysis *a, const struct traced_file *file, string_id path,
			    struct first_row *first)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)path << 32 | file->dev) ^ file->ino) | 1;
	uint32_t number = first->nr + 1;
	struct name_row *row = acct_row(a, &a->files.names.others, sizeof(*row), key);

	if (row->string || a->failed)
		return a->failed ? path : row->string;
	if (first->nr <= MAX_INODES)
		first->nr++;
	row->string = name_of(a, path, number);
	return row->string;
}

__attribute__((noinline)) string_id file_name(struct trace_analysis *a, const struct traced_file *file, string_id path)
{
	const char *text = strings_text(&a->strings, path);
	struct first_row *first;

	if (!LINUX_S_ISREG(file->mode) || !file->ino || *text != '/' || is_kernel_file(text))
		return path;
	first = acct_row(a, &a->files.names.first, sizeof(*first), path);
	if (a->failed)
		return path;
	if (!first->nr) {
		first->nr = 1;
		first->ino = file->ino;
		first->dev = file->dev;
	}
	return inode_shows(first->dev, first->ino, file->dev, file->ino) ||
			       inode_shows(file->dev, file->ino, first->dev, first->ino)
		       ? path
		       : other_name(a, file, path, first);
}

string_id file_name_path(const struct file_names *names, string_id name)
{
	const struct name_row *row = names->paths.used && name ? table_find(&names->paths, sizeof(*row), name) : NULL;

	return row ? row->string : name;
}

void file_names_clear(struct file_names *names)
{
	table_clear(&names->first);
	table_clear(&names->others);
	table_clear(&names->paths);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_FILE_NAMES_H
#define ANALYZER_FILE_NAMES_H
/* file_names.h - the names of files in reports: a path, and which of its inodes, if several */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;
struct traced_file;

struct file_names {
	struct hash_table first;  /* path -> its first inode */
	struct hash_table others; /* path and inode -> name, for all but the first */
	struct hash_table paths;  /* such a name -> path */
};

/** file_name() - the name of @file in reports. @path: its path; returns @path or another string */
string_id file_name(struct trace_analysis *a, const struct traced_file *file, string_id path);
/** file_name_path() - the path of the file with this name */
string_id file_name_path(const struct file_names *names, string_id name);
/** inode_shows() - is inode @ino the same as @real_ino, or that of an overlay above it? */
bool inode_shows(uint32_t dev, uint64_t ino, uint32_t real_dev, uint64_t real_ino);
/** is_kernel_file() - is @path in a file system without a disk, whose data the kernel makes? */
bool is_kernel_file(const char *path);
void file_names_clear(struct file_names *names);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STORED_FILE_H
#define LIBTRACE_STORED_FILE_H
/* stored_file.h - the file of an open trace: is it still the same? */
#include <stdint.h>
#include <sys/stat.h>

static inline uint64_t file_mtime_ns(const struct stat *stat)
{
	return (uint64_t)stat->st_mtim.tv_sec * 1000000000u + (uint64_t)stat->st_mtim.tv_nsec;
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STORED_FILE_H
#define LIBTRACE_STORED_FILE_H
/* stored_file.h - the file of an open trace: is it still the same? */
#include <stdint.h>
#include <sys/stat.h>
#include "checksum.h"

#define FILE_HEAD_BYTES 4096u

/** file_head() - the checksum of the first bytes of a file of @bytes */
static inline uint64_t file_head(const void *data, size_t bytes)
{
	return checksum_of(data, bytes < FILE_HEAD_BYTES ? bytes : FILE_HEAD_BYTES);
}

static inline uint64_t file_mtime_ns(const struct stat *stat)
{
	return (uint64_t)stat->st_mtim.tv_sec * 1000000000u + (uint64_t)stat->st_mtim.tv_nsec;
}
#endif

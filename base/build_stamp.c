/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* build_stamp.c - tells builds of a program or library apart. */
#include <dlfcn.h>
#include <sys/stat.h>
#include "build_stamp.h"
#include "hash_table.h"

uint64_t build_stamp(void)
{
	static const char here;
	struct stat file;
	Dl_info info;

	if (!dladdr(&here, &info) || stat(info.dli_fname, &file) < 0)
		return 0;
	return hash_u64(hash_u64(hash_u64((uint64_t)file.st_size) ^ (uint64_t)file.st_mtim.tv_sec) ^
			(uint64_t)file.st_mtim.tv_nsec);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_OWN_CODE_H
#define TESTS_OWN_CODE_H
/* own_code.h - a built trace in which a process has the code of the test itself. */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include "builder.h"

/* Process @pid maps the file of this program as this one does. @code: any address in it */
static inline void tb_own_code(struct tb *tb, uint32_t pid, const void *code)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 256], path[PATH_MAX];
	unsigned long long start, end, offset;
	struct stat status;

	while (maps && fgets(line, sizeof(line), maps)) {
		struct trace_start_map map;

		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &offset, path) < 4 ||
		    (uintptr_t)code < start || (uintptr_t)code >= end || stat(path, &status))
			continue;
		map = (struct trace_start_map){
			.tgid = pid, .start = start, .end = end, .offset = offset, .ino = status.st_ino};
		tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), path);
	}
	if (maps)
		fclose(maps);
}
#endif

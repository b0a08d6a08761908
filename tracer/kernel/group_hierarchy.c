/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* group_hierarchy.c - the hierarchies of control groups that a recording shows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "read_end.h"
#include "group_hierarchy.h"

const char *tracer_group_path(const char *line, unsigned int hierarchy)
{
	char *end;
	unsigned long number = strtoul(line, &end, 10);

	if (end == line || *end != ':' || number != hierarchy)
		return NULL;
	end = strchr(end + 1, ':');
	return end ? end + 1 : NULL;
}

unsigned int tracer_group_hierarchy(void)
{
	FILE *file = fopen("/proc/cgroups", "re");
	unsigned int hierarchy = 0, number;
	char line[256];

	while (file && !hierarchy && fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu %u", &number) == 1)
			hierarchy = number;
	return read_end(file) < 0 ? 0 : hierarchy;
}

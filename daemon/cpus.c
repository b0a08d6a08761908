/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>
#include <unistd.h>

static uint32_t known;

/* The list ends with the highest CPU number: "0-3", "0,2-5". Returns 0 if it cannot be read. */
static uint32_t read_possible(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	char text[1024] = "";
	const char *last;
	unsigned long highest;
	char *end;

	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file) || !strchr(text, '\n'))
		*text = '\0'; /* a longer list is truncated, and its end is unknown */
	fclose(file);
	last = text + strlen(text);
	while (last > text && (!isdigit((unsigned char)*last) || isdigit((unsigned char)last[-1])))
		last--;
	highest = strtoul(last, &end, 10);
	return end > last && highest < TRACE_CPUS_MAX ? (uint32_t)highest + 1 : 0;
}

uint32_t possible_cpus(void)
{
	uint32_t nr = __atomic_load_n(&known, __ATOMIC_RELAXED);
	long configured;

	if (nr)
		return nr;
	nr = read_possible();
	configured = nr ? 0 : sysconf(_SC_NPROCESSORS_CONF);
	if (!nr)
		nr = configured > 0 && configured < (long)TRACE_CPUS_MAX ? (uint32_t)configured : TRACE_CPUS_MAX;
	__atomic_store_n(&known, nr, __ATOMIC_RELAXED);
	return nr;
}

void possible_cpus_pretend(uint32_t nr)
{
	__atomic_store_n(&known, nr, __ATOMIC_RELAXED);
}

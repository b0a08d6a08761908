/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CPUS_MAX = 8192
};

static uint32_t known;

/* A list of ranges such as "0-3,8-11": its last number is the highest. 0: the file is missing or holds no number. */
static uint32_t read_possible(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	char text[1024] = "";
	const char *last = NULL;

	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	for (const char *c = text; *c; c++)
		if (isdigit((unsigned char)*c) && (c == text || !isdigit((unsigned char)c[-1])))
			last = c;
	return last ? (uint32_t)strtoul(last, NULL, 10) + 1 : 0;
}

uint32_t possible_cpus(void)
{
	long configured;

	if (known)
		return known;
	known = read_possible();
	if (!known) {
		configured = sysconf(_SC_NPROCESSORS_CONF);
		known = configured > 0 ? (uint32_t)configured : 1;
	}
	known = known < CPUS_MAX ? known : CPUS_MAX;
	return known;
}

void possible_cpus_pretend(uint32_t nr)
{
	known = nr;
}

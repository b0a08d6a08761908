/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* number_parse.c - numbers and sizes as users type them. */
#include "number_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* strtoull() accepts signs and spaces; an option's value must begin with a digit. */
static int parse_leading(const char *text, uint64_t *ret_number, const char **ret_rest)
{
	char *rest;
	unsigned long long number;
	int base = strncmp(text, "0x", 2) == 0 ? 16 : 10; /* never octal: -n010 is ten */

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &rest, base);
	if (errno)
		return -ERANGE;
	*ret_number = number;
	*ret_rest = rest;
	return 0;
}

int number_parse(const char *text, uint64_t max, uint64_t *ret_number)
{
	const char *rest;
	uint64_t number;
	int err = parse_leading(text, &number, &rest);

	if (err)
		return err;
	if (*rest)
		return -EINVAL;
	if (number > max)
		return -ERANGE;
	*ret_number = number;
	return 0;
}

int size_parse(const char *text, uint64_t max, uint64_t *ret_bytes)
{
	static const char units[] = "kKmMgG";
	const char *rest, *unit;
	uint64_t number;
	int err = parse_leading(text, &number, &rest);

	if (err)
		return err;
	if (*rest) {
		unit = strchr(units, *rest);
		if (!unit || (rest[1] && strcmp(rest + 1, "B") && strcmp(rest + 1, "iB")))
			return -EINVAL;
		if (__builtin_mul_overflow(number, 1ULL << (10 * ((unit - units) / 2 + 1)), &number))
			return -ERANGE;
	}
	if (number > max)
		return -ERANGE;
	*ret_bytes = number;
	return 0;
}

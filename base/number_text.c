/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* number_text.c - numbers as all programs write them. */
#include "number_text.h"

#include <stddef.h>
#include <stdio.h>

struct text number_count(uint64_t count)
{
	struct text digits, out;
	int nr = snprintf(digits.s, sizeof(digits.s), "%llu", (unsigned long long)count);
	char *to = out.s;

	for (int i = 0; i < nr; i++) {
		if (i > 0 && (nr - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits.s[i];
	}
	*to = '\0';
	return out;
}

struct text number_events(uint64_t count)
{
	struct text out;

	snprintf(out.s, sizeof(out.s), "%.30s event%s", number_count(count).s, count == 1 ? "" : "s");
	return out;
}

struct text number_bytes(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	struct text out;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(out.s, sizeof(out.s), "%llu B", (unsigned long long)bytes);
		return out;
	}
	for (; value >= 1023.95 && unit < 5; unit++) /* rounds to 1024.0 */
		value /= 1024;
	snprintf(out.s, sizeof(out.s), "%.1f %s", value, units[unit]);
	return out;
}

struct claim_text number_claimed(uint64_t claimed, bool is_known)
{
	struct claim_text out = {""};

	if (!is_known)
		snprintf(out.s, sizeof(out.s), " (an unknown part of them counted by programs only)");
	else if (claimed)
		snprintf(out.s, sizeof(out.s), " (%.30s of them counted by programs only)", number_count(claimed).s);
	return out;
}

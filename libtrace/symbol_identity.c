/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_identity.c - the build ids that a trace has of the files that were mapped. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbol_origin.h"

bool symbol_origin_recorded(const struct trace *trace, uint32_t dev, uint64_t ino, char ret_id[SYMBOL_ID_BYTES])
{
	const char *text;

	for (uint64_t i = 0; (text = trace_string(trace, TRACE_STRING_BUILD_ID, i)); i++) {
		unsigned int its_dev;
		uint64_t its_ino;
		int used = 0;

		if (sscanf(text, "%u %" SCNu64 " %n", &its_dev, &its_ino, &used) < 2 || its_dev != dev ||
		    its_ino != ino)
			continue;
		snprintf(ret_id, SYMBOL_ID_BYTES, "%s", text + used);
		return true;
	}
	return false;
}

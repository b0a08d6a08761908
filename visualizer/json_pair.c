/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_pair.c - two values, their difference and ratio as JSON. */
#include <inttypes.h>
#include <math.h>
#include "json_pair.h"

void json_pair_known(struct json *json, const char *key, const uint64_t values[2], const bool known[2])
{
	json_open(json, key, "{");
	json_known(json, "a", values[0], known[0]);
	json_known(json, "b", values[1], known[1]);
	json_key(json, "difference");
	if (known[0] && known[1])
		fprintf(json->out, "%" PRId64, (int64_t)(values[1] - values[0]));
	else
		fputs("null", json->out);
	json_double(json, "ratio", known[0] && known[1] && values[0] ? (double)values[1] / (double)values[0] : NAN);
	json_close(json, "}");
}

void json_pair(struct json *json, const char *key, uint64_t a, uint64_t b)
{
	json_pair_known(json, key, (uint64_t[]){a, b}, (bool[]){true, true});
}

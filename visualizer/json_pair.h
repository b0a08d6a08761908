/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_JSON_PAIR_H
#define VISUALIZER_JSON_PAIR_H
/* json_pair.h - two values, their difference and ratio as JSON, of schema trace-diff/1 */
#include "json.h"

/** json_pair_known() - the value of A and B, null unless @known, and what follows from them */
void json_pair_known(struct json *json, const char *key, const uint64_t values[2], const bool known[2]);
/** json_pair() - the same for values that are known */
void json_pair(struct json *json, const char *key, uint64_t a, uint64_t b);
#endif

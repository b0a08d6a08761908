/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_JSON_H
#define BASE_JSON_H
/*
 * json.h - write JSON incrementally: the caller closes what it opens; commas are added
 * automatically.
 *
 * Begin with {.out = ..., .first = true}. Keys are NULL for the members of an array.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool first; /* true before the first member of the innermost object or array */
};

void json_open(struct json *json, const char *key, const char *bracket);
void json_close(struct json *json, const char *bracket);
void json_separate(struct json *json); /* before a value that the caller writes itself */
void json_key(struct json *json, const char *key);
void json_string(struct json *json, const char *text); /* quoted and escaped */
void json_u64(struct json *json, const char *key, uint64_t value);
/** json_known() - the value, or null unless @known */
void json_known(struct json *json, const char *key, uint64_t value, bool known);
void json_text(struct json *json, const char *key, const char *value);
/** json_double() - a number; null if it is infinite or not a number */
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
#endif

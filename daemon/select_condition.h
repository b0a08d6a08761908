/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SELECT_CONDITION_H
#define DAEMON_SELECT_CONDITION_H
/*
 * select_condition.h - conditions in the argument of -e: 'shop:paid[cents>5]' or 'shop:paid
 * cents>5'
 */
#include <stddef.h>
#include <trace/error.h>

/**
 * select_item_end() - the end of the item of a list that begins at @at: a comma outside of
 * brackets
 * and texts, or the end of the text
 */
const char *select_item_end(const char *at);

/**
 * select_split() - split "PATTERN[CONDITION]" or "PATTERN CONDITION"
 * Brackets without an operator belong to the pattern, as in 'shop:paid[0-9]'.
 * @ret_condition: "" if there is none; checked by condition_parse()
 * Returns 0 or -EINVAL with the reason.
 */
int select_split(const char *item, char *ret_pattern, size_t pattern_bytes, char *ret_condition, size_t condition_bytes,
		 struct trace_error *ret_error);

#endif

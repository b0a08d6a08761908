/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_NUMBER_TEXT_H
#define BASE_NUMBER_TEXT_H
/* number_text.h - numbers as all programs write them: docs/GLOSSARY.md, Numbers. */
#include <stdbool.h>
#include <stdint.h>

/** struct text - a small string returned by value, so that several fit into one printf */
struct text {
	char s[40];
};

/** number_count() - "999", "1,234,567" */
struct text number_count(uint64_t count);
/** number_events() - "1 event", "27,550 events" */
struct text number_events(uint64_t count);
/** number_bytes() - "812 B", "1.2 MiB": powers of 1024 */
struct text number_bytes(uint64_t bytes);

/**
 * struct claim_text - " (17 of them counted by programs only)", for behind a number of lost events
 */
struct claim_text {
	char s[72];
};
/**
 * number_claimed() - words for the part of lost events that only programs counted
 * Programs count in memory that they can write, so that no recorder can check the number: each
 * output that tells a number of lost events tells this part apart, in these words.
 * "" if it is 0. Unless @is_known, they say that it is unknown.
 */
struct claim_text number_claimed(uint64_t claimed, bool is_known);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_NUMBER_TEXT_H
#define BASE_NUMBER_TEXT_H
/* number_text.h - numbers as all programs write them: docs/GLOSSARY.md, Numbers. */
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
#endif

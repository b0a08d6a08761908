/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_BARS_H
#define VISUALIZER_BARS_H
/* bars.h - parts of a whole as lines with bars. */
#include <stdint.h>
#include "text_output.h"

/**
 * struct bar - one line; the column of labels is as wide as the widest one
 * @behind: text behind the bar, "" if there is none: as much of it as fits
 */
struct bar {
	char label[128];
	char behind[128];
	uint64_t ns;
};

/**
 * bars_put() - a line for each of @bars, with its time, its share of @whole_ns, and a bar of that
 * length: of blocks where the locale has them, else of '#'
 */
void bars_put(const struct text_output *output, const struct bar *bars, size_t nr, uint64_t whole_ns);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bars.c - lines with a label, a time, a share and a bar. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bars.h"
#include "charset.h"
#include "checked_memory.h"
#include "value_text.h"

#define INDENT	    2
#define LABEL_MAX   42 /* columns */
#define LABEL_MIN   8  /* columns, on a terminal that is too narrow */
#define TIME_WIDTH  11
#define SHARE_WIDTH 8
#define BAR_MAX	    40	/* columns of 100 % */
#define BAR_BEFORE  20	/* the same, with a text behind it */
#define NO_TERMINAL 100 /* columns where the output has no width */

/* @line: columns of it */
static size_t label_width(const struct bar *bars, size_t nr, size_t line)
{
	size_t width = 0,
	       most = line > INDENT + TIME_WIDTH + SHARE_WIDTH ? line - INDENT - TIME_WIDTH - SHARE_WIDTH : 0;

	most = most < LABEL_MIN ? LABEL_MIN : most < LABEL_MAX ? most : LABEL_MAX;

	for (size_t i = 0; i < nr; i++) {
		size_t own = text_width(bars[i].label);

		width = own > width ? own : width;
	}
	return width < most ? width : most;
}

/* @room: columns from the begin of the bar on; @drawn: of the bar */
static void put_behind(const struct text_output *output, const char *behind, int room, int drawn)
{
	char *shown;

	if (!*behind || room < drawn + 8)
		return;
	shown = text_cut(behind, (size_t)(room - drawn - 2));
	fprintf(output->out, "  %s", shown);
	free(shown);
}

/* @room: columns for the bar and what is behind it */
static void put_bar(const struct text_output *output, const struct bar *bar, uint64_t whole_ns, size_t label, int max,
		    int room, const char *block)
{
	char *shown = text_cut(bar->label, label);
	struct value_text time;
	double share = percent(bar->ns, whole_ns);
	int length = (int)(share * max / 100 + 0.5);

	fprintf(output->out, "%*s%s%*s%*s%*.1f %%", INDENT, "", shown, (int)(label - text_width(shown)), "", TIME_WIDTH,
		text_ns(output, bar->ns, &time), SHARE_WIDTH - 2, share);
	if (length > 0 || *bar->behind)
		fputs("  ", output->out);
	for (int i = 0; i < length && i < max; i++)
		fputs(block, output->out);
	put_behind(output, bar->behind, room, length < max ? length : max);
	fputs("\n", output->out);
	free(shown);
}

void bars_put(const struct text_output *output, const struct bar *bars, size_t nr, uint64_t whole_ns)
{
	const char *block = charset_is_utf8() ? "\xe2\x96\x88" : "#";
	size_t width = output->width ? output->width : NO_TERMINAL, label = label_width(bars, nr, width),
	       used = INDENT + label + TIME_WIDTH + SHARE_WIDTH + 2;
	int room = width > used + 1 ? (int)(width - used - 1) : 0, most = BAR_MAX, max;

	for (size_t i = 0; i < nr; i++)
		most = *bars[i].behind ? BAR_BEFORE : most;
	max = room < most ? room : most;
	for (size_t i = 0; i < nr; i++)
		put_bar(output, &bars[i], whole_ns, label, max, room, block);
}

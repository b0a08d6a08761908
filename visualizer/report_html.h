/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_HTML_H
#define VISUALIZER_REPORT_HTML_H
/*
 * report_html.h - --html: one file with the page, its engine and the trace, which a browser shows
 * without a network.
 */
#include <trace/reader.h>
#include "visualizer_options.h"

/**
 * report_html() - write the page of @trace to options->html
 * @other: a second trace, below it; NULL: none
 * options->window: the part that the page is about. The page has the events of the part, and of the
 *     others those that its figures need (page_part.h)
 * The same trace makes the same bytes. Returns 0; 1 after a message, with nothing written.
 */
int report_html(const struct trace *trace, const struct trace *other, const struct visualizer_options *options);
#endif

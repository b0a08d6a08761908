/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_HTML_H
#define VISUALIZER_REPORT_HTML_H
/*
 * report_html.h - --html: one file with the page, its engine and the whole trace, which a browser
 * shows without a network.
 */
#include <trace/reader.h>
#include "visualizer_options.h"

/**
 * report_html() - write the page of @trace to options->html
 * The same trace makes the same bytes. Returns 0; 1 after a message, with nothing written.
 */
int report_html(const struct trace *trace, const struct visualizer_options *options);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PAGES_H
#define VISUALIZER_REPORT_PAGES_H
/* report_pages.h - a page for each process, and one for the whole system. */
#include "process_rows.h"

/** report_pages() - a page for each of @rows above WORTH_A_ROW, up to the maximum */
void report_pages(const struct report *report, const struct process_row *rows, size_t nr);
/** report_system_page() - the page of the whole system; @f: its figures */
void report_system_page(const struct report *report, const struct trace_figures *f);
#endif

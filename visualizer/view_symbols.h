/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SYMBOLS_H
#define VISUALIZER_VIEW_SYMBOLS_H
/*
 * view_symbols.h - the names of code that questions about functions have found. The next question
 * needs most of them again, and to read the files again takes longer than all of its answer.
 *
 * Threads: any may ask. One has the names at a time, others wait for it.
 */
#include "report.h"

struct view_symbols;

struct view_symbols *view_symbols_new(void);
struct view_symbols *view_symbols_free(struct view_symbols *symbols); /* NULL is fine; returns NULL */
/** view_symbols_take() - @report names code by @symbols until view_symbols_give() */
void view_symbols_take(struct view_symbols *symbols, struct report *report);
/** view_symbols_give() - another thread may have them; no process that reads files stays */
void view_symbols_give(struct view_symbols *symbols, struct report *report);
#endif

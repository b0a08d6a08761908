/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGE_POLICY_H
#define VISUALIZER_PAGE_POLICY_H
/* page_policy.h - what a page that is one file may load and run. */
#include <stdio.h>
#include "page_files.h"

/**
 * page_policy_put() - the element of the page's head: nothing may be loaded, and only @script may
 * run
 * @script: with its digest
 * @more: behind the sources of scripts: further ones, and then other directives
 */
void page_policy_put(FILE *out, const struct page_file *script, const char *more);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_FLAME_PAGE_H
#define VISUALIZER_FLAME_PAGE_H
/* flame_page.h - the files of flame/, which are the page of --flame. */
#include "page_files.h"

const struct page_file *flame_page(void);
const struct page_file *flame_style(void);
const struct page_file *flame_script(void);
#endif

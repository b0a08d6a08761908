/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGE_ENGINE_H
#define VISUALIZER_PAGE_ENGINE_H
/* page_engine.h - what a self-contained page needs beside the files of the page. */
#include "page_files.h"

/** page_engine() - engine.wasm, as gzip; NULL: the program was built without it */
const struct page_file *page_engine(void);
/** page_loader() - the script that starts the page; page_worker() - that of the worker */
const struct page_file *page_loader(void);
const struct page_file *page_worker(void);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGE_FILES_H
#define VISUALIZER_PAGE_FILES_H
/* page_files.h - the files of the page, which the program contains. */
#include <stddef.h>

/** struct page_file - @bytes are static, without a NUL */
struct page_file {
	const char *name, *type;
	const char *bytes;
	size_t size;
	const unsigned char *sha256; /* 32 bytes, of a script that page_policy_put() allows; else NULL */
};
/** page_file() - the file @name, "" = index.html; NULL: there is none */
const struct page_file *page_file(const char *name);
/** page_file_at() - for lists; NULL past the last */
const struct page_file *page_file_at(size_t idx);
#endif

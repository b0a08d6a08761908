/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_files.c - the files of the page, as they are in page/: no build step changes them.
 *
 * CMake makes the list of the files in that folder.
 */
#include <string.h>
#include "page_files.h"

#define PAGE_FILE(id, name)                                                              \
	__asm__(".pushsection .rodata\n"                                                 \
		".balign 16\npage_" #id "_begin: .incbin \"" PAGE_FOLDER "/" name "\"\n" \
		"page_" #id "_end: .byte 0\n.popsection");                               \
	extern const char page_##id##_begin[] __attribute__((visibility("hidden"))),     \
		page_##id##_end[] __attribute__((visibility("hidden")));
#include "page_files.def"
#undef PAGE_FILE

static const struct {
	const char *name, *begin, *end;
} contents[] = {
#define PAGE_FILE(id, name) {name, page_##id##_begin, page_##id##_end},
#include "page_files.def"
#undef PAGE_FILE
};
#define NR_FILES (sizeof(contents) / sizeof(contents[0]))

static const char *type_of(const char *name)
{
	const char *ending = strrchr(name, '.');

	if (strcmp(ending, ".html") == 0)
		return "text/html; charset=utf-8";
	if (strcmp(ending, ".css") == 0)
		return "text/css; charset=utf-8";
	return "text/javascript; charset=utf-8";
}

const struct page_file *page_file_at(size_t idx)
{
	static _Thread_local struct page_file file;

	if (idx >= NR_FILES)
		return NULL;
	file = (struct page_file){.name = contents[idx].name,
				  .type = type_of(contents[idx].name),
				  .bytes = contents[idx].begin,
				  .size = (size_t)(contents[idx].end - contents[idx].begin)};
	return &file;
}

const struct page_file *page_file(const char *name)
{
	for (size_t i = 0; i < NR_FILES; i++)
		if (strcmp(contents[i].name, *name ? name : "index.html") == 0)
			return page_file_at(i);
	return NULL;
}

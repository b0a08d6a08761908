/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flame_page.c - the files of flame/, as they are. */
#include "flame_page.h"

#define PART(id, path)                                                                      \
	__asm__(".pushsection .rodata\n"                                                    \
		".balign 16\nflame_" #id "_begin: .incbin \"" FLAME_FOLDER "/" path "\"\n"  \
		"flame_" #id "_end: .byte 0\n.popsection");                                 \
	extern const char flame_##id##_begin[] __attribute__((visibility("hidden"))),       \
		flame_##id##_end[] __attribute__((visibility("hidden")));                   \
	const struct page_file *flame_##id(void)                                            \
	{                                                                                   \
		static struct page_file file;                                               \
                                                                                            \
		file = (struct page_file){path, "", flame_##id##_begin,                     \
					  (size_t)(flame_##id##_end - flame_##id##_begin)}; \
		return &file;                                                               \
	}

PART(page, "flame.html")
PART(style, "flame.css")
PART(script, "flame.js")

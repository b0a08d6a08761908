/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flame_page.c - the files of flame/, as they are. */
#include "flame_page.h"
#include "page_digests.h"

#define PART(id, path, digest)                                                                      \
	__asm__(".pushsection .rodata\n"                                                            \
		".balign 16\nflame_" #id "_begin: .incbin \"" FLAME_FOLDER "/" path "\"\n"          \
		"flame_" #id "_end: .byte 0\n.popsection");                                         \
	extern const char flame_##id##_begin[] __attribute__((visibility("hidden"))),               \
		flame_##id##_end[] __attribute__((visibility("hidden")));                           \
	const struct page_file *flame_##id(void)                                                    \
	{                                                                                           \
		static struct page_file file;                                                       \
                                                                                                    \
		file = (struct page_file){path, "", flame_##id##_begin,                             \
					  (size_t)(flame_##id##_end - flame_##id##_begin), digest}; \
		return &file;                                                                       \
	}

static const unsigned char flame_sha256[32] = SHA256_OF_flame;

PART(page, "flame.html", NULL)
PART(style, "flame.css", NULL)
PART(script, "flame.js", flame_sha256)

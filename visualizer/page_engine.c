/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_engine.c - engine.wasm, whose path is WEB_ENGINE, and the scripts of web/, as they are. */
#include "page_engine.h"
#include "page_digests.h"

#define PART(id, path, digest)                                                                                       \
	__asm__(".pushsection .rodata\n"                                                                             \
		".balign 16\nweb_" #id "_begin: .incbin \"" path "\"\n"                                              \
		"web_" #id "_end: .byte 0\n.popsection");                                                            \
	extern const char web_##id##_begin[] __attribute__((visibility("hidden"))),                                  \
		web_##id##_end[] __attribute__((visibility("hidden")));                                              \
	static const struct page_file *part_##id(const char *name, const char *type)                                 \
	{                                                                                                            \
		static struct page_file file;                                                                        \
                                                                                                                     \
		file = (struct page_file){name, type, web_##id##_begin, (size_t)(web_##id##_end - web_##id##_begin), \
					  digest};                                                                   \
		return &file;                                                                                        \
	}

static const unsigned char loader_sha256[32] = SHA256_OF_loader;

PART(loader, WEB_FOLDER "/loader.js", loader_sha256)
PART(worker, WEB_FOLDER "/worker.js", NULL)
#ifdef WEB_ENGINE
PART(engine, WEB_ENGINE, NULL)
#endif

const struct page_file *page_engine(void)
{
#ifdef WEB_ENGINE
	return part_engine("engine", "application/octet-stream");
#else
	return NULL;
#endif
}

const struct page_file *page_loader(void)
{
	return part_loader("loader.js", "text/javascript");
}

const struct page_file *page_worker(void)
{
	return part_worker("worker.js", "text/plain");
}

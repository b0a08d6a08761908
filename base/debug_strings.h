/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_DEBUG_STRINGS_H
#define BASE_DEBUG_STRINGS_H
/*
 * debug_strings.h - sections of debug information, before libdw reads them: strings that do not end
 * in their section, and sections that need memory
 *
 * libdw returns some strings without a look for their end, so that it and its callers read on
 * behind the section of a damaged file. This needs a section whose last byte is not zero.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** debug_is_section() - is @name, or NULL, that of a section with debug information? */
static inline bool debug_is_section(const char *name)
{
	return name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8));
}

/**
 * debug_sections_read() - read what dwarf_begin_elf() is about to read, and decompress it
 * That function recovers from failed allocations, and its last step overwrites errno. Here errno is
 * ENOMEM behind the call if there was none, if it was 0 before.
 */
static inline void debug_sections_read(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!debug_is_section(name))
			continue;
		if (name[1] == 'z')
			elf_compress_gnu(section, 0, 0);
		if (header.sh_flags & SHF_COMPRESSED)
			elf_compress(section, 0, 0);
		elf_getdata(section, NULL);
	}
}

#define DEBUG_STRINGS_MAX 4

/** struct debug_strings - @copies: of sections; free them after elf_end() */
struct debug_strings {
	void *copies[DEBUG_STRINGS_MAX]; /* owned, or NULL */
};

static inline void debug_strings_free(struct debug_strings *strings)
{
	for (size_t i = 0; i < DEBUG_STRINGS_MAX; i++)
		free(strings->copies[i]);
	*strings = (struct debug_strings){0};
}

/**
 * debug_strings_end() - put a zero behind the sections of @elf that have strings
 * Call it before dwarf_begin_elf(), which reads the same memory.
 * Returns false without memory: then libdw must not read the file.
 */
static inline bool debug_strings_end(Elf *elf, struct debug_strings *strings)
{
	static const char *const sections[DEBUG_STRINGS_MAX] = {"debug_info", "debug_types", "debug_str",
								"debug_line_str"};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		for (size_t i = 0; name && i < DEBUG_STRINGS_MAX; i++) {
			bool is_gnu = strncmp(name, ".z", 2) == 0;
			Elf_Data *data;
			char *copy;

			if (strings->copies[i] || strcmp(name[0] ? name + 1 + is_gnu : name, sections[i]) != 0)
				continue;
			if (is_gnu)
				elf_compress_gnu(section, 0, 0);
			if (header.sh_flags & SHF_COMPRESSED)
				elf_compress(section, 0, 0);
			data = elf_getdata(section, NULL);
			if (!data || !data->d_buf || data->d_size == 0 || !((char *)data->d_buf)[data->d_size - 1])
				continue;
			copy = malloc(data->d_size + 1);
			if (!copy)
				return false;
			memcpy(copy, data->d_buf, data->d_size);
			copy[data->d_size] = '\0';
			data->d_buf = strings->copies[i] = copy;
		}
	}
	return true;
}
#endif

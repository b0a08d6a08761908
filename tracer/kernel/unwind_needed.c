/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind_needed.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "unwind_elf.h"

#define MAX_ENTRIES 512

/** struct elf_dynamic - segments, and the dynamic section; @strings: offset in the file */
struct elf_dynamic {
	int fd;
	Elf64_Phdr segments[UNWIND_MAX_SEGMENTS];
	unsigned int nr_segments;
	Elf64_Dyn entries[MAX_ENTRIES];
	unsigned int nr_entries;
	uint64_t strings;
};

static bool read_whole(int fd, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX - bytes && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* A text of less than @room bytes, and zeros behind it; else all is 0. */
static void read_text(int fd, uint64_t offset, char *ret_text, size_t room)
{
	ssize_t got = offset <= INT64_MAX - room ? pread(fd, ret_text, room, (off_t)offset) : -1;
	size_t chars = got > 0 ? strnlen(ret_text, (size_t)got) : 0;

	if (got <= 0 || chars == (size_t)got)
		chars = 0;
	memset(ret_text + chars, 0, room - chars);
}

static bool read_segments(struct elf_dynamic *dynamic)
{
	Elf64_Ehdr head;

	if (!read_whole(dynamic->fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    head.e_phnum > UNWIND_MAX_SEGMENTS)
		return false;
	dynamic->nr_segments = head.e_phnum;
	return read_whole(dynamic->fd, dynamic->segments, head.e_phnum * sizeof(Elf64_Phdr), head.e_phoff);
}

static const Elf64_Phdr *find_segment(const struct elf_dynamic *dynamic, uint32_t type)
{
	for (unsigned int i = 0; i < dynamic->nr_segments; i++)
		if (dynamic->segments[i].p_type == type)
			return &dynamic->segments[i];
	return NULL;
}

/* The place in the file of an address. */
static uint64_t offset_of(const struct elf_dynamic *dynamic, uint64_t address)
{
	for (unsigned int i = 0; i < dynamic->nr_segments; i++) {
		const Elf64_Phdr *segment = &dynamic->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return segment->p_offset + (address - segment->p_vaddr);
	}
	return 0;
}

static bool read_entries(struct elf_dynamic *dynamic)
{
	const Elf64_Phdr *segment = find_segment(dynamic, PT_DYNAMIC);
	size_t bytes = segment && segment->p_filesz < sizeof(dynamic->entries) ? segment->p_filesz
									       : sizeof(dynamic->entries);

	if (!segment || !read_whole(dynamic->fd, dynamic->entries, bytes, segment->p_offset))
		return false;
	dynamic->nr_entries = (unsigned int)(bytes / sizeof(dynamic->entries[0]));
	for (unsigned int i = 0; i < dynamic->nr_entries; i++)
		if (dynamic->entries[i].d_tag == DT_STRTAB)
			dynamic->strings = offset_of(dynamic, dynamic->entries[i].d_un.d_ptr);
	return dynamic->strings != 0;
}

static void read_names(const struct elf_dynamic *dynamic, struct unwind_needed *needed)
{
	for (unsigned int i = 0; i < dynamic->nr_entries && dynamic->entries[i].d_tag != DT_NULL; i++) {
		const Elf64_Dyn *entry = &dynamic->entries[i];
		uint64_t at = dynamic->strings + entry->d_un.d_val;

		if (entry->d_tag == DT_RUNPATH || (entry->d_tag == DT_RPATH && !needed->folders[0]))
			read_text(dynamic->fd, at, needed->folders, sizeof(needed->folders));
		if (entry->d_tag != DT_NEEDED || needed->nr == UNWIND_MAX_NEEDED)
			continue;
		read_text(dynamic->fd, at, needed->names[needed->nr], UNWIND_NAME_BYTES);
		needed->nr += needed->names[needed->nr][0] != 0;
	}
}

void unwind_needed_read(int fd, struct unwind_needed *ret_needed)
{
	struct elf_dynamic dynamic = {.fd = fd};
	const Elf64_Phdr *interpreter;

	*ret_needed = (struct unwind_needed){0};
	if (!read_segments(&dynamic))
		return;
	interpreter = find_segment(&dynamic, PT_INTERP);
	if (interpreter)
		read_text(fd, interpreter->p_offset, ret_needed->interpreter, sizeof(ret_needed->interpreter));
	if (read_entries(&dynamic))
		read_names(&dynamic, ret_needed);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unwind_elf.c - finds .eh_frame: by its section, or else by the segment of its index, which a file
 * without section headers has, too.
 */
#include "unwind_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "unwind_table.h"

#define MAX_SECTIONS	   4096
#define MAX_NAMES_BYTES	   (1u << 20)
#define EH_FRAME_HDR_BYTES 8
#define PCREL_SDATA4	   0x1b

/** struct elf_file - @segments, @sections: owned */
struct elf_file {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
};

/** struct elf_span - a part of the file that is loaded at @address */
struct elf_span {
	uint64_t offset, bytes, address;
};

static int read_at(int fd, void *to, uint64_t bytes, uint64_t offset)
{
	uint64_t got = 0;

	if (offset > INT64_MAX - bytes)
		return -EBADMSG;
	while (got < bytes) {
		ssize_t n = pread(fd, (char *)to + got, bytes - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		got += (uint64_t)n;
	}
	return 0;
}

static int read_new(int fd, void **ret_bytes, uint64_t bytes, uint64_t offset)
{
	void *memory = malloc(bytes ? bytes : 1);
	int result = memory ? read_at(fd, memory, bytes, offset) : -ENOMEM;

	if (result)
		free(memory);
	else
		*ret_bytes = memory;
	return result;
}

/* ---- headers ---- */

static int read_head(struct elf_file *file)
{
	const Elf64_Ehdr *head = &file->head;
	int result = read_at(file->fd, &file->head, sizeof(file->head), 0);

	if (result)
		return result;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_ident[EI_DATA] != ELFDATA2LSB || head->e_machine != EM_X86_64 ||
	    head->e_phentsize != sizeof(Elf64_Phdr) || !head->e_phnum || head->e_phnum > UNWIND_MAX_SEGMENTS)
		return -EBADMSG;
	return read_new(file->fd, (void **)&file->segments, head->e_phnum * sizeof(Elf64_Phdr), head->e_phoff);
}

static void list_code(const struct elf_file *file, struct unwind_elf *elf)
{
	for (unsigned int i = 0; i < file->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
			elf->code[elf->nr_code++] = (struct unwind_segment){.address = segment->p_vaddr,
									    .bytes = segment->p_filesz,
									    .offset = segment->p_offset};
	}
}

/* ---- where it is ---- */

static bool has_name(const struct elf_file *file, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	static const char wanted[] = ".eh_frame";
	char name[sizeof(wanted)];

	return section->sh_name < names->sh_size && names->sh_size <= MAX_NAMES_BYTES &&
	       !read_at(file->fd, name, sizeof(name), names->sh_offset + section->sh_name) &&
	       !memcmp(name, wanted, sizeof(wanted));
}

static bool find_section(struct elf_file *file, struct elf_span *ret_span)
{
	const Elf64_Ehdr *head = &file->head;

	if (head->e_shentsize != sizeof(Elf64_Shdr) || !head->e_shnum || head->e_shnum > MAX_SECTIONS ||
	    head->e_shstrndx >= head->e_shnum ||
	    read_new(file->fd, (void **)&file->sections, head->e_shnum * sizeof(Elf64_Shdr), head->e_shoff))
		return false;
	for (unsigned int i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if ((section->sh_flags & SHF_ALLOC) && section->sh_type != SHT_NOBITS &&
		    has_name(file, &file->sections[head->e_shstrndx], section)) {
			*ret_span = (struct elf_span){section->sh_offset, section->sh_size, section->sh_addr};
			return true;
		}
	}
	return false;
}

/* The file from @address on, to the end of its segment. */
static bool find_address(const struct elf_file *file, uint64_t address, struct elf_span *ret_span)
{
	for (unsigned int i = 0; i < file->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t at = address - segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr && at < segment->p_filesz) {
			*ret_span = (struct elf_span){segment->p_offset + at, segment->p_filesz - at, address};
			return true;
		}
	}
	return false;
}

/* .eh_frame_hdr: version, three encodings, distance to .eh_frame (LSB Core 4.1, 10.6.2) */
static bool find_by_index(const struct elf_file *file, struct elf_span *ret_span)
{
	unsigned char index[EH_FRAME_HDR_BYTES];
	int32_t distance;

	for (unsigned int i = 0; i < file->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_GNU_EH_FRAME || segment->p_filesz < sizeof(index) ||
		    read_at(file->fd, index, sizeof(index), segment->p_offset) || index[0] != 1 ||
		    index[1] != PCREL_SDATA4)
			continue;
		memcpy(&distance, index + 4, sizeof(distance));
		return find_address(file, segment->p_vaddr + 4 + (uint64_t)(int64_t)distance, ret_span);
	}
	return false;
}

static int read_frames(struct elf_file *file, struct unwind_elf *elf)
{
	struct elf_span span;
	int result = read_head(file);

	if (result)
		return result;
	list_code(file, elf);
	if (!find_section(file, &span) && !find_by_index(file, &span))
		return -ENOENT;
	if (span.bytes > UNWIND_MAX_SECTION_BYTES)
		return -E2BIG;
	elf->frames_bytes = span.bytes;
	elf->frames_address = span.address;
	return read_new(file->fd, (void **)&elf->frames, span.bytes, span.offset);
}

int unwind_elf_read(int fd, struct unwind_elf *ret_elf)
{
	struct elf_file file = {.fd = fd};
	struct unwind_elf elf = {0};
	int result = read_frames(&file, &elf);

	free(file.segments);
	free(file.sections);
	if (!result)
		*ret_elf = elf;
	return result;
}

void unwind_elf_free(struct unwind_elf *elf)
{
	free(elf->frames);
	*elf = (struct unwind_elf){0};
}

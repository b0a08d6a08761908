/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_names.c - choose the sections with names of functions, and copy them.
 *
 * SECURITY: the file may belong to any user, and may change meanwhile. This code copies at most
 * MAX_SECTIONS section headers, follows no offset but through pread(), and adds no sizes that
 * overflow. It never maps the file.
 */
#include "elf_names.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECTIONS 1024
#define MAX_HEADERS  64
#define MAX_NOTE     4096u
#define PART_BYTES   32768u

/** struct elf_head - the headers of a file */
struct elf_head {
	Elf64_Ehdr file;
	Elf64_Phdr programs[MAX_HEADERS];
	Elf64_Shdr sections[MAX_SECTIONS];
};

/* ---- headers ---- */

static bool read_at(int fd, uint64_t offset, void *into, size_t bytes)
{
	return offset <= INT64_MAX - bytes && pread(fd, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_elf64(const Elf64_Ehdr *file)
{
	return !memcmp(file->e_ident, ELFMAG, SELFMAG) && file->e_ident[EI_CLASS] == ELFCLASS64 &&
	       file->e_phentsize == sizeof(Elf64_Phdr) && file->e_shentsize == sizeof(Elf64_Shdr) &&
	       file->e_phnum <= MAX_HEADERS && file->e_shnum && file->e_shnum <= MAX_SECTIONS;
}

static bool is_of_symbols(const Elf64_Shdr *section)
{
	return section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM;
}

/* Tables of symbols, the texts that they refer to, the names of the sections, and notes */
static bool is_kept(const struct elf_head *head, size_t idx)
{
	if (head->sections[idx].sh_type == SHT_NOTE)
		return head->sections[idx].sh_size <= MAX_NOTE;
	if (head->sections[idx].sh_type != SHT_STRTAB)
		return is_of_symbols(&head->sections[idx]);
	for (size_t i = 0; i < head->file.e_shnum; i++)
		if (is_of_symbols(&head->sections[i]) && head->sections[i].sh_link == idx)
			return true;
	return head->file.e_shstrndx == idx;
}

static bool has_symbols(const struct elf_head *head)
{
	for (size_t i = 0; i < head->file.e_shnum; i++)
		if (is_of_symbols(&head->sections[i]))
			return true;
	return false;
}

static void leave_out_others(struct elf_head *head)
{
	bool kept[MAX_SECTIONS];

	for (size_t i = 0; i < head->file.e_shnum; i++)
		kept[i] = is_kept(head, i);
	for (size_t i = 0; i < head->file.e_shnum; i++)
		if (!kept[i] && head->sections[i].sh_type != SHT_NULL)
			head->sections[i].sh_type = SHT_NOBITS;
}

/* NULL: no memory, or a file without names. The caller frees it. */
static struct elf_head *read_head(int fd)
{
	struct elf_head *head = calloc(1, sizeof(*head));

	if (head && read_at(fd, 0, &head->file, sizeof(head->file)) && is_elf64(&head->file) &&
	    read_at(fd, head->file.e_phoff, head->programs, head->file.e_phnum * sizeof(Elf64_Phdr)) &&
	    read_at(fd, head->file.e_shoff, head->sections, head->file.e_shnum * sizeof(Elf64_Shdr)) &&
	    has_symbols(head)) {
		leave_out_others(head);
		return head;
	}
	free(head);
	return NULL;
}

static uint64_t note_bytes(const Elf64_Phdr *program)
{
	return program->p_type != PT_NOTE ? 0 : program->p_filesz < MAX_NOTE ? program->p_filesz : MAX_NOTE;
}

/* ---- parts ---- */

/** struct part_sink - the caller's function; @fd: of the file */
struct part_sink {
	elf_names_fn fn;
	void *context;
	int fd;
};

static bool copy(const struct part_sink *sink, uint64_t offset, uint64_t bytes)
{
	unsigned char part[PART_BYTES];

	while (bytes) {
		size_t step = bytes < sizeof(part) ? (size_t)bytes : sizeof(part);

		if (!read_at(sink->fd, offset, part, step) || !sink->fn(sink->context, offset, part, step))
			return false;
		offset += step;
		bytes -= step;
	}
	return true;
}

static bool give(const struct part_sink *sink, uint64_t offset, const void *bits, size_t bytes)
{
	return !bytes || sink->fn(sink->context, offset, bits, bytes);
}

static bool give_all(const struct part_sink *sink, const struct elf_head *head)
{
	const Elf64_Ehdr *file = &head->file;
	bool is_good = give(sink, 0, file, sizeof(*file)) &&
		       give(sink, file->e_phoff, head->programs, file->e_phnum * sizeof(Elf64_Phdr)) &&
		       give(sink, file->e_shoff, head->sections, file->e_shnum * sizeof(Elf64_Shdr));

	for (size_t i = 0; is_good && i < file->e_phnum; i++)
		is_good = copy(sink, head->programs[i].p_offset, note_bytes(&head->programs[i]));
	for (size_t i = 0; is_good && i < file->e_shnum; i++)
		if (head->sections[i].sh_type != SHT_NULL && head->sections[i].sh_type != SHT_NOBITS)
			is_good = copy(sink, head->sections[i].sh_offset, head->sections[i].sh_size);
	return is_good;
}

uint64_t elf_names_bytes(int fd)
{
	struct elf_head *head = read_head(fd);
	uint64_t bytes = 0;
	bool is_good = head;

	if (head)
		bytes = sizeof(Elf64_Ehdr) + head->file.e_phnum * sizeof(Elf64_Phdr) +
			head->file.e_shnum * sizeof(Elf64_Shdr);
	for (size_t i = 0; is_good && i < head->file.e_phnum; i++)
		bytes += note_bytes(&head->programs[i]);
	for (size_t i = 0; is_good && i < head->file.e_shnum; i++)
		if (head->sections[i].sh_type != SHT_NULL && head->sections[i].sh_type != SHT_NOBITS)
			is_good = !__builtin_add_overflow(bytes, head->sections[i].sh_size, &bytes);
	free(head);
	return is_good ? bytes : 0;
}

bool elf_names_read(int fd, elf_names_fn fn, void *context)
{
	const struct part_sink sink = {fn, context, fd};
	struct elf_head *head = read_head(fd);
	bool is_good = head && give_all(&sink, head);

	free(head);
	return is_good;
}

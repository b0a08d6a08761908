/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build_id.c - read the build id of an ELF file.
 *
 * SECURITY: the file may belong to any user. This code copies at most MAX_HEADERS program headers
 * and MAX_NOTE_BYTES of each note, and follows no offset but through pread().
 */
#include "build_id.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADERS    64
#define MAX_NOTE_BYTES 4096

static size_t padded(uint32_t bytes)
{
	return ((size_t)bytes + 3) & ~(size_t)3;
}

static void print_hex(const unsigned char *bits, uint32_t bytes, char *text)
{
	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
}

static bool find_in_note(const unsigned char *note, size_t bytes, char id[static BUILD_ID_CHARS])
{
	Elf64_Nhdr head;

	while (bytes >= sizeof(head)) {
		const unsigned char *name = note + sizeof(head), *bits;
		size_t rest = bytes - sizeof(head);

		memcpy(&head, note, sizeof(head));
		if (padded(head.n_namesz) > rest || padded(head.n_descsz) > rest - padded(head.n_namesz))
			return false;
		bits = name + padded(head.n_namesz);
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    head.n_descsz <= BUILD_ID_BYTES) {
			print_hex(bits, head.n_descsz, id);
			return true;
		}
		note = bits + padded(head.n_descsz);
		bytes = rest - padded(head.n_namesz) - padded(head.n_descsz);
	}
	return false;
}

static bool find_in_segment(int fd, uint64_t offset, uint64_t size, char id[static BUILD_ID_CHARS])
{
	unsigned char note[MAX_NOTE_BYTES];
	ssize_t got;

	if (offset > INT64_MAX - MAX_NOTE_BYTES)
		return false;
	got = pread(fd, note, size < sizeof(note) ? size : sizeof(note), (off_t)offset);
	return got > 0 && find_in_note(note, (size_t)got, id);
}

static void find_id(int fd, char id[static BUILD_ID_CHARS])
{
	Elf64_Phdr headers[MAX_HEADERS];
	Elf64_Ehdr head;
	ssize_t got;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.e_phentsize != sizeof(headers[0]) ||
	    head.e_phoff > INT64_MAX)
		return;
	got = pread(fd, headers, sizeof(headers), (off_t)head.e_phoff);
	for (size_t i = 0; got > 0 && i < head.e_phnum && i < (size_t)got / sizeof(headers[0]); i++)
		if (headers[i].p_type == PT_NOTE && find_in_segment(fd, headers[i].p_offset, headers[i].p_filesz, id))
			return;
}

static bool is_elf64(int fd)
{
	unsigned char magic[EI_CLASS + 1];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, ELFMAG, SELFMAG) &&
	       magic[EI_CLASS] == ELFCLASS64;
}

bool build_id_read(int fd, char ret_id[static BUILD_ID_CHARS])
{
	*ret_id = '\0';
	if (!is_elf64(fd))
		return false;
	find_id(fd, ret_id);
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * maps.c - records where a program's code is mapped, as events program:map, so that the addresses
 * in other events get names
 * It is in each of the preload libraries. It runs when the program starts, and again when it ends,
 * for files loaded meanwhile (dlopen).
 */
#include <link.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <trace/tracepoint.h>
#include <unistd.h>

#define ID_BYTES      64 /* of a build id; usually 20 */
#define ROUND4(bytes) (((size_t)(bytes) + 3) & ~(size_t)3)

/*
 * The build id of a loaded file in hexadecimal, from its note in memory; "" if it has none. A
 * program that is built again at the same path has another one.
 */
static void print_id(const struct dl_phdr_info *info, char id[static 2 * ID_BYTES + 1])
{
	*id = '\0';
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;

		while (segment->p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			const unsigned char *bits = (const void *)(at + sizeof(*note) + ROUND4(note->n_namesz));

			if (ROUND4(note->n_namesz) + ROUND4(note->n_descsz) > (size_t)(end - at) - sizeof(*note))
				break;
			at = (const char *)bits + ROUND4(note->n_descsz);
			if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || note->n_descsz > ID_BYTES ||
			    memcmp(note + 1, "GNU", 4))
				continue;
			for (unsigned int j = 0; j < note->n_descsz; j++) {
				id[2 * j] = "0123456789abcdef"[bits[j] >> 4];
				id[2 * j + 1] = "0123456789abcdef"[bits[j] & 15];
			}
			id[2 * note->n_descsz] = '\0';
		}
	}
}

static int record_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const uintptr_t page = 4095;
	char program[PATH_MAX], build_id[2 * ID_BYTES + 1];
	const char *path = info->dlpi_name;
	ssize_t bytes;

	if (!*path) {
		bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);
		program[bytes > 0 ? bytes : 0] = '\0';
		path = program;
	} else if (*path != '/' && strchr(path, '/') && realpath(path, program)) {
		path = program; /* found by a relative path: LD_LIBRARY_PATH=., dlopen("./plugin.so") */
	}
	if (*path != '/')
		return 0; /* the kernel's vdso */
	print_id(info, build_id);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const void *start = (const void *)((info->dlpi_addr + segment->p_vaddr) & ~page);
		const void *end = (const void *)((info->dlpi_addr + segment->p_vaddr + segment->p_memsz + page) &
						 ~page);
		uint64_t offset = segment->p_offset & ~page;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
			tracepoint(program, map, start, end, offset, path, build_id);
	}
	return 0;
}

static __attribute__((constructor)) void record_at_start(void)
{
	dl_iterate_phdr(record_object, NULL);
}

static __attribute__((destructor)) void record_at_end(void)
{
	dl_iterate_phdr(record_object, NULL);
}

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

static int record_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const uintptr_t page = 4095;
	char program[PATH_MAX];
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
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const void *start = (const void *)((info->dlpi_addr + segment->p_vaddr) & ~page);
		const void *end = (const void *)((info->dlpi_addr + segment->p_vaddr + segment->p_memsz + page) &
						 ~page);
		uint64_t offset = segment->p_offset & ~page;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
			tracepoint(program, map, start, end, offset, path);
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

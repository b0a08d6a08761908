/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_NEEDED_H
#define TRACER_UNWIND_NEEDED_H
/*
 * unwind_needed.h - the files that the linker loads with an ELF file: its linker and its libraries.
 * SECURITY: as in unwind_table.h
 */
#include <stdint.h>

#define UNWIND_MAX_NEEDED  64
#define UNWIND_PATH_BYTES  256
#define UNWIND_NAME_BYTES  128
#define UNWIND_FOLDER_ROOM 1024

/**
 * struct unwind_needed - texts end with 0; one that does not fit is left out
 * @interpreter: a path, or "". @folders: DT_RUNPATH or DT_RPATH, separated by colons, or ""
 * @names: DT_NEEDED
 */
struct unwind_needed {
	char interpreter[UNWIND_PATH_BYTES];
	char folders[UNWIND_FOLDER_ROOM];
	char names[UNWIND_MAX_NEEDED][UNWIND_NAME_BYTES];
	uint32_t nr;
};

/** unwind_needed_read() - those of the file @fd; a text that cannot be read is missing */
void unwind_needed_read(int fd, struct unwind_needed *ret_needed);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_ELF_H
#define TRACER_UNWIND_ELF_H
/* unwind_elf.h - .eh_frame of an ELF file, and where its code is in the file. SECURITY: as in
 * unwind_table.h */
#include <stdint.h>

#define UNWIND_MAX_SEGMENTS 64

/** struct unwind_segment - code: the addresses from @address on are in the file from @offset on */
struct unwind_segment {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset;
};

/** struct unwind_elf - @frames: .eh_frame, at @frames_address; owned */
struct unwind_elf {
	unsigned char *frames;
	uint64_t frames_bytes;
	uint64_t frames_address;
	struct unwind_segment code[UNWIND_MAX_SEGMENTS];
	uint32_t nr_code;
};

/** unwind_elf_read() - returns 0 or an errno as unwind_table_compile(); nothing is owned then */
int unwind_elf_read(int fd, struct unwind_elf *ret_elf);
void unwind_elf_free(struct unwind_elf *elf);

#endif

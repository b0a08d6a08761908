/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_BUILD_ID_H
#define BASE_BUILD_ID_H
/* build_id.h - the number by which a program, a library and its debug file know each other. */
#include <stdbool.h>

#define BUILD_ID_BYTES 64
#define BUILD_ID_CHARS (2 * BUILD_ID_BYTES + 1) /* in hexadecimal */

/**
 * build_id_read() - of the file @fd, which any user may have written
 * @ret_id: "" if it has none. Returns false if it is no ELF file of 64 bits.
 */
bool build_id_read(int fd, char ret_id[static BUILD_ID_CHARS]);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H
/*
 * regular.h - the only way to open a program, a library or a debug file, because another user may
 * have chosen its path.
 */
#include <stdint.h>

#define REGULAR_MAX_BYTES (4ull << 30) /* larger files are refused */

/**
 * regular_open() - open a regular file of at most REGULAR_MAX_BYTES for reading; refuse any other
 * file
 * A FIFO, a terminal or a device is refused before it is opened. Opening it could block for ever,
 * make it the controlling terminal, or start a watchdog.
 * Read the descriptor with read() or pread(). If the caller mapped the file and its owner shortened
 * it, SIGBUS would end the reader.
 * Returns a descriptor (close-on-exec) that the caller closes; or -EINVAL (not a regular file),
 * -EFBIG, or the negative errno of open().
 */
int regular_open(const char *path);

/**
 * regular_open_at() - the same for the file @name in the folder of the descriptor @folder; a
 * symbolic link is refused
 */
int regular_open_at(int folder, const char *name);

#endif

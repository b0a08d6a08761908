/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H
/* regular.h - the one way to open a program, a library or a debug file, whose path another user may have chosen. */
#include <stdint.h>

#define REGULAR_MOST_BYTES (4ull << 30) /* a larger program or debug file is refused */

/**
 * regular_open() - open a regular file of at most REGULAR_MOST_BYTES for reading, and nothing else
 * A FIFO, a terminal or a device is refused before it is opened: its open() could wait for ever, become the controlling terminal, or start a watchdog.
 * Read the descriptor with read() or pread(): a mapping of a file that its owner shortens ends the reader with SIGBUS.
 * Returns a descriptor (close-on-exec), to be closed by the caller; or -EINVAL (not a regular file), -EFBIG, or the errno of open().
 */
int regular_open(const char *path);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BYTES_PRESENT_H
#define DAEMON_BYTES_PRESENT_H
/* bytes_present.h - where the file of a program's memory has pages */
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#define SMALLEST_PAGE_BYTES 4096 /* of all machines */

/**
 * bytes_present() - number of bytes from @offset to the first hole, at most @bytes
 * SECURITY: one page after the other. SEEK_HOLE passes all data behind @offset, which takes the
 * longer the larger a program makes its memory: 10 us for each MiB.
 */
static inline size_t bytes_present(int fd, off_t offset, size_t bytes)
{
	off_t at = offset, end = offset + (off_t)bytes;

	while (at < end && lseek(fd, at, SEEK_DATA) == at)
		at = (at / SMALLEST_PAGE_BYTES + 1) * SMALLEST_PAGE_BYTES;
	return (size_t)((at < end ? at : end) - offset);
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_FILE_SERVER_H
#define BASE_FILE_SERVER_H
/* file_server.h - is there a process of another user behind a file system? */
#include <stdbool.h>

/**
 * file_is_served() - may another user's process serve the open file @fd, and not answer?
 * A user can mount only FUSE of the file systems with a server, and overlays above it. Both count,
 * unless a mount of this namespace says that root or this user made it, or an overlay shows extents
 * of a disk, which FUSE has not. Calls the file system, so it may wait for ever
 */
bool file_is_served(int fd);

#endif

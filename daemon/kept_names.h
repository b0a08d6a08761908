/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEPT_NAMES_H
#define DAEMON_KEPT_NAMES_H
/*
 * kept_names.h - the tables of function names of a file that may be gone when the recording ends
 *
 * They are in memory, within a budget of the process, of each user, and of each file. A thread
 * fills them in; afterwards they never change, and any thread may use them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KEPT_NAMES_BYTES      (64ull << 20)
#define KEPT_NAMES_USER_BYTES (32ull << 20) /* of the files of one user */
#define KEPT_NAMES_FILE_BYTES (16ull << 20)

struct kept_names;

/**
 * kept_names_new() - room for @bytes in parts of a file of the user @owner
 * Returns NULL: the budget has none, or no memory
 */
struct kept_names *kept_names_new(uid_t owner, uint64_t bytes);
/** kept_names_add() - a part of the file. Returns false: more than the promised bytes */
bool kept_names_add(struct kept_names *names, uint64_t offset, const void *part, size_t bytes);
/** kept_names_use() - one more user of @names, which may be NULL; returns @names */
struct kept_names *kept_names_use(struct kept_names *names);
/** kept_names_free() - one user less; the last one gives the room back. Accepts and returns NULL */
struct kept_names *kept_names_free(struct kept_names *names);

/**
 * kept_names_open() - a file in memory with the parts at their offsets, and holes between them
 * Returns a descriptor that the caller closes, or a negative errno
 */
int kept_names_open(const struct kept_names *names);

#endif

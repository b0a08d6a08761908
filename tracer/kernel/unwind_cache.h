/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_CACHE_H
#define TRACER_UNWIND_CACHE_H
/*
 * unwind_cache.h - unwind tables on disk, so that the next recording has them at once
 *
 * SECURITY: a build id would be no key. Any user can write a file with the build id of libc, and
 * its table would be that of libc in all later recordings. The key is what the kernel says of the
 * file: device, inode, size, times of the last changes. A user cannot choose the time of a change
 * (ctime). Devices without a stable number (overlayfs, tmpfs) count for one boot only. Tables of
 * other builds of this program are not used.
 *
 * The folder is /var/cache/tracetoolkit/unwind for root, and else $XDG_CACHE_HOME or ~/.cache. It
 * has to belong to the user of the daemon, and no other user may write to it. A table is read into
 * memory of its own and used only if its sizes and its checksum are right. Not for several threads
 * at once; several daemons may use the same folder.
 */
#include <stdbool.h>
#include <stdint.h>
#include "unwind_table.h"

#define UNWIND_CACHE_MAX_BYTES (256ull << 20)

/** struct unwind_cache - @folder: a descriptor, owned; -1: there is no cache */
struct unwind_cache {
	int folder;
};

/** struct unwind_cache_key - identifies the content of a file, and the build of this program */
struct unwind_cache_key {
	uint64_t dev, ino, bytes, mtime_ns, ctime_ns, boot, build;
};

/** struct unwind_cached - a table on disk. @fd: owned */
struct unwind_cached {
	int fd;
	uint32_t nr_words;
	uint32_t nr_pages;
	uint64_t checksum;
};

/** unwind_cache_open() - the cache of this user; without a safe folder, one that is always empty */
struct unwind_cache unwind_cache_open(void);
/** unwind_cache_close() - also deletes the tables used longest ago, beyond @max_bytes */
void unwind_cache_close(struct unwind_cache *cache, uint64_t max_bytes);

/**
 * unwind_cache_key() - the key of the open file @fd
 * Returns 0; -EAGAIN: it changed so recently that a later change may have the same time, or another
 * user serves it, so its table must not be kept; or an errno of statx()
 */
int unwind_cache_key(int fd, struct unwind_cache_key *ret_key);

/** unwind_cache_find() - returns 0, with sizes within the limits of a table; -ENOENT */
int unwind_cache_find(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		      struct unwind_cached *ret_cached);
/**
 * unwind_cache_take() - read the table into @words, which has room for cached->nr_words, and close
 * the file. Returns 0; -EBADMSG: the table is damaged, and is deleted
 */
int unwind_cache_take(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		      struct unwind_cached *cached, uint64_t *words);
/** unwind_cache_put() - keep a table. Returns 0 or a negative errno, which a caller may ignore */
int unwind_cache_put(const struct unwind_cache *cache, const struct unwind_cache_key *key,
		     const struct unwind_table *table);

#endif

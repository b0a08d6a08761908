/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_INDEX_H
#define DAEMON_USER_INDEX_H
/*
 * user_index.h - a hash table of programs by a number. The links are members of the items, so the
 * table allocates no memory.
 */
#include <stddef.h>
#include <stdint.h>

/** struct user_link - a link in @item; zeroed: in no index */
struct user_link {
	struct user_link *next;
	uint64_t key;
	void *item;
};

#define USER_INDEX_BUCKETS 4096u

/** struct user_index - zeroed: empty. Several links may have the same key */
struct user_index {
	struct user_link *buckets[USER_INDEX_BUCKETS];
};

void user_index_add(struct user_index *index, struct user_link *link, uint64_t key, void *item);
/** user_index_remove() - remove a link; does nothing if it is in no index */
void user_index_remove(struct user_index *index, struct user_link *link);

/**
 * user_index_next() - the next item with @key after @link, or the first one if @link is NULL; NULL:
 * none
 */
struct user_link *user_index_next(const struct user_index *index, uint64_t key, const struct user_link *link);
#endif

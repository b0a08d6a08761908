/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_INDEX_H
#define DAEMON_USER_INDEX_H
/* user_index.h - programs by one number each: a hash table whose links are in what it holds, so that it needs no
 * memory of its own. */
#include <stddef.h>
#include <stdint.h>

/** struct user_link - zeroed: in no index. @item: what the link is in */
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
/** user_index_remove() - a link that is in no index is left alone */
void user_index_remove(struct user_index *index, struct user_link *link);

/** user_index_next() - the next item with @key behind @link, or the first one behind NULL; NULL: there is none */
struct user_link *user_index_next(const struct user_index *index, uint64_t key, const struct user_link *link);
#endif

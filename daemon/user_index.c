/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_index.h"

static size_t bucket_of(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> 52) % USER_INDEX_BUCKETS;
}

void user_index_add(struct user_index *index, struct user_link *link, uint64_t key, void *item)
{
	struct user_link **bucket = &index->buckets[bucket_of(key)];

	*link = (struct user_link){.next = *bucket, .key = key, .item = item};
	*bucket = link;
}

void user_index_remove(struct user_index *index, struct user_link *link)
{
	struct user_link **link_at = &index->buckets[bucket_of(link->key)];

	if (!link->item)
		return;
	while (*link_at && *link_at != link)
		link_at = &(*link_at)->next;
	if (*link_at)
		*link_at = link->next;
	*link = (struct user_link){0};
}

struct user_link *user_index_next(const struct user_index *index, uint64_t key, const struct user_link *link)
{
	struct user_link *next = link ? link->next : index->buckets[bucket_of(key)];

	while (next && next->key != key)
		next = next->next;
	return next;
}

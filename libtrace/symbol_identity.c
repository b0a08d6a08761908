/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_identity.c - the build ids that a trace has of the files that were mapped.
 *
 * A trace has some hundred of them, and asks for some for each mapping of each process: they are
 * taken apart once.
 *
 * A file system gives the inode number of a deleted file to a new one. Then the number has several
 * build ids, each from a time on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_room.h"
#include "symbol_identity.h"

/** struct stored_identity - a number of files. @first: idx + 1 of the latest text; 0: none */
struct stored_identity {
	uint64_t key; /* of device and inode */
	uint64_t ino;
	uint32_t dev, first;
};

static uint64_t key_of(uint32_t dev, uint64_t ino)
{
	uint64_t key = hash_u64(ino) ^ hash_u64(dev);

	return key + !key;
}

static bool add_known(struct symbol_identities *identities, uint32_t dev, uint64_t ino, struct symbol_known known)
{
	struct stored_identity *row = table_add(&identities->files, sizeof(*row), key_of(dev, ino));

	if (!row ||
	    !array_room((void **)&identities->known, identities->nr, &identities->room, sizeof(*identities->known)))
		return false;
	if (row->first && (row->dev != dev || row->ino != ino))
		return true;
	known.next = row->first;
	identities->known[identities->nr++] = known;
	*row = (struct stored_identity){.key = row->key, .ino = ino, .dev = dev, .first = identities->nr};
	return true;
}

/* "DEV INODE ID" or "DEV INODE ID SINCE" */
static bool add_identity(struct symbol_identities *identities, const char *text)
{
	struct symbol_known known = {.id = ""};
	unsigned long long dev, ino;
	char *rest;

	dev = strtoull(text, &rest, 10);
	if (rest == text || *rest != ' ' || dev > UINT32_MAX)
		return true;
	text = rest + 1;
	ino = strtoull(text, &rest, 10);
	if (rest == text || *rest != ' ')
		return true;
	known.id = rest + 1;
	known.chars = strcspn(known.id, " ");
	if (known.id[known.chars])
		known.since_ns = strtoull(known.id + known.chars, NULL, 10);
	known.is_unread = known.chars == 1 && *known.id == '?';
	if (known.is_unread || (known.chars == 1 && *known.id == '-'))
		known.chars = 0;
	return add_known(identities, (uint32_t)dev, ino, known);
}

int symbol_identities_read(struct symbol_identities *identities, const struct trace *trace)
{
	const char *text;
	bool is_good = true;

	for (uint64_t i = 0; is_good && (text = trace_string(trace, TRACE_STRING_BUILD_ID, i)); i++)
		is_good = add_identity(identities, text);
	return is_good ? 0 : -ENOMEM;
}

void symbol_identities_clear(struct symbol_identities *identities)
{
	table_clear(&identities->files);
	free(identities->known);
	*identities = (struct symbol_identities){0};
}

/* If two texts have the same time, one without "?" counts, else the first in the trace. */
const struct symbol_known *symbol_identity_at(const struct symbol_identities *identities, uint32_t dev, uint64_t ino,
					      uint64_t ts_ns)
{
	const struct stored_identity *row = table_find(&identities->files, sizeof(*row), key_of(dev, ino));
	const struct symbol_known *best = NULL;

	if (!row || row->dev != dev || row->ino != ino)
		return NULL;
	for (uint32_t at = row->first; at; at = identities->known[at - 1].next) {
		const struct symbol_known *known = &identities->known[at - 1];

		if (known->since_ns > ts_ns || (best && known->since_ns < best->since_ns))
			continue;
		if (best && known->since_ns == best->since_ns && known->is_unread)
			continue;
		best = known;
	}
	return best;
}

void symbol_identity_put(const struct symbol_known *known, struct symbol_origin *origin)
{
	if (!known)
		return;
	origin->identity = SYMBOL_WITHOUT_ID;
	if (known->is_unread)
		origin->identity = SYMBOL_UNREAD;
	else if (known->chars)
		origin->identity = SYMBOL_WITH_ID;
	snprintf(origin->id, sizeof(origin->id), "%.*s", (int)known->chars, known->id);
}

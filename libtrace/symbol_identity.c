/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_identity.c - the build ids that a trace has of the files that were mapped.
 *
 * A trace has some hundred of them, and asks for some for each mapping of each process: they are
 * taken apart once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_identity.h"

/** struct stored_identity - a file. @id: borrowed from the trace; NULL: none was recorded */
struct stored_identity {
	uint64_t key; /* of device and inode */
	uint64_t ino;
	const char *id;
	uint32_t dev;
};

static uint64_t key_of(uint32_t dev, uint64_t ino)
{
	uint64_t key = hash_u64(ino) ^ hash_u64(dev);

	return key + !key;
}

/* "DEV INODE ID"; the first one of a file counts. */
static bool add_identity(struct symbol_identities *identities, const char *text)
{
	struct stored_identity *row;
	unsigned long long dev, ino;
	char *rest;

	dev = strtoull(text, &rest, 10);
	if (rest == text || *rest != ' ' || dev > UINT32_MAX)
		return true;
	text = rest + 1;
	ino = strtoull(text, &rest, 10);
	if (rest == text || *rest != ' ')
		return true;
	row = table_add(&identities->files, sizeof(*row), key_of((uint32_t)dev, ino));
	if (row && !row->id)
		*row = (struct stored_identity){
			.key = row->key, .ino = ino, .dev = (uint32_t)dev, .id = rest + strspn(rest, " ")};
	return row;
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
}

bool symbol_identity_of(const struct symbol_identities *identities, uint32_t dev, uint64_t ino,
			char ret_id[SYMBOL_ID_BYTES])
{
	const struct stored_identity *row = table_find(&identities->files, sizeof(*row), key_of(dev, ino));

	if (!row || row->dev != dev || row->ino != ino)
		return false;
	snprintf(ret_id, SYMBOL_ID_BYTES, "%s", row->id);
	return true;
}

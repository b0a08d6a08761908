/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack_deal.c - the third step of packing: copy each payload to the lane of its type. */
#include "pack_deal.h"

#include "pack.h"
#include "pack_scan.h"
#include "packer.h"

#include <string.h>
#include <xxhash.h>

enum {
	TEXTS_AHEAD = 3,
};

/* Set up the lanes and their memory. */
static bool deal_prepare(struct packer *packer)
{
	size_t bytes = 0;
	unsigned char *at;

	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const struct chunk_type *chunk_type = &packer->types[i];

		packer->lanes[chunk_type->slot] =
			(struct lane){.nr_events = chunk_type->count,
				      .nr_rows = packer->lanes[chunk_type->slot].nr_rows,
				      .nr_words = (uint8_t)(chunk_type->type->fixed_bytes / 8),
				      .has_string = chunk_type->type->has_string};
		bytes += lane_bytes(&packer->lanes[chunk_type->slot], chunk_type->string_room);
	}
	at = packer_memory(packer, MEMORY_LANES, bytes);
	if (!at)
		return false;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		struct lane *lane = lane_at(packer, i);

		lane_init(lane, at, packer->types[i].string_room);
		at += lane_bytes(lane, packer->types[i].string_room);
	}
	return true;
}

/*
 * Copy and hash a text in one pass; paths are too short for general copy and hash functions to pay.
 * SECURITY: a hostile program may have changed the text since the scan. Only the copied bytes
 * count, and they fit the room that the scan computed, which is a multiple of a word.
 */
static size_t deal_text(const struct lane *lane, const unsigned char *text, const unsigned char *end,
			uint64_t *ret_hash)
{
	size_t room = (size_t)(lane->end_text - lane->next_text);
	uint64_t hash = 0, factor = 0x9e3779b97f4a7c15, word, nul; /* like row_hash(): no product depends on another */

	room = room < (size_t)(end - text) ? room : (size_t)(end - text);
	for (size_t at = 0; at + sizeof(word) <= room; at += sizeof(word), factor += 0x3c6ef372fe94f82a) {
		memcpy(&word, text + at, sizeof(word));
		nul = nul_bytes(word);
		if (nul)
			word &= ((nul & -nul) >> 7) - 1; /* the bytes before the first NUL */
		memcpy(lane->next_text + at, &word, sizeof(word));
		hash += (word ^ word >> 32) * factor;
		if (!nul)
			continue;
		*ret_hash = hash;
		return at + (unsigned int)__builtin_ctzll(nul) / 8;
	}
	*ret_hash = 0;
	return 0;
}

/* The same for the data that the fields of a program's record refer to. */
static size_t deal_tail(const struct lane *lane, const struct user_slot *user, const unsigned char *payload,
			const unsigned char *end, uint64_t *ret_hash)
{
	const unsigned char *tail = payload + 8 * (size_t)lane->nr_words;
	size_t room = (size_t)(lane->end_text - lane->next_text);
	int length = packer_tail_length(user, payload, (size_t)(end - payload));

	if (length < 0 || (size_t)length > room || length > end - tail)
		length = 0;
	memcpy(lane->next_text, tail, (size_t)length);
	*ret_hash = XXH3_64bits(lane->next_text, (size_t)length);
	return (size_t)length;
}

static void deal_strings(struct lane *lane, const struct user_slot *user, const unsigned char *records,
			 const unsigned char *end, const uint32_t *payloads, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const unsigned char *payload = records + 8 * (size_t)payloads[i],
				    *ahead = records + 8 * (size_t)payloads[i + TEXTS_AHEAD < nr ? i + TEXTS_AHEAD : i];
		uint64_t hash;
		size_t length = user ? deal_tail(lane, user, payload, end, &hash)
				     : deal_text(lane, payload + 8 * (size_t)lane->nr_words, end, &hash);

		__builtin_prefetch(ahead); /* like lane_add() */
		__builtin_prefetch(ahead + 64);
		lane_add_string(lane, payload, length, hash);
	}
}

static void deal_some(const struct packer *packer, uint32_t type_idx, const uint32_t *payloads, size_t nr)
{
	const unsigned char *records = packer->source->records, *end = records + packer->source->bytes;
	const struct chunk_type *chunk_type = &packer->types[type_idx];
	struct lane *lane = lane_at(packer, type_idx);

	if (lane->has_string)
		deal_strings(lane, chunk_type->user, records, end, payloads, nr);
	else if (chunk_type->slot == TRACE_EV_sys_enter3 || chunk_type->slot == TRACE_EV_sys_enter6)
		lane_add_calls(lane, records, payloads, nr, &packer->packing->args);
	else
		lane_add(lane, records, payloads, nr);
}

/* Type by type, because a loop over payloads of one size is fast. */
bool packer_deal(struct packer *packer)
{
	if (!deal_prepare(packer))
		return false;
	for (uint32_t i = 0; i < packer->nr_types; i++) {
		const uint32_t *list = packer->lists + (size_t)packer->types[i].list * LIST_ENTRIES;
		size_t left = packer->types[i].count;

		for (; left > LIST_ENTRIES - 1; left -= LIST_ENTRIES - 1) {
			deal_some(packer, i, list + 1, LIST_ENTRIES - 1);
			list = packer->lists + (size_t)list[0] * LIST_ENTRIES;
		}
		deal_some(packer, i, list + 1, left);
	}
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack_scan.c - the first step of packing: find the records, check them, and put them in order. */
#include "pack_scan.h"

#include "catalogue.h"
#include "clones.h"
#include "packer.h"

#include <string.h>
#include <trace/user_memory.h>

enum {
	NEXT_CHUNK = 256,   /* instead of a type index */
	AHEAD_BYTES = 2048, /* prefetch distance: another CPU has written the records */
	NR_CALL_KINDS = TRACE_EV_sys_enter6 - TRACE_EV_sys_enter + 1,
	/*
	 * Word offsets in a record for several events: the time between them, and their payloads.
	 */
	CALL_ELAPSED_WORD = (sizeof(struct trace_record) + offsetof(struct trace_record_call, elapsed)) / 8,
	CALL_EXIT_WORD = (sizeof(struct trace_record) + offsetof(struct trace_record_call, exit)) / 8,
	CALL_ENTRY_WORD = (sizeof(struct trace_record) + sizeof(struct trace_record_call)) / 8,
};

/* ---- slots ---- */

static void user_slot_init(struct user_slot *user, const struct trace_event_type *type)
{
	*user = (struct user_slot){.type = type};
	for (size_t i = 0; i < type->nr_fields && user->nr_references < MAX_REFERENCES; i++)
		if (field_is_reference(&type->fields[i]))
			user->references[user->nr_references++] = type->fields[i].offset;
}

/*
 * The slot of a type with an id from TRACE_EV_MAX on; 0: unknown type; NR_SLOTS: all slots are in
 * use.
 */
static uint32_t user_slot_find(struct packer *packer, uint32_t id)
{
	const struct trace_event_type *type;
	uint32_t at = id % SLOT_TABLE_SIZE;

	for (; packer->table[at]; at = (at + 1) % SLOT_TABLE_SIZE)
		if (packer->user[packer->table[at] - TRACE_EV_MAX].type->id == id)
			return packer->table[at];
	type = schema_type(packer->schema, id);
	if (!type)
		return 0;
	if (packer->nr_user + trace_catalogue_size() >= MAX_TYPES)
		return NR_SLOTS;
	user_slot_init(&packer->user[packer->nr_user], type);
	packer->table[at] = (uint16_t)(TRACE_EV_MAX + packer->nr_user++);
	return packer->table[at];
}

/*
 * How to find the end of a payload with references; NULL: the type has none. Two types of
 * the catalogue have some.
 */
static const struct user_slot *references_of(struct packer *packer, uint32_t slot)
{
	if (slot < TRACE_EV_MAX) {
		struct user_slot *own = slot == TRACE_EV_sample	    ? &packer->sample
					: slot == TRACE_EV_sys_data ? &packer->data
								    : NULL;

		if (own && !own->type)
			user_slot_init(own, catalogue_types()[slot]);
		return own;
	}
	return packer->user[slot - TRACE_EV_MAX].nr_references ? &packer->user[slot - TRACE_EV_MAX] : NULL;
}

/* ---- is a record good? ---- */

/*
 * Does the string of a record end with a NUL? Records are padded, so usually the last word has one;
 * only otherwise the whole string is searched.
 */
static bool string_ends(const unsigned char *text, size_t bytes)
{
	uint64_t last;

	if (bytes < sizeof(last))
		return false;
	memcpy(&last, text + bytes - sizeof(last), sizeof(last));
	return nul_bytes(last) || memchr(text, 0, bytes);
}

int packer_tail_length(const struct user_slot *user, const unsigned char *payload, size_t bytes)
{
	size_t end = user->type->fixed_bytes;

	for (size_t i = 0; i < user->nr_references; i++) {
		struct user_reference reference;

		memcpy(&reference, payload + user->references[i], sizeof(reference));
		if ((size_t)reference.offset + reference.bytes > bytes)
			return -1;
		if (reference.bytes && (size_t)reference.offset + reference.bytes > end)
			end = (size_t)reference.offset + reference.bytes;
	}
	return (int)(end - user->type->fixed_bytes);
}

static bool record_is_good(struct packer *packer, uint32_t slot, const struct trace_event_type *type,
			   const unsigned char *payload, size_t bytes)
{
	const struct user_slot *references = references_of(packer, slot);

	if (!type || bytes < type->fixed_bytes)
		return false;
	if (references)
		return packer_tail_length(references, payload, bytes) >= 0;
	return !type->has_string || string_ends(payload + type->fixed_bytes, bytes - type->fixed_bytes);
}

/* ---- lists ---- */

__attribute__((noinline)) uint32_t *packer_list_go_on(struct packer *packer, uint32_t type_idx, uint32_t *end)
{
	end[-LIST_ENTRIES] = packer->nr_lists;
	packer->types[type_idx].count += LIST_ENTRIES - 1;
	return list_new(packer);
}

/* ---- scan ---- */

static uint32_t type_add_to_chunk(struct packer *packer, uint32_t slot, const struct trace_event_type *type)
{
	struct chunk_type *chunk_type = &packer->types[packer->nr_types];

	*chunk_type = (struct chunk_type){.slot = slot, .type = type, .list = packer->nr_lists};
	packer->list_ends[packer->nr_types] = list_new(packer);
	chunk_type->user = references_of(packer, slot);
	if (slot < TRACE_EV_MAX && !type->has_string)
		packer->min_words[slot] = (uint16_t)(1 + type->fixed_bytes / 8);
	packer->idx_by_slot[slot] = (uint8_t)packer->nr_types;
	return packer->nr_types++;
}

static uint32_t type_idx_of(struct packer *packer, uint32_t id)
{
	return packer->idx_by_slot[id] != NO_TYPE ? packer->idx_by_slot[id]
						  : type_add_to_chunk(packer, id, catalogue_types()[id]);
}

/*
 * Records for several events: entry of a system call, its path, its exit. Each event's list gets
 * the offset of its own payload in the record.
 */
static inline bool is_call(uint32_t id)
{
	return id - TRACE_RECORD_CALL < NR_CALL_KINDS;
}

static inline bool is_path_call(uint32_t id)
{
	return id - TRACE_RECORD_PATH_ENTRY < TRACE_RECORD_CALL - TRACE_RECORD_PATH_ENTRY;
}

static inline bool call_has_exit(uint32_t id)
{
	return id >= TRACE_RECORD_PATH_CALL;
}

/* The id of the entry event. */
static inline uint32_t call_event(uint32_t id)
{
	return TRACE_EV_sys_enter + (id - TRACE_RECORD_PATH_ENTRY) % NR_CALL_KINDS;
}

/* Word offset in the record of the path's payload. */
static inline uint32_t call_path_word(uint32_t id)
{
	return CALL_ENTRY_WORD + catalogue_types()[call_event(id)]->fixed_bytes / 8;
}

/*
 * The type index of the entry event. Called for the first record of a kind, for each with a path,
 * and for each bad one, for which it returns NO_TYPE.
 */
static uint32_t scan_call_type(struct packer *packer, uint32_t id, const unsigned char *payload, size_t bytes)
{
	uint32_t words = call_path_word(id);
	size_t before = (words - 1) * sizeof(uint64_t), path_bytes = sizeof(struct trace_sys_path);
	bool has_path = is_path_call(id);

	if (has_path ? bytes < before + path_bytes ||
			       !string_ends(payload + before + path_bytes, bytes - before - path_bytes)
		     : bytes < before) {
		packer->undecodable += 1 + has_path + call_has_exit(id);
		return NO_TYPE;
	}
	if (has_path)
		packer->types[type_idx_of(packer, TRACE_EV_sys_path)].string_room +=
			(uint32_t)(bytes - before - path_bytes);
	else
		packer->min_words[id] = (uint16_t)words;
	if (call_has_exit(id))
		type_idx_of(packer, TRACE_EV_sys_exit);
	return packer->idx_by_slot[id] = (uint8_t)type_idx_of(packer, call_event(id));
}

/*
 * The type index of a record that may be the first of its type, have a string, be padding or be
 * bad. Returns NO_TYPE when the record has none, NEXT_CHUNK when it does not fit this chunk.
 */
static __attribute__((noinline)) uint32_t scan_type(struct packer *packer, uint32_t id, const unsigned char *payload,
						    size_t bytes)
{
	uint32_t slot = id < TRACE_EV_MAX ? id : user_slot_find(packer, id), type_idx;
	const struct trace_event_type *type;

	if (slot == NR_SLOTS)
		return NEXT_CHUNK;
	if (id == TRACE_EV_padding)
		return NO_TYPE;
	if (is_call(id) || is_path_call(id))
		return scan_call_type(packer, id, payload, bytes);
	type = slot < TRACE_EV_MAX ? catalogue_types()[slot] : packer->user[slot - TRACE_EV_MAX].type;
	if (!record_is_good(packer, slot, type, payload, bytes)) {
		packer->undecodable++;
		return NO_TYPE;
	}
	type_idx = packer->idx_by_slot[slot] != NO_TYPE ? packer->idx_by_slot[slot]
							: type_add_to_chunk(packer, slot, type);
	packer->types[type_idx].string_room += (uint32_t)bytes - type->fixed_bytes;
	return type_idx;
}

/*
 * The last of @nr records is earlier than the one before it: move it to where it belongs. If
 * sorting would be cheaper than moving, leave it and set @unsorted.
 */
static __attribute__((noinline)) void scan_earlier(struct packer *packer, size_t nr)
{
	uint32_t time = packer->times[nr - 1], *list_end;
	unsigned char id = packer->type_idxs[nr - 1];
	size_t at = nr - 1, nr_same = 0;

	while (at > 0 && packer->times[at - 1] > time)
		nr_same += packer->type_idxs[--at] == id;
	packer->nr_moves += nr - at;
	packer->unsorted |= packer->nr_moves > 16 * nr + 64 || (nr_same && nr_same >= list_last(packer, id));
	if (packer->unsorted)
		return;
	memmove(&packer->times[at + 1], &packer->times[at], (nr - 1 - at) * sizeof(packer->times[0]));
	memmove(&packer->type_idxs[at + 1], &packer->type_idxs[at], nr - 1 - at);
	packer->times[at] = time;
	packer->type_idxs[at] = id;
	list_end = packer->list_ends[id];
	if (nr_same) {
		uint32_t payload = list_end[-1];

		memmove(list_end - nr_same, list_end - nr_same - 1, nr_same * sizeof(*list_end));
		list_end[-(ptrdiff_t)nr_same - 1] = payload;
	}
}

/*
 * Add the events of a record with a path, which begins at word @at. They may be earlier than other
 * events. Returns the new number of events.
 */
static __attribute__((noinline)) size_t scan_path_call(struct packer *packer, size_t nr, size_t at, uint32_t id,
						       uint32_t time, uint32_t latest)
{
	const unsigned char *record = packer->source->records + at * 8;
	const uint32_t events[] = {call_event(id), TRACE_EV_sys_path, TRACE_EV_sys_exit},
		       words[] = {CALL_ENTRY_WORD, call_path_word(id), CALL_EXIT_WORD};
	uint32_t elapsed;

	memcpy(&elapsed, record + CALL_ELAPSED_WORD * sizeof(uint64_t), sizeof(elapsed));
	for (uint32_t i = 0; i < 2 + (uint32_t)call_has_exit(id); i++) {
		uint32_t type_idx = packer->idx_by_slot[events[i]];

		time += i == 2 ? elapsed : 0;
		packer->times[nr] = time;
		packer->type_idxs[nr++] = (unsigned char)type_idx;
		list_add(packer, type_idx, (uint32_t)at + words[i]);
		if (time < latest)
			scan_earlier(packer, nr);
		else
			latest = time;
	}
	return nr;
}

/*
 * The position of the next record depends on the header of this one, so nothing else in the loop
 * may delay that. One comparison separates catalogue records that need no check of their payload
 * from all others.
 */
TRACE_CLONES static void scan(struct packer *packer)
{
	const unsigned char *records = packer->source->records;
	size_t nr_words = packer->source->bytes / 8, at = packer->begin, next, nr = 0;
	uint32_t base = (uint32_t)packer->source->base_ns, latest = 0;
	const uint16_t *min_words = packer->min_words;
	const uint8_t *idx_by_slot = packer->idx_by_slot;
	uint32_t *times = packer->times;
	unsigned char *type_idxs = packer->type_idxs;

	for (; at < nr_words; at = next) {
		const unsigned char *record = records + at * 8;
		uint32_t type_idx, time, elapsed, words = record[offsetof(struct trace_record, words)];
		uint16_t id;

		next = at + words;
		__builtin_prefetch(record + AHEAD_BYTES);
		memcpy(&id, record + offsetof(struct trace_record, id), sizeof(id));
		memcpy(&time, record + offsetof(struct trace_record, time), sizeof(time));
		if (__builtin_expect(next > nr_words, 0))
			break;
		if (__builtin_expect(id >= TRACE_EV_MAX || words < min_words[id], 0)) {
			if (!words)
				break;
			type_idx = scan_type(packer, id, record + sizeof(struct trace_record), (words - 1) * 8);
			if (type_idx == NO_TYPE)
				continue;
			if (type_idx == NEXT_CHUNK)
				goto end;
			if (is_path_call(id)) {
				nr = scan_path_call(packer, nr, at, id, time - base, latest);
				latest = times[nr - 1] > latest ? times[nr - 1] : latest;
				continue;
			}
		} else {
			type_idx = idx_by_slot[id];
		}
		time -= base;
		if (is_call(id)) {
			times[nr] = time;
			type_idxs[nr++] = (unsigned char)type_idx;
			list_add(packer, type_idx, (uint32_t)at + CALL_ENTRY_WORD);
			if (__builtin_expect(time < latest, 0))
				scan_earlier(packer, nr);
			memcpy(&elapsed, record + CALL_ELAPSED_WORD * sizeof(uint64_t), sizeof(elapsed));
			time += elapsed;
			type_idx = idx_by_slot[TRACE_EV_sys_exit];
			at += CALL_EXIT_WORD - 1;
		}
		times[nr] = time;
		type_idxs[nr++] = (unsigned char)type_idx;
		list_add(packer, type_idx, (uint32_t)at + 1);
		if (__builtin_expect(time < latest, 0))
			scan_earlier(packer, nr);
		else
			latest = time;
	}
	at = nr_words; /* after a record with a bad size the next one cannot be found */
end:
	for (uint32_t i = 0; i < packer->nr_types; i++)
		packer->types[i].count += (uint32_t)list_last(packer, i);
	packer->nr = nr;
	packer->end = at;
}

void packer_scan(struct packer *packer)
{
	scan(packer);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "own_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool own_records_fit(const struct own_records *block, size_t bytes, uint64_t ts_ns)
{
	if (!block->nr_records)
		return true;
	if (block->bytes + bytes > OWN_RECORDS_MAX_BYTES)
		return false;
	/* a record carries 32 bits of its time */
	return ts_ns >= block->base_ns && ts_ns - block->base_ns <= UINT32_MAX;
}

static int block_reserve(struct own_records *block, size_t bytes)
{
	size_t capacity = block->capacity ? block->capacity : 4096;
	unsigned char *data;

	while (capacity < block->bytes + bytes)
		capacity *= 2;
	if (capacity == block->capacity)
		return 0;
	data = realloc(block->data, capacity);
	if (!data)
		return -ENOMEM;
	block->data = data;
	block->capacity = capacity;
	return 0;
}

int own_records_add(struct own_records *block, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	int err = block_reserve(block, bytes);

	if (err)
		return err;
	if (!block->nr_records)
		block->base_ns = ts_ns;
	memcpy(block->data + block->bytes, record, bytes);
	block->bytes += bytes;
	block->nr_records++;
	return 0;
}

int own_records_add_event(struct own_records *block, uint16_t id, const void *payload, size_t payload_bytes,
			  const char *text, uint64_t ts_ns)
{
	union {
		struct trace_record record;
		unsigned char bytes[TRACE_RECORD_MAX_BYTES];
	} u;
	size_t bytes = sizeof(struct trace_record) + payload_bytes;
	size_t text_bytes;

	memset(&u, 0, sizeof(u));
	if (payload_bytes)
		memcpy(u.bytes + sizeof(struct trace_record), payload, payload_bytes);
	if (text) {
		text_bytes = strnlen(text, sizeof(u.bytes) - bytes - 1);
		memcpy(u.bytes + bytes, text, text_bytes); /* the NUL is there, because u was zeroed */
		bytes += text_bytes + 1;
	}
	bytes = (bytes + 7) & ~(size_t)7;
	u.record.time = (uint32_t)ts_ns;
	u.record.id = id;
	u.record.words = (uint8_t)(bytes / 8);
	return own_records_add(block, &u.record, bytes, ts_ns);
}

struct trace_source own_records_source(const struct own_records *block, uint16_t kind, uint32_t stream, uint64_t seq)
{
	return (struct trace_source){
		.records = block->data,
		.bytes = block->bytes,
		.base_ns = block->base_ns,
		.seq = seq,
		.stream = stream,
		.nr_records = block->nr_records,
		.kind = kind,
		.lost_cause = TRACE_GAP_DISCARDED,
	};
}

void own_records_clear(struct own_records *block)
{
	block->bytes = 0;
	block->nr_records = 0;
}

void own_records_release(struct own_records *block)
{
	free(block->data);
	*block = (struct own_records){0};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OWN_RECORDS_H
#define DAEMON_OWN_RECORDS_H
/*
 * own_records.h - records that the daemon makes itself, collected in memory until they are packed
 * like a sub-buffer
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/events.h>
#include <trace/writer.h>

/* Stream numbers of the daemon. The kernel's rings have the numbers from 0. */
#define OWN_STREAM_DAEMON      0xffff0000u
#define OWN_STREAM_START_STATE 0xffff0001u

#define OWN_RECORDS_MAX_BYTES (1u << 20)
/* limit of a record without payload; a longer text is cut */
#define OWN_TEXT_MAX_BYTES (TRACE_RECORD_MAX_BYTES - sizeof(struct trace_record) - 1)

/**
 * struct own_records - records in memory; zeroed: empty
 * @data: owned
 * @base_ns: time of the first record
 */
struct own_records {
	unsigned char *data;
	size_t bytes;
	size_t capacity;
	uint64_t base_ns;
	uint32_t nr_records;
};

/**
 * own_records_fit() - can a record of @bytes at @ts_ns be added? If not, the block must be packed
 * first
 */
bool own_records_fit(const struct own_records *block, size_t bytes, uint64_t ts_ns);

/**
 * own_records_add() - append a complete record; own_records_fit() must be true. Returns 0 or
 * -ENOMEM
 */
int own_records_add(struct own_records *block, const struct trace_record *record, size_t bytes, uint64_t ts_ns);

/**
 * own_records_add_event() - make a record and append it
 * @payload, @payload_bytes: struct trace_<event>, or NULL and 0
 * @text: the string after the payload, cut if too long; NULL if the event has none
 */
int own_records_add_event(struct own_records *block, uint16_t id, const void *payload, size_t payload_bytes,
			  const char *text, uint64_t ts_ns);

/** own_records_source() - the block as an argument of the writer; borrows block->data */
struct trace_source own_records_source(const struct own_records *block, uint16_t kind, uint32_t stream, uint64_t seq);

void own_records_clear(struct own_records *block);   /* empty, memory kept */
void own_records_release(struct own_records *block); /* empty, memory freed */
#endif

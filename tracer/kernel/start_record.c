/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start_record.c - makes the records of the start state and passes them to the caller. */
#include "start_record.h"

#include <errno.h>
#include <string.h>
#include "start_state.h"

int tracer_emit_record(struct tracer_collector *c, uint32_t id, uint64_t ts_ns, const void *payload,
		       size_t payload_bytes, const char *text)
{
	uint64_t storage[TRACE_RECORD_MAX_BYTES / 8] = {0};
	struct trace_record *record = (struct trace_record *)storage;
	size_t room = sizeof(storage) - sizeof(*record) - payload_bytes, text_bytes = text ? strlen(text) + 1 : 0,
	       bytes;
	bool is_cut;

	if (payload_bytes > 256)
		return -EINVAL;
	is_cut = text_bytes > room;
	if (is_cut)
		text_bytes = room;
	memcpy(record + 1, payload, payload_bytes);
	if (text_bytes)
		memcpy((char *)(record + 1) + payload_bytes, text, text_bytes - 1);
	if (is_cut)
		memcpy((char *)(record + 1) + payload_bytes + text_bytes - sizeof("..."), "...", sizeof("..."));
	bytes = (sizeof(*record) + payload_bytes + text_bytes + 7) & ~7ul;
	record->time = (uint32_t)ts_ns;
	record->id = (uint16_t)id;
	record->words = (uint8_t)(bytes / 8);
	return c->emit(c->context, record, bytes, ts_ns);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_RECORD_H
#define TRACER_START_RECORD_H
/* start_record.h - one record of the start state. */
#include "start_state.h"

/**
 * tracer_emit_record() - one record from a payload and a string; NULL: none. A string that
 * is too long ends with "..."
 */
int tracer_emit_record(struct tracer_collector *c, uint32_t id, uint64_t ts_ns, const void *payload,
		       size_t payload_bytes, const char *text);

#endif

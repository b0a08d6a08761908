/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* example_scopes.c - write_scope_trace(): the read of user_events_case.h, within a scope. */
#include "user_events_case.h"
#include "example_traces.h"

void write_scope_trace(int fd)
{
	struct story s = begin();
	uint16_t enter = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN);
	uint16_t leave = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);

	emit(s.tb, 0, 1500, enter, 10, 0);
	read_orders(s.tb);
	emit(s.tb, 0, 7000, leave, 10, 0);
	tb_write(s.tb, fd, true);
	tb_free(s.tb);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_late.h"

#include <stdio.h>
#include <trace/saturate.h>

#include "clients_state.h"
#include "format_text.h"

void client_lose_late(struct clients *clients, struct user_program *program)
{
	const struct user_identity *identity = user_program_identity(program);
	uint64_t late = user_program_late(program);
	char why[128];

	if (!late)
		return;
	clients->missed = trace_add_saturated(clients->missed, late);
	snprintf(why, sizeof(why), "%s of it or its children found no trace buffers", text_events(late).s);
	lost_programs_add(&clients->lost, identity->number, identity->exe, why);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_suspicion.h"

#include "message.h"
#include "user_program_state.h"

void user_suspect(struct user_program *program, unsigned int reasons)
{
	struct doubts *doubts = &program->recording->doubts;

	if ((program->doubted & reasons) == reasons)
		return;
	if (program->doubted) {
		doubts_reason(doubts, program->doubts_idx, reasons);
	} else {
		if (budget_may_report(program->recording->budget, program->payer))
			message_warning(
				"process %d (%s) wrote invalid data into its trace buffers: its events are incomplete",
				(int)program->identity.pid, program->identity.exe);
		program->doubts_idx = doubts_add(doubts, program->identity.pid, program->identity.exe, reasons);
	}
	program->doubted |= reasons;
}

static unsigned int ring_reasons(const struct user_ring *ring)
{
	bool is_broken = ring->kept ? user_kept_is_broken(ring->kept) : drain_is_broken(ring->drained);
	bool is_doubted = ring->kept ? user_kept_is_doubted(ring->kept) : drain_is_doubted(ring->drained);

	return (is_broken ? DOUBT_MEMORY : 0) | (is_doubted ? DOUBT_COUNTER : 0);
}

void user_suspect_counts(struct user_program *program)
{
	unsigned int reasons = program->mapping.registry_broken ? DOUBT_MEMORY : 0;

	if (program->unready.impossible || program->unregistered.impossible)
		reasons |= DOUBT_COUNTER;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		reasons |= program->rings[i] ? ring_reasons(program->rings[i]) : 0;
	if (reasons)
		user_suspect(program, reasons);
}

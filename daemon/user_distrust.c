/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_distrust.h"

#include "message.h"
#include "user_program_state.h"

void user_distrust(struct user_program *program, unsigned int reasons)
{
	struct distrusted_programs *distrusted = &program->recording->distrusted;

	if ((program->distrust_reasons & reasons) == reasons)
		return;
	if (program->distrust_reasons) {
		distrusted_add_reasons(distrusted, program->distrusted_idx, reasons);
	} else {
		if (budget_may_report(program->recording->budget, program->payer))
			message_warning(
				"process %d (%s) wrote invalid data into its trace buffers: its events are incomplete",
				(int)program->identity.pid, program->identity.exe);
		program->distrusted_idx = distrusted_add(distrusted, program->identity.pid, program->identity.exe,
							 reasons);
	}
	program->distrust_reasons |= reasons;
}

static unsigned int ring_reasons(const struct user_ring *ring)
{
	bool is_broken = ring->kept ? user_kept_is_broken(ring->kept) : drain_is_broken(ring->drained);
	bool is_distrusted = ring->kept ? user_kept_is_distrusted(ring->kept) : drain_is_distrusted(ring->drained);

	return (is_broken ? DISTRUST_MEMORY : 0) | (is_distrusted ? DISTRUST_COUNTER : 0);
}

void user_check_counts(struct user_program *program)
{
	unsigned int reasons = program->mapping.registry_broken ? DISTRUST_MEMORY : 0;

	if (program->unready.impossible || program->unregistered.impossible)
		reasons |= DISTRUST_COUNTER;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		reasons |= program->rings[i] ? ring_reasons(program->rings[i]) : 0;
	if (reasons)
		user_distrust(program, reasons);
}

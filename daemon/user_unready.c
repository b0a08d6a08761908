/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_unready.h"

#include "cpus.h"
#include "user_program_state.h"

static uint64_t read_unready(const struct user_program *program)
{
	return __atomic_load_n(&user_mapping_memory(&program->mapping)->unready, __ATOMIC_RELAXED);
}

uint64_t user_unready_sum(struct user_program *program)
{
	untrusted_counter_take(&program->unready, read_unready(program),
			       untrusted_max_events(program->recording->start_ns, possible_cpus()));
	return untrusted_counter_sum(&program->unready);
}

uint64_t user_unready_take(struct user_program *program)
{
	uint64_t now = user_unready_sum(program), new = now - program->unready_counted;

	program->unready_counted = now;
	return new;
}

void user_unready_begin(struct user_program *program, bool all)
{
	untrusted_counter_begin(&program->unready, all ? 0 : read_unready(program));
	program->unready_counted = 0;
}

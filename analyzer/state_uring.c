/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_uring.c - requests of io_uring, from their submission to their completion.
 *
 * A request is known by its address in the kernel. Whoever completes it - the submitter itself when it is woken, an interrupt, a worker -
 * the submitter's process remembers on which file the last one was: that is what a wait in io_uring_enter was for.
 */
#include "state.h"

#define URING_FIXED_FILE 1 /* REQ_F_FIXED_FILE: "fd" counts registered files */

struct request_row {
	uint64_t key; /* address of the request */
	struct trace_process *process;
	file_idx file;
};

/* The operations that act on a descriptor: enum io_uring_op, Linux 6.18. */
static bool acts_on_file(uint32_t opcode)
{
	static const uint64_t with_file = 1ull << 1 | 1ull << 2 | 1ull << 3 | 1ull << 4 | 1ull << 5 | 1ull << 6 | 1ull << 8 | 1ull << 9 | 1ull << 10 |
					  1ull << 13 | 1ull << 16 | 1ull << 17 | 1ull << 22 | 1ull << 23 | 1ull << 26 | 1ull << 27 | 1ull << 30 |
					  1ull << 33 | 1ull << 34 | 1ull << 47 | 1ull << 48 | 1ull << 49 | 1ull << 55;

	return opcode < 64 && (with_file >> opcode & 1);
}

void on_uring_submit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_submit *submit = event->payload;
	struct request_row *row;

	if (!cpu->current || cpu->current == &cpu->idle)
		return;
	row = books_row(a, &a->requests, sizeof(*row), submit->req | 1);
	row->process = cpu->current->process;
	row->file = 0;
	if (acts_on_file(submit->opcode) && !(submit->flags & URING_FIXED_FILE))
		row->file = fd_file(cpu->current, submit->fd);
}

void on_uring_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_complete *complete = event->payload;
	struct request_row *row = table_find(&a->requests, sizeof(*row), complete->req | 1);

	if (!row || !row->process)
		return;
	row->process->uring_file = row->file;
	row->process->uring_ns = ns;
}

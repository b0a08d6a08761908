/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unseen_files.h"

/* <linux/io_uring.h>, <linux/seccomp.h>: the numbers of the traced machine */
enum { REQUEST_SENDMSG = 9, REQUEST_RECVMSG = 10, REQUEST_MSG_RING = 40 };
#define NOTIF_ADDFD 0x40182103u

struct first_process {
	uint64_t key; /* number of the table + 1 */
	const struct trace_process *process;
};

static void add(struct unseen_files *u, struct hash_table *set, const struct trace_process *process)
{
	u->failed |= !table_add(set, sizeof(uint64_t), (uintptr_t)process);
}

static bool has(const struct hash_table *set, const struct trace_process *process)
{
	return table_find(set, sizeof(uint64_t), (uintptr_t)process);
}

void unseen_note(struct unseen_files *u, const struct trace_process *process)
{
	add(u, &u->had, process);
}

void unseen_enter(struct unseen_files *u, const struct trace_process *process, const struct on_files *call,
		  const struct trace_sys_enter6 *enter)
{
	u->is_supervised |= (call->flags & CALL_IOCTL) && (uint32_t)enter->arg1 == NOTIF_ADDFD;
	if (call->flags & CALL_PASSES)
		add(u, &u->passers, process);
}

void unseen_request(struct unseen_files *u, const struct trace_process *process, const struct trace_event *event)
{
	const struct trace_uring_submit *submit = event->payload;

	if (event->id != TRACE_EV_uring_submit) {
		u->rings_pass = true;
		return;
	}
	add(u, &u->rings, process);
	switch (submit->opcode) {
	case REQUEST_SENDMSG:
		add(u, &u->passers, process);
		break;
	case REQUEST_RECVMSG:
		unseen_note(u, process);
		break;
	case REQUEST_MSG_RING:
		u->rings_pass = true;
		break;
	default:
		break;
	}
}

void unseen_table(struct unseen_files *u, const struct trace_process *process, uint64_t number)
{
	struct first_process *first = table_add(&u->tables, sizeof(*first), number + 1);

	if (!first) {
		u->failed = true;
		return;
	}
	if (!first->process)
		first->process = process;
	if (first->process == process)
		return;
	unseen_note(u, first->process);
	unseen_note(u, process);
}

bool unseen_has(const struct unseen_files *u, const struct trace_process *process)
{
	return u->failed || u->is_supervised || has(&u->had, process) || (u->rings_pass && has(&u->rings, process));
}

bool unseen_passes(const struct unseen_files *u, const struct trace_process *process)
{
	return has(&u->passers, process);
}

void unseen_clear(struct unseen_files *u)
{
	table_clear(&u->had);
	table_clear(&u->rings);
	table_clear(&u->passers);
	table_clear(&u->tables);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_ring_op.c - the operations in progress of io_uring, and the sockets that are registered
 * files
 */
#include <errno.h>
#include <stdlib.h>
#include "servers_state.h"

/* enum io_uring_op, Linux 6.18 */
static const uint8_t purposes[64] = {
	[0] = WAITS,	 /* NOP */
	[1] = RECEIVES,	 /* READV */
	[2] = SENDS,	 /* WRITEV */
	[4] = RECEIVES,	 /* READ_FIXED */
	[5] = SENDS,	 /* WRITE_FIXED */
	[6] = WAITS,	 /* POLL_ADD */
	[7] = WAITS,	 /* POLL_REMOVE */
	[9] = SENDS,	 /* SENDMSG */
	[10] = RECEIVES, /* RECVMSG */
	[11] = WAITS,	 /* TIMEOUT */
	[12] = WAITS,	 /* TIMEOUT_REMOVE */
	[13] = WAITS,	 /* ACCEPT */
	[14] = WAITS,	 /* ASYNC_CANCEL */
	[15] = WAITS,	 /* LINK_TIMEOUT */
	[22] = RECEIVES, /* READ */
	[23] = SENDS,	 /* WRITE */
	[26] = SENDS,	 /* SEND */
	[27] = RECEIVES, /* RECV */
	[31] = WAITS,	 /* PROVIDE_BUFFERS */
	[32] = WAITS,	 /* REMOVE_BUFFERS */
	[40] = WAITS,	 /* MSG_RING */
	[47] = SENDS,	 /* SEND_ZC */
	[48] = SENDS,	 /* SENDMSG_ZC */
	[49] = RECEIVES, /* READ_MULTISHOT */
	[50] = WAITS,	 /* WAITID */
	[51] = WAITS,	 /* FUTEX_WAIT */
	[52] = WAITS,	 /* FUTEX_WAKE */
	[53] = WAITS,	 /* FUTEX_WAITV */
	[58] = RECEIVES, /* RECV_ZC */
	[59] = WAITS,	 /* EPOLL_WAIT */
	[60] = RECEIVES, /* READV_FIXED */
	[61] = SENDS,	 /* WRITEV_FIXED */
};

/* the socket that is a registered file */
struct slot_row {
	uint64_t key;
	uint64_t ino;
};

unsigned int ring_opcode_purpose(uint32_t opcode)
{
	return opcode < sizeof(purposes) ? purposes[opcode] : 0;
}

static unsigned int purpose(const struct ring_op *op)
{
	return ring_opcode_purpose(op->opcode);
}

static struct ring_ops *list_of(struct ring_op *op)
{
	return op->endpoint ? &op->endpoint->ring_ops : &op->user->ring.ops;
}

/* Returns the index of the list for @what, SENDS or RECEIVES. */
static unsigned int list_for(unsigned int what)
{
	return what == RECEIVES;
}

static bool is_listed(const struct ring_op *op)
{
	return purpose(op) & (SENDS | RECEIVES);
}

static void link_last(struct ring_op *op)
{
	struct ring_ops *list = list_of(op);
	unsigned int which = list_for(purpose(op));

	list->nr++;
	if (!is_listed(op))
		return;
	op->next = NULL;
	op->previous = list->first[which] ? list->first[which]->previous : op;
	if (list->first[which])
		op->previous->next = op;
	else
		list->first[which] = op;
	list->first[which]->previous = op;
}

static void unlink_op(struct ring_op *op)
{
	struct ring_ops *list = list_of(op);
	unsigned int which = list_for(purpose(op));

	list->nr--;
	if (!is_listed(op))
		return;
	if (list->first[which] == op)
		list->first[which] = op->next;
	else
		op->previous->next = op->next;
	if (op->next)
		op->next->previous = op->previous;
	else if (list->first[which])
		list->first[which]->previous = op->previous;
}

static void op_drop_sets(struct ring_op *op)
{
	set_assign(&op->set, NULL);
	set_assign(&op->outgoing, NULL);
	set_assign(&op->got, NULL);
	op->answer = NULL;
}

struct ring_op *ring_op_find(const struct servers_rings *rings, uint64_t req)
{
	const struct servers_row *row = table_find(&rings->ops, sizeof(*row), req | 1);

	return row ? row->pointer : NULL;
}

void ring_op_free(struct servers_rings *rings, struct ring_op *op)
{
	table_remove(&rings->ops, sizeof(struct servers_row), op->req | 1);
	unlink_op(op);
	op_drop_sets(op);
	if (op->submitter && op->submitter->ring.submitting == op)
		op->submitter->ring.submitting = NULL;
	free(op);
}

struct ring_op *ring_op_new(struct trace_servers *s, uint64_t req, struct servers_thread *user,
			    struct endpoint *endpoint, uint32_t slot, uint32_t opcode)
{
	struct ring_op *op = ring_op_find(&s->rings, req);
	struct servers_row *row;

	if (op) /* its completion was not recorded */
		ring_op_free(&s->rings, op);
	row = table_add(&s->rings.ops, sizeof(*row), req | 1);
	op = row ? calloc(1, sizeof(*op)) : NULL;
	if (!op) {
		table_remove(&s->rings.ops, sizeof(*row), req | 1); /* each row has its operation */
		s->failed = -ENOMEM;
		return NULL;
	}
	row->pointer = op;
	op->req = req;
	op->user = user;
	op->endpoint = endpoint;
	op->slot = slot;
	op->opcode = opcode;
	op->submit_ns = trace_analysis_now(s->analysis);
	set_assign(&op->set, user->set);
	link_last(op);
	return op;
}

void ring_ops_drop_sets(struct servers_rings *rings)
{
	for (const struct servers_row *row = NULL; (row = table_next(&rings->ops, sizeof(*row), row));)
		op_drop_sets(row->pointer);
}

void ring_ops_free(struct servers_rings *rings)
{
	for (const struct servers_row *row = NULL; (row = table_next(&rings->ops, sizeof(*row), row));) {
		op_drop_sets(row->pointer);
		free(row->pointer);
	}
	table_clear(&rings->ops);
	table_clear(&rings->slots);
}

void ring_op_move(struct ring_op *op, struct endpoint *endpoint)
{
	unlink_op(op);
	op->endpoint = endpoint;
	link_last(op);
}

/*
 * Slots are looked up per thread: most programs that register files have one ring in each thread
 * that uses them.
 */
static uint64_t slot_key(const struct servers_thread *user, uint32_t slot)
{
	return hash_u64(hash_u64((uintptr_t)user) ^ slot) | 1;
}

void ring_slot_learn(struct trace_servers *s, const struct servers_thread *user, uint32_t slot, uint64_t ino)
{
	struct slot_row *row = table_add(&s->rings.slots, sizeof(*row), slot_key(user, slot));

	if (row)
		row->ino = ino;
	else
		s->failed = -ENOMEM;
}

struct endpoint *ring_slot_find(const struct trace_servers *s, const struct servers_thread *user, uint32_t slot)
{
	const struct slot_row *row = table_find(&s->rings.slots, sizeof(*row), slot_key(user, slot));

	return row ? endpoint_find(&s->endpoints, row->ino) : NULL;
}

struct ring_op *ring_op_of(struct servers_thread *user, struct endpoint *endpoint, unsigned int wanted)
{
	struct ring_op *op = endpoint->ring_ops.first[list_for(wanted)];

	if (op || !user)
		return op;
	op = user->ring.ops.first[list_for(wanted)];
	if (op) /* a registered file */
		ring_op_move(op, endpoint);
	return op;
}

const struct ring_op *ring_sending(const struct endpoint *endpoint)
{
	const struct ring_op *op = endpoint->ring_ops.first[list_for(SENDS)];

	while (op && !op->prepared)
		op = op->next;
	return op;
}

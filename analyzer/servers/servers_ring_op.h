/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_RING_OP_H
#define ANALYZER_SERVERS_SERVERS_RING_OP_H
/*
 * servers_ring_op.h - the operations in progress of io_uring, and the sockets that are registered
 * files
 */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_servers;
struct servers_thread;
struct server_request;
struct endpoint;
struct set;

#define NO_SLOT UINT32_MAX

enum { OP_ACCEPT = 13, OP_CONNECT = 16, OP_SOCKET = 45 };

/* The purposes of operations. */
enum { SENDS = 1, RECEIVES = 2, WAITS = 4 /* completing it brings nothing back */ };

struct ring_op {
	uint64_t req; /* its address in the kernel */
	/*
	 * In the list of its endpoint, or of its user while the endpoint is not known. Used only if
	 * it sends or receives. @previous of the first is the last.
	 */
	struct ring_op *next, *previous;
	struct servers_thread *user, *submitter;
	struct endpoint *endpoint;     /* NULL: not known yet, or none */
	struct set *set;	       /* the set of its user at the submission */
	struct set *outgoing;	       /* the requests that the data carries which it sends */
	bool replies;		       /* what it sends answers @outgoing */
	struct server_request *answer; /* the request that it answers; in @outgoing */
	struct set *got;	       /* the requests that it received last, until its completion event */
	uint64_t submit_ns;
	uint32_t opcode;
	uint32_t slot; /* index of a registered file; NO_SLOT: it has a descriptor */
	bool prepared;
	bool polled; /* another thread submitted it: its user made no call */
};

struct servers_rings {
	struct hash_table ops;	 /* address in the kernel -> struct ring_op, owned */
	struct hash_table slots; /* rows: struct slot_row */
};

/** ring_opcode_purpose() - a mask of SENDS, RECEIVES and WAITS */
unsigned int ring_opcode_purpose(uint32_t opcode);
struct ring_op *ring_op_new(struct trace_servers *s, uint64_t req, struct servers_thread *user,
			    struct endpoint *endpoint, uint32_t slot, uint32_t opcode);
struct ring_op *ring_op_find(const struct servers_rings *rings, uint64_t req);
void ring_op_free(struct servers_rings *rings, struct ring_op *op);
/** ring_op_move() - move @op into the list of @endpoint */
void ring_op_move(struct ring_op *op, struct endpoint *endpoint);
/**
 * ring_op_of() - the operation that a transfer at @endpoint belongs to
 * @wanted: SENDS or RECEIVES
 *
 * Returns NULL if its submission was not recorded, or if the transfer is not a ring's.
 */
struct ring_op *ring_op_of(struct servers_thread *user, struct endpoint *endpoint, unsigned int wanted);
/**
 * ring_sending() - the oldest operation that may be sending at @endpoint; its event may not have
 * come yet
 */
const struct ring_op *ring_sending(const struct endpoint *endpoint);
/**
 * ring_slot_learn() - a registered file is the socket @ino
 * ring_slot_find() - the socket that is a registered file; NULL: not known
 */
void ring_slot_learn(struct trace_servers *s, const struct servers_thread *user, uint32_t slot, uint64_t ino);
struct endpoint *ring_slot_find(const struct trace_servers *s, const struct servers_thread *user, uint32_t slot);
void ring_ops_drop_sets(struct servers_rings *rings); /* after a gap */
void ring_ops_free(struct servers_rings *rings);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tuple.c - find the other end of a connection, and the owner of a port.
 *
 * Each end is in the table under two keys: one with its network namespace, and one with namespace 0
 * for a search in any namespace. The second key has an answer only while one namespace uses it.
 */
#include "tuple.h"

#include <string.h>

/**
 * struct tuple_row - the owner of a key in one namespace; or in any namespace, if the key was made
 * with namespace 0
 * @owner: the owner; 0: none is known. @net: its namespace
 * @is_shared: owners in other namespaces have, or had, the same key
 */
struct tuple_row {
	uint64_t key;
	uint64_t owner;
	uint32_t net;
	bool is_shared;
};

static bool put(struct hash_table *table, uint64_t key, uint32_t net, uint64_t owner)
{
	struct tuple_row *row = table_add(table, sizeof(*row), key);

	if (!row)
		return false;
	row->is_shared |= row->owner && row->net != net;
	row->owner = owner;
	row->net = net;
	return true;
}

static void take_away(struct hash_table *table, uint64_t key, uint64_t owner)
{
	struct tuple_row *row = table_find(table, sizeof(*row), key);

	if (!row || row->owner != owner)
		return;
	if (row->is_shared)
		row->owner = 0; /* the other owners may still exist */
	else
		table_remove(table, sizeof(*row), key);
}

static uint64_t find(const struct hash_table *table, uint64_t key)
{
	const struct tuple_row *row = table_find(table, sizeof(*row), key);

	return row ? row->owner : 0;
}

/*
 * The owner of @key, made with namespace 0, if only one namespace has it. @ret_net: that namespace.
 */
static uint64_t find_alone(const struct hash_table *table, uint64_t key, uint32_t *ret_net)
{
	const struct tuple_row *row = table_find(table, sizeof(*row), key);

	*ret_net = row ? row->net : 0;
	return row && !row->is_shared ? row->owner : 0;
}

/* ---- ends ---- */

static uint64_t tuple_key(const struct tuple *tuple, uint32_t net)
{
	uint64_t hash = hash_u64(tuple->local[0] ^ hash_u64(tuple->local[1]));

	hash = hash_u64(hash ^ tuple->remote[0]);
	hash = hash_u64(hash ^ tuple->remote[1]);
	hash = hash_u64(hash ^ net);
	return hash_u64(hash ^
			((uint64_t)tuple->local_port << 32 | (uint64_t)tuple->remote_port << 16 | tuple->protocol)) |
	       1;
}

static struct tuple reversed(const struct tuple *tuple)
{
	struct tuple other = {.local_port = tuple->remote_port,
			      .remote_port = tuple->local_port,
			      .protocol = tuple->protocol,
			      .net = tuple->net};

	memcpy(other.local, tuple->remote, sizeof(other.local));
	memcpy(other.remote, tuple->local, sizeof(other.remote));
	return other;
}

bool tuple_add(struct hash_table *table, const struct tuple *tuple, uint64_t owner)
{
	return (!tuple->net || put(table, tuple_key(tuple, tuple->net), tuple->net, owner)) &&
	       put(table, tuple_key(tuple, 0), tuple->net, owner);
}

void tuple_remove(struct hash_table *table, const struct tuple *tuple, uint64_t owner)
{
	if (tuple->net)
		take_away(table, tuple_key(tuple, tuple->net), owner);
	take_away(table, tuple_key(tuple, 0), owner);
}

/* 127.0.0.0/8 and ::1 exist in each namespace, and never lead into another one. */
static bool is_loopback(const uint64_t address[2])
{
	const unsigned char *bytes = (const unsigned char *)address;
	static const unsigned char v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, one[16] = {[15] = 1};

	return memcmp(bytes, one, sizeof(one)) == 0 ||
	       (memcmp(bytes, v4_mapped, sizeof(v4_mapped)) == 0 && bytes[12] == 127);
}

uint64_t tuple_other(const struct hash_table *table, const struct tuple *tuple)
{
	const struct tuple other = reversed(tuple);
	uint64_t owner = find(table, tuple_key(&other, other.net));
	uint32_t net;

	if (owner || !tuple->net || is_loopback(tuple->remote) || !find_alone(table, tuple_key(tuple, 0), &net) ||
	    net != tuple->net)
		return owner;
	return find_alone(table, tuple_key(&other, 0), &net);
}

bool tuple_are_ends(const struct tuple *one, const struct tuple *two)
{
	return one->local_port == two->remote_port && one->remote_port == two->local_port &&
	       one->protocol == two->protocol && memcmp(one->local, two->remote, sizeof(one->local)) == 0 &&
	       memcmp(one->remote, two->local, sizeof(one->remote)) == 0;
}

uint32_t start_socket_netns(const struct trace_event *event)
{
	const struct trace_start_socket *start = event->payload;

	return event->type->fixed_bytes >= sizeof(*start) ? start->netns : 0;
}

/* ---- ports ---- */

static uint64_t port_key(uint32_t net, uint16_t port)
{
	return ((uint64_t)net << 16 | port) + 1;
}

bool port_add(struct hash_table *table, uint32_t net, uint16_t port, uint64_t owner)
{
	return (!net || put(table, port_key(net, port), net, owner)) && put(table, port_key(0, port), net, owner);
}

uint64_t port_find(const struct hash_table *table, uint32_t net, uint16_t port, bool anywhere)
{
	uint64_t owner = find(table, port_key(net, port));
	uint32_t where;

	return owner || !net || !anywhere ? owner : find_alone(table, port_key(0, port), &where);
}

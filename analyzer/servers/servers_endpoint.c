/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_endpoint.c - the ends of connections, datagram sockets and pipes: what is known about
 * each, and which end is the server's
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "servers_state.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

static uint64_t pipe_key(uint32_t dev, uint64_t ino)
{
	return hash_u64(hash_u64(ino) ^ (uint64_t)dev << 32 ^ 0x70697065) | 1;
}

static uint64_t socket_key(uint64_t ino)
{
	return hash_u64(ino) | 1;
}

static struct endpoint *endpoint_at(struct trace_servers *s, uint64_t key, uint64_t ino, enum endpoint_kind kind)
{
	struct servers_row *row = table_add(&s->endpoints.by_key, sizeof(*row), key);
	struct endpoint *endpoint = row ? row->pointer : NULL;

	if (!row)
		s->failed = -ENOMEM;
	if (endpoint || !row)
		return endpoint;
	endpoint = row->pointer = calloc(1, sizeof(*endpoint));
	if (!endpoint) {
		table_remove(&s->endpoints.by_key, sizeof(*row), key); /* each row has its endpoint */
		s->failed = -ENOMEM;
		return NULL;
	}
	endpoint->key = key;
	endpoint->ino = ino;
	endpoint->kind = (uint8_t)kind;
	endpoint->channel.absolute = kind == ENDPOINT_TCP;
	endpoint->channel.epoch = s->channels.epoch;
	endpoint->channel.udp_losses = s->channels.udp_losses;
	return endpoint;
}

static bool is_udp(uint16_t family, uint16_t type, uint16_t protocol)
{
	return (family == LINUX_AF_INET || family == LINUX_AF_INET6) &&
	       (protocol == PROTOCOL_UDP || (!protocol && type == LINUX_SOCK_DGRAM));
}

static enum endpoint_kind kind_of(uint16_t family, uint16_t type, uint16_t protocol)
{
	if (family == LINUX_AF_UNIX)
		return type == LINUX_SOCK_DGRAM	      ? ENDPOINT_DATAGRAM
		       : type == LINUX_SOCK_SEQPACKET ? ENDPOINT_SEQPACKET
						      : ENDPOINT_STREAM;
	if ((family == LINUX_AF_INET || family == LINUX_AF_INET6) &&
	    (protocol == PROTOCOL_TCP || (!protocol && type == LINUX_SOCK_STREAM)))
		return ENDPOINT_TCP;
	return is_udp(family, type, protocol) ? ENDPOINT_DATAGRAM : ENDPOINT_OTHER;
}

static struct endpoint *endpoint_at_key(const struct servers_endpoints *endpoints, uint64_t key)
{
	const struct servers_row *row = table_find(&endpoints->by_key, sizeof(*row), key);

	return row ? row->pointer : NULL;
}

struct endpoint *endpoint_find(const struct servers_endpoints *endpoints, uint64_t ino)
{
	return ino ? endpoint_at_key(endpoints, socket_key(ino)) : NULL;
}

struct endpoint *endpoint_get(struct trace_servers *s, uint64_t ino, uint16_t family, uint16_t type, uint16_t protocol)
{
	struct endpoint *endpoint = ino ? endpoint_at(s, socket_key(ino), ino, kind_of(family, type, protocol)) : NULL;

	if (endpoint)
		endpoint->channel.udp |= is_udp(family, type, protocol);
	return endpoint;
}

struct endpoint *pipe_find(const struct servers_endpoints *endpoints, uint32_t dev, uint64_t ino)
{
	return endpoint_at_key(endpoints, pipe_key(dev, ino));
}

struct endpoint *pipe_get(struct trace_servers *s, uint32_t dev, uint64_t ino)
{
	struct endpoint *pipe = ino ? endpoint_at(s, pipe_key(dev, ino), ino, ENDPOINT_PIPE) : NULL;

	if (pipe)
		pipe->closed_ns = 0; /* the caller has it open */
	return pipe;
}

/* ---- the endpoints of descriptors ---- */

struct endpoint *endpoint_of_fd(struct trace_servers *s, const struct servers_thread *thread, uint64_t fd)
{
	struct trace_file_id id;

	if (!trace_thread_file_id(s->analysis, thread->thread, (int)fd, &id))
		return NULL;
	if (LINUX_S_ISFIFO(id.mode))
		return pipe_get(s, id.dev, id.ino);
	return LINUX_S_ISSOCK(id.mode) ? endpoint_find(&s->endpoints, id.ino) : NULL;
}

/*
 * True for a file that no process can send through: one on a disk (or made up by the kernel), a
 * device that always has data, a counter. It brings no request, and a thread that reads it does not
 * look for one.
 */
bool fd_has_no_sender(struct trace_servers *s, const struct servers_thread *thread, uint64_t fd)
{
	static const char *const paths[] = {
		"/dev/null", "/dev/random", "/dev/urandom", "/dev/zero", "anon_inode:[perf_event]", "[perf_event]"};
	const char *path;
	struct trace_file_id id;

	if (trace_thread_file_id(s->analysis, thread->thread, (int)fd, &id) &&
	    (LINUX_S_ISREG(id.mode) || LINUX_S_ISDIR(id.mode) || LINUX_S_ISBLK(id.mode)))
		return true;
	path = trace_thread_file(s->analysis, thread->thread, (int)fd);
	for (size_t i = 0; path && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}

/* ---- the two ends of a connection ---- */

static struct endpoint *tuple_peer(const struct servers_endpoints *endpoints, const struct endpoint *endpoint)
{
	struct endpoint *peer = (struct endpoint *)(uintptr_t)tuple_other(&endpoints->tuples, &endpoint->ends);

	if (!peer || peer->retired) /* of an earlier connection from the same port */
		return NULL;
	return tuple_are_ends(&peer->ends, &endpoint->ends) ? peer : NULL;
}

static void drop_tuple(struct servers_endpoints *endpoints, const struct endpoint *endpoint)
{
	if (endpoint->ends.remote_port)
		tuple_remove(&endpoints->tuples, &endpoint->ends, (uintptr_t)endpoint);
}

/*
 * A socket that was connected to another address, or disconnected, is no longer found by its old
 * addresses.
 */
static void learn_tuple(struct trace_servers *s, struct endpoint *endpoint, const struct trace_sock_endpoints *ends)
{
	drop_tuple(&s->endpoints, endpoint);
	endpoint->ends = (struct tuple){
		.local = {ends->local_hi, ends->local_lo},
		.remote = {ends->remote_hi, ends->remote_lo},
		.local_port = ends->local_port,
		.remote_port = ends->remote_port,
		.net = ends->netns,
	};
	if (ends->remote_port && !tuple_add(&s->endpoints.tuples, &endpoint->ends, (uintptr_t)endpoint))
		s->failed = -ENOMEM;
}

static void learn_listener(struct trace_servers *s, struct endpoint *endpoint, const struct trace_sock_endpoints *ends)
{
	if (!port_add(&s->endpoints.listeners, ends->netns, ends->local_port, (uintptr_t)endpoint))
		s->failed = -ENOMEM;
	endpoint->at_port = true;
}

static struct endpoint *listener_of_own_port(const struct servers_endpoints *endpoints, const struct endpoint *endpoint)
{
	return (struct endpoint *)(uintptr_t)port_find(&endpoints->listeners, endpoint->ends.net,
						       endpoint->ends.local_port, false);
}

struct endpoint *listener_of_peer(const struct servers_endpoints *endpoints, const struct endpoint *endpoint)
{
	return (struct endpoint *)(uintptr_t)port_find(&endpoints->listeners, endpoint->ends.net,
						       endpoint->ends.remote_port, true);
}

/*
 * The end that was made first does not know the other yet, or its last event contains less than was
 * known before. So linking one end links both.
 */
static void link_ends(struct endpoint *one, struct endpoint *two)
{
	if (!one || !two || one == two)
		return;
	if (one->peer && one->peer->peer == one)
		one->peer->peer = NULL;
	if (two->peer && two->peer->peer == two)
		two->peer->peer = NULL;
	one->peer = two;
	two->peer = one;
}

void endpoint_learn(struct trace_servers *s, const struct trace_sock_endpoints *ends, struct servers_process *owner,
		    bool is_new)
{
	struct endpoint *endpoint = endpoint_get(s, ends->ino, ends->family, ends->type, (uint16_t)ends->protocol);

	if (!endpoint)
		return;
	endpoint->kind = (uint8_t)kind_of(ends->family, ends->type, (uint16_t)ends->protocol);
	endpoint->closed_ns = 0;
	endpoint->released = false;
	endpoint->channel.absolute = endpoint->kind == ENDPOINT_TCP;
	if (owner)
		endpoint->owner = owner;
	if (is_new && !servers_in_gap(s))
		endpoint->is_new = endpoint->channel.in_step = true;
	if (ends->state == TCP_LISTEN) {
		endpoint->listening = true;
		if (owner)
			owner->listens = true;
		if (endpoint->kind == ENDPOINT_TCP)
			learn_listener(s, endpoint, ends);
	}
	if (endpoint->kind == ENDPOINT_TCP) {
		learn_tuple(s, endpoint, ends);
		if (ends->remote_port)
			link_ends(endpoint, tuple_peer(&s->endpoints, endpoint));
	} else if (ends->family == LINUX_AF_UNIX && ends->peer_ino && ends->peer_ino != ends->ino &&
		   endpoint->kind != ENDPOINT_DATAGRAM) {
		link_ends(endpoint, endpoint_get(s, ends->peer_ino, ends->family, ends->type, 0));
	}
}

struct channel *channel_in(struct endpoint *endpoint)
{
	switch (endpoint->kind) {
	case ENDPOINT_DATAGRAM:
	case ENDPOINT_PIPE:
		return &endpoint->channel;
	default:
		return endpoint->peer ? &endpoint->peer->channel : NULL;
	}
}

struct channel *channel_out(struct endpoint *endpoint)
{
	return endpoint && endpoint->kind != ENDPOINT_DATAGRAM && endpoint->kind != ENDPOINT_OTHER ? &endpoint->channel
												   : NULL;
}

/* ---- roles ---- */

static bool is_stream(const struct endpoint *endpoint)
{
	return endpoint->kind == ENDPOINT_STREAM || endpoint->kind == ENDPOINT_SEQPACKET ||
	       endpoint->kind == ENDPOINT_TCP;
}

bool is_queue(const struct endpoint *endpoint)
{
	return endpoint->kind == ENDPOINT_PIPE || endpoint->kind == ENDPOINT_DATAGRAM || endpoint->shared;
}

void endpoint_find_role(struct servers_endpoints *endpoints, struct endpoint *endpoint, enum endpoint_role first)
{
	struct endpoint *peer = endpoint->peer;
	enum endpoint_role role = first;

	if (endpoint->role != ROLE_UNKNOWN)
		return;
	endpoint->guessed = true;
	if (endpoint->kind == ENDPOINT_TCP &&
	    (listener_of_own_port(endpoints, endpoint) || !peer || listener_of_peer(endpoints, endpoint))) {
		role = listener_of_own_port(endpoints, endpoint) ? ROLE_SERVER : ROLE_CLIENT;
		endpoint->guessed = false;
		endpoint->accepted = role == ROLE_SERVER;
	} else if (is_stream(endpoint) && !endpoint->is_new && peer && peer->owner && endpoint->owner &&
		   peer->owner->listens != endpoint->owner->listens) {
		role = endpoint->owner->listens ? ROLE_SERVER : ROLE_CLIENT;
		endpoint->guessed = false;
		endpoint->accepted = role == ROLE_SERVER;
	} else if (endpoint->is_new) {
		endpoint->guessed = false;
	}
	endpoint->role = (uint8_t)role;
	if (peer && is_stream(endpoint) && peer->role == ROLE_UNKNOWN) {
		peer->role = role == ROLE_SERVER ? ROLE_CLIENT : ROLE_SERVER;
		peer->guessed = endpoint->guessed;
		peer->accepted = role == ROLE_CLIENT && !endpoint->guessed && !endpoint->is_new;
	}
}

bool endpoint_is_remote(const struct endpoint *endpoint)
{
	const unsigned char *raw = (const unsigned char *)endpoint->ends.remote;

	if (endpoint->kind != ENDPOINT_TCP || !endpoint->ends.remote_port || endpoint->peer)
		return false;
	if (memcmp(endpoint->ends.remote, endpoint->ends.local, sizeof(endpoint->ends.remote)) == 0)
		return false;
	/* 127.0.0.0/8: on this machine, but its other end is not known */
	return !(raw[10] == 0xff && raw[12] == 127);
}

/* ---- sets ---- */

void endpoint_holds_set(struct servers_endpoints *endpoints, struct endpoint *endpoint)
{
	if (endpoint->holder_link)
		return;
	endpoint->next_holder = endpoints->holders;
	endpoint->holder_link = &endpoints->holders;
	if (endpoints->holders)
		endpoints->holders->holder_link = &endpoint->next_holder;
	endpoints->holders = endpoint;
}

static void endpoint_holds_none(struct endpoint *endpoint)
{
	if (!endpoint->holder_link)
		return;
	*endpoint->holder_link = endpoint->next_holder;
	if (endpoint->next_holder)
		endpoint->next_holder->holder_link = endpoint->holder_link;
	endpoint->holder_link = NULL;
	endpoint->next_holder = NULL;
}

void endpoints_drop_sets(struct servers_endpoints *endpoints)
{
	while (endpoints->holders) {
		struct endpoint *endpoint = endpoints->holders;

		set_assign(&endpoint->open, NULL);
		set_assign(&endpoint->awaiting, NULL);
		set_assign(&endpoint->connect_set, NULL);
		set_assign(&endpoint->answered, NULL);
		endpoint_holds_none(endpoint);
	}
}

void endpoint_empty(struct endpoint *endpoint)
{
	channel_lost_step(&endpoint->channel);
	set_assign(&endpoint->open, NULL);
	set_assign(&endpoint->connect_set, NULL);
	set_assign(&endpoint->awaiting, NULL);
	set_assign(&endpoint->answered, NULL);
}

static void endpoint_free(struct endpoint *endpoint)
{
	endpoint_holds_none(endpoint);
	free(endpoint->channel.ranges);
	free(endpoint);
}

void endpoint_remove(struct servers_endpoints *endpoints, struct endpoint *endpoint)
{
	drop_tuple(endpoints, endpoint);
	table_remove(&endpoints->by_key, sizeof(struct servers_row), endpoint->key);
	if (endpoint->peer)
		endpoint->peer->peer = NULL;
	endpoint_free(endpoint);
}

void endpoints_empty(struct servers_endpoints *endpoints)
{
	for (const struct servers_row *row = NULL; (row = table_next(&endpoints->by_key, sizeof(*row), row));)
		endpoint_empty(row->pointer);
}

void endpoints_free(struct servers_endpoints *endpoints)
{
	for (const struct servers_row *row = NULL; (row = table_next(&endpoints->by_key, sizeof(*row), row));)
		endpoint_free(row->pointer);
	table_clear(&endpoints->by_key);
	table_clear(&endpoints->tuples);
	table_clear(&endpoints->listeners);
}

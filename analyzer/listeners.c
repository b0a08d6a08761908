/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listeners.c - the processes that listen at TCP ports of this machine: see listeners.h */
#include "listeners.h"

#include <errno.h>
#include <string.h>

#include "kernel_numbers.h"
#include "state.h"
#include "state_socket.h"

#define INIT 1 /* with socket activation, it listens for the service, which is to be named */

struct listener_row {
	uint64_t key;
	uint32_t process; /* 0: it was none of this trace */
};

static struct listener_row *row_of(struct trace_analysis *a, struct hash_table *table, uint64_t key)
{
	struct listener_row *row = table_add(table, sizeof(*row), key);

	if (!row)
		a->failed = -ENOMEM;
	return row;
}

static uint64_t port_key(const struct socket_state *sock, uint16_t port)
{
	return (uint64_t)sock->ends.net << 16 | port;
}

/* Texts of equal targets are one text. */
static uint64_t target_key(const char *target)
{
	return (uintptr_t)target;
}

void listener_add(struct trace_analysis *a, const struct socket_state *sock)
{
	struct listener_row *row = sock->ends.local_port && sock->owner >= NR_PSEUDO_PROCESSES
					   ? row_of(a, &a->listeners.by_port, port_key(sock, sock->ends.local_port))
					   : NULL;

	if (row && (!row->process || a->threads.processes[sock->owner]->pid != INIT))
		row->process = sock->owner;
}

static bool is_loopback(const uint64_t address[2])
{
	static const unsigned char v4[13] = {[10] = 0xff, [11] = 0xff, [12] = 127}, v6[16] = {[15] = 1};

	return memcmp(address, v4, sizeof(v4)) == 0 || memcmp(address, v6, sizeof(v6)) == 0;
}

void listener_note(struct trace_analysis *a, const struct socket_state *sock, string_id target)
{
	const uint64_t *remote = sock->ends.remote_port ? sock->ends.remote : sock->connect_address;
	uint16_t port = sock->ends.remote_port ? sock->ends.remote_port : sock->connect_port;
	const struct listener_row *row;
	struct listener_row *noted;

	if (sock->type != LINUX_SOCK_STREAM || !port ||
	    (!is_loopback(remote) && memcmp(remote, sock->ends.local, sizeof(sock->ends.local)) != 0))
		return;
	row = table_find(&a->listeners.by_port, sizeof(*row), port_key(sock, port));
	noted = row && row->process ? row_of(a, &a->listeners.by_target, target_key(strings_text(&a->strings, target)))
				    : NULL;
	if (noted)
		noted->process = row->process;
}

const struct trace_process *trace_target_listener(const struct trace_analysis *a, const char *target)
{
	const struct listener_row *row = table_find(&a->listeners.by_target, sizeof(*row), target_key(target));

	return row ? a->threads.processes[row->process] : NULL;
}

void listeners_renumber(struct trace_analysis *a)
{
	struct listener_row *row = NULL;

	while ((row = table_next(&a->listeners.by_port, sizeof(*row), row))) {
		row->process = a->threads.processes[row->process]->idx;
		if (row->process == PROCESS_UNKNOWN)
			row->process = 0;
	}
}

void listeners_clear(struct listeners *listeners)
{
	table_clear(&listeners->by_port);
	table_clear(&listeners->by_target);
}

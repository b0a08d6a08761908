/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVERS_CLOSE_H
#define TESTS_SERVERS_CLOSE_H
/* servers_close.h - an end of a TCP connection is closed, in the traces of servers_case.h */
#include "servers_case.h"

#define FIN_WAIT1 4
#define LAST_ACK  9

static inline void closes(struct case_of_servers *k, const struct end *e, uint64_t ns, uint32_t state)
{
	struct trace_sock_state event = {
		.ino = e->ino, .family = AF_INET, .protocol = 6, .old_state = 1, .new_state = state};

	tb_sys_enter(k->c.tb, e->cpu, ns, SYS_close, (uint64_t)e->fd, 0, 0);
	tb_event(k->c.tb, e->cpu, ns + 1, TRACE_EV_sock_state, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 2, 0);
}

#endif

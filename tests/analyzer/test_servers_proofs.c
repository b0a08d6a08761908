/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_proofs.c - what of a bill is proven: the theorem of docs/SERVERS.md, rule by rule */
#include <linux/futex.h>
#include "servers_case.h"
#include "servers_pipe.h"
#include "unit.h"

/* A new pipe that two processes have. */
static void pipe_of(struct case_of_servers *k, uint32_t cpu, uint32_t other, uint64_t ns, int fd, uint64_t ino)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_pipe, 0x1000, 0, 0);
	pipe_in(k, cpu, ns + 2, fd, ino);
	tb_sys_exit(k->c.tb, cpu, ns + 4, 0);
	pipe_in(k, other, ns + 6, fd, ino);
}

/* Process 20 writes a message into a pipe, which process 10 reads. */
static void message_for_client(struct case_of_servers *k)
{
	pipe_of(k, 0, 1, 1050, 7, 700);
	pipe_io(k, 1, 7, 1060, true);
	pipe_io(k, 0, 7, 1080, false);
}

/* The client asks the server, which works for it from 1300 ns to the end of its answer at 2010. */
static void one_asks(struct case_of_servers *k)
{
	connects(k, &one, &one_server, 1200);
	sends(k, &one, 1250);
	receives(k, &one_server, 1300);
	sends(k, &one_server, 2000);
	receives(k, &one, 2100);
	polls(k, 2, 2200);
}

/* It does not answer the message, so no process is its client. */
static void a_client_may_have_read_a_pipe_before_it_asks(void)
{
	struct case_of_servers k = begin();

	message_for_client(&k);
	polls(&k, 0, 1100);
	one_asks(&k);
	run(&k);
	EXACT(&k, 30, 10, 2010 - 1300);
	end(&k);
}

/* It asks process 30 for process 20, or for itself: nothing shows it. */
static void a_server_with_a_request_in_hand_may_ask_for_it(void)
{
	struct case_of_servers k = begin();

	message_for_client(&k);
	polls(&k, 0, 1100);
	one_asks(&k);
	pipe_of(&k, 0, 1, 2300, 8, 800);
	pipe_io(&k, 0, 8, 2400, true); /* the answer makes it a server */
	pipe_io(&k, 1, 8, 2500, false);
	run(&k);
	EXACT(&k, 30, 10, 0);
	CU_ASSERT_PTR_NOT_NULL(server_of(&k, 10));
	end(&k);
}

static const struct unit_case cases[] = {
	{"a_client_may_have_read_a_pipe_before_it_asks", a_client_may_have_read_a_pipe_before_it_asks},
	{"a_server_with_a_request_in_hand_may_ask_for_it", a_server_with_a_request_in_hand_may_ask_for_it},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_proofs", cases, argc, argv);
}

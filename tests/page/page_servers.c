/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_servers.c - page_servers FILE: writes a trace of 8 us of two clients and two servers, for
 * the tests of the view by client
 *
 * 	client (10), client (20)   ask server (30); one request of 10 goes on to server (40)
 * 	server (30)                works for 10 from 0.3 to 1.01 us, for both from 2 to 2.5 us, and
 * 	                           sleeps for 10 from 4.11 to 4.7 us
 */
#include <fcntl.h>
#include <unistd.h>
#include "servers_case.h"

static void one_alone(struct case_of_servers *k)
{
	sends(k, &one, 1250);
	receives(k, &one_server, 1300);
	sends(k, &down, 1500);
	receives(k, &down_server, 1550);
	sends(k, &down_server, 1800);
	receives(k, &down, 1850);
	sends(k, &one_server, 2000);
	receives(k, &one, 2100);
	polls(k, 2, 2200);
	polls(k, 3, 2200);
}

/* Both are answered at once. */
static void two_together(struct case_of_servers *k)
{
	sends(k, &one, 2900);
	sends(k, &two, 2910);
	receives(k, &one_server, 3000);
	receives(k, &two_server, 3020);
	sends(k, &one_server, 3401);
	sends(k, &two_server, 3412);
	polls(k, 2, 3500);
}

/* The server sleeps while it has the request. */
static void one_waits(struct case_of_servers *k)
{
	struct tb *tb = k->c.tb;

	sends(k, &one, 4900);
	receives(k, &one_server, 5000);
	tb_sys_enter(tb, 2, 5100, SYS_nanosleep, 0, 0, 0);
	tb_switch(tb, 2, 5110, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 2, 5700, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 2, 5710, 0);
	sends(k, &one_server, 6000);
	polls(k, 2, 6100);
}

int main(int argc, char **argv)
{
	struct case_of_servers k = begin();
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: page_servers FILE\n");
		return 2;
	}
	connects(&k, &down, &down_server, 1050);
	connects(&k, &one, &one_server, 1100);
	connects(&k, &two, &two_server, 1120);
	polls(&k, 2, 1140);
	polls(&k, 3, 1140);
	one_alone(&k);
	two_together(&k);
	one_waits(&k);
	finish(&k);
	tb_write(k.c.tb, fd, true);
	case_free(&k.c);
	return close(fd) ? 1 : 0;
}

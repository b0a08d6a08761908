/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * example_servers.c - write_server_trace(): the trace of "one_client_is_exact" in test_servers.c.
 */
#include "servers_case.h"
#include "example_traces.h"

void write_server_trace(int fd)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2500);
	finish(&k);
	tb_write(k.c.tb, fd, true);
	tb_free(k.c.tb);
}

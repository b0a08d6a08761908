/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_scopes.c - page_scopes FILE: writes a trace of 19 us of a program with scopes and requests,
 * for the tests of lanes
 *
 * Thread 10 is in shop:day from 0.5 us on, in shop:checkout 1 to 6.5 us and 8 to 8.7 us; request 7
 * goes from thread 10 (9 to 10 us) to thread 11 (11 to 13 us).
 */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "user_events_case.h"

int main(int argc, char **argv)
{
	struct story s = begin();
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	uint16_t day = event_type(s.tb, "shop:day.begin", TRACE_ROLE_BEGIN),
		 in = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 out = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END),
		 begins = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 hands = event_type(s.tb, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF),
		 ends = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);

	if (fd < 0) {
		fprintf(stderr, "usage: page_scopes FILE\n");
		return 2;
	}
	emit(s.tb, 0, 1500, day, 10, 1);
	emit(s.tb, 0, 1999, in, 10, 1);
	read_orders(s.tb);
	emit(s.tb, 0, 7500, out, 10, 1);
	emit(s.tb, 0, 9000, in, 10, 2);
	emit(s.tb, 0, 9700, out, 10, 2);
	emit(s.tb, 0, 10000, begins, 10, 7);
	emit(s.tb, 0, 11000, hands, 10, 7);
	emit(s.tb, 1, 12000, begins, 11, 7);
	emit(s.tb, 1, 14000, ends, 11, 7);
	tb_switch(s.tb, 0, 19999, 10, 10, TRACE_TASK_RUNNING);
	tb_switch(s.tb, 1, 19999, 11, 11, TRACE_TASK_RUNNING);
	tb_write(s.tb, fd, true);
	tb_free(s.tb);
	return close(fd) ? 1 : 0;
}

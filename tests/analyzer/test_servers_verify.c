/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_verify.c - bills outside of the CPU time of their server are reported.
 *
 * The analysis makes no such bills, so the test makes them up: 1000 ns of CPU time, of which client
 * 20 has 400 ns (100 exact), client 30 has 300 ns (300 exact), and 300 ns are background.
 */
#include <errno.h>
#include <string.h>
#include <trace/servers.h>
#include "servers/servers_verify.h"
#include "unit.h"

struct bills {
	struct trace_server server;
	struct trace_server_client clients[2];
	uint64_t cpu_ns;
	uint64_t over_ns;
};

static struct bills right(void)
{
	return (struct bills){
		.server = {.pid = 10,
			   .cpu_ns = 1000,
			   .exact_ns = 400,
			   .shared_ns = 300,
			   .background_ns = 300,
			   .nr_clients = 2},
		.clients =
			{{.pid = 20, .cpu_ns = 400, .exact_ns = 100, .shared_ns = 300, .least_ns = 100, .most_ns = 900},
			 {.pid = 30, .cpu_ns = 300, .exact_ns = 300, .least_ns = 300, .most_ns = 300}},
		.cpu_ns = 1000,
	};
}

/* @wanted: a part of the message; NULL: no violation */
static void verify(struct bills *bills, const char *wanted)
{
	struct trace_error error = {0};

	bills->server.clients = bills->clients;
	CU_ASSERT_EQUAL(bills_verify(&bills->server, bills->cpu_ns, bills->over_ns, &error), wanted ? -EBADMSG : 0);
	if (wanted)
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, wanted));
}

static void bills_within_the_cpu_time_are_right(void)
{
	struct bills bills = right();

	verify(&bills, NULL);
}

static void a_bill_outside_its_bounds_is_wrong(void)
{
	struct bills bills = right();

	bills.clients[0].least_ns = 401;
	verify(&bills, "server 10: its bill of 400 ns for 20 is not between 401 and 900 of 1000 ns");
	bills = right();
	bills.clients[1].most_ns = 299;
	verify(&bills, "server 10: its bill of 300 ns for 30 is not between 300 and 299 of 1000 ns");
	bills = right();
	bills.clients[0].most_ns = 1001;
	verify(&bills, "server 10: its bill of 400 ns for 20 is not between 100 and 1001 of 1000 ns");
	bills = right();
	bills.clients[0].shared_ns = 200;
	verify(&bills, "server 10: its bill of 400 ns for 20");
}

static void bills_of_more_than_the_cpu_time_are_wrong(void)
{
	struct bills bills = right();

	bills.cpu_ns = 999;
	verify(&bills,
	       "server 10: its bills of 400 exact + 300 shared + 300 background ns are not its CPU time of 999 ns");
	bills = right();
	bills.server.background_ns = 0;
	verify(&bills, "400 exact + 300 shared + 0 background ns are not");
	bills = right();
	bills.server.nr_clients = 1;
	verify(&bills, "100 exact + 300 shared + 300 background ns are not");
	bills = right();
	bills.clients[1].cpu_ns = bills.clients[1].most_ns = 1000;
	bills.clients[1].shared_ns = 700;
	bills.server.shared_ns = 1000;
	bills.server.background_ns = (uint64_t)-400; /* the sum is right again */
	verify(&bills, "are not its CPU time of 1000 ns");
}

/* Bills are cut to the CPU time in the end, which is right only after a gap. */
static void threads_that_were_billed_too_much_are_reported(void)
{
	struct bills bills = right();

	bills.over_ns = 1;
	verify(&bills, "server 10: its threads were billed 1 ns more than their CPU time of 1000 ns");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(bills_within_the_cpu_time_are_right),
		CASE(a_bill_outside_its_bounds_is_wrong),
		CASE(bills_of_more_than_the_cpu_time_are_wrong),
		CASE(threads_that_were_billed_too_much_are_reported),
		{NULL, NULL},
	};

	return unit_main("servers_verify", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_tuple.c - ends of connections are matched in their own network namespace, and in another one
 * where the match is certain. */
#include <string.h>
#include "tuple.h"
#include "unit.h"

/* 127.0.0.1, ::1 */
static const uint64_t here[2] = {0, 127ull << 32 | 0x0100000000000000 | 0xffff0000}, here6[2] = {0, 1ull << 56};
static const uint64_t client_at[2] = {0, 0x0200000a00000000 | 0xffff0000},
		      server_at[2] = {0, 0x0300000a00000000 | 0xffff0000};

static struct tuple end_at(uint32_t net, const uint64_t local[2], uint16_t local_port, const uint64_t remote[2],
			   uint16_t remote_port)
{
	struct tuple tuple = {.local_port = local_port, .remote_port = remote_port, .protocol = 6, .net = net};

	memcpy(tuple.local, local, sizeof(tuple.local));
	memcpy(tuple.remote, remote, sizeof(tuple.remote));
	return tuple;
}

static void add(struct hash_table *table, const struct tuple *tuple, uint64_t who)
{
	CU_ASSERT_TRUE(tuple_add(table, tuple, who));
}

static void on_loopback(const uint64_t address[2])
{
	struct hash_table table = {0};
	struct tuple client = end_at(1, address, 5000, address, 80), server = end_at(1, address, 80, address, 5000);
	struct tuple client_too = client, server_too = server;

	client_too.net = server_too.net = 2;
	add(&table, &client, 10);
	add(&table, &server_too, 21); /* its other end is not known yet */
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	CU_ASSERT_EQUAL(tuple_other(&table, &server_too), 0);
	add(&table, &server, 11);
	add(&table, &client_too, 20);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 10);
	CU_ASSERT_EQUAL(tuple_other(&table, &client_too), 21);
	CU_ASSERT_EQUAL(tuple_other(&table, &server_too), 20);
	CU_ASSERT_TRUE(tuple_are_ends(&client, &server));
	CU_ASSERT_FALSE(tuple_are_ends(&client, &client));
	tuple_remove(&table, &server, 12); /* the addresses belong to another socket by now */
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 11);
	tuple_remove(&table, &server, 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	CU_ASSERT_EQUAL(tuple_other(&table, &client_too), 21);
	table_clear(&table);
}

static void loopback_stays_in_its_namespace(void)
{
	on_loopback(here);
	on_loopback(here6);
}

static void connections_between_namespaces_are_matched(void)
{
	struct hash_table table = {0};
	struct tuple client = end_at(1, client_at, 5000, server_at, 80),
		     server = end_at(2, server_at, 80, client_at, 5000);
	struct tuple client_too = client, server_too = server;

	client_too.net = 3;
	server_too.net = 4;
	add(&table, &client, 10);
	add(&table, &server, 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 10);
	add(&table, &client, 12); /* the same end once more, another socket */
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 12);
	add(&table, &client_too, 20); /* ambiguous */
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 0);
	CU_ASSERT_EQUAL(tuple_other(&table, &client_too), 0);
	add(&table, &server_too, 21);
	CU_ASSERT_EQUAL(tuple_other(&table, &server_too), 0);
	server_too.net = 3; /* both in one namespace: no longer ambiguous */
	add(&table, &server_too, 22);
	CU_ASSERT_EQUAL(tuple_other(&table, &client_too), 22);
	CU_ASSERT_EQUAL(tuple_other(&table, &server_too), 20);
	table_clear(&table);
}

/* The server's end in another namespace is ambiguous, also when one of the two candidates is
 * removed and added again. So is the client's end. */
static void ends_that_are_added_again_stay_ambiguous(void)
{
	struct hash_table table = {0};
	struct tuple client = end_at(1, client_at, 5000, server_at, 80), client_too = client;
	struct tuple server = end_at(2, server_at, 80, client_at, 5000), server_too = server;

	client_too.net = 3;
	server_too.net = 4;
	add(&table, &client, 10);
	add(&table, &server, 20);
	add(&table, &server_too, 21);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	tuple_remove(&table, &server_too, 21);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	add(&table, &server_too, 31);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 0);
	table_clear(&table);
	add(&table, &client, 10);
	add(&table, &server, 20);
	CU_ASSERT_EQUAL(tuple_other(&table, &client_too), 0); /* the searching end is not the known one */
	table_clear(&table);
}

static void without_namespaces_addresses_decide(void)
{
	struct hash_table table = {0};
	struct tuple client = end_at(0, here, 5000, here, 80), server = end_at(0, here, 80, here, 5000);

	add(&table, &client, 10);
	add(&table, &server, 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &client), 11);
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 10);
	server.protocol = 17;
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 0);
	tuple_remove(&table, &client, 10);
	server.protocol = 6;
	CU_ASSERT_EQUAL(tuple_other(&table, &server), 0);
	table_clear(&table);
}

static void ports_are_of_a_namespace(void)
{
	struct hash_table table = {0};

	CU_ASSERT_TRUE(port_add(&table, 1, 80, 10));
	CU_ASSERT_TRUE(port_add(&table, 2, 443, 11));
	CU_ASSERT_EQUAL(port_find(&table, 1, 80, false), 10);
	CU_ASSERT_EQUAL(port_find(&table, 2, 80, false), 0);
	CU_ASSERT_EQUAL(port_find(&table, 2, 80, true), 10);
	CU_ASSERT_TRUE(port_add(&table, 2, 80, 12));
	CU_ASSERT_EQUAL(port_find(&table, 2, 80, false), 12);
	CU_ASSERT_EQUAL(port_find(&table, 1, 80, true), 10);
	CU_ASSERT_EQUAL(port_find(&table, 3, 80, true), 0); /* which? */
	CU_ASSERT_EQUAL(port_find(&table, 3, 443, true), 11);
	CU_ASSERT_TRUE(port_add(&table, 0, 65535, 13));
	CU_ASSERT_EQUAL(port_find(&table, 0, 65535, false), 13);
	table_clear(&table);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(loopback_stays_in_its_namespace),
		CASE(connections_between_namespaces_are_matched),
		CASE(ends_that_are_added_again_stay_ambiguous),
		CASE(without_namespaces_addresses_decide),
		CASE(ports_are_of_a_namespace),
		{NULL, NULL},
	};

	return unit_main("tuple", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_gaps.c - bills of servers: work is background if its request came before the trace,
 * is missing, or cannot be read. */
#include <stdlib.h>
#include "image.h"
#include "servers_case.h"
#include "unit.h"

/* ---- before the trace, and gaps ---- */

static void data_in_flight_at_the_start_is_background(void)
{
	struct case_of_servers k = begin();

	was_open(&k, &one, 201, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300}, 0, 10); /* process 30 listens */
	was_open(&k, &one_server, 101, 1);
	sends(&k, &one, 1100);
	receives(&k, &one_server, 1300); /* this request, or one from before the trace? */
	polls(&k, 2, 1500);
	transfer(&k, &one_server, 1600, false, NOTHING_TO_READ, 0); /* now the byte positions of both ends agree */
	sends(&k, &one, 1700);
	receives(&k, &one_server, 1800);
	polls(&k, 2, 2000);
	run(&k);
	BILL(&k, 30, 10, 2000 - 1800);
	end(&k);
}

static void a_short_read_synchronizes_both_ends(void)
{
	struct case_of_servers k = begin();

	was_open(&k, &one, 201, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300}, 0, 10); /* process 30 listens */
	was_open(&k, &one_server, 101, 1);
	transfer(&k, &one, 1100, true, 8, 0);
	transfer(&k, &one_server, 1300, false, 8, 0); /* of the 16 bytes that it asked for */
	polls(&k, 2, 1500);
	transfer(&k, &one, 1600, true, 8, 0);
	transfer(&k, &one_server, 1700, false, 8, 0);
	polls(&k, 2, 2000);
	run(&k);
	BILL(&k, 30, 10, 2000 - 1700);
	end(&k);
}

/* More bytes may be waiting. */
static void a_full_read_does_not_synchronize_them(void)
{
	struct case_of_servers k = begin();

	was_open(&k, &one, 201, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300}, 0, 10); /* process 30 listens */
	was_open(&k, &one_server, 101, 1);
	sends(&k, &one, 1100);
	receives(&k, &one_server, 1300);
	polls(&k, 2, 1500);
	sends(&k, &one, 1600);
	receives(&k, &one_server, 1700);
	polls(&k, 2, 2000);
	run(&k);
	BILL(&k, 30, 10, 0);
	end(&k);
}

/* Mail servers do so. Both ends are older than the trace. */
static void a_listener_is_the_server_even_if_it_speaks_first(void)
{
	static const uint16_t types[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (size_t i = 0; i < 2; i++) {
		struct end client = one, server = one_server,
			   listener = {.cpu = 2, .fd = 9, .ino = 300, .type = types[i]};
		struct case_of_servers k = begin();

		client.type = server.type = types[i];
		was_open(&k, &client, 201, 1);
		was_open(&k, &listener, 0, 10);
		was_open(&k, &server, 101, 1);
		sends(&k, &server, 1100);
		receives(&k, &client, 1150);
		transfer(&k, &server, 1200, false, NOTHING_TO_READ, 0);
		sends(&k, &client, 1300);
		receives(&k, &server, 1400);
		sends(&k, &server, 2000);
		polls(&k, 2, 2500);
		run(&k);
		BILL(&k, 30, 10, 2500 - 1400);
		REQUESTS(&k, 30, 10, 1);
		CU_ASSERT_PTR_NULL(server_of(&k, 10));
		end(&k);
	}
}

static void a_time_without_some_events_makes_background(void)
{
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull},
		 some[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct case_of_servers k = begin();

	some[TRACE_EV_sock_recv / 64] &= ~(1ull << TRACE_EV_sock_recv % 64);
	tb_event(k.c.tb, 0, 1000, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	/* events that are always recorded are added */
	tb_event(k.c.tb, 0, 1600, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_event(k.c.tb, 0, 2500, TRACE_EV_trace_mask, some, sizeof(some), NULL);
	tb_event(k.c.tb, 0, 2600, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* the byte positions of both ends are unknown now */
	polls(&k, 2, 4000);
	run(&k);
	BILL(&k, 30, 10, 2500 - 1200);
	end(&k);
}

static void a_gap_makes_background(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 1, 1990);
	tb_lost(k.c.tb, 1, 3);
	polls(&k, 1, 3000);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* the byte positions of both ends are unknown now */
	polls(&k, 2, 4000);
	run(&k);
	BILL(&k, 30, 10, 2000 - 1200);
	end(&k);
}

/* A damaged trace may contain any time. At the maximum time no gap stays open, none begins, and the
 * analysis ends. */
static void the_end_of_all_time_is_in_no_gap(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 1, 1990);
	tb_lost(k.c.tb, 1, 3);
	polls(&k, 1, 3000);
	polls(&k, 1, UINT64_MAX);
	run(&k);
	end(&k);
}

/* The reader finds the damage only when it reads the chunk, so no gap was known before. */
static void a_damaged_chunk_makes_background(void)
{
	struct case_of_servers k = begin();
	struct trace_chunk_header header = {0};
	struct image image;
	long at = 0;

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_cut(k.c.tb, 1);
	polls(&k, 1, 2000);
	tb_cut(k.c.tb, 1);
	polls(&k, 1, 3000);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* the byte positions of both ends are unknown now */
	polls(&k, 2, 4000);
	finish(&k);
	image = image_new(k.c.tb, true);
	for (size_t i = 0; at >= 0 && !(header.kind == TRACE_CHUNK_EVENTS && header.first_ns == 2000); i++)
		at = image_chunk(&image, i, &header);
	CU_ASSERT_FATAL(at >= 0);
	image.data[(size_t)at + header.header_bytes] ^= 1;
	run_of(&k, trace_open(image.path, NULL));
	BILL(&k, 30, 10, 2000 - 1200);
	end(&k);
	image_free(&image);
}

/* Prints everything that the analysis says of the servers, as one text. */
static char *bills_of(struct image *image)
{
	struct case_of_servers k = {0};
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	k.c.trace = trace_open(image->path, NULL);
	k.c.analysis = trace_analysis_new(k.c.trace, NULL, NULL);
	k.servers = trace_servers_new(k.c.trace, k.c.analysis, NULL);
	CU_ASSERT_EQUAL(trace_analysis_run(k.c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(k.c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_servers_verify(k.servers, NULL), 0);
	for (size_t i = 0; i < trace_nr_servers(k.servers); i++) {
		const struct trace_server *server = trace_get_server(k.servers, i);

		fprintf(out, "%u: %llu %llu %llu %llu\n", server->pid, (unsigned long long)server->cpu_ns,
			(unsigned long long)server->exact_ns, (unsigned long long)server->shared_ns,
			(unsigned long long)server->background_ns);
		for (size_t j = 0; j < server->nr_clients; j++)
			fprintf(out, "  %u %s: %llu %llu %llu\n", server->clients[j].pid, server->clients[j].comm,
				(unsigned long long)server->clients[j].exact_ns,
				(unsigned long long)server->clients[j].shared_ns,
				(unsigned long long)server->clients[j].requests);
	}
	trace_servers_free(k.servers);
	trace_analysis_free(k.c.analysis);
	trace_close(k.c.trace);
	fclose(out);
	return text;
}

/* Requests of two clients, repeated; the chunks of the CPUs overlap. */
static struct case_of_servers two_busy_clients(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1100);
	connects(&k, &two, &two_server, 1120);
	for (uint64_t i = 0, ns = 1200; ns < 8500; i++, ns += 400) {
		sends(&k, &one, ns);
		receives(&k, &one_server, ns + 50);
		sends(&k, &two, ns + 60);
		receives(&k, &two_server, ns + 100);
		sends(&k, &one_server, ns + 200);
		receives(&k, &one, ns + 220);
		sends(&k, &two_server, ns + 300);
		receives(&k, &two, ns + 320);
		polls(&k, 2, ns + 350);
		tb_cut(k.c.tb, (uint32_t)(i % 3));
	}
	finish(&k);
	return k;
}

/* A truncated chunk is known before the pass; other damage is found during it. Both must give the
 * same result. */
static void bills_are_the_same_whenever_damage_is_found(void)
{
	size_t different = 0, served = 0, nr = 0;
	char *found = NULL, *known = NULL;

	for (;; nr++) {
		struct case_of_servers k = two_busy_clients();
		struct image image = image_new(k.c.tb, true), pieces;
		bool more = image_spoil(&image, TRACE_CHUNK_EVENTS, nr);

		case_free(&k.c);
		pieces = image_with_pieces(&image);
		free(found);
		free(known);
		found = bills_of(&image);
		known = bills_of(&pieces);
		different += strcmp(found, known) != 0;
		if (strcmp(found, known) != 0)
			printf("chunk %zu, found:\n%s\nknown:\n%s\n", nr, found, known);
		image_free(&pieces);
		image_free(&image);
		if (!more)
			break;
		served += strstr(found, "30: ") != NULL;
	}
	CU_ASSERT_EQUAL(different, 0);
	CU_ASSERT(served > 20);
	free(found);
	free(known);
}

static const struct unit_case cases[] = {
	{"data_in_flight_at_the_start_is_background", data_in_flight_at_the_start_is_background},
	{"a_short_read_synchronizes_both_ends", a_short_read_synchronizes_both_ends},
	{"a_time_without_some_events_makes_background", a_time_without_some_events_makes_background},
	{"a_gap_makes_background", a_gap_makes_background},
	{"the_end_of_all_time_is_in_no_gap", the_end_of_all_time_is_in_no_gap},
	{"a_damaged_chunk_makes_background", a_damaged_chunk_makes_background},
	{"bills_are_the_same_whenever_damage_is_found", bills_are_the_same_whenever_damage_is_found},
	{"a_listener_is_the_server_even_if_it_speaks_first", a_listener_is_the_server_even_if_it_speaks_first},
	{"a_full_read_does_not_synchronize_them", a_full_read_does_not_synchronize_them},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_gaps", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_network.c - which client the network's softirq works for, and where datagrams
 * arrive, on traces of a few events: servers_case.h. */
#include "servers_case.h"
#include "servers_packet_case.h"
#include "unit.h"

/* ---- the network's softirq ---- */

static const struct trace_receiver *receiver(const struct case_of_servers *k, uint32_t pid)
{
	for (size_t i = 0; i < trace_nr_receivers(k->servers); i++) {
		const struct trace_receiver *row = trace_get_receiver(k->servers, i);

		if (row->process ? trace_process_pid(row->process) == pid : pid == 0)
			return row;
	}
	return NULL;
}

/* The server does not know it before it looks. It may work on the request until it closes. */
static void a_request_outlives_the_reset_of_its_connection(void)
{
	struct trace_sock_state reset = {.ino = 201, .family = AF_INET, .protocol = 6, .old_state = 1, .new_state = 7};
	struct case_of_servers k = begin();
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);

	connects(&k, &client, &server, 1200);
	transfer(&k, &client, 1250, true, 16, 1016);
	transfer(&k, &server, 1300, false, 16, 1016);
	tb_event(k.c.tb, 0, 1400, TRACE_EV_sock_state, &reset, sizeof(reset), NULL);
	polls(&k, 2, 2000);
	polls(&k, 2, 5000);
	run(&k);
	CU_ASSERT(bill(&k, 30, 10).most_ns >= 5000 - 1300);
	end(&k);
}

static void a_read_that_brings_no_request_is_no_idle_wait(void)
{
	static const struct {
		uint32_t mode;
		const char *path;
		bool rest;
	} files[] = {{S_IFREG | 0600, "/data", false},	       {S_IFCHR | 0600, "/dev/urandom", false},
		     {0600, "anon_inode:[perf_event]", false}, {0600, "[perf_event]", false},
		     {S_IFCHR | 0600, "/dev/pts/0", true},     {0600, "anon_inode:[timerfd]", true}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct case_of_servers k = begin();

		tb_fd(k.c.tb, 30, 9, 8, 900, files[i].mode, files[i].path);
		connects(&k, &one, &one_server, 1200);
		sends(&k, &one, 1250);
		receives(&k, &one_server, 1300);
		sends(&k, &one_server, 1500); /* the first half of the answer */
		tb_sys_enter(k.c.tb, 2, 1600, SYS_read, 9, 0, 16);
		tb_sys_exit(k.c.tb, 2, 1610, 16);
		sends(&k, &one_server, 2000);
		polls(&k, 2, 2500);
		run(&k);
		BILL(&k, 30, 10, 2500 - 1200);
		EXACT(&k, 30, 10, 1510 - 1300); /* until the first answer */
		end(&k);
	}
}

/* Only the accept of the connection would be recorded. It must not be billed for later requests of
 * others. */
static void without_socket_events_an_accept_bills_no_client(void)
{
	static const uint32_t ids[] = {0, TRACE_EV_sock_send, TRACE_EV_sock_recv};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
		struct case_of_servers k = begin();

		mask[ids[i] / 64] &= ~(1ull << ids[i] % 64);
		tb_event(k.c.tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
		connects(&k, &one, &one_server, 1200);
		polls(&k, 2, 2500);
		run(&k);
		CU_ASSERT_EQUAL(bill(&k, 30, 10).cpu_ns > 0, i == 0);
		end(&k);
	}
}

static void interrupts_are_shown_next_to_the_bill(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_vector(k.c.tb, 2, 1500, 236);
	tb_vector_exit(k.c.tb, 2, 1570, 236);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2500);
	tb_vector(k.c.tb, 2, 3000, 236);
	tb_vector_exit(k.c.tb, 2, 3500, 236);
	run(&k);
	BILL(&k, 30, 10, 2500 - 1200 - 70);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).interrupted_ns, 70);
	end(&k);
}

/* 200 ns of softirq in the middle of a client's send: 20 until the packet, 100 until the socket is
 * ready, 80 more. */
static void receiving_is_charged_to_the_owner_of_the_socket(void)
{
	struct case_of_servers k = begin();
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);
	struct trace_sock_send event = {.ino = 101, .position = 1016, .ret = 16, .family = AF_INET, .protocol = 6};
	struct trace_figures *figures;

	tb_string(k.c.tb, TRACE_STRING_NETDEV, 1, "lo");
	was_open(&k, &client, 0, 1);
	was_open(&k, &server, 0, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300, .family = AF_INET, .local_port = 80}, 0, 10);
	tb_sys_enter(k.c.tb, 0, 1200, SYS_write, 3, 0, 16);
	packet(&k, 0, 1210, true, 68);
	tb_softirq(k.c.tb, 0, 1300, NET_RX);
	packet(&k, 0, 1320, false, 68);
	tb_vector(k.c.tb, 0, 1350, 236); /* time of a nested interrupt is not counted */
	tb_vector_exit(k.c.tb, 0, 1360, 236);
	ready(&k, 0, 1430, 201, 6);
	packet(&k, 0, 1440, true, 52); /* the acknowledgement, for the client */
	packet(&k, 0, 1500, false, 52);
	tb_softirq_exit(k.c.tb, 0, 1540, NET_RX);
	tb_event(k.c.tb, 0, 1550, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 0, 1560, 16);
	tb_softirq(k.c.tb, 1, 1600, NET_RX); /* and one that no socket gets */
	tb_softirq_exit(k.c.tb, 1, 1650, NET_RX);
	transfer(&k, &server, 2000, false, 16, 1016);
	polls(&k, 2, 2500);
	run(&k);
	CU_ASSERT_PTR_NOT_NULL_FATAL(receiver(&k, 30));
	CU_ASSERT_EQUAL(receiver(&k, 30)->softirq_ns, 1500 - 1300 - 10);
	CU_ASSERT_EQUAL(receiver(&k, 30)->deliveries, 1);
	CU_ASSERT_EQUAL(receiver(&k, 10)->softirq_ns, 40);
	CU_ASSERT_EQUAL(receiver(&k, 0)->softirq_ns, 50);
	CU_ASSERT_PTR_NULL(trace_get_receiver(k.servers, 3));
	CU_ASSERT_EQUAL(server_of(&k, 30)->softirq_ns, 190);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).softirq_ns, 190);
	BILL(&k, 30, 10, 2500 - 2000); /* the softirq is not part of the server's CPU time, */
	figures = trace_process_figures(k.c.analysis, trace_thread_process(trace_find_thread(k.c.analysis, 10)));
	CU_ASSERT_EQUAL(figures->interrupted_ns, 240); /* and stays in the accounting of the interrupted thread */
	trace_figures_free(figures);
	end(&k);
}

static void a_devices_packets_may_come_before_their_sockets(void)
{
	struct case_of_servers k = begin();
	struct end server = tcp(one_server, 80, 4000);

	tb_string(k.c.tb, TRACE_STRING_NETDEV, 2, "lo");
	server.remote = OTHER_HOST;
	server.local = 0x0100000affff0000ull;
	make(&k, &server, 1200, SYS_accept, 0);
	tb_softirq(k.c.tb, 1, 1300, NET_RX);
	packet(&k, 1, 1310, false, 68);
	packet(&k, 1, 1320, false, 68);
	ready(&k, 1, 1400, 201, 6);
	tb_softirq_exit(k.c.tb, 1, 1500, NET_RX);
	transfer(&k, &server, 1600, false, 16, 1016);
	polls(&k, 2, 1700);
	run(&k);
	CU_ASSERT_EQUAL(receiver(&k, 30)->softirq_ns, 200);
	CU_ASSERT_EQUAL(bill(&k, 30, 0).softirq_ns, 200); /* 10.0.0.2 */
	CU_ASSERT_PTR_NULL(receiver(&k, 0));
	end(&k);
}

/* ---- UDP ---- */

static void udp(struct case_of_servers *k, const struct end *from, uint64_t to, uint64_t ns)
{
	struct trace_sock_send event = {.ino = from->ino, .ret = 16, .family = AF_INET, .protocol = 17};

	tb_sys_enter(k->c.tb, from->cpu, ns, SYS_sendto, (uint64_t)from->fd, 0, 16, 0, 0, 0);
	packet(k, from->cpu, ns + 1, true, 44);
	tb_softirq(k->c.tb, from->cpu, ns + 2, NET_RX);
	packet(k, from->cpu, ns + 3, false, 44);
	if (to)
		ready(k, from->cpu, ns + 4, to, 17);
	tb_softirq_exit(k->c.tb, from->cpu, ns + 5, NET_RX);
	tb_event(k->c.tb, from->cpu, ns + 6, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, from->cpu, ns + 10, 16);
}

static void udp_receives(struct case_of_servers *k, const struct end *e, uint64_t ns)
{
	struct trace_sock_send event = {.ino = e->ino, .ret = 16, .family = AF_INET, .protocol = 17};

	tb_sys_enter(k->c.tb, e->cpu, ns, SYS_read, (uint64_t)e->fd, 0, 16);
	tb_event(k->c.tb, e->cpu, ns + 5, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 10, 16);
}

static void udp_make(struct case_of_servers *k, const struct end *e)
{
	struct trace_sock_endpoints ends = endpoints(e, 0);

	ends.protocol = 17;
	tb_sys_enter(k->c.tb, e->cpu, 1010, SYS_socket, 0);
	tb_open(k->c.tb, e->cpu, 1014, e->fd, 8, e->ino, S_IFSOCK | 0777, "socket:[]");
	tb_event(k->c.tb, e->cpu, 1015, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(k->c.tb, e->cpu, 1020, e->fd);
}

static void udp_is_empty(struct case_of_servers *k, const struct end *e, uint64_t ns)
{
	struct trace_sock_send nothing = {.ino = e->ino, .ret = NOTHING_TO_READ, .family = AF_INET, .protocol = 17};

	tb_sys_enter(k->c.tb, e->cpu, ns, SYS_read, (uint64_t)e->fd, 0, 16);
	tb_event(k->c.tb, e->cpu, ns + 5, TRACE_EV_sock_recv, &nothing, sizeof(nothing), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 10, NOTHING_TO_READ);
}

static const struct end udp_one = {.cpu = 0, .fd = 3, .ino = 101, .family = AF_INET, .type = SOCK_DGRAM},
			udp_two = {.cpu = 1, .fd = 3, .ino = 102, .family = AF_INET, .type = SOCK_DGRAM},
			udp_server = {.cpu = 2, .fd = 3, .ino = 103, .family = AF_INET, .type = SOCK_DGRAM};

static struct case_of_servers begin_udp(void)
{
	struct case_of_servers k = begin();

	tb_string(k.c.tb, TRACE_STRING_NETDEV, 1, "lo");
	udp_make(&k, &udp_one);
	udp_make(&k, &udp_two);
	udp_make(&k, &udp_server);
	return k;
}

static void udp_datagrams_are_distinguished_by_their_sender(void)
{
	struct case_of_servers k = begin_udp();

	udp(&k, &udp_one, 103, 1100);
	udp(&k, &udp_two, 103, 1200);
	udp_receives(&k, &udp_server, 1300);
	udp(&k, &udp_server, 101, 1500);
	udp_receives(&k, &udp_one, 1550);
	udp_receives(&k, &udp_server, 1600);
	udp(&k, &udp_server, 102, 2000);
	polls(&k, 2, 2100);
	run(&k);
	BILL(&k, 30, 10, 1600 - 1300 - 3); /* the softirq took 3 ns */
	BILL(&k, 30, 20, 2100 - 1600 - 3);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).softirq_ns, 3);
	CU_ASSERT_EQUAL(bill(&k, 30, 20).softirq_ns, 3);
	end(&k);
}

/* The datagram was dropped, or merged with another. The next one that is read may be from any
 * client, until the queue was empty once. */
static void after_a_lost_datagram_the_next_has_no_client(void)
{
	struct case_of_servers k = begin_udp();

	udp(&k, &udp_one, 103, 1100);
	udp(&k, &udp_two, 0, 1200);
	udp_receives(&k, &udp_server, 1300);
	udp(&k, &udp_server, 101, 1500);
	polls(&k, 2, 1600);
	udp_is_empty(&k, &udp_server, 1700);
	udp_is_empty(&k, &udp_two, 1700);
	udp(&k, &udp_two, 103, 1800);
	udp_receives(&k, &udp_server, 1900);
	udp(&k, &udp_server, 102, 2000);
	udp_receives(&k, &udp_two, 2050);
	polls(&k, 2, 2100);
	run(&k);
	BILL(&k, 30, 10, 0);
	BILL(&k, 30, 20, 2100 - 1900 - 3);
	end(&k);
}

/* Two CPUs receive for one socket at once: one of them puts both datagrams into its queue, its own
 * first. */
static void datagrams_may_be_queued_by_another_cpu(void)
{
	struct trace_sock_send sent = {.ret = 16, .family = AF_INET, .protocol = 17};

	for (int still = 0; still < 2; still++) { /* the other softirq is still running then */
		struct case_of_servers k = begin_udp();

		udp_is_empty(&k, &udp_server, 1050);
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			tb_sys_enter(k.c.tb, cpu, 1100, SYS_sendto, 3, 0, 16, 0, 0, 0);
			packet(&k, cpu, 1101, true, 44);
			tb_softirq(k.c.tb, cpu, 1102, NET_RX);
			packet(&k, cpu, 1103, false, 44);
		}
		tb_softirq_exit(k.c.tb, 0, still ? 1120 : 1110, NET_RX);
		ready(&k, 1, 1112, 103, 17);
		ready(&k, 1, 1114, 103, 17);
		tb_softirq_exit(k.c.tb, 1, 1116, NET_RX);
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			sent.ino = 101 + cpu;
			tb_event(k.c.tb, cpu, 1130, TRACE_EV_sock_send, &sent, sizeof(sent), NULL);
			tb_sys_exit(k.c.tb, cpu, 1140, 16);
		}
		udp_receives(&k, &udp_server, 1300);
		udp(&k, &udp_server, 102, 1500);
		udp_receives(&k, &udp_two, 1550);
		udp_receives(&k, &udp_server, 1600);
		udp(&k, &udp_server, 101, 2000);
		udp_receives(&k, &udp_one, 2050);
		polls(&k, 2, 2100);
		run(&k);
		BILL(&k, 30, 20, 1600 - 1300 - 3);
		BILL(&k, 30, 10, 2100 - 1600 - 3);
		REQUESTS(&k, 30, 20, 1);
		REQUESTS(&k, 30, 10, 1);
		end(&k);
	}
}

/* An idle CPU has nothing in its backlog. A packet that is still expected there was dropped. */
static void an_idle_cpu_has_an_empty_backlog(void)
{
	struct case_of_servers k = begin_udp();

	tb_sys_enter(k.c.tb, 0, 1100, SYS_sendto, 3, 0, 16, 0, 0, 0);
	packet(&k, 0, 1105, true, 44); /* never arrives */
	tb_sys_exit(k.c.tb, 0, 1110, 16);
	tb_switch(k.c.tb, 0, 1200, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 1, 1200, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 0, 1300, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 2, 1400, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 2, 1410, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	udp_is_empty(&k, &(struct end){.cpu = 0, .fd = 3, .ino = 102}, 1450);
	udp(&k, &(struct end){.cpu = 0, .fd = 3, .ino = 102, .family = AF_INET}, 103, 1500);
	tb_waking(k.c.tb, 0, 1511, 30, TRACE_CONTEXT_TASK);
	tb_switch(k.c.tb, 2, 1600, 0, 30, TRACE_TASK_RUNNING);
	tb_event(k.c.tb, 2, 1605, TRACE_EV_sock_recv,
		 &(struct trace_sock_recv){.ino = 103, .ret = 16, .family = AF_INET, .protocol = 17},
		 sizeof(struct trace_sock_recv), NULL);
	tb_sys_exit(k.c.tb, 2, 1610, 16);
	udp(&k, &udp_server, 102, 2000);
	udp_receives(&k, &(struct end){.cpu = 0, .fd = 3, .ino = 102}, 2050);
	polls(&k, 2, 2100);
	tb_switch(k.c.tb, 1, 8000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(k.c.tb, 0, 8500, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 1, 8500, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 0, 8600, 0, 10, TRACE_TASK_RUNNING);
	run(&k);
	BILL(&k, 30, 20, 10 + 2100 - 1600 - 3);
	BILL(&k, 30, 10, 0);
	end(&k);
}

static const struct unit_case cases[] = {
	{"a_request_outlives_the_reset_of_its_connection", a_request_outlives_the_reset_of_its_connection},
	{"a_read_that_brings_no_request_is_no_idle_wait", a_read_that_brings_no_request_is_no_idle_wait},
	{"without_socket_events_an_accept_bills_no_client", without_socket_events_an_accept_bills_no_client},
	{"interrupts_are_shown_next_to_the_bill", interrupts_are_shown_next_to_the_bill},
	{"receiving_is_charged_to_the_owner_of_the_socket", receiving_is_charged_to_the_owner_of_the_socket},
	{"a_devices_packets_may_come_before_their_sockets", a_devices_packets_may_come_before_their_sockets},
	{"udp_datagrams_are_distinguished_by_their_sender", udp_datagrams_are_distinguished_by_their_sender},
	{"after_a_lost_datagram_the_next_has_no_client", after_a_lost_datagram_the_next_has_no_client},
	{"datagrams_may_be_queued_by_another_cpu", datagrams_may_be_queued_by_another_cpu},
	{"an_idle_cpu_has_an_empty_backlog", an_idle_cpu_has_an_empty_backlog},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_network", cases, argc, argv);
}

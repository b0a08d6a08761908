/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_networks.c - servers in network namespaces of their own; their connections have the same
 * addresses and ports. */
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "server_patterns.h"

#define SERVER_PORT 7000
#define CLIENT_PORT 7001 /* of a server's first client; the second client has the next port */

/* From now on this process is in a network namespace with only a loopback device. */
static void enter_network(void)
{
	struct ifreq loopback = {.ifr_name = "lo"};
	int fd;

	if (unshare(CLONE_NEWNET))
		die("unshare");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &loopback))
		die("SIOCGIFFLAGS");
	loopback.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &loopback))
		die("SIOCSIFFLAGS");
	close(fd);
}

static int bound(uint16_t port, union address *ret_address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*ret_address = (union address){
		.in = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	if (fd < 0 || bind(fd, &ret_address->any, sizeof(ret_address->in)))
		die("bind");
	return fd;
}

static void serve(int slot, int listening)
{
	struct message m;

	for (;;) {
		int fd = take_connection(listening);

		while (take(fd, &m, sizeof(m)) > 0) {
			work(slot, &m);
			answer(fd);
		}
		close(fd);
	}
}

static void ask(int client, uint16_t port)
{
	union address own, server = {.in = {.sin_family = AF_INET,
					    .sin_port = htons(SERVER_PORT),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	int fd = bound(port, &own);

	if (connect(fd, &server.any, sizeof(server.in)))
		die("connect");
	client_ask(fd, client);
	close(fd);
}

/* All clients have connected and sent requests before a server accepts any: the order of the
 * connections does not identify them. */
void two_networks(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), listening[2];
	union address address;

	for (int i = 0; i < NR_CLIENTS; i++) {
		if (i % 2 == 0) {
			enter_network();
			listening[i / 2] = bound(SERVER_PORT, &address);
			if (listen(listening[i / 2], 8))
				die("listen");
		}
		if (!(board->client[i] = begin_process("client")) && (board->client[i] = getpid())) {
			ask(i, (uint16_t)(CLIENT_PORT + i % 2));
			_exit(0);
		}
	}
	for (int i = 0; i < NR_CLIENTS; i++)
		wait_for_state(board->client[i], 'S');
	for (int slot = 0; slot < 2; slot++)
		SERVER(slot) serve(slot, listening[slot]);
	for (int slot = 0; slot < 2; slot++)
		close(listening[slot]);
	if (home < 0 || setns(home, CLONE_NEWNET))
		die("setns");
	close(home);
	end_processes();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits_network.c - another host, simulated by a process of this program at the far end of a wire
 * (tun, tun.txt of the kernel's documentation): its writes arrive as packets from outside. In a
 * network namespace of its own.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_tun.h>
#include "waits.h"

#define HERE  0x0a090901u /* 10.9.9.1 */
#define THERE 0x0a090902u /* 10.9.9.2 */
#define PORT  4000

static int wire;

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address), .sin_port = htons(port)};
}

static void configure(int fd, unsigned long request, struct ifreq *interface)
{
	if (ioctl(fd, request, interface))
		skip();
}

static void make_wire(void)
{
	struct ifreq interface = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	struct sockaddr_in here = at(HERE, 0), mask = at(0xffffff00, 0);
	int fd;

	if (unshare(CLONE_NEWNET))
		skip();
	wire = open("/dev/net/tun", O_RDWR);
	if (wire < 0)
		skip();
	configure(wire, TUNSETIFF, &interface);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	memcpy(&interface.ifr_addr, &here, sizeof(here));
	configure(fd, SIOCSIFADDR, &interface);
	memcpy(&interface.ifr_netmask, &mask, sizeof(mask));
	configure(fd, SIOCSIFNETMASK, &interface);
	interface.ifr_flags = IFF_UP | IFF_RUNNING;
	configure(fd, SIOCSIFFLAGS, &interface);
	close(fd);
}

/* ---- packets, RFC 791, 768, 9293 ---- */

static uint32_t sum_of(const void *data, size_t bytes, uint32_t sum)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	return sum;
}

static uint16_t checksum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static struct iphdr ip_header(uint8_t protocol, size_t bytes)
{
	struct iphdr ip = {.version = 4,
			   .ihl = 5,
			   .ttl = 64,
			   .protocol = protocol,
			   .tot_len = htons((uint16_t)(sizeof(ip) + bytes)),
			   .saddr = htonl(THERE),
			   .daddr = htonl(HERE)};

	ip.check = checksum(sum_of(&ip, sizeof(ip), 0));
	return ip;
}

static void send_datagram(void *port)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		char text[4];
	} packet = {.ip = ip_header(IPPROTO_UDP, sizeof(packet) - sizeof(packet.ip)),
		    .udp = {.source = htons(PORT),
			    .dest = *(uint16_t *)port,
			    .len = htons(sizeof(packet) - sizeof(packet.ip))},
		    .text = "hey"};

	require(write(wire, &packet, sizeof(packet)) == (ssize_t)sizeof(packet));
	sleep_ns(10 * MS);
}

/* The answer to the first segment that asks for a connection. */
static void answer_connection(bool refuses)
{
	struct {
		struct iphdr ip;
		struct tcphdr tcp;
		char options[64];
	} asked;
	struct {
		struct iphdr ip;
		struct tcphdr tcp;
	} answer = {.ip = ip_header(IPPROTO_TCP, sizeof(struct tcphdr))};

	do
		require(read(wire, &asked, sizeof(asked)) > 0);
	while (asked.ip.version != 4 || asked.ip.protocol != IPPROTO_TCP);
	answer.tcp = (struct tcphdr){.source = asked.tcp.dest,
				     .dest = asked.tcp.source,
				     .ack_seq = htonl(ntohl(asked.tcp.seq) + 1),
				     .doff = 5,
				     .syn = !refuses,
				     .rst = refuses,
				     .ack = 1,
				     .window = htons(1000)};
	answer.tcp.check = checksum(
		sum_of(&answer.tcp, sizeof(answer.tcp), sum_of(&answer.ip.saddr, 8, IPPROTO_TCP + sizeof(answer.tcp))));
	require(write(wire, &answer, sizeof(answer)) == (ssize_t)sizeof(answer));
	sleep_ns(10 * MS);
}

static void accept_connection(void *context)
{
	answer_connection(false);
}

static void refuse_connection(void *context)
{
	answer_connection(true);
}

/* ---- waits ---- */

static void receive_one(void *fd)
{
	char text[16];

	require(recv(*(int *)fd, text, sizeof(text), 0) > 0);
}

static void send_to_port(void *context)
{
	uint16_t port = (uint16_t)((int *)context)[1];

	send_datagram(&port);
}

static void from_afar(void (*wait_for)(void *))
{
	struct sockaddr_in here = at(HERE, 0), there = at(THERE, PORT);
	socklen_t bytes = sizeof(here);
	int fd;

	make_wire();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	require(!bind(fd, (struct sockaddr *)&here, bytes) && !getsockname(fd, (struct sockaddr *)&here, &bytes));
	require(!connect(fd, (struct sockaddr *)&there, sizeof(there)));
	wait_for_child(send_to_port, wait_for, (int[]){fd, here.sin_port});
}

static void datagram_from_afar(void)
{
	from_afar(receive_one);
}

static void poll_from_afar(void)
{
	from_afar(poll_one);
}

static void connect_there(void *context)
{
	struct sockaddr_in there = at(THERE, PORT);

	require(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof(there)) == 0);
}

static void connect_in_vain(void *context)
{
	struct sockaddr_in there = at(THERE, PORT);

	require(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof(there)) != 0);
}

static void refused_afar(void)
{
	make_wire();
	wait_for_child(refuse_connection, connect_in_vain, NULL);
}

static void connect_afar(void)
{
	make_wire();
	wait_for_child(accept_connection, connect_there, NULL);
}

/* For a while; without the limit it would take minutes. */
static void connect_unanswered(void *context)
{
	struct sockaddr_in there = at(THERE, PORT);
	struct timeval most = {.tv_usec = 50000};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	require(!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)));
	require(connect(fd, (struct sockaddr *)&there, sizeof(there)) != 0);
}

static void unanswered_afar(void)
{
	make_wire();
	measure(connect_unanswered, NULL);
}

/* Sends on a socket without a connection, which gets its port in that call, and polls. */
static void send_and_poll(void *fd)
{
	struct sockaddr_in there = at(THERE, PORT);

	require(sendto(*(int *)fd, "ask", 3, 0, (struct sockaddr *)&there, sizeof(there)) == 3);
	poll_one(fd);
}

/*
 * Sends to three addresses with one call, to the server's first: the socket then waits for any of
 * the three.
 */
static void send_several_and_poll(void *fd)
{
	struct sockaddr_in there[3] = {at(THERE, PORT), at(THERE, PORT + 1), at(THERE, PORT + 2)};
	struct sockaddr_in own = at(HERE, PORT + 3);
	struct iovec text = {(char[]){"ask"}, 3};
	struct mmsghdr messages[3] = {0};

	for (int i = 0; i < 3; i++)
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &there[i], .msg_namelen = sizeof(there[i]), .msg_iov = &text, .msg_iovlen = 1};
	require(!bind(*(int *)fd, (struct sockaddr *)&own, sizeof(own)));
	require(sendmmsg(*(int *)fd, messages, 3, 0) == 3);
	poll_one(fd);
}

static void answer_datagram(void *context)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		char text[64];
	} asked;

	do
		require(read(wire, &asked, sizeof(asked)) > 0);
	while (asked.ip.version != 4 || asked.ip.protocol != IPPROTO_UDP);
	send_datagram(&asked.udp.source);
}

static void sent_afar(void)
{
	int fd;

	make_wire();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	wait_for_child(answer_datagram, send_and_poll, &fd);
}

static void sent_to_several(void)
{
	int fd;

	make_wire();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	wait_for_child(answer_datagram, send_several_and_poll, &fd);
}

const struct scenario network_scenarios[] = {
	SCENARIO(sent_to_several), SCENARIO(sent_afar),	   SCENARIO(datagram_from_afar), SCENARIO(poll_from_afar),
	SCENARIO(connect_afar),	   SCENARIO(refused_afar), SCENARIO(unanswered_afar),	 {NULL, NULL},
};

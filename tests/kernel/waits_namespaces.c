/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits_namespaces.c - the other end in another network namespace, over a veth pair; packets that a
 * timer sends; a file by two paths of an overlay.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "waits.h"

#define HERE  0x0a4d0001u /* 10.77.0.1 */
#define THERE 0x0a4d0002u /* 10.77.0.2 */
#define PORT  5353

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address), .sin_port = htons(port)};
}

static void enter(int namespace)
{
	require(!setns(namespace, CLONE_NEWNET));
}

static int new_namespace(void)
{
	int fd;

	if (unshare(CLONE_NEWNET))
		skip();
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	return fd;
}

static void configure(const char *command)
{
	if (system(command))
		skip(); /* no ip(8), or no such device in this kernel */
}

/* Two namespaces with one end of the pair each. Returns them; this process is in the first one. */
static void make_pair(int ret_namespaces[2])
{
	char command[128];
	pid_t holder;

	ret_namespaces[1] = new_namespace();
	holder = fork();
	require(holder >= 0);
	if (holder == 0) {
		sleep_ns(10000 * MS);
		_exit(0);
	}
	ret_namespaces[0] = new_namespace();
	snprintf(command, sizeof(command),
		 "{ ip link add va type veth peer name vb netns %d && ip addr add 10.77.0.1/24 dev va && "
		 "ip link set va up; } 2>/dev/null",
		 (int)holder);
	if (system(command)) {
		kill(holder, SIGKILL);
		skip();
	}
	enter(ret_namespaces[1]);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	configure("{ ip addr add 10.77.0.2/24 dev vb && ip link set vb up; } 2>/dev/null");
	enter(ret_namespaces[0]);
}

/* A server's socket in the first namespace, bound to any address, and a client's in the second. */
static void make_udp_pair(int fds[2])
{
	struct sockaddr_in any = at(INADDR_ANY, PORT);
	int namespaces[2];

	make_pair(namespaces);
	fds[0] = socket(AF_INET, SOCK_DGRAM, 0);
	require(fds[0] >= 0 && !bind(fds[0], (struct sockaddr *)&any, sizeof(any)));
	enter(namespaces[1]);
	fds[1] = socket(AF_INET, SOCK_DGRAM, 0);
	require(fds[1] >= 0);
}

static void send_here(void *fds)
{
	struct sockaddr_in here = at(HERE, PORT);

	require(sendto(((int *)fds)[1], "x", 1, 0, (struct sockaddr *)&here, sizeof(here)) == 1);
	sleep_ns(10 * MS);
}

static void veth_udp(void)
{
	int fds[2];

	make_udp_pair(fds);
	wait_for_child(send_here, read_8, fds);
}

static void veth_udp_poll(void)
{
	int fds[2];

	make_udp_pair(fds);
	wait_for_child(send_here, poll_one, fds);
}

static void veth_tcp(void)
{
	struct sockaddr_in here = at(HERE, PORT);
	int namespaces[2], listener, fds[2];

	make_pair(namespaces);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	require(!bind(listener, (struct sockaddr *)&here, sizeof(here)) && !listen(listener, 1));
	enter(namespaces[1]);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	require(!connect(fds[1], (struct sockaddr *)&here, sizeof(here)));
	fds[0] = accept(listener, NULL, NULL);
	require(fds[0] >= 0);
	wait_for_child(write_8, read_8, fds);
}

/* ---- packets that a timer sends ---- */

#define HALF 100

static void read_half(void *fds)
{
	char bytes[HALF];

	require(read(((int *)fds)[0], bytes, sizeof(bytes)) == HALF);
}

/*
 * Nagle's algorithm keeps the second half back until the first one is acknowledged, and a timer of
 * the other end does that after 40 ms.
 */
static void write_halves(void *fds)
{
	static const char bytes[HALF];

	require(write(((int *)fds)[1], bytes, HALF) == HALF && write(((int *)fds)[1], bytes, HALF) == HALF);
	sleep_ns(200 * MS); /* the end of the connection would send it */
}

static void delayed_acknowledgement(void)
{
	int fds[2], no = 0;

	make_tcp(fds);
	require(!setsockopt(fds[0], IPPROTO_TCP, TCP_QUICKACK, &no, sizeof(no)));
	pid_t child = child_that(write_halves, fds);

	read_half(fds);
	measure(read_half, fds);
	waitpid(child, NULL, 0);
}

/* ---- overlays ---- */

static const char *folder_of_overlay(int i)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	static char paths[4][600];

	snprintf(paths[i], sizeof(paths[i]), "%s", scratch_path(names[i]));
	return paths[i];
}

static void make_lower(void)
{
	for (int i = 0; i < 4; i++)
		require(!mkdir(folder_of_overlay(i), 0700));
}

static void mount_overlay(void)
{
	char options[2048];

	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", folder_of_overlay(0),
		 folder_of_overlay(1), folder_of_overlay(2));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("overlay", folder_of_overlay(3), "overlay", 0, options))
		skip();
}

/* The lower file was used by its own path, too. Returns the file in the merged folder. */
static int file_of_overlay(void)
{
	char path[700];
	int fd;

	make_lower();
	snprintf(path, sizeof(path), "%s/data", folder_of_overlay(0));
	close(cold_file_at(path));
	mount_overlay();
	snprintf(path, sizeof(path), "%s/data", folder_of_overlay(3));
	fd = open(path, O_RDONLY);
	require(fd >= 0);
	return fd;
}

/* Another process wrote the program's file by its path in the layer. */
static void overlay_exec(void)
{
	char path[700];

	make_lower();
	snprintf(path, sizeof(path), "%s/program", folder_of_overlay(0));
	if (!fork()) {
		make_cold_program(path);
		_exit(0);
	}
	wait(NULL);
	mount_overlay();
	snprintf(path, sizeof(path), "%s/program", folder_of_overlay(3));
	execl(path, path, "/dev/null", "/tmp", "none", NULL); /* runs no scenario */
	require(false);
}

static void overlay_mapped(void)
{
	void *memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, file_of_overlay(), 0);

	require(memory != MAP_FAILED);
	measure(touch_pages, memory);
}

static void overlay_read(void)
{
	int fds[1] = {file_of_overlay()};

	measure(read_all, fds);
}

const struct scenario namespace_scenarios[] = {
	SCENARIO(veth_udp),	  SCENARIO(veth_udp_poll), SCENARIO(veth_tcp),	   SCENARIO(delayed_acknowledgement),
	SCENARIO(overlay_mapped), SCENARIO(overlay_read),  SCENARIO(overlay_exec), {NULL, NULL},
};

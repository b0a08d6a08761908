/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FUSE_SERVER_H
#define TESTS_FUSE_SERVER_H
/*
 * fuse_server.h - the test is the server of a file system (FUSE) with one file, which a process of
 * the test uses. The server answers until the process says so, and then no longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "unit.h"

#define FUSE_INODE 7

static inline void fuse_reply(int fuse, uint64_t unique, int error, const void *payload, size_t bytes)
{
	char message[sizeof(struct fuse_out_header) + 256];
	struct fuse_out_header head = {.len = (uint32_t)(sizeof(head) + bytes), .error = error, .unique = unique};

	memcpy(message, &head, sizeof(head));
	if (bytes)
		memcpy(message + sizeof(head), payload, bytes);
	CU_ASSERT_EQUAL(write(fuse, message, head.len), head.len);
}

/* Nothing that it says is valid for any time, so that the kernel would ask again. */
static inline void fuse_serve(int fuse, const char *request)
{
	struct fuse_in_header head;

	memcpy(&head, request, sizeof(head));
	if (head.opcode == FUSE_INIT) {
		struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					     .minor = FUSE_KERNEL_MINOR_VERSION,
					     .max_write = 4096};

		fuse_reply(fuse, head.unique, 0, &init, sizeof(init));
	} else if (head.opcode == FUSE_LOOKUP) {
		struct fuse_entry_out entry = {.nodeid = FUSE_INODE,
					       .attr = {.ino = FUSE_INODE, .mode = S_IFREG | 0600, .nlink = 1}};

		fuse_reply(fuse, head.unique, 0, &entry, sizeof(entry));
	} else if (head.opcode == FUSE_GETATTR && head.nodeid == FUSE_ROOT_ID) {
		struct fuse_attr_out attr = {.attr = {.ino = FUSE_ROOT_ID, .mode = S_IFDIR | 0700, .nlink = 2}};

		fuse_reply(fuse, head.unique, 0, &attr, sizeof(attr));
	} else if (head.opcode == FUSE_ACCESS) {
		fuse_reply(fuse, head.unique, -ENOSYS, NULL, 0); /* the kernel decides, and asks no more */
	}
}

/* Serves until @fd can be read, or for @seconds. Returns false then. */
static inline bool fuse_serve_until(int fuse, int fd, int seconds)
{
	char request[FUSE_MIN_READ_BUFFER];
	struct pollfd wait[] = {{.fd = fuse, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	while (poll(wait, 2, seconds * 1000) > 0) {
		if (wait[1].revents)
			return true;
		if (read(fuse, request, sizeof(request)) <= 0)
			return false;
		fuse_serve(fuse, request);
	}
	return false;
}

/*
 * Mounts it at @folder, in a namespace of this process. Returns the descriptor of its server; -1:
 * there is no FUSE here, which is said.
 */
static inline int fuse_mount(const char *folder)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse >= 0 && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("test", folder, "fuse", MS_NOSUID | MS_NODEV, options) == 0)
		return fuse;
	printf("skipped: no FUSE here ");
	if (fuse >= 0)
		close(fuse);
	return -1;
}
#endif

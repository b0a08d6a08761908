/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_fuse.c - the daemon looks at a descriptor of a process, in a file system of its user.
 *
 * The test is the server of that file system (FUSE). It answers until the process has its file, and
 * then no longer. A question to it would end only when the test closes its connection.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"
#include "user_find.h"

#define INODE	   7
#define PATIENCE_S 5

static char folder[] = "/tmp/user_fuse_XXXXXX";

static void reply(int fuse, uint64_t unique, int error, const void *payload, size_t bytes)
{
	char message[sizeof(struct fuse_out_header) + 256];
	struct fuse_out_header head = {.len = (uint32_t)(sizeof(head) + bytes), .error = error, .unique = unique};

	memcpy(mempcpy(message, &head, sizeof(head)), payload, bytes);
	CU_ASSERT_EQUAL(write(fuse, message, head.len), head.len);
}

/* Nothing that it says is valid for any time, so that the kernel would ask again. */
static void serve(int fuse, const char *request)
{
	struct fuse_in_header head;

	memcpy(&head, request, sizeof(head));
	if (head.opcode == FUSE_INIT) {
		struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					     .minor = FUSE_KERNEL_MINOR_VERSION,
					     .max_write = 4096};

		reply(fuse, head.unique, 0, &init, sizeof(init));
	} else if (head.opcode == FUSE_LOOKUP) {
		struct fuse_entry_out entry = {.nodeid = INODE,
					       .attr = {.ino = INODE, .mode = S_IFREG | 0600, .nlink = 1}};

		reply(fuse, head.unique, 0, &entry, sizeof(entry));
	} else if (head.opcode == FUSE_GETATTR && head.nodeid == FUSE_ROOT_ID) {
		struct fuse_attr_out attr = {.attr = {.ino = FUSE_ROOT_ID, .mode = S_IFDIR | 0700, .nlink = 2}};

		reply(fuse, head.unique, 0, &attr, sizeof(attr));
	}
}

/* Serves until @fd can be read, or for PATIENCE_S. Returns false then. */
static bool serve_until(int fuse, int fd)
{
	char request[FUSE_MIN_READ_BUFFER];
	struct pollfd wait[] = {{.fd = fuse, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	while (poll(wait, 2, PATIENCE_S * 1000) > 0) {
		if (wait[1].revents)
			return true;
		if (read(fuse, request, sizeof(request)) <= 0)
			return false;
		serve(fuse, request);
	}
	return false;
}

/* The process opens its file, says so, and then looks at the descriptor as the daemon does. */
static void __attribute__((noreturn)) run_process(int tell)
{
	char path[64], link[64];
	int file, result;

	snprintf(path, sizeof(path), "%s/f", folder);
	file = open(path, O_PATH | O_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	if (write(tell, file < 0 ? "n" : "y", 1) != 1)
		_exit(1);
	result = user_find_open(link, INODE);
	if (write(tell, "d", 1) != 1)
		_exit(1);
	_exit(file < 0 || result >= 0);
}

static void a_server_that_does_not_answer_is_not_asked(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), ends[2], status;
	char options[128], answer = 0;
	pid_t child;

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("test", folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		printf("skipped: no FUSE here ");
		close(fuse);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(fuse);
		run_process(ends[1]);
	}
	CU_ASSERT(serve_until(fuse, ends[0]));
	CU_ASSERT_EQUAL(read(ends[0], &answer, 1), 1);
	CU_ASSERT_EQUAL(answer, 'y');
	CU_ASSERT_EQUAL(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_S * 1000), 1);
	close(fuse); /* whatever waits for it ends now */
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	umount2(folder, MNT_DETACH);
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_server_that_does_not_answer_is_not_asked),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		abort();
	result = unit_main("files of users in daemons", cases, argc, argv);
	rmdir(folder);
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_memory.c - memory that another process provides, and memory that must be freed first. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include "waits.h"

/* ---- page faults that a process serves ---- */

static void touch_page(void *page)
{
	(void)*(volatile char *)page;
}

/* The child inherits the descriptor; the memory is the parent's. */
static void serve_fault(void *context)
{
	static char zeros[4096] __attribute__((aligned(4096)));
	int *fds = context;
	struct uffd_msg message;
	struct uffdio_copy copy = {.src = (uint64_t)(uintptr_t)zeros, .len = sizeof(zeros)};

	require(read(fds[0], &message, sizeof(message)) == (ssize_t)sizeof(message) &&
		message.event == UFFD_EVENT_PAGEFAULT);
	copy.dst = message.arg.pagefault.address & ~4095ull;
	require(!ioctl(fds[0], UFFDIO_COPY, &copy));
}

/* By a call that finds the page itself, as it does for the memory of another process. */
static void read_memory(void *page)
{
	char byte;
	struct iovec to = {&byte, 1}, from = {page, 1};

	require(process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1);
}

static void measure_page(void (*use)(void *))
{
	int fds[1] = {(int)syscall(SYS_userfaultfd, O_CLOEXEC)};
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fds[0] < 0 || ioctl(fds[0], UFFDIO_API, &api))
		skip();
	range.range.start = (uint64_t)(uintptr_t)page;
	require(page != MAP_FAILED && !ioctl(fds[0], UFFDIO_REGISTER, &range));
	child_that(serve_fault, fds);
	measure(use, page);
}

/* The page is there, and may not be written to. */
static void write_page(void *page)
{
	*(volatile char *)page = 1;
}

static void allow_writes(void *context)
{
	int *fds = context;
	struct uffd_msg message;
	struct uffdio_writeprotect protect = {.range.len = 4096};

	require(read(fds[0], &message, sizeof(message)) == (ssize_t)sizeof(message));
	protect.range.start = message.arg.pagefault.address & ~4095ull;
	require(!ioctl(fds[0], UFFDIO_WRITEPROTECT, &protect));
}

static void userfault_of_write(void)
{
	int fds[1] = {(int)syscall(SYS_userfaultfd, O_CLOEXEC)};
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect protect = {.range.len = 4096, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fds[0] < 0 || ioctl(fds[0], UFFDIO_API, &api) || !(api.features & UFFD_FEATURE_PAGEFAULT_FLAG_WP))
		skip();
	require(page != MAP_FAILED);
	write_page(page);
	range.range.start = protect.range.start = (uint64_t)(uintptr_t)page;
	require(!ioctl(fds[0], UFFDIO_REGISTER, &range) && !ioctl(fds[0], UFFDIO_WRITEPROTECT, &protect));
	child_that(allow_writes, fds);
	measure(write_page, page);
}

/* The kernel copies to the page in a call. */
static void copy_to_page(void *page)
{
	int fd = open("/dev/zero", O_RDONLY);

	require(read(fd, page, 64) == 64);
}

static void userfault_of_copy(void)
{
	measure_page(copy_to_page);
}

/* The server has the descriptor from a message, and this process closes its own. */
static int passed[2];
static void serve_passed(void *unused)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int fds[1];

	require(recvmsg(passed[1], &message, 0) == 1);
	memcpy(fds, CMSG_DATA(&control.head), sizeof(int));
	serve_fault(fds);
}

static void pass(int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	char byte = 0;
	struct iovec part = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	require(sendmsg(passed[0], &message, 0) == 1);
}

static void userfault_of_passed(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	make_unix(passed);
	child_that(serve_passed, NULL);
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		skip();
	range.range.start = (uint64_t)(uintptr_t)page;
	require(page != MAP_FAILED && !ioctl(fd, UFFDIO_REGISTER, &range));
	pass(fd);
	close(fd);
	measure(touch_page, page);
}

static void userfault(void)
{
	measure_page(touch_page);
}

static void userfault_in_call(void)
{
	measure_page(read_memory);
}

/* ---- a group with full memory: its pages go to a disk and return ---- */

#define LIMIT (16ll * MIB)
#define SWAP  (64u * MIB)
#define PAGE  4096u

static char group[256];

static bool write_file(const char *name, long long value)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	file = fopen(path, "r+e"); /* the file exists in a control group only */
	if (!file)
		return false;
	fprintf(file, "%lld\n", value);
	return fclose(file) == 0;
}

/* Either version of control groups. */
static bool make_group(void)
{
	static const struct {
		const char *root, *limit;
	} generations[] = {{"/sys/fs/cgroup", "memory.max"}, {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}};

	for (size_t i = 0; i < 2; i++) {
		snprintf(group, sizeof(group), "%s/trace-waits-%d", generations[i].root, getpid());
		if (mkdir(group, 0755))
			continue;
		if (write_file(generations[i].limit, LIMIT))
			return true;
		rmdir(group);
	}
	return false;
}

/* As mkswap does: union swap_header, include/linux/swap.h. */
static bool make_swap(const char *path)
{
	static char page[PAGE];
	uint32_t head[3] = {1, SWAP / PAGE - 1, 0}; /* version, last page, bad pages */
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || posix_fallocate(fd, 0, SWAP))
		return false;
	memcpy(page + 1024, head, sizeof(head));
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	if (pwrite(fd, page, sizeof(page), 0) != (ssize_t)sizeof(page) || fsync(fd))
		return false;
	close(fd);
	return syscall(SYS_swapon, path, 0) == 0;
}

/* More than the group may have: every page was swapped out when it is used again. */
static void touch_in_turn(void *memory)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t at = 0; at < 2 * LIMIT; at += PAGE)
			((volatile char *)memory)[at]++;
}

static void swap(void)
{
	const char *path = scratch_path("swap");
	pid_t child;

	if (!make_group())
		skip();
	if (!make_swap(path)) {
		rmdir(group);
		skip();
	}
	child = fork();
	if (child == 0) {
		void *memory = mmap(NULL, 2 * LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		write_truth("pid", getpid());
		require(write_file("cgroup.procs", getpid()));
		measure(touch_in_turn, memory);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	require(!syscall(SYS_swapoff, path));
	rmdir(group);
}

const struct scenario memory_scenarios[] = {
	SCENARIO(userfault),
	SCENARIO(userfault_in_call),
	SCENARIO(userfault_of_write),
	SCENARIO(userfault_of_copy),
	SCENARIO(userfault_of_passed),
	SCENARIO(swap),
	{NULL, NULL},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_files.c - files under all their names, folders, terminals, devices. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "waits.h"

/* ---- files ---- */

static void add_file(void *path)
{
	close(open(path, O_RDWR | O_CREAT, 0600));
}

static int watch;
static void read_watch(void *path)
{
	char bytes[4096];

	require(read(watch, bytes, sizeof(bytes)) > 0);
}

static void inotify(void)
{
	char folder[512];

	snprintf(folder, sizeof(folder), "%s", scratch_path("folder"));
	watch = inotify_init1(0);
	require(!mkdir(folder, 0700) && inotify_add_watch(watch, folder, IN_CREATE) >= 0);
	wait_for_child(add_file, read_watch, (void *)scratch_path("folder/new"));
}

static void open_fifo_to_write(void *path)
{
	require(open(path, O_WRONLY) >= 0);
}

static void open_fifo_to_read(void *path)
{
	require(open(path, O_RDONLY) >= 0);
}

static void fifo(void)
{
	const char *path = scratch_path("fifo");

	require(!mkfifo(path, 0600));
	wait_for_child(open_fifo_to_write, open_fifo_to_read, (void *)path);
}

static int terminal[2]; /* slave, master */
static void terminal_read(void)
{
	terminal[1] = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal[1] < 0 || grantpt(terminal[1]) || unlockpt(terminal[1]))
		skip();
	terminal[0] = open(ptsname(terminal[1]), O_RDWR | O_NOCTTY);
	if (terminal[0] < 0)
		skip();
	require(write(terminal[1], "", 0) == 0);
	int fds[2] = {terminal[0], terminal[1]};
	pid_t child = fork();

	if (child == 0) {
		sleep_ns(PAUSE_NS);
		require(write(fds[1], "x\n", 2) == 2);
		sleep_ns(50 * MS);
		_exit(0);
	}
	write_truth("who", child);
	measure(read_8, fds);
}

static void mapped_file(void)
{
	void *memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, cold_file(), 0);

	require(memory != MAP_FAILED);
	measure(touch_pages, memory);
}

static void populate(void *memory)
{
	if (madvise(memory, 32 * MIB, MADV_POPULATE_READ))
		skip(); /* Linux 5.14 */
}

/* No page fault: the call populates all pages. */
static void populated_file(void)
{
	void *memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, cold_file(), 0);

	require(memory != MAP_FAILED);
	measure(populate, memory);
}

static int mapped;
static void map_populated(void *context)
{
	require(mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED | MAP_POPULATE, mapped, 0) != MAP_FAILED);
}

static void file_mapped_with_its_pages(void)
{
	mapped = cold_file();
	measure(map_populated, NULL);
}

static void sync_file(void *fd)
{
	require(!fsync(*(int *)fd));
}

static void fsync_file(void)
{
	static char buffer[MIB];
	int fd = open(scratch_path("data"), O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 64; i++)
		require(write(fd, buffer, sizeof(buffer)) == (ssize_t)sizeof(buffer));
	measure(sync_file, &fd);
}

/* ---- transfers that other threads make ---- */

/* Both read the same file. The first to reach a page requests it, and the other waits for that
 * page. */
static void read_by_two(void)
{
	int fd = cold_file(), fds[1];
	const char *path = scratch_path("data");
	pid_t child = fork();

	fds[0] = open(path, O_RDONLY); /* each has its own position */
	if (child == 0) {
		read_all(fds);
		_exit(0);
	}
	close(fd);
	measure(read_all, fds);
	waitpid(child, NULL, 0);
}

/* ---- files that another process locks for a while ---- */

static void make_watched(const char *path)
{
	close(open(path, O_RDWR | O_CREAT, 0600));
}

/* The child first watches or locks the file at @path, and releases it after a while. */
static void wait_for_keeper(void (*keep)(const char *), const char *path)
{
	char byte;
	pid_t child;

	make_watched(path);
	require(!pipe(ready));
	child = fork();
	if (child == 0) {
		keep(path);
		_exit(0);
	}
	write_truth("who", child);
	require(read(ready[0], &byte, 1) == 1);
	if (byte != 'y')
		skip();
	measure(open_fifo_to_write, (void *)path);
	waitpid(child, NULL, 0);
}

static void is_ready(bool is)
{
	require(write(ready[1], is ? "y" : "n", 1) == 1);
}

static void allow_after_a_while(const char *path)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	struct fanotify_event_metadata event;
	struct fanotify_response response = {.response = FAN_ALLOW};

	is_ready(fd >= 0 && !fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, path));
	require(read(fd, &event, sizeof(event)) >= (ssize_t)sizeof(event));
	sleep_ns(PAUSE_NS);
	response.fd = event.fd;
	require(write(fd, &response, sizeof(response)) == sizeof(response));
	sleep_ns(50 * MS);
}

static void watched_file(void)
{
	wait_for_keeper(allow_after_a_while, scratch_path("watched"));
}

static void lease_for_a_while(const char *path)
{
	int fd = open(path, O_RDONLY), number;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	is_ready(!fcntl(fd, F_SETLEASE, F_RDLCK));
	sigwait(&set, &number);
	sleep_ns(PAUSE_NS);
	require(!fcntl(fd, F_SETLEASE, F_UNLCK));
	sleep_ns(50 * MS);
}

static void leased_file(void)
{
	wait_for_keeper(lease_for_a_while, scratch_path("leased"));
}

static pid_t writer;
static void wait_for_writeback(void *fd)
{
	do
		require(!sync_file_range(*(int *)fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE));
	while (!waitpid(writer, NULL, WNOHANG));
}

/* A kernel thread writes, because another process asked for it. */
static void written_by_kernel(void)
{
	static char buffer[MIB];
	int fd = open(scratch_path("data"), O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 64; i++)
		require(write(fd, buffer, sizeof(buffer)) == (ssize_t)sizeof(buffer));
	writer = fork();
	if (writer == 0) {
		require(!syncfs(fd));
		_exit(0);
	}
	measure(wait_for_writeback, &fd);
}

/* ---- renamed files, and names under other roots ---- */

static void deleted_file(void)
{
	int fds[1] = {cold_file()};

	require(!unlink(scratch_path("data")));
	measure(read_all, fds);
}

/* By its new name, after it was used under the old one. */
static void renamed_file(void)
{
	char old[512];
	int fds[1] = {cold_file()};

	snprintf(old, sizeof(old), "%s", scratch_path("data"));
	require(!rename(old, scratch_path("new")) && !close(fds[0]));
	fds[0] = open(scratch_path("new"), O_RDONLY);
	measure(read_all, fds);
}

/* The inode belonged to another file before, and the page fault only carries its number. */
static void inode_used_again(void)
{
	int old = open(scratch_path("old"), O_RDWR | O_CREAT, 0600);
	void *memory;

	require(!close(old) && !unlink(scratch_path("old")));
	memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, cold_file(), 0);
	require(memory != MAP_FAILED);
	measure(touch_pages, memory);
}

static const char *folder_with_cold_file(void)
{
	static char folder[512];
	char path[600];

	snprintf(folder, sizeof(folder), "%s", scratch_path("root"));
	snprintf(path, sizeof(path), "%s/data", folder);
	require(!mkdir(folder, 0700));
	close(cold_file_at(path));
	return folder;
}

/* Its path is the one that other processes would use, not the one in the chroot. */
static void chroot_file(void)
{
	int fds[1];

	require(!chroot(folder_with_cold_file()) && !chdir("/"));
	fds[0] = open("/data", O_RDONLY);
	require(fds[0] >= 0);
	measure(read_all, fds);
}

/* In a mount namespace of its own, at a path that other processes do not have. */
static void mounted_file(void)
{
	const char *from = folder_with_cold_file(), *to = scratch_path("mount");
	char path[600];
	int fds[1];

	require(!mkdir(to, 0700));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(from, to, NULL, MS_BIND, NULL))
		skip();
	snprintf(path, sizeof(path), "%s/data", to);
	fds[0] = open(path, O_RDONLY);
	require(fds[0] >= 0);
	measure(read_all, fds);
}

/* ---- devices ---- */

static void read_random(void *fd)
{
	char buffer[2048];

	require(read(*(int *)fd, buffer, sizeof(buffer)) > 0);
}

/* A machine may have no such device, or one that never makes a reader wait. */
static void device_read(void)
{
	int fd = open("/dev/hwrng", O_RDONLY);
	char byte;

	if (fd < 0 || read(fd, &byte, 1) != 1)
		skip();
	measure(read_random, &fd);
}

void make_cold_program(const char *path)
{
	char buffer[4096];
	ssize_t bytes;
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0700);

	require(from >= 0 && to >= 0);
	while ((bytes = read(from, buffer, sizeof(buffer))) > 0)
		require(write(to, buffer, (size_t)bytes) == bytes);
	require(!fsync(to) && !posix_fadvise(to, 0, 0, POSIX_FADV_DONTNEED));
	close(to);
	close(from);
}

/* This process becomes a program that is not in memory. */
static void cold_exec(void)
{
	const char *path = scratch_path("program");

	make_cold_program(path);
	execl(path, path, "/dev/null", "/tmp", "none", NULL); /* runs no scenario */
	require(false);
}

const struct scenario file_scenarios[] = {
	SCENARIO(cold_exec),
	SCENARIO(inotify),
	SCENARIO(fifo),
	SCENARIO(terminal_read),
	SCENARIO(mapped_file),
	SCENARIO(populated_file),
	SCENARIO(file_mapped_with_its_pages),
	SCENARIO(fsync_file),
	SCENARIO(watched_file),
	SCENARIO(leased_file),
	SCENARIO(read_by_two),
	SCENARIO(written_by_kernel),
	SCENARIO(deleted_file),
	SCENARIO(renamed_file),
	SCENARIO(inode_used_again),
	SCENARIO(chroot_file),
	SCENARIO(mounted_file),
	SCENARIO(device_read),
	{NULL, NULL},
};

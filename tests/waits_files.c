// SPDX-License-Identifier: LGPL-2.1-or-later
/* waits_files.c - files, folders, terminals. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	tell("who", child);
	measure(read_8, fds);
}

static void mapped_file(void)
{
	void *memory = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, cold_file(), 0);

	require(memory != MAP_FAILED);
	measure_off_cpu(touch_pages, memory);
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
	measure_off_cpu(sync_file, &fd);
}

const struct scenario file_scenarios[] = {
	SCENARIO(inotify), SCENARIO(fifo), SCENARIO(terminal_read), SCENARIO(mapped_file), SCENARIO(fsync_file), {NULL, NULL},
};


/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits_metadata.c - names, inodes and folders that are not in memory.
 *
 * They are on a file system that was just mounted, from a file behind a loop device, in a mount
 * namespace of its own. So the test need not drop caches of others.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "waits.h"

#define IMAGE_BYTES (64ll * MIB)
#define NR_FOLDERS  300
#define NR_NAMES    4000

static char place[512]; /* the mount point */

static int loop_device(int image)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, device;
	struct loop_info64 info = {.lo_flags = LO_FLAGS_AUTOCLEAR};
	char path[32];

	for (int attempt = 0; control >= 0 && attempt < 100; attempt++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		snprintf(path, sizeof(path), "/dev/loop%d", number);
		device = number < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
		if (device >= 0 && !ioctl(device, LOOP_SET_FD, image) && !ioctl(device, LOOP_SET_STATUS64, &info)) {
			close(control);
			return device;
		}
		close(device);
		if (errno != EBUSY) /* another process took it in between */
			break;
	}
	skip();
}

static void mount_image(int image)
{
	char path[64], device[32];
	ssize_t bytes;
	int fd = loop_device(image);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bytes = readlink(path, device, sizeof(device) - 1);
	require(bytes > 0);
	device[bytes] = 0;
	if (mount(device, place, "ext4", MS_NOATIME, NULL))
		skip();
	close(fd);
}

static void fill(void)
{
	char path[1000];

	for (int i = 0; i < NR_FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%d", place, i);
		require(!mkdir(path, 0700));
		snprintf(path, sizeof(path), "%s/%d/cold", place, i);
		require(!close(open(path, O_RDWR | O_CREAT, 0600)));
	}
	snprintf(path, sizeof(path), "%s/big", place);
	require(!mkdir(path, 0700));
	for (int i = 0; i < NR_NAMES; i++) {
		snprintf(path, sizeof(path), "%s/big/%d-%0200d", place, i, i);
		require(!symlink("x", path));
	}
}

/* An earlier mount wrote everything on it. */
static void cold_file_system(void)
{
	const char *path = scratch_path("image");
	char command[600];
	int image = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F -N 8192 %s >/dev/null 2>&1",
		 path);
	require(image >= 0 && !ftruncate(image, IMAGE_BYTES));
	snprintf(place, sizeof(place), "%s", scratch_path("mount"));
	if (system(command) || mkdir(place, 0700) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip();
	mount_image(image);
	fill();
	require(!umount(place) && !fsync(image) && !posix_fadvise(image, 0, 0, POSIX_FADV_DONTNEED));
	mount_image(image);
}

static void for_all(void (*act)(const char *path))
{
	char path[600];

	for (int i = 0; i < NR_FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%d/cold", place, i * 7 % NR_FOLDERS);
		act(path);
	}
}

static void stat_it(const char *path)
{
	struct stat status;

	require(!stat(path, &status));
}

static void open_it(const char *path)
{
	require(!close(open(path, O_RDONLY)));
}

static void unlink_it(const char *path)
{
	require(!unlink(path));
}

static void stat_all(void *context)
{
	for_all(stat_it);
}

static void open_all(void *context)
{
	for_all(open_it);
}

static void unlink_all(void *context)
{
	for_all(unlink_it);
}

static void list_folder(void *folder)
{
	while (readdir(folder))
		;
}

#define OF_COLD_FILES(name, act)    \
	static void name(void)      \
	{                           \
		cold_file_system(); \
		measure(act, NULL); \
		umount(place);      \
	}
OF_COLD_FILES(stat_cold, stat_all)
OF_COLD_FILES(open_cold, open_all)
OF_COLD_FILES(unlink_cold, unlink_all)

static void list_cold(void)
{
	char path[600];
	DIR *folder;

	cold_file_system();
	snprintf(path, sizeof(path), "%s/big", place);
	folder = opendir(path);
	require(folder != NULL);
	measure(list_folder, folder);
	closedir(folder);
	umount(place);
}

/* ---- names of the same files in many ways ---- */

#define FROZEN_NS (20 * MS)

static int asks[2], answers[2]; /* pipes to and from the process that freezes the file system */

/* A busy machine may take long until the thread comes to its call. At most a second. */
static void until_it_waits(pid_t tid)
{
	char path[32], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	for (int i = 0; i < 1000 && state != 'D'; i++) {
		FILE *file = fopen(path, "re");

		if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (file)
			fclose(file);
		sleep_ns(MS);
	}
}

/* Freezes the file system for a while whenever a thread asks it to: calls that change it wait. */
static void freeze_when_asked(void)
{
	int folder = open(place, O_RDONLY);
	pid_t tid;

	close(asks[1]);
	while (read(asks[0], &tid, sizeof(tid)) == sizeof(tid)) {
		if (ioctl(folder, FIFREEZE, 0))
			_exit(1);
		require(write(answers[1], "", 1) == 1);
		until_it_waits(tid);
		sleep_ns(FROZEN_NS);
		ioctl(folder, FITHAW, 0);
	}
	_exit(0);
}

static void while_frozen(int folder, const char *path)
{
	pid_t tid = gettid();
	char byte;

	require(write(asks[1], &tid, sizeof(tid)) == sizeof(tid));
	if (read(answers[0], &byte, 1) != 1)
		skip();
	unlinkat(folder, path, 0);
}

static const char *in_place(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int open_folder(const char *name)
{
	int fd = open(in_place(name), O_RDONLY | O_DIRECTORY);

	require(fd >= 0);
	return fd;
}

/* In a folder that another thread chose. */
static void *go_to(void *name)
{
	require(!chdir(in_place(name)));
	return NULL;
}

static void rename_in_place(const char *name, const char *new_name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s", in_place(name));
	require(!rename(path, in_place(new_name)));
}

static void in_renamed_folders(void)
{
	int fd = open_folder("10");

	rename_in_place("10", "renamed");
	while_frozen(fd, "cold");
	require(!mkdir(in_place("above"), 0700));
	rename_in_place("11", "above/11");
	require(!chdir(in_place("above/11")));
	rename_in_place("above", "risen");
	while_frozen(AT_FDCWD, "cold");
}

static void in_a_removed_folder(void)
{
	int fd = open_folder("12");

	require(!unlinkat(fd, "cold", 0) && !rmdir(in_place("12")));
	while_frozen(fd, "gone");
}

/* In a child, which has a root directory of its own. */
static void in_another_root(void)
{
	pid_t child = fork();

	if (!child) {
		require(!chroot(in_place("13")) && !chdir("/"));
		while_frozen(AT_FDCWD, "/cold");
		_exit(0);
	}
	require(waitpid(child, NULL, 0) == child);
}

static void all_names(void *context)
{
	pthread_t thread;

	while_frozen(open_folder("1"), "cold");
	while_frozen(open_folder("2"), "cold");
	require(!chdir(in_place("3")));
	while_frozen(AT_FDCWD, "./../4/cold");
	require(!fchdir(open_folder("5")));
	while_frozen(AT_FDCWD, "cold");
	require(!pthread_create(&thread, NULL, go_to, (char[]){"6"}) && !pthread_join(thread, NULL));
	while_frozen(AT_FDCWD, "cold");
	require(!symlink("7", in_place("link")) && !chdir(in_place("link")));
	while_frozen(AT_FDCWD, "cold");
	in_renamed_folders();
	in_a_removed_folder();
	in_another_root();
}

static void frozen_names(void)
{
	pid_t child;

	cold_file_system();
	require(!pipe(asks) && !pipe(answers));
	child = fork();
	if (!child)
		freeze_when_asked();
	measure(all_names, NULL);
	close(asks[1]);
	require(!chdir("/") && waitpid(child, NULL, 0) == child);
	umount2(place, MNT_DETACH);
}

const struct scenario metadata_scenarios[] = {
	SCENARIO(frozen_names), SCENARIO(stat_cold), SCENARIO(open_cold),
	SCENARIO(unlink_cold),	SCENARIO(list_cold), {NULL, NULL},
};

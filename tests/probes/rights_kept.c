/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rights_kept.c - a program that opens a file with the rights of its program's file (set-uid, or a
 * capability), changes back to the user that called it, and reads the file as that user:
 * rights_kept FILE
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define READS 20000 /* about ten minutes; the test ends it before */

int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 30000000};
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	uid_t uid = getuid();
	gid_t gid = getgid();
	char text[256];

	if (fd < 0) {
		perror("rights_kept");
		return 1;
	}
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return 1;
	for (int i = 0; i < READS; i++) {
		if (pread(fd, text, sizeof(text), 0) < 0)
			return 1;
		nanosleep(&nap, NULL);
	}
	return 0;
}

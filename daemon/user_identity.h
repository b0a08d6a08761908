/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_IDENTITY_H
#define DAEMON_USER_IDENTITY_H
/* user_identity.h - the process of a traced program, as the kernel describes it */
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct user_identity - the process of a program, as the kernel describes it
 * @number: its pid in the trace; 0: not known
 * @pid_fd: becomes readable when the process dies; -1: none
 * @gone: the process is dead already
 */
struct user_identity {
	pid_t pid;
	pid_t number;
	uid_t uid;
	gid_t gid;
	int pid_fd;
	bool gone;
	char exe[256];
};
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SUDO_USER_H
#define DAEMON_SUDO_USER_H
/* sudo_user.h - the user who called the daemon by sudo */
#include <stdbool.h>
#include <sys/types.h>

/** struct sudo_user - ids, and the name in the environment of the daemon */
struct sudo_user {
	uid_t uid;
	gid_t gid;
	const char *name;
};

/**
 * sudo_user_find() - true: root runs this daemon for @ret_user, as SUDO_UID, SUDO_GID and SUDO_USER
 * say, which only root could have set otherwise
 */
bool sudo_user_find(struct sudo_user *ret_user);
#endif

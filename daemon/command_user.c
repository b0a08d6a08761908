/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "error_set.h"
#include "number_parse.h"

struct command_user {
	uid_t uid;
	gid_t gid;
	char *name;    /* owned */
	char *home;    /* owned */
	char *shell;   /* owned */
	gid_t *groups; /* owned */
	int nr_groups;
};

static const struct passwd *look_up(const char *name)
{
	const struct passwd *found = getpwnam(name);
	uint64_t uid;

	if (!found && !number_parse(name, UINT32_MAX - 1, &uid))
		found = getpwuid((uid_t)uid);
	return found;
}

static bool find_groups(struct command_user *user)
{
	int nr = 0;

	getgrouplist(user->name, user->gid, NULL, &nr);
	user->groups = nr > 0 ? calloc((size_t)nr, sizeof(*user->groups)) : NULL;
	user->nr_groups = nr;
	return user->groups && getgrouplist(user->name, user->gid, user->groups, &user->nr_groups) >= 0;
}

struct command_user *command_user_find(const char *name, struct trace_error *ret_error)
{
	const struct passwd *found;
	struct command_user *user;

	if (geteuid() != 0) {
		error_set(ret_error, -EPERM,
			  "--user %s: only root may run a command as another user; the command runs as you without it",
			  name);
		return NULL;
	}
	found = look_up(name);
	if (!found) {
		error_set(ret_error, -ENOENT, "--user %s: there is no user of this name", name);
		return NULL;
	}
	user = calloc(1, sizeof(*user));
	if (user) {
		user->uid = found->pw_uid;
		user->gid = found->pw_gid;
		user->name = strdup(found->pw_name);
		user->home = strdup(found->pw_dir);
		user->shell = strdup(found->pw_shell);
	}
	if (user && user->name && user->home && user->shell && find_groups(user))
		return user;
	error_set(ret_error, -ENOMEM, "--user %s: no memory for the groups of the user", name);
	return command_user_free(user);
}

bool command_user_owns(const char *name, int fd)
{
	const struct passwd *user = look_up(name);
	struct stat status;

	return user && fstat(fd, &status) == 0 && status.st_uid == user->pw_uid;
}

struct command_user *command_user_free(struct command_user *user)
{
	if (!user)
		return NULL;
	free(user->name);
	free(user->home);
	free(user->shell);
	free(user->groups);
	free(user);
	return NULL;
}

/* SECURITY: the user last: afterwards the process has no right to change its groups. */
int command_user_become(const struct command_user *user)
{
	if (setgroups((size_t)user->nr_groups, user->groups) < 0 || setgid(user->gid) < 0 || setuid(user->uid) < 0)
		return -errno;
	if (setenv("HOME", user->home, 1) < 0 || setenv("USER", user->name, 1) < 0 ||
	    setenv("LOGNAME", user->name, 1) < 0 || setenv("SHELL", user->shell, 1) < 0)
		return -errno;
	return 0;
}

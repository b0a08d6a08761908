/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sudo_user.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "number_parse.h"

static bool find_id(const char *variable, uint64_t *ret_id)
{
	const char *text = getenv(variable);

	return text && !number_parse(text, UINT32_MAX - 1, ret_id) && *ret_id;
}

bool sudo_user_find(struct sudo_user *ret_user)
{
	const char *name = getenv("SUDO_USER");
	uint64_t uid, gid;

	if (geteuid() != 0 || !name || !*name || !find_id("SUDO_UID", &uid) || !find_id("SUDO_GID", &gid))
		return false;
	*ret_user = (struct sudo_user){(uid_t)uid, (gid_t)gid, name};
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kept_names.c - parts of a file one behind the other, and how much room each user has taken. */
#include "kept_names.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "regular.h"

#define NR_USERS 64

/** struct kept_names_part - followed by @bytes of the file at @offset */
struct kept_names_part {
	uint64_t offset;
	uint64_t bytes;
};

/**
 * struct kept_names - @budget: taken from the user in @user. @room: of @parts. @nr_users: of the
 * names, atomic
 */
struct kept_names {
	size_t user;
	uint64_t budget;
	size_t used, room;
	unsigned int nr_users;
	unsigned char parts[];
};

/* ---- budget ---- */

static struct {
	pthread_mutex_t lock;
	uint64_t all;
	struct {
		uid_t uid;
		uint64_t bytes;
	} users[NR_USERS];
	size_t nr_users;
} budget = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Users without room share the last row. */
static size_t row_of(uid_t uid)
{
	for (size_t i = 0; i < budget.nr_users; i++)
		if (budget.users[i].uid == uid)
			return i;
	if (budget.nr_users == NR_USERS)
		return NR_USERS - 1;
	budget.users[budget.nr_users].uid = uid;
	return budget.nr_users++;
}

static bool take_room(uid_t uid, uint64_t bytes, size_t *ret_user)
{
	size_t user;
	bool is_room;

	pthread_mutex_lock(&budget.lock);
	user = row_of(uid);
	is_room = bytes <= KEPT_NAMES_FILE_BYTES && budget.all + bytes <= KEPT_NAMES_BYTES &&
		  budget.users[user].bytes + bytes <= KEPT_NAMES_USER_BYTES;
	if (is_room) {
		budget.all += bytes;
		budget.users[user].bytes += bytes;
		*ret_user = user;
	}
	pthread_mutex_unlock(&budget.lock);
	return is_room;
}

static void give_room_back(size_t user, uint64_t bytes)
{
	pthread_mutex_lock(&budget.lock);
	budget.all -= bytes;
	budget.users[user].bytes -= bytes;
	pthread_mutex_unlock(&budget.lock);
}

/* ---- names ---- */

/* Each part has its head and at most PART_BYTES; a table of some hundred bytes is a part, too. */
#define MANY_PARTS 4096u

struct kept_names *kept_names_new(uid_t owner, uint64_t bytes)
{
	size_t room = (size_t)bytes + MANY_PARTS * sizeof(struct kept_names_part), user = 0;
	struct kept_names *names;

	if (!take_room(owner, bytes, &user))
		return NULL;
	names = malloc(sizeof(*names) + room);
	if (!names) {
		give_room_back(user, bytes);
		return NULL;
	}
	*names = (struct kept_names){.user = user, .budget = bytes, .room = room, .nr_users = 1};
	return names;
}

bool kept_names_add(struct kept_names *names, uint64_t offset, const void *part, size_t bytes)
{
	const struct kept_names_part head = {offset, bytes};

	if (offset > REGULAR_MAX_BYTES || bytes > REGULAR_MAX_BYTES - offset ||
	    bytes + sizeof(head) > names->room - names->used)
		return false;
	memcpy(names->parts + names->used, &head, sizeof(head));
	memcpy(names->parts + names->used + sizeof(head), part, bytes);
	names->used += sizeof(head) + bytes;
	return true;
}

struct kept_names *kept_names_use(struct kept_names *names)
{
	if (names)
		__atomic_fetch_add(&names->nr_users, 1, __ATOMIC_RELAXED);
	return names;
}

struct kept_names *kept_names_free(struct kept_names *names)
{
	if (!names || __atomic_sub_fetch(&names->nr_users, 1, __ATOMIC_ACQ_REL))
		return NULL;
	give_room_back(names->user, names->budget);
	free(names);
	return NULL;
}

static int write_parts(const struct kept_names *names, int fd)
{
	struct kept_names_part head;

	for (size_t at = 0; at < names->used; at += sizeof(head) + head.bytes) {
		memcpy(&head, names->parts + at, sizeof(head));
		if (pwrite(fd, names->parts + at + sizeof(head), head.bytes, (off_t)head.offset) != (ssize_t)head.bytes)
			return errno ? -errno : -EIO;
	}
	return 0;
}

int kept_names_open(const struct kept_names *names)
{
	int fd = memfd_create("names", MFD_CLOEXEC), result;

	if (fd < 0)
		return -errno;
	errno = 0;
	result = write_parts(names, fd);
	if (!result)
		return fd;
	close(fd);
	return result;
}

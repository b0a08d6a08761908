/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file_opener.c - both sides of the conversation with the child that opens files. */
#include "file_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jail.h"
#include "regular.h"

#define CPU_SECONDS 600 /* of one child: most of a long recording */
#define NR_USERS    32

/* ---- users whose file systems did not answer ---- */

static struct {
	pthread_mutex_t lock;
	uint64_t total;
	struct {
		uid_t uid;
		uint32_t times;
	} users[NR_USERS];
	size_t nr_users;
} unanswered = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The kernel knows it: this never waits. -1: the process has ended. */
static uid_t user_of(uint32_t tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, tgid);
	return stat(path, &status) < 0 ? (uid_t)-1 : status.st_uid;
}

static uint32_t *times_of(uid_t uid)
{
	for (size_t i = 0; i < unanswered.nr_users; i++)
		if (unanswered.users[i].uid == uid)
			return &unanswered.users[i].times;
	return NULL;
}

void files_note_unanswered(uint32_t tgid)
{
	uid_t uid = user_of(tgid);
	uint32_t *times;

	pthread_mutex_lock(&unanswered.lock);
	unanswered.total++;
	times = times_of(uid);
	if (!times && unanswered.nr_users < NR_USERS) {
		unanswered.users[unanswered.nr_users].uid = uid;
		times = &unanswered.users[unanswered.nr_users++].times;
	}
	if (times)
		++*times;
	pthread_mutex_unlock(&unanswered.lock);
}

bool files_may_ask(uint32_t tgid)
{
	bool may_ask = true;

	pthread_mutex_lock(&unanswered.lock);
	if (unanswered.nr_users) {
		const uint32_t *times = times_of(user_of(tgid));

		may_ask = !times || *times < FILE_MAX_UNANSWERED;
	}
	unanswered.total += !may_ask;
	pthread_mutex_unlock(&unanswered.lock);
	return may_ask;
}

uint64_t files_unanswered(void)
{
	uint64_t total;

	pthread_mutex_lock(&unanswered.lock);
	total = unanswered.total;
	pthread_mutex_unlock(&unanswered.lock);
	return total;
}

/* ---- the child ---- */

/** struct file_answer - @err: 0, and the packet has a descriptor; or a negative errno */
struct file_answer {
	int err;
	struct stat status;
};

static int open_below(const struct file_place *place)
{
	int root = open(place->root, O_PATH | O_DIRECTORY | O_CLOEXEC), folder, fd;

	if (root < 0)
		return -errno;
	folder = openat(root, place->folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd = folder < 0 ? -errno : regular_open_at(folder, place->name);
	close(root);
	if (folder >= 0)
		close(folder);
	return fd;
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true};
	int refusal = jail_enter(&jail);
	struct file_place place;

	(void)context;
	while (jail_receive(JAIL_SOCKET, &place, sizeof(place), NULL) == sizeof(place)) {
		struct file_answer answer = {0};
		int fd = refusal ? refusal : *place.root ? open_below(&place) : regular_open(place.name);

		if (fd < 0 || fstat(fd, &answer.status) < 0)
			answer.err = fd < 0 ? fd : -errno;
		if (!jail_send(JAIL_SOCKET, &answer, sizeof(answer), answer.err ? -1 : fd, 0))
			break;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* ---- the caller ---- */

static int start(struct file_opener *opener)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};
	int result = opener->runs ? 0 : jail_child_start(&role, &opener->child);

	opener->runs = !result;
	return result;
}

void file_opener_close(struct file_opener *opener)
{
	if (opener->runs)
		jail_child_end(&opener->child, false, NULL, 0);
	opener->runs = false;
}

static int ask(struct file_opener *opener, const struct file_place *place, struct stat *ret_status)
{
	struct file_answer answer;
	ssize_t got = -EPIPE;
	int fd = -1;

	if (jail_send(opener->child.socket, place, sizeof(*place), -1, MSG_DONTWAIT))
		got = jail_answer(&opener->child, &answer, sizeof(answer), &fd, FILE_ANSWER_NS,
				  opener->has_stop ? opener->stop_fd : -1);
	if (got != sizeof(answer) || !answer.err != (fd >= 0)) {
		if (fd >= 0)
			close(fd);
		file_opener_close(opener);
		return got == -ETIMEDOUT || got == -ECANCELED ? (int)got : -EPIPE;
	}
	if (!answer.err)
		*ret_status = answer.status;
	return answer.err ? answer.err : fd;
}

int file_opener_open(struct file_opener *opener, const struct file_place *place, struct stat *ret_status)
{
	int result;

	if (!files_may_ask(place->tgid))
		return -ETIMEDOUT;
	result = start(opener);
	if (!result)
		result = ask(opener, place, ret_status);
	if (result == -EPIPE) /* the child had used its CPU time */
		result = start(opener) ? -EPIPE : ask(opener, place, ret_status);
	if (result == -ETIMEDOUT)
		files_note_unanswered(place->tgid);
	return result;
}

struct file_place file_mapping(uint32_t tgid, uint64_t start, uint64_t end)
{
	struct file_place place = {.tgid = tgid};

	snprintf(place.name, sizeof(place.name), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, tgid, start, end);
	return place;
}

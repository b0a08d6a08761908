/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* offer_child.c - the child gets a connection, and sends back the memory in its message. */
#include "offer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "scm_rights.h"
#include "seqpacket.h"

#define CPU_SECONDS 600

/* ---- the child ---- */

/* Only memory without a server can have seals: fcntl(2), "File Sealing". */
static bool is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

static int receive_offer(int connection)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} ancillary;
	struct user_offer offer = {0};
	struct iovec text = {&offer, sizeof(offer)};
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof(ancillary)};
	ssize_t bytes = seqpacket_receive(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (bytes < 0)
		return -errno;
	fd = scm_rights_take(&message);
	if (bytes == 0 && fd < 0)
		return -ENODATA;
	if (fd >= 0 && bytes == (ssize_t)sizeof(offer) && offer.magic == USER_MEMORY_MAGIC &&
	    offer.version == USER_MEMORY_VERSION && is_memory(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (fd < 0 && message.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	return fd < 0 && bytes == (ssize_t)sizeof(offer) && offer.magic == USER_MEMORY_MAGIC ? -ENOMEM : -EBADMSG;
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {
		.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true, .filter_optional = true};
	int refusal = jail_enter(&jail), connection = -1;
	char request;

	(void)context;
	while (jail_receive(JAIL_SOCKET, &request, sizeof(request), &connection) == sizeof(request) &&
	       connection >= 0) {
		int fd = refusal ? refusal : receive_offer(connection), err = fd < 0 ? fd : 0;

		close(connection);
		if (!jail_send(JAIL_SOCKET, &err, sizeof(err), fd, 0))
			break;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* ---- the caller ---- */

static struct {
	pthread_mutex_t lock;
	struct jail_child child;
} receiver = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int start_child(void)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};

	return jail_child_keep(&role, &receiver.child);
}

/* Without room for the descriptor the kernel drops it. */
static int ask(int connection)
{
	int result = start_child(), err = 0, fd = -1;
	ssize_t got = -EPIPE;
	char request = 1;

	if (result)
		return result;
	if (jail_send(receiver.child.socket, &request, sizeof(request), connection, MSG_DONTWAIT))
		got = jail_answer(&receiver.child, &err, sizeof(err), &fd, OFFER_ANSWER_NS, -1);
	if (got == sizeof(err) && err <= 0 && (!err || fd < 0))
		return err ? err : fd < 0 ? -EMFILE : fd;
	if (fd >= 0)
		close(fd);
	jail_child_stop(&receiver.child);
	return got == -ETIMEDOUT ? -ETIMEDOUT : -EPIPE;
}

int offer_child_receive(int connection, pid_t peer)
{
	char byte;
	int result;

	/* a silent connection costs the child nothing */
	if (recv(connection, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (!files_may_ask((uint32_t)peer))
		return -ETIMEDOUT;
	pthread_mutex_lock(&receiver.lock);
	result = ask(connection);
	if (result == -EPIPE) /* the child had used its CPU time, or its thread has ended */
		result = ask(connection);
	pthread_mutex_unlock(&receiver.lock);
	if (result == -ETIMEDOUT)
		files_note_unanswered((uint32_t)peer);
	return result;
}

void offer_child_close(void)
{
	pthread_mutex_lock(&receiver.lock);
	if (receiver.child.owner == getpid())
		jail_child_stop(&receiver.child);
	pthread_mutex_unlock(&receiver.lock);
}

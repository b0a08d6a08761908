/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * client_bell.c - a program in a container, a chroot or another mount namespace calls the daemon
 * through the kernel: <trace/user_memory.h>
 *
 * A call names a process. The daemon searches the mappings of that process, as it does for programs
 * that already run. A process that has ended by then is a loss, with its name.
 *
 * SECURITY: any process can call, as often as it likes. Each call costs its user an offer, and what
 * a process maps is checked as in a search of /proc. No path of the process is opened.
 */
#include "client_bell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "budget.h"
#include "client_register.h"
#include "clients_state.h"
#include "message.h"
#include "user_find.h"

/** struct bell_call - one call, while it is answered. @found: memories of the process */
struct bell_call {
	struct clients *clients;
	const struct tracer_bell *bell;
	unsigned int found;
};

/* ---- presence ---- */

/*
 * Lock the byte that says that this daemon listens. Returns the descriptor that holds the lock, or
 * a negative errno.
 */
static int hold_presence(void)
{
	int fd = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct flock lock = {.l_type = F_RDLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)user_presence_offset(getenv("TRACER_SOCKET"), geteuid()),
			     .l_len = 1};
	int err;

	if (fd < 0)
		return -errno;
	/*
	 * A lock of the process, so that the kernel names the process to the programs that ask. It
	 * ends when the process closes any descriptor of that file.
	 */
	if (fcntl(fd, F_SETLK, &lock) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void client_bell_begin(struct clients *clients)
{
	struct client_bell *bell = &clients->bell;
	int fd;

	if (!clients->tracer || !clients->accept.socket || bell->presence_fd >= 0)
		return;
	fd = tracer_bell_begin(clients->tracer);
	if (fd >= 0 && client_watch_add(&clients->watch, fd, WATCH_BELL) == 0)
		bell->presence_fd = hold_presence();
	bell->error = fd < 0 ? fd : bell->presence_fd < 0 ? bell->presence_fd : 0;
	if (bell->error)
		tracer_bell_end(clients->tracer);
}

void client_bell_end(struct clients *clients)
{
	if (clients->bell.presence_fd < 0)
		return;
	close(clients->bell.presence_fd);
	clients->bell.presence_fd = -1;
}

/* ---- calls ---- */

/*
 * A program may call again while the daemon answers, and end before that call is read. For the
 * kernel, the end of a program with a memory that the daemon has locked is a call, too. A daemon in
 * a pid namespace knows only the number of a process that has ended.
 */
static bool is_known(const struct clients *clients, const struct tracer_bell *bell)
{
	if (bell->pid)
		return user_index_next(&clients->table.by_pid, (uint64_t)bell->pid, NULL) != NULL;
	for (const struct client *client = clients->table.list; client; client = client->next)
		if (user_program_identity(client->program)->number == bell->number)
			return true;
	return false;
}

static void lose(struct clients *clients, const struct tracer_bell *bell, const char *why)
{
	clients_miss(clients, 1);
	clients->status.refused++;
	lost_programs_add(&clients->lost, bell->number, bell->comm, why);
}

/* Tell the program that the daemon has looked at its memory, taken or not. */
static void answer(int fd)
{
	const trace_u32 yes = 1;

	if (pwrite(fd, &yes, sizeof(yes), (off_t)offsetof(struct user_memory, answered)) < 0)
		return; /* then it waits a moment longer */
}

/* A program that could not know of the daemon has its events off. */
static bool could_not_know(int fd)
{
	trace_u32 flag = 1;

	return pread(fd, &flag, sizeof(flag), (off_t)offsetof(struct user_memory, new_flag)) == (ssize_t)sizeof(flag) &&
	       !flag;
}

static void on_found(void *context, int fd, struct user_identity *identity)
{
	struct bell_call *call = context;
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	call->found++;
	if (!client_table_find(&call->clients->table, fd) && could_not_know(fd))
		lost_programs_add(&call->clients->lost, call->bell->number, call->bell->comm,
				  "the first ones, because it could not know that a daemon listens");
	client_register(call->clients, fd, identity, true, false);
	if (again < 0)
		return;
	answer(again);
	close(again);
}

static bool may_call(struct clients *clients, const struct tracer_bell *bell, uid_t uid)
{
	if (budget_take(clients->budget, uid, BUDGET_OFFERS, 1) &&
	    budget_take(clients->budget, uid, BUDGET_MAPPINGS, 1))
		return true;
	if (budget_may_report(clients->budget, uid))
		message_note("process %d (%s) is not recorded: user %u starts programs faster than the limit",
			     (int)bell->pid, bell->comm, (unsigned int)uid);
	lose(clients, bell, "its user started programs faster than the limit");
	return false;
}

static void on_call(void *context, const struct tracer_bell *bell)
{
	struct bell_call call = {.clients = context, .bell = bell};
	struct clients *clients = context;
	char name[USER_MEMORY_NAME_BYTES], no_memory[USER_BELL_NAME_BYTES];
	uid_t uid = BUDGET_EVERYBODY;
	gid_t gid;
	uint32_t looked_at;
	int err;

	user_memory_name(getenv("TRACER_SOCKET"), name);
	user_bell_name(getenv("TRACER_SOCKET"), geteuid(), no_memory);
	if (clients->off || (strcmp(bell->name, name) != 0 && strcmp(bell->name, no_memory) != 0))
		return;
	if (bell->bytes == 0) {
		lose(clients, bell, "it had no memory or no descriptor for its trace buffers");
		return;
	}
	if (!bell->pid) { /* only for a daemon in a pid namespace */
		if (!is_known(clients, bell))
			lose(clients, bell, "it ended before the daemon could take its trace buffers");
		return;
	}
	user_find_owner(bell->pid, &uid, &gid);
	if (!may_call(clients, bell, uid))
		return;
	err = user_find_process(bell->pid, on_found, &call, &looked_at);
	budget_spend(clients->budget, uid, BUDGET_MAPPINGS, looked_at);
	if (err)
		lose(clients, bell, user_find_error_text(err));
	else if (!call.found && !is_known(clients, bell))
		lose(clients, bell, "it ended before the daemon could take its trace buffers");
}

void client_bell_take(struct clients *clients)
{
	uint64_t lost;

	if (!clients->tracer || clients->bell.error)
		return;
	tracer_bell_take(clients->tracer, on_call, clients);
	lost = tracer_bells_lost(clients->tracer);
	clients->search.rescan_due |= lost > clients->bell.lost;
	clients_miss(clients, lost - clients->bell.lost);
	clients->bell.lost = lost;
}

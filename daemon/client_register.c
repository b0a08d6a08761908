/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_register.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "budget.h"
#include "client_reap.h"
#include "clients_state.h"
#include "error_set.h"
#include "message.h"
#include "user_find.h"

/* ---- which programs are recorded ---- */

static bool descends_from(pid_t pid, pid_t ancestor)
{
	for (int depth = 0; pid > 1 && depth < 128; depth++) {
		if (pid == ancestor)
			return true;
		pid = user_find_parent(pid);
	}
	return false;
}

static bool is_selected(const struct clients *clients, const struct user_identity *identity)
{
	const struct tracer_options *filter = clients->filter;

	if (geteuid() != 0 && identity->uid != geteuid())
		return false;
	if (!filter)
		return true;
	if (filter->filter_uid >= 0 && (int64_t)identity->uid != filter->filter_uid)
		return false;
	if (filter->filter_gid >= 0 && (int64_t)identity->gid != filter->filter_gid)
		return false;
	if (filter->filter_pgrp && getpgid(identity->pid) != filter->filter_pgrp)
		return false;
	if (filter->filter_pid && identity->pid != filter->filter_pid)
		return filter->follow && descends_from(identity->pid, filter->filter_pid);
	return true;
}

/* ---- refusals ---- */

/*
 * A scan of /proc finds a program of another daemon twice, because that daemon maps the memory too.
 * So report it only if the program offered itself, and only once. Its events are in the other
 * daemon's trace.
 */
static void report_refused(struct clients *clients, const struct user_identity *identity, bool offered,
			   const struct trace_error *error)
{
	bool is_busy = error->code == -EBUSY;

	clients->join_error.others_recorded |= is_busy;
	if (is_busy && !offered)
		return;
	clients->status.refused++;
	if (!is_busy && error->code != -EINVAL) { /* an invalid memory is no loss */
		clients_miss(clients, 1);
		lost_programs_add(&clients->lost, identity->number, identity->exe, error->message);
	}
	if ((!is_busy || !clients->reported_busy) && budget_may_report(clients->budget, identity->uid))
		message_note("process %d (%s) is not recorded: %s%s", (int)identity->pid, identity->exe, error->message,
			     is_busy ? "; further programs of other daemons are not reported" : "");
	clients->reported_busy |= is_busy;
}

/* A dead process has no parent and no process group, so a filter on these cannot be evaluated. */
static void report_unknown(struct clients *clients, const struct user_identity *identity)
{
	const struct tracer_options *filter = clients->filter;

	if (clients->off || !identity->gone || !filter ||
	    !(filter->filter_pgrp || (filter->filter_pid && filter->follow)))
		return;
	clients->status.refused++;
	lost_programs_add(&clients->lost, identity->number, identity->exe,
			  "it ended before the daemon could check it against the filter");
	if (!clients->reported_unknown)
		message_warning("process %d died before the daemon could check it against the filter: its events, and "
				"those of similar processes, are not recorded",
				(int)identity->pid);
	clients->reported_unknown = true;
}

/* ---- another daemon has the program ---- */

bool client_register_wait_for(struct clients *clients, pid_t pid)
{
	if (pid <= 0 || pid == getpid() || clients->search.other_fd >= 0)
		return true;
	clients->search.other_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (clients->search.other_fd < 0)
		return errno != ESRCH;
	if (client_watch_add(&clients->watch, clients->search.other_fd, WATCH_DAEMON) == 0)
		return true;
	close(clients->search.other_fd);
	clients->search.other_fd = -1;
	return true;
}

/* The pid of the daemon that holds the memory's lock, as the memory says. */
static pid_t owner_of_memory(int fd)
{
	struct user_mapping mapping = {.fd = -1};
	struct trace_error error;
	pid_t pid = 0;

	if (user_mapping_open(&mapping, fd, false, &error) == 0)
		pid = (pid_t)__atomic_load_n(&user_mapping_memory(&mapping)->daemon_pid, __ATOMIC_RELAXED);
	user_mapping_close(&mapping);
	return pid;
}

/* ---- a new program ---- */

/* Charge a memory to the account of @identity's user before the daemon takes it. */
static int charge(struct clients *clients, struct client *client, const struct user_identity *identity, int fd,
		  struct trace_error *ret_error)
{
	struct budget *budget = clients->budget;
	uid_t uid = identity->uid;
	struct stat status;

	if (client_reap_replaced(clients, identity->pid, uid) >= CLIENTS_PER_PROCESS && budget_is_bounded(budget, uid))
		return error_set(ret_error, -EDQUOT, "it already has %d trace memories, the maximum of one process",
				 CLIENTS_PER_PROCESS);
	if (fstat(fd, &status) < 0)
		return error_set(ret_error, -errno, "cannot inspect its trace memory: %s", strerror(errno));
	client->payer = uid;
	if (!budget_charge(budget, uid, BUDGET_PROGRAMS, 1))
		return error_set(ret_error, -EDQUOT,
				 "user %u, or all users together, reached the limit of recorded programs",
				 (unsigned int)uid);
	if (!budget_charge(budget, uid, BUDGET_ADDRESS, (uint64_t)status.st_size)) {
		budget_release(budget, uid, BUDGET_PROGRAMS, 1);
		return error_set(ret_error, -EDQUOT,
				 "the trace memory of user %u, or of all users together, reached its limit; set "
				 "TRACER_BUFFERS smaller",
				 (unsigned int)uid);
	}
	client->bytes = (uint64_t)status.st_size;
	return 0;
}

static void discharge(struct clients *clients, const struct client *client)
{
	budget_release(clients->budget, client->payer, BUDGET_PROGRAMS, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, client->bytes);
}

static struct client *new_client(struct clients *clients, int fd, struct user_identity *identity, bool count_all,
				 struct trace_error *ret_error)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		error_set(ret_error, -ENOMEM, "no memory to record it");
		return NULL;
	}
	if (charge(clients, client, identity, fd, ret_error)) {
		free(client);
		return NULL;
	}
	client->program = user_program_new(fd, identity, &clients->recording, count_all, ret_error);
	if (!client->program && ret_error->code == -EBUSY && !client_register_wait_for(clients, owner_of_memory(fd)))
		client->program = user_program_new(fd, identity, &clients->recording, count_all, ret_error);
	if (client->program)
		return client;
	discharge(clients, client);
	free(client);
	return NULL;
}

static void take(struct clients *clients, int fd, struct user_identity *identity, bool count_all, bool offered)
{
	struct trace_error error = {0};
	struct client *client = new_client(clients, fd, identity, count_all, &error);

	if (!client) {
		report_refused(clients, identity, offered, &error);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
		return;
	}
	client->next = clients->table.list;
	clients->table.list = client;
	clients->status.ever++;
	clients->status.programs++;
	client->dead = identity->gone;
	if (identity->pid_fd >= 0)
		/* if this fails, the daemon notices the death when the recording ends */
		client_watch_add(&clients->watch, identity->pid_fd, WATCH_PROCESS);
	client_table_index(&clients->table, client);
	clients->period_ns = CLIENTS_PERIOD_BEGIN_NS;
	client_watch_set_timer(&clients->watch, clients->period_ns);
}

/*
 * A child maps its parent's memory too. The identity should be that of the process that owns the
 * memory, because that process fills the rings.
 */
static void prefer_owner(struct clients *clients, struct client *client, struct user_identity *identity)
{
	const struct user_mapping *mapping = user_program_mapping(client->program);
	bool was_owner = user_find_inner_pid(user_program_identity(client->program)->pid) == (pid_t)mapping->pid;
	bool is_owner = user_find_inner_pid(identity->pid) == (pid_t)mapping->pid;

	if (client->dead || was_owner || !is_owner) {
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
		return;
	}
	user_program_set_identity(client->program, identity);
	client_table_unindex(&clients->table, client);
	client_table_index(&clients->table, client);
	if (identity->pid_fd >= 0)
		client_watch_add(&clients->watch, identity->pid_fd, WATCH_PROCESS);
}

void client_register(struct clients *clients, int fd, struct user_identity *identity, bool count_all, bool offered)
{
	struct client *known = client_table_find(&clients->table, fd);

	identity->number = clients->tracer ? tracer_number(clients->tracer, identity->pid) : identity->pid;
	if (identity->number != identity->pid && !user_find_has_pid(identity))
		identity->number = 0; /* the number may be another process's, which has the pid now */
	if (known)
		prefer_owner(clients, known, identity);
	else if (!clients->off && is_selected(clients, identity))
		take(clients, fd, identity, count_all, offered);
	else {
		report_unknown(clients, identity);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
	}
	close(fd);
	clients_drain_kernel(clients);
}

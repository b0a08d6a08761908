/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "budget.h"
#include "message.h"
#include "format_text.h"
#include "join_error.h"
#include "user_find.h"
#include "user_index.h"
#include "ring_reader.h"
#include "user_program.h"
#include "user_socket.h"

#define CLIENTS_PERIOD_MIN_NS   1000000ull
#define CLIENTS_PERIOD_BEGIN_NS 5000000ull
#define CLIENTS_PERIOD_MAX_NS   50000000ull
#define CLIENTS_CONNECTIONS     1024 /* connections that have not sent an offer yet */
#define CLIENTS_ACCEPTED	      64   /* connections accepted in a row; then offers on earlier connections are read */
#define CLIENTS_RELEASED_MIN      256 /* dead programs in the list before the daemon checks which are still needed */
/*
 * Memories of one living process. An honest process has one, and a second after it executes another
 * program.
 */
#define CLIENTS_PER_PROCESS     4
/*
 * Connections closed in one call, as many as the backlog holds, so that other users' programs find
 * space there; then the daemon pauses accepting.
 */
#define CLIENTS_REFUSED_MAX     4096
#define CLIENTS_MEANWHILE	      256  /* of them between two drains of the kernel's rings */
#define CLIENTS_ASKED	      64  /* silent connections to check for an offer when a slot is needed */
#define CLIENTS_EVENTS	      32
#define CLIENTS_LAST_ROUNDS     1000 /* a bound, because programs may go on connecting for ever */
/* A flight recorder looks at new programs after 5, 10, 20 ms ... until the period reaches this. */
#define CLIENTS_LOOKS_END_NS    3000000000ull
#define CLIENTS_DEAD_BYTES      (256u << 20)
#define CLIENTS_DEAD_MAX	      2048
#define CLIENTS_CLOCK_NS	      1000000000ull

/**
 * struct client - a traced program
 * @by_memory, @by_pid, @by_pid_fd: its links in the indexes
 * @payer: the user that is charged for it, with @bytes of address space
 * @taken_before: sub-buffers taken from it at the last clients_look()
 * @died_ns: when the daemon noticed its end
 * @dead: its process died, or executed another program
 */
struct client {
	struct client *next; /* owned */
	struct user_program *program; /* owned */
	struct user_link by_memory;
	struct user_link by_pid;
	struct user_link by_pid_fd;
	uid_t payer;
	uint64_t bytes;
	uint64_t taken_before;
	uint64_t died_ns;
	bool dead;
	bool is_uncharged; /* dead, and not charged to its payer */
	bool needed; /* used while dead programs are checked */
};

/** struct connection - a program that has not sent its offer yet. @fd: -1: the slot is free */
struct connection {
	int fd;
	uid_t uid;
};

/**
 * struct clients - all traced programs
 * @list: newest first
 * @by_memory: the programs by device and inode; @by_pid, @by_pid_fd: by pid and pidfd
 * @budget: limits on what programs may cost
 * @nr_released: dead programs in the list; at @max_released the daemon checks which are still needed
 * @dead_bytes: what dead programs left, limited to @dead_bytes_max; @gone: what was dropped of it
 * @connections: accepted, but no offer was received yet. If none is free, a new connection replaces
 *     one of them.
 * @missed: programs, or events of programs, that are lost and have no ring to count them
 * @unregistered: tracepoints without space in the registry, of programs that are no longer in the
 *     list
 * @dropped: dead programs dropped although a living child may still use their switches
 * @in_a_row: connections accepted without a pause
 * @backlog_overflowed: the backlog was full, so the kernel may have refused others
 * @search_error: errno of a failed scan of /proc: running programs may not have been found; 0: none
 *     failed
 * @other_fd: a pidfd of another daemon that holds the socket or a program's memory; -1: none is
 *     known
 * @rescan_due: scan /proc again as soon as the budget allows
 * @salvages: clients_salvage() has checked which programs are dead
 */
struct clients {
	struct user_recording recording;
	struct selection selection;
	const struct tracer_options *filter; /* borrowed */
	struct tracer *tracer;		     /* borrowed; NULL: none */
	struct user_socket *socket;	     /* owned; NULL: another daemon has it */
	struct client *list;		     /* owned */
	struct user_index by_memory;
	struct user_index by_pid;
	struct user_index by_pid_fd;
	struct budget *budget; /* owned */
	struct clients_status status;
	size_t nr_released;
	size_t max_released;
	size_t dead_bytes;
	size_t dead_bytes_max;
	size_t dead_max;
	struct clients_gone gone;
	struct connection connections[CLIENTS_CONNECTIONS];
	size_t next_connection;
	uint64_t missed;
	uint64_t unregistered;
	uint64_t dropped;
	size_t nr_refused;
	size_t in_a_row;
	size_t backlog; /* of the socket: its maximum number of waiting connections */
	bool backlog_overflowed;
	int search_error;
	/*
	 * The daemon does not poll the socket until the timer expires: it lacks a resource, or
	 * users connect too fast.
	 */
	bool accept_paused;
	uint64_t period_ns;
	uint64_t clock_ns; /* of the last clock correspondence */
	int epoll_fd;
	int timer_fd;
	int other_fd;
	struct join_error join_error;
	bool begun;
	bool off;
	bool rescan_due;
	bool salvages;
	bool reported_busy;
	bool reported_offer;
	bool reported_accept;
	bool reported_unknown;
};

enum { WATCH_SOCKET = 1, WATCH_TIMER, WATCH_CONNECTION, WATCH_PROCESS, WATCH_DAEMON };

/* The epoll data of a descriptor: its kind, and its number. */
static int watch(const struct clients *clients, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)(unsigned int)fd << 32 | what };

	return epoll_ctl(clients->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void set_timer(const struct clients *clients, uint64_t ns)
{
	struct itimerspec times = { .it_value = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) } };

	timerfd_settime(clients->timer_fd, 0, &times, NULL);
}

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

/* ---- programs connect ---- */

/* Called between two pieces of work for programs, so that the kernel's rings do not wait. */
static void drain_kernel_between(const struct clients *clients)
{
	if (clients->recording.drain)
		drain_kernel(clients->recording.drain);
}

static uint64_t memory_key(dev_t dev, ino_t ino)
{
	return (uint64_t)dev << 40 ^ ino;
}

static struct client *user_of_memory(const struct clients *clients, int fd)
{
	struct user_link *link = NULL;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return NULL;
	while ((link = user_index_next(&clients->by_memory, memory_key(status.st_dev, status.st_ino), link))) {
		struct client *client = link->item;
		const struct user_mapping *mapping = user_program_mapping(client->program);

		if (mapping->ino == status.st_ino && mapping->dev == status.st_dev)
			return client;
	}
	return NULL;
}

static void add_to_indexes(struct clients *clients, struct client *client)
{
	const struct user_identity *identity = user_program_identity(client->program);
	const struct user_mapping *mapping = user_program_mapping(client->program);

	user_index_add(&clients->by_memory, &client->by_memory, memory_key(mapping->dev, mapping->ino), client);
	user_index_add(&clients->by_pid, &client->by_pid, (uint64_t)identity->pid, client);
	if (identity->pid_fd >= 0)
		user_index_add(&clients->by_pid_fd, &client->by_pid_fd, (uint64_t)identity->pid_fd, client);
}

static void remove_from_indexes(struct clients *clients, struct client *client)
{
	user_index_remove(&clients->by_memory, &client->by_memory);
	user_index_remove(&clients->by_pid, &client->by_pid);
	user_index_remove(&clients->by_pid_fd, &client->by_pid_fd);
}

/**
 * struct live - the memories of a process that is not known to have died or executed another
 * program. @nr: limited to the array's size
 */
struct live {
	struct client *clients[CLIENTS_PER_PROCESS];
	ino_t inos[CLIENTS_PER_PROCESS];
	size_t nr;
};

static struct live living_of(const struct clients *clients, pid_t pid)
{
	struct live live = { .nr = 0 };
	struct user_link *link = NULL;

	while (live.nr < CLIENTS_PER_PROCESS && (link = user_index_next(&clients->by_pid, (uint64_t)pid, link))) {
		struct client *client = link->item;

		if (client->dead)
			continue;
		live.inos[live.nr] = user_program_mapping(client->program)->ino;
		live.clients[live.nr++] = client;
	}
	return live;
}

/*
 * A memory that the process no longer maps belongs to a program that it ran before: mark that one
 * dead. Returns the number of memories that remain.
 */
static size_t find_replaced(struct clients *clients, pid_t pid, uid_t uid)
{
	struct live live = living_of(clients, pid);
	bool mapped[CLIENTS_PER_PROCESS];
	size_t nr = live.nr;

	if (!nr || !budget_take(clients->budget, uid, BUDGET_MAPPINGS, 1))
		return nr;
	budget_spend(clients->budget, uid, BUDGET_MAPPINGS, user_find_which_maps(pid, live.inos, mapped, live.nr));
	for (size_t i = 0; i < live.nr; i++) {
		live.clients[i]->dead = !mapped[i];
		nr -= !mapped[i];
	}
	return nr;
}

/*
 * A scan of /proc finds a program of another daemon twice, because that daemon maps the memory too.
 * So report it only if the program offered itself, and only once. Its events are in the other
 * daemon's trace.
 */
static void report_refused(struct clients *clients, const struct user_identity *identity, bool offered, const struct trace_error *error)
{
	bool is_busy = error->code == -EBUSY;

	clients->join_error.others_recorded |= is_busy;
	if (is_busy && !offered)
		return;
	clients->status.refused++;
	clients->missed += !is_busy && error->code != -EINVAL; /* an invalid memory is no loss */
	if ((!is_busy || !clients->reported_busy) && budget_may_report(clients->budget, identity->uid))
		message_note("process %d (%s) is not recorded: %s%s", (int)identity->pid, identity->exe, error->message,
			     is_busy ? "; further programs of other daemons are not reported" : "");
	clients->reported_busy |= is_busy;
}

/*
 * Watch the daemon @pid: its socket and programs can be taken when it ends. Returns false if it has
 * ended already.
 */
static bool wait_for_other(struct clients *clients, pid_t pid)
{
	if (pid <= 0 || pid == getpid() || clients->other_fd >= 0)
		return true;
	clients->other_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (clients->other_fd < 0)
		return errno != ESRCH;
	if (watch(clients, clients->other_fd, WATCH_DAEMON) == 0)
		return true;
	close(clients->other_fd);
	clients->other_fd = -1;
	return true;
}

/* The pid of the daemon that holds the memory's lock, as the memory says. */
static pid_t owner_of_memory(int fd)
{
	struct user_mapping mapping = { .fd = -1 };
	struct trace_error error;
	pid_t pid = 0;

	if (user_mapping_open(&mapping, fd, false, &error) == 0)
		pid = (pid_t)__atomic_load_n(&user_mapping_memory(&mapping)->daemon_pid, __ATOMIC_RELAXED);
	user_mapping_close(&mapping);
	return pid;
}

/* Charge a memory to the account of @identity's user before the daemon takes it. */
static int charge(struct clients *clients, struct client *client, const struct user_identity *identity, int fd, struct trace_error *ret_error)
{
	struct budget *budget = clients->budget;
	uid_t uid = identity->uid;
	struct stat status;

	if (find_replaced(clients, identity->pid, uid) >= CLIENTS_PER_PROCESS && budget_is_bounded(budget, uid))
		return error_set(ret_error, -EDQUOT, "it already has %d trace memories, the maximum of one process", CLIENTS_PER_PROCESS);
	if (fstat(fd, &status) < 0)
		return error_set(ret_error, -errno, "cannot inspect its trace memory: %s", strerror(errno));
	client->payer = uid;
	if (!budget_charge(budget, uid, BUDGET_PROGRAMS, 1))
		return error_set(ret_error, -EDQUOT, "user %u, or all users together, reached the limit of recorded programs", (unsigned int)uid);
	if (!budget_charge(budget, uid, BUDGET_ADDRESS, (uint64_t)status.st_size)) {
		budget_release(budget, uid, BUDGET_PROGRAMS, 1);
		return error_set(ret_error, -EDQUOT, "the trace memory of user %u, or of all users together, reached its limit; set TRACER_BUFFERS smaller", (unsigned int)uid);
	}
	client->bytes = (uint64_t)status.st_size;
	return 0;
}

static void discharge(struct clients *clients, const struct client *client)
{
	budget_release(clients->budget, client->payer, BUDGET_PROGRAMS, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, client->bytes);
}

static struct client *new_user(struct clients *clients, int fd, struct user_identity *identity, bool whole, struct trace_error *ret_error)
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
	client->program = user_program_new(fd, identity, &clients->recording, whole, ret_error);
	if (!client->program && ret_error->code == -EBUSY && !wait_for_other(clients, owner_of_memory(fd)))
		client->program = user_program_new(fd, identity, &clients->recording, whole, ret_error);
	if (client->program)
		return client;
	discharge(clients, client);
	free(client);
	return NULL;
}

static void take(struct clients *clients, int fd, struct user_identity *identity, bool whole, bool offered)
{
	struct trace_error error = { 0 };
	struct client *client = new_user(clients, fd, identity, whole, &error);

	if (!client) {
		report_refused(clients, identity, offered, &error);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
		return;
	}
	client->next = clients->list;
	clients->list = client;
	clients->status.ever++;
	clients->status.programs++;
	client->dead = identity->gone;
	if (identity->pid_fd >= 0)
		/* if this fails, the daemon notices the death when the recording ends */
		watch(clients, identity->pid_fd, WATCH_PROCESS);
	add_to_indexes(clients, client);
	clients->period_ns = CLIENTS_PERIOD_BEGIN_NS;
	set_timer(clients, clients->period_ns);
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
	remove_from_indexes(clients, client);
	add_to_indexes(clients, client);
	if (identity->pid_fd >= 0)
		watch(clients, identity->pid_fd, WATCH_PROCESS);
}

/* A dead process has no parent and no process group, so a filter on these cannot be evaluated. */
static void report_unknown(struct clients *clients, const struct user_identity *identity)
{
	const struct tracer_options *filter = clients->filter;

	if (clients->off || !identity->gone || !filter || !(filter->filter_pgrp || (filter->filter_pid && filter->follow)))
		return;
	clients->status.refused++;
	if (!clients->reported_unknown)
		message_warning("process %d died before the daemon could check it against the filter: its events, and those of similar processes, are not recorded",
				(int)identity->pid);
	clients->reported_unknown = true;
}

/*
 * @whole: as for user_program_new(). @offered: the program offered itself, and was not found in
 *     /proc.
 */
static void register_client(struct clients *clients, int fd, struct user_identity *identity, bool whole, bool offered)
{
	struct client *known = user_of_memory(clients, fd);

	identity->number = clients->tracer ? tracer_number(clients->tracer, identity->pid) : identity->pid;
	if (identity->number != identity->pid && !user_find_is_there(identity))
		identity->number = 0; /* the number may be another process's, which has the pid now */
	if (known)
		prefer_owner(clients, known, identity);
	else if (!clients->off && is_selected(clients, identity))
		take(clients, fd, identity, whole, offered);
	else {
		report_unknown(clients, identity);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
	}
	close(fd);
	drain_kernel_between(clients);
}

static void on_found(void *context, int fd, struct user_identity *identity)
{
	register_client(context, fd, identity, false, false);
}

/*
 * A program found only by the last scan of /proc started during the recording, but could not
 * connect.
 */
static void on_found_unconnected(void *context, int fd, struct user_identity *identity)
{
	register_client(context, fd, identity, true, false);
}

/* If the scan fails, the number of missed programs is unknown; so the failure is only reported. */
static void look_for_programs(struct clients *clients, void (*found)(void *, int, struct user_identity *))
{
	int err;

	clients->recording.patience = RING_PATIENCE;
	err = user_find_programs(found, clients);
	if (err && !clients->search_error)
		message_warning("cannot search for programs that already run: %s; some may not be recorded", user_find_error_text(err));
	clients->search_error = clients->search_error ? clients->search_error : err;
}

static void listen_for_programs(struct clients *clients)
{
	struct trace_error error = { 0 };
	bool waits = false;

	clients->socket = user_socket_listen(&error);
	if (!clients->socket && error.code == -EADDRINUSE) {
		waits = wait_for_other(clients, user_socket_owner());
		if (!waits)
			clients->socket = user_socket_listen(&error);
	}
	if (!clients->socket)
		join_error_begin(&clients->join_error, waits && clients->other_fd >= 0, &error);
	else
		join_error_end(&clients->join_error);
	clients->backlog = clients->socket ? user_socket_backlog() : 0;
}

/*
 * SECURITY: a program can pretend to be another daemon, and end as often as it likes. The budget
 * limits the scans of /proc that it causes.
 */
static void scan_again(struct clients *clients)
{
	if (!clients->rescan_due || !budget_take(clients->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	clients->rescan_due = false;
	look_for_programs(clients, on_found);
}

static void on_other_gone(struct clients *clients)
{
	close(clients->other_fd);
	clients->other_fd = -1;
	if (!clients->socket) {
		listen_for_programs(clients);
		if (clients->socket)
			watch(clients, user_socket_fd(clients->socket), WATCH_SOCKET);
	}
	clients->rescan_due = !clients->off;
	scan_again(clients);
}

/*
 * Counts an offer that could not be read. It is a loss if the daemon had no descriptor for it, but
 * not if it was invalid or from a process without permission.
 */
static void miss_offer(struct clients *clients, int err)
{
	clients->status.refused++;
	clients->missed += err != -EBADMSG && err != -EPERM;
	if (!clients->reported_offer)
		message_warning("cannot read the offer of a program: %s; its events are not recorded", strerror(-err));
	clients->reported_offer = true;
}

/*
 * Refuse a program of a user that starts too many. If it is still alive when the recording ends,
 * the daemon finds it in /proc.
 */
static void refuse_offer(struct clients *clients, int fd, const struct user_identity *identity)
{
	clients->status.refused++;
	clients->missed++;
	if (budget_may_report(clients->budget, identity->uid))
		message_note("process %d (%s) is not recorded: user %u starts programs faster than the limit", (int)identity->pid, identity->exe,
			     (unsigned int)identity->uid);
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

/* Read the offer on @connection. Returns false if the program has not sent it yet. */
static bool read_offer(struct clients *clients, int connection)
{
	struct user_identity identity;
	int fd = user_socket_receive(connection, &identity);

	if (fd == -EAGAIN)
		return false;
	if (fd >= 0 && !budget_take(clients->budget, identity.uid, BUDGET_OFFERS, 1))
		refuse_offer(clients, fd, &identity);
	else if (fd >= 0)
		register_client(clients, fd, &identity, true, true);
	else if (fd != -ENODATA)
		miss_offer(clients, fd);
	close(connection);
	return true;
}

static void free_slot(struct clients *clients, struct connection *slot)
{
	budget_release(clients->budget, slot->uid, BUDGET_CONNECTIONS, 1);
	slot->fd = -1;
}

/*
 * An epoll event may be older than the last actions of the daemon, and its descriptor number may be
 * reused. So look the number up.
 */
static void on_connection(struct clients *clients, int connection)
{
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		if (clients->connections[i].fd == connection) {
			if (read_offer(clients, connection))
				free_slot(clients, &clients->connections[i]);
			return;
		}
}

/*
 * Find a slot for a new connection: a free one; else one with an offer that arrived meanwhile; else
 * evict the next in turn.
 * SECURITY: so silent clients cannot lock others out. An evicted program offers itself again.
 */
static struct connection *find_slot(struct clients *clients)
{
	struct connection *slot;

	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++) {
		slot = &clients->connections[clients->next_connection++ % CLIENTS_CONNECTIONS];
		if (slot->fd < 0)
			return slot;
	}
	for (size_t i = 0; i < CLIENTS_ASKED; i++) {
		slot = &clients->connections[clients->next_connection++ % CLIENTS_CONNECTIONS];
		if (read_offer(clients, slot->fd)) {
			free_slot(clients, slot);
			return slot;
		}
	}
	slot = &clients->connections[clients->next_connection++ % CLIENTS_CONNECTIONS];
	close(slot->fd);
	free_slot(clients, slot);
	return slot;
}

static void keep_connection(struct clients *clients, int connection, uid_t uid)
{
	struct connection *slot;
	int err;

	if (!budget_charge(clients->budget, uid, BUDGET_CONNECTIONS, 1)) {
		close(connection); /* the program will offer its memory again */
		return;
	}
	slot = find_slot(clients);
	err = watch(clients, connection, WATCH_CONNECTION);
	if (err) {
		budget_release(clients->budget, uid, BUDGET_CONNECTIONS, 1);
		miss_offer(clients, err);
		close(connection);
		return;
	}
	*slot = (struct connection){ connection, uid };
}

/*
 * Accepting is paused, because no descriptor or memory is left, or users connect too fast. The
 * waiting connections would otherwise wake the daemon again at once.
 */
static void pause_accepting(struct clients *clients, uint64_t ns)
{
	epoll_ctl(clients->epoll_fd, EPOLL_CTL_DEL, user_socket_fd(clients->socket), NULL);
	clients->accept_paused = true;
	set_timer(clients, ns);
}

static void resume_accepting(struct clients *clients)
{
	if (clients->accept_paused && clients->socket)
		clients->accept_paused = watch(clients, user_socket_fd(clients->socket), WATCH_SOCKET) != 0;
}

static void on_socket(struct clients *clients)
{
	int connection = 0, nr_refused = 0;

	for (int i = 0; i < CLIENTS_ACCEPTED && nr_refused < CLIENTS_REFUSED_MAX && (connection = user_socket_accept(clients->socket)) >= 0; i++) {
		uid_t uid = user_socket_peer(connection);

		clients->in_a_row++;
		if (!budget_take(clients->budget, uid, BUDGET_ACCEPTS, 1)) {
			close(connection); /* SECURITY: do nothing else for it; an honest program offers again */
			if (++nr_refused % CLIENTS_MEANWHILE == 0)
				drain_kernel_between(clients);
			i--;
		} else if (!read_offer(clients, connection)) { /* usually the offer has arrived already */
			keep_connection(clients, connection, uid);
		}
	}
	clients->nr_refused += (size_t)nr_refused;
	clients->backlog_overflowed |= clients->in_a_row > clients->backlog;
	if (connection == -EAGAIN)
		clients->in_a_row = 0;
	if (nr_refused > 0)
		pause_accepting(clients, CLIENTS_PERIOD_BEGIN_NS);
	if (connection >= 0 || connection == -EAGAIN || connection == -ECONNABORTED || connection == -EINTR)
		return;
	pause_accepting(clients, CLIENTS_PERIOD_MAX_NS);
	if (clients->reported_accept)
		return;
	message_warning("cannot accept connections of programs: %s; the daemon tries again", strerror(-connection));
	clients->reported_accept = true;
	clients->missed++;
}

/* ---- programs end ---- */

static void on_death(struct clients *clients, int pid_fd)
{
	struct pollfd dead = { .fd = pid_fd, .events = POLLIN };

	if (poll(&dead, 1, 0) != 1 || !(dead.revents & POLLIN))
		return; /* the event is old: the descriptor now belongs to a living process */
	epoll_ctl(clients->epoll_fd, EPOLL_CTL_DEL, pid_fd, NULL);
	for (struct user_link *link = NULL; (link = user_index_next(&clients->by_pid_fd, (uint64_t)pid_fd, link));)
		((struct client *)link->item)->dead = true;
}

static void need(void *context, int fd, struct user_identity *identity)
{
	struct client *client = user_of_memory(context, fd);

	if (client)
		client->needed = true;
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

static void drop_client(struct clients *clients, struct client *client)
{
	struct user_kept_counts counts = { 0 };

	if (clients->recording.flight)
		user_program_get_counts(client->program, &counts);
	else
		clients->missed = trace_add_saturated(clients->missed, user_program_late(client->program));
	clients->unregistered = trace_add_saturated(clients->unregistered, user_program_unregistered(client->program));
	clients->gone.programs += counts.overwritten || counts.lost;
	clients->gone.overwritten = trace_add_saturated(clients->gone.overwritten, counts.overwritten);
	clients->gone.lost = trace_add_saturated(clients->gone.lost, counts.lost);
	if ((counts.overwritten || counts.lost) && client->died_ns > clients->gone.ns)
		clients->gone.ns = client->died_ns;
	clients->dead_bytes -= user_program_saved(client->program);
	if (!client->is_uncharged)
		budget_release(clients->budget, client->payer, BUDGET_DEAD, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, client->bytes);
	remove_from_indexes(clients, client);
	user_program_free(client->program);
	free(client);
	clients->nr_released--;
}

/* The program that died first of those with saved data. The list begins with the newest program. */
static struct client *first_dead(const struct clients *clients)
{
	struct client *first = NULL;

	for (struct client *client = clients->list; client; client = client->next)
		if (user_program_is_released(client->program) && user_program_saved(client->program) && (!first || client->died_ns <= first->died_ns))
			first = client;
	return first;
}

/*
 * A flight recorder keeps the latest data of dead programs, within limits; what it drops counts as
 * overwritten.
 */
static void keep_limits(struct clients *clients)
{
	struct client *first;
	size_t bytes, nr = 0;

	for (const struct client *client = clients->list; client; client = client->next)
		nr += user_program_saved(client->program) > 0;
	while ((clients->dead_bytes > clients->dead_bytes_max || nr > clients->dead_max) && (first = first_dead(clients))) {
		bool all = clients->dead_bytes <= clients->dead_bytes_max;

		do {
			bytes = user_program_drop(first->program);
			clients->dead_bytes -= bytes;
		} while (bytes && (all || clients->dead_bytes > clients->dead_bytes_max));
		nr -= !user_program_saved(first->program);
	}
}

/*
 * Drop the dead programs that no living process maps any more. If the scan of /proc
 * fails, drop none.
 */
static void drop_unneeded(struct clients *clients)
{
	struct client **slot = &clients->list;
	int err;

	if (clients->nr_released < clients->max_released || !budget_take(clients->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	for (struct client *client = clients->list; client; client = client->next)
		client->needed = !user_program_is_released(client->program) || user_program_saved(client->program);
	err = user_find_programs(need, clients);
	while (*slot) {
		struct client *client = *slot;

		if (client->needed || err) {
			slot = &client->next;
			continue;
		}
		*slot = client->next;
		drop_client(clients, client);
	}
	clients->max_released = 2 * clients->nr_released > CLIENTS_RELEASED_MIN ? 2 * clients->nr_released : CLIENTS_RELEASED_MIN;
}

/*
 * A user has too many dead programs: drop the one that connected first, although a child that has
 * not recorded anything yet may use its switches.
 */
static void drop_oldest_of(struct clients *clients, uid_t payer)
{
	struct client **oldest = NULL, *client;

	for (struct client **slot = &clients->list; *slot; slot = &(*slot)->next)
		if ((*slot)->payer == payer && user_program_is_released((*slot)->program))
			oldest = slot;
	if (!oldest)
		return;
	client = *oldest;
	*oldest = client->next;
	clients->dropped++;
	drop_client(clients, client);
}

static void reap(struct clients *clients, struct client *client)
{
	uint64_t bytes = client->bytes;

	user_index_remove(&clients->by_pid_fd, &client->by_pid_fd);
	user_program_release(client->program);
	client->died_ns = clock_now();
	client->bytes = user_program_mapping(client->program)->bytes;
	clients->dead_bytes += user_program_saved(client->program);
	clients->nr_released++;
	clients->status.programs--;
	budget_release(clients->budget, client->payer, BUDGET_PROGRAMS, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, bytes - client->bytes);
}

static void reap_dead(struct clients *clients)
{
	for (struct client *client = clients->list; client; client = client->next) {
		if (!client->dead || user_program_is_released(client->program) || !user_program_finish(client->program))
			continue;
		if (!budget_charge(clients->budget, client->payer, BUDGET_DEAD, 1)) {
			drop_oldest_of(clients, client->payer);
			client->is_uncharged = !budget_charge(clients->budget, client->payer, BUDGET_DEAD, 1);
		}
		reap(clients, client);
		drain_kernel_between(clients);
	}
	keep_limits(clients);
	drop_unneeded(clients);
}

/* ---- how often the daemon looks ---- */

/* For a flight recorder: look again until no new events have appeared for a while. */
static void choose_next_look(struct clients *clients)
{
	struct clock_sample now;

	if (clients->period_ns < CLIENTS_LOOKS_END_NS)
		set_timer(clients, clients->period_ns);
	if (clock_now() - clients->clock_ns < CLIENTS_CLOCK_NS)
		return;
	now = clock_take_sample(); /* the daemon is awake anyway */
	clients->clock_ns = now.monotonic_ns;
	user_clock_add(&clients->recording.clock, &now);
}

static void choose_period(struct clients *clients)
{
	uint64_t highest = 0, all = 0;

	if (clients->recording.flight) {
		choose_next_look(clients);
		return;
	}
	for (struct client *client = clients->list; client; client = client->next) {
		uint64_t taken = user_program_is_released(client->program) ? client->taken_before : user_program_taken(client->program);
		uint64_t share = (taken - client->taken_before) * 4 / user_program_mapping(client->program)->nr_subbufs;

		all += taken - client->taken_before;
		highest = share > highest ? share : highest;
		client->taken_before = taken;
	}
	if (highest && clients->period_ns > CLIENTS_PERIOD_MIN_NS)
		clients->period_ns /= 2;
	else if (!all && clients->period_ns < CLIENTS_PERIOD_MAX_NS)
		clients->period_ns *= 2;
	if (clients->status.programs)
		set_timer(clients, clients->accept_paused && clients->period_ns > CLIENTS_PERIOD_BEGIN_NS ? CLIENTS_PERIOD_BEGIN_NS : clients->period_ns);
	else
		set_timer(clients, clients->accept_paused || clients->rescan_due ? CLIENTS_PERIOD_MAX_NS : 0);
}

/* ---- the recording ---- */

struct clients *clients_new(const struct clients_options *options, struct trace_error *ret_error)
{
	struct clients *clients = calloc(1, sizeof(*clients));

	if (!clients) {
		error_set(ret_error, -ENOMEM, "no memory for programs' events");
		return NULL;
	}
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		clients->connections[i].fd = -1;
	clients->budget = budget_new(options->limits);
	clients->recording.budget = clients->budget;
	clients->selection = *options->selection;
	clients->filter = options->filter;
	clients->tracer = options->tracer;
	clients->max_released = CLIENTS_RELEASED_MIN;
	clients->other_fd = -1;
	clients->period_ns = CLIENTS_PERIOD_BEGIN_NS;
	clients->recording.blocking = options->blocking;
	clients->recording.flight = options->flight;
	clients->dead_bytes_max = options->dead_bytes ? options->dead_bytes : CLIENTS_DEAD_BYTES;
	clients->dead_max = options->dead_max ? options->dead_max : CLIENTS_DEAD_MAX;
	clients->recording.selection = &clients->selection;
	clients->recording.next_stream = USER_FIRST_STREAM;
	clients->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	clients->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!clients->budget)
		errno = ENOMEM;
	if (!clients->budget || clients->epoll_fd < 0 || clients->timer_fd < 0 || watch(clients, clients->timer_fd, WATCH_TIMER)) {
		error_set(ret_error, -errno, "cannot wait for programs: %s", strerror(errno));
		return clients_free(clients);
	}
	clients->join_error.wanted = select_wants_any_user(&clients->selection);
	listen_for_programs(clients);
	return clients;
}

void clients_begin(struct clients *clients, struct drain *drain, struct trace_writer *writer, const struct clock_sample *start)
{
	clients->recording.drain = drain;
	clients->recording.writer = writer;
	clients->recording.start_ns = start->monotonic_ns;
	user_clock_add(&clients->recording.clock, start);
	clients->begun = true;
	look_for_programs(clients, on_found);
	if (clients->socket)
		watch(clients, user_socket_fd(clients->socket), WATCH_SOCKET);
}

struct clients *clients_free(struct clients *clients)
{
	if (!clients)
		return NULL;
	user_socket_close(clients->socket);
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		if (clients->connections[i].fd >= 0)
			close(clients->connections[i].fd);
	while (clients->list) {
		struct client *client = clients->list;

		clients->list = client->next;
		user_program_free(client->program);
		free(client);
	}
	if (clients->timer_fd >= 0)
		close(clients->timer_fd);
	if (clients->other_fd >= 0)
		close(clients->other_fd);
	if (clients->epoll_fd >= 0)
		close(clients->epoll_fd);
	budget_free(clients->budget);
	free(clients);
	return NULL;
}

int clients_fd(const struct clients *clients)
{
	return clients->epoll_fd;
}

static void on_timer(struct clients *clients)
{
	uint64_t expirations;
	bool found = false;

	if (read(clients->timer_fd, &expirations, sizeof(expirations)) < 0)
		return; /* the timer was set again meanwhile */
	resume_accepting(clients);
	scan_again(clients);
	for (struct client *client = clients->list; client; client = client->next)
		found |= user_program_look(client->program);
	if (clients->recording.flight)
		clients->period_ns = found ? CLIENTS_PERIOD_BEGIN_NS : 2 * clients->period_ns;
}

/* Returns the number of descriptors that were ready. */
static int dispatch(struct clients *clients)
{
	struct epoll_event events[CLIENTS_EVENTS];
	int nr = epoll_wait(clients->epoll_fd, events, CLIENTS_EVENTS, 0);

	for (int i = 0; i < nr; i++) {
		int fd = (int)(events[i].data.u64 >> 32);

		switch ((uint32_t)events[i].data.u64) {
		case WATCH_SOCKET:
			on_socket(clients);
			break;
		case WATCH_TIMER:
			on_timer(clients);
			break;
		case WATCH_CONNECTION:
			on_connection(clients, fd);
			break;
		case WATCH_DAEMON:
			on_other_gone(clients);
			break;
		default:
			on_death(clients, fd);
		}
	}
	return nr;
}

void clients_dispatch(struct clients *clients)
{
	dispatch(clients);
}

void clients_look(struct clients *clients)
{
	reap_dead(clients);
	choose_period(clients);
}

static void switch_all(struct clients *clients)
{
	for (struct client *client = clients->list; client; client = client->next)
		user_program_switch(client->program, clients->off);
}

void clients_select(struct clients *clients, const struct selection *selection)
{
	clients->selection = *selection;
	clients->join_error.wanted |= select_wants_any_user(selection);
	switch_all(clients);
}

void clients_halt(struct clients *clients, bool halted)
{
	clients->recording.halted = halted;
	switch_all(clients);
}

const struct selection *clients_selection(const struct clients *clients)
{
	return &clients->selection;
}

/* Take every program that offered its memory before now, and those found in /proc. */
static void take_all(struct clients *clients)
{
	resume_accepting(clients);
	for (int round = 0; round < CLIENTS_LAST_ROUNDS && dispatch(clients) > 0; round++)
		drain_kernel_between(clients);
	look_for_programs(clients, on_found_unconnected);
	for (struct client *client = clients->list; client; client = client->next)
		user_program_look(client->program);
}

void clients_end_at(struct clients *clients, uint64_t end_ns)
{
	clients->recording.end_ns = end_ns;
}

void clients_switch_off(struct clients *clients)
{
	take_all(clients);
	clients->off = true;
	switch_all(clients);
}

void clients_salvage(struct clients *clients)
{
	for (struct client *client = clients->salvages ? NULL : clients->list; client; client = client->next) {
		const struct user_identity *identity = user_program_identity(client->program);

		if (client->dead || user_program_is_released(client->program))
			continue;
		find_replaced(clients, identity->pid, client->payer);
		drain_kernel_between(clients);
	}
	clients->salvages = !clients->recording.flight; /* a flight recorder checks at each snapshot */
	reap_dead(clients);
}

void clients_describe_missing(const struct clients *clients, void (*describe)(void *context, const char *text), void *context)
{
	uint64_t unregistered = clients->unregistered;
	const char *pattern;
	char text[SELECT_NAME_MAX + sizeof(clients->recording.why.message) + 128];

	join_error_describe(&clients->join_error, clients->recording.start_ns, clients->status.ever, describe, context);
	for (size_t at = 0; (pattern = select_unmatched(&clients->selection, &at));) {
		snprintf(text, sizeof(text), "%s: no program had such an event", pattern);
		describe(context, text);
	}
	for (const struct client *client = clients->list; client; client = client->next)
		unregistered = trace_add_saturated(unregistered, user_program_unregistered(client->program));
	if (unregistered) {
		snprintf(text, sizeof(text), "%s tracepoints of programs: a program can have at most %u event types", text_count(unregistered).s,
			 USER_MAX_EVENTS - 1);
		describe(context, text);
	}
	if (clients->recording.undescribed) {
		snprintf(text, sizeof(text), "%s tracepoints of programs, whose events count as lost: %s", text_count(clients->recording.undescribed).s, clients->recording.why.message);
		describe(context, text);
	}
	if (clients->dropped) {
		snprintf(text, sizeof(text), "children of %s ended programs: their users exceeded the number of ended programs that the daemon keeps; some children may be missing",
			 text_count(clients->dropped).s);
		describe(context, text);
	}
	if (clients->nr_refused) {
		snprintf(text, sizeof(text), "programs of %s connections that a user opened faster than the limit: some programs may not have tried again",
			 text_count(clients->nr_refused).s);
		describe(context, text);
	}
	if (clients->search_error) {
		snprintf(text, sizeof(text), "programs that already ran: the search for them failed (%s), so some may be missing", user_find_error_text(clients->search_error));
		describe(context, text);
	}
	if (clients->backlog_overflowed)
		describe(context, "programs that were killed before the daemon found them, because too many began at once: some may be missing");
	doubts_describe(&clients->recording.doubts, describe, context);
}

uint64_t clients_nr_doubted(const struct clients *clients)
{
	return clients->recording.doubts.nr;
}

uint64_t clients_close_counts(struct clients *clients)
{
	uint64_t missed;

	for (struct client *client = clients->list; client; client = client->next) {
		user_program_close_counts(client->program);
		clients->missed = trace_add_saturated(clients->missed, user_program_late(client->program));
	}
	if (clients->missed)
		message_warning("at least %s events of programs are lost: the daemon could not take their offers or the records of their children",
				text_count(clients->missed).s);
	missed = clients->missed;
	clients->missed = 0;
	return missed;
}

/* ---- flight recorder ---- */

uint64_t clients_oldest_ns(struct clients *clients)
{
	uint64_t oldest = UINT64_MAX, ns;

	take_all(clients);
	clients_salvage(clients);
	for (struct client *client = clients->list; client; client = client->next) {
		ns = user_program_oldest_ns(client->program);
		oldest = ns < oldest ? ns : oldest;
	}
	return oldest;
}

int clients_snapshot(struct clients *clients, struct user_snapshot *snapshot)
{
	int err = 0;

	clients->recording.next_stream = USER_FIRST_STREAM;
	clients->recording.undescribed = 0; /* each snapshot describes all event types */
	clients->recording.last_type = 0;
	budget_reset(clients->budget, BUDGET_TYPES);
	for (struct client *client = clients->list; client && !err; client = client->next)
		err = user_program_snapshot(client->program, snapshot);
	snapshot->missed = trace_add_saturated(snapshot->missed, clients->missed);
	return err;
}

void clients_reset(struct clients *clients, const struct clock_sample *now)
{
	clients->recording.start_ns = now->monotonic_ns;
	clients->recording.doubts = (struct doubts){ 0 };
	user_clock_add(&clients->recording.clock, now);
	clients->recording.patience = RING_PATIENCE;
	for (struct client *client = clients->list; client; client = client->next)
		user_program_reset(client->program);
	clients->missed = 0;
	clients->join_error.others_recorded = false;
	clients->dead_bytes = 0;
	clients->gone = (struct clients_gone){ 0 };
}

void clients_get_gone(const struct clients *clients, struct clients_gone *ret_gone)
{
	*ret_gone = clients->gone;
}

void clients_get_status(const struct clients *clients, struct clients_status *ret_status)
{
	*ret_status = clients->status;
	ret_status->cannot_join = join_error_now(&clients->join_error);
}

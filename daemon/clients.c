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

#define USERS_PERIOD_MIN_NS   1000000ull
#define USERS_PERIOD_BEGIN_NS 5000000ull
#define USERS_PERIOD_MAX_NS   50000000ull
#define USERS_CONNECTIONS     1024 /* connections that have not sent an offer yet */
#define USERS_ACCEPTED	      64   /* connections accepted in a row; then offers on earlier connections are read */
#define USERS_BURIED_MIN      256 /* dead programs in the list before the daemon checks which are still needed */
/*
 * Memories of one living process. An honest process has one, and a second after it executes another
 * program.
 */
#define USERS_PER_PROCESS     4
/*
 * Connections closed in one call, as many as the backlog holds, so that other users' programs find
 * space there; then the daemon pauses accepting.
 */
#define USERS_TURNED_AWAY     4096
#define USERS_MEANWHILE	      256  /* of them between two drains of the kernel's rings */
#define USERS_ASKED	      64  /* silent connections to check for an offer when a slot is needed */
#define USERS_EVENTS	      32
#define USERS_LAST_ROUNDS     1000 /* a bound, because programs may go on connecting for ever */
/* A flight recorder looks at new programs after 5, 10, 20 ms ... until the period reaches this. */
#define USERS_LOOKS_END_NS    3000000000ull
#define USERS_DEAD_BYTES      (256u << 20)
#define USERS_DEAD_MAX	      2048
#define USERS_CLOCK_NS	      1000000000ull

/**
 * struct user - a traced program
 * @by_memory, @by_pid, @by_pid_fd: its links in the indexes
 * @payer: the user that is charged for it, with @bytes of address space
 * @taken_before: sub-buffers taken from it at the last users_look()
 * @died_ns: when the daemon noticed its end
 * @dead: its process died, or executed another program
 */
struct user {
	struct user *next; /* owned */
	struct user_program *program; /* owned */
	struct user_link by_memory;
	struct user_link by_pid;
	struct user_link by_pid_fd;
	uid_t payer;
	uint64_t bytes;
	uint64_t taken_before;
	uint64_t died_ns;
	bool dead;
	bool is_over; /* dead, and not charged to its payer */
	bool needed; /* used while dead programs are checked */
};

/** struct connection - a program that has not sent its offer yet. @fd: -1: the slot is free */
struct connection {
	int fd;
	uid_t uid;
};

/**
 * struct users - all traced programs
 * @list: newest first
 * @by_memory: the programs by device and inode; @by_pid, @by_pid_fd: by pid and pidfd
 * @budget: limits on what programs may cost
 * @nr_buried: dead programs in the list; at @max_buried the daemon checks which are still needed
 * @dead_bytes: what dead programs left, limited to @dead_bytes_max; @gone: what was dropped of it
 * @connections: accepted, but no offer was received yet. If none is free, a new connection replaces
 *     one of them.
 * @missed: programs, or events of programs, that are lost and have no ring to count them
 * @unregistered: tracepoints without space in the registry, of programs that are no longer in the
 *     list
 * @forgotten: dead programs dropped although a living child may still use their switches
 * @in_a_row: connections accepted without a pause
 * @crowded: the backlog was full, so the kernel may have refused others
 * @unseen: errno of a failed scan of /proc: running programs may not have been found; 0: none
 *     failed
 * @other_fd: a pidfd of another daemon that holds the socket or a program's memory; -1: none is
 *     known
 * @rescan_due: scan /proc again as soon as the budget allows
 * @salvages: users_salvage() has checked which programs are dead
 */
struct users {
	struct user_recording recording;
	struct selection selection;
	const struct tracer_options *filter; /* borrowed */
	struct tracer *tracer;		     /* borrowed; NULL: none */
	struct user_socket *socket;	     /* owned; NULL: another daemon has it */
	struct user *list;		     /* owned */
	struct user_index by_memory;
	struct user_index by_pid;
	struct user_index by_pid_fd;
	struct budget *budget; /* owned */
	struct users_status status;
	size_t nr_buried;
	size_t max_buried;
	size_t dead_bytes;
	size_t dead_bytes_max;
	size_t dead_max;
	struct users_gone gone;
	struct connection connections[USERS_CONNECTIONS];
	size_t next_connection;
	uint64_t missed;
	uint64_t unregistered;
	uint64_t forgotten;
	size_t nr_turned_away;
	size_t in_a_row;
	size_t backlog; /* of the socket: its maximum number of waiting connections */
	bool crowded;
	int unseen;
	/*
	 * The daemon does not poll the socket until the timer expires: it lacks a resource, or
	 * users connect too fast.
	 */
	bool is_deaf;
	uint64_t period_ns;
	uint64_t clock_ns; /* of the last clock correspondence */
	int epoll_fd;
	int timer_fd;
	int other_fd;
	struct user_barred barred;
	bool begun;
	bool off;
	bool rescan_due;
	bool salvages;
	bool told_busy;
	bool told_offer;
	bool told_accept;
	bool told_unknown;
};

enum { WATCH_SOCKET = 1, WATCH_TIMER, WATCH_CONNECTION, WATCH_PROCESS, WATCH_DAEMON };

/* The epoll data of a descriptor: its kind, and its number. */
static int watch(const struct users *users, int fd, uint32_t what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)(unsigned int)fd << 32 | what };

	return epoll_ctl(users->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void set_timer(const struct users *users, uint64_t ns)
{
	struct itimerspec times = { .it_value = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) } };

	timerfd_settime(users->timer_fd, 0, &times, NULL);
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

static bool takes_part(const struct users *users, const struct user_identity *identity)
{
	const struct tracer_options *filter = users->filter;

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
static void meanwhile(const struct users *users)
{
	if (users->recording.drain)
		drain_kernel(users->recording.drain);
}

static uint64_t memory_key(dev_t dev, ino_t ino)
{
	return (uint64_t)dev << 40 ^ ino;
}

static struct user *user_of_memory(const struct users *users, int fd)
{
	struct user_link *link = NULL;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return NULL;
	while ((link = user_index_next(&users->by_memory, memory_key(status.st_dev, status.st_ino), link))) {
		struct user *user = link->item;
		const struct user_mapping *mapping = user_program_mapping(user->program);

		if (mapping->ino == status.st_ino && mapping->dev == status.st_dev)
			return user;
	}
	return NULL;
}

static void add_to_indexes(struct users *users, struct user *user)
{
	const struct user_identity *identity = user_program_identity(user->program);
	const struct user_mapping *mapping = user_program_mapping(user->program);

	user_index_add(&users->by_memory, &user->by_memory, memory_key(mapping->dev, mapping->ino), user);
	user_index_add(&users->by_pid, &user->by_pid, (uint64_t)identity->pid, user);
	if (identity->pid_fd >= 0)
		user_index_add(&users->by_pid_fd, &user->by_pid_fd, (uint64_t)identity->pid_fd, user);
}

static void remove_from_indexes(struct users *users, struct user *user)
{
	user_index_remove(&users->by_memory, &user->by_memory);
	user_index_remove(&users->by_pid, &user->by_pid);
	user_index_remove(&users->by_pid_fd, &user->by_pid_fd);
}

/**
 * struct living - the memories of a process that is not known to have died or executed another
 * program. @nr: limited to the array's size
 */
struct living {
	struct user *users[USERS_PER_PROCESS];
	ino_t inos[USERS_PER_PROCESS];
	size_t nr;
};

static struct living living_of(const struct users *users, pid_t pid)
{
	struct living living = { .nr = 0 };
	struct user_link *link = NULL;

	while (living.nr < USERS_PER_PROCESS && (link = user_index_next(&users->by_pid, (uint64_t)pid, link))) {
		struct user *user = link->item;

		if (user->dead)
			continue;
		living.inos[living.nr] = user_program_mapping(user->program)->ino;
		living.users[living.nr++] = user;
	}
	return living;
}

/*
 * A memory that the process no longer maps belongs to a program that it ran before: mark that one
 * dead. Returns the number of memories that remain.
 */
static size_t bury_earlier(struct users *users, pid_t pid, uid_t uid)
{
	struct living living = living_of(users, pid);
	bool mapped[USERS_PER_PROCESS];
	size_t nr = living.nr;

	if (!nr || !budget_take(users->budget, uid, BUDGET_MAPPINGS, 1))
		return nr;
	budget_spend(users->budget, uid, BUDGET_MAPPINGS, user_find_which_maps(pid, living.inos, mapped, living.nr));
	for (size_t i = 0; i < living.nr; i++) {
		living.users[i]->dead = !mapped[i];
		nr -= !mapped[i];
	}
	return nr;
}

/*
 * A scan of /proc finds a program of another daemon twice, because that daemon maps the memory too.
 * So report it only if the program offered itself, and only once. Its events are in the other
 * daemon's trace.
 */
static void tell_refused(struct users *users, const struct user_identity *identity, bool offered, const struct trace_error *error)
{
	bool is_busy = error->code == -EBUSY;

	users->barred.others_had |= is_busy;
	if (is_busy && !offered)
		return;
	users->status.refused++;
	users->missed += !is_busy && error->code != -EINVAL; /* an invalid memory is no loss */
	if ((!is_busy || !users->told_busy) && budget_may_tell(users->budget, identity->uid))
		message_note("process %d (%s) is not recorded: %s%s", (int)identity->pid, identity->exe, error->message,
			     is_busy ? "; further programs of other daemons are not reported" : "");
	users->told_busy |= is_busy;
}

/*
 * Watch the daemon @pid: its socket and programs can be taken when it ends. Returns false if it has
 * ended already.
 */
static bool wait_for_other(struct users *users, pid_t pid)
{
	if (pid <= 0 || pid == getpid() || users->other_fd >= 0)
		return true;
	users->other_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (users->other_fd < 0)
		return errno != ESRCH;
	if (watch(users, users->other_fd, WATCH_DAEMON) == 0)
		return true;
	close(users->other_fd);
	users->other_fd = -1;
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
static int charge(struct users *users, struct user *user, const struct user_identity *identity, int fd, struct trace_error *ret_error)
{
	struct budget *budget = users->budget;
	uid_t uid = identity->uid;
	struct stat status;

	if (bury_earlier(users, identity->pid, uid) >= USERS_PER_PROCESS && budget_is_bounded(budget, uid))
		return error_set(ret_error, -EDQUOT, "it already has %d trace memories, the maximum of one process", USERS_PER_PROCESS);
	if (fstat(fd, &status) < 0)
		return error_set(ret_error, -errno, "cannot inspect its trace memory: %s", strerror(errno));
	user->payer = uid;
	if (!budget_charge(budget, uid, BUDGET_PROGRAMS, 1))
		return error_set(ret_error, -EDQUOT, "user %u, or all users together, reached the limit of recorded programs", (unsigned int)uid);
	if (!budget_charge(budget, uid, BUDGET_ADDRESS, (uint64_t)status.st_size)) {
		budget_release(budget, uid, BUDGET_PROGRAMS, 1);
		return error_set(ret_error, -EDQUOT, "the trace memory of user %u, or of all users together, reached its limit; set TRACER_BUFFERS smaller", (unsigned int)uid);
	}
	user->bytes = (uint64_t)status.st_size;
	return 0;
}

static void discharge(struct users *users, const struct user *user)
{
	budget_release(users->budget, user->payer, BUDGET_PROGRAMS, 1);
	budget_release(users->budget, user->payer, BUDGET_ADDRESS, user->bytes);
}

static struct user *new_user(struct users *users, int fd, struct user_identity *identity, bool whole, struct trace_error *ret_error)
{
	struct user *user = calloc(1, sizeof(*user));

	if (!user) {
		error_set(ret_error, -ENOMEM, "no memory to record it");
		return NULL;
	}
	if (charge(users, user, identity, fd, ret_error)) {
		free(user);
		return NULL;
	}
	user->program = user_program_new(fd, identity, &users->recording, whole, ret_error);
	if (!user->program && ret_error->code == -EBUSY && !wait_for_other(users, owner_of_memory(fd)))
		user->program = user_program_new(fd, identity, &users->recording, whole, ret_error);
	if (user->program)
		return user;
	discharge(users, user);
	free(user);
	return NULL;
}

static void take(struct users *users, int fd, struct user_identity *identity, bool whole, bool offered)
{
	struct trace_error error = { 0 };
	struct user *user = new_user(users, fd, identity, whole, &error);

	if (!user) {
		tell_refused(users, identity, offered, &error);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
		return;
	}
	user->next = users->list;
	users->list = user;
	users->status.ever++;
	users->status.programs++;
	user->dead = identity->gone;
	if (identity->pid_fd >= 0)
		/* if this fails, the daemon notices the death when the recording ends */
		watch(users, identity->pid_fd, WATCH_PROCESS);
	add_to_indexes(users, user);
	users->period_ns = USERS_PERIOD_BEGIN_NS;
	set_timer(users, users->period_ns);
}

/*
 * A child maps its parent's memory too. The identity should be that of the process that owns the
 * memory, because that process fills the rings.
 */
static void prefer_owner(struct users *users, struct user *user, struct user_identity *identity)
{
	const struct user_mapping *mapping = user_program_mapping(user->program);
	bool was_owner = user_find_inner_pid(user_program_identity(user->program)->pid) == (pid_t)mapping->pid;
	bool is_owner = user_find_inner_pid(identity->pid) == (pid_t)mapping->pid;

	if (user->dead || was_owner || !is_owner) {
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
		return;
	}
	user_program_set_identity(user->program, identity);
	remove_from_indexes(users, user);
	add_to_indexes(users, user);
	if (identity->pid_fd >= 0)
		watch(users, identity->pid_fd, WATCH_PROCESS);
}

/* A dead process has no parent and no process group, so a filter on these cannot be evaluated. */
static void tell_unknown(struct users *users, const struct user_identity *identity)
{
	const struct tracer_options *filter = users->filter;

	if (users->off || !identity->gone || !filter || !(filter->filter_pgrp || (filter->filter_pid && filter->follow)))
		return;
	users->status.refused++;
	if (!users->told_unknown)
		message_warning("process %d died before the daemon could check it against the filter: its events, and those of similar processes, are not recorded",
				(int)identity->pid);
	users->told_unknown = true;
}

/*
 * @whole: as for user_program_new(). @offered: the program offered itself, and was not found in
 *     /proc.
 */
static void come(struct users *users, int fd, struct user_identity *identity, bool whole, bool offered)
{
	struct user *known = user_of_memory(users, fd);

	identity->number = users->tracer ? tracer_number(users->tracer, identity->pid) : identity->pid;
	if (identity->number != identity->pid && !user_find_is_there(identity))
		identity->number = 0; /* the number may be another process's, which has the pid now */
	if (known)
		prefer_owner(users, known, identity);
	else if (!users->off && takes_part(users, identity))
		take(users, fd, identity, whole, offered);
	else {
		tell_unknown(users, identity);
		if (identity->pid_fd >= 0)
			close(identity->pid_fd);
	}
	close(fd);
	meanwhile(users);
}

static void on_found(void *context, int fd, struct user_identity *identity)
{
	come(context, fd, identity, false, false);
}

/*
 * A program found only by the last scan of /proc started during the recording, but could not
 * connect.
 */
static void on_found_unheard(void *context, int fd, struct user_identity *identity)
{
	come(context, fd, identity, true, false);
}

/* If the scan fails, the number of missed programs is unknown; so the failure is only reported. */
static void look_for_programs(struct users *users, void (*found)(void *, int, struct user_identity *))
{
	int err;

	users->recording.patience = RING_PATIENCE;
	err = user_find_programs(found, users);
	if (err && !users->unseen)
		message_warning("cannot search for programs that already run: %s; some may not be recorded", user_find_error_text(err));
	users->unseen = users->unseen ? users->unseen : err;
}

static void listen_for_programs(struct users *users)
{
	struct trace_error error = { 0 };
	bool waits = false;

	users->socket = user_socket_listen(&error);
	if (!users->socket && error.code == -EADDRINUSE) {
		waits = wait_for_other(users, user_socket_owner());
		if (!waits)
			users->socket = user_socket_listen(&error);
	}
	if (!users->socket)
		user_barred_begin(&users->barred, waits && users->other_fd >= 0, &error);
	else
		user_barred_end(&users->barred);
	users->backlog = users->socket ? user_socket_backlog() : 0;
}

/*
 * SECURITY: a program can pretend to be another daemon, and end as often as it likes. The budget
 * limits the scans of /proc that it causes.
 */
static void scan_again(struct users *users)
{
	if (!users->rescan_due || !budget_take(users->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	users->rescan_due = false;
	look_for_programs(users, on_found);
}

static void on_other_gone(struct users *users)
{
	close(users->other_fd);
	users->other_fd = -1;
	if (!users->socket) {
		listen_for_programs(users);
		if (users->socket)
			watch(users, user_socket_fd(users->socket), WATCH_SOCKET);
	}
	users->rescan_due = !users->off;
	scan_again(users);
}

/*
 * Counts an offer that could not be read. It is a loss if the daemon had no descriptor for it, but
 * not if it was invalid or from a process without permission.
 */
static void miss_offer(struct users *users, int err)
{
	users->status.refused++;
	users->missed += err != -EBADMSG && err != -EPERM;
	if (!users->told_offer)
		message_warning("cannot read the offer of a program: %s; its events are not recorded", strerror(-err));
	users->told_offer = true;
}

/*
 * Refuse a program of a user that starts too many. If it is still alive when the recording ends,
 * the daemon finds it in /proc.
 */
static void turn_down(struct users *users, int fd, const struct user_identity *identity)
{
	users->status.refused++;
	users->missed++;
	if (budget_may_tell(users->budget, identity->uid))
		message_note("process %d (%s) is not recorded: user %u starts programs faster than the limit", (int)identity->pid, identity->exe,
			     (unsigned int)identity->uid);
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

/* Read the offer on @connection. Returns false if the program has not sent it yet. */
static bool hear(struct users *users, int connection)
{
	struct user_identity identity;
	int fd = user_socket_receive(connection, &identity);

	if (fd == -EAGAIN)
		return false;
	if (fd >= 0 && !budget_take(users->budget, identity.uid, BUDGET_OFFERS, 1))
		turn_down(users, fd, &identity);
	else if (fd >= 0)
		come(users, fd, &identity, true, true);
	else if (fd != -ENODATA)
		miss_offer(users, fd);
	close(connection);
	return true;
}

static void free_place(struct users *users, struct connection *place)
{
	budget_release(users->budget, place->uid, BUDGET_CONNECTIONS, 1);
	place->fd = -1;
}

/*
 * An epoll event may be older than the last actions of the daemon, and its descriptor number may be
 * reused. So look the number up.
 */
static void on_connection(struct users *users, int connection)
{
	for (size_t i = 0; i < USERS_CONNECTIONS; i++)
		if (users->connections[i].fd == connection) {
			if (hear(users, connection))
				free_place(users, &users->connections[i]);
			return;
		}
}

/*
 * Find a slot for a new connection: a free one; else one with an offer that arrived meanwhile; else
 * evict the next in turn.
 * SECURITY: so silent clients cannot lock others out. An evicted program offers itself again.
 */
static struct connection *find_place(struct users *users)
{
	struct connection *place;

	for (size_t i = 0; i < USERS_CONNECTIONS; i++) {
		place = &users->connections[users->next_connection++ % USERS_CONNECTIONS];
		if (place->fd < 0)
			return place;
	}
	for (size_t i = 0; i < USERS_ASKED; i++) {
		place = &users->connections[users->next_connection++ % USERS_CONNECTIONS];
		if (hear(users, place->fd)) {
			free_place(users, place);
			return place;
		}
	}
	place = &users->connections[users->next_connection++ % USERS_CONNECTIONS];
	close(place->fd);
	free_place(users, place);
	return place;
}

static void keep_connection(struct users *users, int connection, uid_t uid)
{
	struct connection *place;
	int err;

	if (!budget_charge(users->budget, uid, BUDGET_CONNECTIONS, 1)) {
		close(connection); /* the program will offer its memory again */
		return;
	}
	place = find_place(users);
	err = watch(users, connection, WATCH_CONNECTION);
	if (err) {
		budget_release(users->budget, uid, BUDGET_CONNECTIONS, 1);
		miss_offer(users, err);
		close(connection);
		return;
	}
	*place = (struct connection){ connection, uid };
}

/*
 * Accepting is paused, because no descriptor or memory is left, or users connect too fast. The
 * waiting connections would otherwise wake the daemon again at once.
 */
static void pause_hearing(struct users *users, uint64_t ns)
{
	epoll_ctl(users->epoll_fd, EPOLL_CTL_DEL, user_socket_fd(users->socket), NULL);
	users->is_deaf = true;
	set_timer(users, ns);
}

static void hear_again(struct users *users)
{
	if (users->is_deaf && users->socket)
		users->is_deaf = watch(users, user_socket_fd(users->socket), WATCH_SOCKET) != 0;
}

static void on_socket(struct users *users)
{
	int connection = 0, turned_away = 0;

	for (int i = 0; i < USERS_ACCEPTED && turned_away < USERS_TURNED_AWAY && (connection = user_socket_accept(users->socket)) >= 0; i++) {
		uid_t uid = user_socket_peer(connection);

		users->in_a_row++;
		if (!budget_take(users->budget, uid, BUDGET_ACCEPTS, 1)) {
			close(connection); /* SECURITY: do nothing else for it; an honest program offers again */
			if (++turned_away % USERS_MEANWHILE == 0)
				meanwhile(users);
			i--;
		} else if (!hear(users, connection)) { /* usually the offer has arrived already */
			keep_connection(users, connection, uid);
		}
	}
	users->nr_turned_away += (size_t)turned_away;
	users->crowded |= users->in_a_row > users->backlog;
	if (connection == -EAGAIN)
		users->in_a_row = 0;
	if (turned_away > 0)
		pause_hearing(users, USERS_PERIOD_BEGIN_NS);
	if (connection >= 0 || connection == -EAGAIN || connection == -ECONNABORTED || connection == -EINTR)
		return;
	pause_hearing(users, USERS_PERIOD_MAX_NS);
	if (users->told_accept)
		return;
	message_warning("cannot accept connections of programs: %s; the daemon tries again", strerror(-connection));
	users->told_accept = true;
	users->missed++;
}

/* ---- programs end ---- */

static void on_death(struct users *users, int pid_fd)
{
	struct pollfd dead = { .fd = pid_fd, .events = POLLIN };

	if (poll(&dead, 1, 0) != 1 || !(dead.revents & POLLIN))
		return; /* the event is old: the descriptor now belongs to a living process */
	epoll_ctl(users->epoll_fd, EPOLL_CTL_DEL, pid_fd, NULL);
	for (struct user_link *link = NULL; (link = user_index_next(&users->by_pid_fd, (uint64_t)pid_fd, link));)
		((struct user *)link->item)->dead = true;
}

static void need(void *context, int fd, struct user_identity *identity)
{
	struct user *user = user_of_memory(context, fd);

	if (user)
		user->needed = true;
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

static void forget(struct users *users, struct user *user)
{
	struct user_kept_books books = { 0 };

	if (users->recording.flight)
		user_program_get_books(user->program, &books);
	else
		users->missed = trace_add_saturated(users->missed, user_program_late(user->program));
	users->unregistered = trace_add_saturated(users->unregistered, user_program_unregistered(user->program));
	users->gone.programs += books.overwritten || books.lost;
	users->gone.overwritten = trace_add_saturated(users->gone.overwritten, books.overwritten);
	users->gone.lost = trace_add_saturated(users->gone.lost, books.lost);
	if ((books.overwritten || books.lost) && user->died_ns > users->gone.ns)
		users->gone.ns = user->died_ns;
	users->dead_bytes -= user_program_saved(user->program);
	if (!user->is_over)
		budget_release(users->budget, user->payer, BUDGET_DEAD, 1);
	budget_release(users->budget, user->payer, BUDGET_ADDRESS, user->bytes);
	remove_from_indexes(users, user);
	user_program_free(user->program);
	free(user);
	users->nr_buried--;
}

/* The program that died first of those with saved data. The list begins with the newest program. */
static struct user *first_dead(const struct users *users)
{
	struct user *first = NULL;

	for (struct user *user = users->list; user; user = user->next)
		if (user_program_is_buried(user->program) && user_program_saved(user->program) && (!first || user->died_ns <= first->died_ns))
			first = user;
	return first;
}

/*
 * A flight recorder keeps the latest data of dead programs, within limits; what it drops counts as
 * overwritten.
 */
static void keep_bounds(struct users *users)
{
	struct user *first;
	size_t bytes, nr = 0;

	for (const struct user *user = users->list; user; user = user->next)
		nr += user_program_saved(user->program) > 0;
	while ((users->dead_bytes > users->dead_bytes_max || nr > users->dead_max) && (first = first_dead(users))) {
		bool all = users->dead_bytes <= users->dead_bytes_max;

		do {
			bytes = user_program_drop(first->program);
			users->dead_bytes -= bytes;
		} while (bytes && (all || users->dead_bytes > users->dead_bytes_max));
		nr -= !user_program_saved(first->program);
	}
}

/*
 * Drop the dead programs that no living process maps any more. If the scan of /proc
 * fails, drop none.
 */
static void forget_unneeded(struct users *users)
{
	struct user **place = &users->list;
	int err;

	if (users->nr_buried < users->max_buried || !budget_take(users->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	for (struct user *user = users->list; user; user = user->next)
		user->needed = !user_program_is_buried(user->program) || user_program_saved(user->program);
	err = user_find_programs(need, users);
	while (*place) {
		struct user *user = *place;

		if (user->needed || err) {
			place = &user->next;
			continue;
		}
		*place = user->next;
		forget(users, user);
	}
	users->max_buried = 2 * users->nr_buried > USERS_BURIED_MIN ? 2 * users->nr_buried : USERS_BURIED_MIN;
}

/*
 * A user has too many dead programs: drop the one that connected first, although a child that has
 * not recorded anything yet may use its switches.
 */
static void forget_oldest_of(struct users *users, uid_t payer)
{
	struct user **oldest = NULL, *user;

	for (struct user **place = &users->list; *place; place = &(*place)->next)
		if ((*place)->payer == payer && user_program_is_buried((*place)->program))
			oldest = place;
	if (!oldest)
		return;
	user = *oldest;
	*oldest = user->next;
	users->forgotten++;
	forget(users, user);
}

static void bury(struct users *users, struct user *user)
{
	uint64_t bytes = user->bytes;

	user_index_remove(&users->by_pid_fd, &user->by_pid_fd);
	user_program_bury(user->program);
	user->died_ns = clock_now();
	user->bytes = user_program_mapping(user->program)->bytes;
	users->dead_bytes += user_program_saved(user->program);
	users->nr_buried++;
	users->status.programs--;
	budget_release(users->budget, user->payer, BUDGET_PROGRAMS, 1);
	budget_release(users->budget, user->payer, BUDGET_ADDRESS, bytes - user->bytes);
}

static void bury_dead(struct users *users)
{
	for (struct user *user = users->list; user; user = user->next) {
		if (!user->dead || user_program_is_buried(user->program) || !user_program_finish(user->program))
			continue;
		if (!budget_charge(users->budget, user->payer, BUDGET_DEAD, 1)) {
			forget_oldest_of(users, user->payer);
			user->is_over = !budget_charge(users->budget, user->payer, BUDGET_DEAD, 1);
		}
		bury(users, user);
		meanwhile(users);
	}
	keep_bounds(users);
	forget_unneeded(users);
}

/* ---- how often the daemon looks ---- */

/* For a flight recorder: look again until no new events have appeared for a while. */
static void choose_next_look(struct users *users)
{
	struct clock_sample now;

	if (users->period_ns < USERS_LOOKS_END_NS)
		set_timer(users, users->period_ns);
	if (clock_now() - users->clock_ns < USERS_CLOCK_NS)
		return;
	now = clock_take_sample(); /* the daemon is awake anyway */
	users->clock_ns = now.monotonic_ns;
	user_clock_add(&users->recording.clock, &now);
}

static void choose_period(struct users *users)
{
	uint64_t most = 0, all = 0;

	if (users->recording.flight) {
		choose_next_look(users);
		return;
	}
	for (struct user *user = users->list; user; user = user->next) {
		uint64_t taken = user_program_is_buried(user->program) ? user->taken_before : user_program_taken(user->program);
		uint64_t share = (taken - user->taken_before) * 4 / user_program_mapping(user->program)->nr_subbufs;

		all += taken - user->taken_before;
		most = share > most ? share : most;
		user->taken_before = taken;
	}
	if (most && users->period_ns > USERS_PERIOD_MIN_NS)
		users->period_ns /= 2;
	else if (!all && users->period_ns < USERS_PERIOD_MAX_NS)
		users->period_ns *= 2;
	if (users->status.programs)
		set_timer(users, users->is_deaf && users->period_ns > USERS_PERIOD_BEGIN_NS ? USERS_PERIOD_BEGIN_NS : users->period_ns);
	else
		set_timer(users, users->is_deaf || users->rescan_due ? USERS_PERIOD_MAX_NS : 0);
}

/* ---- the recording ---- */

struct users *users_new(const struct users_options *options, struct trace_error *ret_error)
{
	struct users *users = calloc(1, sizeof(*users));

	if (!users) {
		error_set(ret_error, -ENOMEM, "no memory for programs' events");
		return NULL;
	}
	for (size_t i = 0; i < USERS_CONNECTIONS; i++)
		users->connections[i].fd = -1;
	users->budget = budget_new(options->limits);
	users->recording.budget = users->budget;
	users->selection = *options->selection;
	users->filter = options->filter;
	users->tracer = options->tracer;
	users->max_buried = USERS_BURIED_MIN;
	users->other_fd = -1;
	users->period_ns = USERS_PERIOD_BEGIN_NS;
	users->recording.blocking = options->blocking;
	users->recording.flight = options->flight;
	users->dead_bytes_max = options->dead_bytes ? options->dead_bytes : USERS_DEAD_BYTES;
	users->dead_max = options->dead_max ? options->dead_max : USERS_DEAD_MAX;
	users->recording.selection = &users->selection;
	users->recording.next_stream = USER_FIRST_STREAM;
	users->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	users->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!users->budget)
		errno = ENOMEM;
	if (!users->budget || users->epoll_fd < 0 || users->timer_fd < 0 || watch(users, users->timer_fd, WATCH_TIMER)) {
		error_set(ret_error, -errno, "cannot wait for programs: %s", strerror(errno));
		return users_free(users);
	}
	users->barred.wanted = select_wants_any_user(&users->selection);
	listen_for_programs(users);
	return users;
}

void users_begin(struct users *users, struct drain *drain, struct trace_writer *writer, const struct clock_sample *start)
{
	users->recording.drain = drain;
	users->recording.writer = writer;
	users->recording.start_ns = start->monotonic_ns;
	user_clock_add(&users->recording.clock, start);
	users->begun = true;
	look_for_programs(users, on_found);
	if (users->socket)
		watch(users, user_socket_fd(users->socket), WATCH_SOCKET);
}

struct users *users_free(struct users *users)
{
	if (!users)
		return NULL;
	user_socket_close(users->socket);
	for (size_t i = 0; i < USERS_CONNECTIONS; i++)
		if (users->connections[i].fd >= 0)
			close(users->connections[i].fd);
	while (users->list) {
		struct user *user = users->list;

		users->list = user->next;
		user_program_free(user->program);
		free(user);
	}
	if (users->timer_fd >= 0)
		close(users->timer_fd);
	if (users->other_fd >= 0)
		close(users->other_fd);
	if (users->epoll_fd >= 0)
		close(users->epoll_fd);
	budget_free(users->budget);
	free(users);
	return NULL;
}

int users_fd(const struct users *users)
{
	return users->epoll_fd;
}

static void on_timer(struct users *users)
{
	uint64_t expirations;
	bool found = false;

	if (read(users->timer_fd, &expirations, sizeof(expirations)) < 0)
		return; /* the timer was set again meanwhile */
	hear_again(users);
	scan_again(users);
	for (struct user *user = users->list; user; user = user->next)
		found |= user_program_look(user->program);
	if (users->recording.flight)
		users->period_ns = found ? USERS_PERIOD_BEGIN_NS : 2 * users->period_ns;
}

/* Returns the number of descriptors that were ready. */
static int dispatch(struct users *users)
{
	struct epoll_event events[USERS_EVENTS];
	int nr = epoll_wait(users->epoll_fd, events, USERS_EVENTS, 0);

	for (int i = 0; i < nr; i++) {
		int fd = (int)(events[i].data.u64 >> 32);

		switch ((uint32_t)events[i].data.u64) {
		case WATCH_SOCKET:
			on_socket(users);
			break;
		case WATCH_TIMER:
			on_timer(users);
			break;
		case WATCH_CONNECTION:
			on_connection(users, fd);
			break;
		case WATCH_DAEMON:
			on_other_gone(users);
			break;
		default:
			on_death(users, fd);
		}
	}
	return nr;
}

void users_dispatch(struct users *users)
{
	dispatch(users);
}

void users_look(struct users *users)
{
	bury_dead(users);
	choose_period(users);
}

static void switch_all(struct users *users)
{
	for (struct user *user = users->list; user; user = user->next)
		user_program_switch(user->program, users->off);
}

void users_select(struct users *users, const struct selection *selection)
{
	users->selection = *selection;
	users->barred.wanted |= select_wants_any_user(selection);
	switch_all(users);
}

void users_halt(struct users *users, bool halted)
{
	users->recording.halted = halted;
	switch_all(users);
}

const struct selection *users_selection(const struct users *users)
{
	return &users->selection;
}

/* Take every program that offered its memory before now, and those found in /proc. */
static void take_all(struct users *users)
{
	hear_again(users);
	for (int round = 0; round < USERS_LAST_ROUNDS && dispatch(users) > 0; round++)
		meanwhile(users);
	look_for_programs(users, on_found_unheard);
	for (struct user *user = users->list; user; user = user->next)
		user_program_look(user->program);
}

void users_end_at(struct users *users, uint64_t end_ns)
{
	users->recording.end_ns = end_ns;
}

void users_switch_off(struct users *users)
{
	take_all(users);
	users->off = true;
	switch_all(users);
}

void users_salvage(struct users *users)
{
	for (struct user *user = users->salvages ? NULL : users->list; user; user = user->next) {
		const struct user_identity *identity = user_program_identity(user->program);

		if (user->dead || user_program_is_buried(user->program))
			continue;
		bury_earlier(users, identity->pid, user->payer);
		meanwhile(users);
	}
	users->salvages = !users->recording.flight; /* a flight recorder checks at each snapshot */
	bury_dead(users);
}

void users_tell_lack(const struct users *users, void (*tell)(void *context, const char *text), void *context)
{
	uint64_t unregistered = users->unregistered;
	const char *pattern;
	char text[SELECT_NAME_MAX + sizeof(users->recording.why.message) + 128];

	user_barred_tell(&users->barred, users->recording.start_ns, users->status.ever, tell, context);
	for (size_t at = 0; (pattern = select_unmatched(&users->selection, &at));) {
		snprintf(text, sizeof(text), "%s: no program had such an event", pattern);
		tell(context, text);
	}
	for (const struct user *user = users->list; user; user = user->next)
		unregistered = trace_add_saturated(unregistered, user_program_unregistered(user->program));
	if (unregistered) {
		snprintf(text, sizeof(text), "%s tracepoints of programs: a program can have at most %u event types", text_count(unregistered).s,
			 USER_MAX_EVENTS - 1);
		tell(context, text);
	}
	if (users->recording.undescribed) {
		snprintf(text, sizeof(text), "%s tracepoints of programs, whose events count as lost: %s", text_count(users->recording.undescribed).s, users->recording.why.message);
		tell(context, text);
	}
	if (users->forgotten) {
		snprintf(text, sizeof(text), "children of %s ended programs: their users exceeded the number of ended programs that the daemon keeps; some children may be missing",
			 text_count(users->forgotten).s);
		tell(context, text);
	}
	if (users->nr_turned_away) {
		snprintf(text, sizeof(text), "programs of %s connections that a user opened faster than the limit: some programs may not have tried again",
			 text_count(users->nr_turned_away).s);
		tell(context, text);
	}
	if (users->unseen) {
		snprintf(text, sizeof(text), "programs that already ran: the search for them failed (%s), so some may be missing", user_find_error_text(users->unseen));
		tell(context, text);
	}
	if (users->crowded)
		tell(context, "programs that were killed before the daemon found them, because too many began at once: some may be missing");
	doubts_tell(&users->recording.doubts, tell, context);
}

uint64_t users_nr_doubted(const struct users *users)
{
	return users->recording.doubts.nr;
}

uint64_t users_settle(struct users *users)
{
	uint64_t missed;

	for (struct user *user = users->list; user; user = user->next) {
		user_program_settle(user->program);
		users->missed = trace_add_saturated(users->missed, user_program_late(user->program));
	}
	if (users->missed)
		message_warning("at least %s events of programs are lost: the daemon could not take their offers or the records of their children",
				text_count(users->missed).s);
	missed = users->missed;
	users->missed = 0;
	return missed;
}

/* ---- flight recorder ---- */

uint64_t users_oldest_ns(struct users *users)
{
	uint64_t oldest = UINT64_MAX, ns;

	take_all(users);
	users_salvage(users);
	for (struct user *user = users->list; user; user = user->next) {
		ns = user_program_oldest_ns(user->program);
		oldest = ns < oldest ? ns : oldest;
	}
	return oldest;
}

int users_snapshot(struct users *users, struct user_snapshot *snapshot)
{
	int err = 0;

	users->recording.next_stream = USER_FIRST_STREAM;
	users->recording.undescribed = 0; /* each snapshot describes all event types */
	users->recording.last_type = 0;
	budget_forget(users->budget, BUDGET_TYPES);
	for (struct user *user = users->list; user && !err; user = user->next)
		err = user_program_snapshot(user->program, snapshot);
	snapshot->missed = trace_add_saturated(snapshot->missed, users->missed);
	return err;
}

void users_reset(struct users *users, const struct clock_sample *now)
{
	users->recording.start_ns = now->monotonic_ns;
	users->recording.doubts = (struct doubts){ 0 };
	user_clock_add(&users->recording.clock, now);
	users->recording.patience = RING_PATIENCE;
	for (struct user *user = users->list; user; user = user->next)
		user_program_reset(user->program);
	users->missed = 0;
	users->barred.others_had = false;
	users->dead_bytes = 0;
	users->gone = (struct users_gone){ 0 };
}

void users_get_gone(const struct users *users, struct users_gone *ret_gone)
{
	*ret_gone = users->gone;
}

void users_get_status(const struct users *users, struct users_status *ret_status)
{
	*ret_status = users->status;
	ret_status->barred = user_barred_now(&users->barred);
}

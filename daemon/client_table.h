/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_TABLE_H
#define DAEMON_CLIENT_TABLE_H
/* client_table.h - the table of traced programs: by memory, by pid, by pidfd */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user_index.h"
#include "user_program.h"

/*
 * Memories of one living process. An honest process has one, and a second after it executes another
 * program.
 */
#define CLIENTS_PER_PROCESS 4

/**
 * struct client - a traced program
 * @by_memory, @by_pid, @by_pid_fd: its links in the indexes
 * @payer: the user that is charged for it, with @bytes of address space
 * @taken_before: sub-buffers taken from it at the last clients_look()
 * @died_ns: when the daemon noticed its end
 * @dead: its process died, or executed another program
 */
struct client {
	struct client *next;	      /* owned */
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
	bool needed;	   /* used while dead programs are checked */
};

/**
 * struct client_table - all traced programs, dead ones included. Only the main thread uses it
 * @list: newest first
 * @by_memory: the programs by device and inode; @by_pid, @by_pid_fd: by pid and pidfd
 */
struct client_table {
	struct client *list; /* owned */
	struct user_index by_memory;
	struct user_index by_pid;
	struct user_index by_pid_fd;
};

/**
 * struct client_living - the memories of a process that is not known to have died or executed
 * another program. @nr: limited to the array's size
 */
struct client_living {
	struct client *clients[CLIENTS_PER_PROCESS];
	ino_t inos[CLIENTS_PER_PROCESS];
	size_t nr;
};

/** client_table_find() - the program with the memory of @fd; NULL: it is not in the table */
struct client *client_table_find(const struct client_table *table, int fd);
/** client_table_index() - after the program or its identity changed: find it by its numbers */
void client_table_index(struct client_table *table, struct client *client);
void client_table_unindex(struct client_table *table, struct client *client);
struct client_living client_table_living(const struct client_table *table, pid_t pid);
#endif

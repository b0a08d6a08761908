/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_table.h"

#include <sys/stat.h>

static uint64_t memory_key(dev_t dev, ino_t ino)
{
	return (uint64_t)dev << 40 ^ ino;
}

struct client *client_table_find(const struct client_table *table, int fd)
{
	struct user_link *link = NULL;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return NULL;
	while ((link = user_index_next(&table->by_memory, memory_key(status.st_dev, status.st_ino), link))) {
		struct client *client = link->item;
		const struct user_mapping *mapping = user_program_mapping(client->program);

		if (mapping->ino == status.st_ino && mapping->dev == status.st_dev)
			return client;
	}
	return NULL;
}

void client_table_index(struct client_table *table, struct client *client)
{
	const struct user_identity *identity = user_program_identity(client->program);
	const struct user_mapping *mapping = user_program_mapping(client->program);

	user_index_add(&table->by_memory, &client->by_memory, memory_key(mapping->dev, mapping->ino), client);
	user_index_add(&table->by_pid, &client->by_pid, (uint64_t)identity->pid, client);
	if (identity->pid_fd >= 0)
		user_index_add(&table->by_pid_fd, &client->by_pid_fd, (uint64_t)identity->pid_fd, client);
}

void client_table_unindex(struct client_table *table, struct client *client)
{
	user_index_remove(&table->by_memory, &client->by_memory);
	user_index_remove(&table->by_pid, &client->by_pid);
	user_index_remove(&table->by_pid_fd, &client->by_pid_fd);
}

struct client_living client_table_living(const struct client_table *table, pid_t pid)
{
	struct client_living live = {.nr = 0};
	struct user_link *link = NULL;

	while (live.nr < CLIENTS_PER_PROCESS && (link = user_index_next(&table->by_pid, (uint64_t)pid, link))) {
		struct client *client = link->item;

		if (client->dead)
			continue;
		live.inos[live.nr] = user_program_mapping(client->program)->ino;
		live.clients[live.nr++] = client;
	}
	return live;
}

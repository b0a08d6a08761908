/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "file_envelope.h"
#include "jail.h"
#include "jail_child.h"

#define CPU_SECONDS  20
#define MAX_FILES    100	  /* of one child: its CPU time has a limit */
#define MAX_SECONDS  10		  /* including waits for the disk; a file system may never answer */
#define MEMORY_BYTES (1ull << 30) /* more than the caller has */

enum reader_request { REQUEST_TABLE = 1, REQUEST_NEEDED };

/** struct unwind_shared - written by the child; @result: 0 or a negative errno */
struct unwind_shared {
	struct unwind_table table;
	struct unwind_needed needed;
	int result;
	uint64_t words[UNWIND_MAX_WORDS];
};

/* ---- the child ---- */

/* The limit counts also what the child has of the caller's memory. */
static uint64_t memory_limit(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file) {
		if (fscanf(file, "%llu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return pages ? pages * (uint64_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES : 0;
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .memory_bytes = memory_limit(), .dies_with_thread = true};
	struct unwind_shared *shared = context;
	int result = jail_enter(&jail), fd = -1;
	char request, done = 1;

	while (jail_receive(JAIL_SOCKET, &request, sizeof(request), &fd) == sizeof(request) && fd >= 0) {
		fd = file_envelope_open(fd);
		shared->table = (struct unwind_table){.words = shared->words, .room = UNWIND_MAX_WORDS};
		shared->result = result;
		if (!result && request == REQUEST_NEEDED)
			unwind_needed_read(fd, &shared->needed);
		else if (!result)
			shared->result = unwind_table_compile(fd, &shared->table);
		close(fd);
		if (!jail_send(JAIL_SOCKET, &done, sizeof(done), -1, 0))
			_exit(1);
	}
	_exit(0);
}

/* ---- the caller ---- */

static int await_answer(const struct unwind_reader *reader)
{
	char done = 0;
	ssize_t got = jail_answer(&reader->child, &done, sizeof(done), NULL, MAX_SECONDS * 1000000000ull,
				  reader->has_stop ? reader->stop_fd : -1);

	return got == sizeof(done) && done == 1 ? 0 : -EBADMSG;
}

static int take_table(const struct unwind_shared *shared, struct unwind_table *ret_table)
{
	struct unwind_table table = shared->table;
	int result = shared->result;

	if (result)
		return result < 0 && result > -4096 ? result : -EBADMSG;
	if (table.nr_words > UNWIND_MAX_WORDS || table.nr_words % UNWIND_BLOCK_WORDS || table.nr_pages > table.nr_words)
		return -EBADMSG;
	table.words = (uint64_t *)shared->words;
	table.room = UNWIND_MAX_WORDS;
	*ret_table = table;
	return 0;
}

static int ask_child(struct unwind_reader *reader, int fd, enum reader_request request)
{
	const struct jail_role role = {.run = run_child, .context = reader->shared, .cpu_seconds = CPU_SECONDS};
	char wanted = (char)request;
	int result;

	/* also gives the memory of the last table back */
	if (madvise(reader->shared, sizeof(struct unwind_shared), MADV_REMOVE) < 0)
		return -errno;
	if (reader->nr_files == MAX_FILES)
		jail_child_stop(&reader->child);
	if (!reader->child.runs)
		reader->nr_files = 0;
	result = jail_child_keep(&role, &reader->child);
	if (result)
		return result;
	reader->nr_files++;
	if (jail_send(reader->child.socket, &wanted, sizeof(wanted), fd, MSG_DONTWAIT) && !await_answer(reader))
		return 0;
	jail_child_stop(&reader->child);
	return -EBADMSG;
}

int unwind_reader_compile(struct unwind_reader *reader, int fd, struct unwind_table *ret_table)
{
	int result = ask_child(reader, fd, REQUEST_TABLE);

	return result ? result : take_table(reader->shared, ret_table);
}

/* The child may write at any time: all checks are of the copy. */
int unwind_reader_needed(struct unwind_reader *reader, int fd, struct unwind_needed *ret_needed)
{
	struct unwind_needed needed;
	int result = ask_child(reader, fd, REQUEST_NEEDED);

	if (result)
		return result;
	if (reader->shared->result)
		return -EBADMSG;
	memcpy(&needed, &reader->shared->needed, sizeof(needed));
	if (needed.nr > UNWIND_MAX_NEEDED || needed.interpreter[sizeof(needed.interpreter) - 1] ||
	    needed.folders[sizeof(needed.folders) - 1])
		return -EBADMSG;
	for (uint32_t i = 0; i < needed.nr; i++)
		if (needed.names[i][UNWIND_NAME_BYTES - 1])
			return -EBADMSG;
	*ret_needed = needed;
	return 0;
}

int unwind_reader_open(struct unwind_reader *reader)
{
	void *memory = mmap(NULL, sizeof(struct unwind_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	reader->shared = memory;
	return 0;
}

void unwind_reader_close(struct unwind_reader *reader)
{
	jail_child_stop(&reader->child);
	if (reader->shared)
		munmap(reader->shared, sizeof(struct unwind_shared));
	*reader = (struct unwind_reader){0};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock_ns.h"
#include "jail.h"
#include "jail_child.h"

#define CPU_SECONDS  10
#define MAX_SECONDS  60
#define MEMORY_BYTES (1ull << 30) /* more than the caller has */

/** struct unwind_shared - written by the child; @result: 0 or a negative errno */
struct unwind_shared {
	struct unwind_table table;
	int result;
	uint64_t words[UNWIND_MAX_WORDS];
};

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
	if (reader->shared)
		munmap(reader->shared, sizeof(struct unwind_shared));
	*reader = (struct unwind_reader){0};
}

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
	char done = 1;
	struct iovec part = {&done, sizeof(done)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	shared->table = (struct unwind_table){.words = shared->words, .room = UNWIND_MAX_WORDS};
	shared->result = jail_enter(&jail);
	if (!shared->result)
		shared->result = unwind_table_compile(JAIL_FILES, &shared->table);
	_exit(sendmsg(JAIL_SOCKET, &message, MSG_NOSIGNAL) != sizeof(done));
}

/* ---- the caller ---- */

static bool is_answered(int socket)
{
	uint64_t deadline_ns = clock_monotonic_ns() + MAX_SECONDS * 1000000000ull;
	struct pollfd wait = {.fd = socket, .events = POLLIN};
	char done = 0;
	int ready;

	do
		ready = poll(&wait, 1, jail_left_ms(deadline_ns));
	while (ready < 0 && errno == EINTR);
	return ready == 1 && recv(socket, &done, sizeof(done), MSG_DONTWAIT) == sizeof(done) && done == 1;
}

static int take_table(const struct unwind_shared *shared, struct unwind_table *ret_table)
{
	struct unwind_table table = shared->table;
	int result = shared->result;

	if (result)
		return result < 0 && result > -4096 ? result : -EBADMSG;
	if (table.nr_words > UNWIND_MAX_WORDS || table.nr_words % UNWIND_BLOCK_WORDS ||
	    table.nr_pages > table.nr_words)
		return -EBADMSG;
	table.words = (uint64_t *)shared->words;
	table.room = UNWIND_MAX_WORDS;
	*ret_table = table;
	return 0;
}

int unwind_reader_compile(struct unwind_reader *reader, int fd, struct unwind_table *ret_table)
{
	struct jail_role role = {.run = run_child,
				 .context = reader->shared,
				 .files = &fd,
				 .nr_files = 1,
				 .cpu_seconds = CPU_SECONDS};
	struct jail_child child;
	char reason[128];
	bool answered;
	int result;

	/* also gives the memory of the last table back */
	if (madvise(reader->shared, sizeof(struct unwind_shared), MADV_REMOVE) < 0)
		return -errno;
	result = jail_child_start(&role, &child);
	if (result)
		return result;
	answered = is_answered(child.socket);
	jail_child_end(&child, false, reason, sizeof(reason)); /* it has nothing else to do */
	return answered ? take_table(reader->shared, ret_table) : -EBADMSG;
}

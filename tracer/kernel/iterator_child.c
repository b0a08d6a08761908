/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* iterator_child.c - the child gets the descriptor of an iterator, and sends what it reads. */
#include "iterator_child.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "read_end.h"
#include "state_child.h"

#define PART_BYTES  32768u
#define CPU_SECONDS 60

/** struct iterator_part - @result: 0, or a negative errno; then, and with 0 bytes, the last one */
struct iterator_part {
	int64_t result;
	unsigned char bytes[PART_BYTES];
};

/** struct iterator_reader - @part: of the child's last answer */
struct iterator_reader {
	struct tracer_collector *c;
	int (*take)(void *context, const unsigned char *part, size_t bytes);
	void *context;
	struct iterator_part part;
	struct jail_child child;
};

/* ---- the child ---- */

static bool send_all(int fd, int refusal)
{
	static struct iterator_part part;
	ssize_t got;

	do {
		do
			got = refusal ? refusal : read(fd, part.bytes, sizeof(part.bytes));
		while (!refusal && got < 0 && (errno == EINTR || errno == EAGAIN));
		part.result = refusal ? refusal : got < 0 ? -errno : 0;
		if (!jail_send(JAIL_SOCKET, &part, offsetof(struct iterator_part, bytes) + (got > 0 ? (size_t)got : 0),
			       -1, 0))
			return false;
	} while (got > 0);
	return true;
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true};
	int refusal = jail_enter(&jail), fd = -1;
	char request;

	(void)context;
	while (jail_receive(JAIL_SOCKET, &request, sizeof(request), &fd) == sizeof(request) && fd >= 0) {
		if (!send_all(fd, refusal))
			break;
		close(fd);
	}
	_exit(0);
}

/* ---- the caller ---- */

static ssize_t receive(struct iterator_reader *reader)
{
	struct iterator_part *part = &reader->part;

	return reader->c ? state_child_await(reader->c, &reader->child, part, sizeof(*part))
			 : jail_answer(&reader->child, part, sizeof(*part), NULL, STATE_ANSWER_NS, -1);
}

static int give(struct iterator_reader *reader, const unsigned char *part, size_t bytes)
{
	return reader->take ? reader->take(reader->context, part, bytes) : 0;
}

static int take_parts(struct iterator_reader *reader)
{
	const size_t least = offsetof(struct iterator_part, bytes);
	int result = 0;

	for (;;) {
		ssize_t got = receive(reader);

		if (got < (ssize_t)least)
			return got == -ETIMEDOUT || got == -ECANCELED ? (int)got : -EPIPE;
		if (reader->part.result || got == (ssize_t)least)
			return (int)reader->part.result;
		result = give(reader, reader->part.bytes, (size_t)got - least);
		if (result)
			return result;
	}
}

/* Closes @fd. */
static int read_iterator(struct iterator_reader *reader, int fd)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};
	const char request = 1;
	int result = jail_child_keep(&role, &reader->child);

	if (!result)
		result = jail_send(reader->child.socket, &request, sizeof(request), fd, MSG_DONTWAIT)
				 ? take_parts(reader)
				 : -EPIPE;
	if (result)
		jail_child_stop(&reader->child);
	close(fd);
	return result;
}

/* @tgid: 0: of all processes. Returns the descriptor of an iterator. */
static int open_iterator(struct bpf_program *program, uint32_t tgid)
{
	union bpf_iter_link_info one = {.task = {.pid = tgid}};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = tgid ? &one : NULL,
		    .link_info_len = tgid ? sizeof(one) : 0);
	struct bpf_link *link = bpf_program__attach_iter(program, &options);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, result = fd < 0 ? -errno : fd;

	bpf_link__destroy(link); /* the iterator keeps it */
	return result;
}

static int read_process(struct iterator_reader *reader, struct bpf_program *program, uint32_t tgid)
{
	int fd, result;

	if (!files_may_ask(tgid))
		return 0;
	fd = open_iterator(program, tgid);
	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	result = give(reader, NULL, 0);
	if (result)
		close(fd);
	else
		result = read_iterator(reader, fd);
	if (result == -ETIMEDOUT)
		files_note_unanswered(tgid);
	return result == -ETIMEDOUT ? 0 : result;
}

static int read_each(struct iterator_reader *reader, struct bpf_program *program)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int result = processes ? 0 : -errno, error = 0;

	while (!result && processes && (entry = folder_next(processes, &error)))
		if (isdigit((unsigned char)entry->d_name[0]))
			result = read_process(reader, program, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (processes)
		closedir(processes);
	return result ? result : error;
}

int iterator_child_read(struct bpf_program *program, struct tracer_collector *c,
			int (*take)(void *context, const unsigned char *part, size_t bytes), void *context)
{
	struct iterator_reader *reader = calloc(1, sizeof(*reader));
	int result = reader ? open_iterator(program, 0) : -ENOMEM;

	if (reader && result >= 0) {
		*reader = (struct iterator_reader){.c = c, .take = take, .context = context};
		result = read_iterator(reader, result);
		if (result == -ETIMEDOUT)
			result = read_each(reader, program);
		jail_child_stop(&reader->child);
	}
	free(reader);
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_reader.c - both sides of the conversation with the reader of an ELF file.
 *
 *     caller                                   reader
 *     forks                                    drops all rights (jail.c)
 *     sends a query: the byte of the file      reads the file at the first query
 *     checks the answer                        answers: address, function, source line
 *     closes the socket                        exits
 *
 * Out of memory: the reader has a limit of address space of its own. A file that makes the reader
 * reach that limit is refused, and only its names are missing. Any other failed allocation is
 * reported to the caller as -ENOMEM, as if the caller had made it. The highest use of memory tells
 * the two apart: the process has used a large part of its own limit, or it has not.
 */
#include "symbol_reader.h"
#include "symbol_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock_ns.h"
#include "demangle.h"
#include "error_set.h"
#include "jail.h"

#define ANSWER_SECONDS	 10 /* for a reader that waits for the disk */
#define BUSY_SECONDS	 60 /* for one that runs, or waits for a CPU */
#define BUSY_STEP_NS	 100000000ull
#define CPU_SECONDS	 20
#define MEMORY_BYTES	 (4ull << 30) /* beyond what the caller uses: the reader begins as its copy */
#define LARGE_PART_BYTES (MEMORY_BYTES / 4)
#define MAX_ANSWERS	 10000		  /* of one process, so that many queries do not use up its CPU time */
#define MAX_ANSWER_BYTES (256ull << 20)	  /* of one file */
#define STATUS_FILE	 (JAIL_FILES + 1) /* /proc/self/status, opened before open() is refused */

/** struct symbol_query - @want_id: the build id of the file instead of what is at @offset */
struct symbol_query {
	uint64_t offset;
	uint32_t wanted; /* enum symbol_wanted */
	uint32_t want_id;
};

enum symbol_answer_kind {
	ANSWER_FOUND = 1,
	ANSWER_NO_MEMORY,
	ANSWER_TOO_LARGE,
	ANSWER_NO_JAIL,
	ANSWER_NO_DEMANGLER, /* the caller loads it and starts another reader */
	ANSWER_KINDS,
};

/**
 * struct symbol_answer_head - followed by the texts
 * @err: errno of ANSWER_NO_JAIL; of ANSWER_FOUND 1, if the debug information is damaged
 */
struct symbol_answer_head {
	uint32_t kind;
	uint32_t err;
	uint32_t function_bytes;
	uint32_t source_bytes;
	uint64_t address;
	uint64_t offset;
};

/* ---- the reader ---- */

/** struct symbol_reading - the state of the reader. @base_bytes: memory that it began with */
struct symbol_reading {
	struct symbol_file file;
	uint64_t base_bytes;
	bool is_open;
	int refusal; /* negative errno of jail_enter() or symbol_file_open() */
	bool is_jailed;
};

/* The highest use of address space until now; 0: unknown, because /proc is not mounted. */
static uint64_t peak_bytes(void)
{
	char text[4096];
	ssize_t bytes = pread(STATUS_FILE, text, sizeof(text) - 1, 0);
	const char *line;

	text[bytes > 0 ? bytes : 0] = '\0';
	line = strstr(text, "\nVmPeak:");
	return line ? strtoull(line + strlen("\nVmPeak:"), NULL, 10) << 10 : 0;
}

static enum symbol_answer_kind why_no_memory(const struct symbol_reading *reading)
{
	return reading->base_bytes && peak_bytes() - reading->base_bytes > LARGE_PART_BYTES ? ANSWER_TOO_LARGE
											    : ANSWER_NO_MEMORY;
}

static enum symbol_answer_kind look_up(struct symbol_reading *reading, const struct symbol_query *query,
				       struct symbol_found *ret_found)
{
	*ret_found = (struct symbol_found){.function = NULL};
	if (!reading->is_jailed)
		return ANSWER_NO_JAIL;
	if (!reading->is_open)
		reading->refusal = symbol_file_open(&reading->file, JAIL_FILES);
	reading->is_open = true;
	if (!reading->refusal && query->want_id)
		ret_found->function = symbol_file_id(&reading->file);
	else if (!reading->refusal)
		symbol_file_find(&reading->file, query->offset, (enum symbol_wanted)query->wanted, ret_found);
	if (reading->refusal)
		return ANSWER_TOO_LARGE;
	if (reading->file.no_memory)
		return why_no_memory(reading);
	return reading->file.needs_demangler ? ANSWER_NO_DEMANGLER : ANSWER_FOUND;
}

static bool send_answer(struct symbol_reading *reading, enum symbol_answer_kind kind, const struct symbol_found *found)
{
	const char *function = kind == ANSWER_FOUND && found->function ? found->function : "";
	const char *source = kind == ANSWER_FOUND ? found->source : "";
	struct symbol_answer_head head = {
		.kind = kind,
		.err = kind == ANSWER_FOUND ? reading->file.is_damaged : (uint32_t)-reading->refusal,
		.function_bytes = (uint32_t)strnlen(function, SYMBOL_NAME_BYTES),
		.source_bytes = (uint32_t)strlen(source),
		.address = found->address,
		.offset = found->offset,
	};
	struct iovec parts[] = {{&head, sizeof(head)},
				{(void *)function, head.function_bytes},
				{(void *)source, head.source_bytes}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};

	return sendmsg(JAIL_SOCKET, &message, MSG_NOSIGNAL) ==
	       (ssize_t)(sizeof(head) + head.function_bytes + head.source_bytes);
}

static struct symbol_reading the_reading; /* of this process, if it is a reader; for out_of_memory() */

static void __attribute__((noreturn)) out_of_memory(void)
{
	const struct symbol_found none = {.function = NULL};

	send_answer(&the_reading, why_no_memory(&the_reading), &none);
	_exit(0);
}

static void serve(struct symbol_reading *reading)
{
	for (;;) {
		struct symbol_query query;
		struct iovec part = {&query, sizeof(query)};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
		struct symbol_found found;
		enum symbol_answer_kind kind;

		if (recvmsg(JAIL_SOCKET, &message, 0) != sizeof(query))
			return;
		kind = look_up(reading, &query, &found);
		if (!send_answer(reading, kind, &found))
			return;
	}
}

/*
 * The caller may end while others of its children still have a copy of the socket. The reader waits
 * then, and uses no CPU time. It is not killed with the thread that forked it, because another
 * thread may ask the next query.
 */
static void __attribute__((noreturn)) run_reader(void *context)
{
	struct symbol_reading *reading = &the_reading;
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .filter_optional = true};
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC | O_NOCTTY);

	(void)context;
	if (fd >= 0 && fd != STATUS_FILE) {
		dup2(fd, STATUS_FILE);
		close(fd);
	}
	reading->file.on_no_memory = out_of_memory;
	reading->base_bytes = peak_bytes();
	jail.memory_bytes = reading->base_bytes ? reading->base_bytes + MEMORY_BYTES : 0;
	reading->refusal = jail_enter(&jail);
	reading->is_jailed = !reading->refusal;
	serve(reading);
	_exit(0);
}

/* ---- the caller ---- */

static int start(struct symbol_reader *reader, int fd, struct trace_error *ret_error)
{
	const struct jail_role role = {.run = run_reader, .files = &fd, .nr_files = 1, .cpu_seconds = CPU_SECONDS};
	int result;

	reader->can_demangle = demangle_is_prepared();
	result = jail_child_start(&role, &reader->child);

	if (result == -ENOMEM)
		return result;
	if (result)
		return error_set(ret_error, -EBADMSG, "no process can be started to read it: %s", strerror(-result));
	reader->nr_answers = 0;
	return 0;
}

void symbol_reader_stop(struct symbol_reader *reader)
{
	jail_child_stop(&reader->child);
}

static int stopped(struct symbol_reader *reader, bool has_left, struct trace_error *ret_error)
{
	char reason[128];

	snprintf(reason, sizeof(reason), "it took longer than %d s", ANSWER_SECONDS);
	jail_child_end(&reader->child, has_left, reason, sizeof(reason));
	return error_set(ret_error, -EBADMSG, "the process that reads it stopped: %s", reason);
}

/* Returns the bytes of the packet; 0: the reader has left; -1: timeout. */
static ssize_t receive(struct symbol_reader *reader, struct symbol_answer_head *ret_head,
		       struct symbol_answer *ret_answer)
{
	uint64_t begin_ns = clock_monotonic_ns(), deadline_ns = begin_ns + ANSWER_SECONDS * 1000000000ull,
		 last_ns = begin_ns + BUSY_SECONDS * 1000000000ull;
	struct pollfd wait = {.fd = reader->child.socket, .events = POLLIN};
	struct iovec parts[] = {{ret_head, sizeof(*ret_head)}, {ret_answer->texts, sizeof(ret_answer->texts)}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t bytes;
	int ready;

	do {
		ready = poll(&wait, 1, jail_left_ms(deadline_ns));
		if (!ready && jail_child_is_runnable(&reader->child))
			deadline_ns = clock_monotonic_ns() + BUSY_STEP_NS;
	} while ((ready < 0 && errno == EINTR) || (!ready && jail_left_ms(deadline_ns) && deadline_ns < last_ns));
	if (ready <= 0)
		return -1;
	/* the kernel drops descriptors that the reader sends */
	bytes = recvmsg(reader->child.socket, &message, MSG_TRUNC | MSG_DONTWAIT);
	return bytes > 0 ? bytes : 0;
}

/* SECURITY: a file that has taken over the reader can send any bytes. */
static bool is_possible(const struct symbol_answer_head *head, const char *texts, size_t bytes)
{
	if (bytes < sizeof(*head) || head->function_bytes > SYMBOL_NAME_BYTES ||
	    head->source_bytes >= SYMBOL_SOURCE_BYTES ||
	    bytes != sizeof(*head) + head->function_bytes + head->source_bytes)
		return false;
	if (head->kind != ANSWER_FOUND)
		return head->kind < ANSWER_KINDS && head->kind > 0 && !head->function_bytes && !head->source_bytes &&
		       head->err < 4096;
	return head->err <= 1 && head->offset <= head->address && (head->function_bytes || !head->offset) &&
	       !memchr(texts, '\0', head->function_bytes + head->source_bytes);
}

/*
 * The reader cannot load the C++ run-time library: it may open no files, and another thread may
 * have been in the program loader when it was forked. Most traces do not need it. The reader of
 * another file may have asked for it since this one was started.
 */
static int load_demangler(const struct symbol_reader *reader, struct trace_error *ret_error)
{
	if (reader->can_demangle)
		return error_set(ret_error, -EBADMSG, "the process that reads it gave an impossible answer");
	errno = 0;
	demangle_prepare();
	return errno == ENOMEM ? -ENOMEM : -EAGAIN;
}

static int refusal(const struct symbol_reader *reader, const struct symbol_answer_head *head,
		   struct trace_error *ret_error)
{
	if (head->kind == ANSWER_NO_MEMORY)
		return -ENOMEM;
	if (head->kind == ANSWER_NO_DEMANGLER)
		return load_demangler(reader, ret_error);
	if (head->kind == ANSWER_NO_JAIL)
		return error_set(ret_error, -EBADMSG, "the process that reads it cannot drop its privileges: %s",
				 strerror((int)head->err));
	return error_set(ret_error, -EBADMSG, "its tables are too large");
}

/* Separates the texts of @answer, each with a NUL. */
static int take(struct symbol_reader *reader, const struct symbol_answer_head *head, size_t bytes,
		struct symbol_answer *answer, struct trace_error *ret_error)
{
	char *source;

	if (!is_possible(head, answer->texts, bytes)) {
		symbol_reader_stop(reader);
		return error_set(ret_error, -EBADMSG, "the process that reads it gave an impossible answer");
	}
	reader->answer_bytes += bytes;
	reader->nr_answers++;
	if (head->kind != ANSWER_FOUND || reader->answer_bytes > MAX_ANSWER_BYTES) {
		symbol_reader_stop(reader);
		return refusal(reader, head, ret_error);
	}
	source = answer->texts + head->function_bytes + 1;
	memmove(source, source - 1, head->source_bytes);
	source[-1] = '\0';
	source[head->source_bytes] = '\0';
	answer->address = head->address;
	answer->offset = head->offset;
	answer->is_damaged = head->err;
	answer->function = answer->texts;
	answer->source = source;
	return 0;
}

static int ask(struct symbol_reader *reader, int fd, const struct symbol_query *query, struct symbol_answer *ret_answer,
	       struct trace_error *ret_error)
{
	struct symbol_answer_head head = {0};
	ssize_t bytes;
	int result;

	if (reader->child.runs && (reader->nr_answers == MAX_ANSWERS || reader->child.owner != getpid()))
		symbol_reader_stop(reader);
	if (!reader->child.runs) {
		result = start(reader, fd, ret_error);
		if (result)
			return result;
	}
	if (send(reader->child.socket, query, sizeof(*query), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*query))
		return stopped(reader, true, ret_error);
	bytes = receive(reader, &head, ret_answer);
	return bytes > 0 ? take(reader, &head, (size_t)bytes, ret_answer, ret_error)
			 : stopped(reader, bytes == 0, ret_error);
}

int symbol_reader_ask(struct symbol_reader *reader, int fd, uint64_t offset, enum symbol_wanted wanted,
		      struct symbol_answer *ret_answer, struct trace_error *ret_error)
{
	const struct symbol_query query = {.offset = offset, .wanted = wanted};
	int result = ask(reader, fd, &query, ret_answer, ret_error);

	return result == -EAGAIN ? ask(reader, fd, &query, ret_answer, ret_error) : result;
}

int symbol_reader_ask_id(struct symbol_reader *reader, int fd, struct symbol_answer *ret_answer,
			 struct trace_error *ret_error)
{
	const struct symbol_query query = {.want_id = 1};

	return ask(reader, fd, &query, ret_answer, ret_error);
}

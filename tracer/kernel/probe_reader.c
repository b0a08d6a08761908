/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_reader.c - let a child without rights read an untrusted file; the caller opens files for it
 * and checks its answer.
 *
 *     caller                              reader
 *     opens the file, forks               drops all rights (jail.c)
 *                                         requests the file and its debug file
 *     opens files of the program,         reads, answers with records
 *     sends the descriptors
 *     checks each record                  sends "end" and exits
 *     (probe_answer.c)
 *
 * If the reader crashes, exceeds its time or memory, or gives an impossible answer, the caller
 * reports that in one message.
 */
#include "probe_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock_ns.h"
#include "demangle.h"
#include "error_set.h"
#include "file_envelope.h"
#include "jail.h"
#include "jail_child.h"
#include "probe_answer.h"
#include "probe_files.h"

#define MAX_SECONDS	120   /* from fork to end, including waits for the disk */
#define IDLE_MS		10000 /* without a message, of a reader that waits */
#define MAX_FILES_ASKED 16
#define CPU_SECONDS	20
#define MEMORY_BYTES	(2ull << 30)

/* ---- the reader ---- */

struct asking_opener {
	struct probe_opener opener; /* must be first */
	struct probe_answer *answer;
};

/* Receive the caller's reply. Returns the descriptor or a negative errno. */
static int receive_file(int socket)
{
	int32_t result = -EIO, fd;
	struct iovec part = {&result, sizeof(result)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *rights;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(result))
		return -EIO;
	rights = CMSG_FIRSTHDR(&message);
	if (result || !rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(fd)))
		return result ? result : -EIO;
	memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
	return file_envelope_open(fd);
}

static int ask_for_file(struct probe_opener *opener, enum probe_related which, const char *name)
{
	struct asking_opener *asking = (struct asking_opener *)opener;

	probe_answer_file(asking->answer, which, name);
	return asking->answer->failed ? -EIO : receive_file(asking->answer->fd);
}

static struct probe_answer answer_of_reader; /* too large for the stack; each reader has its own copy */

static void __attribute__((noreturn)) end_with_error(const struct trace_error *error)
{
	probe_answer_error(&answer_of_reader, error);
	probe_answer_end(&answer_of_reader);
	_exit(answer_of_reader.failed);
}

static void __attribute__((noreturn)) out_of_memory(void)
{
	const struct trace_error error = {.code = -ENOMEM};

	end_with_error(&error);
}

static void __attribute__((noreturn)) run_reader(void *context)
{
	static const struct jail jail = {.cpu_seconds = CPU_SECONDS,
					 .memory_bytes = MEMORY_BYTES,
					 .dies_with_thread = true};
	const struct probe_reading *reading = context;
	struct probe_answer *answer = &answer_of_reader;
	struct asking_opener asking = {.opener = {.open = ask_for_file, .no_memory = out_of_memory}, .answer = answer};
	struct trace_error error = {0};
	int result;

	answer->fd = JAIL_SOCKET;
	errno = 0;
	demangle_prepare(); /* the reader may open no files later */
	if (errno == ENOMEM)
		out_of_memory();
	result = jail_enter(&jail);
	if (result)
		error_set(&error, result, "the process that reads programs cannot drop its privileges: %s",
			  strerror(-result));
	else
		result = reading->read(reading->context, &asking.opener, answer, &error);
	if (result)
		end_with_error(&error);
	probe_answer_end(answer);
	_exit(answer->failed);
}

/* ---- the caller ---- */

/**
 * struct reader - a running reader process
 * @self: descriptor of the program, sent on request
 * @ended: the answer is complete
 * @error: the error of the reader or of the caller
 * @taken_bytes: bytes of the answer so far
 */
struct reader {
	const struct probe_reading *reading;
	struct probe_files files;
	struct trace_error error;
	uint64_t file_bytes;
	uint64_t taken_bytes;
	uint64_t deadline_ns;
	int self;
	struct jail_child child;
	unsigned int nr_asked;
	bool ended;
};

static int impossible(struct reader *reader)
{
	return error_set(&reader->error, -EBADMSG,
			 "%s: its debug information cannot be read (the reader's answer is invalid); probe a copy "
			 "without it: objcopy --strip-debug",
			 reader->files.path);
}

static int send_file(struct reader *reader, int fd)
{
	int32_t result = fd < 0 ? fd : 0;
	struct iovec part = {&result, sizeof(result)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(reader->child.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(result) ? 0 : -EBADMSG;
}

static int take_file(struct reader *reader, struct probe_record *record)
{
	char name[PROBE_RELATED_NAME_BYTES];
	enum probe_related which;
	int fd, result;

	if (probe_record_file(record, &which, name) || reader->nr_asked++ == MAX_FILES_ASKED)
		return impossible(reader);
	if (which == PROBE_FILE_SELF)
		return send_file(reader, reader->self) ? impossible(reader) : 0;
	fd = probe_files_open(&reader->files, which, name);
	result = send_file(reader, fd);
	if (fd >= 0)
		close(fd);
	return result ? impossible(reader) : 0;
}

/* Some errors of memory have no sentence, because there is no memory for it. */
static int take_error(struct reader *reader, struct probe_record *record)
{
	if (probe_record_error(record, &reader->error))
		return impossible(reader);
	return reader->error.code == -ENOMEM
		       ? error_set(&reader->error, -ENOMEM, "%s: no memory to read its functions and debug information",
				   reader->files.path)
		       : reader->error.code;
}

static int take_record(struct reader *reader, struct probe_record *record)
{
	int result;

	switch (record->kind) {
	case PROBE_RECORD_END:
		reader->ended = true;
		return 0;
	case PROBE_RECORD_ERROR:
		return take_error(reader, record);
	case PROBE_RECORD_FILE:
		return take_file(reader, record);
	case PROBE_RECORD_ENTRY:
	case PROBE_RECORD_ROW:
		result = reader->reading->take(reader->reading->context, record, reader->file_bytes, &reader->error);
		return result == -EBADMSG ? impossible(reader) : result;
	default:
		return impossible(reader);
	}
}

static int take_packet(struct reader *reader, const unsigned char *packet, size_t bytes)
{
	const unsigned char *at = packet;
	struct probe_record record;
	int result = 0;

	reader->taken_bytes += bytes;
	if (reader->taken_bytes > PROBE_ANSWER_BYTES)
		return error_set(&reader->error, -E2BIG,
				 "%s: its description is larger than %llu MiB; use a narrower pattern",
				 reader->files.path, PROBE_ANSWER_BYTES >> 20);
	while (!result && !reader->ended && probe_record_next(&at, packet + bytes, &record))
		result = take_record(reader, &record);
	if (!result && !reader->ended && record.bad)
		return impossible(reader);
	return result;
}

/*
 * Handle messages until the reader's answer is complete or fails. Returns 1: the reader ended
 * without "end"; 2: timeout.
 */
static int exchange_messages(struct reader *reader)
{
	static unsigned char packet[PROBE_PACKET_BYTES];
	int result = 0;

	while (!result && !reader->ended) {
		struct pollfd wait = {.fd = reader->child.socket, .events = POLLIN};
		int left_ms = jail_left_ms(reader->deadline_ns), ready;
		ssize_t bytes;

		ready = poll(&wait, 1, left_ms < IDLE_MS ? left_ms : IDLE_MS);
		if ((ready < 0 && errno == EINTR) ||
		    (!ready && left_ms > IDLE_MS && jail_child_is_runnable(&reader->child)))
			continue;
		if (ready <= 0)
			return 2;
		/* the kernel drops descriptors that the reader sends */
		bytes = recv(reader->child.socket, packet, sizeof(packet), MSG_TRUNC);
		if (bytes <= 0)
			return 1;
		result = (size_t)bytes > sizeof(packet) ? impossible(reader)
							: take_packet(reader, packet, (size_t)bytes);
	}
	return result;
}

static int stopped(struct reader *reader, const char *reason)
{
	return error_set(&reader->error, -EBADMSG,
			 "%s: its debug information cannot be read (the reader stopped: %s); probe a copy without it: "
			 "objcopy --strip-debug",
			 reader->files.path, reason);
}

/* End the reader, and report why there is no answer. */
static int finish(struct reader *reader, int result)
{
	char reason[256];

	if (result == 2 && jail_left_ms(reader->deadline_ns))
		snprintf(reason, sizeof(reason), "its file does not answer: " FILE_WHY);
	else
		snprintf(reason, sizeof(reason), "it took longer than %d s", MAX_SECONDS);
	jail_child_end(&reader->child, result == 1, reason, sizeof(reason));
	return result > 0 ? stopped(reader, reason) : result;
}

static int open_failed(const char *path, int err, struct trace_error *ret_error)
{
	return error_set(ret_error, err, "%s: %s", path,
			 err == -EINVAL	 ? "not a program or library, which is a regular file"
			 : err == -EFBIG ? "larger than 4 GiB"
					 : file_why(err));
}

static int start(struct reader *reader)
{
	const struct jail_role role = {.run = run_reader,
				       .context = (void *)reader->reading,
				       .cpu_seconds = CPU_SECONDS};

	reader->deadline_ns = clock_monotonic_ns() + MAX_SECONDS * 1000000000ull;
	return jail_child_start(&role, &reader->child);
}

int probe_reader_run(const char *path, const struct probe_reading *reading, struct trace_error *ret_error)
{
	struct reader reader = {.reading = reading, .files = {.path = path}};
	int result;

	reader.self = probe_files_open(&reader.files, PROBE_FILE_SELF, "");
	if (reader.self < 0) {
		file_opener_close(&reader.files.opener);
		return open_failed(path, reader.self, ret_error);
	}
	reader.file_bytes = (uint64_t)reader.files.status.st_size;
	result = start(&reader);
	if (result)
		error_set(&reader.error, result, "%s cannot be read: cannot start a process for it: %s", path,
			  file_why(result));
	else
		result = finish(&reader, exchange_messages(&reader));
	file_opener_close(&reader.files.opener);
	close(reader.self);
	if (result && ret_error)
		*ret_error = reader.error;
	return result;
}

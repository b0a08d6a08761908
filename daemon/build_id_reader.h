/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BUILD_ID_READER_H
#define DAEMON_BUILD_ID_READER_H
/*
 * build_id_reader.h - a thread that has build ids and function names read from files of other
 * users, one by one: a child opens a file (file_opener.h), and another one without rights (jail.h)
 * reads it
 *
 * The main thread gives requests and takes answers, and never waits for a file. The thread is
 * started at the first request, and ends with the process.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "build_id.h"

struct kept_names;

/** struct file_stamp - what differs after a file was written over; zeroed: not known */
struct file_stamp {
	uint64_t size_bytes;
	int64_t changed_s, modified_s;
	int64_t changed_ns, modified_ns;
};

/**
 * struct mapped_file - an inode of a device, and a process that has it mapped
 * @generation: of the inode number; 0: not known
 * @ts_ns: when it was mapped; 0: before the recording
 * @stamp: of the file when it was read; zeroed: it was not. With the same one it is not read again
 */
struct mapped_file {
	uint32_t dev;
	uint32_t tgid;
	uint32_t generation;
	uint64_t ino, start, end;
	uint64_t ts_ns;
	struct file_stamp stamp;
};

/**
 * struct build_id_answer - @id: in hexadecimal, "" if it has none. @is_known: the file was read
 * @is_unanswered: its file system did not answer. @is_same: it has the stamp of the request
 * @stamp: of the file that was read. @ts_ns: of the request
 * @names: of its functions (kept_names.h), if it may be gone at the end of the recording; owned by
 *     the caller of build_id_reader_take(). @has_lost_names: there was no room for them
 */
struct build_id_answer {
	uint32_t dev;
	uint32_t generation;
	uint64_t ino;
	bool is_known;
	bool is_unanswered;
	bool is_same;
	struct file_stamp stamp;
	uint64_t ts_ns;
	char id[BUILD_ID_CHARS];
	struct kept_names *names;
	bool has_lost_names;
};

/**
 * build_id_reader_ask() - @owner: any address, for the answers
 * @path: of the file in its process, to keep its names if it may be gone later; NULL: they are
 *     not wanted. Returns false: no memory, or no thread
 */
bool build_id_reader_ask(const void *owner, const struct mapped_file *file, const char *path);

/**
 * build_id_reader_take() - an answer of the requests of @owner. Returns false: there is none yet
 */
bool build_id_reader_take(const void *owner, struct build_id_answer *ret_answer);

/**
 * build_id_reader_wait() - until all of @owner are answered, or @limit_ns have passed. Returns
 * true: all
 */
bool build_id_reader_wait(const void *owner, uint64_t limit_ns);

/** build_id_reader_nr_waiting() - requests without an answer, of all owners */
size_t build_id_reader_nr_waiting(void);

/** build_id_reader_forget() - drop all requests and answers of @owner */
void build_id_reader_forget(const void *owner);

#endif

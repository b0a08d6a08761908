/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_READER_H
#define TRACER_UNWIND_READER_H
/*
 * unwind_reader.h - compiles unwind tables in a process without rights (base/jail.h). It stays
 * alive for the next files, because its start takes longer than most tables.
 *
 * SECURITY: the process writes the table into memory that it shares with its caller. A table is
 * numbers, which the BPF programs check: a damaged one gives wrong callers, and nothing else.
 */
#include <stdbool.h>
#include "jail_child.h"
#include "unwind_needed.h"
#include "unwind_table.h"

/**
 * struct unwind_reader - memory for one table at a time; zeroed: closed. @nr_files: of the child
 * @stop_fd: if @has_stop, a descriptor that ends the wait for an answer when it can be read;
 * borrowed
 */
struct unwind_reader {
	struct unwind_shared *shared; /* owned mapping */
	struct jail_child child;
	uint32_t nr_files;
	bool has_stop;
	int stop_fd;
};

/** unwind_reader_open() - returns 0 or -ENOMEM */
int unwind_reader_open(struct unwind_reader *reader);
void unwind_reader_close(struct unwind_reader *reader);

/**
 * unwind_reader_compile() - the table of the file @fd, as unwind_table_compile()
 * @ret_table: its words are valid until the next call
 * Returns also -EBADMSG: the process was stopped, or wrote something impossible.
 */
int unwind_reader_compile(struct unwind_reader *reader, int fd, struct unwind_table *ret_table);

/**
 * unwind_reader_needed() - what the linker loads with the file @fd. Returns 0 or an errno as above.
 * The texts are those of an untrusted file.
 */
int unwind_reader_needed(struct unwind_reader *reader, int fd, struct unwind_needed *ret_needed);

#endif

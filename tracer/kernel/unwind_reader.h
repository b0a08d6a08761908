/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_READER_H
#define TRACER_UNWIND_READER_H
/*
 * unwind_reader.h - compiles the unwind table of a file in a process without rights (base/jail.h)
 *
 * SECURITY: the process writes the table into memory that it shares with its caller. A table is
 * numbers, which the BPF programs check: a damaged one gives wrong callers of the code of its own
 * file, and nothing else.
 */
#include "unwind_table.h"

/** struct unwind_reader - memory for one table at a time; zeroed: closed */
struct unwind_reader {
	struct unwind_shared *shared; /* owned mapping */
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

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_READER_H
#define TRACE_SYMBOL_READER_H
/*
 * symbol_reader.h - a process without rights that reads one ELF file and answers queries about
 * it.
 *
 * SECURITY: the file may come from any user. The process that reads it can only send answers. It
 * stays alive, so that its tables are read once. One thread at a time.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>

#include "jail_child.h"
#include "symbol_wanted.h"

/**
 * struct symbol_reader - the reader of one file, if it runs; zeros: it does not
 * @can_demangle: the C++ run-time library was loaded when the process began
 * @nr_answers: of this process. @answer_bytes: texts of all processes for this file
 */
struct symbol_reader {
	struct jail_child child;
	bool can_demangle;
	uint32_t nr_answers;
	uint64_t answer_bytes;
};

/**
 * struct symbol_answer - a checked answer
 * @function, @source: in @texts; "" if there is none
 * @is_damaged: a part of the debug information cannot be read
 */
struct symbol_answer {
	uint64_t address;
	uint64_t offset;
	const char *function;
	const char *source;
	bool is_damaged;
	char texts[SYMBOL_NAME_BYTES + SYMBOL_SOURCE_BYTES + 2];
};

/**
 * symbol_reader_ask() - what is at @offset of the file @fd? Starts the reader if it does not run
 * Returns 0; -ENOMEM; or, with one sentence in @ret_error, -EBADMSG: the process cannot be started,
 * has stopped, took too long or too much memory, or gave an impossible answer. After an error it
 * does not run.
 */
int symbol_reader_ask(struct symbol_reader *reader, int fd, uint64_t offset, enum symbol_wanted wanted,
		      struct symbol_answer *ret_answer, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * symbol_reader_ask_id() - the build id of the file @fd in hexadecimal, as the function of the
 * answer; "" if it has none. Otherwise as symbol_reader_ask()
 */
int symbol_reader_ask_id(struct symbol_reader *reader, int fd, struct symbol_answer *ret_answer,
			 struct trace_error *ret_error);

/** symbol_reader_stop() - end the process, if it runs */
void symbol_reader_stop(struct symbol_reader *reader);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PROGRAM_CODE_H
#define LIBTRACE_PROGRAM_CODE_H
/* program_code.h - the functions that programs generated, as a trace names them:
 * TRACE_STRING_PROGRAM_CODE */
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>

/** struct program_function - @file: "perf-PID.map", from which the recorder had the name */
struct program_function {
	uint64_t address;
	uint64_t bytes;
	uint32_t pid;
	char file[32];
	char *name; /* owned */
};

/** struct program_code - zeroed: no function; sorted by process and address */
struct program_code {
	struct program_function *functions; /* owned */
	size_t nr;
};

/** program_code_read() - Returns 0 or -ENOMEM */
int program_code_read(struct program_code *code, const struct trace *trace) TRACE_NODISCARD;
/** program_code_find() - the function at @address in process @pid, or NULL: not known */
const struct program_function *program_code_find(const struct program_code *code, uint32_t pid, uint64_t address);
void program_code_clear(struct program_code *code);
#endif

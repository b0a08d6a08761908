/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GCOV_COUNTERS_H
#define DAEMON_GCOV_COUNTERS_H
/*
 * gcov_counters.h - the execution counts of one object file, as a .gcda file has them: read from
 * the memory of a running process, or from such a file; and the difference of two
 *
 * Only the counts of arcs are kept, which gcov shows; those of -fprofile-generate are for the
 * compiler.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>

/** struct gcov_function - @counts: owned; NULL: the function is in another object file */
struct gcov_function {
	uint32_t ident, line_checksum, graph_checksum;
	uint32_t nr;
	uint64_t *counts;
};

/**
 * struct gcov_unit - one object file
 * @path: of its .gcda, as the compiler wrote it into the program; owned
 * @version: of the compiler's formats. @stamp, @checksum: of the .gcno
 * @functions: owned
 */
struct gcov_unit {
	char *path;
	uint32_t version, stamp, checksum;
	struct gcov_function *functions;
	uint32_t nr, room;
};

/** struct gcov_units - zeroed: empty. @bytes: that the functions and their counts take */
struct gcov_units {
	struct gcov_unit *units; /* owned */
	uint32_t nr, room;
	uint64_t bytes;
};

/**
 * gcov_units_read() - add those of the list at @root in process @pid
 * @object: the file that has the list, for messages
 * The process runs on. Its memory may hold anything: all numbers are bounded.
 * Returns 0; -ESRCH: it has ended; -EPERM; -ENOTSUP: another version of gcc; -EBADMSG: no such list
 * there; -E2BIG: more than 1 GiB of counts; -ENOMEM
 */
int gcov_units_read(struct gcov_units *units, pid_t pid, const char *object, uint64_t root,
		    struct trace_error *ret_error);
void gcov_units_free(struct gcov_units *units);

/** gcov_unit_counts() - how many counts it has */
uint64_t gcov_unit_counts(const struct gcov_unit *unit);
void gcov_unit_free(struct gcov_unit *unit);

/**
 * gcov_unit_subtract() - subtract the counts of @earlier
 * Returns 0; -ESTALE: it is of another build; -ERANGE: a count has become smaller since
 */
int gcov_unit_subtract(struct gcov_unit *unit, const struct gcov_unit *earlier);
#endif

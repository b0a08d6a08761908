/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OUTPUT_FILE_H
#define DAEMON_OUTPUT_FILE_H
/* output_file.h - create output files safely: as root, in directories that may belong to others */
#include <stdbool.h>
#include <sys/types.h>
#include <trace/error.h>

enum output_kind { OUTPUT_TRACE, OUTPUT_PROC };

/** struct output_file - identity of a file, independent of its name */
struct output_file {
	dev_t dev;
	ino_t ino;
};

/**
 * struct output_target - an open file
 * @path: borrowed; "stdout" for "-"
 * @created: the daemon created it; its identity is @file
 * @temporary: owned; its name until it replaces @old; NULL: it has its final name
 */
struct output_target {
	int fd;
	const char *path;
	char *temporary;
	bool created;
	struct output_file file;
	struct output_file old;
};

/**
 * output_open() - create a new file with mode 0600, exclusively
 * @path: "-" is stdout. A regular file of the same user and kind will be replaced; its readers keep
 * the old one. Symbolic links, devices and files of other users are refused. Root gives the file to
 * the user who called sudo, whose files root may replace.
 */
int output_open(struct output_target *ret_output, const char *path, enum output_kind kind,
		struct trace_error *ret_error);

/** output_commit() - replace an older file now, because the new one will get contents */
int output_commit(struct output_target *output, struct trace_error *ret_error);

/**
 * output_check() - does @path still refer to the file that is written?
 * Returns 0; -ENOENT: the file was removed, and is lost when it is closed; -ESTALE: it exists under
 * another name.
 */
int output_check(const struct output_target *output, struct trace_error *ret_error);

/**
 * output_close() - fsync and close the file. Returns 0 or the negative errno of the fsync or close
 */
int output_close(struct output_target *output, struct trace_error *ret_error);

/**
 * output_discard() - close the file, and remove it if output_open() created it and it is still at
 * its path
 * An older file stays unless it was replaced.
 */
void output_discard(struct output_target *output);
#endif

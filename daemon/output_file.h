/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OUTPUT_FILE_H
#define DAEMON_OUTPUT_FILE_H
/*
 * output_file.h - create the files that are written: as root, in directories that may belong to others.
 */
#include <stdbool.h>
#include <sys/types.h>
#include <trace/error.h>

enum output_kind { OUTPUT_TRACE, OUTPUT_PROC };

/** struct output_file - which file it is, whatever it is called */
struct output_file {
	dev_t dev;
	ino_t ino;
};

/**
 * struct output - an open file. @path: borrowed, "stdout" for "-". @created: by us, as @file
 * @temporary: owned; what it is called until it takes the place of @old; NULL: it has its name
 */
struct output {
	int fd;
	const char *path;
	char *temporary;
	bool created;
	struct output_file file;
	struct output_file old;
};

/**
 * output_open() - a new file, mode 0600 from its creation, that nobody else prepared
 * @path: "-" is stdout. A regular file of ours of that name will be replaced (its readers keep the old one) if it is of the same kind;
 *        symbolic links, devices and other people's files are refused.
 */
int output_open(struct output *ret_output, const char *path, enum output_kind kind, struct trace_error *ret_error);

/** output_commit() - there will be something in it: only now it takes the place of an older file */
int output_commit(struct output *output, struct trace_error *ret_error);

/**
 * output_check() - does whoever opens @path get what is written?
 * Returns 0; -ENOENT: it was removed, and is gone when we close it; -ESTALE: it is there, but not under that name.
 */
int output_check(const struct output *output, struct trace_error *ret_error);

/** output_close() - make the file last (fsync) and close it. 0 or negative errno of the fsync */
int output_close(struct output *output, struct trace_error *ret_error);

/** output_discard() - close, and remove the file if output_open() created it and it still stands there; an older one stays unless it was replaced */
void output_discard(struct output *output);
#endif

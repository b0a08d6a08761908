/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_ORIGIN_H
#define TRACE_SYMBOL_ORIGIN_H
/*
 * symbol_origin.h - which file gives the names of a mapped file: only the very file that ran, or
 * its debug file
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/reader.h>
#include <trace/symbols.h>

#include "file_opener.h"
#include "symbol_reader.h"

#define SYMBOL_ID_BYTES 132 /* a build id in hexadecimal; 64 bytes at most */

/** enum symbol_identity - what the trace knows of the file that was mapped */
enum symbol_identity {
	SYMBOL_UNRECORDED, /* an older recorder */
	SYMBOL_UNREAD,	   /* it is known that the inode number had another file before */
	SYMBOL_WITHOUT_ID, /* the file has no build id */
	SYMBOL_WITH_ID,
};

/**
 * struct symbol_origin - the mapped file
 * @path: borrowed. @ino: 0: unknown; else of the device @dev
 * @mapped_ns, @last_mapped_ns: CLOCK_REALTIME of its first and latest mapping
 */
struct symbol_origin {
	const char *path;
	uint64_t ino;
	uint32_t dev;
	uint64_t mapped_ns, last_mapped_ns;
	enum symbol_identity identity;
	char id[SYMBOL_ID_BYTES];
};

/* -EBUSY of file_opener_open() */
#define SYMBOL_WHY_FULL "too many processes wait already for file systems that do not answer"

/**
 * struct symbol_search - where the user wants files to be looked for
 * @folder: borrowed; "" or the folder that replaces "/"
 * @opener: opens them, because a file system may not answer (file_opener.h). @nr_unopened: files
 *     that were not opened because of it, with the errno of the last one in @open_err
 * @debuginfod_ns: how long debuginfod has been asked
 * @kept: copies of files that may be gone; zeros: none
 */
struct symbol_search {
	struct file_opener opener;
	uint64_t nr_unopened;
	int open_err;
	const char *folder;
	uint64_t debuginfod_ns;
	bool debuginfod;
	struct trace_symbols_kept kept;
};

/** symbol_origin_is_kept() - is there a copy of the file for the case that it is gone? */
bool symbol_origin_is_kept(const struct symbol_origin *origin, const struct symbol_search *search);

/**
 * symbol_origin_open() - open the file with the names
 * @reader: reads the build ids of candidates; afterwards it belongs to the opened file, or does
 * not run
 * @ret_fd: -1 if there is none, with the reason in @ret_why; "" if the file cannot be opened.
 * A reason with a file: it may have no symbols because debuginfod had no time to answer
 * Returns 0 or -ENOMEM.
 */
int symbol_origin_open(const struct symbol_origin *origin, struct symbol_search *search, struct symbol_reader *reader,
		       int *ret_fd, const char **ret_why) TRACE_NODISCARD;

#endif

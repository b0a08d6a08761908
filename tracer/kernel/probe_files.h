/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_FILES_H
#define TRACER_PROBE_FILES_H
/* probe_files.h - the files that may be opened for a program. */
#include "file_opener.h"

enum probe_related {
	PROBE_FILE_SELF,     /* the program or library itself; no name */
	PROBE_FILE_DEBUG_ID, /* its debug file, by build id in hexadecimal */
	/* its debug file, by the name in .gnu_debuglink: in the program's folder, in .debug/ there,
	 * below /usr/lib/debug */
	PROBE_FILE_DEBUG_LINK,
	PROBE_FILE_DEBUG_LINK_BELOW,
	PROBE_FILE_DEBUG_LINK_GLOBAL,
	PROBE_FILE_ALT_ID,   /* the supplementary file of dwz, by its build id */
	PROBE_FILE_ALT_PATH, /* the supplementary file, by the path in .gnu_debugaltlink */
};

#define PROBE_RELATED_NAME_BYTES 4096

/**
 * struct probe_files - a program and the files that belong to it
 * @path: borrowed
 * @opener: opens them; the caller closes it. @status: of the file that was opened last
 * @debug: path of the debug file that was opened last; initially ""
 */
struct probe_files {
	struct file_opener opener;
	struct stat status;
	const char *path;
	char debug[2 * 4096];
};

/**
 * probe_files_open() - open one of the files that may belong to a program
 * @name: SECURITY: comes from the program, so it can be any bytes; a name with a slash, or a path
 *        that leaves the debug folders, is refused
 * Returns a descriptor, which the caller closes; or a negative errno: from file_opener_open(), or
 * -EPERM for a refused name.
 */
int probe_files_open(struct probe_files *files, enum probe_related which, const char *name);

/**
 * struct probe_opener - opens files for probe_elf.c, like probe_files_open(): directly, or in the
 * reader through its caller
 * @no_memory: called by libdw when it cannot go on, and does not return; NULL: libdw ends the
 *             process
 */
struct probe_opener {
	int (*open)(struct probe_opener *opener, enum probe_related which, const char *name);
	void (*no_memory)(void) __attribute__((noreturn));
};

#endif

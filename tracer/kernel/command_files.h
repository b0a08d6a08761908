/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_COMMAND_FILES_H
#define TRACER_COMMAND_FILES_H
/*
 * command_files.h - the files with code that a command will run: its program, or the interpreter of
 * a script, with the linker and all libraries. Files that the program loads later are missing.
 *
 * A shell starts programs that run for some ms, less than a table takes. So the words of all
 * arguments that name programs count, too, and those of a script that a shell reads.
 *
 * A guess: it only decides which tables are made early.
 */
#include <stddef.h>
#include <sys/types.h>
#include "unwind_reader.h"

#define COMMAND_MAX_FILES 128

/** struct command_files - @fds: open files, owned, each once */
struct command_files {
	int fds[COMMAND_MAX_FILES];
	dev_t devices[COMMAND_MAX_FILES];
	ino_t inodes[COMMAND_MAX_FILES];
	size_t nr;
};

/** command_files_find() - @argv: as of execvp(). Files that are not found are missing */
void command_files_find(char *const *argv, struct unwind_reader *reader, struct command_files *ret_files);
void command_files_close(struct command_files *files);

#endif

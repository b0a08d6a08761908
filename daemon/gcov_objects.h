/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GCOV_OBJECTS_H
#define DAEMON_GCOV_OBJECTS_H
/*
 * gcov_objects.h - the program and the libraries of a running process that were built with
 * --coverage.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>

/** struct gcov_object - @path: owned; @root: the address of its __gcov_root in the process */
struct gcov_object {
	char *path;
	uint64_t root;
};

/**
 * struct gcov_missing - mapped files with code in which no counts were found
 * @nr_stripped: they have no symbol table
 * @nr_unread: they have too many symbols, or took too long
 */
struct gcov_missing {
	size_t nr_stripped, nr_unread;
};

/**
 * gcov_objects_find() - look at each file that process @pid has mapped
 * SECURITY: files may come from any user, so children without rights read them: gcov_elf.h.
 * @ret_objects: owned by the caller, freed by gcov_objects_free()
 * Returns 0, also if there is none; -ESRCH: no such process; -EACCES, -ENOMEM, or an errno of
 * gcov_elf_root(), with the reason
 */
int gcov_objects_find(pid_t pid, struct gcov_object **ret_objects, size_t *ret_nr, struct gcov_missing *ret_missing,
		      struct trace_error *ret_error);
void gcov_objects_free(struct gcov_object *objects, size_t nr);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_JAIL_H
#define BASE_JAIL_H
/*
 * jail.h - the restrictions of a process that reads untrusted files (jail_child.h starts such a
 * process).
 */
#include <stdbool.h>
#include <stdint.h>

#define JAIL_SOCKET	 3 /* the process's descriptor for messages to and from its caller */
#define JAIL_FILES	 4 /* the first descriptor after it: files to read */
#define JAIL_DESCRIPTORS 16

/**
 * struct jail - what may differ between such processes
 * @cpu_seconds: CPU time until SIGXCPU, and one second later SIGKILL
 * @memory_bytes: limit of address space; 0: none
 * @dies_with_thread: SIGKILL when the thread that forked the process ends
 * @filter_optional: continue if the kernel refuses a seccomp filter
 * @opens_files: the process opens files of other users, and parses none: it keeps its user and the
 *     capabilities to read files and processes, and may also open for reading, list folders, read
 *     links and the memory of processes, and ask for mappings and for the owner of a namespace
 */
struct jail {
	unsigned int cpu_seconds;
	uint64_t memory_bytes;
	bool dies_with_thread;
	bool filter_optional;
	bool opens_files;
};

/**
 * jail_enter() - irrevocably drop all rights of this process
 * Afterwards the process has user and group 65534 and no other groups (if it was root), no
 * capability, no_new_privs, limits of CPU time, memory and descriptors, no growing files and no
 * core file (@opens_files: see there). A seccomp filter allows only reading, anonymous memory and
 * JAIL_SOCKET; other system calls fail with EPERM. Returns 0, or a negative errno: then the
 * process must not read the file.
 */
int jail_enter(const struct jail *jail);

#endif

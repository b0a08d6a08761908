/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_FILE_OPENER_H
#define BASE_FILE_OPENER_H
/*
 * file_opener.h - opens files of other users in a child, because an open() can wait for ever
 *
 * SECURITY: any user can mount a file system that a program of that user serves (FUSE), below an
 * overlay that root may read, and stop answering. Then open(), read(), stat(), close() and page
 * faults wait, and SIGKILL does not end them. So a child opens a file and sends the descriptor, in
 * an envelope if a user may serve the file (file_envelope.h). The child has the rights to open, and
 * parses nothing. Another child, without rights (jail.h), reads from the descriptor. A child that
 * misses FILE_ANSWER_NS is killed and abandoned (jail_child_end()), and the next request starts
 * another one. A user is not asked any more after FILE_MAX_UNANSWERED files without an answer, and
 * no other user while FILE_MAX_OF_OTHERS children wait: the caller's own files stay readable. A
 * process in a user namespace belongs to the user that made the outermost namespace below that of
 * the daemon: a user may have many uids there.
 *
 * The files of /proc that show the memory of a process are read by the child, too. The
 * kernel takes the lock of its mappings for them. A thread of the process may hold that lock while
 * it waits for a file, and another one wait to change the mappings: then no reader gets it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include "jail_child.h"

#define FILE_ANSWER_NS	    2000000000ull
#define FILE_MAX_UNANSWERED 2	/* of one user */
#define FILE_MAX_OF_OTHERS  24u /* of all other users; the rest of JAIL_MAX_ABANDONED is the caller's */
#define FILE_WHY	    "a file system of its user may be the reason; end the server, or unmount it with umount -l"
#define FILE_NAME_BYTES	    4096
#define FILE_TEXT_BYTES	    (64u << 20)

/**
 * struct file_place - @name: a path; or if @root is not empty, a name in @folder below @root, where
 * no symbolic link is followed
 * @tgid: a process of the user that may serve the file
 */
struct file_place {
	char root[32];
	char folder[8];
	char name[FILE_NAME_BYTES];
	uint32_t tgid;
};

/**
 * struct file_opener - a child; zeroed: none was started
 * @stop_fd: if @has_stop, a descriptor that ends a wait when it can be read; borrowed
 * @answer_ns: a shorter wait than FILE_ANSWER_NS; 0: that
 */
struct file_opener {
	struct jail_child child;
	bool has_stop;
	int stop_fd;
	uint64_t answer_ns;
};

/**
 * file_opener_open() - open a regular file for reading (regular.h)
 * @ret_status: as the child saw it, which may have waited for it
 * Returns the descriptor, which the caller closes: read from it only in a child of jail_child.h. If
 * another user may serve the file, it is an envelope, which the child opens (file_envelope.h). Or
 * the errno of the open; -ETIMEDOUT: the file system did not answer, now or earlier (counted by
 * files_unanswered()); -ECANCELED: @stop_fd; -EBUSY: too many children wait already, counted, too
 */
int file_opener_open(struct file_opener *opener, const struct file_place *place, struct stat *ret_status);

/**
 * file_opener_unserved() - open a regular file that the caller itself may read and close
 * @path: @tgid: as of struct file_place
 * Returns as file_opener_open(), but no envelope: -EREMOTE, another user may serve the file
 */
int file_opener_unserved(struct file_opener *opener, const char *path, uint32_t tgid, struct stat *ret_status);
void file_opener_close(struct file_opener *opener);

/**
 * file_opener_text() - read /proc/@tgid/@name, one of those that show the memory of a process
 * Returns a stream of a copy, which the caller closes; NULL with errno, as file_opener_open(), or
 * EFBIG: more than FILE_TEXT_BYTES
 */
FILE *file_opener_text(struct file_opener *opener, uint32_t tgid, const char *name);

/**
 * file_opener_memory() - read @bytes of the memory of process @tgid: a page of it may be of a file
 * Returns 0, or a negative errno: of process_vm_readv(), -EFAULT: not all of it is mapped, or as
 * file_opener_open()
 */
int file_opener_memory(struct file_opener *opener, uint32_t tgid, uint64_t address, void *into, size_t bytes);

/**
 * file_why() - why a file or the memory of a process was not read: of the result @err, of the calls
 * above. A static string, or that of strerror()
 */
const char *file_why(int err);

/** file_mapping() - the file that a process has mapped from @start to @end */
struct file_place file_mapping(uint32_t tgid, uint64_t start, uint64_t end);

/* ---- file systems that did not answer ---- */

/** files_unanswered() - how often a file or the memory of a process was not read for that reason */
uint64_t files_unanswered(void);
/** files_note_unanswered() - a file or a process of the user of process @tgid did not answer */
void files_note_unanswered(uint32_t tgid);
/** files_note_unread() - the same without a process: more children wait already than may */
void files_note_unread(void);
/**
 * files_may_ask() - false, and counted: the user of process @tgid has not answered too often, or is
 * another user, and too many children wait. @tgid 0: a file that the caller itself names
 */
bool files_may_ask(uint32_t tgid);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_FILE_ENVELOPE_H
#define BASE_FILE_ENVELOPE_H
/*
 * file_envelope.h - a socket that holds a descriptor of a file, for processes that must not have it
 *
 * SECURITY: close() of a file on a file system that a user serves (FUSE) waits for the server, also
 * if the file was only read, and the end of a process closes all its files. So a process that must
 * not wait has no such descriptor. It has the envelope, a socket with the descriptor in its queue,
 * and passes it to a child, which opens it. close() of the envelope waits for nothing, as long as
 * the process that made it still has the file.
 */
#include <stdbool.h>

/**
 * file_envelope_new() - an envelope that holds @fd, which stays the caller's
 * @ret_end: the other end, which the caller keeps with @fd until file_envelope_is_closed()
 * Returns the envelope; or a negative errno
 */
int file_envelope_new(int fd, int *ret_end);

/** file_envelope_is_closed() - have all processes closed the envelope of @end? */
bool file_envelope_is_closed(int end);

/** file_envelope_is() - is the descriptor an envelope, or a file? Never waits */
bool file_envelope_is(int fd);

/**
 * file_envelope_open() - take @fd, and return the file: what is in the envelope @fd, or @fd itself
 * if it is no envelope. Another copy of the envelope still holds the file. Only for processes that
 * may wait for it
 */
int file_envelope_open(int fd);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H
/*
 * control.h - the socket by which a running daemon is asked for things, both ends.
 *
 * A SOCK_SEQPACKET unix socket: one message is one request, a line of text such as "mask sched,fs", with an open file beside it
 * where one is to be written; one message is the answer, "ok" or "error", a newline, and text for the user. Messages cannot
 * be split, so a peer that stalls in the middle of one cannot exist. Only root and the daemon's own user are listened to.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/error.h>

#define CONTROL_ROOT_PATH     "/run/tracedaemon/control"
#define CONTROL_PATH_BYTES    100
#define CONTROL_REQUEST_BYTES 4096
#define CONTROL_ANSWER_BYTES  16384

/** control_default_path() - where our own user's daemon listens: root's, or beside the socket for programs */
void control_default_path(char path[static CONTROL_PATH_BYTES]);

/* ---- the daemon's end ---- */

struct control;

/**
 * control_listen() - @path NULL: the default, or if another daemon has it, one of our own beside it
 * Returns NULL with -EADDRINUSE and the like; a socket whose daemon died is taken over.
 */
struct control *control_listen(const char *path, struct trace_error *ret_error);
/** control_close() - stop listening and remove the socket. NULL is fine. Returns NULL. */
struct control *control_close(struct control *control);
int control_fd(const struct control *control);
const char *control_path(const struct control *control);

/** control_accept() - the next client that may ask; -1 when there is none, or it may not, or there is no descriptor for it: then it is told so */
int control_accept(struct control *control);

/** struct request - @verb and @argument: of @line, "" if missing. @file_fd: the file beside it, or -1; the receiver's to close */
struct request {
	const char *verb;
	const char *argument;
	int file_fd;
	char line[CONTROL_REQUEST_BYTES];
};

/** control_receive() - 0; -EAGAIN when nothing is there; -EMFILE: no descriptor for the file beside the request; other errors: close the client */
int control_receive(int client_fd, struct request *ret_request);
/** control_answer() - @err 0 = "ok"; a client that has gone does not matter */
void control_answer(int client_fd, int err, const char *text);

/* ---- the user's end ---- */

/** control_other() - a daemon that listens beside the default, which another had when it began; false: none */
bool control_other(char path[static CONTROL_PATH_BYTES + 16]);

/**
 * control_ask() - send @line, with @file_fd unless it is -1, and wait for the answer
 * @answer: CONTROL_ANSWER_BYTES; the text for the user
 * Returns 0; -ENOENT or -ECONNREFUSED: no daemon; -EREMOTEIO: it answered "error" (the text is in @ret_error).
 */
int control_ask(const char *path, const char *line, int file_fd, char *answer, struct trace_error *ret_error);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H
/*
 * control.h - the control socket of a running daemon, both ends.
 *
 * It is a SOCK_SEQPACKET unix socket. One message is one request: a line of text such as "mask
 * sched,fs", and an open file if the daemon is to write one. One message is the answer: "ok" or
 * "error", a newline, and text for the user. Messages cannot be split, so a client cannot stall in
 * the middle of one. The daemon accepts only root and its own user.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/error.h>

#define CONTROL_ROOT_PATH     "/run/tracedaemon/control"
#define CONTROL_PATH_BYTES    100
#define CONTROL_REQUEST_BYTES 4096
#define CONTROL_ANSWER_BYTES  16384

/**
 * control_default_path() - where a daemon of this user listens: root's path, or a path next to the
 * socket for programs
 */
void control_default_path(char path[static CONTROL_PATH_BYTES]);

/* ---- the daemon's end ---- */

struct control;

/**
 * control_listen() - listen at @path; NULL: at the default path, or if another daemon has it, at a
 * path of this daemon's own next to it
 * The socket of a dead daemon is taken over. Returns NULL with -EADDRINUSE or another error.
 */
struct control *control_listen(const char *path, struct trace_error *ret_error);
/** control_close() - stop listening and remove the socket. NULL is fine. Returns NULL. */
struct control *control_close(struct control *control);
int control_fd(const struct control *control);
const char *control_path(const struct control *control);

#define CONTROL_OPTION_BYTES 480 /* a message has room for two such options and its own text */
/**
 * control_print_option() - " --control PATH" for a command to this daemon, or "" if it has the
 * default path; an earlier daemon may have it. @control: NULL: no socket
 */
void control_print_option(const struct control *control, char option[static CONTROL_OPTION_BYTES]);

/**
 * control_accept() - accept the next client with permission
 * Returns -1 if there is none, or if the client has no permission or the daemon no descriptor for
 * it: then the client gets an error as answer.
 */
int control_accept(struct control *control);

/**
 * struct control_request - one request
 * @verb, @argument: parts of @line; @argument is "" if missing
 * @file_fd: the file passed with the request, or -1; the receiver closes it
 */
struct control_request {
	const char *verb;
	const char *argument;
	int file_fd;
	char line[CONTROL_REQUEST_BYTES];
};

/**
 * control_receive() - read a request
 * Returns 0; -EAGAIN: none has arrived; -EMFILE: no descriptor for the passed file; other errors:
 * close the client.
 */
int control_receive(int client_fd, struct control_request *ret_request);
/** control_answer() - send the answer; @err 0: "ok". A client that has closed its end is ignored */
void control_answer(int client_fd, int err, const char *text);

/* ---- the user's end ---- */

/**
 * control_other() - find another daemon of this user that listens next to the default path. Returns
 * false if there is none
 */
bool control_other(char path[static CONTROL_PATH_BYTES + 16]);

/**
 * control_ask() - send @line, with @file_fd unless it is -1, and wait for the answer
 * @answer: CONTROL_ANSWER_BYTES; the text for the user
 * Returns 0; -ENOENT or -ECONNREFUSED: no daemon; -EREMOTEIO: the daemon answered "error" (the text
 * is in @ret_error).
 */
int control_ask(const char *path, const char *line, int file_fd, char *answer, struct trace_error *ret_error);
#endif

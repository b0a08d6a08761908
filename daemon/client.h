/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_H
#define DAEMON_CLIENT_H
/* client.h - ask a running daemon: what tracectl and tracedaemon -p -m -v -j -q share. */
#include "daemon_options.h"

/** client_ask() - send @line and print the answer; returns the exit status */
int client_ask(const char *control_path, const char *line);

/**
 * client_dump() - flight recorder: save it to @path, a new file of ours; otherwise: what is buffered goes to the daemon's file
 * @path: NULL = make a name up. Returns the exit status.
 */
int client_dump(const char *control_path, const char *path);

/** client_run() - do what a tracedaemon option asks of the running daemon; returns the exit status */
int client_run(const struct options *options);
#endif

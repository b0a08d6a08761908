/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_CLIENT_H
#define DAEMON_CONTROL_CLIENT_H
/*
 * control_client.h - requests to a running daemon: the common code of tracectl and tracedaemon -p
 * -m -v -j -q.
 */
#include "daemon_options.h"

/** control_client_ask() - send @line and print the answer; returns the exit status */
int control_client_ask(const char *control_path, const char *line);

/**
 * control_client_dump() - save a flight recorder's memory to a new file at @path; otherwise have
 * the daemon write buffered events to its own file
 * @path: NULL: choose a name. Returns the exit status.
 */
int control_client_dump(const char *control_path, const char *path);

/**
 * control_client_run() - send the request of a tracedaemon option to the running daemon; returns
 * the exit status
 */
int control_client_run(const struct daemon_options *options);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_COMMANDS_H
#define DAEMON_CONTROL_COMMANDS_H
/* control_commands.h - the requests that tracectl sends to a session */
struct session;

/**
 * requests_answer() - receive one request from @fd, execute it, answer it and close the socket
 * A request that waits is answered and closed later.
 */
void requests_answer(struct session *session, int fd);
/** requests_synced() - answer clients when their dump is on disk */
void requests_synced(struct session *session);
/** requests_close() - tell the clients that still wait how the recording ended */
void requests_close(struct session *session);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CONTROL_COMMANDS_H
#define DAEMON_CONTROL_COMMANDS_H
/* control_commands.h - the requests that tracectl sends to a session */
struct session;

/**
 * control_commands_answer() - receive one request from @fd, execute it, answer it and close the
 * socket A request that waits is answered and closed later.
 */
void control_commands_answer(struct session *session, int fd);
/** control_commands_synced() - answer clients when their dump is on disk */
void control_commands_synced(struct session *session);
/**
 * control_commands_close() - answer the clients that still wait with the result of the recording
 */
void control_commands_close(struct session *session);
#endif

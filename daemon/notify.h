/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H
/* notify.h - messages to the service manager, as sd_notify(3) sends them. */

/**
 * notify_manager() - send a message such as "READY=1" to the socket in NOTIFY_SOCKET
 * Without that variable, or if the manager does not listen, nothing happens.
 */
void notify_manager(const char *message);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_OFFER_CHILD_H
#define DAEMON_OFFER_CHILD_H
/*
 * offer_child.h - receives the offers of programs in a child
 *
 * SECURITY: any user may send a descriptor of a file that a server of that user serves. Each look
 * at it, and its close(), may wait for ever (file_envelope.h). So a child receives the message, and
 * passes on only memory that can be sealed, which no process serves. The main thread waits for it,
 * and the rings of the kernel fill: for at most OFFER_ANSWER_NS, unless the child runs.
 */
#include <sys/types.h>

#define OFFER_ANSWER_NS 100000000ull

/**
 * offer_child_receive() - receive the offer on @connection, of process @peer. Any thread
 * Returns as user_socket_receive(); -ETIMEDOUT: the child does not answer, or the files of the
 * process's user are not looked at any more (files_may_ask()); -EBUSY: jail_child_start()
 */
int offer_child_receive(int connection, pid_t peer);

/** offer_child_close() - end the child; the next offer starts another one. Any thread */
void offer_child_close(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DELIVERY_H
#define DAEMON_DELIVERY_H
/*
 * delivery.h - a snapshot on its way into a pipe.
 *
 * Whoever should read it may take their time, or never come. So it is written to memory first, which waits for nobody, and goes from there into the
 * pipe in a thread of its own, while recording goes on. When it is all in, or cannot be, the client is told.
 */
#define DELIVERIES_MOST 4 /* at once: each holds a snapshot in memory */

/**
 * delivery_begin() - begin to copy all of @from, a file, to @to, then answer @client with @text, or with why not
 * All three are the delivery's from then on, and are closed by it. It is given up when the client goes away. When this process ends so do deliveries.
 * Returns 0; -EBUSY: there are as many as there may be, -ENOMEM, -EAGAIN: no thread; then they are still the caller's.
 */
int delivery_begin(int from, int to, int client, const char *text);

#endif

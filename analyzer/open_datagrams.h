/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_OPEN_DATAGRAMS_H
#define ANALYZER_OPEN_DATAGRAMS_H
/* open_datagrams.h - the datagrams that a server's socket received and has not answered */
#include <stdbool.h>
#include <stdint.h>

struct open_datagrams;
struct socket_state;
struct trace_thread;

/** datagram_read() - @thread received a datagram on @sock; false: out of memory */
bool datagram_read(struct socket_state *sock, const struct trace_thread *thread, uint64_t ns);
/**
 * datagram_answered() - @thread sent an answer on @sock
 * Returns a time since which a request was open at @thread; 0: not known
 */
uint64_t datagram_answered(struct socket_state *sock, const struct trace_thread *thread);
/** datagrams_are_open() - does @sock have datagrams that no answer was counted for? */
bool datagrams_are_open(const struct socket_state *sock);
#endif

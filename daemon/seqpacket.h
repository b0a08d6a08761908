/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SEQPACKET_H
#define DAEMON_SEQPACKET_H
/*
 * seqpacket.h - receive from a SOCK_SEQPACKET unix socket without missing its last message
 *
 * Linux first looks for a message, then whether the peer has closed (net/core/datagram.c,
 * __skb_wait_for_more_packets(); without waiting net/unix/af_unix.c, __unix_dgram_recvmsg()). This
 * has two effects:
 * 1. The peer sends and closes between these two steps, for example during an interrupt. Then
 * recvmsg() reports the end although a message is there.
 * 2. The peer closes with unread data. Then recvmsg() reports that error before the message that
 * the peer sent.
 * Each is reported only once, and the message stays in the queue. So an end counts only when
 * recvmsg() reports it twice.
 */
#include <errno.h>
#include <sys/socket.h>

/**
 * seqpacket_receive() - recvmsg() that is not interrupted
 * Returns 0 only if the peer has closed and all its messages have been read; or for an empty
 * message with descriptors, which the caller owns as usual.
 */
static inline ssize_t seqpacket_receive(int fd, struct msghdr *message, int flags)
{
	size_t control_bytes = message->msg_controllen;
	ssize_t bytes;

	do
		bytes = recvmsg(fd, message, flags);
	while (bytes < 0 && errno == EINTR);
	if (bytes > 0 || (bytes < 0 && errno != ECONNRESET) || (bytes == 0 && message->msg_controllen))
		return bytes;
	message->msg_controllen = control_bytes;
	return recvmsg(fd, message, flags | MSG_DONTWAIT);
}
#endif

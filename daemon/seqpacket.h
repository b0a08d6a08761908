/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SEQPACKET_H
#define DAEMON_SEQPACKET_H
/*
 * seqpacket.h - what a SOCK_SEQPACKET unix socket tells about its end, and what it keeps to itself.
 *
 * Linux looks into the queue first and for the other end next (net/core/datagram.c, __skb_wait_for_more_packets(); net/unix/af_unix.c,
 * __unix_dgram_recvmsg(), where it does not wait). What is sent and closed in between, while an interrupt or a hypervisor has the
 * CPU, is told as an end, though there is a message. And the error of a peer that closed with something unread is told before
 * the message that it sent. Both are told once, and the message stays: so an end counts when it is told twice.
 */
#include <errno.h>
#include <sys/socket.h>

/**
 * seqpacket_receive() - as recvmsg(), but not interrupted, and 0 only when the peer has gone and all that it sent is read
 * Or for a message of no bytes that has descriptors beside it: they are the caller's, as always.
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_KERNEL_NUMBERS_H
#define BASE_KERNEL_NUMBERS_H
/* kernel_numbers.h - what fields of events mean that the kernel has in no header for programs, or in one that is younger than what we are built with. */

#define SOFTIRQ_NET_RX	 3  /* include/linux/interrupt.h */
#define TCP_LISTEN	 10 /* include/net/tcp_states.h; also of unix sockets */
#define URING_FIXED_FILE 1  /* REQ_F_FIXED_FILE: "fd" counts registered files */
#define URING_CQE_SKIP	 64 /* REQ_F_CQE_SKIP: no completion is told */
#define URING_CQE_MORE	 2  /* IORING_CQE_F_MORE: of a completion; more of the same request will come */

#endif

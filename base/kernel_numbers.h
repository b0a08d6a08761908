/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_KERNEL_NUMBERS_H
#define BASE_KERNEL_NUMBERS_H
/*
 * kernel_numbers.h - values in fields of events that the kernel defines in no user-space header, or
 * only in headers newer than the one that this project is built with.
 */

#define SOFTIRQ_TIMER	 1 /* include/linux/interrupt.h */
#define SOFTIRQ_NET_RX	 3
#define SOFTIRQ_HRTIMER	 8
#define TCP_LISTEN	 10 /* include/net/tcp_states.h; unix sockets use it too */
#define URING_FIXED_FILE 1  /* REQ_F_FIXED_FILE: "fd" counts registered files */
#define URING_CQE_SKIP	 64 /* REQ_F_CQE_SKIP: the kernel posts no completion */
/* IORING_CQE_F_MORE in a completion: the request will post more completions */
#define URING_CQE_MORE 2

#endif

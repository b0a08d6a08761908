/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_KERNEL_NUMBERS_H
#define BASE_KERNEL_NUMBERS_H
/*
 * kernel_numbers.h - values in fields of events, as Linux on x86 and arm64 records them.
 *
 * The macros of the system headers are those of the machine that reads the trace. It may be another
 * one: the analysis also runs as WebAssembly, where S_IFSOCK is another number. So code that
 * reads recorded values uses the names here. tests/analyzer/test_kernel_numbers.c compares both.
 */

/* ---- values that are in no header of user space, or only in newer ones ---- */

#define SOFTIRQ_TIMER	 1 /* include/linux/interrupt.h */
#define SOFTIRQ_NET_RX	 3
#define SOFTIRQ_HRTIMER	 8
#define TCP_LISTEN	 10 /* include/net/tcp_states.h; unix sockets use it too */
#define URING_FIXED_FILE 1  /* REQ_F_FIXED_FILE: "fd" counts registered files */
#define URING_CQE_SKIP	 64 /* REQ_F_CQE_SKIP: the kernel posts no completion */
/* IORING_CQE_F_MORE in a completion: the request will post more completions */
#define URING_CQE_MORE 2

/* ---- results ---- */

#define LINUX_EINTR	4
#define LINUX_EAGAIN	11
#define LINUX_ETIMEDOUT 110

/* ---- files ---- */

#define LINUX_S_IFMT	     0170000
#define LINUX_S_IFSOCK	     0140000
#define LINUX_S_IFLNK	     0120000
#define LINUX_S_IFREG	     0100000
#define LINUX_S_IFBLK	     0060000
#define LINUX_S_IFDIR	     0040000
#define LINUX_S_IFCHR	     0020000
#define LINUX_S_IFIFO	     0010000
#define LINUX_S_ISSOCK(mode) (((mode)&LINUX_S_IFMT) == LINUX_S_IFSOCK)
#define LINUX_S_ISREG(mode)  (((mode)&LINUX_S_IFMT) == LINUX_S_IFREG)
#define LINUX_S_ISBLK(mode)  (((mode)&LINUX_S_IFMT) == LINUX_S_IFBLK)
#define LINUX_S_ISDIR(mode)  (((mode)&LINUX_S_IFMT) == LINUX_S_IFDIR)
#define LINUX_S_ISCHR(mode)  (((mode)&LINUX_S_IFMT) == LINUX_S_IFCHR)
#define LINUX_S_ISFIFO(mode) (((mode)&LINUX_S_IFMT) == LINUX_S_IFIFO)

#define LINUX_PIPE_BUF	      4096
#define LINUX_AT_FDCWD	      (-100)
#define LINUX_O_ACCMODE	      03
#define LINUX_O_WRONLY	      01
#define LINUX_O_CLOEXEC	      02000000
#define LINUX_FD_CLOEXEC      1
#define LINUX_P_PID	      1
#define LINUX_WALL	      0x40000000 /* __WALL, include/uapi/linux/wait.h */
#define LINUX_F_DUPFD	      0
#define LINUX_F_SETFD	      2
#define LINUX_F_DUPFD_CLOEXEC 1030
#define LINUX_FIONCLEX	      0x5450
#define LINUX_FIOCLEX	      0x5451

/* ---- memory ---- */

#define LINUX_MAP_SHARED       0x01
#define LINUX_MAP_PRIVATE      0x02
#define LINUX_MAP_FIXED	       0x10
#define LINUX_MAP_ANONYMOUS    0x20
#define LINUX_MREMAP_FIXED     0x2
#define LINUX_MREMAP_DONTUNMAP 0x4
#define LINUX_PROT_WRITE       0x2

/* ---- sockets ---- */

#define LINUX_AF_UNSPEC	     0
#define LINUX_AF_UNIX	     1
#define LINUX_AF_INET	     2
#define LINUX_AF_INET6	     10
#define LINUX_AF_NETLINK     16
#define LINUX_AF_PACKET	     17
#define LINUX_AF_BLUETOOTH   31
#define LINUX_AF_ALG	     38
#define LINUX_AF_VSOCK	     40
#define LINUX_AF_XDP	     44
#define LINUX_AF_MAX	     46
#define LINUX_SOCK_STREAM    1
#define LINUX_SOCK_DGRAM     2
#define LINUX_SOCK_RAW	     3
#define LINUX_SOCK_SEQPACKET 5
#define LINUX_IPPROTO_ICMP   1
#define LINUX_IPPROTO_ICMPV6 58
#define LINUX_MSG_PEEK	     0x02
#define LINUX_MSG_DONTWAIT   0x40
#define LINUX_MSG_ERRQUEUE   0x2000
#define LINUX_SHUT_RD	     0

/* ---- processes ---- */

#define LINUX_CLONE_VM	   0x00000100
#define LINUX_CLONE_FS	   0x00000200
#define LINUX_CLONE_FILES  0x00000400
#define LINUX_CLONE_VFORK  0x00004000
#define LINUX_CLONE_PARENT 0x00008000
#define LINUX_CLONE_THREAD 0x00010000
#define LINUX_CLONE_NEWNS  0x00020000

#define LINUX_SIGQUIT  3
#define LINUX_SIGILL   4
#define LINUX_SIGTRAP  5
#define LINUX_SIGABRT  6
#define LINUX_SIGBUS   7
#define LINUX_SIGFPE   8
#define LINUX_SIGKILL  9
#define LINUX_SIGSEGV  11
#define LINUX_SIGCHLD  17
#define LINUX_SIGCONT  18
#define LINUX_SIGSTOP  19
#define LINUX_SIGTSTP  20
#define LINUX_SIGTTIN  21
#define LINUX_SIGTTOU  22
#define LINUX_SIGURG   23
#define LINUX_SIGXCPU  24
#define LINUX_SIGXFSZ  25
#define LINUX_SIGWINCH 28
#define LINUX_SIGSYS   31

#define LINUX_SI_KERNEL	     0x80 /* of a signal: the code of one that the kernel sends */
#define LINUX_SIGNAL_IGNORED 1	  /* TRACE_SIGNAL_IGNORED: the receiver ignores it */
#define LINUX_CORE_DUMPED    0x80 /* of a wait status: wait(2), WCOREDUMP() */

/* ---- fcntl(2): commands that wait for a lock ---- */

#define LINUX_F_SETLKW	   7
#define LINUX_F_SETLKW64   14 /* of 32-bit programs */
#define LINUX_F_OFD_SETLKW 38

/* ---- ipc(2) of 32-bit programs: calls in the lower half of its first argument ---- */

#define LINUX_IPC_SHMAT 21

/* ---- futex(2) ---- */

#define LINUX_FUTEX_WAIT	    0
#define LINUX_FUTEX_WAKE	    1
#define LINUX_FUTEX_REQUEUE	    3
#define LINUX_FUTEX_CMP_REQUEUE	    4
#define LINUX_FUTEX_LOCK_PI	    6
#define LINUX_FUTEX_UNLOCK_PI	    7
#define LINUX_FUTEX_WAIT_BITSET	    9
#define LINUX_FUTEX_WAKE_BITSET	    10
#define LINUX_FUTEX_WAIT_REQUEUE_PI 11
#define LINUX_FUTEX_CMP_REQUEUE_PI  12
#define LINUX_FUTEX_LOCK_PI2	    13
#define LINUX_FUTEX_PRIVATE_FLAG    128
#define LINUX_FUTEX_CMD_MASK	    (~(LINUX_FUTEX_PRIVATE_FLAG | 256)) /* 256: FUTEX_CLOCK_REALTIME */
#define LINUX_FUTEX_WAITERS	    0x80000000
#define LINUX_FUTEX_TID_MASK	    0x3fffffff

#endif

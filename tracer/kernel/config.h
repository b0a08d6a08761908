/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_CONFIG_H
#define TRACER_CONFIG_H
/* config.h - what the loader tells the BPF programs; the same structs on both sides. */

#define TRACER_NR_SYSCALLS 512	/* numbers beyond are recorded with six arguments */
#define TRACER_READY_PAGES 128	/* of 4096 bytes, that one run of make_ready looks at */
#define TRACER_PATH_BYTES  1920 /* longest path recorded, NUL included: a record has at most 2040 bytes */

/* struct tracer_geometry - the shape of a ring, all that programs would have to work out of it for each event. */
struct tracer_geometry {
	unsigned int subbuf_bytes;
	unsigned int subbuf_bytes_log2;
	unsigned int nr_subbufs_log2;
	unsigned int slots_mask; /* nr_subbufs * subbuf_bytes - 1 */
};

/* struct tracer_config - constants of a session. Filters: 0 = off. */
struct tracer_config {
	struct tracer_geometry ring;
	struct tracer_geometry structural;
	unsigned int overwrite;
	int exclude_tgid;
	unsigned int filtering; /* any of the filters below is on */
	unsigned int filter_pid;
	unsigned int follow;
	int filter_pgrp;
	unsigned int filter_by_uid;
	unsigned int filter_uid;
	unsigned int filter_by_gid;
	unsigned int filter_gid;
	unsigned int others_hidden;
	unsigned int can_cast; /* the kernel has bpf_rdonly_cast() */
	long long preempt_count_distance; /* from a CPU's run queue to its preempt_count; 0 = unknown */
	long long current_task_distance;  /* the same to the pointer to its current thread; 0 also = no loads from anywhere */
};

/* An entry of syscall_actions[abi][nr]. */
enum {
	SYSCALL_ARGS_0 = 0,
	SYSCALL_ARGS_3 = 1,
	SYSCALL_ARGS_6 = 2,
	SYSCALL_ARGS_MASK = 3,
	SYSCALL_PATH_SHIFT = 2, /* 1 + index of the argument that is a path; 0 = none */
	SYSCALL_PATH_MASK = 7,
	SYSCALL_NEW_FD = 1 << 5,     /* returns a descriptor of a file to be identified */
	SYSCALL_ENDPOINTS = 1 << 6,  /* arg0 is a socket whose endpoints may have changed */
	SYSCALL_PIPE = 1 << 7,	     /* arg0 points to two new descriptors */
	SYSCALL_SOCKETPAIR = 1 << 8, /* arg3 points to two new descriptors */
	SYSCALL_NEW_SOCKET = 1 << 9, /* returns a descriptor of a socket */
	SYSCALL_RIGHTS = 1 << 10,    /* arg1 points to a message, which may bring descriptors */
	SYSCALL_SOCKETCALL = 1 << 11, /* socketcall() of 32-bit programs: arg0 is the call, arg1 points to its arguments */
	SYSCALL_RING = 1 << 12,	      /* arg0 is a ring of io_uring, arg3 tells how */
	SYSCALL_BPF = 1 << 13,	      /* arg0 is the command of bpf(): few return a descriptor */
	SYSCALL_MESSAGES = 1 << 14,   /* arg1 points to messages, as many as it returns, which may bring descriptors */
	SYSCALL_IOCTL = 1 << 15,      /* arg1 is the command of ioctl(): few return a descriptor */
	SYSCALL_ENTRY_MORE = SYSCALL_PATH_MASK << SYSCALL_PATH_SHIFT | SYSCALL_SOCKETCALL | SYSCALL_RING, /* more to record at the entry than numbers */
};

/* What list_processes writes. @number: of @tgid in the namespace of whoever asks. @state: for whoever reads it, 0 = not decided */
struct tracer_iter_process {
	unsigned int tgid;
	unsigned int ppid;
	unsigned int number;
	unsigned int state;
};
enum { TRACER_PROCESS_FOLLOWED = 1, TRACER_PROCESS_DESCENDS, TRACER_PROCESS_STRANGER };

/* What start_files writes. @files: the address of the table of descriptors; it goes no further than the loader */
struct tracer_iter_files {
	unsigned int tid;
	unsigned int tgid;
	unsigned long long files;
};

/* What the start-state iterators write: this, then the payload with its string. @bytes counts what follows. */
struct tracer_iter_record {
	unsigned int bytes;
	unsigned int id;
	unsigned long long ts_ns;
};

#endif

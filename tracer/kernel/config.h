/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_CONFIG_H
#define TRACER_CONFIG_H
/* config.h - parameters from the loader for the BPF programs; the same structs on both sides. */
#include <trace/counts.h>

#define TRACER_NR_SYSCALLS 512	/* calls with higher numbers are recorded with six arguments */
#define TRACER_READY_PAGES 128	/* of 4096 bytes, that one run of make_ready loads */
#define TRACER_ARGS_BYTES  256	/* of the arguments of a program, NUL included; a power of two */
#define TRACER_DATA_BYTES  1024 /* of the memory of an argument; a power of two */
#define TRACER_NR_ARGS	   6
#define TRACER_PATH_BYTES  1920 /* longest recorded path, NUL included: a record has at most 2040 bytes */

#define TRACER_MAX_WORK_FUNCTIONS 1024 /* functions of deferred work that get names */

#define SAMPLE_MAX_ADDRESSES 32768 /* that get names: of the kernel, and of generated code */

#define TRACER_NR_HITS	  32768 /* addresses of the kernel at which samples are counted */
#define TRACER_NR_COUNTED 8192	/* functions whose runs are counted */

/* Keys of counted functions: the kind in the highest byte, which is 0xff in all addresses of the
 * kernel. */
#define TRACER_COUNT_KEY(kind, function) (((function) & ~(0xffull << 56)) | (unsigned long long)(kind) << 56)

/* struct tracer_hits - samples at an address. @periods: their periods, in the unit of the period */
struct tracer_hits {
	unsigned long long samples;
	unsigned long long periods;
};

/* struct tracer_function_name - of the kernel; @text: NAME, NAME [MODULE], or "" = not known */
struct tracer_function_name {
	char text[128];
};

/* struct tracer_geometry - the geometry of a ring, with all values that programs would
 * otherwise compute for each event. */
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
	unsigned int group_hierarchy;  /* tracer_group_hierarchy() */
	unsigned int caller_in_bounds; /* sys_caller: the first address between the bounds, or that at the depth */
	unsigned int caller_depth;
	unsigned long long caller_lower;
	unsigned long long caller_upper;
	unsigned int data_bytes;	  /* --args: of the memory of each argument; 0 = off */
	unsigned int samples_waits;	  /* some waits have stacks, wait_choice.bpf.h */
	unsigned int counts;		  /* count what the events tell, counts.bpf.h */
	unsigned int wait_slots_mask;	  /* number of slots for waiting threads - 1 */
	unsigned int can_cast;		  /* the kernel has bpf_rdonly_cast() */
	long long preempt_count_distance; /* distance from a CPU's run queue to its preempt_count; 0 = unknown */
	/* The same, to the pointer to its current thread; 0 also = programs
	 * cannot load from any address. */
	long long current_task_distance;
};

/* Indexes of the map wait_programs: the wakeup chose the wait; no wakeup was seen. */
enum { WAIT_IS_WOKEN, WAIT_IS_NOT_WOKEN, NR_WAIT_PROGRAMS };

/* An entry of syscall_actions[abi][nr]. */
enum {
	SYSCALL_ARGS_0 = 0,
	SYSCALL_ARGS_3 = 1,
	SYSCALL_ARGS_6 = 2,
	SYSCALL_ARGS_MASK = 3,
	SYSCALL_PATH_SHIFT = 2, /* 1 + index of the argument that is a path; 0 = none */
	SYSCALL_PATH_MASK = 7,
	SYSCALL_NEW_FD = 1 << 5,     /* returns a descriptor of a file to be identified */
	SYSCALL_ENDPOINTS = 1 << 6,  /* arg0 is a socket with endpoints that may have changed */
	SYSCALL_PIPE = 1 << 7,	     /* arg0 points to two new descriptors */
	SYSCALL_SOCKETPAIR = 1 << 8, /* arg3 points to two new descriptors */
	SYSCALL_NEW_SOCKET = 1 << 9, /* returns a descriptor of a socket */
	SYSCALL_RIGHTS = 1 << 10,    /* arg1 points to a message, which may carry descriptors */
	/* socketcall() of 32-bit programs: arg0 is the call, arg1 points to its arguments */
	SYSCALL_SOCKETCALL = 1 << 11,
	SYSCALL_RING = 1 << 12, /* arg0 is an io_uring ring, arg3 describes the call */
	SYSCALL_BPF = 1 << 13,	/* arg0 is the command of bpf(); few commands return a descriptor */
	/* arg1 points to messages, as many as the call returns, which may carry descriptors */
	SYSCALL_MESSAGES = 1 << 14,
	SYSCALL_IOCTL = 1 << 15,   /* arg1 is the command of ioctl(); few commands return a descriptor */
	SYSCALL_IDS = 1 << 16,	   /* changes the effective user or group of the thread, or its process group */
	SYSCALL_AT = 1 << 17,	   /* the argument before the path is the descriptor of the directory where it begins */
	SYSCALL_SENDTO = 1 << 18,  /* arg4 is the address to which it sends */
	SYSCALL_SENDMSG = 1 << 19, /* arg1 points to a message with such an address */
	SYSCALL_WAITV = 1 << 20,   /* arg0 points to futexes; the result is the index of one of them */
	SYSCALL_EXEC = 1 << 21,
	SYSCALL_RENAME = 1 << 22,   /* it renames a file or removes a directory */
	SYSCALL_REMOVE = 1 << 23,   /* the same if arg2 has AT_REMOVEDIR */
	SYSCALL_SENDMMSG = 1 << 24, /* arg1 points to messages with such addresses, as many as the call returns */
	/* Only if some processes are recorded: the exit records which descriptors were ready. */
	SYSCALL_POLL = 1 << 25,	  /* arg0 points to arg1 descriptors with what they are ready for */
	SYSCALL_SELECT = 1 << 26, /* arg1 to arg3 point to sets of the descriptors below arg0 */
	SYSCALL_EPOLL = 1 << 27,  /* arg0 is an epoll, arg1 points to as many events as it returns */
	SYSCALL_MOVES = 1 << 28,  /* arg0 points to two futexes; waiters are moved from the one to the other */
	SYSCALL_POLLS = SYSCALL_POLL | SYSCALL_SELECT | SYSCALL_EPOLL,
	/* The entry records more than numbers. */
	SYSCALL_ENTRY_MORE = SYSCALL_PATH_MASK << SYSCALL_PATH_SHIFT | SYSCALL_SOCKETCALL | SYSCALL_RING,
};

/* The part of an argument that sys_data copies. @when: 0 = nothing. The values of @shape and @count
 * are in order of enum call_count, base/call_arguments.h. */
enum { DATA_AT_ENTRY = 1, DATA_AT_EXIT = 2 };
enum { DATA_BYTES, DATA_TEXT, DATA_TEXTS, DATA_BITS };
enum { DATA_ONE, DATA_OF_ARGUMENT, DATA_BEHIND, DATA_OF_RESULT };
struct tracer_data_rule {
	unsigned char when;
	unsigned char shape;
	unsigned char count;
	unsigned char idx;  /* of the argument that is the count, or points to it */
	unsigned int bytes; /* of one element */
};

/* Written by list_processes. @number: of @tgid in the caller's pid namespace. @state: for
 * the reader, 0 = not decided */
struct tracer_iter_process {
	unsigned int tgid;
	unsigned int ppid;
	unsigned int number;
	unsigned int state;
};
enum { TRACER_PROCESS_FOLLOWED = 1, TRACER_PROCESS_DESCENDS, TRACER_PROCESS_STRANGER };

/*
 * Written by start_files. @files, @memory: the addresses of the descriptor table and of the address
 * space; only the loader uses them. @memory is 0 of a thread that is not to report its process.
 */
struct tracer_iter_files {
	unsigned int tid;
	unsigned int tgid;
	unsigned long long files;
	unsigned long long memory;
};

/* Written by program_bell: a process, numbered as the kernel does, that calls the daemon.
 * @bytes: the size of its memory */
struct tracer_bell_record {
	unsigned long long bytes;
	unsigned int number;
	char comm[16];
	char name[44];
};

/* Written by the start-state iterators: this, then the payload with its
 * string. @bytes counts both. */
struct tracer_iter_record {
	unsigned int bytes;
	unsigned int id;
	unsigned long long ts_ns;
};

#endif

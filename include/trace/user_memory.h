/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_USER_MEMORY_H
#define TRACE_USER_MEMORY_H
/*
 * user_memory.h - the memory that a program with tracepoints shares with the daemon
 * This is the contract between libtracer (tracer/user) and tracedaemon
 * (daemon/user_*); no other code needs it.
 *
 * A program has one memfd, named USER_MEMORY_NAME, sparse, sealed against shrinking,
 * growing and further seals:
 *
 *     struct user_memory | flags: one byte per event | registry: struct user_event ... |
 *     conditions | a ring per CPU (subbuf.h)
 *
 * Connection. The program creates the memfd when it starts (or is forked, see below). It offers it
 * to each daemon's socket that it finds (struct user_offer, with the memfd by SCM_RIGHTS; there is
 * no answer) and continues. It has no thread, keeps no connection, and makes no further system
 * calls: events wait in the rings. A daemon that starts later finds the memfd of a running program
 * through /proc/PID/fd, or through /proc/PID/map_files if the program has closed it. One daemon at
 * a time takes a program's events: it holds an exclusive flock() on an open file description of its
 * own (it opens /proc/self/fd/N again).
 *
 * Switching. A tracepoint reads its byte of the flags, which the daemon writes. Until a daemon has
 * seen a new event type, its flag is `new_flag`. So no event is missed between the start of a
 * program and the daemon's first look. The daemon drops events recorded meanwhile that no recording
 * selected, and counts them as filtered.
 *
 * Fork. A child inherits the mapping of its parent's header, flags and registry, and so the same
 * switches, but not the rings. With its first event it creates a memory of its own and offers it as
 * at a start. A child that records nothing costs nothing. A child may be unable to create a memory,
 * or to reach a daemon. Then it counts each of its events in the memory of its parent (or of that
 * one's parent), as `unready`, for as long as the flags there select them.
 *
 * Other namespaces. A program in a container, a chroot or another mount namespace does not find the
 * socket. A daemon that takes programs' events and sees the kernel's therefore also holds a read
 * lock (fcntl) on one byte of the file of its time namespace, which containers share:
 * user_presence_offset(). A program without a socket asks for that lock
 * (F_OFD_GETLK). If it is held, the program records from the start, and calls the daemon: it takes
 * and releases a flock() on its memfd. The daemon sees the release in the tracepoint
 * flock_lock_inode, with the process that made it, and finds the memfd in /proc/PID/map_files. The
 * program waits up to 100 ms for @daemon_pid or @answered. A memfd of size 0 reports that the
 * program has no memory. A program that cannot even have a descriptor gives its thread the name
 * user_bell_name() for a moment, which the daemon sees in the tracepoint task_rename.
 * SECURITY: any process may hold that lock. A program does not believe a holder that it can see and
 * that is another user's. It waits only once, and only a daemon that may open its memory can
 * answer: after a few calls without an answer its events are off.
 *
 * Unconnected. A daemon may be listening, but a program may be unable to send its offer. Such a
 * program records all the same. It repeats the offer from time to time and when it ends, and the
 * daemon finds it in /proc, where it looks when a recording begins and when it ends. A program that
 * has no memory at all reports this with an offer without a descriptor.
 *
 * The daemon reads rings only of CPUs that the machine can have, reads sub-buffers and entries of
 * the registry only where the file has pages, and accepts at most four memories per process.
 * daemon/budget.h bounds the cost of all programs of one user.
 *
 * SECURITY: The daemon trusts no value here. It copies what it reads before it checks it, and reads
 * sizes once; a program that writes nonsense spoils its own events only. A program trusts the
 * daemons that it offers its memory to: root's and its own user's.
 */
#include <trace/condition.h>
#include <trace/subbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USER_MEMORY_NAME       "trace-program"
#define USER_MEMORY_NAME_BYTES 32		     /* with the suffix of user_memory_name() */
#define USER_MEMORY_MAGIC      0x0a6d656d63617274ULL /* "tracmem\n" */
#define USER_MEMORY_VERSION    2u

/* Limits that both sides keep. */
#define USER_MAX_EVENTS		16384u
#define USER_MAX_FIELDS		32u
#define USER_MAX_NAME_BYTES	128u /* of a provider, event or field, with its NUL; longer ones are cut */
#define USER_MAX_RINGS		8192u
#define USER_MAX_BYTES		(1ULL << 40) /* of the whole memory */
#define USER_MAX_REGISTRY_BYTES (4u << 20)

/**
 * struct user_memory - the first page
 * Everything up to @rings_offset is set up before another process sees it, and never changes.
 * @total_bytes: of the memfd. @max_events: flags and ids: 1 .. max_events - 1; 0 is padding
 * @clock: enum subbuf_clock, of all rings
 * @ring_stride: distance between rings; ring n is CPU n's, and is in use when its
 *     control.position is not 0
 * @pid: as the program sees itself; the daemon trusts the kernel's value instead
 * @features: enum user_feature, what libtracer can do beyond the first release of this version
 * @registry_used: bytes of complete entries. Written by the program, store-release after the entry
 *     [U1]; pairs with the daemon's load [D1]
 * @unready: selected events that had no ring to count them. They came while another thread was
 *     still setting up the memory or registering an event (a thread that they may have
 *     interrupted), or in a child that has no memory of its own. Atomic add by the program and its
 *     children, so it can grow after the program's death
 * @unregistered: tracepoints that found no room in the registry or among the ids, and stay off;
 *     atomic add by the program
 * @new_flag: the flag of an event type when it is registered; written by the daemon (by the program
 *     before it has offered the memory)
 * @daemon_pid: the daemon that takes the events; 0 = none yet, and @blocking has no meaning.
 *     @blocking: writers may wait for room. Both written by the daemon
 * @overwrite: when a ring is full, writers reuse the oldest sub-buffer, taken or not: a flight
 *     recorder. Writers read it whenever they open a sub-buffer. The daemon that sets it to 0 calls
 *     subbuf_keep() for each ring afterwards; so does a daemon that finds it set by another one,
 *     which was killed. A child does not inherit it
 * @answered: a daemon that was called has looked at the memory; without @daemon_pid: it refused it
 * @seen_id: the flags of all events up to this id are the daemon's; written after them
 */
struct user_memory {
	trace_u64 magic;
	trace_u32 version;
	trace_u32 clock;
	trace_u64 total_bytes;
	trace_u32 pid;
	trace_u32 max_events;
	trace_u32 nr_rings;
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs;
	trace_u32 registry_bytes;
	trace_u64 flags_offset;
	trace_u64 registry_offset;
	trace_u64 ring_stride;
	trace_u64 rings_offset;
	trace_u32 features;
	trace_u32 pad3;
	trace_u64 conditions_offset;
	trace_u64 pad0[2];
	/* written by the program */
	trace_u64 registry_used;
	trace_u64 unready;
	trace_u64 unregistered;
	trace_u64 pad1[5];
	/* written by the daemon */
	trace_u32 new_flag;
	trace_u32 daemon_pid;
	trace_u32 blocking;
	trace_u32 overwrite;
	trace_u32 answered;
	trace_u32 seen_id;
	trace_u32 daemon_features;
	trace_u32 pad2;
};

enum user_feature {
	/* libtracer reads @overwrite, and maintains records_ever and base_ns
	 * in the sub-buffers' headers */
	USER_FEATURE_OVERWRITE = 1,
	/* it evaluates conditions; @conditions_offset is valid */
	USER_FEATURE_CONDITIONS = 2,
};

/* what a daemon can do, in @daemon_features */
enum user_daemon_feature {
	USER_DAEMON_SEES = 1, /* it maintains @seen_id */
};

/*
 * Conditions. A flag of USER_FLAG_CONDITION + n switches an event on if the condition in entry n of
 * the table at @conditions_offset holds. The daemon never changes an entry that a flag names.
 * The daemon evaluates conditions again when it takes records: those of an older libtracer, and of
 * events that the program recorded before the daemon had set their condition.
 */
#define USER_FLAG_CONDITION   2
#define USER_MAX_CONDITIONS   64
#define USER_CONDITIONS_BYTES ((USER_MAX_CONDITIONS * sizeof(struct trace_condition) + 4095) & ~4095ULL)

/* The type of a field. Fixed ones are in the record at their offset; STRING and BYTES store a
 * struct user_reference there. */
enum user_field_type {
	USER_FIELD_SIGNED = 1, /* 1, 2, 4 or 8 bytes; enumerations too */
	USER_FIELD_UNSIGNED = 2,
	USER_FIELD_FLOAT = 3, /* 4 or 8 bytes, IEEE 754 */
	USER_FIELD_BOOL = 4,
	USER_FIELD_POINTER = 5,
	USER_FIELD_CHAR = 6,
	USER_FIELD_STRING = 7, /* the referenced bytes are the text, without NUL, in any encoding */
	USER_FIELD_BYTES = 8,
};

/**
 * struct user_reference - where in the payload a string or byte array is: after the
 * fixed part, at any alignment
 */
struct user_reference {
	trace_u16 offset;
	trace_u16 bytes;
};

/* The meaning of an event for analyses. BEGIN and END of one name enclose a scope;
 * they nest within a thread. */
enum user_event_role {
	USER_ROLE_EVENT = 0,
	USER_ROLE_BEGIN = 1,
	USER_ROLE_END = 2,
	USER_ROLE_COUNTER = 3,	       /* its first field is a value over time */
	USER_ROLE_REQUEST_BEGIN = 4,   /* its first field names a request that the thread works for from now on ... */
	USER_ROLE_REQUEST_END = 5,     /* ... and not any more */
	USER_ROLE_REQUEST_HANDOFF = 6, /* the thread passes the request on, to the thread that begins it next */
};

/**
 * struct user_event - an entry of the registry
 * Followed by @nr_fields struct user_field, then by @text_bytes of text: all names that the offsets
 * in both structs refer to, each with its NUL.
 * @bytes: size of the whole entry, a multiple of 8
 * @id: of its records; never used for another event of this memory
 * @payload_bytes: size of the fixed part of the payload, a multiple of 4: trace_u32 tid first, then
 *     the fields. A record is the header, the fixed part, the bytes that references refer to, and
 *     zeros up to a multiple of 8
 * @provider, @name, @file, @function: offsets in the text
 */
struct user_event {
	trace_u32 bytes;
	trace_u16 id;
	trace_u16 role;
	trace_u16 payload_bytes;
	trace_u16 nr_fields;
	trace_u32 line;
	trace_u32 text_bytes;
	trace_u16 provider;
	trace_u16 name;
	trace_u16 file;
	trace_u16 function;
	trace_u32 pad;
};

/**
 * struct user_field - @offset, @bytes: in the payload; @type: enum user_field_type;
 * @name: offset in the text
 */
struct user_field {
	trace_u16 offset;
	trace_u16 bytes;
	trace_u16 type;
	trace_u16 name;
};

/*
 * The sockets: SOCK_SEQPACKET. USER_SOCKET_ROOT is the system daemon's, open to all users. A user's
 * own daemon listens at $XDG_RUNTIME_DIR/USER_SOCKET_NAME; if there is no such directory, at
 * USER_SOCKET_TMP with the uid in it (the directory must belong to the user and be closed to
 * others). $TRACER_SOCKET, for both sides, names another socket instead of these (not for set-uid
 * programs).
 * SECURITY: Before the program offers anything it checks by SO_PEERCRED that
 * root or its own user listens.
 */
#define USER_SOCKET_ROOT "/run/tracedaemon/programs"
#define USER_SOCKET_NAME "tracedaemon/programs"
#define USER_SOCKET_TMP	 "/tmp/tracedaemon-%u/programs"

/**
 * user_memory_name() - the memfd's name, for programs and daemons that use @socket
 * @socket: $TRACER_SOCKET, or NULL or "" without it
 * A program with a socket of its own is separate from all others: no other daemon finds it, not
 * even in /proc. @ret_name: USER_MEMORY_NAME_BYTES.
 */
static inline void user_memory_name(const char *socket, char *ret_name)
{
	const char *plain = USER_MEMORY_NAME;
	trace_u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a */
	unsigned int at = 0, i;

	for (; plain[at]; at++)
		ret_name[at] = plain[at];
	if (socket && *socket) {
		for (; *socket; socket++)
			hash = (hash ^ (unsigned char)*socket) * 0x100000001b3ULL;
		ret_name[at++] = '-';
		for (i = 0; i < 16; i++, hash >>= 4)
			ret_name[at++] = "0123456789abcdef"[hash & 15];
	}
	ret_name[at] = '\0';
}

/**
 * user_presence_offset() - the byte of the time namespace's file that a daemon locks while it takes
 * programs
 * @socket: as for user_memory_name(). @uid: the daemon's effective user; root takes all programs,
 *     others take those of their user
 */
static inline trace_u64 user_presence_offset(const char *socket, trace_u32 uid)
{
	trace_u64 hash = 0xcbf29ce484222325ULL ^ uid;
	char name[USER_MEMORY_NAME_BYTES];
	unsigned int at;

	user_memory_name(socket, name);
	for (at = 0; name[at]; at++)
		hash = (hash ^ (unsigned char)name[at]) * 0x100000001b3ULL;
	return hash >> 2;
}

#define USER_BELL_NAME	     "trace!"
#define USER_BELL_NAME_BYTES 16

/** user_bell_name() - the name of a thread that calls that daemon without a descriptor */
static inline void user_bell_name(const char *socket, trace_u32 uid, char *ret_name)
{
	const char *plain = USER_BELL_NAME;
	trace_u64 hash = user_presence_offset(socket, uid);
	unsigned int at = 0, i;

	for (; plain[at]; at++)
		ret_name[at] = plain[at];
	for (i = 0; i < 8; i++, hash >>= 4)
		ret_name[at++] = "0123456789abcdef"[hash & 15];
	ret_name[at] = '\0';
}

/**
 * struct user_offer - the one message of a program, sent with its memfd; without one: the program
 * could not create a memory
 */
struct user_offer {
	trace_u64 magic; /* USER_MEMORY_MAGIC */
	trace_u32 version;
	trace_u32 pid; /* the sender's own pid; SO_PEERCRED is valid instead */
};

#ifdef __cplusplus
}
#endif
#endif

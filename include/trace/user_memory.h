/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_USER_MEMORY_H
#define TRACE_USER_MEMORY_H
/*
 * user_memory.h - the memory that a program with tracepoints shares with the daemon. The contract of libtracer (tracer/user)
 * and tracedaemon (daemon/user_*): nobody else needs it.
 *
 * A program has one memfd, named USER_MEMORY_NAME, sparse, sealed against shrinking, growing and further seals:
 *
 *     struct user_memory | flags: one byte per event | registry: struct user_event ... | a ring per CPU (subbuf.h)
 *
 * How they meet. The program makes the memfd when it starts (or is forked, see below), offers it to the daemons' sockets that it finds (struct
 * user_offer, the memfd beside it by SCM_RIGHTS, no answer expected) and goes on. It has no thread, keeps no connection, and
 * does not call the system again: events wait in the rings. A daemon that starts later finds the memfd of running
 * programs through /proc/PID/fd, or /proc/PID/map_files when the program has closed it. One daemon at a time takes a program's
 * events: it holds an exclusive flock() on an open file description of its own (/proc/self/fd/N opened again).
 *
 * Switching. A tracepoint looks at its byte of the flags, which the daemon writes. Until a daemon has looked at a new event
 * its flag is `new_flag`, so that nothing is missed between the start of a program and the daemon's first look; what is recorded
 * meanwhile although nobody wants it the daemon drops, and counts as filtered.
 *
 * Fork. A child inherits the mapping of its parent's header, flags and registry, and with them the same switches, but not the rings: its first
 * event makes a memory of its own, offered as at a start. A child that records nothing costs nothing. One that cannot make a memory, or whom nobody
 * could hear, counts each of its events in the memory of its parent (or that one's), as `unready`, for as long as the flags there ask for them.
 *
 * Unheard. A program whom a daemon seems to listen to, but which could not be told of the memory, records all the same, offers it again now and then
 * and when it ends, and is found by the daemon in /proc, which looks there when a recording begins and when it ends. One that has no memory at
 * all says so by an offer without a descriptor.
 *
 * Bounds. The daemon looks at rings of CPUs that the machine can have, reads sub-buffers and entries of the registry only where the file has pages, and takes at
 * most four memories of a process. The programs of one user cost it no more than daemon/budget.h says.
 *
 * Trust. The daemon believes nothing here: it copies what it reads before it checks it, takes sizes once, and a program
 * that writes nonsense spoils its own events only. A program trusts the daemons that it offers its memory to: root's and its own user's.
 */
#include <trace/subbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USER_MEMORY_NAME    "trace-program"
#define USER_MEMORY_NAME_BYTES 32 /* with what user_memory_name() adds */
#define USER_MEMORY_MAGIC   0x0a6d656d63617274ULL /* "tracmem\n" */
#define USER_MEMORY_VERSION 2u

/* Bounds that both sides keep. */
#define USER_MAX_EVENTS	    16384u
#define USER_MAX_FIELDS	    32u
#define USER_MAX_NAME_BYTES 128u /* of a provider, event or field, with its NUL; longer ones are cut */
#define USER_MAX_RINGS	    8192u
#define USER_MAX_BYTES	    (1ULL << 40) /* of the whole memory */
#define USER_MAX_REGISTRY_BYTES (4u << 20)

/**
 * struct user_memory - the first page
 * Set up before anybody else sees it, never changed: everything up to @rings_offset.
 * @total_bytes: of the memfd. @max_events: flags and ids: 1 .. max_events - 1; 0 is padding
 * @clock: enum subbuf_clock, of all rings
 * @ring_stride: from one ring to the next; ring n is CPU n's, and is in use when its control.position is not 0
 * @pid: as the program sees itself; the daemon trusts the kernel's word instead
 * @features: enum user_feature, what its libtracer can do beyond what the first of this version could
 * @registry_used: bytes of whole entries; the program, store-release after the entry [U1], pairs with the daemon's load [D1]
 * @unready: events that were wanted and have no ring that could count them: they came while the memory was still being set up, or another event
 *     registered, by somebody who was interrupted; or in a child of the program that has no memory of its own. Program and its children, atomic add;
 *     it goes on growing when the program is dead
 * @unregistered: places of events that found no room in the registry or among the ids, and are off for ever; program, atomic add
 * @new_flag: what an event's flag is when it is registered; the daemon (the program before it has offered the memory)
 * @daemon_pid: who takes the events now; 0 = nobody yet, and @blocking says nothing. @blocking: it allows writers to wait for room; the daemon
 * @overwrite: when a ring is full the oldest sub-buffer is used again, taken or not: a flight recorder listens. Writers look at it whenever they are to
 *     open a sub-buffer. The daemon that sets it to 0 calls subbuf_keep() for each ring afterwards; so does one that finds it set by another, which was
 *     killed. A child does not inherit it
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
	trace_u64 pad0[3];
	/* program */
	trace_u64 registry_used;
	trace_u64 unready;
	trace_u64 unregistered;
	trace_u64 pad1[5];
	/* daemon */
	trace_u32 new_flag;
	trace_u32 daemon_pid;
	trace_u32 blocking;
	trace_u32 overwrite;
};

enum user_feature {
	USER_FEATURE_OVERWRITE = 1, /* it heeds @overwrite, and keeps records_ever and base_ns of the sub-buffers' headers */
};

/* What a field holds. Fixed ones lie in the record at their offset; STRING and BYTES leave a struct user_reference there. */
enum user_field_type {
	USER_FIELD_SIGNED = 1, /* 1, 2, 4 or 8 bytes; enumerations too */
	USER_FIELD_UNSIGNED = 2,
	USER_FIELD_FLOAT = 3, /* 4 or 8 bytes, IEEE 754 */
	USER_FIELD_BOOL = 4,
	USER_FIELD_POINTER = 5,
	USER_FIELD_CHAR = 6,
	USER_FIELD_STRING = 7, /* the referenced bytes are its text, without NUL, in any encoding */
	USER_FIELD_BYTES = 8,
};

/** struct user_reference - where in the payload a string or byte array lies: behind the fixed part, each at any alignment */
struct user_reference {
	trace_u16 offset;
	trace_u16 bytes;
};

/* What an event means to analyses. BEGIN and END of one name enclose a scope; they nest within a thread. */
enum user_event_role {
	USER_ROLE_EVENT = 0,
	USER_ROLE_BEGIN = 1,
	USER_ROLE_END = 2,
	USER_ROLE_COUNTER = 3,	       /* its first field is a value over time */
	USER_ROLE_REQUEST_BEGIN = 4,   /* its first field names a request that the thread now works for ... */
	USER_ROLE_REQUEST_END = 5,     /* ... and no longer does */
	USER_ROLE_REQUEST_HANDOFF = 6, /* the thread gives the request away: whoever begins it next has it */
};

/**
 * struct user_event - an entry of the registry
 * Followed by @nr_fields struct user_field, then @text_bytes of text: all names that offsets here and there point to, each with its NUL.
 * @bytes: of the whole entry, a multiple of 8
 * @id: of its records; never used for another event of this memory
 * @payload_bytes: of the fixed part of the payload, a multiple of 4: trace_u32 tid first, then the fields. A record is the header, the fixed
 *     part, the bytes that references point to, and zeros up to a multiple of 8
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

/** struct user_field - one field: @offset in the payload; @bytes there; @type: enum user_field_type; @name: offset in the text */
struct user_field {
	trace_u16 offset;
	trace_u16 bytes;
	trace_u16 type;
	trace_u16 name;
};

/*
 * The sockets: SOCK_SEQPACKET. USER_SOCKET_ROOT is the system daemon's, open to all users; a user's own daemon listens at
 * $XDG_RUNTIME_DIR/USER_SOCKET_NAME, or in USER_SOCKET_TMP with the uid in it when there is no such directory (it must belong to the user and be
 * closed to others). $TRACER_SOCKET, for both sides, names another one instead of these (not for set-uid programs). The
 * program checks by SO_PEERCRED that root or its own user listens before it offers anything.
 */
#define USER_SOCKET_ROOT "/run/tracedaemon/programs"
#define USER_SOCKET_NAME "tracedaemon/programs"
#define USER_SOCKET_TMP	 "/tmp/tracedaemon-%u/programs"

/**
 * user_memory_name() - the memfd's name, for programs and daemons that meet at @socket
 * @socket: $TRACER_SOCKET, or NULL or "" without it. Who chose a socket is in a world of its own: a daemon elsewhere does not find the program in
 * /proc either. @ret_name: USER_MEMORY_NAME_BYTES.
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

/** struct user_offer - the one message of a program, with its memfd beside it; without one: it wanted to make a memory and could not */
struct user_offer {
	trace_u64 magic; /* USER_MEMORY_MAGIC */
	trace_u32 version;
	trace_u32 pid; /* the sender's own idea; SO_PEERCRED counts */
};

#ifdef __cplusplus
}
#endif
#endif

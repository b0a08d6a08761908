/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_READER_H
#define TRACE_READER_H
/*
 * reader.h - open a trace and read its events
 *
 *	struct trace_error error;
 *	struct trace *trace = trace_open("t.trace", &error);
 *	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, &error);
 *	const struct trace_event *event;
 *
 *	while ((event = trace_cursor_next(cursor)))
 *		if (event->id == TRACE_EV_sched_switch) {
 *			const struct trace_sched_switch *sw = event->payload;
 *			...
 *		}
 *	if (trace_cursor_end(cursor, &error) < 0)
 *		... these were not all events: error.message says why
 *	trace = trace_close(trace);
 *
 * A struct trace does not change after trace_open(), as far as callers can see. Any number of
 * threads may use it at once; one thread at a time may use a cursor.
 * All returned pointers are borrowed from the trace (or, where said, from the cursor)
 * and live as long as it does.
 * Times are ns of CLOCK_MONOTONIC of the traced boot. The format: docs/FORMAT.md.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/events.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace;
struct trace_cursor;

/* ---- the trace ---- */

/**
 * trace_open() - open a trace for reading
 * @path: a file, or "-" for standard input (a pipe is first copied to an unlinked temporary file)
 * @ret_error: filled in on failure; may be NULL
 * The file is mapped; no event is decoded. If there is no index (crash, pipe), it is
 * rebuilt from the chunk headers.
 * A damaged or truncated trace opens; trace_get_damage() and trace_get_gap() list what is lost.
 * Returns the trace, to be released with trace_close(); NULL with -ENOENT ..., -EINVAL (not a
 * trace), -ENOTSUP (newer major version), -EBADMSG (nothing in it can be read).
 */
struct trace *trace_open(const char *path, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_open_memory() - the same for a trace whose @size bytes are in memory, at any address
 * @bytes: borrowed, and not changed; must stay as they are until trace_close()
 * @name: for messages and info->file; copied
 */
struct trace *trace_open_memory(const void *bytes, size_t size, const char *name,
				struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_follow() - open a trace that is still being written
 * @path: a file, or "-" for standard input, from which it waits for the header
 * The trace has what is there now. trace_follow_more() adds what came meanwhile: chunks, gaps,
 * types, names, and all of trace_get_info(). A cursor delivers the events before
 * trace_follow_safe_ns() and then returns NULL; after trace_follow_more() the same cursor goes on.
 * All cursors together deliver what trace_open() of the finished file has, in the same order. An
 * event that comes after the safe point has passed it, because its writer was stopped for more than
 * 10 ms, is delivered when it comes.
 * One thread at a time for the trace and all of its cursors. Lists and pointers to gaps, damages,
 * chunks and clocks are valid until the next trace_follow_more().
 * Returns NULL as trace_open() does, and with -EAGAIN if the file has no header yet.
 */
struct trace *trace_follow(const char *path, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_follow_more() - take what was written since; it does not wait
 * Returns 1: more may come; 0: the trace has ended, is complete, and is now as one of trace_open();
 * -ESTALE (the file was cut), -EFBIG, -ENOMEM, or an errno of read(2). After an error the trace
 * does not go on: each further call returns it again, and cursors end at the safe point before it.
 */
int trace_follow_more(struct trace *trace, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_follow_end() - the caller knows that nothing more will come, although the trace has no end
 * Its last events may be missing: these are gaps. The trace is now as one of trace_open().
 * Returns 0, -ENOMEM, or the error of trace_follow_more().
 */
int trace_follow_end(struct trace *trace, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_follow_safe_ns() - all events before it are known: the recorder's last heartbeat, less
 * 10 ms
 * 0: there is none, also in a trace of format 2.2 or older: its events come at its end;
 * UINT64_MAX: the trace is complete. When it is not 0, the start state is complete.
 */
uint64_t trace_follow_safe_ns(const struct trace *trace);

/** trace_close() - release a trace; free its cursors first. NULL is fine. Returns NULL. */
struct trace *trace_close(struct trace *trace);

/**
 * enum trace_file_state - what has become of the file since trace_open()
 * GROWN: more was appended, which an open trace does not have. CHANGED: it was cut or written to.
 * REPLACED: the path leads to another file, and the open trace is as it was. GONE: the path leads
 * to no file, and the open trace is as it was. UNKNOWN: the file cannot be looked at, for lack of
 * rights, say, or after an error of its disk
 */
enum trace_file_state {
	TRACE_FILE_SAME = 0,
	TRACE_FILE_GROWN = 1,
	TRACE_FILE_CHANGED = 2,
	TRACE_FILE_REPLACED = 3,
	TRACE_FILE_GONE = 4,
	TRACE_FILE_UNKNOWN = 5,
};
/**
 * trace_file_state() - look at the file again
 * A trace in memory, or of standard input, stays the same. The call may wait for the file system.
 */
enum trace_file_state trace_file_state(const struct trace *trace);
/**
 * trace_file_digest() - a number that tells the trace from others: of its size, its time of
 * modification, and its first and last bytes, as they were at trace_open()
 * Returns 0 if the file has changed since.
 */
uint64_t trace_file_digest(const struct trace *trace);

/**
 * struct trace_info - facts about a trace as a whole
 * @file: the path given to trace_open(). @host, @kernel, @machine, @clock: of the
 *     traced system ("" unknown)
 * @start_ns, @end_ns: the window of the recording. @start_realtime_ns: CLOCK_REALTIME at @start_ns
 * @complete_from_ns: from here on no CPU's events were overwritten. It is @start_ns, or later in
 *     the trace of a flight recorder, which has each CPU's events from a different time on
 * @events: stored events that can be read. @lost: events known to be missing,
 *     for all causes, in all gaps
 * @clean_end: the recorder finished the trace; false: the trace was cut off, and its
 *     last events may be missing
 * @index_rebuilt: the file has no index, so the chunk headers were read
 */
struct trace_info {
	const char *file;
	const char *host;
	const char *kernel;
	const char *machine;
	const char *clock;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t start_realtime_ns;
	uint64_t complete_from_ns;
	uint64_t events;
	uint64_t lost;
	uint64_t file_bytes;
	uint32_t nr_cpus; /* highest CPU number + 1 */
	uint16_t version_major;
	uint16_t version_minor;
	bool clean_end;
	bool index_rebuilt;
};
/** trace_get_info() - borrowed from @trace; never NULL */
const struct trace_info *trace_get_info(const struct trace *trace);

/* ---- missing events ---- */

enum trace_gap_cause {
	TRACE_GAP_DISCARDED = 0,   /* the buffers were full */
	TRACE_GAP_OVERWRITTEN = 1, /* flight recorder: older than the oldest event kept */
	TRACE_GAP_DAMAGED = 2,	   /* a chunk of the file cannot be read */
	TRACE_GAP_MISSED = 3,	   /* the kernel skipped a BPF program (recursion) */
	TRACE_GAP_SUSPECT = 4,	   /* events with unknown times */
	TRACE_GAP_CUT = 5,	   /* the trace ends before the recording ended */
	TRACE_GAP_UNWRITTEN = 6,   /* the disk was full or failed */
};

/**
 * struct trace_gap - an interval in which events of one stream are missing; @lost 0: number unknown
 */
struct trace_gap {
	uint32_t stream;
	uint32_t cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t lost;
	enum trace_gap_cause cause;
};
/** trace_nr_gaps() - number of gaps of all streams, the older ones of a flight recorder included */
size_t trace_nr_gaps(const struct trace *trace);
/** trace_get_gap() - sorted by start_ns; NULL past the last */
const struct trace_gap *trace_get_gap(const struct trace *trace, size_t idx);
/**
 * trace_gap_is_older() - does the gap end before info->complete_from_ns, in the older part
 * of a flight recorder's trace?
 * Such a gap does not concern any event from info->complete_from_ns on.
 */
bool trace_gap_is_older(const struct trace *trace, const struct trace_gap *gap);

/** struct trace_damage - bytes of the file that cannot be read, and the reason, in one sentence */
struct trace_damage {
	uint64_t offset;
	uint64_t bytes;
	const char *message;
};
/** trace_nr_damages() - number of damages that trace_open() found */
size_t trace_nr_damages(const struct trace *trace);
/** trace_get_damage() - in file order; NULL past the last */
const struct trace_damage *trace_get_damage(const struct trace *trace, size_t idx);

/**
 * trace_not_traced() - what the recorder could not trace ("fault_exit: perf events are not
 * permitted"); NULL past the last
 */
const char *trace_not_traced(const struct trace *trace, size_t idx);

#define TRACE_CLAIMED_UNKNOWN UINT64_MAX
/**
 * struct trace_stream_stats - the statistics of one stream, from the recorder's own counters
 * trace_verify() checks that attempted = stored + discarded + overwritten + missed + filtered,
 * against the chunks of the file and the cumulative numbers in the sub-buffers.
 * @claimed: of @discarded and @overwritten, the events that only programs counted, in memory that
 *     they can write: the recorder cannot check this part. TRACE_CLAIMED_UNKNOWN: the trace does
 *     not tell, as before format 2.8
 */
struct trace_stream_stats {
	uint32_t stream;
	uint32_t cpu;
	uint64_t stored;
	uint64_t discarded;
	uint64_t overwritten;
	uint64_t missed;
	uint64_t filtered;
	uint64_t attempted;
	uint64_t claimed;
};
/** trace_nr_streams() - number of streams */
size_t trace_nr_streams(const struct trace *trace);
/** trace_get_stream() - NULL past the last */
const struct trace_stream_stats *trace_get_stream(const struct trace *trace, size_t idx);

/**
 * trace_verify() - read everything; check the sums of events, the checksums and the order of times
 * Returns 0, or -EBADMSG with the first violation in @ret_error. Declared gaps are not
 * violations; undeclared ones are.
 */
int trace_verify(const struct trace *trace, struct trace_error *ret_error) TRACE_NODISCARD;
/** trace_progress_fn - @done of @of equal parts of the work are done */
typedef void (*trace_progress_fn)(void *data, uint64_t done, uint64_t of);
/** trace_verify_watched() - the same; @progress is called meanwhile, in the calling thread */
int trace_verify_watched(const struct trace *trace, trace_progress_fn progress, void *data,
			 struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- chunks ---- */

enum trace_chunk_kind {
	TRACE_CHUNK_SCHEMA = 1,
	TRACE_CHUNK_START_STATE = 2,
	TRACE_CHUNK_EVENTS = 3,
	TRACE_CHUNK_CLOCK = 4,
	TRACE_CHUNK_STRINGS = 5,
	TRACE_CHUNK_STATISTICS = 6,
	TRACE_CHUNK_INDEX = 7,
	TRACE_CHUNK_TABLE = 8,
	TRACE_CHUNK_ROOT = 9,
};

/**
 * struct trace_chunk - one chunk of the file, from its header
 * @seq: counts from 1 within @stream. @first_ns, @last_ns: of its events
 * @lost_before: events lost in the stream between the chunk before it and this one
 * @raw_bytes, @packed_bytes: of its payload, decoded and in the file
 * @kind: enum trace_chunk_kind. @damaged: no cursor reads it
 */
struct trace_chunk {
	uint64_t offset; /* of its header in the file */
	uint64_t seq;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t events;
	uint64_t lost_before;
	uint32_t stream;
	uint32_t cpu;
	uint32_t raw_bytes;
	uint32_t packed_bytes;
	uint16_t kind;
	uint8_t encoding;
	bool damaged;
};
/** trace_nr_chunks() - of all kinds */
size_t trace_nr_chunks(const struct trace *trace);
/**
 * trace_get_chunk() - in file order
 * Returns NULL past the last one. The first call can also return NULL if there is no memory, or if
 * the file has become shorter.
 */
const struct trace_chunk *trace_get_chunk(const struct trace *trace, size_t idx);

/** struct trace_clock - a clock correspondence: one instant on three clocks; @tsc 0: not known */
struct trace_clock {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t tsc;
};
/** trace_nr_clocks() - number of clock correspondences */
size_t trace_nr_clocks(const struct trace *trace);
/** trace_get_clock() - in file order; NULL past the last */
const struct trace_clock *trace_get_clock(const struct trace *trace, size_t idx);

/* ---- schema: events and fields ---- */

enum trace_field_kind {
	TRACE_KIND_DEC,
	TRACE_KIND_HEX,
	TRACE_KIND_NS,
	TRACE_KIND_TID,
	TRACE_KIND_CPU,
	TRACE_KIND_BOOL,
	TRACE_KIND_SYSCALL,
	TRACE_KIND_RESULT,
	TRACE_KIND_IRQ,
	TRACE_KIND_SOFTIRQ,
	TRACE_KIND_VECTOR,
	TRACE_KIND_STATE,
	TRACE_KIND_CONTEXT,
	TRACE_KIND_DEV,
	TRACE_KIND_MODE,
	TRACE_KIND_SIGNAL,
	TRACE_KIND_FAMILY,
	TRACE_KIND_PORT,
	TRACE_KIND_ADDR,
	TRACE_KIND_EVENT,
	TRACE_KIND_COMM,
	TRACE_KIND_PATH,
	TRACE_KIND_TEXT,
	TRACE_KIND_PAD,
	/* in the events of programs: */
	TRACE_KIND_FLOAT,  /* 4 or 8 bytes, IEEE 754: trace_event_double() */
	TRACE_KIND_CHAR,   /* a character */
	TRACE_KIND_STRING, /* 4 bytes, struct user_reference: trace_event_bytes() returns the text, in any encoding */
	TRACE_KIND_BYTES,  /* the same, for an array of bytes */
	TRACE_NR_KINDS,	   /* a kind of a newer writer reads as DEC, or as TEXT for a string */
};

enum trace_category {
	TRACE_CATEGORY_TRACE,
	TRACE_CATEGORY_START,
	TRACE_CATEGORY_SYSCALL,
	TRACE_CATEGORY_TRAP,
	TRACE_CATEGORY_IRQ,
	TRACE_CATEGORY_SCHED,
	TRACE_CATEGORY_FS,
	TRACE_CATEGORY_BLOCK,
	TRACE_CATEGORY_TIMER,
	TRACE_CATEGORY_MEMORY,
	TRACE_CATEGORY_SOCKET,
	TRACE_CATEGORY_IPC,
	TRACE_CATEGORY_NETWORK,
	TRACE_CATEGORY_WORK,
	TRACE_CATEGORY_USER,
	TRACE_NR_CATEGORIES,
};
/** trace_category_name() - "sched" ...; static */
const char *trace_category_name(enum trace_category category);

/* flags of struct trace_event_type; the catalogue writes ON, OFF, STRUCTURAL */
enum trace_event_flag {
	TRACE_EVENT_ON = 1,
	TRACE_EVENT_STRUCTURAL = 2,
	/* The payload begins with trace_u32 tid, the thread that made the event. Without this flag:
	 * the thread that ran on the CPU. */
	TRACE_EVENT_TID = 4,
};

/* the meaning of an event for analyses; the numbers of enum user_event_role */
enum trace_event_role {
	TRACE_ROLE_EVENT = 0,
	TRACE_ROLE_BEGIN = 1, /* BEGIN and END of one name enclose a scope; they nest within a thread */
	TRACE_ROLE_END = 2,
	TRACE_ROLE_COUNTER = 3,		/* the first field is a value over time */
	TRACE_ROLE_REQUEST_BEGIN = 4,	/* the first field names a request that the thread works for from now on ... */
	TRACE_ROLE_REQUEST_END = 5,	/* ... and not any more */
	TRACE_ROLE_REQUEST_HANDOFF = 6, /* the thread passes the request on, to the thread that begins it next */
	TRACE_NR_ROLES,			/* a role of a newer writer reads as EVENT */
};
/** trace_role_name() - "event", "begin", "request-begin" ...; static */
const char *trace_role_name(enum trace_event_role role);
/**
 * trace_role_suffix() - the end of a type's name for this role: ".begin",
 * ".end", ".handoff" or ""; static
 */
const char *trace_role_suffix(enum trace_event_role role);

/**
 * struct trace_field - @bytes 1, 2, 4 or 8; 0 for the string at the end, which begins at @offset
 */
struct trace_field {
	const char *name;
	uint16_t offset;
	uint8_t bytes;
	bool is_signed;
	enum trace_field_kind kind;
};

/**
 * struct trace_event_type - one event of the schema in the trace
 * @id: below TRACE_EV_MAX: an event of the catalogue; otherwise: a program's
 *     event, numbered by the recorder
 * @name: for a program's event "provider:event"; several types have the same name if programs
 *     have different fields for it
 * @text: the description, with {field} for a field's value; "": list all fields with their names
 * @has_string: a string with its NUL follows the fixed part; in events with fields of kind STRING
 *     or BYTES, the bytes that these refer to follow
 * @source: its place in the program, "file.c:12 function", or ""
 */
struct trace_event_type {
	const char *name;
	const char *classic; /* the original toolkit's class, "NONE" if none */
	const char *text;
	const char *doc;
	const char *program; /* the BPF program that emits it, "NONE" if none */
	const struct trace_field *fields;
	uint16_t nr_fields;
	uint16_t id;
	uint16_t fixed_bytes; /* payload without the string */
	bool has_string;
	enum trace_category category;
	uint32_t flags;
	enum trace_event_role role;
	const char *source;
};
/** trace_type_by_id() - the type of events with this id; NULL: not in the schema */
const struct trace_event_type *trace_type_by_id(const struct trace *trace, uint32_t id);
/** trace_nr_types() - number of types in the schema of the trace, those of programs included */
size_t trace_nr_types(const struct trace *trace);
/** trace_get_type() - NULL past the last */
const struct trace_event_type *trace_get_type(const struct trace *trace, size_t idx);
/** trace_type_field() - the field of this name; NULL: none, or @type is NULL */
const struct trace_field *trace_type_field(const struct trace_event_type *type, const char *name);
/**
 * trace_type_first_field() - the first field that the program itself defined, not
 * its thread's id; NULL: none
 */
const struct trace_field *trace_type_first_field(const struct trace_event_type *type);
/**
 * trace_type_stem() - length of a type's name without the suffix of its role: the common name of
 * the events of one scope or request
 * The ends of a scope may also be tracepoints of the kernel: _enter and _exit, _begin and _end ...
 */
size_t trace_type_stem(const struct trace_event_type *type);

/**
 * trace_catalogue_size() - number of types in the catalogue that this library was built with
 * (events.def), for callers that record or list without a trace
 */
size_t trace_catalogue_size(void);
/** trace_catalogue_type() - one of them; static; NULL past the last */
const struct trace_event_type *trace_catalogue_type(size_t idx);

/* ---- names of numbers ---- */

enum trace_string_space {
	TRACE_STRING_SYSCALL = 1,    /* native numbers */
	TRACE_STRING_SYSCALL_32 = 2, /* 32-bit ABI */
	TRACE_STRING_IRQ = 3,
	TRACE_STRING_SOFTIRQ = 4,
	TRACE_STRING_VECTOR = 5,
	TRACE_STRING_INFO = 6,	     /* key: enum trace_info_key */
	TRACE_STRING_NOT_TRACED = 7, /* key: 0, 1, 2 ... */
	TRACE_STRING_DEVICE = 8,     /* key: kernel dev number; value: "vda1" */
	TRACE_STRING_NETDEV = 9,     /* key: ifindex */
	TRACE_STRING_SYMBOL = 10,    /* key: kernel address of a function */
	/*
	 * key: 0, 1, 2 ...; value: "DEV INODE ID" of a file that was mapped as code: its kernel
	 * dev number and inode in decimal, its build id in hexadecimal or ""; or "DEV INODE ID
	 * SINCE" of a later file with that number, mapped from SINCE ns on: ID is "-" for none,
	 * "?" if it was not read
	 */
	TRACE_STRING_BUILD_ID = 11,
	/*
	 * key: 0, 1, 2 ...; value: "ADDRESS BYTES NAME" of a function of the kernel that samples
	 * hit: its address in hexadecimal, its bytes in decimal, its name, and behind a blank the
	 * module in brackets if it is in one
	 */
	TRACE_STRING_KERNEL_CODE = 12,
	/*
	 * key: 0, 1, 2 ...; names of the code of programs that samples hit: files, and what is at
	 * bytes of them. trace_symbols_new() takes them; docs/FORMAT.md has the texts.
	 */
	TRACE_STRING_CODE_FILE = 13,
	TRACE_STRING_CODE = 14,
	/*
	 * key: 0, 1, 2 ...; value: "PID ADDRESS BYTES NAME" of a function that a program generated,
	 * and that samples hit: the process and the bytes in decimal, the address in hexadecimal
	 */
	TRACE_STRING_PROGRAM_CODE = 15,
	/* key: of a TRACE_STRING_CODE; value: the steps to further bytes of the same function */
	TRACE_STRING_CODE_STEPS = 16,
};
enum trace_info_key {
	TRACE_INFO_HOST = 0,
	TRACE_INFO_KERNEL = 1,
	TRACE_INFO_MACHINE = 2,
	TRACE_INFO_CLOCK = 3,
	TRACE_INFO_COMMAND = 4,
	TRACE_INFO_BOOT_ID = 5,
	/* parts that were not recorded, or only where they concern the rest: TRACE_LEFT_OUT_...;
	 * NULL: none, or an older recorder */
	TRACE_INFO_LEFT_OUT = 6,
	/* PID of the process that the user selected; NULL: none, other filters were used
	 * too, or an older recorder */
	TRACE_INFO_CHOSEN = 7,
	/* number of CPUs that the machine can have: all CPU numbers are below it; NULL: an older
	 * recorder */
	TRACE_INFO_CPUS = 8,
	/* number of programs that wrote impossible numbers into their buffers
	 * (TRACE_STRING_NOT_TRACED has more); NULL: none, or an older recorder */
	TRACE_INFO_DISTRUSTED = 9,
	/* program that recorded, version and revision: "tracedaemon 0.2.0 (06c18c24abcd)"; NULL:
	 * an older recorder */
	TRACE_INFO_RECORDER = 10,
	/* "EVENTS CONTRADICTIONS" of the whole trace, in decimal, in a part that
	 * trace_write_part() wrote; NULL: the trace is whole */
	TRACE_INFO_PART = 11,
	/* "TID BEGIN_NS END_NS TEXT" of the trigger that saved the trace by itself: the thread (0:
	 * none), when what it did began and when it counted, and both in words; NULL: none did */
	TRACE_INFO_SAVED_FOR = 12,
	/* "EVENT:COUNT" by which samples were taken; NULL: by a timer, or none */
	TRACE_INFO_SAMPLED_BY = 13,
};
#define TRACE_LEFT_OUT_KERNEL	 "kernel"    /* only events of programs were recorded */
#define TRACE_LEFT_OUT_PROCESSES "processes" /* a filter left out some processes */
/** trace_string() - the name of a number; NULL: it has none. For SYMBOL: of the exact address */
const char *trace_string(const struct trace *trace, enum trace_string_space space, uint64_t key);

/* ---- events ---- */

/**
 * struct trace_event - one decoded event
 * @payload: struct trace_<event> in the layout of the trace's writer. Cast it if type->fixed_bytes
 *     is at least the size that you know, or use trace_event_u64() and trace_event_string()
 * @payload_bytes: with the string and its NUL, without padding
 */
struct trace_event {
	uint64_t ts_ns;
	uint32_t cpu;
	uint32_t stream;
	uint32_t id;
	uint32_t payload_bytes;
	const void *payload;
	const struct trace_event_type *type;
};

/**
 * struct trace_cursor_options - the events that a cursor delivers; zeroed = all
 * events of the event chunks
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @from_ns, @to_ns: only events in this half-open window; @to_ns 0 = to the end
 * @mask: if not NULL, bit n of 256 selects event id n, and bit TRACE_EV_USER all events of
 *     programs; copied. If TRACE_EV_trace_lost is not selected, chunks without selected events are
 *     not read, whether damaged or not. If it is, they are read, because only reading finds damage
 * @cpus, @nr_cpus: if not NULL, only these CPUs; copied
 * @start_state: deliver the start state instead (its events have the time at which they were read)
 * @no_lost: do not deliver the trace_lost events that represent gaps
 * @decode_ahead: number of chunks (at most 64; 4 are enough) that a thread of the cursor decodes in
 *     advance. The thread starts once the cursor has read a few chunks, if there is another CPU. 0:
 *     no thread. The events are the same
 * @damaged: if not NULL, trace_cursor_next() calls it for each chunk that it finds damaged, before
 *     it delivers any event at or after the start of @gap. trace_nr_gaps() does not include this
 *     late gap. Its trace_lost event comes at its end, as for all gaps. After trace_cursor_seek()
 *     the call is repeated. The function must not use the cursor
 * @damaged_data: for @damaged
 */
struct trace_cursor_options {
	size_t size;
	uint64_t from_ns;
	uint64_t to_ns;
	const uint64_t *mask;
	const uint32_t *cpus;
	size_t nr_cpus;
	bool start_state;
	bool no_lost;
	size_t decode_ahead;
	void (*damaged)(void *data, const struct trace_gap *gap);
	void *damaged_data;
};

/**
 * trace_cursor_new() - a cursor before the first event
 * @options: NULL = all events
 * Returns NULL with -ENOMEM, or with -EBADMSG if the file was truncated after it was opened.
 * The first cursor of a trace sorts the chunks, which takes a few ms for 10 GB.
 */
struct trace_cursor *trace_cursor_new(const struct trace *trace, const struct trace_cursor_options *options,
				      struct trace_error *ret_error) TRACE_NODISCARD;
struct trace_cursor *trace_cursor_free(struct trace_cursor *cursor); /* NULL is fine; returns NULL */

/**
 * trace_cursor_next() - the next event of all CPUs, in time order
 * Order of equal times: by CPU, then stream, then position in the stream. A gap is a
 * trace_lost event at its end.
 * Returns the event, borrowed until the next call on @cursor; NULL at the end, or
 * when it cannot go on: trace_cursor_end() distinguishes the two.
 * A chunk that turns out to be damaged is skipped and becomes a gap (cause DAMAGED).
 */
const struct trace_event *trace_cursor_next(struct trace_cursor *cursor);

/**
 * trace_cursor_peek() - peek at a later event, so that the caller can
 * prefetch the memory it will need
 * @distance: 1 is the next event of the same type and stream as the one that trace_cursor_next()
 *     returned last, 2 the one after that
 * Returns its payload, borrowed until the next call on @cursor; NULL if it is not known yet,
 * because it may be in a chunk that is not decoded. Takes no time.
 */
const void *trace_cursor_peek(const struct trace_cursor *cursor, uint32_t distance);
/**
 * trace_cursor_peek_ns() - time of the event that trace_cursor_peek(@cursor, 1) returns
 * Returns 0 if it is not known, or if an event of another chunk of the same stream may precede it
 * (nested writers). Scans forward in the chunk: the further away that event is, the longer it
 * takes.
 */
uint64_t trace_cursor_peek_ns(const struct trace_cursor *cursor);

/**
 * trace_cursor_seek() - continue with the first event at or after @ts_ns; O(log chunks)
 * Returns 0. It forgets the error of trace_cursor_error(); what cannot be read at the new place
 * shows with trace_cursor_next().
 */
int trace_cursor_seek(struct trace_cursor *cursor, uint64_t ts_ns) TRACE_NODISCARD;

/**
 * trace_cursor_error() - 0; the reason why trace_cursor_next() returned NULL early (-ENOMEM); or
 * -EBADMSG if chunks were skipped
 */
int trace_cursor_error(const struct trace_cursor *cursor, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_cursor_end() - end a pass: free @cursor, and report whether it returned all events that it
 * was asked for
 * trace_cursor_next() returns NULL at the end of the trace and when it cannot go on; only this
 * function and trace_cursor_error() distinguish the two. So each loop over trace_cursor_next() ends
 * with one of them. NULL is fine.
 * Returns 0; -ENOMEM: the events end too early; -EBADMSG: damaged chunks were skipped, all other
 * events were returned. @ret_error may be NULL.
 */
int trace_cursor_end(struct trace_cursor *cursor, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_event_u64() - a field's value; signed fields are sign-extended; 0 for a NULL
 * field; for FLOAT its bits
 */
uint64_t trace_event_u64(const struct trace_event *event, const struct trace_field *field);
/**
 * trace_event_double() - a field's value; the number for other kinds than FLOAT; 0 for a NULL field
 */
double trace_event_double(const struct trace_event *event, const struct trace_field *field);
/**
 * trace_event_bytes() - the bytes that a field of kind STRING or BYTES refers to, or the
 * event's string for its field
 * Returns the bytes, borrowed as the event is, without a NUL at the end; NULL with 0 bytes for any
 * other field, and for bytes that are not within the payload.
 */
const void *trace_event_bytes(const struct trace_event *event, const struct trace_field *field, size_t *ret_bytes);
/**
 * trace_event_string() - the event's string, always NUL-terminated; "" if it has none, or has
 * fields of kind STRING or BYTES instead
 */
const char *trace_event_string(const struct trace_event *event);

/**
 * trace_event_format() - the description of an event, from the text of its type
 * Writes at most @size bytes with the NUL. Control characters and invalid UTF-8 become \\xNN. For
 * trace_lost, 0 events become "an unknown number of" them.
 * Returns the length that was needed, as snprintf() does.
 */
int trace_event_format(const struct trace *trace, const struct trace_event *event, char *buffer, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H
/*
 * events.h - records: their header, and one payload struct for each event of events.def.
 *
 * Compiles in user space (C11, C++17) and in BPF programs. A record is struct trace_record followed
 * by struct trace_<event>, followed for events with a string by the string and its NUL; the whole
 * is padded with zeros to a multiple of 8 bytes.
 */
#if !defined(__bpf__) && !defined(__BPF__)
#include <stdint.h>
typedef uint8_t trace_u8;
typedef uint16_t trace_u16;
typedef uint32_t trace_u32;
typedef uint64_t trace_u64;
typedef int16_t trace_s16;
typedef int32_t trace_s32;
typedef int64_t trace_s64;
#else
typedef unsigned char trace_u8;
typedef unsigned short trace_u16;
typedef unsigned int trace_u32;
typedef unsigned long long trace_u64;
typedef short trace_s16;
typedef int trace_s32;
typedef long long trace_s64;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct trace_record - the header of every record; written last, as one 64-bit store
 * @time: low 32 bits of the event's time. The event is (time - base) modulo 2^32 after the
 *     sub-buffer's 64-bit base. A writer can store this before it knows the base, which another
 *     writer may just be storing
 * @id: enum trace_event_id; 0 = padding, to be skipped
 * @words: size of the whole record in 8-byte words, header included: 1..255
 * @lap: low 8 bits of the number of earlier uses of the sub-buffer. Salvage of a dead program's
 *     ring uses it to reject headers of earlier uses. BPF programs may leave it 0, because they
 *     always run to their end
 */
struct trace_record {
	trace_u32 time;
	trace_u16 id;
	trace_u8 words;
	trace_u8 lap;
};

#define TRACE_RECORD_MAX_BYTES (255 * 8)

/*
 * Event numbers: TRACE_EV_<name>. Ids of the catalogue are below TRACE_EV_MAX, the size of every
 * event mask. The recorder assigns the ids above, to the events of programs; in masks the bit
 * TRACE_EV_USER, which the catalogue never uses, selects all of these.
 */
#define TRACE_EV_MAX  256
#define TRACE_EV_USER 255
/*
 * Numbers that are not events: the ids of records for several events, struct trace_record_call. The
 * id is one of these numbers plus the kind of the entry's arguments: sys_enter, sys_enter3,
 * sys_enter6.
 */
#define TRACE_RECORD_PATH_ENTRY 246 /* an entry and its path */
#define TRACE_RECORD_PATH_CALL	249 /* an entry, its path and the exit */
#define TRACE_RECORD_CALL	252 /* an entry and the exit */
#define TRACE_MASK_WORDS	(TRACE_EV_MAX / 64)
enum trace_event_id {
	TRACE_EV_padding = 0,
#define TRACE_EVENT(id, name, category, classic, program, flags, fields, text, doc) TRACE_EV_##name = (id),
#include <trace/events.def>
#undef TRACE_EVENT
};

/* Payloads: struct trace_<name>. A string of the event, if any, begins at
 * sizeof(struct trace_<name>). */
#define F(type, name, kind) trace_##type name;
#define S(name, kind)
#define TRACE_EVENT(id, name, category, classic, program, flags, fields, text, doc) \
	struct trace_##name {                                                       \
		fields                                                              \
	};
/* clang-format off */
#ifdef __clang__
#pragma clang diagnostic push
/* an event with only a string is an empty struct, of size 1 in C++ */
#pragma clang diagnostic ignored "-Wextern-c-compat"
#endif
#include <trace/events.def>
#ifdef __clang__
#pragma clang diagnostic pop
#endif
/* clang-format on */
#undef TRACE_EVENT
#undef F
#undef S

/**
 * struct trace_record_call - payload of a record for several events, in rings only
 * The record is a system call's entry and its exit, if the CPU recorded nothing in between; or an
 * entry and the path that the call was given; or all three. The record's id is one of the numbers
 * above + the entry's - TRACE_EV_sys_enter. Its time is that of the entry and of the path. The
 * payload of the entry follows, then the payload of the path.
 * @elapsed: ns from the entry to the exit; less than 2^32. It and @exit have no meaning if
 *     the record is for no exit
 */
struct trace_record_call {
	trace_u64 elapsed;
	struct trace_sys_exit exit;
};

/* kind CONTEXT: where a wakeup came from */
enum trace_context {
	TRACE_CONTEXT_TASK = 0,
	TRACE_CONTEXT_SOFTIRQ = 1,
	TRACE_CONTEXT_HARDIRQ = 2,
	TRACE_CONTEXT_NMI = 3,
};

/* the ABI of system-call numbers */
enum trace_abi {
	TRACE_ABI_NATIVE = 0,
	TRACE_ABI_32 = 1,
	TRACE_ABI_X32 = 2,
};

/* Recorded for an argument that is an address and is not kept (syscalls.def
 * says which). NULL stays 0. */
#define TRACE_ARG_ADDRESS 1

/* start_thread.flags */
enum trace_thread_flag {
	TRACE_THREAD_KERNEL = 1,    /* a kernel thread */
	TRACE_THREAD_HIDDEN = 4,    /* the kernel shows it only in /proc: do not expect its events */
	TRACE_THREAD_IO_WORKER = 8, /* the kernel made it for the requests of io_uring (PF_IO_WORKER) */
	TRACE_THREAD_RECORDER = 16, /* of the recording daemon: its system calls and faults are not recorded */
	TRACE_THREAD_TRACED = 32,   /* another process traces it (ptrace(2)) */
};

/* start_map.prot: other processes do not see what this one writes there (MAP_PRIVATE). Older
 * recorders do not tell it. */
#define TRACE_MAP_PRIVATE 8

/* sched_fork.clone_flags: the thread is such a worker. The kernel has no flag with that bit. */
/* Between two arguments of a program in start_args and sched_args: the ASCII unit separator. */
#define TRACE_ARGS_SEPARATOR  0x1f
#define TRACE_CLONE_IO_WORKER (1ull << 63)

/* fs_dir.fd: the directory has no descriptor */
#define TRACE_FD_WORKING_DIRECTORY (-100) /* AT_FDCWD */
#define TRACE_FD_ROOT_DIRECTORY	   (-101)

/* kind VECTOR: x86 interrupts without an interrupt line; names in the order of
 * the strings chunk VECTOR. */
enum trace_vector {
	TRACE_VECTOR_LOCAL_TIMER = 0,
	TRACE_VECTOR_RESCHEDULE = 1,
	TRACE_VECTOR_CALL_FUNCTION = 2,
	TRACE_VECTOR_CALL_FUNCTION_SINGLE = 3,
	TRACE_VECTOR_IRQ_WORK = 4,
	TRACE_VECTOR_X86_PLATFORM_IPI = 5,
	TRACE_VECTOR_THERMAL = 6,
	TRACE_VECTOR_THRESHOLD = 7,
	TRACE_VECTOR_DEFERRED_ERROR = 8,
	TRACE_VECTOR_ERROR = 9,
	TRACE_VECTOR_SPURIOUS = 10,
	TRACE_NR_VECTORS,
};

/* Task state bits (Linux), for code that interprets the state fields of events. */
#define TRACE_TASK_RUNNING	   0x0
#define TRACE_TASK_INTERRUPTIBLE   0x1
#define TRACE_TASK_UNINTERRUPTIBLE 0x2
#define TRACE_TASK_STOPPED	   0x4
#define TRACE_TASK_TRACED	   0x8
#define TRACE_TASK_EXIT_DEAD	   0x10
#define TRACE_TASK_EXIT_ZOMBIE	   0x20
#define TRACE_TASK_PARKED	   0x40
#define TRACE_TASK_DEAD		   0x80
#define TRACE_TASK_NOLOAD	   0x400
#define TRACE_TASK_FROZEN	   0x8000

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_PROBES_H
#define TRACE_PROBES_H
/*
 * probes.h - instrumentation of unmodified programs and of the kernel
 *
 * A probe can be on any function of a program (uprobes), on the static probes of <sys/sdt.h>
 * (USDT), and on the kernel's functions (kprobes). This code turns a user's specification into
 * places in files, each with an event type and a recipe for its arguments.
 *
 * No function here needs privileges or touches a program: tracer_switch_probes() of
 * <trace/tracer.h> does. The grammar: docs/PROBES.md. One thread at a time. A BPF program that
 * includes this file gets only the recipes.
 */
#include <trace/condition.h>
#include <trace/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a probe. More arguments are refused; strings are cut at their limit,
 * and at the size of a record. */
#define TRACE_PROBE_MAX_ARGUMENTS 32
#define TRACE_PROBE_MAX_LOADS	  7 /* memory accesses to reach one argument: a->b->c is three */
/* name of a function, event or argument as the user writes it; C++ names are long */
#define TRACE_PROBE_NAME_BYTES	     256
#define TRACE_PROBE_STRING_BYTES     256 /* size of a string without string[N] */
#define TRACE_PROBE_MAX_STRING_BYTES 1000
#define TRACE_PROBE_MAX_PLACES	     4096 /* per recording */

/* The start value of an argument's computation. */
enum trace_probe_start {
	TRACE_PROBE_CONSTANT = 0, /* @constant */
	TRACE_PROBE_REGISTER = 1, /* registers[base] + @constant */
	TRACE_PROBE_INDEXED = 2,  /* registers[base] + (registers[index] << scale) + @constant */
	/*
	 * the address of the probe + @constant: for variables of the file, wherever it is mapped
	 */
	TRACE_PROBE_PLACE = 3,
	/*
	 * in the record of a tracepoint: where the word at @constant says that a text is; @index 1:
	 * it counts from the end of that word
	 */
	TRACE_PROBE_LOCATED = 4,
};

/* The meaning of the computed number. */
enum trace_probe_shape {
	TRACE_PROBE_VALUE = 0,
	TRACE_PROBE_STRING = 1, /* the address of a NUL-terminated text */
	TRACE_PROBE_BYTES = 2,	/* the address of @max_bytes bytes */
};

/**
 * struct trace_probe_argument - a recipe, executed by the BPF program
 * x = start; then @nr_loads times x = *(x + offsets[i]); the last load is @load_bytes wide and
 * sign-extended if @is_signed, the others are pointers; then x += offsets[nr_loads]. A value is
 * then x << shift_left >> shift_right (bit fields); without a load only its low @load_bytes count.
 * @base, @index: words of struct pt_regs
 * @field_bytes, @field_offset: in the payload; strings and bytes store a
 *     struct user_reference there
 */
struct trace_probe_argument {
	trace_u8 start;
	trace_u8 shape;
	trace_u8 base;
	trace_u8 index;
	trace_u8 scale;
	trace_u8 nr_loads;
	trace_u8 load_bytes;
	trace_u8 is_signed;
	trace_u8 field_bytes;
	trace_u8 shift_left;
	trace_u8 shift_right;
	trace_u8 pad;
	trace_u16 field_offset;
	trace_u16 max_bytes;
	trace_s64 constant;
	trace_s64 offsets[TRACE_PROBE_MAX_LOADS + 1];
};

#ifdef __cplusplus
}
#endif

#if !defined(__bpf__) && !defined(__BPF__)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <trace/error.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct trace_probe - one place and what to record there
 * @type: name "provider:event", fields, source; the recorder assigns its id. Several
 *     places may have equal types
 * @file: the program or library; "" in the kernel. @offset: in the file; in the kernel
 *     from the start of @function
 * @semaphore: file offset of a counter by which the program sees that the probe is in use; 0 =
 * none
 * @at_return: record when the function returns, not when the place is reached
 * @pid: only in this process; 0 = in all
 * @option: number of the trace_probes_add() call that added it, from 0
 * @tracepoint: the kernel's number of a tracepoint; 0: not one
 * @condition: record only if it holds; its fields are those of @type
 */
struct trace_probe {
	const struct trace_event_type *type;
	const char *file;
	const char *function;
	uint64_t offset;
	uint64_t semaphore;
	bool in_kernel;
	bool at_return;
	pid_t pid;
	uint32_t option;
	uint32_t tracepoint;
	struct trace_condition condition;
	uint32_t nr_arguments;
	struct trace_probe_argument arguments[TRACE_PROBE_MAX_ARGUMENTS];
};

struct trace_probes;

/** trace_probes_new() - an empty list; NULL: no memory */
struct trace_probes *trace_probes_new(void);
/** trace_probes_free() - free the list and all its probes and types. NULL is fine. Returns NULL */
struct trace_probes *trace_probes_free(struct trace_probes *probes);

/**
 * trace_probes_add() - add all places that match @spec
 * Returns 0; or, with one sentence that says what to do:
 *   -EINVAL: the grammar, types or variables of @spec;
 *   -ENOENT: no such file, process, function or probe;
 *   -ENXIO: no such subsystem of tracepoints;
 *   -ENOTSUP: not available, because debug information is missing, or a variable is in a vector
 *     register, for example;
 *   -ETIMEDOUT: the file, or a process that has it mapped, does not answer;
 *   -EBADMSG: the child that reads the debug information failed, or took too long;
 *   -E2BIG: more than TRACE_PROBE_MAX_PLACES; -ENOMEM; another errno of the file.
 * On failure nothing was added.
 */
int trace_probes_add(struct trace_probes *probes, const char *spec, struct trace_error *ret_error);

/** trace_probes_nr() - the number of places of all calls of trace_probes_add() */
size_t trace_probes_nr(const struct trace_probes *probes);
/**
 * trace_probes_get() - one place, in the order in which they were added
 * Returns the place, borrowed until trace_probes_free(); NULL: @idx is not below trace_probes_nr().
 */
const struct trace_probe *trace_probes_get(const struct trace_probes *probes, size_t idx);

/**
 * trace_probes_list() - write possible probes to @out, one line each, sorted
 * @target: as in a spec: "usdt:libc.so.6", "usdt:python3:python:*", "usdt:PID", "libc.so.6:mall*",
 *     "./prog" (all functions), "kernel:tcp_*", "ext4:*" or "tracepoint:ext4:*" (without fields:
 *     "tracepoint:")
 * Behind an empty line a last one says that this kernel has no probes of its functions, if that
 * matters. Failed writes are told by ferror(@out) only.
 * Returns the number of probes, which is never 0; -ENODATA: the list is not whole, because files of
 * the process could not be read, and the lines of the others are written; or a negative errno as
 * trace_probes_add(), and then nothing was written. -ENOENT also tells that nothing matches; its
 * sentence says how many files could not be read, if that may be why.
 */
int trace_probes_list(const char *target, FILE *out, struct trace_error *ret_error);

#ifdef __cplusplus
}
#endif
#endif /* user space */
#endif

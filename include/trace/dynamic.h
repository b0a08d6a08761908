/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_DYNAMIC_H
#define TRACE_DYNAMIC_H
/*
 * dynamic.h - events that a program declares while it runs; for languages that have no C compiler
 * at hand
 *
 * A tracepoint() of <trace/tracepoint.h> is described at compile time, and its common case is
 * compiled into the program. The functions here need neither: a binding for any language calls them
 * through its interface to C. They have no structs, callbacks or variable arguments. languages/ has
 * the bindings of Python, Node, Java, Go and Rust.
 *
 *     struct trace_dynamic *paid;
 *     struct { int64_t id; double price; uint64_t customer; char text[5]; } values = {
 *         7, 9.5, 5, "alice"};
 *
 *     if (trace_dynamic_declare("shop", "order_paid", TRACE_DYNAMIC_EVENT,
 *                               "id:i32 price:f64 customer:text", __FILE__, __LINE__, &paid) < 0)
 *         ... trace_dynamic_rules() says what is allowed
 *     if (*trace_dynamic_flag(paid))
 *         trace_dynamic_record(paid, &values, 29);
 *
 * Values are one word of 8 bytes for each field, in the order of the fields and the byte order of
 * the machine, followed by the bytes of all texts, without gaps and without a NUL:
 *   i8 i16 i32 i64 u8 u16 u32 u64 bool pointer    the integer; the event keeps the type's bytes
 *   f32 f64                                       a double; f32 is rounded
 *   text bytes                                    the number of bytes, which follow the words
 * Values contain no addresses, so a binding packs them into a buffer, and nothing in that buffer is
 * read after the call.
 *
 * An event belongs to the thread that calls trace_dynamic_record(). A scope is a pair of events of
 * one name, with the roles BEGIN and END, in one thread, properly nested with other scopes.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct trace_dynamic - a declared event; libtracer's, never freed */
struct trace_dynamic;

/** enum trace_dynamic_role - as the macros of <trace/tracepoint.h> */
enum trace_dynamic_role {
	TRACE_DYNAMIC_EVENT = 0,
	TRACE_DYNAMIC_BEGIN = 1,
	TRACE_DYNAMIC_END = 2,
	TRACE_DYNAMIC_COUNTER = 3,	   /* its first field is a value over time */
	TRACE_DYNAMIC_REQUEST_BEGIN = 4,   /* its first field names the request that the thread works for ... */
	TRACE_DYNAMIC_REQUEST_END = 5,	   /* ... until here */
	TRACE_DYNAMIC_REQUEST_HANDOFF = 6, /* the thread passes it on, to the thread that begins it next */
};

#define TRACE_DYNAMIC_MAX_FIELDS 16

/**
 * trace_dynamic_declare() - declare the event @provider:@name
 * @provider, @name: letters, digits and underscores, not a digit first; at most 63 bytes
 * @role: enum trace_dynamic_role
 * @fields: "NAME:TYPE NAME:TYPE ...", with the types above; "" for an event without a field
 * @file, @line: where the program declares it; NULL and 0 if that is not known
 * All texts are copied. The same declaration again returns the same event, so a library that is
 * loaded again, or a function that declares its events in each call, uses no further memory.
 * Returns 0, or -EINVAL for a declaration against these rules. An event that finds no room (a
 * process has at most 16383) is off, and the trace counts it with the program's unregistered ones.
 * Any thread, but no signal handler: it may allocate memory and wait for another thread that
 * declares.
 */
int trace_dynamic_declare(const char *provider, const char *name, uint32_t role, const char *fields, const char *file,
			  uint32_t line, struct trace_dynamic **ret_event);

/**
 * trace_dynamic_flag() - the byte that says whether a recording selects @event: 0 if none does
 * The address is valid as long as the process lives, and in its forked children. A binding asks for
 * it once, and reads the byte before it collects values: that load is the cost of an event while no
 * recording selects it.
 */
const volatile unsigned char *trace_dynamic_flag(const struct trace_dynamic *event);

/**
 * trace_dynamic_record() - record @event, if a recording selects it
 * @values: @bytes bytes, at any alignment. Words beyond them are 0; texts beyond them are cut
 * Any thread, also in signal handlers. It never blocks, allocates, fails or changes errno; an
 * event that finds no room in the buffers is counted in the trace.
 */
void trace_dynamic_record(struct trace_dynamic *event, const void *values, size_t bytes);

/** trace_dynamic_rules() - a sentence for the message of a binding that got -EINVAL; static */
const char *trace_dynamic_rules(void);

#ifdef __cplusplus
}
#endif
#endif

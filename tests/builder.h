/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_BUILDER_H
#define TESTS_BUILDER_H
/*
 * builder.h - build a trace in a few lines, for the tests of everything that reads traces.
 *
 * 	struct tb *tb = tb_new();
 * 	tb_switch(tb, 0, 1000, 0, 42, TRACE_TASK_RUNNING);
 * 	tb_sys_enter(tb, 0, 1500, SYS_read, 0);
 * 	struct trace *trace = tb_open_trace(tb); // real writer, real reader
 * 	...
 * 	trace = trace_close(trace);
 * 	tb = tb_free(tb);
 *
 * Events may be added in any order of time and CPU. Each CPU is one stream of one chunk (of several
 * after tb_lost() or tb_cut()), and the writer sorts it. The trace starts at the first event unless
 * tb_window() says otherwise. A failure of the builder itself ends the test program with a message.
 */
#include <stdint.h>
#include <stdlib.h>
#include <trace/reader.h>
#include <trace/writer.h>

struct tb;

struct tb *tb_new(void);
struct tb *tb_free(struct tb *tb); /* accepts NULL; returns NULL */

/**
 * tb_window() - set begin and end of the recording; by default they are those of the events
 */
void tb_window(struct tb *tb, uint64_t start_ns, uint64_t end_ns);
/** tb_keep_end() - do not move this end although events are more than 10 s later */
void tb_keep_end(struct tb *tb);
/**
 * tb_claims_unknown() - do not tell the losses of programs apart, as traces before version 2.8
 */
void tb_claims_unknown(struct tb *tb);
/**
 * tb_string() - give the number @key a name, as trace_writer_string() does
 */
void tb_string(struct tb *tb, enum trace_string_space space, uint64_t key, const char *text);

/**
 * tb_event() - add any event
 * @payload: a struct trace_<event>
 * @string: the event's string, or NULL
 */
void tb_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t id, const void *payload, size_t payload_bytes,
	      const char *string);
/**
 * tb_add() - add an event by its name, with the fields of its payload as in an initializer
 */
#define tb_add(tb, cpu, ts_ns, name, string, ...)                                                                   \
	tb_event(tb, cpu, ts_ns, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__}, sizeof(struct trace_##name), \
		 string)

/**
 * tb_structural_event() - add an event to the CPU's second stream, that of fork, exec and exit
 * tb_event() adds all events to the first stream.
 */
void tb_structural_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t id, const void *payload,
			 size_t payload_bytes, const char *string);

/** tb_random() - 64 bits that do not compress */
static inline uint64_t tb_random(void)
{
	return (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^ (uint64_t)random();
}

/**
 * tb_user_type() - describe a type of program events, as trace_writer_event_type() does
 * @type: copied; no two may be equal
 * Returns the id of its events, from TRACE_EV_MAX on.
 */
uint16_t tb_user_type(struct tb *tb, const struct trace_event_type *type);
/**
 * tb_user_event() - add a program's event to the stream TB_USER_STREAM + @cpu
 * @payload: laid out as the type says, with the tid if the type has one; the bytes that references
 *   point into follow the fixed part
 */
void tb_user_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id, const void *payload, size_t payload_bytes);
enum { TB_USER_STREAM = 0x10000 };
/**
 * tb_start() - add an event of the start state
 */
void tb_start(struct tb *tb, uint64_t ts_ns, uint32_t id, const void *payload, size_t payload_bytes,
	      const char *string);
/**
 * tb_lost() - lose @nr events of @cpu between its events so far and those that follow
 */
void tb_lost(struct tb *tb, uint32_t cpu, uint64_t nr);
/**
 * tb_structural_lost() - tb_lost() for the CPU's structural stream
 */
void tb_structural_lost(struct tb *tb, uint32_t cpu, uint64_t nr);
/**
 * tb_overwritten() - tb_lost() in a flight recorder: the loss is an overwrite, in all streams
 */
void tb_overwritten(struct tb *tb, uint32_t cpu, uint64_t nr);
/**
 * tb_user_lost() - tb_lost() for the programs' events
 */
void tb_user_lost(struct tb *tb, uint32_t cpu, uint64_t nr);
/**
 * tb_cut() - start a new chunk for the next events of @cpu
 */
void tb_cut(struct tb *tb, uint32_t cpu);
/**
 * tb_structural_cut() - tb_cut() for the CPU's structural stream
 */
void tb_structural_cut(struct tb *tb, uint32_t cpu);
/**
 * tb_user_cut() - tb_cut() for the programs' events
 */
void tb_user_cut(struct tb *tb, uint32_t cpu);

/**
 * tb_clock() - add a clock correspondence, as trace_writer_clock() does; at most 16
 */
void tb_clock(struct tb *tb, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc);
/** tb_clocks_last() - write the clock correspondences behind the events, as a recorder does */
void tb_clocks_last(struct tb *tb);

/**
 * tb_write() - write the trace to @fd
 * @finish: false leaves the file as a killed recorder does
 */
void tb_write(struct tb *tb, int fd, bool finish);
/**
 * tb_open_trace() - write the trace to a temporary file and open it
 * Returns the trace, to be released with trace_close().
 */
struct trace *tb_open_trace(struct tb *tb);
/**
 * tb_order_text() - print all events of @trace as "cpu@ts ", a loss with "lost:" in front
 * @text: large enough for all of them
 */
void tb_order_text(const struct trace *trace, char *text);

/* ---- the events that most tests need ---- */

void tb_switch(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t prev_tid, uint32_t next_tid, uint32_t prev_state);
void tb_waking(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, enum trace_context context);
/**
 * tb_sys_enter() - enter a system call with @nr_args arguments (uint64_t), as sys_enter, sys_enter3
 * or sys_enter6
 */
void tb_sys_enter_args(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t nr, const uint64_t *args, size_t nr_args);
#define tb_sys_enter(tb, cpu, ts_ns, nr, ...)                                           \
	tb_sys_enter_args(tb, cpu, ts_ns, nr, (const uint64_t[]){0, ##__VA_ARGS__} + 1, \
			  sizeof((const uint64_t[]){0, ##__VA_ARGS__}) / sizeof(uint64_t) - 1)
void tb_sys_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int64_t ret);
void tb_sys_path(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t nr, const char *path);
/**
 * tb_fork() - create a process (@tgid == @tid) or a thread, with clone flags to match
 */
void tb_fork(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t parent_tid, uint32_t tid, uint32_t tgid,
	     const char *comm);
/**
 * tb_io_worker() - the kernel creates a thread that works for a ring of io_uring
 */
void tb_io_worker(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t parent_tid, uint32_t tid, uint32_t tgid,
		  const char *comm);
void tb_exec(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, const char *path);
void tb_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, uint32_t tgid, bool group_dead);
void tb_free_thread(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid);
void tb_comm(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, const char *comm);
void tb_fault(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint64_t address, bool user);
void tb_fault_end(struct tb *tb, uint32_t cpu, uint64_t ts_ns, bool major);
void tb_irq(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t irq);
void tb_irq_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t irq);
void tb_softirq(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vec);
void tb_softirq_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vec);
void tb_vector(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vector);
void tb_vector_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vector);
void tb_open(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int fd, uint32_t dev, uint64_t ino, uint32_t mode,
	     const char *path);

/* Start state. */
/**
 * tb_thread() - a thread of the start state
 * @running: it runs on @cpu at the start
 */
void tb_thread(struct tb *tb, uint32_t tid, uint32_t tgid, uint32_t ppid, const char *comm, uint32_t cpu, bool running);
/**
 * tb_thread_in() - a thread of the start state that is in system call @nr
 */
void tb_thread_in(struct tb *tb, uint32_t tid, uint32_t tgid, uint32_t ppid, const char *comm, uint32_t cpu,
		  bool running, int nr);
void tb_fd(struct tb *tb, uint32_t tgid, int fd, uint32_t dev, uint64_t ino, uint32_t mode, const char *path);
/**
 * tb_tcp_end() - a connection that is descriptor 3 of a process in the start state
 * The inode of one end is even, and that of the other odd.
 */
void tb_tcp_end(struct tb *tb, uint32_t tgid, uint64_t ino);

#endif

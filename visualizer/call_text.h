/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CALL_TEXT_H
#define VISUALIZER_CALL_TEXT_H
/*
 * call_text.h - system calls as text, with exactly the arguments that a call has. Small numbers and
 * descriptors are decimal, other values hexadecimal. Descriptors have paths if the caller knows
 * them.
 */
#include <trace/reader.h>

#define CALL_TEXT_BYTES 4096 /* enough for every call */

struct call_texts;
/** call_path_fn - the path of a descriptor of the calling thread, or NULL */
typedef const char *(*call_path_fn)(void *data, int fd);

struct call_texts *call_texts_new(const struct trace *trace); /* NULL: out of memory */
struct call_texts *call_texts_free(struct call_texts *texts); /* NULL is fine; returns NULL */
/**
 * call_text() - the description of a sys_enter or sys_exit event
 * @buffer: CALL_TEXT_BYTES
 * @path: NULL: without paths
 * @new_fd: the sys_exit returns a descriptor
 * Returns the length; 0 if the event or system call is unknown: use trace_event_format().
 */
size_t call_text(const struct call_texts *texts, const struct trace_event *event, char *buffer, call_path_fn path,
		 void *data, bool new_fd);
/**
 * call_text_makes_fd() - true if the call @name returns a new descriptor; @name must not change
 * while @texts is in use
 */
bool call_text_makes_fd(struct call_texts *texts, const char *name);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CALL_TEXT_H
#define VISUALIZER_CALL_TEXT_H
/*
 * call_text.h - system calls as text: the arguments that the call has, and no more; small numbers and descriptors decimal, the
 * rest hexadecimal; with the paths of the descriptors where somebody knows them.
 */
#include <trace/reader.h>

#define CALL_TEXT_BYTES 4096 /* room that is enough for any */

struct call_texts;
/** call_path_fn - the path behind a descriptor of the thread that makes the call, or NULL */
typedef const char *(*call_path_fn)(void *data, int fd);

struct call_texts *call_texts_new(const struct trace *trace); /* NULL: out of memory */
struct call_texts *call_texts_free(struct call_texts *texts); /* NULL is fine; returns NULL */
/**
 * call_text() - the description of a sys_enter or sys_exit event
 * @buffer: of CALL_TEXT_BYTES. @path: NULL: without paths. @new_fd: a sys_exit returns a descriptor
 * Returns the length; 0: this event or system call is not known here, trace_event_format() is the way.
 */
size_t call_text(const struct call_texts *texts, const struct trace_event *event, char *buffer, call_path_fn path, void *data, bool new_fd);
/** call_text_makes_fd() - does the call of this name return a new descriptor? @name: not changed as long as @texts lives */
bool call_text_makes_fd(struct call_texts *texts, const char *name);
#endif

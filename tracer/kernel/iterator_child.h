/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_ITERATOR_CHILD_H
#define TRACER_ITERATOR_CHILD_H
/*
 * iterator_child.h - reads a BPF iterator over the mappings of processes in a child
 *
 * SECURITY: the kernel takes the lock of the mappings of each process, and a process can hold it
 * for ever (file_opener.h). If the child says nothing for STATE_ANSWER_NS, it is killed. Then other
 * children read each process by itself, and those that do not answer are left out.
 */
#include <stddef.h>

struct bpf_program;
struct tracer_collector;

/**
 * iterator_child_read() - @take: gets all bytes that the iterator of @program writes, in parts; a
 * NULL part is the begin of a process that may have been read in part before. @take may be NULL:
 * the iterator writes nothing
 * @c: its receiver is called with NULL while the child says nothing; may be NULL: there is none
 * Returns 0, what @take or the receiver returned, or a negative errno
 */
int iterator_child_read(struct bpf_program *program, struct tracer_collector *c,
			int (*take)(void *context, const unsigned char *part, size_t bytes), void *context);

#endif

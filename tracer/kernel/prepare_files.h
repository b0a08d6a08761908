/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PREPARE_FILES_H
#define TRACER_PREPARE_FILES_H
/*
 * prepare_files.h - ask for the tables of files before a sample hits them: of those that no process
 * has mapped yet, or of all that runs
 *
 * The BPF programs give each file its number, because only they see how the kernel identifies it.
 * So the daemon maps a page of each file, without using it, and an iterator over its mappings does
 * what it does for those of other processes.
 */
#include <stddef.h>

struct samples_bpf;
struct ring_buffer;

/** prepare_files() - ask for the tables of @fds, and answer all requests in @wanted */
void prepare_files(struct samples_bpf *skeleton, const int *fds, size_t nr, struct ring_buffer *wanted);
/** prepare_running() - the same for the code that processes have mapped now */
void prepare_running(struct samples_bpf *skeleton, struct ring_buffer *wanted);

#endif

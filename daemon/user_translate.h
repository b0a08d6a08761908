/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_TRANSLATE_H
#define DAEMON_USER_TRANSLATE_H
/*
 * user_translate.h - a program's records become records of the trace: with the ids of the trace,
 * and times in ns. Records that are not wanted are left out.
 */
#include <stdbool.h>
#include <stdint.h>

struct drain_copy;
struct user_program;

/**
 * user_translate() - translate the copy of a sub-buffer in place, as struct drain_source demands
 * @context: the struct user_ring. Returns false if the sub-buffer's base is no valid time.
 */
bool user_translate(void *context, struct drain_copy *copy);
/** user_translate_ns() - a time of the program's clock in ns. Returns false if it is not valid */
bool user_translate_ns(struct user_program *program, uint64_t time, uint64_t *ret_ns);
/**
 * user_translate_read_clocks() - read both clocks now, so that the times of the copied records lie
 * between two pairs
 */
void user_translate_read_clocks(struct user_program *program);
#endif

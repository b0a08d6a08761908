/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_TARGET_H
#define TRACER_PROBE_TARGET_H
/*
 * probe_target.h - what the kernel touches when it attaches a probe to a place in a program
 *
 * SECURITY: the kernel reads the file, and takes the lock of the mappings of each process that has
 * it mapped. Meanwhile no process of the machine can fork. So a user could stop the machine: with a
 * file that a server of that user does not answer for, or with a process that holds that lock for
 * ever (file_opener.h).
 */
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include <trace/probes.h>

#include "file_opener.h"

/**
 * struct probe_target - identity of a file. In a changed file a place may be inside an instruction
 */
struct probe_target {
	dev_t dev;
	ino_t ino;
	off_t bytes;
	struct timespec changed;
};

/**
 * probe_target_open() - open the file of a probe, in a child
 * @ret_target: untouched if it fails
 * Returns a descriptor, which the caller closes; -EREMOTE: another user may serve the file;
 * -EINVAL: a probe in the kernel; or as file_opener_open()
 */
int probe_target_open(struct file_opener *opener, const struct trace_probe *probe, struct probe_target *ret_target);

bool probe_target_is_same(const struct probe_target *one, const struct probe_target *two);

/** probe_target_any_is_mute() - may a process hold the lock of its mappings? */
bool probe_target_any_is_mute(struct file_opener *opener);

#endif

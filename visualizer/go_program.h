/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_GO_PROGRAM_H
#define VISUALIZER_GO_PROGRAM_H
/*
 * go_program.h - programs that the Go compiler made. Their goroutines wait for locks and channels
 * in the runtime of the program, so the kernel has no wait for them.
 */
#include <stdbool.h>

/**
 * go_program_is() - true if the file at @path has the note of Go's linker among its first bytes
 * @folder: look below it, as if it were "/"; NULL: none
 */
bool go_program_is(const char *folder, const char *path);
#endif

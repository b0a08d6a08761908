/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FAILING_STREAM_H
#define TESTS_FAILING_STREAM_H
/*
 * failing_stream.h - streams that fail with EIO behind a number of bytes, as those of a failing
 * disk do
 *
 * A test that links failing_stream.c, and has --wrap=fopen and --wrap=fdopen as options of the
 * linker, gets such streams from both.
 */
#include <stddef.h>

/** streams_fail_after() - streams that are opened from now on for reading; 0: none fail */
void streams_fail_after(size_t bytes);
#endif

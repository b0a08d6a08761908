/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FAILING_STREAM_H
#define TESTS_FAILING_STREAM_H
/*
 * failing_stream.h - streams that fail with EIO behind a number of bytes, as those of a failing
 * disk do, and folders that fail behind a number of entries
 *
 * A test that links failing_stream.c, and has --wrap=fopen, --wrap=fdopen and --wrap=readdir as
 * options of the linker, gets such streams and folders from them (failing_streams() in
 * tests/CMakeLists.txt).
 */
#include <stddef.h>

/** streams_fail_after() - streams that are opened from now on for reading; 0: none fail */
void streams_fail_after(size_t bytes);
/** folders_fail_after() - from now on, readdir() fails after @nr entries; 0: it does not */
void folders_fail_after(size_t nr);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_BUILD_STAMP_H
#define BASE_BUILD_STAMP_H
/* build_stamp.h - tells builds of a program or library apart */
#include <stdint.h>

/**
 * build_stamp() - a number made from the size and time of the file that has this code; 0: unknown
 * A revision of the sources would not tell builds of changed sources, and each revision would link
 * the library again.
 */
uint64_t build_stamp(void);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_LINUX_NAMES_H
#define BASE_LINUX_NAMES_H
/* linux_names.h - names of recorded numbers, on any machine that reads them. */
#include <stddef.h>
#include <stdint.h>

/** linux_errno_name() - "EAGAIN" for 11, also for results inside the kernel; NULL: no such error */
const char *linux_errno_name(uint64_t number);
/** linux_signal_name() - "CHLD" for 17; NULL: no such signal, or a realtime one */
const char *linux_signal_name(uint64_t number);

#endif

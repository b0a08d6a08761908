/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_EXIT_TIMES_H
#define ANALYZER_EXIT_TIMES_H
/* exit_times.h - compare the kernel's account of a thread's life with the sums */
#include "handler.h"

event_handler on_exit_times;
#endif

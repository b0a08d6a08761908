/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_GROWING_H
#define LIBTRACE_GROWING_H
/* growing.h - a trace that is still being written. */
struct follow;

struct follow *follow_free(struct follow *follow);

#endif

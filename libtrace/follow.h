/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_FOLLOW_H
#define LIBTRACE_FOLLOW_H
/* follow.h - a trace that is still being written. */
struct follow;

struct follow *follow_free(struct follow *follow);

#endif

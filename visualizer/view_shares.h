/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SHARES_H
#define VISUALIZER_VIEW_SHARES_H
/*
 * view_shares.h - the answer to "shares": what the columns of some rows were spent on, in bytes.
 *
 * Little-endian: u32 "VSH1", number of rows, number of columns, 0; u64 from, to. Then for each row:
 * u32 row, u32 bytes, and so many bytes of runs until the columns are full. A run begins with a
 * varint n (LEB128). n odd: n >> 1 columns are wholly of one class, which follows as a byte. n
 * even: n >> 1 columns follow, each a byte k, and k times a class as a byte and its ns as a
 * varint, more than 0.
 * With by=client, time of servers on CPUs is of the classes of view_clients.h instead.
 * Example: 3 columns of 100 ns, user for 250 ns and then a wait for a file (class 6) for 50 ns:
 * 05 00 (two columns of class 0), 02 (one column follows) 02 00 32 06 32.
 */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

#define SHARES_MAGIC	   0x31485356u
#define SHARES_MAX_COLUMNS 16384u
#define SHARES_MAX_ROWS	   4096u

/** view_shares() - write the answer to @out, or set the question's error and write nothing */
void view_shares(struct view_session *session, struct view_question *question, FILE *out);
#endif

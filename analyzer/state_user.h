/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_USER_H
#define ANALYZER_STATE_USER_H
/* state_user.h - streams of programs: which process each one is of */
#include "handler.h"
#include "hash_table.h"

struct user_streams {
	struct hash_table streams;  /* stream of a program's events -> pid */
	struct hash_table programs; /* pid of such a stream -> what the program runs */
};

event_handler on_user_stream;
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_USER_H
#define ANALYZER_STATE_USER_H
/* state_user.h - streams of programs: which process each one is of */
#include "handler.h"

event_handler on_user_stream;
#endif

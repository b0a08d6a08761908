/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_CALL_H
#define ANALYZER_WAIT_CALL_H
/* wait_call.h - the cause of a wait by the class of its system call */
#include "wait_cause.h"

struct wait_context;

struct wait_cause wait_by_call(const struct wait_context *ctx);
#endif

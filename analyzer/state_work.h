/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_WORK_H
#define ANALYZER_STATE_WORK_H
/* state_work.h - work of kernel threads: which thread queued it */
#include "handler.h"

event_handler on_work_queue, on_work_start, on_work_end;
#endif

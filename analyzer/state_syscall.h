/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_SYSCALL_H
#define ANALYZER_STATE_SYSCALL_H
/* state_syscall.h - entry and exit of system calls */
#include "handler.h"

event_handler on_sys_enter, on_sys_exit, on_sys_path, on_futex_woken, on_fs_ready;
#endif

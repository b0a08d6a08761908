/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STRACE_SIGNALS_H
#define STRACE_SIGNALS_H

/* strace_signals.h - the lines of signals and of ends of threads */

#include "strace_state.h"

/** strace_note_sent() - an event signal_generate */
void strace_note_sent(struct strace *strace, const struct trace_event *event);

/** strace_deliver() - an event signal_deliver of @t: its line */
void strace_deliver(struct strace *strace, struct strace_thread *t, const struct trace_event *event);

/** strace_put_ignored() - signals that @t ignored, when its call returns: as strace tells them */
void strace_put_ignored(struct strace *strace, struct strace_thread *t, uint64_t ts_ns);

/** strace_exit_thread() - an event sched_exit of @t: its last lines; @t is gone then */
void strace_exit_thread(struct strace *strace, struct strace_thread *t, const struct trace_event *event);

#endif

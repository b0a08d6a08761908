/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SAMPLE_EVENT_H
#define DAEMON_SAMPLE_EVENT_H
/* sample_event.h - events of the processor or the kernel by which samples are taken */
#include <trace/error.h>
#include <trace/tracer.h>

/**
 * sample_event_take() - put "cycles:1000000" into the options of samples: one about every so many
 * of these events
 * Returns 0; -EINVAL with a sentence, and nothing is changed
 */
int sample_event_take(const char *text, struct tracer_options *options, struct trace_error *ret_error);

#endif

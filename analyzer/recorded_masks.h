/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RECORDED_MASKS_H
#define ANALYZER_RECORDED_MASKS_H
/* recorded_masks.h - which events were recorded, by the masks in the trace */
#include <stdbool.h>
#include <stdint.h>
#include <trace/events.h>

struct trace;
struct trace_event;

struct recorded_masks {
	bool any;			     /* the trace has events that say what was recorded */
	bool paused;			     /* by the last mask, scheduling changes are not recorded */
	bool no_wakings;		     /* wakeups are not recorded now */
	bool no_entries;		     /* entries of system calls are not recorded now */
	bool no_exits;			     /* exits of system calls are not recorded now */
	bool sees_opens;		     /* by the last mask, calls that open and close are recorded */
	bool no_fault_exit;		     /* the recorder could not record the end of faults */
	uint64_t recorded[TRACE_MASK_WORDS]; /* events that some mask so far included */
	/* events that a mask excluded while it included scheduling changes */
	uint64_t unrecorded[TRACE_MASK_WORDS];
};

/** is_recorded() - does the mask in @event include event @id? */
bool is_recorded(const struct trace_event *event, uint32_t id);
/** has_opens() - does it include all events that change which file a descriptor refers to? */
bool has_opens(const struct trace_event *event);
/** mask_apply() - the mask in @event is valid from now on */
void mask_apply(struct recorded_masks *masks, const struct trace_event *event);
/** mask_begin() - the window begins with this mask: drop the knowledge of earlier masks */
void mask_begin(struct recorded_masks *masks, const struct trace_event *event);

/** was_left_out() - did the recorder omit @what, a TRACE_LEFT_OUT_...? */
bool was_left_out(const struct trace *trace, const char *what);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_RECORDED_H
#define VISUALIZER_RECORDED_H
/*
 * recorded.h - which events a trace has. If the events that a figure needs were not recorded, the
 * figure is unknown, and not 0.
 */
#include <stdbool.h>
#include <trace/analysis.h>
#include <trace/reader.h>

/** is_left_out() - true if the recorder left @what out as a whole; @what: TRACE_LEFT_OUT_... */
bool is_left_out(const struct trace *trace, const char *what);
/** chosen_pid() - the process of tracedaemon -P; 0: none */
uint32_t chosen_pid(const struct trace *trace);
/**
 * is_unrecorded() - true if no kernel event of @category was recorded at any time
 * If so, the absence of such events means nothing.
 */
bool is_unrecorded(const struct trace *trace, const struct trace_analysis *analysis, enum trace_category category);
/**
 * has_recorded() - true if this event was recorded for some time; if not, its absence means nothing
 */
bool has_recorded(const struct trace_analysis *analysis, uint32_t id);
/**
 * has_scheduling() - true if scheduling changes were recorded for some time, so that times are
 * known
 */
bool has_scheduling(const struct trace_analysis *analysis);
/** has_interrupts() - true if interrupts, softirqs or vectors were recorded for some time */
bool has_interrupts(const struct trace_analysis *analysis);
#endif

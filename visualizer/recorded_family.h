/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_RECORDED_FAMILY_H
#define VISUALIZER_RECORDED_FAMILY_H
/*
 * recorded_family.h - the processes that the recording was made for: reports list them first. They
 * are the command and its descendants, else the process of tracedaemon -P and its descendants.
 */
#include "report.h"

/**
 * chosen_process() - the process of tracedaemon -P; NULL: none
 * If the number was used again, it is the process that existed when the recording began.
 */
const struct trace_process *chosen_process(const struct report *report);
/** recorded_family() - the caller frees the list of struct trace_process; it may be empty */
struct pointers recorded_family(const struct report *report);
#endif

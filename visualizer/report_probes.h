/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROBES_H
#define VISUALIZER_REPORT_PROBES_H
/* report_probes.h - what the recorder's own probes cost the programs. */
#include "json.h"
#include "report.h"

/** report_probes() - a line for each probe and process; nothing without probes of a known cost */
void report_probes(const struct report *report);
/** json_probes() - the key probes */
void json_probes(struct json *json, const struct report *report);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SLOWEST_JSON_H
#define VISUALIZER_SLOWEST_JSON_H
/* slowest_json.h - the report of --slowest as JSON, schema trace-slowest/1 */
#include "slowest_parts.h"

/** slowest_json() - @name: that of the instances, with its provider */
void slowest_json(const struct report *report, const struct slowest *slowest, const struct slowest_parts *parts,
		  const char *name);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_WAIT_JSON_H
#define VISUALIZER_WAIT_JSON_H
/* wait_json.h - a wait as JSON. */
#include <trace/analysis.h>
#include "json.h"

/** json_wait() - a wait as an object */
void json_wait(struct json *json, const struct trace_wait *wait);
/** json_wait_keys() - the keys and values of a wait, in the open object */
void json_wait_keys(struct json *json, const struct trace_wait *wait);
#endif

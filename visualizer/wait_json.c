/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_json.c - a wait as JSON. */
#include "wait_json.h"

void json_wait_keys(struct json *json, const struct trace_wait *wait)
{
	json_text(json, "kind", trace_wait_kind_name(wait->kind));
	json_text(json, "target", wait->target);
	json_u64(json, "pid", wait->pid);
	json_text(json, "comm", wait->comm);
	json_text(json, "via", wait->via);
	json_bool(json, "idle", wait->idle);
	json_u64(json, "ns", wait->ns);
	json_u64(json, "count", wait->count);
	json_text(json, "path", wait->path ? wait->path : "");
	json_u64(json, "tid", wait->thread ? trace_thread_tid(wait->thread) : 0);
	json_text(json, "thread", wait->thread ? trace_thread_comm(wait->thread) : "");
}

void json_wait(struct json *json, const struct trace_wait *wait)
{
	json_open(json, NULL, "{");
	json_wait_keys(json, wait);
	json_close(json, "}");
}

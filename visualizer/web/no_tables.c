/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_tables.c - for WebAssembly: a page has no file for the tables of spans, and counts each. */
#include "json.h"
#include "view_profile_log.h"
#include "view_tables.h"

void view_tables(struct view_session *session, struct view_question *question, FILE *out)
{
	struct json json = {.out = out, .first = true};

	json_open(&json, NULL, "{");
	json_bool(&json, "ready", false);
	json_close(&json, "}\n");
}

bool view_tables_are_wanted(const struct view_session *session)
{
	return false;
}

int view_tables_step(struct view_session *session, uint64_t until_ns)
{
	return 1;
}

void view_tables_free(struct view_session *session)
{
}

struct view_profile_log *view_profile_log_new(void)
{
	return NULL;
}

struct view_profile_log *view_profile_log_free(struct view_profile_log *log)
{
	return NULL;
}

bool view_profile_log_of(const struct view_session *session, struct report *report)
{
	return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H
/* status_json.h - the state of a session for programs: docs/JSON.md, trace-status/1 */
#include <stddef.h>

struct session;

/** status_json() - write it to @text. Returns 0; -E2BIG: it does not fit in; -ENOMEM */
int status_json(const struct session *session, char *text, size_t size);
#endif

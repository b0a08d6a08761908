/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_SERVER_H
#define TRACE_SYMBOL_SERVER_H
/* symbol_server.h - asks debuginfod servers for a debug file, for a limited time */
#include <limits.h>
#include <stdint.h>
#include <trace/error.h>

/**
 * symbol_server_find() - have debuginfod-find(1) fetch the debug file with the build id @id
 * One file takes at most DEBUGINFOD_MAXTIME seconds, or 60, and all together three times that. A
 * file has at most DEBUGINFOD_MAXSIZE bytes, or 1 GiB. The client tells its progress on stderr if
 * DEBUGINFOD_PROGRESS is in the environment.
 * @spent_ns: of all calls so far; 0 in the beginning
 * Returns 0 with the path of the file; -ENOENT; -ETIMEDOUT; -ENOMEM
 */
int symbol_server_find(const char *id, uint64_t *spent_ns, char ret_path[PATH_MAX]) TRACE_NODISCARD;

#endif

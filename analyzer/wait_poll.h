/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_POLL_H
#define ANALYZER_WAIT_POLL_H
/*
 * wait_poll.h - the cause of a wait on several files at once: poll, select, epoll, AIO and io_uring
 */
#include <stdbool.h>
#include "wait_cause.h"

struct wait_context;

bool wait_polls(const struct wait_context *ctx);
/** wait_rests() - is the thread that of a server between two requests? state_request.c */
bool wait_rests(const struct wait_context *ctx);
/** wait_by_poll() - the file on which the waker acted shows which descriptor became ready */
struct wait_cause wait_by_poll(const struct wait_context *ctx);
struct wait_cause wait_by_aio(const struct wait_context *ctx);
struct wait_cause wait_by_uring(const struct wait_context *ctx);
/** wait_of_io_worker() - it waits for work from its submitter, or for the file of a request */
struct wait_cause wait_of_io_worker(const struct wait_context *ctx);
#endif

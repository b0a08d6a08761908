/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_start.c - the sockets and pipes that were open at the start of the trace */
#include <errno.h>
#include "servers_start.h"
#include "kernel_numbers.h"
#include "servers_state.h"

static void start_socket(struct trace_servers *s, const struct trace_start_socket *start, uint32_t netns)
{
	struct trace_sock_endpoints ends = {.ino = start->ino,
					    .peer_ino = start->peer_ino,
					    .family = start->family,
					    .type = start->type,
					    .state = start->state,
					    .local_port = start->local_port,
					    .remote_port = start->remote_port,
					    .local_hi = start->local_hi,
					    .local_lo = start->local_lo,
					    .remote_hi = start->remote_hi,
					    .remote_lo = start->remote_lo,
					    .protocol = start->protocol,
					    .netns = netns};

	endpoint_learn(s, &ends, servers_process_by_pid(s, start->tgid), false);
}

static void start_event(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_start_fd *fd = event->payload;
	struct endpoint *pipe;

	if (event->id == TRACE_EV_start_socket && event->type->fixed_bytes >= START_SOCKET_BYTES)
		start_socket(s, event->payload, start_socket_netns(event));
	if (event->id != TRACE_EV_start_fd || event->type->fixed_bytes < sizeof(*fd) || !LINUX_S_ISFIFO(fd->mode))
		return;
	pipe = pipe_get(s, fd->dev, fd->ino);
	if (!pipe)
		return;
	pipe->is_old = true;
	if ((fd->flags & 3) == 0) /* O_RDONLY */
		pipe->owner = servers_process_by_pid(s, fd->tgid);
}

void servers_start_load(struct trace_servers *s)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = trace_cursor_new(s->trace, &options, NULL);
	const struct trace_event *event;
	int error;

	s->started = true;
	s->start_ns = trace_analysis_now(s->analysis);
	if (!cursor) {
		s->failed = -ENOMEM;
		return;
	}
	while ((event = trace_cursor_next(cursor)))
		start_event(s, event);
	error = trace_cursor_end(cursor, NULL);
	if (error && error != -EBADMSG) /* a damaged chunk: the analysis reports it */
		s->failed = error;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SOCKET_H
#define ANALYZER_SERVERS_SERVERS_SOCKET_H
/* servers_socket.h - the events of sockets and pipes */

struct trace_servers;
struct trace_event;

void socket_on_endpoints(struct trace_servers *s, const struct trace_event *event);
void socket_on_send(struct trace_servers *s, const struct trace_event *event);
void socket_on_receive(struct trace_servers *s, const struct trace_event *event);
void socket_on_look(struct trace_servers *s, const struct trace_event *event);
void socket_on_ready(struct trace_servers *s, const struct trace_event *event);
void socket_on_state(struct trace_servers *s, const struct trace_event *event);
void socket_on_open(struct trace_servers *s, const struct trace_event *event);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_text.c - the targets of waits and the paths of files as text. */
#include <stdio.h>
#include <string.h>
#include "value_text.h"
#include "wait_text.h"

/* The kernel's path of every socket of a protocol. */
static const struct {
	const char *path, *text;
} socket_paths[] = {
	{"MPTCP", "(sockets, MPTCP)"}, {"NETLINK", "(sockets, netlink)"}, {"PACKET", "(sockets, packets)"},
	{"PING", "(sockets, ping)"},   {"RAW", "(sockets, raw)"},	  {"RAWv6", "(sockets, raw)"},
	{"TCP", "(sockets, TCP)"},     {"TCPv6", "(sockets, TCPv6)"},	  {"UDP", "(sockets, UDP)"},
	{"UDPv6", "(sockets, UDPv6)"}, {"UNIX", "(sockets, unix)"},	  {"UNIX-STREAM", "(sockets, unix)"},
};

/*
 * A path is a disk if its device is the path itself. A file can have a path without a '/', too:
 * relative to the working directory of its process.
 */
static bool is_disk(const struct trace_analysis *analysis, const char *path)
{
	return *path && strcmp(path, trace_file_device(analysis, path)) == 0;
}

const char *text_path(const struct trace_analysis *analysis, const char *path)
{
	if (!*path)
		return "(pipes and others without a name)";
	for (size_t i = 0; i < sizeof(socket_paths) / sizeof(socket_paths[0]); i++)
		if (strcmp(path, socket_paths[i].path) == 0)
			return socket_paths[i].text;
	return is_disk(analysis, path) ? "(blocks of unknown files)" : path;
}

bool wait_is_for_disk(const struct trace_analysis *analysis, const struct trace_wait *wait)
{
	return wait->kind == TRACE_WAIT_FILE && is_disk(analysis, wait->target);
}

const char *wait_via(const struct trace_wait *wait)
{
	size_t bytes = strlen(wait->via);
	bool is_named = wait->kind == TRACE_WAIT_OTHER && strncmp(wait->target, wait->via, bytes) == 0 &&
			(!wait->target[bytes] || wait->target[bytes] == ' ');

	return is_named ? "" : wait->via;
}

const char *text_own_thread(const struct trace_thread *thread, char *buffer, size_t size)
{
	char name[256];

	snprintf(buffer, size, "its thread %s",
		 text_process(trace_thread_comm(thread), trace_thread_tid(thread), name, sizeof(name)));
	return buffer;
}

void listener_text(struct string *s, const struct trace_analysis *analysis, const char *target)
{
	const struct trace_process *process = analysis ? trace_target_listener(analysis, target) : NULL;
	char name[256];

	if (process)
		string_addf(s, " (%s listens)", text_comm(trace_process_comm(process), name, sizeof(name)));
}

const char *text_wait(const struct trace_analysis *analysis, const struct trace_wait *wait, uint32_t own_pid,
		      char *buffer, size_t size)
{
	const char *means = wait_via(wait), *via = *means ? " via " : "", *idle = wait->idle ? " (idle)" : "";
	const char *path = wait->path ? wait->path : "", *on = *path ? " on " : "";
	char name[256], path_name[256];

	char own[256 + 32] = "another of its threads";
	struct string listener = {0};

	if (wait->kind == TRACE_WAIT_NETWORK)
		listener_text(&listener, analysis, wait->target);
	if (wait->thread)
		text_own_thread(wait->thread, own, sizeof(own));
	text_name(wait->target, name, sizeof(name));
	path = *path ? text_name(path, path_name, sizeof(path_name)) : "";
	if (wait_is_for_disk(analysis, wait))
		snprintf(buffer, size, "disk %s%s%s%s", name, via, means, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS && wait->pid == own_pid && own_pid)
		snprintf(buffer, size, "%s%s%s%s%s%s", own, via, means, on, path, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid)
		snprintf(buffer, size, "%s processes%s%s%s%s%s", name, via, means, on, path, idle);
	else if (wait->kind == TRACE_WAIT_PROCESS)
		snprintf(buffer, size, "process %u%s%s%s%s%s%s%s", wait->pid, *name ? " " : "", name, via, means, on,
			 path, idle);
	else if (wait->kind == TRACE_WAIT_STOPPED && wait->pid)
		snprintf(buffer, size, "stopped by process %u%s%s%s%s", wait->pid, *name ? " " : "", name, via, means);
	else if (wait->kind == TRACE_WAIT_UNKNOWN)
		snprintf(buffer, size, "something unknown%s%s%s", *name ? ", " : "", name, idle);
	else if (wait->kind == TRACE_WAIT_KERNEL)
		snprintf(buffer, size, "kernel: %s%s%s%s", name, via, means, idle);
	else if (wait->kind == TRACE_WAIT_OTHER)
		snprintf(buffer, size, "system call %s%s%s%s", name, via, means, idle);
	else if (wait->kind == TRACE_WAIT_NETWORK)
		snprintf(buffer, size, "network %s%s%s%s%s", name, string_text(&listener), via, means, idle);
	else
		snprintf(buffer, size, "%s%s%s%s%s%s", trace_wait_kind_name(wait->kind), *name ? " " : "", name, via,
			 means, idle);
	string_free(&listener);
	return buffer;
}

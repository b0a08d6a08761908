/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start_args.c - the arguments of a process as ps(1) shows them. */
#include "start_args.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trace/events.h>
#include "config.h"
#include "start_record.h"

/* @c->args_of_uid: another user's processes are not shown. */
bool tracer_args_are_shown(const struct tracer_collector *c, uint32_t tgid)
{
	char path[64];
	struct stat owner;

	if (c->args_of_uid < 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%u", tgid);
	return stat(path, &owner) == 0 && (int64_t)owner.st_uid == c->args_of_uid;
}

/* The text of /proc/PID/cmdline, proc(5): each argument ends with a NUL. */
static size_t read_args(uint32_t tgid, char *text, size_t bytes)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", tgid);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, bytes);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* A program that writes a title leaves NULs, or blanks, behind it. */
static size_t without_padding(const char *text, size_t bytes)
{
	while (bytes && (text[bytes - 1] == '\0' || text[bytes - 1] == ' '))
		bytes--;
	return bytes;
}

int tracer_emit_args(struct tracer_collector *c, uint32_t tgid, uint64_t ts_ns, bool only_titles)
{
	char text[4096];
	size_t bytes;
	struct trace_start_args payload = {.tgid = tgid};

	if (c->no_args || !tracer_args_are_shown(c, tgid))
		return 0;
	bytes = without_padding(text, read_args(tgid, text, sizeof(text)));
	if (!bytes || (only_titles && !memchr(text, ' ', strnlen(text, bytes))))
		return 0;
	payload.bytes = (uint32_t)bytes;
	if (bytes > TRACER_ARGS_BYTES - 1)
		bytes = TRACER_ARGS_BYTES - 1;
	text[bytes] = '\0';
	for (size_t i = 0; i < bytes; i++)
		if (!text[i])
			text[i] = TRACE_ARGS_SEPARATOR;
	return tracer_emit_record(c, TRACE_EV_start_args, ts_ns, &payload, sizeof(payload), text);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_child.c - a packet has the records of one process, or a part of them, and the number of the
 * process that the child reads next. Without a next one it is the last packet.
 */
#include "state_child.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <trace/events.h>
#include <unistd.h>
#include "clock_ns.h"
#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"

#define PACKET_BYTES 32768u
#define CPU_SECONDS  60
#define IDLE_NS	     10000000u
#define BUSY_NS	     10000000000ull /* more for a child that waits for a CPU */
#define NR_SKIPPED   16

/**
 * struct state_head - begin of a packet. @next: a process; 0: none. @result: of the walk, then
 * @skips: the child skips @next: its user has not answered too often
 */
struct state_head {
	uint32_t next;
	int32_t result;
	uint64_t skips;
};

/** struct state_record - before each record in a packet */
struct state_record {
	uint64_t ts_ns;
	uint64_t bytes;
};

struct state_packet {
	struct state_head head;
	unsigned char records[PACKET_BYTES];
};

/** struct state_sender - of the child: it is the context of the collector's receiver */
struct state_sender {
	struct state_packet packet;
	size_t bytes;
};

/* ---- processes that did not answer: written in the caller, read in its children ---- */

static struct {
	uint32_t tgid;
	unsigned long long start; /* in ticks since boot: another process may get the number */
} skipped[NR_SKIPPED];
static size_t nr_skipped; /* grows; the oldest ones are overwritten */

/* Field 22 of /proc/PID/stat, proc(5); the kernel knows it. 0: the process has ended. */
static unsigned long long start_of(uint32_t tgid)
{
	unsigned long long start = 0;
	char path[32], text[1024];
	FILE *file;
	const char *name_end;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	name_end = strrchr(text, ')');
	if (name_end)
		sscanf(name_end + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start);
	return start;
}

static bool is_skipped(uint32_t tgid)
{
	for (size_t i = 0; i < NR_SKIPPED && i < nr_skipped; i++)
		if (skipped[i].tgid == tgid && skipped[i].start == start_of(tgid))
			return true;
	return false;
}

static void skip(uint32_t tgid)
{
	skipped[nr_skipped % NR_SKIPPED].tgid = tgid;
	skipped[nr_skipped++ % NR_SKIPPED].start = start_of(tgid);
}

/* ---- the child ---- */

static bool send_packet(struct state_sender *sender, uint32_t next, int result, bool skips)
{
	size_t bytes = offsetof(struct state_packet, records) + sender->bytes;

	sender->packet.head = (struct state_head){next, result, skips};
	sender->bytes = 0;
	return jail_send(JAIL_SOCKET, &sender->packet, bytes, -1, 0);
}

static int add_record(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	const struct state_record head = {ts_ns, bytes};
	struct state_sender *sender = context;

	if (sizeof(head) + bytes > sizeof(sender->packet.records) - sender->bytes &&
	    !send_packet(sender, sender->packet.head.next, 0, false))
		return -EPIPE;
	memcpy(sender->packet.records + sender->bytes, &head, sizeof(head));
	memcpy(sender->packet.records + sender->bytes + sizeof(head), record, bytes);
	sender->bytes += sizeof(head) + bytes;
	return 0;
}

bool state_child_at(struct tracer_collector *c, uint32_t tgid)
{
	bool is_known = is_skipped(tgid), is_asked = !is_known && files_may_ask(tgid);

	if (!send_packet(c->context, tgid, 0, !is_known && !is_asked))
		_exit(1);
	return is_asked;
}

/** struct state_task - what the child does; it has a copy. @first: process */
struct state_task {
	struct tracer_collector *c;
	int (*walk)(void *context, uint32_t first);
	void *context;
	uint32_t first;
};

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true};
	const struct state_task *task = context;
	struct state_sender *sender = calloc(1, sizeof(*sender));
	int result = sender ? jail_enter(&jail) : -ENOMEM;

	if (!sender)
		_exit(1);
	task->c->emit = add_record;
	task->c->context = sender;
	if (!result)
		result = task->walk(task->context, task->first);
	_exit(!send_packet(sender, 0, result, false));
}

/* ---- the caller ---- */

/* SECURITY: the child parses little, but its packets are checked nevertheless. */
static int take_records(struct tracer_collector *c, const struct state_packet *packet, size_t bytes)
{
	size_t at = 0;
	int result = 0;

	while (!result && at < bytes) {
		uint64_t record[TRACE_RECORD_MAX_BYTES / 8];
		struct state_record head;

		if (bytes - at < sizeof(head))
			return -EBADMSG;
		memcpy(&head, packet->records + at, sizeof(head));
		at += sizeof(head);
		if (head.bytes > bytes - at || head.bytes > sizeof(record) || head.bytes < sizeof(struct trace_record))
			return -EBADMSG;
		memcpy(record, packet->records + at, head.bytes);
		at += head.bytes;
		result = c->emit(c->context, (const struct trace_record *)record, head.bytes, head.ts_ns);
	}
	return result;
}

/* Waits in short steps, between which the caller does other work. */
ssize_t state_child_await(struct tracer_collector *c, const struct jail_child *child, void *packet, size_t room)
{
	uint64_t end_ns = clock_monotonic_ns() + STATE_ANSWER_NS, now_ns;
	ssize_t got;

	while ((got = jail_await(child, packet, room, NULL, clock_monotonic_ns() + IDLE_NS, -1)) == -ETIMEDOUT) {
		now_ns = clock_monotonic_ns();
		if (now_ns >= end_ns && (now_ns >= end_ns + BUSY_NS || !jail_child_is_runnable(child)))
			break;
		if (c->emit(c->context, NULL, 0, now_ns))
			return -ECANCELED;
	}
	return got;
}

/* Returns the result of the walk; -ETIMEDOUT: the child reads @at, and does not answer. */
static int take_packets(struct tracer_collector *c, const struct jail_child *child, struct state_packet *packet,
			uint32_t *at)
{
	const size_t least = offsetof(struct state_packet, records);
	int result = 0;

	for (;;) {
		ssize_t got = state_child_await(c, child, packet, sizeof(*packet));

		if (got < (ssize_t)least)
			return got == -ETIMEDOUT || got == -ECANCELED ? (int)got : -EPIPE;
		result = take_records(c, packet, (size_t)got - least);
		if (result || !packet->head.next)
			return result ? result : packet->head.result;
		*at = packet->head.next;
		if (packet->head.skips)
			files_may_ask(*at); /* counted here, too */
	}
}

int state_child_read(struct tracer_collector *c, int (*walk)(void *context, uint32_t first), void *context)
{
	struct state_task task = {.c = c, .walk = walk, .context = context, .first = 1};
	const struct jail_role role = {.run = run_child, .context = &task, .cpu_seconds = CPU_SECONDS};
	struct state_packet *packet = malloc(sizeof(*packet));
	int result = packet ? -ETIMEDOUT : -ENOMEM;
	struct jail_child child;

	for (int tries = 0; result == -ETIMEDOUT && tries <= STATE_MAX_ABANDONED; tries++) {
		uint32_t at = 0;

		result = jail_child_start(&role, &child);
		if (result)
			break;
		result = take_packets(c, &child, packet, &at);
		jail_child_end(&child, false, NULL, 0);
		if (result == -ETIMEDOUT && !at)
			break; /* it read no process yet */
		if (result == -ETIMEDOUT) {
			skip(at);
			files_note_unanswered(at);
			task.first = at + 1;
		}
	}
	free(packet);
	return result;
}

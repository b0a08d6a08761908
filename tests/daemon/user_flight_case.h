/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_FLIGHT_CASE_H
#define TESTS_USER_FLIGHT_CASE_H
/* user_flight_case.h - shared by the tests of programs in flight: a flight recorder, simulated
 * programs, and the contents of a snapshot. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <trace/reader.h>
#include "fake_program.h"
#include "cpus.h"
#include "untrusted.h"
#include "flight.h"
#include "message.h"
#include "daemon_options.h"
#include "unit.h"
#include "clients.h"
#include "user_snapshot.h"

static const uint16_t one_number[] = {USER_FIELD_SIGNED, 0};

/**
 * struct plane - a flight recorder of programs only, with a socket of its own
 */
struct plane {
	struct selection selection;
	struct clients_options options;
	struct clients *clients;
	struct flight *flight;
};

static inline void plane_begin(struct plane *plane, const char *events, size_t dead_bytes, size_t dead_max)
{
	struct trace_error error;

	possible_cpus_pretend(FAKE_RINGS);
	memset(plane, 0, sizeof(*plane));
	possible_cpus_pretend(FAKE_RINGS); /* programs are played in processes that begin later */
	if (events && select_add(&plane->selection, events, &error))
		abort();
	plane->options = (struct clients_options){
		.selection = &plane->selection, .flight = true, .dead_bytes = dead_bytes, .dead_max = dead_max};
	plane->clients = clients_new(&plane->options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(plane->clients);
	plane->flight = flight_begin(NULL, plane->clients, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(plane->flight);
}

static inline void plane_end(struct plane *plane)
{
	flight_free(plane->flight);
	clients_free(plane->clients);
}

/* Runs the daemon's handlers until no descriptor is ready. */
static inline void plane_look(struct plane *plane)
{
	struct pollfd ready = {.fd = clients_fd(plane->clients), .events = POLLIN};

	while (poll(&ready, 1, 0) == 1) {
		clients_dispatch(plane->clients);
		clients_look(plane->clients);
	}
}

static inline size_t plane_programs(const struct plane *plane)
{
	struct clients_status status;

	clients_get_status(plane->clients, &status);
	return status.programs;
}

static inline void offer(const struct fake_program *program)
{
	static const struct user_offer message = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct iovec vector = {(void *)(uintptr_t)&message, sizeof(message)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr header = {.msg_iov = &vector,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("TRACER_SOCKET"));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &program->fd, sizeof(int));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    sendmsg(fd, &header, MSG_NOSIGNAL) != (ssize_t)sizeof(message))
		abort();
	close(fd);
}

/* A program that this process simulates. The flight recorder has read its offer. */
static inline struct fake_program board(struct plane *plane, enum subbuf_clock clock, bool is_old)
{
	struct fake_program program = fake_program_new(clock, FAKE_SEALS);

	if (is_old)
		program.memory->features = 0;
	offer(&program);
	plane_look(plane);
	return program;
}

/**
 * struct found - the contents of a snapshot
 * @breaks: events with a number that does not follow the last one of their stream
 * @first: number of the first event
 */
struct found {
	uint64_t events;
	uint64_t others; /* events "good:event" */
	uint64_t breaks;
	uint64_t first;
	uint64_t last;
	uint64_t announced;
	uint64_t marks;
	uint64_t stored;
	uint64_t overwritten;
	uint64_t discarded;
	uint64_t filtered;
	uint64_t lost;
	uint64_t gaps;
	uint64_t late_gaps; /* that end after the first event of their stream */
	/* in such gaps, beyond the overwritten ones: the daemon was preempted while it closed a
	 * sub-buffer */
	uint64_t late_discards;
	int64_t worst; /* largest difference of a time from times[] */
	struct flight_result result;
};

enum { MAX_STREAMS = 64, MAX_TIMES = 200000 };
static uint64_t times[MAX_TIMES]; /* time before number n was recorded, if not 0 */

static inline void look_at_event(struct found *found, const struct trace_event *event, int64_t last[MAX_STREAMS],
				 uint64_t first_ns[MAX_STREAMS])
{
	uint32_t stream = event->stream - USER_FIRST_STREAM;
	int64_t n;

	found->announced += event->id == TRACE_EV_user_stream;
	found->marks += event->id == TRACE_EV_trace_mark;
	if (event->id < TRACE_EV_MAX)
		return;
	found->others += !strcmp(event->type->name, "good:event");
	if (strcmp(event->type->name, "shop:paid") != 0 || stream >= MAX_STREAMS)
		return;
	n = (int64_t)trace_event_u64(event, &event->type->fields[0]);
	found->first = found->events ? found->first : (uint64_t)n;
	found->last = (uint64_t)n;
	found->events++;
	found->breaks += last[stream] >= 0 && n != last[stream] + 1;
	last[stream] = n;
	if (!first_ns[stream])
		first_ns[stream] = event->ts_ns;
	if (n < MAX_TIMES && times[n]) {
		int64_t off = (int64_t)(event->ts_ns - times[n]);

		if (off < 0)
			off = -off;
		found->worst = off > found->worst ? off : found->worst;
	}
}

static inline struct found read_trace(const char *path)
{
	struct found found = {0};
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);
	int64_t last[MAX_STREAMS];
	uint64_t first_ns[MAX_STREAMS] = {0};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	memset(last, 0xff, sizeof(last));
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		look_at_event(&found, event, last, first_ns);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		found.stored += stats->stored;
		found.overwritten += stats->overwritten;
		found.discarded += stats->discarded;
		found.filtered += stats->filtered;
	}
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);
		uint32_t stream = gap->stream - USER_FIRST_STREAM;

		found.gaps++;
		if (stream < MAX_STREAMS && first_ns[stream] && gap->end_ns > first_ns[stream]) {
			found.late_gaps += gap->cause == TRACE_GAP_OVERWRITTEN;
			found.late_discards += gap->cause == TRACE_GAP_DISCARDED;
		}
	}
	found.lost = trace_get_info(trace)->lost;
	trace_close(trace);
	return found;
}

static inline struct found snapshot(struct plane *plane)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);
	struct trace_error error = {0};
	struct flight_result result;
	struct found found;
	char path[64];

	CU_ASSERT_EQUAL(flight_snapshot(plane->flight, fd, 1, &result, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	found = read_trace(path);
	found.result = result;
	close(fd);
	return found;
}

static inline void record(struct fake_program *program, uint32_t cpu, uint16_t id, int from, int to)
{
	for (int i = from; i < to; i++)
		fake_program_number(program, cpu, id, i);
}

/**
 * flight_main() - unit_main() with a runtime directory of its own, so that no other daemon on this
 * machine finds the programs
 */
static inline int flight_main(const char *suite, const struct unit_case *cases, int argc, char **argv)
{
	char path[64];
	int result;

	snprintf(path, sizeof(path), "/tmp/trace-flights-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_flight", true);
	result = unit_main(suite, cases, argc, argv);
	snprintf(path, sizeof(path), "/tmp/trace-flights-%d.lock", (int)getpid());
	unlink(path);
	return result;
}
#endif

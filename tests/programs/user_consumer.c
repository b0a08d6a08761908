/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_consumer.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../daemon/ring_reader.h"

static void fault(struct user_consumer *c, const char *what)
{
	c->faults++;
	if (!c->fault)
		c->fault = what;
}

int user_consumer_open(struct user_consumer *c, int fd)
{
	struct stat status;
	char path[40];

	memset(c, 0, sizeof(*c));
	if (fstat(fd, &status) != 0)
		return -1;
	c->memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c->memory == MAP_FAILED)
		return -1;
	c->fd = fd;
	/* As daemons do, so that no daemon on this machine takes the events. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c->lock_fd = open(path, O_RDWR | O_CLOEXEC);
	c->taken = c->lock_fd < 0 || flock(c->lock_fd, LOCK_EX | LOCK_NB) != 0;
	if (c->memory->magic != USER_MEMORY_MAGIC || c->memory->total_bytes != (trace_u64)status.st_size)
		return -1;
	c->nr_rings = c->memory->nr_rings;
	return 0;
}

void user_consumer_close(struct user_consumer *c)
{
	munmap(c->memory, c->memory->total_bytes);
	close(c->lock_fd);
	close(c->fd);
}

int user_consumer_self(struct user_consumer *c)
{
	DIR *folder = opendir("/proc/self/fd");
	char path[300], link[300];
	struct dirent *entry;
	int result = -1;

	while (result < 0 && (entry = readdir(folder))) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		length = readlink(path, link, sizeof(link) - 1);
		link[length > 0 ? length : 0] = '\0';
		if (strncmp(link, "/memfd:" USER_MEMORY_NAME, sizeof("/memfd:" USER_MEMORY_NAME) - 1) == 0)
			result = user_consumer_open(c, dup(atoi(entry->d_name)));
	}
	closedir(folder);
	return result;
}

const char *user_event_text(const struct user_event *event, trace_u16 offset)
{
	return (const char *)(event + 1) + event->nr_fields * sizeof(struct user_field) + offset;
}

/* The entry after @event, the first after NULL; NULL after the last. */
static const struct user_event *next_event(const struct user_consumer *c, const struct user_event *event)
{
	const char *registry = (const char *)c->memory + c->memory->registry_offset;
	trace_u64 used = __atomic_load_n(&c->memory->registry_used, __ATOMIC_ACQUIRE);
	const char *next = event ? (const char *)event + event->bytes : registry;

	return next < registry + used ? (const struct user_event *)next : NULL;
}

const struct user_event *user_consumer_event(struct user_consumer *c, const char *provider, const char *name)
{
	for (const struct user_event *event = next_event(c, NULL); event; event = next_event(c, event))
		if (strcmp(user_event_text(event, event->provider), provider) == 0 &&
		    strcmp(user_event_text(event, event->name), name) == 0)
			return event;
	return NULL;
}

static unsigned char *flags(struct user_consumer *c)
{
	return (unsigned char *)c->memory + c->memory->flags_offset;
}

void user_consumer_switch(struct user_consumer *c, bool on)
{
	__atomic_store_n(&c->memory->new_flag, on, __ATOMIC_RELAXED);
	for (const struct user_event *event = next_event(c, NULL); event; event = next_event(c, event))
		__atomic_store_n(&flags(c)[event->id], on, __ATOMIC_RELAXED);
}

void user_consumer_switch_one(struct user_consumer *c, const char *provider, const char *name, bool on)
{
	for (const struct user_event *event = next_event(c, NULL); event; event = next_event(c, event))
		if (strcmp(user_event_text(event, event->provider), provider) == 0 &&
		    strcmp(user_event_text(event, event->name), name) == 0)
			__atomic_store_n(&flags(c)[event->id], on, __ATOMIC_RELAXED);
}

static const struct user_event *event_of_id(struct user_consumer *c, trace_u16 id)
{
	if (c->last && c->last->id == id)
		return c->last;
	for (c->last = next_event(c, NULL); c->last && c->last->id != id; c->last = next_event(c, c->last))
		;
	return c->last;
}

static void read_records(struct user_consumer *c, const struct subbuf_header *header, trace_u64 seq,
			 trace_u32 nr_subbufs, trace_u32 cpu, trace_u32 expected)
{
	const unsigned char *bytes = (const unsigned char *)header;
	trace_u32 offset = sizeof(*header), records = 0;

	while (offset < header->end) {
		const struct trace_record *record = (const struct trace_record *)(bytes + offset);
		struct user_record r = {.payload = bytes + offset + sizeof(*record),
					.cpu = cpu,
					.pid = (pid_t)c->memory->pid};

		if (record->words == 0 || record->words * 8u > header->end - offset ||
		    record->lap != (trace_u8)(seq / nr_subbufs)) {
			fault(c, "a record is torn");
			return;
		}
		offset += record->words * 8u;
		if (record->id == 0)
			continue;
		records++;
		r.payload_bytes = record->words * 8u - (trace_u32)sizeof(*record);
		r.event = event_of_id(c, record->id);
		if (!r.event || r.payload_bytes < r.event->payload_bytes) {
			fault(c, "a record of no event");
			continue;
		}
		r.provider = user_event_text(r.event, r.event->provider);
		r.name = user_event_text(r.event, r.event->name);
		r.time = header->base + (trace_u32)(record->time - (trace_u32)header->base);
		memcpy(&r.tid, r.payload, sizeof(r.tid));
		if (c->each)
			c->each(&r, c->argument);
	}
	if (offset != header->end || records != expected)
		fault(c, "a sub-buffer's records are not what its header says");
	c->found += records;
}

static bool ring_of(const struct user_consumer *c, trace_u32 n, struct subbuf_ring *ret_ring)
{
	unsigned char *memory = (unsigned char *)c->memory + c->memory->rings_offset + n * c->memory->ring_stride;
	struct subbuf_control *control = (struct subbuf_control *)memory;

	*ret_ring = (struct subbuf_ring){control, memory + SUBBUF_CONTROL_BYTES, c->memory->subbuf_bytes,
					 c->memory->nr_subbufs};
	return __atomic_load_n(&control->position, __ATOMIC_ACQUIRE) != 0;
}

trace_u64 user_consumer_drain(struct user_consumer *c, bool flush)
{
	trace_u64 before = c->found;

	for (trace_u32 n = 0; n < c->nr_rings; n++) {
		const struct subbuf_header *header;
		struct subbuf_ring ring;

		if (!ring_of(c, n, &ring))
			continue;
		if (flush)
			ring_flush(&ring);
		for (trace_u32 i = 0; i < ring.nr_subbufs && (header = subbuf_take(&ring)); i++) {
			if (header->seq != ring.control->consumed + 1 || header->cpu != n ||
			    header->producer != SUBBUF_PRODUCER_USER)
				fault(c, "a header is not of its sub-buffer");
			read_records(c, header, header->seq, ring.nr_subbufs, n, subbuf_records(&ring, header));
			subbuf_release(&ring);
		}
	}
	return c->found - before;
}

trace_u64 user_consumer_salvage(struct user_consumer *c)
{
	trace_u64 before = c->found;

	user_consumer_drain(c, false);
	for (trace_u32 n = 0; n < c->nr_rings; n++) {
		struct subbuf_salvaged salvaged;
		struct subbuf_ring ring;
		trace_u64 position;
		void *copy;

		if (!ring_of(c, n, &ring))
			continue;
		subbuf_reap_block(&ring);
		position = ring.control->position;
		copy = malloc(ring.subbuf_bytes);
		for (trace_u64 seq = ring.control->consumed + 1; seq <= position >> SUBBUF_OFFSET_BITS; seq++) {
			memcpy(copy, subbuf_slot(&ring, seq), ring.subbuf_bytes);
			if (subbuf_complete(&ring, seq)) {
				read_records(c, copy, seq, ring.nr_subbufs, n, subbuf_records(&ring, copy));
			} else if (subbuf_salvage(copy, ring.subbuf_bytes, ring.nr_subbufs, seq, position,
						  USER_MAX_EVENTS, &salvaged)) {
				read_records(c, copy, seq, ring.nr_subbufs, n, salvaged.records);
				c->in_flight += salvaged.in_flight;
				c->given_up += salvaged.lost;
			}
		}
		free(copy);
	}
	return c->found - before;
}

trace_u64 user_consumer_lost(const struct user_consumer *c)
{
	trace_u64 lost = c->memory->unready + c->given_up;

	for (trace_u32 n = 0; n < c->nr_rings; n++) {
		struct subbuf_ring ring;

		if (ring_of(c, n, &ring))
			lost += ring.control->discarded;
	}
	return lost;
}

const void *user_record_field(const struct user_record *record, const char *name, size_t *ret_bytes)
{
	const struct user_field *fields = (const struct user_field *)(record->event + 1);

	for (int i = 0; i < record->event->nr_fields; i++) {
		const unsigned char *at = record->payload + fields[i].offset;

		if (strcmp(user_event_text(record->event, fields[i].name), name) != 0)
			continue;
		*ret_bytes = fields[i].bytes;
		if (fields[i].type == USER_FIELD_STRING || fields[i].type == USER_FIELD_BYTES) {
			struct user_reference reference;

			memcpy(&reference, at, sizeof(reference));
			if (reference.offset + reference.bytes > record->payload_bytes)
				return NULL;
			at = record->payload + reference.offset;
			*ret_bytes = reference.bytes;
		}
		return at;
	}
	return NULL;
}

long long user_record_integer(const struct user_record *record, const char *field)
{
	size_t bytes;
	const void *at = user_record_field(record, field, &bytes);
	long long value = 0;

	if (!at || bytes > sizeof(value))
		return -1;
	memcpy(&value, at, bytes);
	return value;
}

int user_listen(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/user-consumer-%d", (int)getpid());
	unlink(address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 4096) != 0)
		return -1;
	setenv("TRACER_SOCKET", address.sun_path, 1);
	return fd;
}

int user_accept(int listener, int ms)
{
	struct pollfd wait = {listener, POLLIN, 0};
	struct user_offer offer;
	struct iovec vector = {&offer, sizeof(offer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int fd, memory = -2;

	if (poll(&wait, 1, ms) <= 0)
		return -1;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == sizeof(offer) && offer.magic == USER_MEMORY_MAGIC &&
	    CMSG_FIRSTHDR(&message))
		memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(memory));
	close(fd);
	return memory;
}

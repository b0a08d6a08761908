/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cpus.h"
#include "format_text.h"

#define USER_SEALS	     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define USER_MAX_SUBBUFS     (SUBBUF_BLOCK_SEQ_MASK + 1) /* a block names its sub-buffer in so many bits */
#define USER_MAX_ENTRY_BYTES (64u << 10)

/* ---- the memory ---- */

static bool is_power_of_2(uint64_t number)
{
	return number && !(number & (number - 1));
}

static bool lies_within(uint64_t offset, uint64_t bytes, uint64_t total)
{
	return offset >= sizeof(struct user_memory) && offset <= total && bytes <= total - offset;
}

/* Takes the geometry from a copy of the header. Returns NULL, or why it is impossible. */
static const char *take_geometry(struct user_mapping *mapping, const struct user_memory *memory)
{
	uint64_t rings_bytes;

	if (memory->magic != USER_MEMORY_MAGIC)
		return "its memory does not begin with the header of a traced program";
	if (memory->version != USER_MEMORY_VERSION)
		return "its memory has another version of the format; build it with the libtracer of this tracedaemon";
	if (memory->total_bytes != mapping->bytes)
		return "its memory has another size than its header states";
	if (memory->clock != SUBBUF_CLOCK_MONOTONIC && memory->clock != SUBBUF_CLOCK_TSC)
		return "its clock is unknown";
	if (memory->max_events < 2 || memory->max_events > USER_MAX_EVENTS ||
	    !lies_within(memory->flags_offset, memory->max_events, mapping->bytes))
		return "its flags are outside of its memory";
	if (memory->registry_bytes > USER_MAX_REGISTRY_BYTES ||
	    !lies_within(memory->registry_offset, memory->registry_bytes, mapping->bytes))
		return "its registry is outside of its memory";
	if (!is_power_of_2(memory->subbuf_bytes) || memory->subbuf_bytes < SUBBUF_MIN_BYTES ||
	    memory->subbuf_bytes > SUBBUF_MAX_BYTES || !is_power_of_2(memory->nr_subbufs) || memory->nr_subbufs < 2 ||
	    memory->nr_subbufs > USER_MAX_SUBBUFS)
		return "its sub-buffers have an invalid size";
	if (memory->nr_rings == 0 || memory->nr_rings > USER_MAX_RINGS || memory->ring_stride % 64 ||
	    memory->rings_offset % 64 ||
	    memory->ring_stride < subbuf_ring_bytes(memory->subbuf_bytes, memory->nr_subbufs) ||
	    __builtin_mul_overflow(memory->ring_stride, (uint64_t)memory->nr_rings, &rings_bytes) ||
	    !lies_within(memory->rings_offset, rings_bytes, mapping->bytes))
		return "its rings are outside of its memory";
	mapping->pid = memory->pid;
	mapping->clock = memory->clock;
	mapping->features = memory->features;
	mapping->max_events = memory->max_events;
	mapping->stated_rings = memory->nr_rings;
	mapping->nr_rings = memory->nr_rings < possible_cpus() ? memory->nr_rings : possible_cpus();
	mapping->subbuf_bytes = memory->subbuf_bytes;
	mapping->nr_subbufs = memory->nr_subbufs;
	mapping->registry_bytes = memory->registry_bytes;
	mapping->flags_offset = memory->flags_offset;
	mapping->registry_offset = memory->registry_offset;
	mapping->ring_stride = memory->ring_stride;
	mapping->rings_offset = memory->rings_offset;
	if ((memory->features & USER_FEATURE_CONDITIONS) && memory->conditions_offset % 8 == 0 &&
	    lies_within(memory->conditions_offset, USER_CONDITIONS_BYTES, memory->rings_offset))
		mapping->conditions_offset = memory->conditions_offset;
	return NULL;
}

/*
 * SECURITY: without the seals the program could shrink its memory, and the daemon's next access to
 * it would raise SIGBUS. The same would happen with huge pages that were never touched, when no
 * huge page is left.
 */
static const char *check_file(struct user_mapping *mapping, int fd)
{
	struct stat stat;
	struct statfs system;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || fstat(fd, &stat) < 0 || fstatfs(fd, &system) < 0 || !S_ISREG(stat.st_mode))
		return "its memory is not a memfd";
	if (system.f_type == HUGETLBFS_MAGIC)
		return "its memory has huge pages";
	if ((seals & USER_SEALS) != USER_SEALS)
		return "the size of its memory is not sealed";
	if (stat.st_size < (off_t)sizeof(struct user_memory) || (uint64_t)stat.st_size > USER_MAX_BYTES)
		return "the size of its memory is invalid";
	mapping->bytes = (size_t)stat.st_size;
	mapping->dev = stat.st_dev;
	mapping->ino = stat.st_ino;
	return NULL;
}

/*
 * Opens a file description of the daemon's own: a flock() belongs to the description, and the
 * program has a different one.
 */
static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int map_and_lock(struct user_mapping *mapping, int fd, bool claim, struct trace_error *ret_error)
{
	struct user_memory copy = {0};
	const char *reason = check_file(mapping, fd);

	if (reason)
		return error_set(ret_error, -EINVAL, "%s", reason);
	mapping->fd = open_again(fd);
	if (mapping->fd < 0)
		return error_set(ret_error, -errno, "cannot open its memory: %s", strerror(errno));
	if (claim && flock(mapping->fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(ret_error, errno == EWOULDBLOCK ? -EBUSY : -errno, "another daemon records it");
	if (pread(mapping->fd, &copy, sizeof(copy), 0) != (ssize_t)sizeof(copy))
		return error_set(ret_error, -EINVAL, "cannot read its memory");
	reason = take_geometry(mapping, &copy);
	if (reason)
		return error_set(ret_error, -EINVAL, "%s", reason);
	mapping->data = mmap(NULL, mapping->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, mapping->fd, 0);
	if (mapping->data == MAP_FAILED) {
		mapping->data = NULL;
		return error_set(ret_error, -errno, "cannot map its memory: %s", strerror(errno));
	}
	/* A child of the daemon would keep the memory and look like a process of the program. */
	if (madvise(mapping->data, mapping->bytes, MADV_DONTFORK) < 0)
		return error_set(ret_error, -errno, "cannot keep its memory from children: %s", strerror(errno));
	return 0;
}

int user_mapping_open(struct user_mapping *ret_mapping, int fd, bool claim, struct trace_error *ret_error)
{
	struct user_mapping mapping = {.fd = -1};
	int err = map_and_lock(&mapping, fd, claim, ret_error);

	if (err)
		user_mapping_close(&mapping);
	else
		*ret_mapping = mapping;
	return err;
}

void user_mapping_close(struct user_mapping *mapping)
{
	if (mapping->data)
		munmap(mapping->data, mapping->bytes);
	if (mapping->fd >= 0)
		close(mapping->fd);
	*mapping = (struct user_mapping){.fd = -1};
}

/* If the program placed its rings between flags and registry, only the lock can be released. */
void user_mapping_drop_rings(struct user_mapping *mapping)
{
	uint64_t end = mapping->rings_offset & ~(uint64_t)4095;

	if (mapping->flags_offset + mapping->max_events <= end &&
	    mapping->registry_offset + mapping->registry_bytes <= end && end < mapping->bytes) {
		if (fallocate(mapping->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)end,
			      (off_t)(mapping->bytes - end)) < 0)
			errno = 0; /* the kernel releases the memory with the last process that maps it */
		munmap(mapping->data + end, mapping->bytes - end);
		mapping->bytes = end;
	}
	close(mapping->fd);
	mapping->fd = -1;
}

void user_mapping_set_flag(const struct user_mapping *mapping, uint32_t id, unsigned int flag)
{
	__atomic_store_n(mapping->data + mapping->flags_offset + id, (unsigned char)flag, __ATOMIC_RELEASE);
}

void user_mapping_set_condition(const struct user_mapping *mapping, uint32_t idx,
				const struct trace_condition *condition)
{
	memcpy(mapping->data + mapping->conditions_offset + idx * sizeof(*condition), condition, sizeof(*condition));
}

struct subbuf_ring user_mapping_ring(const struct user_mapping *mapping, uint32_t idx)
{
	unsigned char *memory = mapping->data + mapping->rings_offset + idx * mapping->ring_stride;

	return (struct subbuf_ring){
		.control = (struct subbuf_control *)memory,
		.data = memory + SUBBUF_CONTROL_BYTES,
		.subbuf_bytes = mapping->subbuf_bytes,
		.nr_subbufs = mapping->nr_subbufs,
	};
}

off_t user_mapping_ring_offset(const struct user_mapping *mapping, uint32_t idx)
{
	return (off_t)(mapping->rings_offset + idx * mapping->ring_stride);
}

bool user_mapping_has_page(const struct user_mapping *mapping, uint32_t idx, uint64_t seq, uint32_t at)
{
	off_t offset = user_mapping_ring_offset(mapping, idx) + (off_t)SUBBUF_CONTROL_BYTES +
		       (off_t)(seq & (mapping->nr_subbufs - 1)) * mapping->subbuf_bytes + at;

	return at < mapping->subbuf_bytes && lseek(mapping->fd, offset, SEEK_DATA) == offset;
}

/*
 * Holes of the file are rings that no thread has used. Reading their control pages would allocate
 * them.
 */
uint32_t user_mapping_next_ring(struct user_mapping *mapping, uint32_t idx)
{
	while (idx < mapping->nr_rings) {
		off_t offset = user_mapping_ring_offset(mapping, idx), at = lseek(mapping->fd, offset, SEEK_DATA);
		uint64_t next = idx + 1;
		struct subbuf_ring ring;

		mapping->lookups++;
		if (at < offset)
			break;
		if (at == offset) {
			ring = user_mapping_ring(mapping, idx);
			if (__atomic_load_n(&ring.control->position, __ATOMIC_ACQUIRE))
				return idx;
		} else if (((uint64_t)at - mapping->rings_offset) / mapping->ring_stride > next) {
			next = ((uint64_t)at - mapping->rings_offset) / mapping->ring_stride;
		}
		idx = next < mapping->nr_rings ? (uint32_t)next : mapping->nr_rings;
	}
	return mapping->nr_rings;
}

bool user_mapping_has_impossible_ring(struct user_mapping *mapping)
{
	off_t offset = user_mapping_ring_offset(mapping, mapping->nr_rings), at;
	uint64_t idx;

	if (mapping->stated_rings == mapping->nr_rings)
		return false;
	mapping->lookups++;
	at = lseek(mapping->fd, offset, SEEK_DATA);
	idx = at < offset ? mapping->stated_rings : ((uint64_t)at - mapping->rings_offset) / mapping->ring_stride;
	return idx < mapping->stated_rings &&
	       __atomic_load_n(&user_mapping_ring(mapping, (uint32_t)idx).control->position, __ATOMIC_ACQUIRE);
}

/* ---- the registry ---- */

/** struct mapping_entry - a copy of an entry of the registry; its parts lie inside the copy */
struct mapping_entry {
	struct user_event event;
	struct user_field fields[USER_MAX_FIELDS];
	const char *text;
	uint32_t text_bytes;
};

/*
 * Copies a text of the entry and replaces characters that are not printable: the text comes from a
 * foreign program and goes to terminals.
 */
static void entry_text(const struct mapping_entry *entry, uint32_t at, char *buffer, size_t size)
{
	const char *text = at < entry->text_bytes ? entry->text + at : "";
	size_t chars = strnlen(text, size - 1);

	for (size_t i = 0; i < chars; i++)
		buffer[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	buffer[chars] = '\0';
}

static bool take_field(const struct mapping_entry *entry, const struct user_field *from, char *name,
		       struct trace_field *ret_field)
{
	static const enum trace_field_kind kinds[] = {
		[USER_FIELD_SIGNED] = TRACE_KIND_DEC,	 [USER_FIELD_UNSIGNED] = TRACE_KIND_DEC,
		[USER_FIELD_FLOAT] = TRACE_KIND_FLOAT,	 [USER_FIELD_BOOL] = TRACE_KIND_BOOL,
		[USER_FIELD_POINTER] = TRACE_KIND_HEX,	 [USER_FIELD_CHAR] = TRACE_KIND_CHAR,
		[USER_FIELD_STRING] = TRACE_KIND_STRING, [USER_FIELD_BYTES] = TRACE_KIND_BYTES,
	};
	bool is_reference = from->type == USER_FIELD_STRING || from->type == USER_FIELD_BYTES;

	if (from->type < USER_FIELD_SIGNED || from->type > USER_FIELD_BYTES || !is_power_of_2(from->bytes) ||
	    from->bytes > 8 || from->offset < sizeof(trace_u32) ||
	    from->offset + from->bytes > entry->event.payload_bytes ||
	    (is_reference && from->bytes != sizeof(struct user_reference)) ||
	    (from->type == USER_FIELD_FLOAT && from->bytes < 4))
		return false;
	entry_text(entry, from->name, name, USER_MAX_NAME_BYTES);
	*ret_field = (struct trace_field){
		.name = name,
		.offset = from->offset,
		.bytes = (uint8_t)from->bytes,
		.is_signed = from->type == USER_FIELD_SIGNED || from->type == USER_FIELD_FLOAT ||
			     from->type == USER_FIELD_CHAR,
		.kind = kinds[from->type],
	};
	return true;
}

static void take_names(const struct mapping_entry *entry, struct user_description *description)
{
	const struct user_event *event = &entry->event;
	char provider[USER_MAX_NAME_BYTES], name[USER_MAX_NAME_BYTES - 1], file[USER_MAX_NAME_BYTES],
		function[USER_MAX_NAME_BYTES];

	entry_text(entry, event->provider, provider, sizeof(provider));
	entry_text(entry, event->name, name, sizeof(name));
	entry_text(entry, event->file, file, sizeof(file));
	entry_text(entry, event->function, function, sizeof(function));
	snprintf(description->name, sizeof(description->name), "%s:%s", provider, name);
	snprintf(description->type_name, sizeof(description->type_name), "%s%s", description->name,
		 trace_role_suffix((enum trace_event_role)event->role));
	if (*file)
		snprintf(description->source, sizeof(description->source), "%s:%u %s", file, event->line, function);
	else
		description->source[0] = '\0';
}

static bool take_event(const struct user_mapping *mapping, const struct mapping_entry *entry,
		       struct user_description *description)
{
	const struct user_event *event = &entry->event;
	bool has_references = false;

	if (event->id == 0 || event->id >= mapping->max_events || event->payload_bytes < sizeof(trace_u32) ||
	    event->payload_bytes > TRACE_RECORD_MAX_BYTES - 8 - 8)
		return false;
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (!take_field(entry, &entry->fields[i], description->field_names[i], &description->fields[i]))
			return false;
		has_references |= description->fields[i].kind == TRACE_KIND_STRING ||
				  description->fields[i].kind == TRACE_KIND_BYTES;
	}
	take_names(entry, description);
	description->id = event->id;
	description->type = (struct trace_event_type){
		.name = description->type_name,
		.classic = "NONE",
		.text = "",
		.doc = "",
		.program = "NONE",
		.fields = description->fields,
		.nr_fields = event->nr_fields,
		.fixed_bytes = (uint16_t)((event->payload_bytes + 7) & ~7u),
		.has_string = has_references,
		.category = TRACE_CATEGORY_USER,
		.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
		.role = event->role <= USER_ROLE_REQUEST_HANDOFF ? (enum trace_event_role)event->role
								 : TRACE_ROLE_EVENT,
		.source = description->source,
	};
	return true;
}

/*
 * SECURITY: reading an entry without pages would allocate them. An honest writer leaves no holes in
 * its registry. The pages of a dead program were checked while it lived.
 */
static bool registry_is_present(struct user_mapping *mapping, uint64_t end)
{
	off_t offset = (off_t)(mapping->registry_offset + mapping->registry_used), hole;
	uint64_t present;

	if (end <= mapping->registry_present || mapping->fd < 0)
		return true;
	hole = lseek(mapping->fd, offset, SEEK_HOLE);
	present = hole > offset ? (uint64_t)hole - mapping->registry_offset : 0;
	mapping->registry_present = present < mapping->registry_bytes ? (uint32_t)present : mapping->registry_bytes;
	return end <= mapping->registry_present;
}

/*
 * Copies the next entry, of at most @room bytes, and finds its parts. Returns its size; 0: it is
 * invalid.
 */
static uint32_t copy_entry(struct user_mapping *mapping, uint32_t room, unsigned char *buffer,
			   struct mapping_entry *ret_entry)
{
	const unsigned char *at = mapping->data + mapping->registry_offset + mapping->registry_used;
	struct user_event *event = &ret_entry->event;
	uint32_t fields_bytes;

	if (room < sizeof(*event) || !registry_is_present(mapping, (uint64_t)mapping->registry_used + sizeof(*event)))
		return 0;
	memcpy(event, at, sizeof(*event));
	if (event->bytes % 8 || event->bytes < sizeof(*event) || event->bytes > room ||
	    event->bytes > USER_MAX_ENTRY_BYTES ||
	    !registry_is_present(mapping, (uint64_t)mapping->registry_used + event->bytes))
		return 0;
	memcpy(buffer, at, event->bytes);
	if (event->nr_fields > USER_MAX_FIELDS)
		return 0;
	fields_bytes = event->nr_fields * (uint32_t)sizeof(struct user_field);
	if (fields_bytes > event->bytes - sizeof(*event) ||
	    event->text_bytes > event->bytes - sizeof(*event) - fields_bytes)
		return 0;
	memcpy(ret_entry->fields, buffer + sizeof(*event), fields_bytes);
	ret_entry->text = (const char *)buffer + sizeof(*event) + fields_bytes;
	ret_entry->text_bytes = event->text_bytes;
	/* the buffer has one byte more than an entry */
	buffer[sizeof(*event) + fields_bytes + event->text_bytes] = '\0';
	return event->bytes;
}

bool user_mapping_next_event(struct user_mapping *mapping, struct user_description *ret_description)
{
	unsigned char buffer[USER_MAX_ENTRY_BYTES + 1];
	/* [D1] pairs with [U1] */
	uint64_t used = __atomic_load_n(&user_mapping_memory(mapping)->registry_used, __ATOMIC_ACQUIRE);
	struct mapping_entry entry;

	used = used < mapping->registry_bytes ? used : mapping->registry_bytes;
	while (!mapping->registry_broken && mapping->registry_used < used) {
		uint32_t bytes = copy_entry(mapping, (uint32_t)used - mapping->registry_used, buffer, &entry);

		mapping->registry_broken = bytes == 0;
		mapping->registry_used += bytes;
		if (bytes && take_event(mapping, &entry, ret_description))
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_MAPPING_H
#define DAEMON_USER_MAPPING_H
/*
 * user_mapping.h - the memory of one program, mapped and checked: <trace/user_memory.h>.
 *
 * Whoever can write it may do so at any time. So what is read is copied first, sizes are taken once, and what comes out of
 * here lies within the mapping whatever the program does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>
#include <trace/reader.h>
#include <trace/user_memory.h>

/**
 * struct user_mapping - zeroed, with fd -1 = none. All but @memory is ours
 * @fd: an open file description of our own, which holds the lock
 * @nr_rings: those that a CPU can fill; a program may state more: @stated_rings
 * @registry_used: how far the registry was read, and @registry_there to where it has pages. @registry_broken: nothing behind that makes sense
 * @lookups: system calls of user_mapping_next_ring(), ever
 */
struct user_mapping {
	int fd; /* owned */
	unsigned char *data; /* mapped */
	size_t bytes;
	dev_t dev;
	ino_t ino;
	uint32_t pid; /* as it says */
	uint32_t clock;
	uint32_t features;
	uint32_t max_events;
	uint32_t nr_rings;
	uint32_t stated_rings;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs;
	uint32_t registry_bytes;
	uint64_t flags_offset;
	uint64_t registry_offset;
	uint64_t ring_stride;
	uint64_t rings_offset;
	uint32_t registry_used;
	uint32_t registry_there;
	bool registry_broken;
	uint32_t lookups;
};

/**
 * user_mapping_open() - take the memory behind @fd, which stays the caller's
 * @claim: to record it, which one daemon at a time does; otherwise only to look
 * 0; -EBUSY: another daemon has it; -EINVAL: it is not what it should be; or another errno. With the reason.
 */
int user_mapping_open(struct user_mapping *ret_mapping, int fd, bool claim, struct trace_error *ret_error);
void user_mapping_close(struct user_mapping *mapping);

/** user_mapping_drop_rings() - give the rings' memory and the lock back; flags and registry stay. Nothing may look at a ring any more */
void user_mapping_drop_rings(struct user_mapping *mapping);

/** user_mapping_memory() - the first page */
static inline struct user_memory *user_mapping_memory(const struct user_mapping *mapping)
{
	return (struct user_memory *)mapping->data;
}

/** user_mapping_set_flag() - switch an event; @id below max_events */
void user_mapping_set_flag(const struct user_mapping *mapping, uint32_t id, bool on);

/** user_mapping_ring() - ring @idx, below nr_rings: ours but for its memory */
struct subbuf_ring user_mapping_ring(const struct user_mapping *mapping, uint32_t idx);

/** user_mapping_ring_offset() - where it begins in the file */
off_t user_mapping_ring_offset(const struct user_mapping *mapping, uint32_t idx);

/** user_mapping_next_ring() - the first ring from @idx on whose memory is in use; nr_rings: none */
uint32_t user_mapping_next_ring(struct user_mapping *mapping, uint32_t idx);

/** user_mapping_has_impossible_ring() - is the first ring with pages, beyond those that a CPU can fill, in use? No thread can have written it */
bool user_mapping_has_impossible_ring(struct user_mapping *mapping);

/** user_mapping_has_page() - is there memory at byte @at of sub-buffer @seq of ring @idx? To look at it, or write to it, would make some otherwise */
bool user_mapping_has_page(const struct user_mapping *mapping, uint32_t idx, uint64_t seq, uint32_t at);

/**
 * struct user_description - an entry of the registry: a type whose texts are here. @id: of the program
 * @name: "provider:event", what it is selected by; type.name may say more
 */
struct user_description {
	uint32_t id;
	struct trace_event_type type;
	struct trace_field fields[USER_MAX_FIELDS];
	char name[2 * USER_MAX_NAME_BYTES];
	char type_name[2 * USER_MAX_NAME_BYTES + 8];
	char source[3 * USER_MAX_NAME_BYTES];
	char field_names[USER_MAX_FIELDS][USER_MAX_NAME_BYTES];
};

/** user_mapping_next_event() - the next new entry; ones that make no sense are left out. False: there is none (yet) */
bool user_mapping_next_event(struct user_mapping *mapping, struct user_description *ret_description);
#endif

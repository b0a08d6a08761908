/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_MAPPING_H
#define DAEMON_USER_MAPPING_H
/*
 * user_mapping.h - the memory of one program, mapped and checked: <trace/user_memory.h>
 *
 * A process that can write this memory may do so at any time. So each value is copied before it is
 * checked, and each size is read once. Every result lies within the mapping, whatever the program
 * does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>
#include <trace/reader.h>
#include <trace/user_memory.h>

/**
 * struct user_mapping - zeroed, with fd -1: none. The daemon owns all of it but the memory at @data
 * @fd: the daemon's own open file description, which holds the lock
 * @nr_rings: rings of possible CPUs. @stated_rings: as the program states; may be more
 * @registry_used: bytes of the registry that were read. @registry_present: bytes that have pages
 * @registry_broken: the rest of the registry is invalid
 * @lookups: total of system calls of user_mapping_next_ring()
 */
struct user_mapping {
	int fd;		     /* owned */
	unsigned char *data; /* mapped */
	size_t bytes;
	dev_t dev;
	ino_t ino;
	uint32_t pid; /* as the program states */
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
	uint64_t conditions_offset; /* 0: libtracer evaluates none */
	uint32_t registry_used;
	uint32_t registry_present;
	bool registry_broken;
	uint32_t lookups;
};

/**
 * user_mapping_open() - map the memory of @fd, which stays the caller's
 * @claim: to record it, which only one daemon at a time can do; false: only to inspect it
 * Returns 0; -EBUSY: another daemon records it; -EINVAL: it is not a valid memory; or another
 * errno. The error holds the reason.
 */
int user_mapping_open(struct user_mapping *ret_mapping, int fd, bool claim, struct trace_error *ret_error);
void user_mapping_close(struct user_mapping *mapping);

/**
 * user_mapping_drop_rings() - release the rings' memory and the lock; flags and registry stay
 * No function may access a ring afterwards.
 */
void user_mapping_drop_rings(struct user_mapping *mapping);

/** user_mapping_memory() - the first page */
static inline struct user_memory *user_mapping_memory(const struct user_mapping *mapping)
{
	return (struct user_memory *)mapping->data;
}

/**
 * user_mapping_set_flag() - switch an event on or off; @id below max_events
 * @flag: 0, 1, or USER_FLAG_CONDITION and the number of a condition
 */
void user_mapping_set_flag(const struct user_mapping *mapping, uint32_t id, unsigned int flag);
/** user_mapping_set_condition() - write entry @idx, which no flag names */
void user_mapping_set_condition(const struct user_mapping *mapping, uint32_t idx,
				const struct trace_condition *condition);

/** user_mapping_ring() - ring @idx, below nr_rings. Only its memory belongs to the program */
struct subbuf_ring user_mapping_ring(const struct user_mapping *mapping, uint32_t idx);

/** user_mapping_ring_offset() - offset of ring @idx in the file */
off_t user_mapping_ring_offset(const struct user_mapping *mapping, uint32_t idx);

/** user_mapping_next_ring() - the first ring in use at or after @idx; nr_rings: none */
uint32_t user_mapping_next_ring(struct user_mapping *mapping, uint32_t idx);

/**
 * user_mapping_has_impossible_ring() - is a ring in use that belongs to no possible CPU?
 * Checks the first ring after nr_rings that has pages. No thread can have written it.
 */
bool user_mapping_has_impossible_ring(struct user_mapping *mapping);

/**
 * user_mapping_has_page() - does byte @at of sub-buffer @seq of ring @idx have a page?
 * Any access to a byte without a page would allocate one.
 */
bool user_mapping_has_page(const struct user_mapping *mapping, uint32_t idx, uint64_t seq, uint32_t at);

/**
 * struct user_description - an event type of the registry, with its texts
 * @id: in the program's numbers
 * @name: "provider:event", the name for selections; type.name may have a suffix
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

/**
 * user_mapping_next_event() - the next new entry of the registry; invalid ones are skipped
 * Returns false if there is none yet.
 */
bool user_mapping_next_event(struct user_mapping *mapping, struct user_description *ret_description);
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PSEUDONYM_H
#define LIBTRACE_PSEUDONYM_H
/*
 * pseudonym.h - replaces names by others that tell nothing: "program-3" for "payroll". One name has
 * one pseudonym in a trace, numbered in the order of appearance.
 *
 * Names that every system has stay: folders such as /usr/lib, devices such as /dev/null, files
 * without a name such as pipe:[4711], threads of the kernel, the loopback address, user 0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hash_table.h"
#include "writer_state.h"

enum pseudonym_kind {
	PSEUDONYM_PROGRAM, /* these three are one namespace: a program has the name of its file */
	PSEUDONYM_FILE,
	PSEUDONYM_FOLDER,
	PSEUDONYM_PATH, /* as a whole */
	PSEUDONYM_ARGUMENT,
	PSEUDONYM_TEXT,
	PSEUDONYM_NOTE,
	PSEUDONYM_INTERRUPT,
	PSEUDONYM_DEVICE,
	PSEUDONYM_INTERFACE,
	PSEUDONYM_PROVIDER,
	PSEUDONYM_EVENT,
	PSEUDONYM_FIELD,
	PSEUDONYM_NR_KINDS,
};

/** struct pseudonyms - zeroed = none yet. @failed: there was no memory; the names are wrong */
struct pseudonyms {
	struct hash_table names;
	struct hash_table addresses;
	struct hash_table users;
	uint32_t nr_names[PSEUDONYM_NR_KINDS];
	uint32_t nr_v4;
	uint32_t nr_v6;
	uint32_t nr_users;
	bool failed;
};

/** pseudonym_name() - append the pseudonym of a name; of an empty one nothing */
void pseudonym_name(struct pseudonyms *names, enum pseudonym_kind kind, const char *text, size_t bytes,
		    struct writer_buffer *out);
/** pseudonym_path() - that of a path, component by component, so that it stays in its folder */
void pseudonym_path(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out);
/** pseudonym_thread() - that of a thread's name */
void pseudonym_thread(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out);
/** pseudonym_arguments() - that of a program's arguments, which @separator separates */
void pseudonym_arguments(struct pseudonyms *names, const char *text, size_t bytes, char separator,
			 struct writer_buffer *out);
/** pseudonym_device() - that of the name of a disk or (@of_network) of an interface */
void pseudonym_device(struct pseudonyms *names, bool of_network, const char *text, size_t bytes,
		      struct writer_buffer *out);
/**
 * pseudonym_address() - replace an IPv6 or v4-mapped address by one that is for documentation or
 * tests
 */
void pseudonym_address(struct pseudonyms *names, unsigned char address[16]);
/** pseudonym_user() - the number for a user or group */
uint32_t pseudonym_user(struct pseudonyms *names, uint32_t id);

void pseudonyms_release(struct pseudonyms *names);

#endif

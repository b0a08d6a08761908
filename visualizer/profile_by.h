/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_BY_H
#define VISUALIZER_PROFILE_BY_H
/* profile_by.h - --by: the time of a profile by chosen keys: program, file, function, CPU ... */
#include <stdint.h>
#include <trace/profile.h>
#include "checked_memory.h"
#include "profile_time.h"

/* The name in enum profile_key, the word of --by and of the JSON, and the heading of the column */
#define EACH_PROFILE_KEY(KEY)                  \
	KEY(EXE, "exe", "program")             \
	KEY(DSO, "dso", "file")                \
	KEY(SYMBOL, "symbol", "function")      \
	KEY(LINE, "line", "line")              \
	KEY(THREAD, "thread", "thread")        \
	KEY(CPU, "cpu", "CPU")                 \
	KEY(CGROUP, "cgroup", "control group") \
	KEY(CLIENT, "client", "client")        \
	KEY(ADDRESS, "address", "address")

#define PROFILE_KEY_NAME(name, word, heading) BY_##name,
enum profile_key { EACH_PROFILE_KEY(PROFILE_KEY_NAME) NR_PROFILE_KEYS };
#undef PROFILE_KEY_NAME

/* "exe dso symbol ...", behind a blank */
#define PROFILE_KEY_WORD(name, word, heading) " " word
#define PROFILE_KEYS			      (&EACH_PROFILE_KEY(PROFILE_KEY_WORD)[1])

/** struct profile_by_choice - @keys: the @nr columns, in the order in which they were given */
struct profile_by_choice {
	enum profile_key keys[NR_PROFILE_KEYS];
	size_t nr;
};
/** profile_key_word() - "exe" and so on */
const char *profile_key_word(enum profile_key key);
static inline bool profile_by_has(const struct profile_by_choice *by, enum profile_key key)
{
	for (size_t i = 0; i < by->nr; i++)
		if (by->keys[i] == key)
			return true;
	return false;
}

/**
 * struct profile_by_row - the time with these @values of the chosen keys; they belong to the names
 * of the profile. @variance: of the time on a CPU, by sampling, ns^2
 */
struct profile_by_row {
	const char *values[NR_PROFILE_KEYS];
	struct profile_time time;
	uint64_t pending; /* samples of the stratum that is being added */
	double variance;
};

/** struct profile_by - zeroed: empty; @rows: owned, the longest on a CPU first */
struct profile_by {
	struct pointers rows;
	struct pointers pending;
	struct hash_table index;
};

struct report;
struct profile_rows;
struct profile_row;
struct frame_name;

/**
 * profile_by_add() - add a share to its row
 * @row: of the share. @place: its function, or that in which its thread waited; NULL: not known
 */
void profile_by_add(struct profile_rows *rows, const struct report *report, const struct trace_profile_share *share,
		    const struct profile_row *row, const struct frame_name *place, const struct profile_time *time);
/** profile_by_end_stratum() - all shares of a stratum of @ns and @of samples were added */
void profile_by_end_stratum(struct profile_by *by, uint64_t ns, uint64_t of);
void profile_by_end(struct profile_by *by); /* no more are added */
void profile_by_free(struct profile_by *by);
#endif

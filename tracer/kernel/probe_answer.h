/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_ANSWER_H
#define TRACER_PROBE_ANSWER_H
/* probe_answer.h - the records of an answer: written by the reader, checked by the caller. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include "probe_files.h"

struct probe_entry;
struct trace_probes;
struct probe_spec;

enum probe_record_kind {
	PROBE_RECORD_END = 1, /* the answer is complete */
	PROBE_RECORD_ERROR,   /* the reading failed; has the reason */
	PROBE_RECORD_FILE,    /* a request for a file; the caller replies with it */
	PROBE_RECORD_ENTRY,   /* a probe */
	PROBE_RECORD_ROW,     /* a line of a list */
};

#define PROBE_PACKET_BYTES (64u << 10)	  /* of one message, which contains whole records */
#define PROBE_ANSWER_BYTES (256ull << 20) /* of all messages of one reader */

/** struct probe_answer - the reader's side. @failed: the caller no longer receives */
struct probe_answer {
	int fd; /* borrowed */
	bool failed;
	size_t used;
	size_t record; /* offset of the record that is being written */
	unsigned char packet[PROBE_PACKET_BYTES];
};
void probe_answer_row(struct probe_answer *answer, const char *left, const char *right);
void probe_answer_entry(struct probe_answer *answer, const struct probe_entry *entry);
void probe_answer_error(struct probe_answer *answer, const struct trace_error *error);
void probe_answer_file(struct probe_answer *answer, enum probe_related which, const char *name);
void probe_answer_end(struct probe_answer *answer);
void probe_answer_flush(struct probe_answer *answer);

/**
 * struct probe_record - the caller's side: an unchecked record of a packet. @bad: its content is
 * too short or impossible
 */
struct probe_record {
	unsigned int kind;
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};
/**
 * probe_record_next() - take the next record of [@at, @end); false: none, or with ret_record->bad
 * it is cut off
 */
bool probe_record_next(const unsigned char **at, const unsigned char *end, struct probe_record *ret_record);
/*
 * Each takes the content of a record of its kind; -EBADMSG when it is impossible. Texts have no
 * control characters and end with a NUL.
 */
int probe_record_row(struct probe_record *record, char *ret_left, size_t left_bytes, char *ret_right,
		     size_t right_bytes);
int probe_record_error(struct probe_record *record, struct trace_error *ret_error);
int probe_record_file(struct probe_record *record, enum probe_related *ret_which,
		      char ret_name[PROBE_RELATED_NAME_BYTES]);
/**
 * probe_record_entry() - append a probe of @spec in the file @path, which has @file_bytes bytes
 * Returns 0, -EBADMSG, or the error of the list (-E2BIG, -ENOMEM).
 */
int probe_record_entry(struct probe_record *record, struct trace_probes *probes, const struct probe_spec *spec,
		       const char *path, uint64_t file_bytes, struct trace_error *ret_error);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_SPEC_H
#define TRACER_PROBE_SPEC_H
/* probe_spec.h - the text of a probe, split into its parts. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/probes.h>
#include "condition_text.h"

enum probe_kind {
	PROBE_FUNCTION,
	PROBE_USDT,
	PROBE_KERNEL,
	PROBE_TRACEPOINT,
};

enum probe_moment {
	PROBE_ENTRY,
	PROBE_RETURN,
	PROBE_SCOPE, /* both: the begin and the end of a scope */
};

/** struct probe_argument_text - "name=expression:type"; name and type are "" if not given */
struct probe_argument_text {
	char name[TRACE_PROBE_NAME_BYTES];
	char expression[TRACE_PROBE_NAME_BYTES];
	char type[32];
};

/**
 * struct probe_spec - the parsed text of a probe
 * @event: "provider:name" or "name"; "" = to be derived
 * @file: as written
 * @pid: from FILE@PID, or 0
 * @provider: of a static probe; "" = all; the subsystem of a tracepoint
 * @function: name of a function, static probe or tracepoint, or a glob; "" = all static probes
 * @condition: record only if it holds. Those of its operands that @arguments lacks are at the end
 * of it
 * @address: if @has_address, used instead of a function: a virtual address of the file
 * @offset: bytes from the begin of the function
 */
struct probe_spec {
	enum probe_kind kind;
	enum probe_moment moment;
	char event[TRACE_PROBE_NAME_BYTES];
	char file[4096];
	pid_t pid;
	char provider[TRACE_PROBE_NAME_BYTES];
	char function[TRACE_PROBE_NAME_BYTES];
	uint64_t address;
	uint64_t offset;
	bool has_address;
	bool has_function; /* the text contains a name, possibly "" */
	uint32_t nr_arguments;
	struct probe_argument_text arguments[TRACE_PROBE_MAX_ARGUMENTS];
	struct condition_text condition;
};

/**
 * probe_spec_parse() - parse @text. 0, or -EINVAL with what is wrong. @listing: the function is
 * optional
 */
int probe_spec_parse(const char *text, bool listing, struct probe_spec *ret_spec, struct trace_error *ret_error);
/** probe_is_glob() - does @name contain wildcards? */
bool probe_is_glob(const char *name);

#endif

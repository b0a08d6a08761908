/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_spec.c - split the text of a probe into its parts.
 *
 *     [EVENT=] PLACE [[NAME=]EXPRESSION[:TYPE] ...] [[if] CONDITION]
 *
 *     PLACE: FILE[@PID]:FUNCTION[+OFFSET][%return|%scope]
 *            FILE[@PID]:0xADDRESS
 *            usdt:FILE[@PID][:PROVIDER[:NAME]]
 *            kernel:FUNCTION...
 *            tracepoint:SUBSYSTEM:NAME
 *
 * A condition (base/condition_text.h) takes the rest of the text from the first word with an
 * operator.
 *
 * bpftrace's prefixes uprobe:, uretprobe:, kprobe: and kretprobe: are accepted. The name of a
 * function ends at the first blank outside of parentheses, angle brackets, and double quotes around
 * the whole name.
 */
#include "probe_spec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"

bool probe_is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL && !strstr(name, "operator");
}

/* ---- small pieces ---- */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\n");
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Copy [from, to) into an array of @size bytes; false: too long. */
static bool take(char *into, size_t size, const char *from, const char *to)
{
	size_t chars = (size_t)(to - from);

	if (chars >= size)
		return false;
	memcpy(into, from, chars);
	into[chars] = '\0';
	return true;
}

static bool take_prefix(const char **at, const char *prefix)
{
	size_t chars = strlen(prefix);

	if (strncmp(*at, prefix, chars))
		return false;
	*at += chars;
	return true;
}

/* ---- EVENT= ---- */

static const char *parse_event(const char *at, struct probe_spec *spec)
{
	const char *end = at;
	int colons = 0;

	while (is_name_char(*end) || (*end == ':' && colons++ == 0 && end > at))
		end++;
	if (end == at || *end != '=' || !strchr(end + 1, ':') || !take(spec->event, sizeof(spec->event), at, end))
		return at;
	return skip_blanks(end + 1);
}

/* ---- PLACE ---- */

/* Find the end of a function's name, as described at the top. */
static const char *function_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '(' || *at == '<')
			depth++;
		else if ((*at == ')' || *at == '>') && depth > 0)
			depth--;
		else if ((*at == ' ' || *at == '\t' || *at == '\n') && depth == 0)
			break;
	}
	return at;
}

static bool cut_suffix(char *text, const char *suffix)
{
	size_t chars = strlen(text), suffix_chars = strlen(suffix);

	if (chars < suffix_chars || strcmp(text + chars - suffix_chars, suffix))
		return false;
	text[chars - suffix_chars] = '\0';
	return true;
}

/* Parse what follows the name: %return, %scope, +OFFSET. */
static int parse_moment(char *text, struct probe_spec *spec, struct trace_error *ret_error)
{
	char *percent = strrchr(text, '%');

	if (!percent || strchr(percent, ')'))
		return 0;
	if (cut_suffix(text, "%return"))
		spec->moment = PROBE_RETURN;
	else if (cut_suffix(text, "%scope"))
		spec->moment = PROBE_SCOPE;
	else
		return error_set(ret_error, -EINVAL,
				 "\"%s\": only %%return (when it returns) or %%scope (both) can follow a function; put "
				 "a blank before arguments",
				 percent);
	return 0;
}

static void parse_offset(char *text, struct probe_spec *spec)
{
	char *plus = strrchr(text, '+'), *end;
	uint64_t offset;

	if (!plus || plus == text || !isdigit((unsigned char)plus[1]))
		return;
	errno = 0;
	offset = strtoull(plus + 1, &end, 0);
	if (*end || errno || offset > INT64_MAX) /* not an offset: part of the name */
		return;
	spec->offset = offset;
	*plus = '\0';
}

static int parse_function(const char **at, struct probe_spec *spec, struct trace_error *ret_error)
{
	const char *begin = *at, *end;
	char text[sizeof(spec->function)];
	bool quoted = *begin == '"';
	char *rest;

	if (quoted) {
		end = strchr(++begin, '"');
		if (!end)
			return error_set(ret_error, -EINVAL, "the quotation mark before %.40s is not closed", begin);
		if (!take(spec->function, sizeof(spec->function), begin, end))
			return error_set(ret_error, -EINVAL, "%.40s...: a name has at most %zu characters; use a glob",
					 begin, sizeof(text) - 1);
		begin = end + 1;
	}
	end = function_end(begin);
	if (!take(text, sizeof(text), begin, end))
		return error_set(ret_error, -EINVAL, "%.40s...: a name has at most %zu characters; use a glob", begin,
				 sizeof(text) - 1);
	*at = end;
	if (parse_moment(text, spec, ret_error))
		return -EINVAL;
	parse_offset(text, spec);
	if (quoted)
		return *text ? error_set(ret_error, -EINVAL,
					 "\"%s\" after a quoted name: only +OFFSET, %%return or %%scope may follow",
					 text)
			     : 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		spec->address = strtoull(text, &rest, 16);
		spec->has_address = true;
		if (*rest)
			return error_set(ret_error, -EINVAL,
					 "\"%s\" is not an address: 0x and hexadecimal digits, as nm prints it", text);
	}
	memcpy(spec->function, text, sizeof(text));
	return 0;
}

/* Parse provider:name of a static probe; each is optional. */
static int parse_static(const char **at, struct probe_spec *spec, struct trace_error *ret_error)
{
	const char *begin = *at, *end = begin + strcspn(begin, " \t\n"),
		   *colon = memchr(begin, ':', (size_t)(end - begin));

	if (!take(spec->provider, sizeof(spec->provider), begin, colon ? colon : end) ||
	    (colon && !take(spec->function, sizeof(spec->function), colon + 1, end)))
		return error_set(ret_error, -EINVAL, "%.40s...: names of static probes have at most %zu characters",
				 begin, sizeof(spec->function) - 1);
	if (strchr(spec->function, '%') || strchr(spec->function, ':'))
		return error_set(ret_error, -EINVAL,
				 "\"%s\": a static probe is usdt:FILE:PROVIDER:NAME, without %%return and %%scope",
				 spec->function);
	*at = end;
	return 0;
}

/*
 * Parse FILE or FILE@PID, up to the colon or the end of the word. usdt:PID means all files of a
 * process.
 */
static int parse_file(const char **at, struct probe_spec *spec, struct trace_error *ret_error)
{
	const char *begin = *at, *end = begin + strcspn(begin, ": \t\n");
	char *sign, *rest;
	long pid;

	if (end == begin)
		return error_set(ret_error, -EINVAL,
				 "a probe is FILE:FUNCTION, usdt:FILE:PROVIDER:NAME or kernel:FUNCTION: the file is "
				 "missing before \"%.20s\"",
				 begin);
	if (!take(spec->file, sizeof(spec->file), begin, end))
		return error_set(ret_error, -ENAMETOOLONG, "%.40s...: a path has at most %zu characters", begin,
				 sizeof(spec->file) - 1);
	*at = end;
	sign = strrchr(spec->file, '@');
	if (!sign || !isdigit((unsigned char)sign[1]))
		return 0;
	pid = strtol(sign + 1, &rest, 10);
	if (*rest)
		return 0;	      /* a file name with an @ */
	if (pid < 1 || pid > INT_MAX) /* 0 would mean all processes */
		return error_set(ret_error, -ENOENT, "process %.40s: no such process", sign + 1);
	spec->pid = (pid_t)pid;
	*sign = '\0';
	return 0;
}

/* Parse SUBSYSTEM:NAME. */
static int parse_tracepoint(const char **at, bool listing, struct probe_spec *spec, struct trace_error *ret_error)
{
	int err = parse_static(at, spec, ret_error);

	if (err || listing || (*spec->provider && *spec->function))
		return err;
	return error_set(ret_error, -EINVAL,
			 "a tracepoint of the kernel is tracepoint:SUBSYSTEM:NAME; tracedaemon --list lists them");
}

static int parse_place(const char **at, bool listing, struct probe_spec *spec, struct trace_error *ret_error)
{
	int err;

	if (take_prefix(at, "usdt:")) {
		spec->kind = PROBE_USDT;
	} else if (take_prefix(at, "tracepoint:")) {
		spec->kind = PROBE_TRACEPOINT;
		return parse_tracepoint(at, listing, spec, ret_error);
	} else if (take_prefix(at, "kernel:") || take_prefix(at, "kprobe:")) {
		spec->kind = PROBE_KERNEL;
	} else if (take_prefix(at, "kretprobe:")) {
		spec->kind = PROBE_KERNEL;
		spec->moment = PROBE_RETURN;
	} else if (take_prefix(at, "uretprobe:")) {
		spec->moment = PROBE_RETURN;
	} else {
		take_prefix(at, "uprobe:");
	}
	if (spec->kind != PROBE_KERNEL) {
		err = parse_file(at, spec, ret_error);
		if (err)
			return err;
		if (**at != ':')
			return spec->kind == PROBE_USDT || listing
				       ? 0
				       : error_set(ret_error, -EINVAL,
						   "%s: the function is missing; give %s:FUNCTION, or usdt:%s for its "
						   "static probes",
						   spec->file, spec->file, spec->file);
		++*at;
	}
	spec->has_function = true;
	err = spec->kind == PROBE_USDT ? parse_static(at, spec, ret_error) : parse_function(at, spec, ret_error);
	if (err || listing || spec->kind == PROBE_USDT || *spec->function)
		return err;
	return error_set(ret_error, -EINVAL, "the name of a function is missing; tracedaemon --list %s lists them",
			 spec->kind == PROBE_KERNEL ? "kernel:" : spec->file);
}

/* ---- arguments ---- */

static bool is_identifier(const char *from, const char *to)
{
	if (from == to || isdigit((unsigned char)*from))
		return false;
	for (; from < to; from++)
		if (!isalnum((unsigned char)*from) && *from != '_')
			return false;
	return true;
}

static int parse_argument(const char *begin, const char *end, struct probe_argument_text *argument,
			  struct trace_error *ret_error)
{
	const char *equal = memchr(begin, '=', (size_t)(end - begin)),
		   *colon = memrchr(begin, ':', (size_t)(end - begin));
	const char *expression = begin;

	if (equal && is_identifier(begin, equal)) {
		expression = equal + 1;
		if (!take(argument->name, sizeof(argument->name), begin, equal))
			return error_set(ret_error, -EINVAL, "%.40s...: the name of an argument is too long", begin);
	}
	if (colon && (colon < expression || colon == expression || colon[-1] == ':'))
		colon = NULL; /* C++: ns::variable */
	if (colon && !take(argument->type, sizeof(argument->type), colon + 1, end))
		return error_set(
			ret_error, -EINVAL,
			"\"%.40s\" is not a type: s32, u64, x64, ptr, bool, char, string, string[64], bytes[16]",
			colon + 1);
	if (!take(argument->expression, sizeof(argument->expression), expression, colon ? colon : end))
		return error_set(ret_error, -EINVAL, "%.40s...: an argument has at most %d characters", begin,
				 TRACE_PROBE_NAME_BYTES - 1);
	if (!*argument->expression)
		return error_set(ret_error, -EINVAL, "\"%.*s\": the argument is missing; give [NAME=]EXPRESSION[:TYPE]",
				 (int)(end - begin), begin);
	if (colon && !*argument->type)
		return error_set(ret_error, -EINVAL, "\"%.*s\": a type is missing after the colon", (int)(end - begin),
				 begin);
	return 0;
}

static bool has_argument(const struct probe_spec *spec, const char *operand)
{
	char name[CONDITION_OPERAND_BYTES], other[CONDITION_OPERAND_BYTES];

	condition_field_name(operand, name, sizeof(name));
	for (uint32_t i = 0; i < spec->nr_arguments; i++) {
		const struct probe_argument_text *argument = &spec->arguments[i];

		condition_field_name(*argument->name ? argument->name : argument->expression, other, sizeof(other));
		if (!strcmp(name, other) || !strcmp(argument->expression, operand) ||
		    !strcmp(argument->expression, "$params"))
			return true;
	}
	return false;
}

static int add_argument(const char *begin, const char *end, struct probe_spec *spec, struct trace_error *ret_error)
{
	if (spec->nr_arguments == TRACE_PROBE_MAX_ARGUMENTS)
		return error_set(ret_error, -EINVAL, "a probe has at most %d arguments", TRACE_PROBE_MAX_ARGUMENTS);
	return parse_argument(begin, end, &spec->arguments[spec->nr_arguments++], ret_error);
}

/* A register or memory with a text to compare is the address of one. */
static bool needs_type(const struct condition_test *test)
{
	return test->constant == CONDITION_TEXT && strchr("$%+-0123456789", test->operand[0]) &&
	       !strchr(test->operand, ':');
}

/*
 * The fields of the condition are recorded, too. Static probes and tracepoints record all that they
 * have unless arguments select some.
 */
static int parse_condition(const char *at, struct probe_spec *spec, struct trace_error *ret_error)
{
	bool all = !spec->nr_arguments && (spec->kind == PROBE_USDT || spec->kind == PROBE_TRACEPOINT);
	int err = condition_parse(at, &spec->condition, ret_error);
	char text[CONDITION_OPERAND_BYTES + 8];

	if (!err && spec->moment == PROBE_SCOPE)
		return error_set(
			ret_error, -EINVAL,
			"\"%.100s\": a %%scope has no condition, because one of its ends could be missing; put "
			"it on the call or on %%return",
			at);
	for (size_t i = 0; i < spec->condition.nr_tests && !err && !all; i++) {
		const struct condition_test *test = &spec->condition.tests[i];

		if (has_argument(spec, test->operand))
			continue;
		snprintf(text, sizeof(text), "%s%s", test->operand, needs_type(test) ? ":string" : "");
		err = add_argument(text, text + strlen(text), spec, ret_error);
	}
	return err;
}

static int parse_arguments(const char *at, struct probe_spec *spec, struct trace_error *ret_error)
{
	const char *end;
	int err;

	for (at = skip_blanks(at); *at; at = skip_blanks(end)) {
		if (!strncmp(at, "if ", 3))
			return parse_condition(at + 3, spec, ret_error);
		if (condition_is_begun(at))
			return parse_condition(at, spec, ret_error);
		end = at + strcspn(at, " \t\n,");
		if (end == at)
			return error_set(ret_error, -EINVAL, "an argument is missing before \"%.20s\"", at);
		err = add_argument(at, end, spec, ret_error);
		if (err)
			return err;
		end += *end == ',';
	}
	return 0;
}

int probe_spec_parse(const char *text, bool listing, struct probe_spec *ret_spec, struct trace_error *ret_error)
{
	const char *at = skip_blanks(text);
	int err;

	*ret_spec = (struct probe_spec){.kind = PROBE_FUNCTION};
	if (!listing)
		at = parse_event(at, ret_spec);
	err = parse_place(&at, listing, ret_spec, ret_error);
	if (!err)
		err = parse_arguments(at, ret_spec, ret_error);
	return err;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "save_on.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <trace/tracer.h>

#include "format_text.h"
#include "select_condition.h"
#include "similar.h"

/* The pressure files take windows from 0.5 s to 10 s. */
#define WINDOW_MIN_NS 500000000ull
#define WINDOW_MAX_NS 10000000000ull

/* In the order of enum save_kind. @forms: shown by messages; a shell needs the quotes */
static const struct {
	const char *word, *forms;
} words[] = {
	{"wait", "'wait>200ms' or 'wait:postgres>200ms'"},
	{"scope", "'scope:pay>50ms'"},
	{"call", "'call:fsync>50ms'"},
	{"event", "'event:shop:pay[cents>5]' or event:shop:pay"},
	{"signal", "signal:SIGUSR1 or signal:nginx:SIGTERM"},
	{"psi", "'psi:io>200ms/2s' or 'psi:io:full>200ms/2s'"},
	{"loss", "loss"},
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))
#define SIGNS	 ":><= " /* between the parts of a value */

static int wrong(const struct save_on *on, const char *why, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "--save-on: \"%s\" %s; for example --save-on=%s", on->text, why,
			 words[on->kind].forms);
}

/* Copies the @chars characters at @from, if they fit. */
static int copy_name(struct save_on *on, const char *from, size_t chars)
{
	if (chars >= sizeof(on->name))
		return -EINVAL;
	memcpy(on->name, from, chars);
	on->name[chars] = '\0';
	return 0;
}

static int parse_time(const char *text, size_t chars, uint64_t *ret_ns)
{
	char time[32];

	if (!chars || chars >= sizeof(time))
		return -EINVAL;
	memcpy(time, text, chars);
	time[chars] = '\0';
	return text_parse_time(time, ret_ns) || !*ret_ns ? -EINVAL : 0;
}

/* [:NAME]>TIME */
static int parse_longer(struct save_on *on, const char *rest, bool needs_name, struct trace_error *ret_error)
{
	const char *than = strrchr(rest, '>');

	if (!than || !than[1])
		return wrong(on, "has no time behind a >", ret_error);
	if (parse_time(than + 1, strlen(than + 1), &on->over_ns))
		return wrong(on, "has something else than a time behind the >", ret_error);
	if (*rest != ':' && than != rest)
		return wrong(on, "has more than one >", ret_error);
	if (*rest == ':' ? than == rest + 1 : needs_name)
		return wrong(on, "has no name", ret_error);
	if (*rest == ':' && copy_name(on, rest + 1, (size_t)(than - rest - 1)))
		return wrong(on, "has a name that is too long", ret_error);
	return 0;
}

static int parse_wait(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	return parse_longer(on, rest, false, ret_error);
}

static int parse_scope(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	return parse_longer(on, rest, true, ret_error);
}

/* Returns the system call that is called so, or the name of a similar one; NULL: none is. */
static const char *find_call(const char *name)
{
	struct similar best = {.wanted = name};

	for (unsigned int nr = 0; nr < SAVE_ON_CALLS; nr++)
		for (enum trace_abi abi = TRACE_ABI_NATIVE; abi <= TRACE_ABI_32; abi++) {
			const char *known = tracer_syscall_name(abi, nr);

			if (known && strcmp(known, name) == 0)
				return known;
			if (known)
				similar_offer(&best, known);
		}
	return best.name;
}

static int parse_call(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	int result = parse_longer(on, rest, true, ret_error);
	const char *call = result ? NULL : find_call(on->name);
	char why[64];

	if (result || (call && strcmp(call, on->name) == 0))
		return result;
	snprintf(why, sizeof(why), "names no system call%s%s%s", call ? "; did you mean " : "", call ? call : "",
		 call ? "?" : "");
	return wrong(on, why, ret_error);
}

static int parse_event(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	if (*rest != ':' || !rest[1])
		return wrong(on, "names no event", ret_error);
	return select_split(rest + 1, on->name, sizeof(on->name), on->condition, sizeof(on->condition), ret_error);
}

/* As kill(1): SIGTERM, TERM, term. */
static int signal_of(const char *name)
{
	const char *word;

	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int number = 1; number < NSIG; number++) {
		word = sigabbrev_np(number);
		if (word && !strcasecmp(word, name))
			return number;
	}
	return 0;
}

static int parse_signal(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	const char *colon = strrchr(rest, ':');

	on->signal = colon ? signal_of(colon + 1) : 0;
	if (!on->signal)
		return wrong(on, "has no name of a signal", ret_error);
	if (colon != rest && (colon == rest + 1 || copy_name(on, rest + 1, (size_t)(colon - rest - 1))))
		return wrong(on, "has no name of a program", ret_error);
	on->to_daemon = colon == rest && (on->signal == SIGUSR1 || on->signal == SIGUSR2);
	return 0;
}

/* :RESOURCE[:full]>STALL[/WINDOW] */
static int parse_pressure(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	const char *than = strchr(rest, '>'), *slash = strchr(rest, '/');
	size_t chars = than ? (size_t)(than - rest) : strlen(rest);

	on->window_ns = 2000000000; /* without a capability the kernel takes multiples of it */
	if (chars > strlen(":full") && !strncmp(rest + chars - strlen(":full"), ":full", strlen(":full"))) {
		on->all = true;
		chars -= strlen(":full");
	}
	if (chars < 2 || *rest != ':' || copy_name(on, rest + 1, chars - 1) ||
	    (strcmp(on->name, "io") != 0 && strcmp(on->name, "cpu") != 0 && strcmp(on->name, "memory") != 0))
		return wrong(on, "names none of io, cpu, memory", ret_error);
	if (!than || !than[1])
		return wrong(on, "has no time behind a >", ret_error);
	if (parse_time(than + 1, slash ? (size_t)(slash - than - 1) : strlen(than + 1), &on->over_ns) ||
	    (slash && parse_time(slash + 1, strlen(slash + 1), &on->window_ns)))
		return wrong(on, "has something else than a time behind the >", ret_error);
	if (on->window_ns < WINDOW_MIN_NS || on->window_ns > WINDOW_MAX_NS || on->over_ns > on->window_ns)
		return wrong(on, "needs a time of at most its window, which is from 500ms to 10s", ret_error);
	return 0;
}

static int parse_loss(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	return *rest ? wrong(on, "has something behind loss", ret_error) : 0;
}

static int (*const parsers[])(struct save_on *on, const char *rest, struct trace_error *ret_error) = {
	[SAVE_WAIT] = parse_wait,   [SAVE_SCOPE] = parse_scope,	  [SAVE_CALL] = parse_call,
	[SAVE_EVENT] = parse_event, [SAVE_SIGNAL] = parse_signal, [SAVE_PRESSURE] = parse_pressure,
	[SAVE_LOSS] = parse_loss,
};
_Static_assert(sizeof(parsers) / sizeof(parsers[0]) == NR_WORDS, "each kind has its word");

static int wrong_kind(const char *text, size_t chars, struct trace_error *ret_error)
{
	char wanted[32];
	struct similar best = {.wanted = wanted};

	snprintf(wanted, sizeof(wanted), "%.*s", (int)chars, text);
	for (size_t i = 0; i < NR_WORDS; i++)
		similar_offer(&best, words[i].word);
	return error_set(ret_error, -EINVAL,
			 "--save-on: \"%s\" begins with none of wait, scope, call, event, signal, psi, loss%s%s%s; for "
			 "example --save-on=%s",
			 text, best.name ? "; did you mean " : "", best.name ? best.name : "", best.name ? "?" : "",
			 words[SAVE_WAIT].forms);
}

static int parse(const char *text, struct save_on *on, struct trace_error *ret_error)
{
	size_t chars = strcspn(text, SIGNS);

	*on = (struct save_on){.text = text};
	for (size_t i = 0; i < NR_WORDS; i++) {
		if (strlen(words[i].word) != chars || strncmp(words[i].word, text, chars) != 0)
			continue;
		on->kind = (enum save_kind)i;
		return parsers[i](on, text + chars, ret_error);
	}
	return wrong_kind(text, chars, ret_error);
}

/* ---- what was probably meant ---- */

/**
 * struct save_on_parts - what is between the signs of a value
 * @names: with : before each; @last: a time, with its window, or a signal
 */
struct save_on_parts {
	char names[SAVE_ON_NAME_BYTES];
	char last[64];
	bool last_is_first, are_too_long;
};

static void add_part(struct save_on_parts *parts, enum save_kind kind, const char *at, size_t chars)
{
	char part[SAVE_ON_NAME_BYTES];
	uint64_t ns;
	size_t used = strlen(parts->names);
	bool is_last;

	snprintf(part, sizeof(part), "%.*s", (int)chars, at);
	is_last = kind == SAVE_SIGNAL ? signal_of(part) : !parse_time(part, strcspn(part, "/"), &ns);
	parts->are_too_long |= chars >= sizeof(parts->last) || used + chars + 2 > sizeof(parts->names) ||
			       (is_last && *parts->last);
	if (parts->are_too_long)
		return;
	if (is_last) {
		parts->last_is_first = !used;
		memcpy(parts->last, part, chars + 1);
	} else {
		snprintf(parts->names + used, sizeof(parts->names) - used, ":%s", part);
	}
}

static struct save_on_parts parts_of(const struct save_on *on)
{
	struct save_on_parts parts = {0};
	const char *at = on->text + strlen(words[on->kind].word);

	while (*at) {
		size_t chars;

		at += strspn(at, SIGNS);
		for (chars = strcspn(at, ":><="); chars && at[chars - 1] == ' ';)
			chars--;
		if (chars)
			add_part(&parts, on->kind, at, chars);
		at += strcspn(at, ":><=");
	}
	return parts;
}

/* The parts of @on in the order of its kind, if that can be understood. */
static bool in_order(const struct save_on *on, const struct save_on_parts *parts, char *text, size_t size)
{
	struct trace_error error;
	struct save_on understood;

	if (parts->are_too_long || !*parts->last || on->kind == SAVE_EVENT || on->kind == SAVE_LOSS)
		return false;
	snprintf(text, size, "%s%s%c%s", words[on->kind].word, parts->names, on->kind == SAVE_SIGNAL ? ':' : '>',
		 parts->last);
	return parse(text, &understood, &error) == 0;
}

int save_on_parse(const char *text, struct save_on *ret_on, struct trace_error *ret_error)
{
	int result = parse(text, ret_on, ret_error);
	char meant[2 * SAVE_ON_NAME_BYTES];
	struct save_on_parts parts;

	if (!result || strncmp(text, words[ret_on->kind].word, strlen(words[ret_on->kind].word)) != 0)
		return result;
	parts = parts_of(ret_on);
	if (!in_order(ret_on, &parts, meant, sizeof(meant)))
		return result;
	return error_set(ret_error, result, "--save-on: \"%s\" has %s; did you mean --save-on='%s'?", text,
			 !parts.last_is_first || !*parts.names ? "wrong signs"
			 : ret_on->kind == SAVE_SIGNAL	       ? "the name behind the signal"
							       : "the name behind the time",
			 meant);
}

bool save_on_needs_events(const struct save_on *on)
{
	return on->kind == SAVE_WAIT || on->kind == SAVE_SCOPE || on->kind == SAVE_CALL || on->kind == SAVE_EVENT ||
	       (on->kind == SAVE_SIGNAL && !on->to_daemon);
}

bool save_on_names_thread(const struct save_on *on)
{
	return *on->name && (on->kind == SAVE_WAIT || on->kind == SAVE_SIGNAL);
}

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

static int wrong(const char *text, const char *why, struct trace_error *ret_error)
{
	return error_set(
		ret_error, -EINVAL,
		"--save-on: \"%s\" %s; for example wait>200ms, wait:postgres>200ms, scope:pay>50ms, call:fsync>50ms, "
		"event:shop:pay[cents>5], signal:SIGUSR1, psi:io>200ms/2s, loss",
		text, why);
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

	if (!than || parse_time(than + 1, strlen(than + 1), &on->over_ns))
		return wrong(on->text, "has no time behind a >", ret_error);
	if (*rest == ':' ? than == rest + 1 : than != rest || needs_name)
		return wrong(on->text, "has no name", ret_error);
	if (*rest == ':' && copy_name(on, rest + 1, (size_t)(than - rest - 1)))
		return wrong(on->text, "has a name that is too long", ret_error);
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

static bool is_call(const char *name)
{
	for (unsigned int nr = 0; nr < SAVE_ON_CALLS; nr++)
		for (enum trace_abi abi = TRACE_ABI_NATIVE; abi <= TRACE_ABI_32; abi++) {
			const char *known = tracer_syscall_name(abi, nr);

			if (known && strcmp(known, name) == 0)
				return true;
		}
	return false;
}

static int parse_call(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	int result = parse_longer(on, rest, true, ret_error);

	return result || is_call(on->name) ? result : wrong(on->text, "names no system call", ret_error);
}

static int parse_event(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	if (*rest != ':' || !rest[1])
		return wrong(on->text, "names no event", ret_error);
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
		return wrong(on->text, "has no name of a signal", ret_error);
	if (colon != rest && (colon == rest + 1 || copy_name(on, rest + 1, (size_t)(colon - rest - 1))))
		return wrong(on->text, "has no name of a program", ret_error);
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
		return wrong(on->text, "names none of io, cpu, memory", ret_error);
	if (!than || parse_time(than + 1, slash ? (size_t)(slash - than - 1) : strlen(than + 1), &on->over_ns) ||
	    (slash && parse_time(slash + 1, strlen(slash + 1), &on->window_ns)))
		return wrong(on->text, "has no time behind a >", ret_error);
	if (on->window_ns < WINDOW_MIN_NS || on->window_ns > WINDOW_MAX_NS || on->over_ns > on->window_ns)
		return wrong(on->text, "needs a time of at most its window, which is from 500ms to 10s", ret_error);
	return 0;
}

static int parse_loss(struct save_on *on, const char *rest, struct trace_error *ret_error)
{
	return *rest ? wrong(on->text, "has something behind loss", ret_error) : 0;
}

static const struct {
	const char *word;
	enum save_kind kind;
	int (*parse)(struct save_on *on, const char *rest, struct trace_error *ret_error);
} kinds[] = {
	{"wait", SAVE_WAIT, parse_wait},       {"scope", SAVE_SCOPE, parse_scope},
	{"call", SAVE_CALL, parse_call},       {"event", SAVE_EVENT, parse_event},
	{"signal", SAVE_SIGNAL, parse_signal}, {"psi", SAVE_PRESSURE, parse_pressure},
	{"loss", SAVE_LOSS, parse_loss},
};

static int wrong_kind(const char *text, size_t chars, struct trace_error *ret_error)
{
	char wanted[32], why[128];
	struct similar best = {.wanted = wanted};

	snprintf(wanted, sizeof(wanted), "%.*s", (int)chars, text);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		similar_offer(&best, kinds[i].word);
	snprintf(why, sizeof(why), "begins with none of wait, scope, call, event, signal, psi, loss%s%s%s",
		 best.name ? "; did you mean " : "", best.name ? best.name : "", best.name ? "?" : "");
	return wrong(text, why, ret_error);
}

int save_on_parse(const char *text, struct save_on *ret_on, struct trace_error *ret_error)
{
	size_t chars = strcspn(text, ":>");

	*ret_on = (struct save_on){.text = text};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].word) != chars || strncmp(kinds[i].word, text, chars) != 0)
			continue;
		ret_on->kind = kinds[i].kind;
		return kinds[i].parse(ret_on, text + chars, ret_error);
	}
	return wrong_kind(text, chars, ret_error);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "completion.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>

#include "checked_memory.h"
#include "program_title.h"

#define MAX_EVENTS 200000 /* some 10 ms */
#define NR_CALLS   1024

/**
 * struct named_thread - a name of a thread, or the arguments of its process
 * @tgid: 0: the event does not tell; @comm: "" with @args
 * @args: NULL: the event has a name; else they are owned
 */
struct named_thread {
	uint32_t tid;
	uint32_t tgid;
	char comm[16];
	char *args;
	bool args_cut;
};

/** struct completion - what the events so far tell; @threads: in the order of the events */
struct completion {
	enum completion_kind kind;
	struct named_thread *threads;
	size_t nr_threads;
	size_t room;
	char **texts; /* owned strings */
	size_t nr_texts;
	size_t texts_room;
	size_t nr_events;
	bool calls[2][NR_CALLS]; /* system calls that were made, by 32-bit ABI and number */
};

/* A control character would be more than a name to the shell. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

static void add_line(struct completion *c, const char *text)
{
	c->texts = memory_grow(c->texts, c->nr_texts, &c->texts_room, sizeof(*c->texts));
	c->texts[c->nr_texts++] = memory_copy(text, strlen(text));
}

static void add_text(struct completion *c, const char *text)
{
	if (*text && is_printable(text))
		add_line(c, text);
}

static void add_thread(struct completion *c, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct named_thread *thread;

	c->threads = memory_grow(c->threads, c->nr_threads, &c->room, sizeof(*c->threads));
	thread = &c->threads[c->nr_threads++];
	*thread = (struct named_thread){.tid = tid, .tgid = tgid};
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
}

/* The first thread has the number of its process, after an exec as well. */
static void add_args(struct completion *c, uint32_t pid, uint32_t bytes, const char *args)
{
	struct named_thread *thread;

	add_thread(c, pid, pid, "");
	thread = &c->threads[c->nr_threads - 1];
	thread->args = memory_copy(args, strlen(args));
	thread->args_cut = bytes > strlen(args);
}

static void take_call(struct completion *c, const struct trace_event *event)
{
	const struct trace_sys_enter *enter = event->payload;
	uint32_t nr = enter->nr & ~0x40000000u; /* __X32_SYSCALL_BIT */

	if (nr < NR_CALLS)
		c->calls[enter->abi == TRACE_ABI_32][nr] = true;
}

static void take_event(struct completion *c, const struct trace_event *event)
{
	const char *text = trace_event_string(event);
	const struct trace_start_thread *start = event->payload;
	const struct trace_sched_fork *fork = event->payload;
	const struct trace_sched_comm *comm = event->payload;
	const struct trace_start_args *start_args = event->payload;
	const struct trace_sched_args *args = event->payload;

	c->nr_events++;
	if ((event->id == TRACE_EV_start_cgroup || event->id == TRACE_EV_cgroup_attach) && c->kind == COMPLETION_CGROUP)
		add_text(c, text);
	else if (event->id == TRACE_EV_start_thread && event->type->fixed_bytes >= sizeof(*start))
		add_thread(c, start->tid, start->tgid, text);
	else if (event->id == TRACE_EV_sched_fork && event->type->fixed_bytes >= sizeof(*fork))
		add_thread(c, fork->tid, fork->tgid, text);
	else if (event->id == TRACE_EV_sched_comm && event->type->fixed_bytes >= sizeof(*comm))
		add_thread(c, comm->tid, 0, text);
	else if (event->id == TRACE_EV_start_args && event->type->fixed_bytes >= sizeof(*start_args))
		add_args(c, start_args->tgid, start_args->bytes, text);
	else if (event->id == TRACE_EV_sched_args && event->type->fixed_bytes >= sizeof(*args))
		add_args(c, args->tid, args->bytes, text);
	else if (event->id >= TRACE_EV_sys_enter && event->id <= TRACE_EV_sys_enter6)
		take_call(c, event);
}

static void select_event(uint64_t mask[TRACE_MASK_WORDS], uint32_t id)
{
	mask[id / 64] |= 1ull << id % 64;
}

static void read_events(struct completion *c, const struct trace *trace, bool start_state)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .start_state = start_state, .no_lost = true};
	struct trace_error error = {0};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	select_event(mask, TRACE_EV_start_thread);
	select_event(mask, TRACE_EV_start_cgroup);
	select_event(mask, TRACE_EV_cgroup_attach);
	select_event(mask, TRACE_EV_sched_fork);
	select_event(mask, TRACE_EV_sched_comm);
	select_event(mask, TRACE_EV_start_args);
	select_event(mask, TRACE_EV_sched_args);
	for (uint32_t id = TRACE_EV_sys_enter; c->kind == COMPLETION_INSTANCE && id <= TRACE_EV_sys_enter6; id++)
		select_event(mask, id);
	cursor = trace_cursor_new(trace, &options, &error);
	if (error.code == -ENOMEM)
		memory_end();
	while (cursor && c->nr_events < MAX_EVENTS && (event = trace_cursor_next(cursor)))
		take_event(c, event);
	if (trace_cursor_end(cursor, NULL) == -ENOMEM) /* what damaged chunks had is not offered */
		memory_end();
}

static int compare_threads(const void *a, const void *b, void *data)
{
	const struct named_thread *one = a, *other = b;

	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static int compare_texts(const void *a, const void *b, void *data)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool names_processes(const struct completion *c)
{
	return c->kind == COMPLETION_COMM || c->kind == COMPLETION_TASK || c->kind == COMPLETION_INSTANCE;
}

static void add_names(struct completion *c, const struct named_thread *with_args, const char *comm)
{
	char names[PROGRAM_NAMES][PROGRAM_TITLE_BYTES];
	size_t nr = program_names(with_args->args, with_args->args_cut, comm, names);

	for (size_t i = 0; i < nr; i++)
		add_text(c, names[i]);
}

/* The number of a thread; its name follows a tab. */
static void add_number(struct completion *c, uint32_t tid, const char *name)
{
	char text[32 + PROGRAM_TITLE_BYTES];

	snprintf(text, sizeof(text), "%" PRIu32 "%s%s", tid, is_printable(name) ? "\t" : "",
		 is_printable(name) ? name : "");
	add_line(c, text);
}

/* All names of one thread, in the order of time: the last one is the best known. */
static void name_thread(struct completion *c, const struct named_thread *names, size_t nr)
{
	const struct named_thread *with_args = NULL;
	uint32_t tid = names->tid, tgid = 0;
	char title[PROGRAM_TITLE_BYTES];
	const char *comm = "";

	for (size_t i = 0; i < nr; i++) {
		tgid = names[i].tgid ? names[i].tgid : tgid;
		with_args = names[i].args ? &names[i] : with_args;
		comm = names[i].args ? comm : names[i].comm;
		if (names[i].args && names_processes(c))
			add_names(c, &names[i], comm);
		else if (c->kind == COMPLETION_TASK || (names_processes(c) && tgid == tid))
			add_text(c, comm);
	}
	if (!with_args || !program_title(with_args->args, with_args->args_cut, comm, title))
		snprintf(title, sizeof(title), "%s", comm);
	if (c->kind == COMPLETION_TASK || (c->kind == COMPLETION_PID && tgid == tid))
		add_number(c, tid, title);
}

/* The names of a thread are neighbours after the sort. */
static void name_threads(struct completion *c)
{
	memory_sort(c->threads, c->nr_threads, sizeof(*c->threads), compare_threads, NULL);
	for (size_t first = 0, end; first < c->nr_threads; first = end) {
		for (end = first + 1; end < c->nr_threads && c->threads[end].tid == c->threads[first].tid;)
			end++;
		name_thread(c, &c->threads[first], end - first);
	}
	for (size_t i = 0; i < c->nr_threads; i++)
		free(c->threads[i].args);
	free(c->threads);
}

static void name_events(struct completion *c, const struct trace *trace)
{
	const struct trace_event_type *type;

	for (size_t i = 0; (type = trace_get_type(trace, i)); i++) {
		add_text(c, type->name);
		if (type->id < TRACE_EV_MAX)
			add_text(c, trace_category_name(type->category));
	}
}

/* Scopes and system calls; the commands are those of the threads. */
static void name_instances(struct completion *c, const struct trace *trace)
{
	const struct trace_event_type *type;

	for (size_t i = 0; (type = trace_get_type(trace, i)); i++) {
		char *name = memory_copy(type->name, trace_type_stem(type));

		if (type->role == TRACE_ROLE_BEGIN || type->role == TRACE_ROLE_REQUEST_BEGIN)
			add_text(c, name);
		free(name);
	}
	for (uint32_t i = 0; i < 2 * NR_CALLS; i++) {
		enum trace_string_space space = i < NR_CALLS ? TRACE_STRING_SYSCALL : TRACE_STRING_SYSCALL_32;
		const char *name = c->calls[i / NR_CALLS][i % NR_CALLS] ? trace_string(trace, space, i % NR_CALLS)
									: NULL;

		if (name)
			add_text(c, name);
	}
}

static void print_texts(struct completion *c)
{
	memory_sort(c->texts, c->nr_texts, sizeof(*c->texts), compare_texts, NULL);
	for (size_t i = 0; i < c->nr_texts; i++) {
		if (!i || strcmp(c->texts[i], c->texts[i - 1]) != 0)
			puts(c->texts[i]);
	}
	for (size_t i = 0; i < c->nr_texts; i++)
		free(c->texts[i]);
	free(c->texts);
}

int completion_print(const char *path, enum completion_kind kind)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);
	struct completion c = {.kind = kind};

	if (!trace && error.code == -ENOMEM)
		memory_end();
	if (!trace)
		return 1;
	if (kind == COMPLETION_EVENT) {
		name_events(&c, trace);
	} else {
		read_events(&c, trace, true);
		read_events(&c, trace, false);
	}
	if (kind != COMPLETION_CGROUP)
		name_threads(&c);
	if (kind == COMPLETION_INSTANCE)
		name_instances(&c, trace);
	print_texts(&c);
	trace_close(trace);
	return 0;
}

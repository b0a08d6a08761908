/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * path_tree.c - add up the segments of a critical path by program.
 *
 * A segment names its thread, and the thread that waited for it, but not who waited for that one.
 * So the segments are read from the last one back: a thread that waited goes on after its wait, and
 * its segment there, of depth d - 1, is read before those of depth d that it waited for. In the
 * order of time, the sleep at the end of a chain comes before anything that its waiters did. A
 * waiter that did nothing itself has no segment: then it gets a link below the latest link of depth
 * d - 2.
 */
#include <stdlib.h>
#include <string.h>
#include "path_tree.h"

/* struct link_row - finds the link of a name below a link */
struct link_row {
	uint64_t key;
	size_t link;
	bool found;
};

/*
 * struct seen_link, struct seen_wait - what was found for a segment, by numbers: most segments of a
 * path are like earlier ones, and need no texts
 */
struct seen_link {
	uint64_t key;
	size_t parent;
	const struct trace_thread *thread; /* NULL: the row is new */
	size_t link;
};
struct seen_wait {
	uint64_t key;  /* the link, and the number of the pattern + 1 */
	uint64_t wait; /* key of its row; 0: the row is new */
};

/* struct pattern - segments that are the same but for their times and depths */
struct pattern {
	struct trace_path_segment segment; /* that was read last */
	enum path_place place;
	size_t link;   /* of its last wait */
	uint64_t wait; /* key of the row of that; 0: none */
};

/* struct at_depth - the link of a depth that was read last, its thread, and the link above it */
struct at_depth {
	const struct trace_thread *thread;
	size_t parent, link;
};

struct builder {
	struct path_tree tree;
	struct strings names;
	struct string key; /* the one that is looked up */
	struct hash_table links, waits, seen_links, seen_waits;
	struct at_depth *latest;
	size_t room;
	struct pattern *patterns; /* by number */
};

static enum path_place place_of(const struct trace_path_segment *s)
{
	static const enum path_place places[] = {
		[TRACE_STATE_USER] = PLACE_OWN_CODE,	 [TRACE_STATE_SYSCALL] = PLACE_KERNEL,
		[TRACE_STATE_TRAP] = PLACE_KERNEL,	 [TRACE_STATE_INTERRUPTED] = PLACE_INTERRUPTED,
		[TRACE_STATE_WAIT_CPU] = PLACE_WAIT_CPU, [TRACE_STATE_BLOCKED] = PLACE_BLOCKED,
		[TRACE_STATE_RUNNING] = PLACE_CPU,
	};

	return s->state == TRACE_STATE_BLOCKED ? (enum path_place)(PLACE_BLOCKED + (int)s->kind) : places[s->state];
}

static size_t add_link(struct builder *b, size_t parent, const struct trace_thread *thread)
{
	struct path_tree *tree = &b->tree;
	const struct trace_process *process = trace_thread_process(thread);

	tree->links = memory_grow(tree->links, tree->nr_links, &tree->room, sizeof(*tree->links));
	tree->links[tree->nr_links] = (struct path_link){.parent = parent, .process = process, .thread = thread};
	if (tree->nr_links)
		tree->links[tree->nr_links].is_thread = tree->links[parent].process == process;
	return tree->nr_links++;
}

static size_t link_named(struct builder *b, size_t parent, const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	bool is_thread = b->tree.links[parent].process == process;
	struct path_link *link;
	struct link_row *row;

	b->key.len = 0;
	string_addf(&b->key, "%zu:%d:%s", parent, is_thread,
		    is_thread ? trace_thread_comm(thread) : process_program(process));
	row = memory_row(&b->links, sizeof(*row), memory_key(&b->names, string_text(&b->key)));
	if (!row->found) {
		row->link = add_link(b, parent, thread);
		row->found = true;
	}
	link = &b->tree.links[row->link];
	link->several |= is_thread ? link->thread != thread : link->process != process;
	return row->link;
}

static size_t link_below(struct builder *b, size_t parent, const struct trace_thread *thread)
{
	struct seen_link *seen;

	for (uint64_t key = hash_u64((uintptr_t)thread) ^ hash_u64(parent + 1);; key++) {
		seen = memory_row(&b->seen_links, sizeof(*seen), key ? key : 1);
		if (!seen->thread || (seen->thread == thread && seen->parent == parent))
			break;
	}
	if (!seen->thread) {
		seen->thread = thread;
		seen->parent = parent;
		seen->link = link_named(b, parent, thread);
	}
	return seen->link;
}

static void reach_depth(struct builder *b, uint32_t depth)
{
	while (b->room <= depth) {
		size_t old = b->room;

		b->latest = memory_grow(b->latest, old, &b->room, sizeof(*b->latest));
		memset(b->latest + old, 0, (b->room - old) * sizeof(*b->latest));
	}
}

static void read_link(struct builder *b, uint32_t depth, const struct trace_thread *thread)
{
	struct at_depth *latest = &b->latest[depth];
	size_t parent = depth > 1 ? b->latest[depth - 1].link : 0;

	if (latest->thread == thread && latest->parent == parent)
		return;
	*latest = (struct at_depth){.thread = thread, .parent = parent, .link = link_below(b, parent, thread)};
}

static size_t link_of(struct builder *b, const struct trace_path_segment *s)
{
	uint32_t depth = s->depth;

	if (!depth || !s->waiter)
		return 0;
	reach_depth(b, depth);
	if (depth > 1 && b->latest[depth - 1].thread != s->waiter)
		read_link(b, depth - 1, s->waiter);
	read_link(b, depth, s->thread);
	return b->latest[depth].link;
}

bool path_own_holder(const struct trace_path_segment *segment)
{
	return segment->holder && trace_thread_process(segment->holder) == trace_thread_process(segment->thread);
}

/* The program that had a CPU; of the waiting process itself, the name of the thread. */
static const char *holder_name(const struct trace_path_segment *s)
{
	if (!s->holder || path_own_holder(s))
		return s->holder_name;
	return process_program(trace_thread_process(s->holder));
}

int path_target_bytes(const struct trace_path_segment *segment)
{
	static const char *const ends[] = {" inode)", " inodes)"};
	const char *target = segment->target, *number = strrchr(target, '(');
	size_t all = strlen(target);

	if (segment->state != TRACE_STATE_BLOCKED || segment->kind != TRACE_WAIT_FILE || !number ||
	    number < target + 2 || number[-1] != ' ')
		return (int)all;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (all > strlen(ends[i]) && strcmp(target + all - strlen(ends[i]), ends[i]) == 0)
			return (int)(number - 1 - target);
	return (int)all;
}

/* A wait that has a row of its texts gets no new one, and changes no more than the sums of it. */
static uint64_t wait_named(struct builder *b, size_t link, enum path_place place, const struct trace_path_segment *s)
{
	struct path_wait *row;

	b->key.len = 0;
	string_addf(&b->key, "w%zu:%s:%d:%u:%s:%.*s:%d:%s:%s", link, trace_thread_comm(s->thread), (int)place,
		    s->other ? trace_process_pid(s->other) : 0, s->via, path_target_bytes(s), s->target,
		    path_own_holder(s), place == PLACE_WAIT_CPU ? holder_name(s) : "",
		    place == PLACE_WAIT_CPU ? "" : s->name);
	row = memory_row(&b->waits, sizeof(*row), memory_key(&b->names, string_text(&b->key)));
	if (!row->count) {
		row->link = link;
		row->place = place;
		row->first = *s;
	}
	row->several_threads |= s->thread != row->first.thread;
	row->several_processes |= trace_thread_process(s->thread) != trace_thread_process(row->first.thread);
	row->several_holders |= s->holder != row->first.holder;
	row->several_holder_processes |= s->holder && row->first.holder &&
					 trace_thread_process(s->holder) != trace_thread_process(row->first.holder);
	if (place == PLACE_WAIT_CPU)
		process_origin_add(&row->origin, s->holder ? trace_thread_process(s->holder) : NULL);
	return row->key;
}

/* There are fewer links, and patterns, than 2^32. */
static void find_wait(struct builder *b, size_t link, uint32_t number, struct pattern *pattern)
{
	uint64_t key = (uint64_t)link << 32 | (number + 1u);
	struct seen_wait *seen = memory_row(&b->seen_waits, sizeof(*seen), key);

	if (!seen->wait)
		seen->wait = wait_named(b, link, pattern->place, &pattern->segment);
	pattern->link = link;
	pattern->wait = seen->wait;
}

static void add_wait(struct builder *b, size_t link, uint32_t number, struct pattern *pattern)
{
	struct path_wait *row;

	if (!pattern->wait || pattern->link != link)
		find_wait(b, link, number, pattern);
	row = table_find(&b->waits, sizeof(*row), pattern->wait);
	row->ns += pattern->segment.to_ns - pattern->segment.from_ns;
	row->count++;
}

static int longest_first(const void *left, const void *right, void *data)
{
	const struct path_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->first.from_ns < r->first.from_ns ? -1 : l->first.from_ns > r->first.from_ns;
}

static void list_waits(struct builder *b)
{
	const struct path_wait *row = NULL;
	struct path_tree *tree = &b->tree;

	tree->waits = memory_take(b->waits.used + 1, sizeof(*tree->waits));
	while ((row = table_next(&b->waits, sizeof(*row), row)))
		tree->waits[tree->nr_waits++] = *row;
	memory_sort(tree->waits, tree->nr_waits, sizeof(*tree->waits), longest_first, NULL);
}

static void note_longest(struct path_link *link, const struct trace_path_segment *s)
{
	if (s->thread != link->thread || s->to_ns - s->from_ns < link->longest_to_ns - link->longest_from_ns)
		return;
	link->longest_from_ns = s->from_ns; /* the first one of this length: the last segment comes first */
	link->longest_to_ns = s->to_ns;
}

/* A link comes after the one above it. */
static void add_up(struct path_tree *tree)
{
	for (size_t i = tree->nr_links - 1; i > 0; i--)
		tree->links[tree->links[i].parent].ns += tree->links[i].ns;
}

static struct pattern *patterns_of(const struct trace_critical_path *path)
{
	size_t nr = trace_critical_path_nr_patterns(path);
	struct pattern *patterns = memory_take(nr, sizeof(*patterns));

	for (uint32_t i = 0; i < nr; i++) {
		trace_critical_path_pattern(path, i, &patterns[i].segment);
		patterns[i].place = place_of(&patterns[i].segment);
	}
	return patterns;
}

static void add_step(struct builder *b, const struct trace_path_step *step)
{
	struct pattern *pattern = &b->patterns[step->pattern];
	struct trace_path_segment *s = &pattern->segment;
	struct path_link *row;
	size_t link;

	s->from_ns = step->from_ns;
	s->to_ns = step->to_ns;
	s->depth = step->depth;
	link = link_of(b, s);
	row = &b->tree.links[link];
	row->places[pattern->place] += s->to_ns - s->from_ns;
	row->ns += s->to_ns - s->from_ns;
	note_longest(row, s);
	if (pattern->place >= PLACE_WAIT_CPU)
		add_wait(b, link, step->pattern, pattern);
}

struct path_tree path_tree_new(const struct trace_critical_path *path)
{
	struct builder b = {.patterns = patterns_of(path)};
	struct trace_path_step step;

	add_link(&b, 0, trace_critical_path_thread(path));
	for (size_t i = trace_critical_path_nr_segments(path); i-- > 0;) {
		trace_critical_path_step(path, i, &step);
		add_step(&b, &step);
	}
	add_up(&b.tree);
	b.tree.ns = b.tree.links[0].ns;
	list_waits(&b);
	table_clear(&b.links);
	table_clear(&b.waits);
	table_clear(&b.seen_links);
	table_clear(&b.seen_waits);
	strings_clear(&b.names);
	string_free(&b.key);
	free(b.latest);
	free(b.patterns);
	return b.tree;
}

void path_tree_clear(struct path_tree *tree)
{
	free(tree->links);
	free(tree->waits);
	*tree = (struct path_tree){0};
}

uint64_t path_tree_place_ns(const struct path_tree *tree, enum path_place place)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < tree->nr_links; i++)
		ns += tree->links[i].places[place];
	return ns;
}

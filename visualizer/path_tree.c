/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * path_tree.c - add up the segments of a critical path by program.
 *
 * A segment names its thread, and the thread that waited for it, but not which waited for that one.
 * So the segments are read from the last one back: a thread that waited goes on after its wait, and
 * its segment there, of depth d - 1, is read before those of depth d that it waited for. In the
 * order of time, the sleep at the end of a chain comes before anything that its waiters did. A
 * waiter that did nothing itself has no segment: then it gets a link below the latest link of depth
 * d - 2.
 *
 * A link may have several processes of one name. The time of a segment belongs to one of them in
 * each link from the root to its own. It is added to the last one, and what an entry of the stack
 * has is added to the entry below when the path returns there, so a segment costs the same however
 * deep it is.
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
	size_t link, member;
};
struct seen_wait {
	uint64_t key;  /* the link, and the number of the pattern + 1 */
	uint64_t wait; /* key of its row; 0: the row is new */
	uint64_t ns;   /* of these segments */
};

/* struct path_wait_part - time of a wait that is of one process, which waited, or had the CPU */
struct path_wait_part {
	uint64_t key;
	const struct trace_process *process; /* NULL: the row is new */
	uint64_t wait, ns;
	bool is_holder;
};

/* struct pattern - segments that are the same but for their times and depths */
struct pattern {
	struct trace_path_segment segment; /* that was read last */
	enum path_place place;
	size_t link;   /* of its last wait */
	uint64_t wait; /* key of the row of that; 0: none */
	uint64_t ns;   /* of segments since then: not yet in the row of seen_wait */
};

/* struct at_depth - the link of a depth that was read last, its thread, and the link above it */
struct at_depth {
	const struct trace_thread *thread;
	size_t parent, link, member;
};

/*
 * struct link_member - a process of a link; of a link of threads, one of them
 * @thread: the one that was read first; @from_ns, @to_ns: its longest segment in this link
 * @ns: with the time of the links below it
 */
struct link_member {
	size_t link;
	const struct trace_thread *thread;
	uint64_t ns, from_ns, to_ns;
};

/* struct member_row - finds the member of a link; @of: its process or thread, NULL: a new row */
struct member_row {
	uint64_t key;
	const void *of;
	size_t link, member;
};

/* struct on_path - a member above the segment that was read last; @ns is not yet added */
struct on_path {
	size_t member;
	uint64_t ns;
};

struct builder {
	struct path_tree tree;
	struct strings names;
	struct string key; /* the one that is looked up */
	struct hash_table links, waits, seen_links, seen_waits, member_rows;
	struct at_depth *latest;
	size_t room;
	struct link_member *members; /* [0]: the root */
	size_t nr_members, member_room;
	struct on_path *stack; /* by depth; [0]: the root */
	size_t top, stack_room;
	struct pattern *patterns; /* by number; those of each path follow those of the one before */
	size_t nr_patterns, pattern_room, first_pattern; /* first: of the path that is read */
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
	struct link_row *row;

	b->key.len = 0;
	string_addf(&b->key, "%zu:%d:%s", parent, is_thread,
		    is_thread ? trace_thread_comm(thread) : process_program(process));
	row = memory_row(&b->links, sizeof(*row), memory_key(&b->names, string_text(&b->key)));
	if (!row->found) {
		row->link = add_link(b, parent, thread);
		row->found = true;
	}
	return row->link;
}

static size_t add_member(struct builder *b, size_t link, const struct trace_thread *thread)
{
	b->members = memory_grow(b->members, b->nr_members, &b->member_room, sizeof(*b->members));
	b->members[b->nr_members] = (struct link_member){.link = link, .thread = thread};
	b->tree.links[link].nr++;
	return b->nr_members++;
}

static size_t member_of(struct builder *b, size_t link, const struct trace_thread *thread)
{
	const void *of = thread;
	struct member_row *row;

	if (!b->tree.links[link].is_thread)
		of = trace_thread_process(thread);
	for (uint64_t key = hash_u64((uintptr_t)of) ^ hash_u64(link + 1);; key++) {
		row = memory_row(&b->member_rows, sizeof(*row), key ? key : 1);
		if (!row->of || (row->of == of && row->link == link))
			break;
	}
	if (!row->of)
		*row = (struct member_row){
			.key = row->key, .of = of, .link = link, .member = add_member(b, link, thread)};
	return row->member;
}

static const struct seen_link *link_below(struct builder *b, size_t parent, const struct trace_thread *thread)
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
		seen->member = member_of(b, seen->link, thread);
	}
	return seen;
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
	const struct seen_link *seen;

	if (latest->thread == thread && latest->parent == parent)
		return;
	seen = link_below(b, parent, thread);
	*latest = (struct at_depth){.thread = thread, .parent = parent, .link = seen->link, .member = seen->member};
}

/* The depth of the link of @s; the link, and the one above it, are the latest of their depths. */
static uint32_t read_depth(struct builder *b, const struct trace_path_segment *s)
{
	uint32_t depth = s->depth;

	if (!depth || !s->waiter)
		return 0;
	reach_depth(b, depth);
	if (depth > 1 && b->latest[depth - 1].thread != s->waiter)
		read_link(b, depth - 1, s->waiter);
	read_link(b, depth, s->thread);
	return depth;
}

/* Removes the top of the stack: its time is time of the member below, too. */
static void leave_member(struct builder *b)
{
	const struct on_path *top = &b->stack[b->top];

	b->members[top->member].ns += top->ns;
	if (b->top)
		b->stack[--b->top].ns += top->ns;
}

/* How much of the stack leads to @depth: read_depth() may have changed the last two. */
static size_t same_depth(const struct builder *b, uint32_t depth)
{
	size_t same = b->top < depth ? b->top : depth;

	for (size_t i = same; i && i + 1 >= depth; i--)
		if (b->stack[i].member != b->latest[i].member)
			same = i - 1;
	return same;
}

static void enter_depth(struct builder *b, uint32_t depth)
{
	size_t same = same_depth(b, depth);

	while (b->top > same)
		leave_member(b);
	while (b->top < depth) {
		b->top++;
		b->stack = memory_grow(b->stack, b->top, &b->stack_room, sizeof(*b->stack));
		b->stack[b->top] = (struct on_path){.member = b->latest[b->top].member};
	}
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

const char *path_other_name(const struct trace_path_segment *segment)
{
	if (!segment->other || !trace_process_pid(segment->other))
		return "";
	return segment->other == trace_thread_process(segment->thread) ? "(own)" : process_program(segment->other);
}

/* A wait that has a row of its texts gets no new one, and changes no more than the sums of it. */
static uint64_t wait_named(struct builder *b, size_t link, enum path_place place, const struct trace_path_segment *s)
{
	struct path_wait *row;

	b->key.len = 0;
	string_addf(&b->key, "w%zu:%s:%d:%s:%s:%.*s:%d:%s:%s", link, trace_thread_comm(s->thread), (int)place,
		    path_other_name(s), s->via, *path_other_name(s) ? 0 : path_target_bytes(s), s->target,
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
	row->several_others |= s->other != row->first.other;
	row->several_holders |= s->holder != row->first.holder;
	row->several_holder_processes |= s->holder && row->first.holder &&
					 trace_thread_process(s->holder) != trace_thread_process(row->first.holder);
	if (place == PLACE_WAIT_CPU)
		process_origin_add(&row->origin, s->holder ? trace_thread_process(s->holder) : NULL);
	return row->key;
}

/* There are fewer links, and patterns, than 2^32. */
static struct seen_wait *seen_wait_of(struct builder *b, size_t link, uint32_t number)
{
	return memory_row(&b->seen_waits, sizeof(struct seen_wait), (uint64_t)link << 32 | (number + 1u));
}

/* Adds what the patterns of the last link have to its row. */
static void flush_pattern(struct builder *b, uint32_t number, struct pattern *pattern)
{
	if (pattern->ns)
		seen_wait_of(b, pattern->link, number)->ns += pattern->ns;
	pattern->ns = 0;
}

static void find_wait(struct builder *b, size_t link, uint32_t number, struct pattern *pattern)
{
	struct seen_wait *seen;

	flush_pattern(b, number, pattern);
	seen = seen_wait_of(b, link, number);
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
	pattern->ns += pattern->segment.to_ns - pattern->segment.from_ns;
}

static uint64_t add_part(struct hash_table *parts, uint64_t wait, const struct trace_thread *thread, bool is_holder,
			 uint64_t ns)
{
	const struct trace_process *process = trace_thread_process(thread);
	struct path_wait_part *part;

	for (uint64_t key = hash_u64((uintptr_t)process) ^ hash_u64(wait + is_holder);; key++) {
		part = memory_row(parts, sizeof(*part), key ? key : 1);
		if (!part->process || (part->process == process && part->wait == wait && part->is_holder == is_holder))
			break;
	}
	part->process = process;
	part->wait = wait;
	part->is_holder = is_holder;
	return part->ns += ns;
}

/* Chooses those with most of the time: of the processes of a wait, and of those with its CPU. */
static void choose_waiters(struct builder *b, size_t nr_patterns)
{
	struct hash_table parts = {0};
	const struct seen_wait *seen = NULL;

	for (uint32_t i = 0; i < nr_patterns; i++)
		flush_pattern(b, i, &b->patterns[i]);
	while ((seen = table_next(&b->seen_waits, sizeof(*seen), seen))) {
		const struct trace_path_segment *s = &b->patterns[(uint32_t)seen->key - 1].segment;
		struct path_wait *wait = table_find(&b->waits, sizeof(*wait), seen->wait);
		uint64_t ns = wait->several_processes ? add_part(&parts, wait->key, s->thread, false, seen->ns) : 0;

		if (ns > wait->most_ns) {
			wait->most_ns = ns;
			wait->first.thread = s->thread;
		}
		ns = wait->several_holder_processes && s->holder
			     ? add_part(&parts, wait->key, s->holder, true, seen->ns)
			     : 0;
		if (ns > wait->holder_ns) {
			wait->holder_ns = ns;
			wait->first.holder = s->holder;
		}
	}
	table_clear(&parts);
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

static void note_longest(struct link_member *member, const struct trace_path_segment *s)
{
	if (s->thread != member->thread || s->to_ns - s->from_ns < member->to_ns - member->from_ns)
		return;
	member->from_ns = s->from_ns; /* the first one of this length: the last segment comes first */
	member->to_ns = s->to_ns;
}

/* The process, or thread, with most of the time of each link; of equal ones the one read first. */
static void choose_members(struct builder *b)
{
	for (size_t i = 0; i < b->nr_members; i++) {
		const struct link_member *member = &b->members[i];
		struct path_link *link = &b->tree.links[member->link];

		if (link->most_ns && member->ns <= link->most_ns)
			continue;
		link->thread = member->thread;
		link->process = trace_thread_process(member->thread);
		link->most_ns = member->ns;
		link->longest_from_ns = member->from_ns;
		link->longest_to_ns = member->to_ns;
	}
}

/* A link comes after the one above it. */
static void add_up(struct path_tree *tree)
{
	for (size_t i = tree->nr_links - 1; i > 0; i--)
		tree->links[tree->links[i].parent].ns += tree->links[i].ns;
}

static void add_patterns(struct builder *b, const struct trace_critical_path *path)
{
	size_t nr = trace_critical_path_nr_patterns(path);

	b->first_pattern = b->nr_patterns;
	for (uint32_t i = 0; i < nr; i++) {
		struct pattern *pattern;

		b->patterns = memory_grow(b->patterns, b->nr_patterns, &b->pattern_room, sizeof(*b->patterns));
		pattern = &b->patterns[b->nr_patterns++];
		*pattern = (struct pattern){0};
		trace_critical_path_pattern(path, i, &pattern->segment);
		pattern->place = place_of(&pattern->segment);
	}
}

static void add_step(struct builder *b, const struct trace_path_step *step)
{
	size_t number = b->first_pattern + step->pattern;
	struct pattern *pattern = &b->patterns[number];
	struct trace_path_segment *s = &pattern->segment;
	struct path_link *row;
	uint32_t depth;
	size_t link;

	s->from_ns = step->from_ns;
	s->to_ns = step->to_ns;
	s->depth = step->depth;
	depth = read_depth(b, s);
	enter_depth(b, depth);
	b->stack[depth].ns += s->to_ns - s->from_ns;
	link = depth ? b->latest[depth].link : 0;
	row = &b->tree.links[link];
	row->places[pattern->place] += s->to_ns - s->from_ns;
	row->ns += s->to_ns - s->from_ns;
	note_longest(&b->members[b->stack[depth].member], s);
	if (pattern->place >= PLACE_WAIT_CPU)
		add_wait(b, link, (uint32_t)number, pattern);
}

/* The thread of each path is a member of the root. */
static void begin(struct builder *b, const struct trace_critical_path *path)
{
	add_patterns(b, path);
	if (!b->tree.nr_links)
		add_link(b, 0, trace_critical_path_thread(path));
	b->stack = memory_grow(b->stack, 0, &b->stack_room, sizeof(*b->stack));
	b->stack[0] = (struct on_path){.member = add_member(b, 0, trace_critical_path_thread(path))};
	if (b->room)
		memset(b->latest, 0, b->room * sizeof(*b->latest));
}

static void end(struct builder *b)
{
	while (b->top)
		leave_member(b);
	leave_member(b);
}

static void release(struct builder *b)
{
	table_clear(&b->links);
	table_clear(&b->waits);
	table_clear(&b->seen_links);
	table_clear(&b->seen_waits);
	table_clear(&b->member_rows);
	strings_clear(&b->names);
	string_free(&b->key);
	free(b->latest);
	free(b->members);
	free(b->stack);
	free(b->patterns);
}

struct path_tree path_tree_of(struct trace_critical_path *const *paths, size_t nr)
{
	struct builder b = {0};
	struct trace_path_step step;

	for (size_t i = 0; i < nr; i++) {
		begin(&b, paths[i]);
		for (size_t at = trace_critical_path_nr_segments(paths[i]); at-- > 0;) {
			trace_critical_path_step(paths[i], at, &step);
			add_step(&b, &step);
		}
		end(&b);
	}
	choose_members(&b);
	choose_waiters(&b, b.nr_patterns);
	add_up(&b.tree);
	b.tree.ns = b.tree.links[0].ns;
	list_waits(&b);
	release(&b);
	return b.tree;
}

struct path_tree path_tree_new(const struct trace_critical_path *path)
{
	struct trace_critical_path *one = (struct trace_critical_path *)path;

	return path_tree_of(&one, 1);
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

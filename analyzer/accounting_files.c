/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accounting_files.c - the bytes that a thread read and wrote and the times that it waited: one row
 * for each file that it used.
 *
 * A file is mostly used by one thread, so it has a pointer to that thread's row. With many files
 * neither the files nor the rows are cached. An addition then has to follow a chain of pointers:
 * from the file to its row, or from the file to its path, if the path has no number yet, and from
 * the path's number to the row.
 *
 * Therefore additions are noted first and applied in groups of LATER_GROUP. Each stage prefetches
 * the memory of the next stage for a whole group, so that its cache misses overlap:
 *
 *	new note         prefetch the file
 *	1 group later    prefetch its row, or its path
 *	2 groups later   prefetch what leads from the path to the row
 *	3 groups later   add
 */
#include <errno.h>
#include <string.h>
#include "accounting_files.h"
#include "state.h"
#include "wait_cause.h"

/* The key of a plain wait for the file @path, and of all reads and writes of it. */
static uint64_t use_key(string_id path)
{
	return wait_key(&(struct wait_cause){.kind = TRACE_WAIT_FILE, .target = path});
}

static string_id use_path(uint64_t key)
{
	return (string_id)key;
}

static struct file_use *use_new(struct trace_analysis *a, struct trace_thread *thread, uint64_t key)
{
	struct file_use *use = a->uses.free;

	if (use) {
		a->uses.free = use->next;
		memset(use, 0, sizeof(*use));
	} else if (!(use = arena_take(&a->arena, sizeof(*use)))) {
		return NULL;
	}
	use->key = key;
	use->thread = thread;
	return use;
}

/* Get the row of @key of @thread. */
static struct file_use *use_get(struct trace_analysis *a, struct trace_thread *thread, uint64_t key)
{
	struct use_row *row = acct_row(a, &thread->uses, sizeof(*row), key);

	if (a->failed)
		return NULL;
	if (!row->use && !(row->use = use_new(a, thread, key)))
		a->failed = -ENOMEM;
	return row->use;
}

/*
 * The row to which the file points may have been reused, for another thread or another file. Its
 * own key and thread decide.
 */
static void use_add(struct trace_analysis *a, const struct later_use *later)
{
	string_id path = later->file ? file_path(a, later->file) : 0;
	struct traced_file *file = path ? &a->files.list[later->file] : NULL;
	struct file_use *use = file ? file->use : NULL;
	uint64_t key = later->key ? later->key : use_key(path);
	uint64_t *numbers;

	if (!use || use->thread != later->thread || use->key != key) {
		use = use_get(a, later->thread, key);
		if (!use)
			return;
		if (file)
			file->use = use;
	}
	numbers = (uint64_t *)use + later->at;
	numbers[0] += later->amount;
	numbers[1]++;
}

/* ---- deferred additions ---- */

static void prefetch_file(const struct trace_analysis *a, const struct later_use *later)
{
	if (later->file)
		line_prefetch(&a->files.list[later->file]);
	else
		table_prefetch(&later->thread->uses, sizeof(struct use_row), later->key);
}

static void prefetch_row(const struct trace_analysis *a, const struct later_use *later)
{
	const struct use_row *row;

	if (later->file) {
		/* a union with .use, which is valid if the file has a path; NULL does no harm */
		line_prefetch(a->files.list[later->file].text);
		return;
	}
	row = table_find(&later->thread->uses, sizeof(*row), later->key);
	if (row)
		line_prefetch(row->use);
}

static void prefetch_path(const struct trace_analysis *a, const struct later_use *later)
{
	const struct traced_file *file = &a->files.list[later->file];

	if (file_has_text(file))
		strings_prefetch(&a->strings, text_hash(file->text));
	else if (file->path && !(file->use && file->use->thread == later->thread))
		table_prefetch(&later->thread->uses, sizeof(struct use_row),
			       later->key ? later->key : use_key(file->path));
}

/* The group that is @before groups older than the last full one. */
static struct later_use *group(struct trace_analysis *a, uint32_t before)
{
	return &a->uses.deferred[(a->uses.pos - (before + 1) * LATER_GROUP) % NR_LATER_USES];
}

static void group_is_full(struct trace_analysis *a)
{
	uint32_t nr = a->uses.pos - a->uses.added;

	for (uint32_t i = 0; nr >= 2 * LATER_GROUP && i < LATER_GROUP; i++)
		prefetch_row(a, group(a, 1) + i);
	for (uint32_t i = 0; nr >= 3 * LATER_GROUP && i < LATER_GROUP; i++)
		prefetch_path(a, group(a, 2) + i);
	for (uint32_t i = 0; nr == 4 * LATER_GROUP && i < LATER_GROUP; i++, a->uses.added++)
		use_add(a, group(a, 3) + i);
}

/*
 * The caller fills in the note in its slot and then calls add_later() before any other function. It
 * does not copy the note: a copy of memory written a moment ago would wait for that write.
 */
static struct later_use *next_later(struct trace_analysis *a)
{
	return &a->uses.deferred[a->uses.pos % NR_LATER_USES];
}

static inline void add_later(struct trace_analysis *a, const struct later_use *later)
{
	if (a->files.nr < FILES_COLD) {
		use_add(a, later);
		return;
	}
	prefetch_file(a, later);
	if (++a->uses.pos % LATER_GROUP == 0)
		group_is_full(a);
}

void acct_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount)
{
	struct later_use *later = next_later(a);

	*later = (struct later_use){.thread = thread, .amount = amount, .file = file, .at = at};
	add_later(a, later);
}

void acct_file_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, file_idx file, uint64_t ns)
{
	struct later_use *later = next_later(a);
	bool is_it = file && a->files.list[file].path && a->files.list[file].path == use_path(key);

	*later = (struct later_use){
		.thread = thread, .key = key, .amount = ns, .file = is_it ? file : 0, .at = USE_WAITED};
	add_later(a, later);
}

void acct_settle(struct trace_analysis *a)
{
	while (a->uses.added != a->uses.pos)
		use_add(a, &a->uses.deferred[a->uses.added++ % NR_LATER_USES]);
	a->uses.pos = a->uses.added = 0; /* groups start again */
	rows_settle(a);
}

/* ---- add to the rows of struct acct ---- */

static bool add_to_files(struct hash_table *files, const struct file_use *use)
{
	struct file_row *row = table_add(files, sizeof(*row), use_path(use->key) + 1ull);

	if (!row)
		return false;
	row->wait_ns += use->wait_ns;
	row->read_bytes += use->read_bytes;
	row->reads += use->reads;
	row->written_bytes += use->written_bytes;
	row->writes += use->writes;
	return true;
}

static bool add_to_waits(struct hash_table *waits, const struct file_use *use)
{
	struct wait_row *row = table_add(waits, sizeof(*row), use->key);

	if (!row)
		return false;
	row->ns += use->wait_ns;
	row->count += use->waits;
	return true;
}

bool uses_add(const struct trace_thread *thread, struct acct *acct)
{
	table_reserve(&acct->files, sizeof(struct file_row), acct->files.used + thread->uses.used);
	for (const struct use_row *row = NULL; (row = table_next(&thread->uses, sizeof(*row), row));)
		if (!add_to_files(&acct->files, row->use) || (row->use->waits && !add_to_waits(&acct->waits, row->use)))
			return false;
	return true;
}

void uses_give(struct trace_analysis *a, struct trace_thread *thread)
{
	for (const struct use_row *row = NULL; (row = table_next(&thread->uses, sizeof(*row), row));) {
		row->use->thread = NULL;
		row->use->next = a->uses.free;
		a->uses.free = row->use;
	}
	acct_give_rows(a, &thread->uses, sizeof(struct use_row));
	table_clear(&thread->uses);
}

void file_count_read(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes)
{
	if (file)
		acct_use(a, thread, file, USE_READ, bytes);
}

void file_count_written(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes)
{
	if (file)
		acct_use(a, thread, file, USE_WROTE, bytes);
}

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
 * Therefore additions are noted first and applied in groups of DEFERRED_GROUP. Each stage
 * prefetches the memory of the next stage for a whole group, so that its cache misses overlap:
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
static void use_add(struct trace_analysis *a, const struct deferred_use *deferred)
{
	string_id path = deferred->file ? file_path(a, deferred->file) : 0;
	struct traced_file *file = path ? &a->files.list[deferred->file] : NULL;
	struct file_use *use = file ? file->use : NULL;
	uint64_t key = deferred->key ? deferred->key : use_key(path);
	uint64_t *numbers;

	if (!use || use->thread != deferred->thread || use->key != key) {
		use = use_get(a, deferred->thread, key);
		if (!use)
			return;
		if (file)
			file->use = use;
	}
	numbers = (uint64_t *)use + deferred->at;
	numbers[0] += deferred->amount;
	numbers[1]++;
}

/* ---- deferred additions ---- */

static void prefetch_file(const struct trace_analysis *a, const struct deferred_use *deferred)
{
	if (deferred->file)
		line_prefetch(&a->files.list[deferred->file]);
	else
		table_prefetch(&deferred->thread->uses, sizeof(struct use_row), deferred->key);
}

static void prefetch_row(const struct trace_analysis *a, const struct deferred_use *deferred)
{
	const struct use_row *row;

	if (deferred->file) {
		/* a union with .use, which is valid if the file has a path; NULL does no harm */
		line_prefetch(a->files.list[deferred->file].text);
		return;
	}
	row = table_find(&deferred->thread->uses, sizeof(*row), deferred->key);
	if (row)
		line_prefetch(row->use);
}

static void prefetch_path(const struct trace_analysis *a, const struct deferred_use *deferred)
{
	const struct traced_file *file = &a->files.list[deferred->file];

	if (file_has_text(file))
		strings_prefetch(&a->strings, text_hash(file->text));
	else if (file->path && !(file->use && file->use->thread == deferred->thread))
		table_prefetch(&deferred->thread->uses, sizeof(struct use_row),
			       deferred->key ? deferred->key : use_key(file->path));
}

/* The group that is @before groups older than the last full one. */
static struct deferred_use *group(struct trace_analysis *a, uint32_t before)
{
	return &a->uses.deferred[(a->uses.pos - (before + 1) * DEFERRED_GROUP) % NR_DEFERRED_USES];
}

static void group_is_full(struct trace_analysis *a)
{
	uint32_t nr = a->uses.pos - a->uses.added;

	for (uint32_t i = 0; nr >= 2 * DEFERRED_GROUP && i < DEFERRED_GROUP; i++)
		prefetch_row(a, group(a, 1) + i);
	for (uint32_t i = 0; nr >= 3 * DEFERRED_GROUP && i < DEFERRED_GROUP; i++)
		prefetch_path(a, group(a, 2) + i);
	for (uint32_t i = 0; nr == 4 * DEFERRED_GROUP && i < DEFERRED_GROUP; i++, a->uses.added++)
		use_add(a, group(a, 3) + i);
}

/*
 * The caller fills in the note in its slot and then calls defer_use() before any other function. It
 * does not copy the note: a copy of memory written a moment ago would wait for that write.
 */
static struct deferred_use *next_deferred(struct trace_analysis *a)
{
	return &a->uses.deferred[a->uses.pos % NR_DEFERRED_USES];
}

static inline void defer_use(struct trace_analysis *a, const struct deferred_use *deferred)
{
	if (a->files.nr < FILES_COLD) {
		use_add(a, deferred);
		return;
	}
	prefetch_file(a, deferred);
	if (++a->uses.pos % DEFERRED_GROUP == 0)
		group_is_full(a);
}

void acct_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount)
{
	struct deferred_use *deferred = next_deferred(a);

	*deferred = (struct deferred_use){.thread = thread, .amount = amount, .file = file, .at = at};
	defer_use(a, deferred);
}

void acct_file_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, file_idx file, uint64_t ns)
{
	struct deferred_use *deferred = next_deferred(a);
	bool is_it = file && a->files.list[file].path && a->files.list[file].path == use_path(key);

	*deferred = (struct deferred_use){
		.thread = thread, .key = key, .amount = ns, .file = is_it ? file : 0, .at = USE_WAITED};
	defer_use(a, deferred);
}

void acct_flush(struct trace_analysis *a)
{
	while (a->uses.added != a->uses.pos)
		use_add(a, &a->uses.deferred[a->uses.added++ % NR_DEFERRED_USES]);
	a->uses.pos = a->uses.added = 0; /* groups start again */
	rows_flush(a);
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
	if (!file)
		return;
	if (__builtin_expect(a->hooks.has_transfer, 0)) {
		hooks_transfer(a, thread, bytes, 0);
		if (a->hooks.tables)
			a->hooks.tables->transfer(a->hooks.tables_data, thread, file, true, bytes);
	}
	acct_use(a, thread, file, USE_READ, bytes);
}

void file_count_written(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes)
{
	if (!file)
		return;
	if (__builtin_expect(a->hooks.has_transfer, 0)) {
		hooks_transfer(a, thread, 0, bytes);
		if (a->hooks.tables)
			a->hooks.tables->transfer(a->hooks.tables_data, thread, file, false, bytes);
	}
	acct_use(a, thread, file, USE_WROTE, bytes);
	dirty_note(a, &a->dirty, thread->process_idx, file);
}

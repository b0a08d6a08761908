/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_file.c - files, and the descriptors of each process
 *
 * Threads share a descriptor table as in the kernel (CLONE_FILES). A fork copies it, and exec
 * closes the descriptors with O_CLOEXEC. There is one traced_file for each (device, inode, path): a
 * renamed file gets another one, and a hard link too. Few files are named in a report. Until then a
 * struct traced_file owns its path, which is freed with it (state_expire.c).
 *
 * A file of an overlay is two files for the kernel: the program has opened the overlay's, and page
 * faults and writeback tell the real one in a layer. The name is the one that the program used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "pages.h"
#include "state.h"
#include "state_touch.h"
#include "state_device.h"
#include "state_file.h"
#include "state_frame.h"
#include "thread_rare.h"

struct file_idx_row {
	uint64_t key;
	uint32_t idx;
};

/* ---- files ---- */

/* The key is the same for all files without a device and a path. */
static uint64_t identity_key(const struct traced_file *file, const char *path)
{
	return hash_u64(file_inode_key(file->dev, file->ino) + text_hash(path) + file->mode);
}

#define FIRST_FILES 256u
#define EARLY_NS    1000000 /* interrupts take less */

/*
 * Makes room for @max files and releases @files. Reads go to many different files, so the array is
 * in large pages, if the kernel has some.
 */
static struct traced_file *files_more(struct traced_file *files, uint32_t nr, uint32_t max)
{
	size_t bytes = max * sizeof(*files);
	struct traced_file *bigger;

	if (bytes < PAGES_LARGE)
		return reallocarray(files, max, sizeof(*files));
	bigger = pages_large(bytes);
	if (!bigger)
		return NULL;
	memcpy(bigger, files, nr * sizeof(*files));
	free(files);
	return bigger;
}

int file_table_prepare(struct file_table *table)
{
	table->list = calloc(FIRST_FILES, sizeof(*table->list));
	if (!table->list)
		return -ENOMEM;
	table->max = FIRST_FILES;
	table->nr = 1;
	return 0;
}

static file_idx file_slot(struct trace_analysis *a)
{
	file_idx idx = a->files.first_free;

	if (a->sweep.remaining)
		a->sweep.remaining--;
	if (idx) {
		a->files.first_free = a->files.list[idx].path;
		return idx;
	}
	if (a->files.nr >= a->files.max) {
		uint32_t max = a->files.max * 2;
		struct traced_file *bigger = files_more(a->files.list, a->files.nr, max);

		if (!bigger) {
			a->failed = -ENOMEM;
			return 0;
		}
		a->files.list = bigger;
		a->files.max = max;
	}
	return a->files.nr++;
}

static file_idx file_add(struct trace_analysis *a, const struct traced_file *file, const char *path)
{
	char *text = *path ? strdup(path) : NULL;
	file_idx idx = file_slot(a);

	if (!idx || (*path && !text)) {
		a->failed = -ENOMEM;
		free(text);
		return 0;
	}
	a->files.list[idx] = *file;
	a->files.list[idx].text = text;
	return idx;
}

static bool same_file(const struct trace_analysis *a, file_idx idx, const struct traced_file *file, const char *path)
{
	const struct traced_file *other = &a->files.list[idx];

	return other->ino == file->ino && other->dev == file->dev && other->mode == file->mode &&
	       strcmp(file_text(a, idx), path) == 0;
}

file_idx file_get(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode)
{
	struct traced_file wanted = {.ino = ino, .dev = dev, .mode = mode};
	uint64_t key = identity_key(&wanted, path);
	struct file_idx_row *row, *by_inode;

	for (;; key++) { /* two files with the same hash take neighbouring keys */
		key += !key;
		row = acct_row(a, &a->files.by_identity, sizeof(*row), key);
		if (!row->idx)
			row->idx = file_add(a, &wanted, path);
		if (a->failed || same_file(a, row->idx, &wanted, path))
			break;
	}
	if (a->failed)
		return 0;
	a->files.list[row->idx].sweeps = a->sweep.nr;
	if (ino) {
		by_inode = acct_row(a, &a->files.by_inode, sizeof(*by_inode), file_inode_key(dev, ino));
		by_inode->idx = row->idx;
	}
	return row->idx;
}

static file_idx opened_file(const struct trace_analysis *a, uint32_t dev, uint64_t ino)
{
	const struct file_idx_row *row = table_find(&a->files.by_inode, sizeof(*row), file_inode_key(dev, ino));

	if (!row || a->files.list[row->idx].ino != ino || a->files.list[row->idx].dev != dev)
		return 0;
	a->files.list[row->idx].sweeps = a->sweep.nr;
	return row->idx;
}

file_idx file_of_inode(const struct trace_analysis *a, uint32_t dev, uint64_t ino)
{
	file_idx file = opened_file(a, dev, ino);

	return !file && layer_shown(&a->files.layers, &dev, &ino) ? opened_file(a, dev, ino) : file;
}

void layer_learn(struct trace_analysis *a, const struct trace_event *event)
{
	if (layer_put(&a->files.layers, event->payload) < 0)
		a->failed = -ENOMEM;
}

void on_fs_layer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	layer_learn(a, event);
}

const char *file_text(const struct trace_analysis *a, file_idx file)
{
	if (!file)
		return "";
	return file_has_text(&a->files.list[file])
		       ? a->files.list[file].text
		       : strings_text(&a->strings, file_name_path(&a->files.names, a->files.list[file].path));
}

static uint32_t device_of(const struct trace_analysis *a, const struct traced_file *file)
{
	uint32_t dev = file->dev;
	uint64_t ino = file->ino;

	layer_upper(&a->files.layers, &dev, &ino);
	return dev;
}

string_id file_path(struct trace_analysis *a, file_idx idx)
{
	struct traced_file *file;

	if (!idx)
		return 0;
	file = &a->files.list[idx];
	if (file_has_text(file)) {
		file->path = strings_take(&a->strings, file->text);
		file->use = NULL;
		if (file->path)
			file->path = file_name(a, file, file->path);
		else
			a->failed = -ENOMEM;
		if (LINUX_S_ISREG(file->mode) || LINUX_S_ISDIR(file->mode))
			device_learn(a, file->path, device_of(a, file), false);
	}
	return file->path;
}

static void remove_identity(struct trace_analysis *a, file_idx idx)
{
	uint64_t key = identity_key(&a->files.list[idx], file_text(a, idx));
	const struct file_idx_row *row;

	for (;; key++) {
		key += !key;
		row = table_find(&a->files.by_identity, sizeof(*row), key);
		if (!row || row->idx == idx)
			break;
	}
	if (row)
		table_remove(&a->files.by_identity, sizeof(*row), key);
}

bool file_has_other_end(const struct trace_analysis *a, file_idx idx)
{
	struct traced_file other = a->files.list[idx];
	const char *path = file_text(a, idx);
	const struct file_idx_row *row;

	other.mode ^= FILE_WRITE_END;
	for (uint64_t key = identity_key(&other, path);; key++) {
		key += !key;
		row = table_find(&a->files.by_identity, sizeof(*row), key);
		if (!row || same_file(a, row->idx, &other, path))
			return row;
	}
}

void file_drop(struct trace_analysis *a, file_idx idx)
{
	struct traced_file *file = &a->files.list[idx];
	const struct file_idx_row *row = table_find(&a->files.by_inode, sizeof(*row),
						    file_inode_key(file->dev, file->ino));

	dirty_forget(a, file);
	if (row && row->idx == idx) {
		table_remove(&a->files.by_inode, sizeof(*row), file_inode_key(file->dev, file->ino));
		layer_forget(&a->files.layers, file->dev, file->ino);
	}
	remove_identity(a, idx);
	if (file_has_text(file))
		free(file->text);
	*file = (struct traced_file){.path = a->files.first_free, .sweeps = FILE_FREE};
	a->files.first_free = idx;
}

uint32_t file_mode(uint32_t mode, uint32_t flags)
{
	return mode | (LINUX_S_ISFIFO(mode) && (flags & LINUX_O_ACCMODE) == LINUX_O_WRONLY ? FILE_WRITE_END : 0);
}

/* ---- descriptors ---- */

struct fd_table *fds_ref(struct fd_table *fds)
{
	if (fds)
		fds->refs++;
	return fds;
}

struct fd_table *fds_unref(struct fd_table *fds)
{
	if (fds && --fds->refs == 0) {
		doubt_drop_fds(fds);
		free(fds->passed);
		free(fds->files);
		free(fds);
	}
	return NULL;
}

static struct passed_sockets *copy_passed(struct trace_analysis *a, const struct passed_sockets *passed)
{
	struct passed_sockets *copy = passed ? malloc(sizeof(*copy)) : NULL;

	if (copy)
		*copy = *passed;
	else if (passed)
		a->failed = -ENOMEM;
	return copy;
}

struct fd_table *fds_copy(struct trace_analysis *a, const struct fd_table *fds)
{
	struct fd_table *copy = calloc(1, sizeof(*copy));

	if (copy && fds && fds->nr) {
		*copy = *fds;
		copy->from = NULL;
		copy->passed = copy_passed(a, fds->passed);
		copy->files = malloc(fds->nr * sizeof(*fds->files));
		if (copy->files)
			memcpy(copy->files, fds->files, fds->nr * sizeof(*fds->files));
		else
			copy->nr = 0;
	}
	if (!copy || (fds && copy->nr != fds->nr))
		a->failed = -ENOMEM;
	if (copy && copy->nr)
		doubt_note_fds(a, copy);
	if (copy) {
		copy->refs = 1;
		copy->changes++;
		copy->number = ++a->nr_tables;
	}
	return copy;
}

void fds_own(struct trace_analysis *a, struct trace_thread *thread)
{
	struct fd_table *own;

	if (!thread->fds || thread->fds->refs == 1)
		return;
	own = fds_copy(a, thread->fds);
	fds_unref(thread->fds);
	thread->fds = own;
}

void fds_exec(struct trace_analysis *a, struct trace_thread *thread)
{
	fds_own(a, thread);
	for (uint32_t i = 0; thread->fds && i < thread->fds->nr; i++)
		if (thread->fds->files[i] & FD_CLOEXEC_BIT)
			thread->fds->files[i] = 0;
	if (thread->fds)
		thread->fds->changes++;
}

file_idx fd_file(const struct trace_thread *thread, int64_t fd)
{
	return fds_file(thread->fds, fd);
}

static bool fds_reach(struct trace_analysis *a, struct fd_table *fds, int64_t fd)
{
	uint32_t nr = fds->nr ? fds->nr : 16;
	uint32_t *bigger;

	if (fd < fds->nr)
		return true;
	while (nr <= fd)
		nr *= 2;
	bigger = reallocarray(fds->files, nr, sizeof(*bigger));
	if (!bigger)
		return false;
	memset(bigger + fds->nr, 0, (nr - fds->nr) * sizeof(*bigger));
	fds->files = bigger;
	if (!fds->nr)
		doubt_note_fds(a, fds);
	fds->nr = nr;
	return true;
}

static void note_change(struct trace_analysis *a, const struct fd_table *fds, uint64_t first, uint64_t last)
{
	struct fd_changes *changes = &a->fd_changes;
	uint64_t i = changes->nr % NR_FD_CHANGES;

	if (fds->refs <= 1)
		return;
	changes->list[i].ns = a->now;
	changes->list[i].first = first;
	changes->list[i].last = last;
	changes->list[i].table = fds->number;
	changes->nr++;
}

/* @first to @last of @copy may be as before or after a change. */
static void forget_range(struct fd_table *copy, uint64_t first, uint64_t last)
{
	for (uint64_t fd = first; fd < copy->nr && fd <= last; fd++)
		copy->files[fd] = 0;
	copy->is_known = false;
}

void fds_doubt(struct trace_analysis *a, struct fd_table *copy, uint32_t number, uint64_t since_ns)
{
	const struct fd_changes *changes = &a->fd_changes;
	uint64_t oldest = changes->nr > NR_FD_CHANGES ? changes->nr - NR_FD_CHANGES : 0, i = changes->nr;

	for (; copy && i > oldest && changes->list[(i - 1) % NR_FD_CHANGES].ns >= since_ns; i--) {
		uint64_t at = (i - 1) % NR_FD_CHANGES;

		if (changes->list[at].table == number)
			forget_range(copy, changes->list[at].first, changes->list[at].last);
	}
	if (copy && oldest && i == oldest) /* there were more changes */
		forget_range(copy, 0, UINT64_MAX);
}

void fd_put(struct trace_analysis *a, struct trace_thread *thread, int64_t fd, file_idx file, bool cloexec)
{
	if (fd < 0 || fd >= MAX_FD || (!file && (!thread->fds || fd >= thread->fds->nr)))
		return;
	if (!thread->fds)
		thread->fds = fds_copy(a, NULL);
	if (!thread->fds || !fds_reach(a, thread->fds, fd)) {
		a->failed = -ENOMEM;
		return;
	}
	if (a->rules)
		rules_had_file(a, thread, file);
	if (a->doubt.is_open && thread->fds->refs > 1)
		file = 0; /* a thread that is not seen may change it at any time */
	thread->fds->files[fd] = file | (file && cloexec ? FD_CLOEXEC_BIT : 0);
	thread->fds->changes++;
	note_change(a, thread->fds, (uint64_t)fd, (uint64_t)fd);
	if (file && LINUX_S_ISSOCK(a->files.list[file].mode))
		thread->fds->has_sockets = true;
}

void fd_set_cloexec(struct trace_thread *thread, int64_t fd, bool cloexec)
{
	file_idx file = fd_file(thread, fd);

	if (file)
		thread->fds->files[fd] = file | (cloexec ? FD_CLOEXEC_BIT : 0);
}

void fd_close_range(struct trace_analysis *a, struct trace_thread *thread, uint64_t first, uint64_t last)
{
	for (uint64_t fd = first; thread->fds && fd < thread->fds->nr && fd <= last; fd++)
		thread->fds->files[fd] = 0;
	if (!thread->fds)
		return;
	thread->fds->changes++;
	note_change(a, thread->fds, first, last);
}

void fd_cloexec_range(struct trace_thread *thread, uint64_t first, uint64_t last)
{
	for (uint64_t fd = first; thread->fds && fd < thread->fds->nr && fd <= last; fd++)
		fd_set_cloexec(thread, (int64_t)fd, true);
}

/* ---- events ---- */

static struct trace_thread *current_thread(struct cpu *cpu)
{
	return cpu->current == &cpu->idle ? NULL : cpu->current;
}

file_idx file_opened(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode,
		     uint32_t flags)
{
	bool is_pidfd = strcmp(path, "[pidfs]") == 0;

	return file_get(a, is_pidfd ? "[pidfd]" : path, dev, ino, is_pidfd ? 0 : file_mode(mode, flags));
}

/*
 * Since Linux 6.9 a pidfd is a file in a file system of its own. Traces of earlier recorder
 * versions name it "/".
 */
static bool is_pidfd(const struct trace_analysis *a, const struct frame *frame)
{
	return frame && frame_class(a, frame) == CALL_FD_NEW &&
	       strcmp(strings_text(&a->strings, a->calls[frame->call].name), "pidfd_open") == 0;
}

/* Does the call receive messages? A socket event tells the descriptor of socketcall(). */
static bool may_bring_sockets(const struct trace_analysis *a, const struct frame *frame)
{
	return frame_class(a, frame) == CALL_RECV ||
	       (frame_class(a, frame) == CALL_SOCKETCALL && frame->file && !call_accepts(a, frame));
}

static void note_passed(struct trace_analysis *a, struct fd_table *fds, uint64_t ino, uint64_t by)
{
	if (!fds->passed)
		fds->passed = calloc(1, sizeof(*fds->passed));
	if (!fds->passed) {
		a->failed = -ENOMEM;
		return;
	}
	fds->passed->latest = ino;
	fds->passed->by = by;
}

/*
 * The event of an open goes to another ring than the entry of its call. If an interrupt opens a new
 * sub-buffer of that ring before the deferred entry is in it, the entry gets the time of the
 * sub-buffer's begin, which is later.
 */
static void note_early(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t ns)
{
	struct thread_rare *rare = thread_rare(a, thread);

	if (rare) {
		rare->early_file = file;
		rare->early_ns = ns;
	}
}

bool file_opened_early(const struct trace_thread *thread, const struct frame *frame, int64_t fd)
{
	const struct thread_rare *rare = thread->rare;

	return rare && rare->early_file && fd_file(thread, fd) == rare->early_file &&
	       frame->begin.ns - rare->early_ns < EARLY_NS;
}

void on_fs_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_open *open = event->payload;
	struct trace_thread *thread = current_thread(cpu);
	struct frame *frame;
	file_idx file;

	if (!thread)
		return;
	frame = frame_syscall(thread);
	if (is_pidfd(a, frame))
		file = file_get(a, "[pidfd]", open->dev, open->ino, 0);
	else
		file = file_opened(a, trace_event_string(event), open->dev, open->ino, open->mode, open->flags);
	fd_put(a, thread, open->fd, file, open->flags & LINUX_O_CLOEXEC);
	if (!frame) {
		note_early(a, thread, file, ns);
		return;
	}
	frame->fd_seen = true;
	if (may_bring_sockets(a, frame) && LINUX_S_ISSOCK(open->mode) && thread->fds)
		note_passed(a, thread->fds, open->ino, a->files.list[frame->file].ino);
	/*
	 * A call that makes a descriptor waited for the file that it opened; accept() waited for
	 * the connection.
	 */
	if (frame_class(a, frame) == CALL_OPEN || frame_class(a, frame) == CALL_FD_NEW || call_accepts(a, frame))
		frame->file = file;
}

/*
 * mlock(), madvise() and similar calls read the pages of a mapping without a fault. mmap() has its
 * file already.
 */
static bool populates(const struct trace_analysis *a, const struct frame *frame)
{
	return frame->kind == FRAME_SYSCALL &&
	       (frame_class(a, frame) == CALL_MEMORY || frame_class(a, frame) == CALL_MREMAP);
}

bool file_shows(const struct trace_analysis *a, file_idx idx, uint32_t dev, uint64_t ino)
{
	const struct traced_file *file = &a->files.list[idx];
	uint32_t upper_dev = file->dev;
	uint64_t upper_ino = file->ino;

	if (idx && layer_upper(&a->files.layers, &upper_dev, &upper_ino) && upper_dev == dev && upper_ino == ino)
		return true;
	return idx && inode_shows(file->dev, file->ino, dev, ino);
}

/*
 * The path by which the program mapped the file, if the mapping agrees: after a loss it may be out
 * of date. No event tells the mappings that exec makes, but those are of its files.
 */
static file_idx faulted_file(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *top,
			     const struct trace_fs_fault *fault)
{
	file_idx mapped = top->kind == FRAME_TRAP ? memory_find(thread->memory, top->args[0]) : 0;
	const file_idx *of_exec = thread->process->exec_files;

	if (file_shows(a, mapped, fault->dev, fault->ino))
		return mapped;
	for (int i = 0; i < 2 && !mapped; i++)
		if (file_shows(a, of_exec[i], fault->dev, fault->ino))
			return of_exec[i];
	return file_of_inode(a, fault->dev, fault->ino);
}

/* The page that a fault needs. A file that exec mapped has no descriptor, so its inode finds it. */
void on_fs_fault(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_fault *fault = event->payload;
	struct trace_thread *thread = current_thread(cpu);
	struct frame *top = thread ? frame_top(thread) : NULL;

	if (!top || (top->kind != FRAME_TRAP && !populates(a, top)))
		return;
	top->file = faulted_file(a, thread, top, fault);
	top->dev = fault->dev;
}

void on_fs_writeback_wait(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_writeback_wait *wait = event->payload;
	struct trace_thread *thread = current_thread(cpu);
	struct frame *top = thread ? frame_top(thread) : NULL;
	file_idx file = file_of_inode(a, wait->dev, wait->ino);

	if (!top || !file || file_shows(a, top->file, wait->dev, wait->ino))
		return;
	if (top->kind == FRAME_SYSCALL && !top->own_file)
		top->own_file = top->file; /* its bytes are of that one */
	top->file = file;
}

void on_fs_throttle(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (current_thread(cpu))
		cpu->current->flags |= THREAD_THROTTLED;
}

file_idx call_directory(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	int8_t at = a->calls[frame->call].directory;

	return at >= 0 && at < frame->nr_args ? fd_file(thread, (int32_t)frame->args[at]) : 0;
}

file_idx call_second_file(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	int8_t at = a->calls[frame->call].second_fd;

	return at >= 0 && at < frame->nr_args ? fd_file(thread, (int32_t)frame->args[at]) : 0;
}

void file_table_clear(struct file_table *table)
{
	for (uint32_t i = 0; i < table->nr; i++)
		if (file_has_text(&table->list[i]))
			free(table->list[i].text);
	free(table->list);
	table_clear(&table->by_identity);
	table_clear(&table->by_inode);
	file_layers_clear(&table->layers);
	file_names_clear(&table->names);
}

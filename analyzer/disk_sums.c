/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * disk_sums.c - whose requests the disks served
 *
 * A request is of the process in whose thread an I/O scheduler got it (block_insert) or, without
 * that, the kernel issued it. Requests that a worker issues while it writes files back are of the
 * process that wrote to those files (work_sums.c). Requests that an interrupt issued, and those
 * whose begin was not recorded, are of an unknown process.
 *
 * A disk is busy while it has requests in progress. Several requests share that time: in each
 * instant all of them have the same part. So the times of the processes add up to the busy time.
 * Going through all requests in progress at each event would cost too much. Instead a disk counts
 * its `share`: the time that one request would have had since the start. It grows by the time
 * divided by the number of requests in progress, and a request has its difference from begin to
 * end.
 *
 * Example: A's request is in progress from 0 to 30 us and B's from 10 to 20 us. `share` is 10 us at
 * 10, 15 us at 20 and 25 us at 30 us. So A has 25 us and B 15 - 10 = 5 us of 30 us.
 *
 * The requests that a worker issues until its process is known are a batch. They and the batch's
 * uses have the number of the batch as their owner, so deciding its process touches the batch and
 * its uses alone, however many requests are in progress.
 *
 * Shares are counted in 1 / 65536 ns. The greatest use of a disk has the rest that rounding
 * leaves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "disk_sums.h"
#include "disk_waits.h"
#include "sort.h"
#include "state.h"

#define FRACTION 16    /* bits of a share after the ns */
#define OP_MASK	 0xffu /* enum req_op, include/linux/blk_types.h */
enum { OP_READ = 0, OP_WRITE = 1 };

struct disk_row {
	uint64_t key; /* dev + 1 */
	uint64_t ns;  /* when @share and @busy_ns were counted */
	uint64_t share;
	uint64_t busy_ns;
	uint64_t nr; /* requests in progress */
};

struct disk_request_row {
	uint64_t key;	/* address of the request */
	uint64_t share; /* of the disk when it began */
	uint64_t ns;	/* when it began */
	uint32_t dev;
	uint32_t owner; /* process_idx, or the number of a batch */
	bool is_queued; /* an I/O scheduler has it: it has not begun */
};

#define OF_BATCH (1u << 31) /* in an owner */

struct disk_worker_row {
	uint64_t key;	/* DISK_OF_WORKER() */
	uint32_t batch; /* an owner */
};

struct disk_batch_row {
	uint64_t key;	  /* an owner */
	uint32_t nr;	  /* its requests that are queued or in progress */
	uint32_t process; /* process_idx, if @is_known */
	bool is_known;
};

struct disk_use_row {
	uint64_t key; /* use_key() */
	uint64_t share;
	uint64_t reads, read_bytes, writes, written_bytes, others;
};

static uint64_t request_key(uint64_t address)
{
	return address ? address : UINT64_MAX;
}

static uint64_t use_key(uint32_t dev, uint32_t owner)
{
	return ((uint64_t)dev << 32 | owner) + 1; /* no owner is UINT32_MAX */
}

/* A row that may be removed; NULL: out of memory. */
static void *row_of(struct trace_analysis *a, struct hash_table *table, size_t bytes, uint64_t key)
{
	void *row = table_add(table, bytes, key);

	if (!row)
		a->failed = -ENOMEM;
	return row;
}

static struct disk_use_row *use_of(struct trace_analysis *a, uint32_t dev, uint32_t owner)
{
	return row_of(a, &a->disk_sums.uses, sizeof(struct disk_use_row), use_key(dev, owner));
}

/* The disk, with its sums until @ns. */
static struct disk_row *disk_at(struct trace_analysis *a, uint32_t dev, uint64_t ns)
{
	struct disk_row *disk = row_of(a, &a->disk_sums.disks, sizeof(*disk), dev + 1ull);

	if (disk && disk->nr && ns > disk->ns) {
		disk->busy_ns += ns - disk->ns;
		disk->share += ((ns - disk->ns) << FRACTION) / disk->nr;
	}
	if (disk && ns > disk->ns)
		disk->ns = ns;
	return disk;
}

/* ---- batches ---- */

static struct disk_batch_row *batch_of(const struct trace_analysis *a, uint32_t owner)
{
	return owner & OF_BATCH ? table_find(&a->disk_sums.batches, sizeof(struct disk_batch_row), owner) : NULL;
}

/* The owner of a new request: @owner, or the batch that the worker @owner has now. */
static uint32_t owner_begin(struct trace_analysis *a, uint32_t owner)
{
	struct disk_worker_row *worker;
	struct disk_batch_row *batch;

	if (!(owner & OF_BATCH))
		return owner;
	worker = row_of(a, &a->disk_sums.workers, sizeof(*worker), owner);
	if (worker && !worker->batch)
		worker->batch = OF_BATCH | ++a->disk_sums.nr_batches;
	batch = worker ? row_of(a, &a->disk_sums.batches, sizeof(*batch), worker->batch) : NULL;
	if (!batch)
		return PROCESS_UNKNOWN;
	batch->nr++;
	return worker->batch;
}

/* One more request is of @owner, as another one is already. */
static uint32_t owner_again(struct trace_analysis *a, uint32_t owner)
{
	struct disk_batch_row *batch = batch_of(a, owner);

	if (batch)
		batch->nr++;
	return owner;
}

/* The owner of a request that is over: a batch's process, if that is known. */
static uint32_t owner_now(const struct trace_analysis *a, uint32_t owner)
{
	const struct disk_batch_row *batch = batch_of(a, owner);

	return batch && batch->is_known ? batch->process : owner;
}

static void batch_drop_if_over(struct trace_analysis *a, const struct disk_batch_row *batch)
{
	if (batch->is_known && !batch->nr)
		table_remove(&a->disk_sums.batches, sizeof(*batch), batch->key);
}

/* A request of @owner has no row from now on. */
static void owner_end(struct trace_analysis *a, uint32_t owner)
{
	struct disk_batch_row *batch = batch_of(a, owner);

	if (!batch)
		return;
	batch->nr--;
	batch_drop_if_over(a, batch);
}

/* ---- requests ---- */

/* The request is over. Its row stays. */
static void charge(struct trace_analysis *a, struct disk_row *disk, const struct disk_request_row *request)
{
	uint32_t owner = owner_now(a, request->owner);
	struct disk_use_row *use = request->is_queued ? NULL : use_of(a, request->dev, owner);

	if (use) {
		use->share += disk->share - request->share;
		disk_waits_request(a, &(struct disk_span){request->ns, disk->ns, request->dev, owner});
	}
	disk->nr -= !request->is_queued && disk->nr;
	owner_end(a, request->owner);
}

static void end_request(struct trace_analysis *a, struct disk_row *disk, const struct disk_request_row *request)
{
	charge(a, disk, request);
	table_remove(&a->disk_sums.requests, sizeof(*request), request->key);
}

void disk_queue(struct trace_analysis *a, const struct trace_block_insert *insert, uint32_t owner)
{
	uint64_t key = request_key(insert->request);
	struct disk_request_row *request = row_of(a, &a->disk_sums.requests, sizeof(*request), key);

	if (request && !request->dev) /* else it is queued again */
		*request = (struct disk_request_row){
			.key = key, .dev = insert->dev, .owner = owner_begin(a, owner), .is_queued = true};
}

void disk_issue(struct trace_analysis *a, uint64_t ns, const struct trace_block_issue *issue, uint32_t owner)
{
	uint64_t key = request_key(issue->request);
	struct disk_request_row *request = table_find(&a->disk_sums.requests, sizeof(*request), key);
	struct disk_row *disk;

	if (a->is_past_window)
		return;
	owner = request && request->is_queued ? owner_again(a, request->owner) : owner_begin(a, owner);
	if (request) { /* it was queued, or its end was not recorded */
		disk = disk_at(a, request->dev, ns);
		if (disk)
			end_request(a, disk, request);
	}
	disk = disk_at(a, issue->dev, ns);
	request = disk ? row_of(a, &a->disk_sums.requests, sizeof(*request), key) : NULL;
	if (!request)
		return;
	*request = (struct disk_request_row){
		.key = key, .share = disk->share, .ns = ns, .dev = issue->dev, .owner = owner};
	disk->nr++;
}

void disk_complete(struct trace_analysis *a, uint64_t ns, const struct trace_block_complete *complete)
{
	const struct disk_request_row *request = table_find(&a->disk_sums.requests, sizeof(*request),
							    request_key(complete->request));
	uint32_t owner = request ? owner_now(a, request->owner) : (uint32_t)PROCESS_UNKNOWN;
	struct disk_use_row *use;
	struct disk_row *disk;

	if (a->is_past_window)
		return;
	disk = disk_at(a, request ? request->dev : complete->dev, ns);
	if (request && disk)
		end_request(a, disk, request);
	use = use_of(a, complete->dev, owner);
	if (!use)
		return;
	switch (complete->op & OP_MASK) {
	case OP_READ:
		use->reads++;
		use->read_bytes += complete->bytes;
		break;
	case OP_WRITE:
		use->writes++;
		use->written_bytes += complete->bytes;
		break;
	default:
		use->others++;
	}
}

static void use_add(struct disk_use_row *to, const struct disk_use_row *use)
{
	to->share += use->share;
	to->reads += use->reads;
	to->read_bytes += use->read_bytes;
	to->writes += use->writes;
	to->written_bytes += use->written_bytes;
	to->others += use->others;
}

/* The uses of @batch, which were counted before its process was known, are of @process. */
static void own_uses(struct trace_analysis *a, uint32_t batch, uint32_t process)
{
	const struct disk_row *disk = NULL;

	disk_waits_own(a, batch, process);
	while ((disk = table_next(&a->disk_sums.disks, sizeof(*disk), disk))) {
		uint64_t key = use_key((uint32_t)(disk->key - 1), batch);
		const struct disk_use_row *use = table_find(&a->disk_sums.uses, sizeof(*use), key);
		struct disk_use_row copy, *to;

		if (!use)
			continue;
		copy = *use;
		table_remove(&a->disk_sums.uses, sizeof(*use), key);
		to = use_of(a, (uint32_t)(disk->key - 1), process);
		if (to)
			use_add(to, &copy);
	}
}

void disk_own(struct trace_analysis *a, uint32_t worker, uint32_t process)
{
	const struct disk_worker_row *row = table_find(&a->disk_sums.workers, sizeof(*row), worker);
	struct disk_batch_row *batch = row ? batch_of(a, row->batch) : NULL;

	if (!batch)
		return;
	own_uses(a, row->batch, process);
	table_remove(&a->disk_sums.workers, sizeof(*row), worker);
	batch->process = process;
	batch->is_known = true;
	batch_drop_if_over(a, batch);
}

void disk_lost(struct trace_analysis *a, uint64_t ns)
{
	const struct disk_request_row *request = NULL;

	while ((request = table_next(&a->disk_sums.requests, sizeof(*request), request))) {
		struct disk_row *disk = disk_at(a, request->dev, ns);

		if (!disk)
			return;
		charge(a, disk, request);
	}
	table_clear(&a->disk_sums.requests);
}

/* The window begins: the times before it do not count, and requests in progress begin anew. */
static void window_begins(struct trace_analysis *a, uint64_t ns)
{
	struct disk_request_row *request = NULL;
	struct disk_row *disk = NULL;

	table_clear(&a->disk_sums.uses);
	disk_waits_window_begins(&a->disk_waits);
	while ((request = table_next(&a->disk_sums.requests, sizeof(*request), request))) {
		disk = disk_at(a, request->dev, ns);
		request->share = disk ? disk->share : 0;
	}
	disk = NULL;
	while ((disk = table_next(&a->disk_sums.disks, sizeof(*disk), disk)))
		disk->busy_ns = 0;
}

void disk_sums_edge(struct trace_analysis *a, uint64_t ns)
{
	if (a->is_past_window)
		disk_lost(a, ns);
	else
		window_begins(a, ns);
}

void disk_end(struct trace_analysis *a, uint64_t ns)
{
	const struct disk_worker_row *worker;

	disk_lost(a, ns);
	while ((worker = table_next(&a->disk_sums.workers, sizeof(*worker), NULL)) && !a->failed)
		disk_own(a, (uint32_t)worker->key, PROCESS_UNKNOWN);
}

void disk_sums_clear(struct disk_sums *sums)
{
	table_clear(&sums->disks);
	table_clear(&sums->requests);
	table_clear(&sums->uses);
	table_clear(&sums->workers);
	table_clear(&sums->batches);
}

/* ---- results ---- */

/* By disk, longest time first; equal ones by name, so that a report is the same every time. */
static int order(const void *left, const void *right)
{
	const struct trace_disk_use *l = left, *r = right;

	if (l->dev != r->dev)
		return l->dev < r->dev ? -1 : 1;
	if (l->busy_ns != r->busy_ns)
		return l->busy_ns > r->busy_ns ? -1 : 1;
	if (l->read_bytes + l->written_bytes != r->read_bytes + r->written_bytes)
		return l->read_bytes + l->written_bytes > r->read_bytes + r->written_bytes ? -1 : 1;
	return strcmp(l->title, r->title);
}

struct trace_disk_use disk_use_of(const struct trace_analysis *a, uint32_t dev, uint32_t owner, uint64_t busy_ns,
				  uint64_t disk_busy_ns)
{
	const struct trace_process *process = a->threads.processes[owner];
	const char *name = trace_string(a->trace, TRACE_STRING_DEVICE, dev);

	return (struct trace_disk_use){.device = name ? name : "",
				       .dev = dev,
				       .process = process->pid ? process : NULL,
				       .title = trace_process_title(process),
				       .busy_ns = busy_ns,
				       .disk_busy_ns = disk_busy_ns};
}

static void fill(const struct trace_analysis *a, const struct disk_use_row *row, struct trace_disk_use *ret_use)
{
	uint32_t dev = (uint32_t)((row->key - 1) >> 32);
	const struct disk_row *disk = table_find(&a->disk_sums.disks, sizeof(*disk), dev + 1ull);

	*ret_use = disk_use_of(a, dev, (uint32_t)(row->key - 1), row->share >> FRACTION, disk ? disk->busy_ns : 0);
	ret_use->reads = row->reads;
	ret_use->read_bytes = row->read_bytes;
	ret_use->writes = row->writes;
	ret_use->written_bytes = row->written_bytes;
	ret_use->others = row->others;
}

/* The list of each disk begins with its greatest use, which gets the rest of the rounding. */
static void complete_sums(struct trace_disk_use *list, size_t nr)
{
	uint64_t left = 0;

	for (size_t i = nr; i-- > 0;) {
		if (i + 1 == nr || list[i + 1].dev != list[i].dev)
			left = list[i].disk_busy_ns;
		left -= list[i].busy_ns;
		if (!i || list[i - 1].dev != list[i].dev)
			list[i].busy_ns += left;
	}
}

bool disk_uses_order(struct trace_disk_use *list, size_t nr)
{
	if (!sort_rows(list, nr, sizeof(*list), order))
		return false;
	complete_sums(list, nr);
	return true;
}

struct trace_disk_use *trace_disk_uses(const struct trace_analysis *a, size_t *ret_nr)
{
	struct trace_disk_use *list = calloc(a->disk_sums.uses.used + 1, sizeof(*list)), *at = list;
	const struct disk_use_row *row = NULL;

	while (list && (row = table_next(&a->disk_sums.uses, sizeof(*row), row)))
		fill(a, row, at++);
	if (!list || !disk_uses_order(list, *ret_nr = (size_t)(at - list))) {
		free(list);
		return NULL;
	}
	return list;
}

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
 * A request of a worker that writes files back has the bytes of each file (block_file). Each part
 * is of the process that wrote to that file (dirty_files.c), and the request's time is divided by
 * bytes. In disk_waits.c, which has spans of time, the parts come one after the other.
 *
 * Example: a request of 12 KiB is in progress for 30 us alone: 8 KiB are of a file of A, 4 KiB of
 * a file of B. So A has 20 us and B 10 us.
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
#include "result_order.h"
#include "sort.h"
#include "state.h"

#define FRACTION  16	/* bits of a share after the ns */
#define OP_MASK	  0xffu /* enum req_op, include/linux/blk_types.h */
#define MAX_PARTS 4
enum { OP_READ = 0, OP_WRITE = 1 };

struct disk_row {
	uint64_t key; /* dev + 1 */
	uint64_t ns;  /* when @share and @busy_ns were counted */
	uint64_t share;
	uint64_t busy_ns;
	uint64_t nr; /* requests in progress */
};

struct disk_part {
	uint32_t owner; /* process_idx */
	uint32_t bytes;
};

struct disk_request_row {
	uint64_t key;	/* address of the request */
	uint64_t share; /* of the disk when it began */
	uint64_t ns;	/* when it began */
	uint32_t dev;
	uint32_t owner; /* process_idx, or the number of a batch */
	uint32_t bytes;
	bool is_queued; /* an I/O scheduler has it: it has not begun */
	uint8_t nr_parts;
	struct disk_part parts[MAX_PARTS]; /* their bytes are @bytes at most; @owner has the rest */
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
	uint64_t run_ns;  /* the run of the worker began then */
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
	if (!batch->nr++)
		batch->run_ns = work_run_began(a, owner & ~OF_BATCH);
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

/* @part of @whole, of @bytes */
static uint64_t part_of(uint64_t bytes, uint32_t part, uint32_t whole)
{
	return (uint64_t)((unsigned __int128)bytes * part / whole);
}

/* The @idx-th part of the request; behind the last one the rest. */
static struct disk_part request_part(const struct trace_analysis *a, const struct disk_request_row *request, int idx)
{
	struct disk_part rest = {owner_now(a, request->owner), request->bytes};

	if (idx < request->nr_parts)
		return request->parts[idx];
	for (int i = 0; i < request->nr_parts; i++)
		rest.bytes -= request->parts[i].bytes;
	return rest;
}

static void charge_part(struct trace_analysis *a, const struct disk_request_row *request, uint32_t owner,
			uint64_t share, uint64_t from, uint64_t to)
{
	struct disk_use_row *use = use_of(a, request->dev, owner);

	if (!use)
		return;
	use->share += share;
	disk_waits_request(a, &(struct disk_span){from, to, request->dev, owner});
}

static void charge_parts(struct trace_analysis *a, const struct disk_row *disk, const struct disk_request_row *request)
{
	uint64_t share = disk->share - request->share, took = disk->ns - request->ns, from = request->ns, to;

	for (int i = 0; i < request->nr_parts; i++) {
		const struct disk_part *part = &request->parts[i];
		uint64_t own = part_of(disk->share - request->share, part->bytes, request->bytes);

		to = from + part_of(took, part->bytes, request->bytes);
		charge_part(a, request, part->owner, own, from, to);
		share -= own;
		from = to;
	}
	if (request_part(a, request, request->nr_parts).bytes || !request->nr_parts)
		charge_part(a, request, owner_now(a, request->owner), share, from, disk->ns);
	else
		use_of(a, request->dev, request->parts[0].owner)->share += share; /* of rounding */
}

/* The request is over. Its row stays. */
static void charge(struct trace_analysis *a, struct disk_row *disk, const struct disk_request_row *request)
{
	if (!request->is_queued)
		charge_parts(a, disk, request);
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
		.key = key, .share = disk->share, .ns = ns, .dev = issue->dev, .owner = owner, .bytes = issue->bytes};
	disk->nr++;
}

/* One owner has one part. If there are too many, the last one is of several. */
static void part_add(struct disk_request_row *request, uint32_t owner, uint32_t bytes)
{
	int i = 0;

	while (i < request->nr_parts && request->parts[i].owner != owner)
		i++;
	if (i == MAX_PARTS) {
		i--;
		owner = PROCESS_SEVERAL;
	}
	request->nr_parts += i == request->nr_parts;
	request->parts[i].owner = owner;
	request->parts[i].bytes += bytes;
}

void disk_file(struct trace_analysis *a, const struct trace_block_file *file)
{
	struct disk_request_row *request = table_find(&a->disk_sums.requests, sizeof(*request),
						      request_key(file->request));
	const struct disk_batch_row *batch = request ? batch_of(a, request->owner) : NULL;
	uint32_t owner;

	if (!batch || file->bytes > request_part(a, request, request->nr_parts).bytes)
		return;
	owner = dirty_writer(a, file->dev, file->ino, batch->run_ns);
	part_add(request, owner ? owner : (uint32_t)PROCESS_UNKNOWN, file->bytes);
}

static void count(struct trace_analysis *a, const struct trace_block_complete *complete, uint32_t owner, uint64_t bytes)
{
	struct disk_use_row *use = use_of(a, complete->dev, owner);

	if (!use)
		return;
	switch (complete->op & OP_MASK) {
	case OP_READ:
		use->reads++;
		use->read_bytes += bytes;
		break;
	case OP_WRITE:
		use->writes++;
		use->written_bytes += bytes;
		break;
	default:
		use->others++;
	}
}

/* A request that writes for several processes counts for each of them. */
static void count_parts(struct trace_analysis *a, const struct trace_block_complete *complete,
			const struct disk_request_row *request)
{
	uint64_t left = complete->bytes;

	for (int i = 0; i < request->nr_parts; i++) {
		uint64_t bytes = part_of(complete->bytes, request->parts[i].bytes, request->bytes);

		count(a, complete, request->parts[i].owner, bytes);
		left -= bytes;
	}
	if (left || !request->nr_parts)
		count(a, complete, owner_now(a, request->owner), left);
}

void disk_complete(struct trace_analysis *a, uint64_t ns, const struct trace_block_complete *complete)
{
	const struct disk_request_row *request = table_find(&a->disk_sums.requests, sizeof(*request),
							    request_key(complete->request));
	struct disk_row *disk;

	if (a->is_past_window)
		return;
	if (request)
		count_parts(a, complete, request);
	else
		count(a, complete, PROCESS_UNKNOWN, complete->bytes);
	disk = disk_at(a, request ? request->dev : complete->dev, ns);
	if (request && disk)
		end_request(a, disk, request);
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

static int order(const void *left, const void *right)
{
	const struct trace_disk_use *l = left, *r = right;
	int difference = ascending(l->dev, r->dev);

	difference = difference ?: descending(l->busy_ns, r->busy_ns);
	difference = difference ?: descending(l->read_bytes + l->written_bytes, r->read_bytes + r->written_bytes);
	difference = difference ?: strcmp(l->title, r->title);
	difference = difference ?: by_process(l->process, r->process);
	return difference;
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

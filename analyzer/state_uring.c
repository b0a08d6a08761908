/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_uring.c - requests of io_uring from submission to completion, and the files that they open
 *
 * A request is identified by its address in the kernel. The submitter itself, an interrupt or a
 * worker completes it. In each case the submitter's process keeps the file of the last completed
 * request: a wait in io_uring_enter was for that file. Bytes read and written are accounted to the
 * submitter.
 *
 * A request names its file by a descriptor of the process or by a slot in the ring's own table
 * ("registered file", "direct descriptor"). The file in a slot is recorded when the request
 * completes.
 */
#include <stdio.h>
#include "kernel_numbers.h"
#include "state.h"
#include "state_uring.h"

struct uring_row {
	uint64_t key; /* address of the request */
	/* the submitter; NULL: completed, and the address may be reused */
	struct trace_thread *thread;
	file_idx file;
	uint16_t opcode;
	bool silent;   /* its completion is not reported to the program */
	bool is_async; /* a worker has it */
	uint64_t ring; /* address of the ring; 0: a polling thread submitted it */
};

struct ring_row {
	uint64_t key;		     /* address of the ring */
	struct trace_thread *waiter; /* the thread that entered it last */
	uint64_t ns;		     /* when a request of it completed last */
	struct trace_thread *by;     /* the thread that completed it; NULL: an interrupt */
	uint64_t file;		     /* the file of that request */
};

/* Properties of each operation: enum io_uring_op, Linux 6.18. */
enum { HAS_FILE = 1, READS = 2, WRITES = 4 };
static const uint8_t operations[64] = {
	[1] = HAS_FILE | READS,	  /* READV */
	[2] = HAS_FILE | WRITES,  /* WRITEV */
	[3] = HAS_FILE,		  /* FSYNC */
	[4] = HAS_FILE | READS,	  /* READ_FIXED */
	[5] = HAS_FILE | WRITES,  /* WRITE_FIXED */
	[6] = HAS_FILE,		  /* POLL_ADD */
	[8] = HAS_FILE,		  /* SYNC_FILE_RANGE */
	[9] = HAS_FILE | WRITES,  /* SENDMSG */
	[10] = HAS_FILE | READS,  /* RECVMSG */
	[13] = HAS_FILE,	  /* ACCEPT */
	[16] = HAS_FILE,	  /* CONNECT */
	[17] = HAS_FILE,	  /* FALLOCATE */
	[22] = HAS_FILE | READS,  /* READ */
	[23] = HAS_FILE | WRITES, /* WRITE */
	[24] = HAS_FILE,	  /* FADVISE */
	[26] = HAS_FILE | WRITES, /* SEND */
	[27] = HAS_FILE | READS,  /* RECV */
	[30] = HAS_FILE,	  /* SPLICE */
	[33] = HAS_FILE,	  /* TEE */
	[34] = HAS_FILE,	  /* SHUTDOWN */
	[47] = HAS_FILE | WRITES, /* SEND_ZC */
	[48] = HAS_FILE | WRITES, /* SENDMSG_ZC */
	[49] = HAS_FILE | READS,  /* READ_MULTISHOT */
	[55] = HAS_FILE,	  /* FTRUNCATE */
	[56] = HAS_FILE,	  /* BIND */
	[57] = HAS_FILE,	  /* LISTEN */
	[58] = HAS_FILE | READS,  /* RECV_ZC */
	[59] = HAS_FILE,	  /* EPOLL_WAIT */
	[60] = HAS_FILE | READS,  /* READV_FIXED */
	[61] = HAS_FILE | WRITES, /* WRITEV_FIXED */
};

static unsigned int operation(uint32_t opcode)
{
	return opcode < sizeof(operations) ? operations[opcode] : 0;
}

/*
 * A thread enters its ring to submit requests and to wait for completions. The row of the ring
 * leads from a completion to the thread.
 */
void on_uring_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_enter *enter = event->payload;
	struct ring_row *row;

	if (!cpu->current || cpu->current == &cpu->idle || !enter->ring)
		return;
	row = acct_row(a, &a->rings, sizeof(*row), enter->ring);
	row->waiter = cpu->current;
	cpu->current->ring = enter->ring;
}

void on_uring_submit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_submit *submit = event->payload;
	struct uring_row *row;

	if (!cpu->current || cpu->current == &cpu->idle)
		return;
	row = acct_row(a, &a->requests, sizeof(*row), submit->req | 1);
	if (row->thread && row->is_async) /* its completion was not recorded */
		row->thread->process->nr_async--;
	row->thread = cpu->current;
	row->opcode = (uint16_t)submit->opcode;
	row->file = 0;
	row->silent = submit->flags & URING_CQE_SKIP;
	row->is_async = false;
	row->ring = cpu->current->flags & THREAD_IO_WORKER ? 0 : cpu->current->ring;
	if ((operation(submit->opcode) & HAS_FILE) && !(submit->flags & URING_FIXED_FILE))
		row->file = fd_file(cpu->current, submit->fd);
}

static struct uring_row *request_of(const struct trace_analysis *a, uint64_t req)
{
	struct uring_row *row = table_find(&a->requests, sizeof(*row), req | 1);

	return row && row->thread ? row : NULL;
}

#define SEVERAL_FILES UINT32_MAX

file_idx uring_worker_file(const struct trace_process *process)
{
	return process->nr_async && process->async_file != SEVERAL_FILES ? process->async_file : 0;
}

/*
 * A worker gets the request. It waits for the file of that request, but no event says which worker
 * it is. So the file is known if all requests of the process that workers have are on one file.
 */
void on_uring_async(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct uring_row *row = request_of(a, ((const struct trace_uring_async *)event->payload)->req);
	struct trace_process *process = row ? row->thread->process : NULL;

	if (!row || row->is_async)
		return;
	row->is_async = true;
	if (!process->nr_async++)
		process->async_file = row->file;
	else if (process->async_file != row->file)
		process->async_file = SEVERAL_FILES;
}

/*
 * A call has several waits if a completion starts the next request of a chain. Each wait is for the
 * request that the waker completed. If the waker left that to the thread itself, it is the first
 * request that completes after the wakeup: further ones needed no waiting.
 */
static void note_for_waiter(const struct trace_analysis *a, const struct cpu *cpu, const struct uring_row *request,
			    uint64_t ns)
{
	struct ring_row *row = request->ring ? table_find(&a->rings, sizeof(*row), request->ring) : NULL;
	struct trace_thread *waiter = row ? row->waiter : NULL;
	struct waker *waker;

	if (!row)
		return;
	row->ns = ns;
	row->by = cpu->nested ? NULL : cpu->current;
	row->file = request->file;
	waker = waiter->nr_pending ? &waiter->pending[waiter->nr_pending - 1].waker : NULL;
	if (waker && waiter->sched_state != SCHED_BLOCKED && waiter->ring == request->ring && !waker->ring_file)
		waker->ring_file = 1 + request->file;
}

uint32_t uring_file_of_wakeup(const struct trace_analysis *a, const struct trace_thread *thread,
			      const struct waker *waker)
{
	const struct ring_row *row = thread->ring ? table_find(&a->rings, sizeof(*row), thread->ring) : NULL;

	return row && row->ns >= thread->since && row->by == waker->thread ? 1 + (uint32_t)row->file : 0;
}

/* A socket that never had a descriptor has no other name. */
static file_idx registered_file(struct trace_analysis *a, const struct trace_uring_file *registered)
{
	file_idx file = file_of_inode(a, registered->dev, registered->ino);
	char path[40];

	if (file || !LINUX_S_ISSOCK(registered->mode))
		return file;
	snprintf(path, sizeof(path), "socket:[%llu]", (unsigned long long)registered->ino);
	return file_get(a, path, registered->dev, registered->ino, registered->mode);
}

void on_uring_file(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_file *registered = event->payload;
	struct uring_row *row = request_of(a, registered->req);

	if (row)
		row->file = registered_file(a, registered);
}

void on_uring_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_complete *complete = event->payload;
	struct uring_row *row = request_of(a, complete->req);

	if (!row)
		return;
	row->thread->process->uring_file = row->file;
	row->thread->process->uring_ns = ns;
	row->thread->process->uring_by = cpu->current && !cpu->nested ? cpu->current->tid : 0;
	note_for_waiter(a, cpu, row, ns);
	if (complete->res >= 0 && (operation(row->opcode) & READS))
		file_count_read(a, row->thread, row->file, (uint64_t)complete->res);
	if (complete->res >= 0 && (operation(row->opcode) & WRITES))
		file_count_written(a, row->thread, row->file, (uint64_t)complete->res);
	if (complete->flags & URING_CQE_MORE)
		return;
	if (row->is_async)
		row->thread->process->nr_async--;
	row->thread = NULL;
}

void on_uring_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_uring_open *open = event->payload;

	file_get(a, trace_event_string(event), open->dev, open->ino, file_mode(open->mode, open->flags));
}

void on_uring_close(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (cpu->current && cpu->current != &cpu->idle)
		fd_put(a, cpu->current, ((const struct trace_uring_close *)event->payload)->fd, 0, false);
}

void uring_mark(const struct hash_table *requests, uint64_t *marks)
{
	for (const struct uring_row *row = NULL; (row = table_next(requests, sizeof(*row), row));)
		if (row->thread)
			marks[row->file / 64] |= 1ull << row->file % 64;
}

const void *uring_next(const struct hash_table *requests, const void *at, const struct trace_process **ret_process,
		       file_idx *ret_file)
{
	const struct uring_row *row = at;

	while ((row = table_next(requests, sizeof(*row), row)))
		if (row->thread && !row->silent && row->file) {
			*ret_process = row->thread->process;
			*ret_file = row->file;
			return row;
		}
	return NULL;
}

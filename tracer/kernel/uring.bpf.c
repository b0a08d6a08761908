/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * uring.bpf.c - requests of io_uring, and the files that they open and close,
 * which no system call returns
 *
 * The type of a request tells where it stores its slot of the ring's own
 * table ("direct descriptors").
 *
 * A request that accepts repeatedly ("multishot") completes without a pointer to the request: only
 * its ring and its user_data are known.
 */
PATH_SCRATCH(uring_scratch);

struct uring_label {
	u64 ring;
	u64 user_data;
};
/* accept requests */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct uring_label);
	__type(value, u64);
} uring_accepts SEC(".maps");

/* enum io_uring_op, include/uapi/linux/io_uring.h */
enum {
	URING_ACCEPT = 13,
	URING_CONNECT = 16,
	URING_OPENAT = 18,
	URING_CLOSE = 19,
	URING_OPENAT2 = 28,
	URING_RENAMEAT = 35,
	URING_UNLINKAT = 36,
	URING_SOCKET = 45,
	URING_BIND = 56,
	URING_LISTEN = 57,
};
#define URING_FIXED_FILE 1	     /* REQ_F_FIXED_FILE */
#define URING_ANY_SLOT	 0xffffffffu /* IORING_FILE_INDEX_ALLOC: the result is the slot */
#define URING_FILE_MASK	 (~7UL)	     /* FFS_MASK: flags in the low bits of a file's address */

/* Slot + 1 of the ring's table that the request opens or closes; 0: it uses a
 * descriptor of the process. */
static __always_inline u32 request_slot(u64 request, u32 opcode)
{
	if (opcode == URING_ACCEPT && bpf_core_field_exists(struct io_accept, file_slot))
		return FIELD((struct io_accept *)request, file_slot);
	if (opcode == URING_SOCKET && bpf_core_field_exists(struct io_socket, file_slot))
		return FIELD((struct io_socket *)request, file_slot);
	if (opcode == URING_CLOSE && bpf_core_field_exists(struct io_close, file_slot))
		return FIELD((struct io_close *)request, file_slot);
	if ((opcode == URING_OPENAT || opcode == URING_OPENAT2) && bpf_core_field_exists(struct io_open, file_slot))
		return FIELD((struct io_open *)request, file_slot);
	return 0;
}

/* As of 6.1: a table of only files. */
static __always_inline struct file *file_in_old_slot(struct io_ring_ctx___6_1 *context, u32 slot)
{
	void *files = FIELD(context, file_table.files);
	unsigned long file = 0;

	if (slot >= FIELD(context, nr_user_files))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), files + slot * sizeof(file));
	return (struct file *)(file & URING_FILE_MASK);
}

static __always_inline struct file *file_in_slot(u64 request, u32 slot)
{
	struct io_ring_ctx *context = FIELD((struct io_kiocb *)request, ctx);
	struct io_rsrc_node **nodes, *node = NULL;

	if (bpf_core_field_exists(struct io_file_table___6_1, files))
		return file_in_old_slot((void *)context, slot);
	if (!bpf_core_field_exists(struct io_rsrc_data, nodes) || slot >= FIELD(context, file_table.data.nr))
		return NULL;
	nodes = FIELD(context, file_table.data.nodes);
	bpf_probe_read_kernel(&node, sizeof(node), nodes + slot);
	return node ? (struct file *)(FIELD(node, file_ptr) & URING_FILE_MASK) : NULL;
}

__noinline int record_uring_fd(u32 fd)
{
	u32 cloexec = 0;
	struct file *file = file_of_fd(fd, &cloexec);
	struct path_text *s = path_scratch(&uring_scratch);

	if (s && file && event_wanted(TRACE_EV_fs_open))
		put_fd(s, file, fd, cloexec);
	if (file && event_wanted(TRACE_EV_fs_layer))
		put_layer(file);
	return 0;
}

/* The file in a slot: its events have no descriptor. */
__noinline int record_uring_slot(u64 request, u32 slot)
{
	struct path_text *s = path_scratch(&uring_scratch);
	struct file *file = file_in_slot(request, slot);
	struct path_span span;
	struct inode *inode;

	if (!s || !file)
		return 0;
	if (event_wanted(TRACE_EV_sock_endpoints))
		put_endpoints(file, -1);
	if (event_wanted(TRACE_EV_fs_layer))
		put_layer(file);
	if (!event_wanted(TRACE_EV_uring_open))
		return 0;
	inode = FIELD(file, f_inode);
	span = file_path(s, file);
	RECORD_IN(uring_open, true, ROUND8(span.bytes)) {
		record->slot = slot;
		record->flags = FIELD(file, f_flags);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->mode = FIELD(inode, i_mode);
		record->ino = FIELD(inode, i_ino);
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(uring_open);
	}
	return 0;
}

/* The registered file of a request. */
static __always_inline void put_uring_file(struct io_kiocb *request)
{
	struct inode *inode = BPF_CORE_READ(request, file, f_inode);

	if (!inode)
		return;
	RECORD(uring_file) {
		record->req = (u64)request;
		record->ino = FIELD(inode, i_ino);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->mode = FIELD(inode, i_mode);
		COMMIT(uring_file);
	}
}

__noinline int record_uring_file(u64 request)
{
	put_uring_file((struct io_kiocb *)request);
	return 0;
}

__noinline int record_uring_closed(u64 request, u32 slot)
{
	RECORD_BEHIND(uring_close, 0) {
		record->fd = slot ? -1 : FIELD((struct io_close *)request, fd);
		record->slot = slot - 1;
		COMMIT(uring_close);
	}
	return 0;
}

/* The effects of a successful request on the files of its process. */
__noinline int record_uring_result(u64 request, u32 opcode, u32 result)
{
	u32 slot;

	switch (opcode) {
	case URING_ACCEPT:
	case URING_SOCKET:
	case URING_OPENAT:
	case URING_OPENAT2:
		slot = request_slot(request, opcode);
		if (slot)
			return record_uring_slot(request, slot == URING_ANY_SLOT ? result : slot - 1);
		record_uring_fd(result);
		if ((opcode == URING_ACCEPT || opcode == URING_SOCKET) && event_wanted(TRACE_EV_sock_endpoints))
			record_endpoints(result);
		return 0;
	case URING_CLOSE:
		if (event_wanted(TRACE_EV_uring_close) && bpf_core_field_exists(struct io_close, fd))
			record_uring_closed(request, request_slot(request, opcode));
		return 0;
	case URING_RENAMEAT:
	case URING_UNLINKAT: /* perhaps a directory */
		__sync_fetch_and_add(&nr_renames, 1);
		return 0;
	case URING_CONNECT:
	case URING_BIND:
	case URING_LISTEN:
		if (event_wanted(TRACE_EV_sock_endpoints))
			put_endpoints(FIELD((struct io_kiocb *)request, file), -1);
		return 0;
	default:
		return 0;
	}
}

static __always_inline void submitted(struct io_kiocb *req)
{
	u64 address = (u64)req;
	struct uring_label label;

	if (!current_passes())
		return;
	if (FIELD(req, opcode) == URING_ACCEPT) {
		label.ring = (u64)FIELD(req, ctx);
		label.user_data = FIELD(req, cqe.user_data);
		bpf_map_update_elem(&uring_accepts, &label, &address, BPF_ANY);
	}
	RECORD(uring_submit) {
		record->req = (u64)req;
		record->user_data = FIELD(req, cqe.user_data);
		record->opcode = FIELD(req, opcode);
		record->flags = FIELD(req, flags);
		record->fd = FIELD(req, cqe.fd);
		record->seen = BPF_CORE_READ(req, ctx, rings, cq.head);
		COMMIT(uring_submit);
	}
}

SEC("event/io_uring_submit_req")
int BPF_PROG(uring_submit, struct io_kiocb *req)
{
	submitted(req);
	return 0;
}

/* Its name as of 6.1. */
SEC("event/io_uring_submit_sqe")
int BPF_PROG(uring_submit__sqe, struct io_kiocb *req)
{
	submitted(req);
	return 0;
}

/* @request: NULL for a message from another ring, or one of several results */
static __always_inline void completed(struct io_ring_ctx *ring, struct io_kiocb *request, u64 user_data, s32 result,
				      u32 flags)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = control_of_cpu(false, cpu);
	struct uring_label label;
	u64 *accepts;

	if (!control || !current_passes())
		return;
	flush_deferred(control, cpu);
	label.ring = (u64)ring;
	label.user_data = user_data;
	/* its last result: the program may now use this user_data for another request */
	if (request && FIELD(request, opcode) == URING_ACCEPT) {
		bpf_map_delete_elem(&uring_accepts, &label);
	} else if (!request && result >= 0) {
		accepts = bpf_map_lookup_elem(&uring_accepts, &label);
		request = accepts ? (struct io_kiocb *)*accepts : NULL;
	}
	if (request && result >= 0)
		record_uring_result((u64)request, FIELD(request, opcode), result);
	if (request && (FIELD(request, flags) & URING_FIXED_FILE) && event_wanted(TRACE_EV_uring_file))
		record_uring_file((u64)request);
	RECORD(uring_complete) {
		record->req = (u64)request;
		record->user_data = user_data;
		record->res = result;
		record->flags = flags;
		record->position = FIELD(ring, cached_cq_tail);
		COMMIT(uring_complete);
	}
}

SEC("event/io_uring_complete")
int BPF_PROG(uring_complete, struct io_ring_ctx *ring, void *req, struct io_uring_cqe *cqe)
{
	completed(ring, req, FIELD(cqe, user_data), FIELD(cqe, res), FIELD(cqe, flags));
	return 0;
}

/* As of 6.1: the entry's values, one by one. */
SEC("event/io_uring_complete")
int BPF_PROG(uring_complete__values, void *ring, void *req, u64 user_data, int result, unsigned int flags)
{
	completed(ring, req, user_data, result, flags);
	return 0;
}

SEC("event/io_uring_queue_async_work")
int BPF_PROG(uring_async, struct io_kiocb *req, int rw)
{
	if (!current_passes())
		return 0;
	/* the kernel has looked the file up by now, and a worker may wait for it */
	if ((FIELD(req, flags) & URING_FIXED_FILE) && event_wanted(TRACE_EV_uring_file))
		put_uring_file(req);
	RECORD(uring_async) {
		record->req = (u64)req;
		record->opcode = FIELD(req, opcode);
		record->pad = 0;
		COMMIT(uring_async);
	}
	return 0;
}

SEC("event/io_uring_poll_arm")
int BPF_PROG(uring_poll, struct io_kiocb *req, int mask, int events)
{
	if (!current_passes())
		return 0;
	RECORD(uring_poll) {
		record->req = (u64)req;
		record->opcode = FIELD(req, opcode);
		record->mask = events;
		COMMIT(uring_poll);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* fs.bpf.c - the page cache, writeback and io_uring. Files are told by device and inode. */

SEC("tp_btf/folio_wait_writeback")
int BPF_PROG(fs_writeback_wait, struct folio *folio, struct address_space *mapping)
{
	struct inode *inode;

	if (!mapping || !current_passes())
		return 0;
	inode = BPF_CORE_READ(mapping, host);
	RECORD(fs_writeback_wait) {
		record->ino = BPF_CORE_READ(inode, i_ino);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->pad = 0;
		record->index = BPF_CORE_READ(folio, index);
		COMMIT(fs_writeback_wait);
	}
	return 0;
}

/* Its arguments change between kernels: programs.c leaves it out where they are not these. */
SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(fs_throttle, struct bdi_writeback *wb, struct dirty_throttle_control *dtc, unsigned long dirty_ratelimit,
	     unsigned long task_ratelimit, unsigned long dirtied, unsigned long period, long pause, unsigned long start_time)
{
	if (!current_passes())
		return 0;
	RECORD(fs_throttle) {
		record->pause_ms = pause;
		COMMIT(fs_throttle);
	}
	return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fs_fault, struct address_space *mapping, unsigned long index)
{
	struct inode *inode;

	if (!current_passes() || own_event(current_task()))
		return 0;
	inode = mapping->host;
	RECORD(fs_fault) {
		record->ino = inode->i_ino;
		record->dev = inode->i_sb->s_dev;
		record->pad = 0;
		record->index = index;
		COMMIT(fs_fault);
	}
	return 0;
}

#define CACHE_PROGRAM(event, tracepoint)                                                                                         \
	SEC("tp_btf/" #tracepoint)                                                                                               \
	int BPF_PROG(event, struct folio *folio)                                                                                 \
	{                                                                                                                        \
		struct inode *inode;                                                                                             \
                                                                                                                                 \
		if (!current_passes())                                                                                           \
			return 0;                                                                                                \
		inode = BPF_CORE_READ(folio, mapping, host);                                                                     \
		RECORD(event) {                                                                                                  \
			record->ino = BPF_CORE_READ(inode, i_ino);                                                               \
			record->dev = BPF_CORE_READ(inode, i_sb, s_dev);                                                         \
			record->order = 0;                                                                                       \
			record->index = BPF_CORE_READ(folio, index);                                                             \
			COMMIT(event);                                                                                           \
		}                                                                                                                \
		return 0;                                                                                                        \
	}
CACHE_PROGRAM(fs_cache_add, mm_filemap_add_to_page_cache)
CACHE_PROGRAM(fs_cache_delete, mm_filemap_delete_from_page_cache)

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(uring_submit, struct io_kiocb *req)
{
	if (!current_passes())
		return 0;
	RECORD(uring_submit) {
		record->req = (u64)req;
		record->user_data = BPF_CORE_READ(req, cqe.user_data);
		record->opcode = BPF_CORE_READ(req, opcode);
		record->flags = BPF_CORE_READ(req, flags);
		record->fd = BPF_CORE_READ(req, cqe.fd);
		record->pad = 0;
		COMMIT(uring_submit);
	}
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(uring_complete, struct io_ring_ctx *ring, void *req, struct io_uring_cqe *cqe)
{
	if (!current_passes())
		return 0;
	RECORD(uring_complete) {
		record->req = (u64)req;
		record->user_data = BPF_CORE_READ(cqe, user_data);
		record->res = BPF_CORE_READ(cqe, res);
		COMMIT(uring_complete);
	}
	return 0;
}

SEC("tp_btf/io_uring_queue_async_work")
int BPF_PROG(uring_async, struct io_kiocb *req, int rw)
{
	if (!current_passes())
		return 0;
	RECORD(uring_async) {
		record->req = (u64)req;
		record->opcode = BPF_CORE_READ(req, opcode);
		record->pad = 0;
		COMMIT(uring_async);
	}
	return 0;
}

SEC("tp_btf/io_uring_poll_arm")
int BPF_PROG(uring_poll, struct io_kiocb *req, int mask, int events)
{
	if (!current_passes())
		return 0;
	RECORD(uring_poll) {
		record->req = (u64)req;
		record->opcode = BPF_CORE_READ(req, opcode);
		record->mask = events;
		COMMIT(uring_poll);
	}
	return 0;
}

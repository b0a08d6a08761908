/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* fs.bpf.c - the page cache and writeback. Device and inode identify a file. */

SEC("event/folio_wait_writeback")
int BPF_PROG(fs_writeback_wait, struct folio *folio, struct address_space *mapping)
{
	struct inode *inode;

	if (!mapping || !current_passes())
		return 0;
	inode = FIELD(mapping, host);
	RECORD(fs_writeback_wait) {
		record->ino = FIELD(inode, i_ino);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->pad = 0;
		record->index = FIELD(folio, index);
		COMMIT(fs_writeback_wait);
	}
	return 0;
}

/* A program that syncs its file has a system call for that. */
SEC("event/writeback_single_inode")
int BPF_PROG(fs_writeback, struct inode *inode, struct writeback_control *wbc, unsigned long nr_to_write)
{
	if (!(current_task()->flags & PF_KTHREAD) || !current_passes())
		return 0;
	RECORD(fs_writeback) {
		record->ino = inode->i_ino;
		record->dev = inode->i_sb->s_dev;
		record->pages = nr_to_write - wbc->nr_to_write;
		record->more = wbc->nr_to_write <= 0 || wbc->pages_skipped > 0;
		record->pad = 0;
		COMMIT(fs_writeback);
	}
	return 0;
}

static __always_inline void throttled(long pause)
{
	if (!current_passes())
		return;
	RECORD(fs_throttle) {
		record->pause_ms = pause;
		COMMIT(fs_throttle);
	}
}

/* Its arguments change between kernels: programs.c takes the variant with the
 * right number of them, or none. */
SEC("event/balance_dirty_pages")
int BPF_PROG(fs_throttle, struct bdi_writeback *wb, struct dirty_throttle_control *dtc, unsigned long dirty_ratelimit,
	     unsigned long task_ratelimit, unsigned long dirtied, unsigned long period, long pause,
	     unsigned long start_time)
{
	throttled(pause);
	return 0;
}

SEC("event/balance_dirty_pages")
int BPF_PROG(fs_throttle__limits, struct bdi_writeback *wb, unsigned long thresh, unsigned long bg_thresh,
	     unsigned long dirty, unsigned long bdi_thresh, unsigned long bdi_dirty, unsigned long dirty_ratelimit,
	     unsigned long task_ratelimit, unsigned long dirtied, unsigned long period, long pause,
	     unsigned long start_time)
{
	throttled(pause);
	return 0;
}

SEC("event/mm_filemap_fault")
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

/* As folio_order(), include/linux/mm.h. The flags of a folio are its first
 * word, whatever their type. */
static __always_inline u32 order_of(struct folio *folio)
{
	unsigned long flags = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 0;
	if (bpf_core_field_exists(folio->_folio_order))
		return FIELD(folio, _folio_order);
	return FIELD(folio, _flags_1) & 0xff;
}

#define CACHE_PROGRAM(event, tracepoint)                                 \
	SEC("event/" #tracepoint)                                        \
	int BPF_PROG(event, struct folio *folio)                         \
	{                                                                \
		struct inode *inode;                                     \
                                                                         \
		if (!current_passes())                                   \
			return 0;                                        \
		inode = BPF_CORE_READ(folio, mapping, host);             \
		RECORD(event) {                                          \
			record->ino = FIELD(inode, i_ino);               \
			record->dev = BPF_CORE_READ(inode, i_sb, s_dev); \
			record->order = order_of(folio);                 \
			record->index = FIELD(folio, index);             \
			COMMIT(event);                                   \
		}                                                        \
		return 0;                                                \
	}
CACHE_PROGRAM(fs_cache_add, mm_filemap_add_to_page_cache)
CACHE_PROGRAM(fs_cache_delete, mm_filemap_delete_from_page_cache)

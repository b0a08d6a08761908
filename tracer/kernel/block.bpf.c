/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* block.bpf.c - requests to block devices, from the queue to their completion. */

static __always_inline u32 request_dev(struct request *rq)
{
	struct gendisk *disk;

	if (bpf_core_field_exists(struct request_queue, disk))
		disk = BPF_CORE_READ(rq, q, disk);
	else
		disk = BPF_CORE_READ((struct request___pre_5_17 *)rq, rq_disk);
	return disk ? (u32)BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

/* A flush, or a command of a driver, has no sector: ~0 in the kernel, 0 in its tracepoints. */
static __always_inline u64 request_sector(struct request *rq)
{
	u64 sector = rq->__sector;

	return sector == ~0ULL ? 0 : sector;
}

/*
 * The files whose pages a request writes: where on the disk a file is, no event says, but each page
 * in the page cache knows its inode. A request is a list of bios, because the kernel merges
 * neighbouring blocks. A bio has pages of one file.
 *
 * Example: a flusher writes 8 KiB of /a and 4 KiB of /b, which are neighbours on the disk: one
 * request of 12 KiB, with two bios. block_file says "/a: 8192" and "/b: 4096".
 */
#define REQUEST_BIOS  64
#define REQUEST_FILES 8
#define MAPPING_FLAGS 3ul /* PAGE_MAPPING_FLAGS (linux/page-flags.h): no mapping of a file's */
#define REQ_OP_BITS   0xff
#define REQ_OP_WRITE  1
#define REQ_SYNC      (1u << 11) /* include/linux/blk_types.h: a thread waits for it */

struct request_files {
	struct bio *bio; /* the next one */
	u64 request;
	u32 nr;
	struct request_file {
		struct inode *inode;
		u64 bytes;
	} files[REQUEST_FILES];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct request_files);
} request_files SEC(".maps");

/* The file of the first page of @bio; NULL: it is of none, as a direct write's. */
static __always_inline struct inode *inode_of_bio(struct bio *bio)
{
	struct bio_vec *vector = FIELD(bio, bi_io_vec);
	struct page *page;
	u64 head, mapping;

	if (!vector)
		return NULL;
	vector = (void *)vector + (u64)FIELD(bio, bi_iter.bi_idx) * bpf_core_type_size(struct bio_vec);
	page = FIELD(vector, bv_page);
	head = page ? NUMBER(page, compound_head) : 0;
	if (head & 1)
		page = (void *)(head - 1);
	mapping = page ? NUMBER(page, mapping) : 0;
	if (!mapping || mapping & MAPPING_FLAGS)
		return NULL;
	return FIELD((struct address_space *)mapping, host);
}

/* Indices are masked for the verifier, which forgets a comparison when a number is loaded again. */
static long bio_step(u32 index, struct request_files **context)
{
	struct request_files *f = *context;
	struct bio *bio = f->bio;
	u32 nr = f->nr, last = (nr - 1) & (REQUEST_FILES - 1);
	struct inode *inode;
	u32 bytes;

	if (!bio)
		return 1;
	inode = inode_of_bio(bio);
	bytes = FIELD(bio, bi_iter.bi_size);
	f->bio = FIELD(bio, bi_next);
	if (nr && f->files[last].inode == inode) {
		f->files[last].bytes += bytes;
		return 0;
	}
	if (nr >= REQUEST_FILES)
		return 1;
	f->nr = nr + 1;
	barrier_var(nr);
	nr &= REQUEST_FILES - 1;
	f->files[nr].inode = inode;
	f->files[nr].bytes = bytes;
	return 0;
}

/* Global functions are verified once, and have a stack frame of their own. */
__noinline int tell_request_file(u32 idx)
{
	u32 zero = 0;
	struct request_files *f = bpf_map_lookup_elem(&request_files, &zero);
	struct inode *inode;
	u32 bytes;

	if (!f)
		return 0;
	idx &= REQUEST_FILES - 1;
	inode = f->files[idx].inode;
	bytes = f->files[idx].bytes;
	if (!inode)
		return 0;
	RECORD(block_file) {
		record->ino = FIELD(inode, i_ino);
		record->request = f->request;
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->bytes = bytes;
		COMMIT(block_file);
	}
	return 0;
}

__noinline int tell_request_files(void)
{
	u32 zero = 0;
	struct request_files *f = bpf_map_lookup_elem(&request_files, &zero);

	if (!f)
		return 0;
	bpf_loop(REQUEST_BIOS, bio_step, &f, 0);
	for (u32 i = 0; i < REQUEST_FILES && i < f->nr; i++)
		tell_request_file(i);
	return 0;
}

/* A direct write, or that of a program that waits for it, is of the program: it needs no more. */
static __always_inline void note_request_files(struct request *rq)
{
	u32 flags = rq->cmd_flags, zero = 0;
	struct request_files *f;

	if ((flags & REQ_OP_BITS) != REQ_OP_WRITE || (flags & REQ_SYNC && !(current_task()->flags & PF_WQ_WORKER)) ||
	    !event_wanted(TRACE_EV_block_file))
		return;
	f = bpf_map_lookup_elem(&request_files, &zero);
	if (!f)
		return;
	f->bio = FIELD(rq, bio); /* global functions do not accept pointers */
	f->request = (u64)rq;
	f->nr = 0;
	tell_request_files();
}

#define REQUEST_PROGRAM(event, tracepoint, behind)           \
	SEC("event/" #tracepoint)                            \
	int BPF_PROG(event, struct request *rq)              \
	{                                                    \
		if (!current_passes())                       \
			return 0;                            \
		RECORD(event) {                              \
			record->sector = request_sector(rq); \
			record->dev = request_dev(rq);       \
			record->bytes = rq->__data_len;      \
			record->op = rq->cmd_flags;          \
			record->pad = 0;                     \
			record->request = (u64)rq;           \
			COMMIT(event);                       \
		}                                            \
		behind(rq);                                  \
		return 0;                                    \
	}
#define NOTHING_BEHIND(rq)
REQUEST_PROGRAM(block_issue, block_rq_issue, note_request_files)
REQUEST_PROGRAM(block_insert, block_rq_insert, NOTHING_BEHIND)

SEC("event/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, u8 error, unsigned int bytes)
{
	if (!current_passes())
		return 0;
	RECORD(block_complete) {
		record->sector = request_sector(rq);
		record->dev = request_dev(rq);
		record->bytes = bytes;
		record->op = rq->cmd_flags;
		record->error = error ? -5 : 0; /* a blk_status_t; any value except BLK_STS_OK is an I/O error here */
		record->request = (u64)rq;
		COMMIT(block_complete);
	}
	return 0;
}

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

#define REQUEST_PROGRAM(event, tracepoint)                   \
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
		return 0;                                    \
	}
REQUEST_PROGRAM(block_issue, block_rq_issue)
REQUEST_PROGRAM(block_insert, block_rq_insert)

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

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* memory.bpf.c - pages, reclaim, compaction and the OOM killer. */

SEC("event/mm_page_alloc")
int BPF_PROG(page_alloc, struct page *page, unsigned int order, unsigned int gfp)
{
	if (!current_passes())
		return 0;
	RECORD(page_alloc) {
		record->page = (u64)page;
		record->order = order;
		record->gfp = gfp;
		COMMIT(page_alloc);
	}
	return 0;
}

SEC("event/mm_page_free")
int BPF_PROG(page_free, struct page *page, unsigned int order)
{
	if (!current_passes())
		return 0;
	RECORD(page_free) {
		record->page = (u64)page;
		record->order = order;
		record->pad = 0;
		COMMIT(page_free);
	}
	return 0;
}

#define RECLAIM_PROGRAMS(name, tracepoint, of_memcg)               \
	SEC("event/" #tracepoint "_begin")                         \
	int BPF_PROG(reclaim_begin__##name, int order)             \
	{                                                          \
		if (!current_passes())                             \
			return 0;                                  \
		RECORD(reclaim_begin) {                            \
			record->order = order;                     \
			record->memcg = of_memcg;                  \
			COMMIT(reclaim_begin);                     \
		}                                                  \
		return 0;                                          \
	}                                                          \
	SEC("event/" #tracepoint "_end")                           \
	int BPF_PROG(reclaim_end__##name, unsigned long reclaimed) \
	{                                                          \
		if (!current_passes())                             \
			return 0;                                  \
		RECORD(reclaim_end) {                              \
			record->reclaimed = reclaimed;             \
			record->memcg = of_memcg;                  \
			record->pad = 0;                           \
			COMMIT(reclaim_end);                       \
		}                                                  \
		return 0;                                          \
	}
RECLAIM_PROGRAMS(direct, mm_vmscan_direct_reclaim, 0)
RECLAIM_PROGRAMS(memcg, mm_vmscan_memcg_reclaim, 1)

SEC("event/mm_vmscan_kswapd_wake")
int BPF_PROG(kswapd_wake, int node, int zone, int order)
{
	if (!current_passes())
		return 0;
	RECORD(kswapd_wake) {
		record->node = node;
		record->order = order;
		COMMIT(kswapd_wake);
	}
	return 0;
}

SEC("event/mm_vmscan_kswapd_sleep")
int BPF_PROG(kswapd_sleep, int node)
{
	if (!current_passes())
		return 0;
	RECORD(kswapd_sleep) {
		record->node = node;
		record->pad = 0;
		COMMIT(kswapd_sleep);
	}
	return 0;
}

SEC("event/mark_victim")
int BPF_PROG(oom_kill, struct task_struct *victim)
{
	if (!current_passes())
		return 0;
	RECORD(oom_kill) {
		record->pid = BPF_CORE_READ(victim, pid);
		record->pad = 0;
		COMMIT(oom_kill);
	}
	return 0;
}

SEC("event/mm_compaction_begin")
int BPF_PROG(compact_begin, void *control, unsigned long start, unsigned long end, bool sync)
{
	if (!current_passes())
		return 0;
	RECORD(compact_begin) {
		record->sync = sync;
		record->pad = 0;
		COMMIT(compact_begin);
	}
	return 0;
}

SEC("event/mm_compaction_end")
int BPF_PROG(compact_end, void *control, unsigned long start, unsigned long end, bool sync, int status)
{
	if (!current_passes())
		return 0;
	RECORD(compact_end) {
		record->status = status;
		record->pad = 0;
		COMMIT(compact_end);
	}
	return 0;
}

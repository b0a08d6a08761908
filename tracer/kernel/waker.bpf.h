/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* waker.bpf.h - what wakes a thread: a thread, or an interrupt that runs above any one. */

/* preempt_count of this CPU, which has the ring @control; it tells whether an interrupt runs. For
 * its address see run_queue(). */
#if defined(__TARGET_ARCH_x86)
static __always_inline u32 preempt_count(struct subbuf_control *control)
{
	u64 queue = run_queue(control);
	u32 count = 0;

	if (!config.preempt_count_distance)
		return 0;
	if (queue)
		return word_at(queue + config.preempt_count_distance);
	bpf_probe_read_kernel(&count, sizeof(count),
			      (void *)current_task()->se.cfs_rq->rq + config.preempt_count_distance);
	return count;
}
#else
static __always_inline u32 preempt_count(struct subbuf_control *control)
{
	return current_task()->thread_info.preempt_count;
}
#endif

/* The real context of a wakeup; the bits of preempt_count, include/linux/preempt.h. */
static __always_inline u32 waker_context(struct subbuf_control *control)
{
	u32 count = preempt_count(control);

	if (count & 0x00f00000)
		return TRACE_CONTEXT_NMI;
	if (count & 0x000f0000)
		return TRACE_CONTEXT_HARDIRQ;
	if (count & 0x00000100)
		return TRACE_CONTEXT_SOFTIRQ;
	return TRACE_CONTEXT_TASK;
}

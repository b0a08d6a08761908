/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* timer.bpf.c - high-resolution timers, timers and interval timers. */

SEC("event/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire, struct hrtimer *timer, s64 *now)
{
	if (!current_passes())
		return 0;
	count_function(TRACER_COUNT_HRTIMER, (u64)timer->function);
	RECORD(hrtimer_expire) {
		record->timer = (u64)timer;
		record->func = (u64)timer->function;
		COMMIT(hrtimer_expire);
	}
	return 0;
}

SEC("event/hrtimer_expire_exit")
int BPF_PROG(hrtimer_done, struct hrtimer *timer)
{
	if (!current_passes())
		return 0;
	RECORD(hrtimer_done) {
		record->timer = (u64)timer;
		COMMIT(hrtimer_done);
	}
	return 0;
}

SEC("event/hrtimer_start")
int BPF_PROG(hrtimer_start, struct hrtimer *timer)
{
	if (!current_passes())
		return 0;
	RECORD(hrtimer_start) {
		record->timer = (u64)timer;
		record->func = (u64)timer->function;
		record->expires_ns = timer->node.expires;
		COMMIT(hrtimer_start);
	}
	return 0;
}

SEC("event/timer_expire_entry")
int BPF_PROG(timer_expire, struct timer_list *timer)
{
	if (!current_passes())
		return 0;
	count_function(TRACER_COUNT_TIMER, (u64)timer->function);
	RECORD(timer_expire) {
		record->timer = (u64)timer;
		record->func = (u64)timer->function;
		COMMIT(timer_expire);
	}
	return 0;
}

SEC("event/timer_expire_exit")
int BPF_PROG(timer_done, struct timer_list *timer)
{
	if (!current_passes())
		return 0;
	RECORD(timer_done) {
		record->timer = (u64)timer;
		COMMIT(timer_done);
	}
	return 0;
}

SEC("event/timer_start")
int BPF_PROG(timer_start, struct timer_list *timer)
{
	if (!current_passes())
		return 0;
	RECORD(timer_start) {
		record->timer = (u64)timer;
		record->func = (u64)timer->function;
		record->expires_jiffies = timer->expires;
		COMMIT(timer_start);
	}
	return 0;
}

SEC("event/itimer_state")
int BPF_PROG(itimer_set, int which, struct itimerspec64 *value)
{
	if (!current_passes())
		return 0;
	RECORD(itimer_set) {
		record->which = which;
		record->pad = 0;
		record->value_ns = BPF_CORE_READ(value, it_value.tv_sec) * 1000000000ULL +
				   BPF_CORE_READ(value, it_value.tv_nsec);
		record->interval_ns = BPF_CORE_READ(value, it_interval.tv_sec) * 1000000000ULL +
				      BPF_CORE_READ(value, it_interval.tv_nsec);
		COMMIT(itimer_set);
	}
	return 0;
}

SEC("event/itimer_expire")
int BPF_PROG(itimer_expire, int which, struct pid *pid)
{
	if (!current_passes())
		return 0;
	RECORD(itimer_expire) {
		record->which = which;
		record->pid = BPF_CORE_READ(pid, numbers[0].nr);
		COMMIT(itimer_expire);
	}
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLUSH_H
#define DAEMON_FLUSH_H
/*
 * flush.h - how often sub-buffers that are not full are written all the same.
 *
 * Seldom enough that an idle machine costs nothing, often enough that a daemon that is killed loses little: once a second while events come,
 * an eighth as often each time the flush found nearly nothing, and every 256 s when it found nothing at all. A sub-buffer that becomes full then
 * wakes the daemon by itself. When that took long it was no burst, and there is no reason to look more often than it does. While flushes come once
 * a second it takes half a ring: what is full waits no longer than what is not.
 */
#include <stdbool.h>
#include <stdint.h>

#define FLUSH_MIN_NS	   1000000000ull
#define FLUSH_MAX_NS	   (256 * FLUSH_MIN_NS)
#define FLUSH_SLOWER	   8
#define FLUSH_NEARLY_EMPTY 64 /* of 1024: a sixteenth */
#define FLUSH_NEVER	   UINT64_MAX

/** struct flush - @fixed_ns: what the user wants, FLUSH_NEVER, or 0 = adapt. @period_ns: until the next flush, from @begin_ns on */
struct flush {
	uint64_t fixed_ns;
	uint64_t period_ns;
	uint64_t begin_ns;
};

static inline struct flush flush_init(uint64_t fixed_ns)
{
	return (struct flush){.fixed_ns = fixed_ns, .period_ns = fixed_ns ? fixed_ns : FLUSH_MIN_NS};
}

/** flush_is_often() - may what is full wait for it? */
static inline bool flush_is_often(const struct flush *flush)
{
	return flush->period_ns <= FLUSH_MIN_NS;
}

/** flush_flushed() - @fill: how full the fullest sub-buffer was, in 1/1024; 0: there was nothing in any */
static inline void flush_flushed(struct flush *flush, uint32_t fill)
{
	if (flush->fixed_ns)
		return;
	if (fill >= FLUSH_NEARLY_EMPTY)
		flush->period_ns = FLUSH_MIN_NS;
	else if (fill == 0 || flush->period_ns > FLUSH_MAX_NS / FLUSH_SLOWER)
		flush->period_ns = FLUSH_MAX_NS;
	else
		flush->period_ns *= FLUSH_SLOWER;
}

/** flush_filled() - a sub-buffer became full. Returns true when the timer must be set again, to a shorter period */
static inline bool flush_filled(struct flush *flush, uint64_t now_ns)
{
	bool slow = now_ns - flush->begin_ns >= flush->period_ns / FLUSH_SLOWER;

	if (flush->fixed_ns || flush->period_ns == FLUSH_MIN_NS || (slow && flush->period_ns == FLUSH_MAX_NS))
		return false;
	flush->period_ns = FLUSH_MIN_NS;
	return true;
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLUSH_H
#define DAEMON_FLUSH_H
/*
 * flush.h - how often sub-buffers that are not full are flushed.
 *
 * Rarely enough that an idle machine costs nothing, often enough that a killed daemon loses little.
 * While events come, the period is 1 s. Each flush that finds less than 1/16 of a sub-buffer makes
 * the period 8 times longer, up to 256 s; a flush that finds nothing sets it to 256 s at once.
 *
 * A full sub-buffer wakes the daemon by itself and sets the period to 1 s. If the period is 256 s
 * and at least 32 s of it have passed, the sub-buffer did not fill in a burst, and the period
 * stays. While the period is 1 s, only half a full ring wakes the daemon: a full sub-buffer then
 * waits no longer than one that is not full.
 */
#include <stdbool.h>
#include <stdint.h>

#define FLUSH_MIN_NS	   1000000000ull
#define FLUSH_MAX_NS	   (256 * FLUSH_MIN_NS)
#define FLUSH_SLOWER	   8
#define FLUSH_NEARLY_EMPTY 64 /* of 1024: a sixteenth */
#define FLUSH_NEVER	   UINT64_MAX

/**
 * struct flush - @fixed_ns: set by the user: a period, or FLUSH_NEVER; 0: adapt. @period_ns: time
 * from @begin_ns to the next flush
 */
struct flush {
	uint64_t fixed_ns;
	uint64_t period_ns;
	uint64_t begin_ns;
};

static inline struct flush flush_init(uint64_t fixed_ns)
{
	return (struct flush){.fixed_ns = fixed_ns, .period_ns = fixed_ns ? fixed_ns : FLUSH_MIN_NS};
}

/** flush_is_often() - may full sub-buffers wait for the next flush? */
static inline bool flush_is_often(const struct flush *flush)
{
	return flush->period_ns <= FLUSH_MIN_NS;
}

/**
 * flush_flushed() - set the period after a flush. @fill: how full the fullest sub-buffer was, in
 * 1/1024; 0: all were empty
 */
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

/**
 * flush_filled() - a sub-buffer became full. Returns true if the caller must set the timer to a
 * shorter period
 */
static inline bool flush_filled(struct flush *flush, uint64_t now_ns)
{
	bool slow = now_ns - flush->begin_ns >= flush->period_ns / FLUSH_SLOWER;

	if (flush->fixed_ns || flush->period_ns == FLUSH_MIN_NS || (slow && flush->period_ns == FLUSH_MAX_NS))
		return false;
	flush->period_ns = FLUSH_MIN_NS;
	return true;
}
#endif

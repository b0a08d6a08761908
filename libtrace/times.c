/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times.c - times as numbers of clock steps and back, and how the step is found.
 *
 * After K steps the clock should stand at  phase + K * step + (K odd ? odd : 0),  of which the ns are the integer part. `odd` is there
 * because a step may be a whole number of half cycles only (24.5 at 2.45 GHz), and cycles, too, are rounded down. Where an
 * event's time is another, a correction says by how much, and moves the phase just so far that it fits: that follows the small
 * adjustments of the kernel to its clock. Real recordings need a correction for 1-3 % of the events, 10 % without `odd`.
 *
 * The numbers of steps are written as one byte that holds the size and the three bits behind the first, and the rest as bits:
 * the bytes compress by half, the bits not at all. Measured, real mix, bytes per event: 1.74 as ns in planes, 1.25 so.
 *
 * The step is found once, in the first large block, by looking for the period that the differences between events are
 * multiples of, and then improved with each block: over all short intervals of a block the ns are divided by the steps. A
 * wrong step costs bytes, but never a ns: corrections make up for it, and a block that needs too many is written with steps of 1 ns.
 */
#include "times.h"

#include <math.h>
#include <string.h>

enum {
	SEARCH_LEAST_EVENTS = 512,
	SEARCH_NS = 1024, /* differences below are looked at */
	SEARCH_LEAST_VALUES = 32, /* different ones: a few regular intervals tell nothing about the clock */
	INTERVAL_NS = 1 << 20, /* in longer ones an error of the step would make a wrong number of steps */
	CORRECTION_SKIP = 255,
	MISFITS_MOST = 8,
	ODD_LEAST_EVENTS = 32,
	PAUSE_NS = 100000,
};

/* ---- the search for a step ---- */

/** struct differences - those that occur, and how often */
struct differences {
	uint32_t ns[SEARCH_NS];
	float count[SEARCH_NS];
	size_t nr;
	float all;
};

static void differences_count(struct differences *differences, const uint32_t *times, size_t n)
{
	uint32_t count[SEARCH_NS] = { 0 };

	for (size_t i = 1; i < n; i++)
		if (times[i] - times[i - 1] < SEARCH_NS)
			count[times[i] - times[i - 1]]++;
	differences->nr = 0;
	differences->all = 0;
	for (uint32_t ns = 1; ns < SEARCH_NS; ns++) {
		if (!count[ns])
			continue;
		differences->ns[differences->nr] = ns;
		differences->count[differences->nr++] = (float)count[ns];
		differences->all += (float)count[ns];
	}
}

/* 1 when all are multiples of @period, about 0 when they have nothing to do with it: one term of a Fourier transform. */
static float differences_fit(const struct differences *differences, double period, const float *cosines)
{
	uint32_t turn = (uint32_t)(4294967296.0 / period);
	float sum = 0;

	for (size_t i = 0; i < differences->nr; i++)
		sum += differences->count[i] * cosines[(differences->ns[i] * turn) >> 24];
	return sum / differences->all;
}

/* The step without regard to what lies between the events that are farther apart than @limit. */
static double step_within(const uint32_t *times, size_t n, double step, double limit)
{
	double ns = 0, steps = 0;

	for (size_t i = 1; i < n; i++) {
		uint32_t difference = times[i] - times[i - 1];

		if (difference > limit)
			continue;
		ns += difference;
		steps += nearbyint(difference / step);
	}
	return steps > 0 ? ns / steps : step;
}

/* Steps of 4 to 64 ns are looked for: a finer one gains nothing, a coarser one is known to nobody. 0: there is none. */
static double step_search(const uint32_t *times, size_t n)
{
	struct differences differences;
	float cosines[256], fit, best = 0.8f;
	double step = 0;

	differences_count(&differences, times, n);
	if (differences.nr < SEARCH_LEAST_VALUES)
		return 0;
	for (int i = 0; i < 256; i++)
		cosines[i] = cosf((float)i * (float)(2 * M_PI / 256));
	for (double period = 4; period < 64; period += period * period / (8 * SEARCH_NS)) {
		fit = differences_fit(&differences, period, cosines);
		if (fit <= best)
			continue;
		best = fit;
		step = period;
	}
	for (double limit = SEARCH_NS; step > 0 && limit <= INTERVAL_NS; limit *= 8)
		step = step_within(times, n, step, limit);
	return step;
}

/* ---- the model ---- */

static uint64_t model_step(struct clock_model *model, const uint32_t *times, size_t n)
{
	uint64_t step;

	if (!model)
		return TIMES_NS;
	pthread_mutex_lock(&model->lock);
	if (!model->step && n >= SEARCH_LEAST_EVENTS && model->blocks++ >= model->next_search) {
		model->next_search = 2 * model->blocks; /* a clock without steps is not searched for ever */
		model->step = (uint64_t)(step_search(times, n) * TIMES_NS);
		model->seen_ns = 0;
		model->misfits = 0;
	}
	step = model->step ? model->step : TIMES_NS;
	pthread_mutex_unlock(&model->lock);
	return step;
}

/* What a block says of the step counts by its length, against the last seconds. */
static uint64_t model_learn(struct clock_model *model, uint64_t step, uint64_t ns, uint64_t steps)
{
	double seen = (double)ns / (double)(steps ? steps : 1) * TIMES_NS;

	if (!model || step == TIMES_NS || !steps || fabs(seen / (double)step - 1) > 1e-3)
		return step;
	pthread_mutex_lock(&model->lock);
	if (model->step) {
		step = (uint64_t)(((double)model->step * model->seen_ns + seen * (double)ns) / (model->seen_ns + (double)ns));
		model->step = step;
		model->seen_ns = fmin(model->seen_ns + (double)ns, 4e9);
	}
	pthread_mutex_unlock(&model->lock);
	return step;
}

static void model_judge(struct clock_model *model, bool fits)
{
	pthread_mutex_lock(&model->lock);
	model->misfits = fits ? 0 : model->misfits + 1;
	if (model->misfits >= MISFITS_MOST)
		model->step = 0;
	pthread_mutex_unlock(&model->lock);
}

/* ---- encode ---- */

/** struct intervals - the short intervals of a block, all together */
struct intervals {
	uint64_t ns;
	uint64_t steps;
};

/* The number of steps from each event to the next. */
static struct intervals count_steps(uint32_t *counts, const uint32_t *times, size_t n, uint64_t step)
{
	struct intervals sums = { 0 };
	uint64_t inverse = step == TIMES_NS ? 1ULL << 32 : (uint64_t)(0x1p64 / (double)step);
	uint32_t before = times[0];

	for (size_t i = 0; i < n; i++) {
		uint64_t ns = times[i] - before, count = (ns * inverse + (1u << 31)) >> 32;
		bool is_short = ns < INTERVAL_NS;

		before = times[i];
		counts[i] = (uint32_t)count;
		sums.ns += is_short ? ns : 0;
		sums.steps += is_short ? count : 0;
	}
	return sums;
}

/* By how much more than the steps between them the times of odd ones are behind those of even ones, as a sum: 2^16 is a ns. Without
 * branches, because odd and even follow each other at random. @parity: of the step of the event before; moved on */
static int64_t sum_odd(const uint32_t *counts, const uint32_t *times, size_t n, uint64_t step, uint32_t *parity, int64_t *nr)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t ns = times[i] - times[(ptrdiff_t)i - 1];
		int64_t longer = (int64_t)(((uint64_t)ns << 32) - counts[i] * step) >> 16, counts_too = counts[i] & 1;

		*parity ^= counts[i] & 1;
		sum += counts_too * (2 * (int64_t)*parity - 1) * longer;
		*nr += counts_too;
	}
	return sum;
}

static size_t pause_after(const uint32_t *times, size_t begin, size_t n)
{
	while (begin < n && times[begin] - times[begin - 1] < PAUSE_NS)
		begin++;
	return begin;
}

/*
 * In a pause the kernel may have adjusted its clock by half a step, and then odd and even have changed places. Where what follows a pause
 * says so, a step more is counted, which a correction takes back. Returns `odd`.
 */
static int32_t find_odd(uint32_t *counts, const uint32_t *times, size_t n, uint64_t step)
{
	int64_t nr_all = 0, all = 0;
	uint32_t parity = counts[0] & 1;

	for (size_t begin = 1; begin < n;) {
		size_t end = pause_after(times, begin, n);
		int64_t nr = 0, sum = sum_odd(counts + begin, times + begin, end - begin, step, &parity, &nr);

		if (nr >= ODD_LEAST_EVENTS && begin > 1 && all && (sum < 0) != (all < 0)) {
			counts[begin - 1]++;
			parity ^= 1;
			sum = -sum;
		}
		if (nr >= ODD_LEAST_EVENTS) {
			all += sum;
			nr_all += nr;
		}
		if (end < n)
			parity ^= counts[end] & 1;
		begin = end + 1;
	}
	return nr_all ? (int32_t)(all / nr_all) : 0;
}

/** struct position - where the clock should stand. Sums are modulo 2^64, in both directions alike */
struct position {
	uint64_t phase;
	uint64_t steps;
	uint64_t step;
	uint64_t odd;
};

static struct position position_first(const struct trace_columns_times *times)
{
	return (struct position){ .phase = TIMES_NS / 2, .step = times->step, .odd = (uint64_t)((int64_t)times->odd * 65536) };
}

static inline uint64_t position_now(const struct position *position)
{
	return position->phase + position->steps * position->step + (-(position->steps & 1) & position->odd);
}

/* It should have been @by ns more: the phase moves to the nearest at which it is. */
static inline uint64_t position_correct(struct position *position, uint64_t now, int by)
{
	uint64_t right = ((now >> 32) + (uint64_t)(int64_t)by) << 32 | (by < 0 ? UINT32_MAX : 0);

	position->phase += right - now;
	return right;
}

/** struct corrections - skips and amounts on their way */
struct corrections {
	unsigned char *skips;
	signed char *amounts;
	size_t nr;
	size_t most;
	size_t since; /* the event behind the last one */
};

static bool corrections_add(struct corrections *corrections, size_t event, int64_t amount)
{
	size_t skip = event - corrections->since;

	if (amount < INT8_MIN || amount > INT8_MAX)
		return false;
	for (; skip >= CORRECTION_SKIP; skip -= CORRECTION_SKIP) {
		if (corrections->nr >= corrections->most)
			return false;
		corrections->skips[corrections->nr] = CORRECTION_SKIP;
		corrections->amounts[corrections->nr++] = 0;
	}
	if (corrections->nr >= corrections->most)
		return false;
	corrections->skips[corrections->nr] = (unsigned char)skip;
	corrections->amounts[corrections->nr++] = (signed char)amount;
	corrections->since = event + 1;
	return true;
}

/* False: there are more corrections than steps are worth. */
static bool find_corrections(struct corrections *corrections, const struct trace_columns_times *code, const uint32_t *times,
			     const uint32_t *counts, size_t n)
{
	struct position position = position_first(code);

	for (size_t i = 0; i < n; i++) {
		uint64_t now;

		position.steps += counts[i];
		now = position_now(&position);
		if ((uint32_t)(now >> 32) == times[i])
			continue;
		if (!corrections_add(corrections, i, (int64_t)times[i] - (int64_t)(now >> 32)))
			return false;
		position_correct(&position, now, (int)((int64_t)times[i] - (int64_t)(now >> 32)));
	}
	return true;
}

/* How many bits of @count follow the byte: all but the first four. */
static inline unsigned int count_bits(uint32_t count)
{
	return 28u - (unsigned int)__builtin_clz(count | 8);
}

/* A byte of each number to @bytes, and the bits behind it to @out. */
static unsigned char *put_counts(unsigned char *bytes, unsigned char *out, const uint32_t *counts, size_t n)
{
	uint64_t bits = 0;
	unsigned int nr = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t count = counts[i];
		unsigned int more = count_bits(count);

		bytes[i] = (unsigned char)(8 * more + (count >> more));
		bits |= (uint64_t)(count & ((1u << more) - 1)) << nr;
		nr += more;
		memcpy(out, &bits, 8);
		out += nr / 8;
		bits >>= nr & ~7u;
		nr %= 8;
	}
	memset(out + 1, 0, 8); /* behind the last: a reader may take 8 bytes at once */
	*out = (unsigned char)bits;
	return out + (nr ? 1 : 0) + 8;
}

unsigned char *times_encode(unsigned char *out, const uint32_t *times, size_t n, uint32_t *counts, struct clock_model *model,
			    struct trace_columns_times *ret_times, unsigned char **ret_bits)
{
	uint64_t step = model_step(model, times, n);
	struct intervals sums = count_steps(counts, times, n, step);
	struct trace_columns_times code = { .step = model_learn(model, step, sums.ns, sums.steps) };
	struct corrections corrections = { .skips = out + n, .amounts = (signed char *)out + 2 * n, .most = n / 4 };
	bool fits;

	if (code.step != TIMES_NS)
		code.odd = find_odd(counts, times, n, code.step);
	fits = find_corrections(&corrections, &code, times, counts, n);
	if (step != TIMES_NS && n >= SEARCH_LEAST_EVENTS)
		model_judge(model, fits);
	if (!fits) {
		code = (struct trace_columns_times){ .step = TIMES_NS };
		corrections.nr = 0;
		count_steps(counts, times, n, TIMES_NS);
	}
	memmove(corrections.skips + corrections.nr, corrections.amounts, corrections.nr);
	*ret_bits = corrections.skips + 2 * corrections.nr;
	out = put_counts(out, *ret_bits, counts, n);
	code.nr_corrections = (uint32_t)corrections.nr;
	code.bit_bytes = (uint32_t)(out - *ret_bits);
	*ret_times = code;
	return out;
}

/* ---- decode ---- */

/** struct decoder - @bytes, @skips, @amounts: what is left of them. @at_bit: in @bits */
struct decoder {
	const unsigned char *bytes;
	const unsigned char *skips;
	const signed char *amounts;
	const unsigned char *bits;
	size_t at_bit;
	struct position position;
};

static inline unsigned int byte_bits(unsigned char byte)
{
	return byte / 8u - (byte >= 8);
}

static bool bits_are_there(const unsigned char *bytes, size_t n, size_t bit_bytes)
{
	size_t bits = 0;
	unsigned char highest = 0;

	for (size_t at = 0; at < n; at += 256) {
		uint16_t some = 0; /* 256 times 31 at most */

		for (size_t i = at; i < at + 256 && i < n; i++) {
			some = (uint16_t)(some + byte_bits(bytes[i]));
			highest = highest > bytes[i] ? highest : bytes[i];
		}
		bits += some;
	}
	return highest < 240 && bit_bytes == (bits + 7) / 8 + 8; /* from 240 on a number has more than 32 bits */
}

static inline uint32_t decode_count(struct decoder *decoder)
{
	unsigned char byte = *decoder->bytes++;
	unsigned int nr = byte_bits(byte);
	uint64_t bits;

	memcpy(&bits, decoder->bits + decoder->at_bit / 8, 8);
	bits = bits >> decoder->at_bit % 8 & ((1u << nr) - 1);
	decoder->at_bit += nr;
	return (uint32_t)bits + ((byte - 8 * nr) << nr);
}

/* @n times without a correction. Returns where the clock stands at the last. */
static uint64_t decode_run(struct decoder *decoder, uint64_t *ret_ns, size_t n, uint64_t first_ns)
{
	uint64_t now = 0;

	for (size_t i = 0; i < n; i++) {
		decoder->position.steps += decode_count(decoder);
		now = position_now(&decoder->position);
		ret_ns[i] = first_ns + (now >> 32);
	}
	return now;
}

static bool never_back(const uint64_t *ns, size_t n)
{
	uint64_t back = 0;

	for (size_t i = 1; i < n; i++)
		back |= ns[i] < ns[i - 1];
	return !back;
}

bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times, uint64_t first_ns, size_t n,
		  uint64_t *ret_ns)
{
	size_t room = (size_t)(end - in), nr = times->nr_corrections, done = 0;
	struct decoder decoder = { .bytes = in, .skips = in + n, .position = position_first(times) };

	if (room < n || nr > (room - n) / 2 || times->bit_bytes != room - n - 2 * nr || !bits_are_there(in, n, times->bit_bytes))
		return false;
	decoder.amounts = (const signed char *)in + n + nr;
	decoder.bits = in + n + 2 * nr;
	for (size_t i = 0; i < nr; i++) {
		size_t run = decoder.skips[i] + (decoder.skips[i] != CORRECTION_SKIP);
		uint64_t now;

		if (run > n - done)
			return false;
		now = decode_run(&decoder, ret_ns + done, run, first_ns);
		done += run;
		if (decoder.skips[i] == CORRECTION_SKIP)
			continue;
		ret_ns[done - 1] = first_ns + (position_correct(&decoder.position, now, decoder.amounts[i]) >> 32);
	}
	decode_run(&decoder, ret_ns + done, n - done, first_ns);
	return ret_ns[0] == first_ns && never_back(ret_ns, n);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times.c - encode times as numbers of clock steps, and decode them.
 *
 * Terms. A *step* is the period of the clock, in ns times 2^32. The *phase* is the time of the
 * clock at step 0. A *correction* is the difference between an event's time and the computed one. A
 * *symbol* stands for a range of step counts.
 *
 * The clock. After K steps the clock is at
 *
 *     phase + K * step + (K is odd ? odd : 0)
 *
 * and the time in ns is the integer part. `odd` exists because a step may be a whole number of half
 * cycles (24.5 cycles at 2.45 GHz), and the kernel rounds cycles down, too. If an event's time
 * differs, the encoder stores a correction and moves the phase just enough to make it fit. This
 * follows the kernel's small adjustments of its clock. Real recordings need corrections for 1-3 %
 * of the events; without `odd` it would be 10 %.
 *
 * Example: step 10.02 ns, odd 0, first event at 0 ns (phase 0.5 ns). An event 3 steps later is at
 * 0.5 + 30.06 ns, so at 30 ns. If its time is 31 ns, a correction of +1 moves the phase to 0.94 ns.
 *
 * The code. The number of steps since the previous event becomes the code of a range, and the bits
 * that tell which number of the range it is (times_ranges.h). Intervals depend on what happens, so
 * the code depends on the type of the event, and on the types of the events before it where that
 * pays (times_contexts.h). The codes are stored without further compression. In format 2.4 each
 * type had one code, with fixed ranges of a quarter of an octave: redis-benchmark took 0.72 bytes
 * per event for times, and takes 0.61.
 *
 * The step. It is searched for once, in the first large block (step.h), and refined at the
 * beginning of each block: the ns of all short intervals are divided by their steps. A wrong step
 * costs bytes but never a ns, because corrections make up for it. A block that needs too many
 * corrections is written with steps of 1 ns.
 *
 * The rest is one loop over the events, and one loop for each of four bit streams, so that a reader
 * can decode the four in parallel.
 */
#include "times.h"

#include "clones.h"
#include "step.h"
#include "times_contexts.h"
#include "times_learn.h"
#include "times_ranges.h"

#include <math.h>
#include <string.h>

enum {
	CORRECTION_SKIP = 255,
	MISFITS_MAX = 8,
	PAUSE_NS = 100000,
	LEARN_NS = 100000000, /* until this much time was seen, the model learns from all events of a block, */
	LEARN_EVENTS = 2048,  /* then from this many, which is enough to follow a drifting clock */
	ODD_MIN_EVENTS = 64,  /* consecutive, without a pause, to learn from */
	ODD_MIN = 5000,	      /* 0.08 ns, times 2^16; less may be chance */
	PARITY_EVENTS = 64,   /* events after a pause that show whether odd and even have swapped */
	PARITY_MIN_EVENTS = 16,
	CODE_MIN_EVENTS = 48, /* with fewer, its description takes more bits than it saves */
	CODING_LENGTHS = 0,   /* of format 2.4 and before */
	CODING_RANGES = 1,
	LENGTHS_CODES = 32, /* of CODING_LENGTHS, at most */
	LENGTHS_MIN_EVENTS = 128,
};

/* ---- the model ---- */

static uint64_t model_step(struct clock_model *model, const uint32_t *times, size_t n)
{
	uint64_t step;

	if (!model)
		return TIMES_NS;
	pthread_mutex_lock(&model->lock);
	if (!model->step && n >= STEP_MIN_EVENTS && model->blocks++ >= model->next_search) {
		model->next_search = 2 * model->blocks; /* do not search a clock without steps forever */
		model->step = (uint64_t)(step_search(times, n) * TIMES_NS);
		model->seen_ns = 0;
		model->odd = 0;
		model->misfits = 0;
	}
	step = model->step ? model->step : TIMES_NS;
	pthread_mutex_unlock(&model->lock);
	return step;
}

/**
 * struct times_sums - sums over the short intervals of a block
 * @ns, @steps: their total length
 * @nr_odd, @odd: number of odd intervals, and by how much longer they were in total (2^16: one ns)
 */
struct times_sums {
	uint64_t ns;
	uint64_t steps;
	uint64_t nr_odd;
	uint64_t odd;
};

/** struct scale - conversion from ns to steps; @inverse: steps in 2^32 ns */
struct scale {
	uint64_t step;
	uint64_t inverse;
};

static struct scale scale_of(uint64_t step)
{
	return (struct scale){.step = step, .inverse = step == TIMES_NS ? TIMES_NS : (uint64_t)(0x1p64 / (double)step)};
}

static inline uint32_t scale_count(const struct scale *scale, uint32_t ns)
{
	return (uint32_t)((ns * scale->inverse + (1u << 31)) >> 32);
}

/**
 * struct parity - sum of how much later events after an odd number of steps are than computed,
 * compared with even ones; 2^16 is one ns
 * @now: parity of the previous event's step number
 */
struct parity {
	uint32_t now;
	uint32_t nr;
	int64_t sum;
};

/* Without branches, because odd and even alternate at random. */
static inline void parity_add(struct parity *parity, const struct scale *scale, uint32_t ns, uint32_t count)
{
	int64_t longer = (int64_t)(((uint64_t)ns << 32) - count * scale->step) >> 16, counts_too = count & 1;

	parity->now ^= count & 1;
	parity->sum += counts_too * (2 * (int64_t)parity->now - 1) * longer;
	parity->nr += count & 1;
}

/*
 * Called for each run of events without a pause. Which steps are the odd ones is unknown, so only
 * the size of the difference counts.
 */
static void sums_add_odd(struct times_sums *sums, const struct parity *parity)
{
	if (parity->nr < ODD_MIN_EVENTS)
		return;
	sums->nr_odd += parity->nr;
	sums->odd += (uint64_t)(parity->sum < 0 ? -parity->sum : parity->sum);
}

static struct times_sums sums_of(const uint32_t *times, size_t n, uint64_t step)
{
	struct scale scale = scale_of(step);
	struct times_sums sums = {0};
	struct parity parity = {0};

	for (size_t i = 1; i < n; i++) {
		uint32_t ns = times[i] - times[i - 1], count = scale_count(&scale, ns);

		if (ns < STEP_INTERVAL_NS) {
			sums.ns += ns;
			sums.steps += count;
		}
		parity_add(&parity, &scale, ns, count);
		if (ns >= PAUSE_NS) {
			sums_add_odd(&sums, &parity);
			parity = (struct parity){0};
		}
	}
	sums_add_odd(&sums, &parity);
	return sums;
}

/* Weigh what the block says about the step by its length, against at most the last second. */
static void model_learn(struct clock_model *model, uint64_t step, const struct times_sums *sums)
{
	double seen = (double)sums->ns / (double)(sums->steps ? sums->steps : 1) * TIMES_NS;

	if (!sums->steps || fabs(seen / (double)step - 1) > 1e-3)
		return;
	pthread_mutex_lock(&model->lock);
	if (model->step) {
		model->step = (uint64_t)(((double)model->step * model->seen_ns + seen * (double)sums->ns) /
					 (model->seen_ns + (double)sums->ns));
		model->seen_ns = fmin(model->seen_ns + (double)sums->ns, 1e9);
		if (sums->nr_odd) {
			double odd = (double)sums->odd / (double)sums->nr_odd;

			model->odd += (odd - model->odd) / (model->odd > 0 ? 4 : 1);
		}
	}
	pthread_mutex_unlock(&model->lock);
}

static void model_count_misfits(struct clock_model *model, bool fits)
{
	pthread_mutex_lock(&model->lock);
	model->misfits = fits ? 0 : model->misfits + 1;
	if (model->misfits >= MISFITS_MAX)
		model->step = 0;
	pthread_mutex_unlock(&model->lock);
}

/* Make the clock's fields of the block's head. */
static struct trace_columns_times model_code(struct clock_model *model, const uint32_t *times, size_t n)
{
	struct trace_columns_times code = {.step = model_step(model, times, n)};
	struct times_sums sums;
	bool is_young;

	if (code.step == TIMES_NS)
		return code;
	pthread_mutex_lock(&model->lock);
	is_young = model->seen_ns < LEARN_NS;
	pthread_mutex_unlock(&model->lock);
	sums = sums_of(times, is_young || n < LEARN_EVENTS ? n : LEARN_EVENTS, code.step);
	model_learn(model, code.step, &sums);
	pthread_mutex_lock(&model->lock);
	code.step = model->step ? model->step : TIMES_NS;
	code.odd = code.step != TIMES_NS && model->odd >= ODD_MIN ? (int32_t)model->odd : 0;
	pthread_mutex_unlock(&model->lock);
	return code;
}

/* ---- position of the clock ---- */

/**
 * struct position - computed position of the clock; sums wrap modulo 2^64 in encoder and decoder
 * alike
 */
struct position {
	uint64_t phase;
	uint64_t steps;
	uint64_t step;
	uint64_t odd;
};

/* The position at the first event, @first_ns after the origin of times. */
static struct position position_first(const struct trace_columns_times *times, uint32_t first_ns)
{
	return (struct position){.phase = first_ns * TIMES_NS + TIMES_NS / 2,
				 .step = times->step,
				 .odd = (uint64_t)((int64_t)times->odd * 65536)};
}

static inline uint64_t position_now(const struct position *position)
{
	return position->phase + position->steps * position->step + (-(position->steps & 1) & position->odd);
}

/* The time should have been @by ns more: move the phase by the least amount that achieves it. */
static inline uint64_t position_correct(struct position *position, uint64_t now, int by)
{
	uint64_t right = ((now >> 32) + (uint64_t)(int64_t)by) << 32 | (by < 0 ? UINT32_MAX : 0);

	position->phase += right - now;
	return right;
}

/** struct corrections - skips and amounts while they are being collected */
struct corrections {
	unsigned char *skips;
	signed char *amounts;
	size_t nr;
	size_t max;
	size_t since; /* the event after the last corrected one */
};

static __attribute__((noinline)) bool corrections_add(struct corrections *corrections, size_t event, int64_t amount)
{
	size_t skip = event - corrections->since;

	if (amount < INT8_MIN || amount > INT8_MAX)
		return false;
	for (; skip >= CORRECTION_SKIP; skip -= CORRECTION_SKIP) {
		if (corrections->nr >= corrections->max)
			return false;
		corrections->skips[corrections->nr] = CORRECTION_SKIP;
		corrections->amounts[corrections->nr++] = 0;
	}
	if (corrections->nr >= corrections->max)
		return false;
	corrections->skips[corrections->nr] = (unsigned char)skip;
	corrections->amounts[corrections->nr++] = (signed char)amount;
	corrections->since = event + 1;
	return true;
}

/* Index of the first event of bit stream @stream. */
static inline size_t stream_begin(size_t n, unsigned int stream)
{
	size_t each = (n + TIMES_STREAMS - 1) / TIMES_STREAMS, begin = stream * each;

	return begin < n ? begin : n;
}

/* ---- encode ---- */

/**
 * struct encoder - state of a block that is being encoded
 * @counts: for each event, the steps since the previous event
 * @code_of: for each event, the code of its context
 * @symbols: for each event, its symbol plus the symbols of all codes before its own
 * @max: a number that is at least as large as all @counts, and has no more bits than they have
 * @counted: occurrences of each symbol
 * @words: for each symbol, how to write it
 */
struct encoder {
	const struct times_block *block;
	struct contexts contexts;
	struct corrections corrections;
	uint32_t *counts;
	uint16_t *symbols;
	uint8_t *code_of;
	uint32_t max;
	uint32_t counted[CONTEXT_CODES][RANGE_SYMBOLS];
	uint64_t words[CONTEXT_CODES * RANGE_SYMBOLS];
};

_Static_assert(CONTEXT_CODES *RANGE_SYMBOLS <= UINT16_MAX + 1, "the symbols of all codes have numbers of 16 bits");

enum {
	TILE = 512, /* events that are processed in several passes while they are in the cache */
};

/*
 * Have odd and even swapped after event @at? In a pause the kernel may adjust its clock by half a
 * step.
 */
static __attribute__((noinline)) bool parity_is_wrong(const uint32_t *times, size_t at, size_t n,
						      const struct scale *scale, uint64_t steps, int32_t odd)
{
	struct parity parity = {.now = steps & 1};

	n = n - at > PARITY_EVENTS ? at + PARITY_EVENTS : n;
	for (size_t i = at + 1; i < n && times[i] - times[i - 1] < PAUSE_NS; i++)
		parity_add(&parity, scale, times[i] - times[i - 1], scale_count(scale, times[i] - times[i - 1]));
	/* no events in between: no answer */
	return parity.nr >= PARITY_MIN_EVENTS && 2 * parity.sum < -(int64_t)parity.nr * odd;
}

/* The steps between the times. */
static inline void count_tile(const uint32_t *times, size_t begin, size_t end, const struct scale *scale,
			      uint32_t *counts)
{
	uint32_t inverse = (uint32_t)scale->inverse;

	if (scale->step == TIMES_NS)
		for (size_t i = begin; i < end; i++)
			counts[i] = times[i] - times[i - 1];
	else
		for (size_t i = begin; i < end; i++)
			counts[i] = (uint32_t)(((uint64_t)(times[i] - times[i - 1]) * inverse + (1u << 31)) >> 32);
}

/**
 * struct clock - position of the clock; @phases: without the steps, after an even and after an odd
 * number of steps
 */
struct clock {
	uint64_t phases[2];
	uint64_t steps;
};

/*
 * Compare the computed times with the real ones, and add corrections where they differ. Returns
 * false when there are so many corrections that steps do not pay.
 */
static inline bool check_tile(struct encoder *encoder, size_t begin, size_t end, const struct trace_columns_times *code,
			      const struct scale *scale, uint32_t pause, struct clock *clock)
{
	const uint32_t *times = encoder->block->times;
	uint32_t *counts = encoder->counts;
	struct clock now = *clock;
	uint64_t step = code->step;

	for (size_t i = begin; i < end; i++) {
		uint32_t count = counts[i];
		uint64_t at;

		/* one step more swaps odd and even; the correction below makes up for it */
		if (__builtin_expect(count >= pause, 0))
			count = counts[i] += parity_is_wrong(times, i, encoder->block->n, scale, now.steps + count,
							     code->odd);
		now.steps += count;
		at = now.phases[now.steps & 1] + now.steps * step;
		if (__builtin_expect((uint32_t)(at >> 32) != times[i], 0)) {
			int64_t by = (int64_t)times[i] - (int64_t)(at >> 32);
			struct position position = {0};

			if (!corrections_add(&encoder->corrections, i, by))
				return false;
			position_correct(&position, at, (int)by);
			now.phases[0] += position.phase;
			now.phases[1] += position.phase;
		}
	}
	*clock = now;
	return true;
}

static inline void symbols_tile(struct encoder *encoder, size_t begin, size_t end)
{
	const uint32_t *counts = encoder->counts;
	const uint8_t *code_of = encoder->code_of;
	uint32_t *counted = encoder->counted[0], max = encoder->max;
	uint16_t *symbols = encoder->symbols;

	for (size_t i = begin; i < end; i++) {
		symbols[i] = (uint16_t)(range_symbol(counts[i]) + code_of[i] * (unsigned int)RANGE_SYMBOLS);
		max |= counts[i];
	}
	for (size_t i = begin; i < end; i++)
		counted[symbols[i]]++;
	encoder->max = max;
}

/*
 * Compute the steps and symbol of each event, the frequency of each symbol, and the corrections.
 * Returns false like check_tile().
 */
TRACE_CLONES static bool count_steps(struct encoder *encoder, const struct trace_columns_times *code)
{
	const struct position first = position_first(code, encoder->block->times[0]);
	const struct scale scale = scale_of(code->step);
	uint32_t pause = code->odd ? scale_count(&scale, PAUSE_NS) : UINT32_MAX;
	struct clock clock = {.phases = {first.phase, first.phase + first.odd}};
	size_t n = encoder->block->n;

	memset(encoder->counted, 0, encoder->contexts.nr * sizeof(encoder->counted[0]));
	encoder->max = 0;
	encoder->counts[0] = code->odd ? parity_is_wrong(encoder->block->times, 0, n, &scale, 0, code->odd) : 0;
	for (size_t at = 0; at < n; at += TILE) {
		size_t end = n - at < TILE ? n : at + TILE;

		count_tile(encoder->block->times, at ? at : 1, end, &scale, encoder->counts);
		if (!check_tile(encoder, at, end, code, &scale, pause, &clock))
			return false;
		symbols_tile(encoder, at, end);
	}
	return true;
}

/*
 * How to write events of one range, in one word. The code and the bits after it together are
 *
 *     (count << length) + code - (smallest count of the range << length)
 *
 * and all but the first term are the same for all events of the range. Bits 16-63: these constant
 * terms. Bits 0-7: the length of the code. Bits 8-15: the length of code and bits together.
 */
static inline uint64_t code_word(const struct times_range *range, uint32_t code)
{
	unsigned int length = range->length, more = range->more;
	uint64_t smallest = (uint64_t)range->base << more;

	return (code - (smallest << length)) << 16 | (length + more) << 8 | length;
}

static uint32_t events_with(const struct encoder *encoder, unsigned int code, unsigned int nr_symbols)
{
	uint32_t events = 0;

	for (unsigned int i = 0; i < nr_symbols; i++)
		events += encoder->counted[code][i];
	return events;
}

/*
 * Codes with few events are left out: their events have the next code with their context. Children
 * are after their parents. @ret_used: the codes that are written. @ret_as: the code that each has.
 */
static void leave_out(struct encoder *encoder, unsigned int nr_symbols, bool *ret_used, uint8_t *ret_as)
{
	for (unsigned int code = encoder->contexts.nr; code-- > 0;) {
		uint32_t events = events_with(encoder, code, nr_symbols);
		int parent = events < CODE_MIN_EVENTS ? context_parent(&encoder->contexts, code) : -1;

		ret_used[code] = parent < 0 && events;
		ret_as[code] = (uint8_t)(parent < 0 ? code : (unsigned int)parent);
		for (unsigned int i = 0; parent >= 0 && events && i < nr_symbols; i++)
			encoder->counted[parent][i] += encoder->counted[code][i];
	}
	for (unsigned int code = 0; code < encoder->contexts.nr; code++)
		ret_as[code] = ret_as[ret_as[code]];
}

static void fill_words(uint64_t *words, const struct ranges *ranges)
{
	uint16_t codes[RANGES_MAX];

	ranges_codes(ranges, codes);
	for (unsigned int i = 0; i < ranges->nr; i++) {
		const struct times_range *range = &ranges->range[i];
		uint64_t word = code_word(range, codes[i]);

		for (unsigned int symbol = 0; symbol < range->nr_symbols; symbol++)
			words[range->symbol + symbol] = word;
	}
}

static unsigned char *put_codes(struct encoder *encoder, unsigned char *out)
{
	unsigned int nr_octaves = ranges_octaves(encoder->max), nr_symbols = octaves_symbols(nr_octaves);
	bool used[CONTEXT_CODES];
	uint8_t as[CONTEXT_CODES];
	struct ranges ranges;

	leave_out(encoder, nr_symbols, used, as);
	if (encoder->block->letters)
		out = mempcpy(out, encoder->block->letters, encoder->block->letters_bytes);
	out = contexts_put(out, &encoder->contexts, used);
	for (unsigned int code = 0; code < encoder->contexts.nr; code++) {
		uint64_t *words = &encoder->words[code * RANGE_SYMBOLS];

		if (used[code]) {
			out = ranges_put(out, encoder->counted[code], nr_octaves, &ranges);
			fill_words(words, &ranges);
		} else {
			memcpy(words, &encoder->words[as[code] * RANGE_SYMBOLS], nr_symbols * sizeof(*words));
		}
	}
	return out;
}

/** struct bits - bits on their way to @out; @nr of them, fewer than 8, are still in @bits */
struct bits {
	unsigned char *out;
	uint64_t bits;
	unsigned int nr;
};

/* @nr is at most 56. At most 7 bits are pending, so the sum is below 64. */
static inline void bits_put(struct bits *to, uint64_t bits, unsigned int nr)
{
	bits = to->bits | bits << to->nr;
	nr += to->nr;
	memcpy(to->out, &bits, 8);
	to->out += nr / 8;
	to->bits = bits >> (nr & ~7u);
	to->nr = nr % 8;
}

static inline uint64_t code_bits(uint64_t code, uint32_t count)
{
	return ((uint64_t)count << (code & 63)) + (uint64_t)((int64_t)code >> 16);
}

/*
 * Write the codes of @n events from @begin on, each with the bits after its symbol. Two events at a
 * time, because a write has to wait for the end position of the previous one.
 */
TRACE_CLONES static unsigned char *put_events(unsigned char *out, const struct encoder *encoder, size_t begin, size_t n)
{
	const uint32_t *counts = encoder->counts + begin;
	const uint16_t *symbols = encoder->symbols + begin;
	struct bits bits = {.out = out};
	size_t i = 0;

	for (; i + 1 < n; i += 2) {
		uint64_t code = encoder->words[symbols[i]], next = encoder->words[symbols[i + 1]];
		uint64_t first = code_bits(code, counts[i]), second = code_bits(next, counts[i + 1]);
		unsigned int nr = (uint8_t)(code >> 8), nr_next = (uint8_t)(next >> 8);

		if (__builtin_expect(nr + nr_next > 56, 0)) {
			bits_put(&bits, first, nr);
			bits_put(&bits, second, nr_next);
		} else {
			bits_put(&bits, first | second << nr, nr + nr_next);
		}
	}
	if (i < n)
		bits_put(&bits, code_bits(encoder->words[symbols[i]], counts[i]),
			 (uint8_t)(encoder->words[symbols[i]] >> 8));
	*bits.out = (unsigned char)bits.bits;
	return bits.out + (bits.nr ? 1 : 0);
}

size_t times_bound(size_t n)
{
	size_t nr_codes = 1 + n / CODE_MIN_EVENTS;

	nr_codes = nr_codes < CONTEXT_CODES ? nr_codes : CONTEXT_CODES;
	return n / 2 + CONTEXT_LIST_BYTES + nr_codes * RANGES_BYTES + 6 * n + TIMES_STREAMS * 8 + TIMES_PADDING;
}

size_t times_encode_room(size_t n)
{
	return sizeof(struct encoder) + n * (sizeof(uint32_t) + sizeof(uint16_t) + 1);
}

static struct encoder *encoder_new(unsigned char *out, const struct times_block *block, struct times_learned *learned)
{
	struct encoder *encoder = block->scratch;

	encoder->block = block;
	encoder->counts = (uint32_t *)(encoder + 1);
	encoder->symbols = (uint16_t *)(encoder->counts + block->n);
	encoder->code_of = (uint8_t *)(encoder->symbols + block->n);
	encoder->corrections =
		(struct corrections){.skips = out, .amounts = (signed char *)out + block->n / 4, .max = block->n / 4};
	if (learned)
		times_learn(learned, block);
	times_choose(&encoder->contexts, block, learned);
	contexts_apply(&encoder->contexts, block->type_idxs, block->n, encoder->code_of);
	return encoder;
}

unsigned char *times_encode(unsigned char *out, const struct times_block *block, struct clock_model *model,
			    struct times_learned *learned, struct trace_columns_times *ret_times,
			    unsigned char **ret_codes)
{
	struct trace_columns_times code = model_code(model, block->times, block->n);
	struct encoder *encoder = encoder_new(out, block, learned);
	bool fits = count_steps(encoder, &code);
	unsigned char *begin;

	if (code.step != TIMES_NS && block->n >= STEP_MIN_EVENTS)
		model_count_misfits(model, fits);
	if (!fits) {
		code = (struct trace_columns_times){.step = TIMES_NS};
		encoder->corrections.nr = 0;
		count_steps(encoder, &code);
	}
	code.coding = block->letters ? TIMES_LETTERS : CODING_RANGES;
	memmove(out + encoder->corrections.nr, encoder->corrections.amounts, encoder->corrections.nr);
	code.nr_corrections = (uint32_t)encoder->corrections.nr;
	*ret_codes = out + 2 * encoder->corrections.nr;
	out = put_codes(encoder, *ret_codes);
	code.code_bytes = (uint32_t)(out - *ret_codes);
	for (unsigned int i = 0; i < TIMES_STREAMS; i++) {
		begin = out;
		out = put_events(out, encoder, stream_begin(block->n, i),
				 stream_begin(block->n, i + 1) - stream_begin(block->n, i));
		code.bit_bytes[i] = (uint32_t)(out - begin);
	}
	memset(out, 0, TIMES_PADDING); /* a reader may load 8 bytes at once */
	*ret_times = code;
	return out + TIMES_PADDING;
}

/* ---- decode ---- */

/**
 * struct times_code - the meaning of the next bits of a stream: @base * 2^@more plus the value of
 * the @more bits after the code
 * @length: bits of the code
 * @bits: bits of both together
 */
struct times_code {
	uint8_t base;
	uint8_t more;
	uint8_t length;
	uint8_t bits;
};

/** struct code_table - @codes, indexed by the next bits of the stream under @mask */
struct code_table {
	const struct times_code *codes;
	uint64_t mask;
};

/** struct times_stream - a bit stream that is being decoded; @at, @end: in bits */
struct times_stream {
	const unsigned char *data;
	size_t at;
	size_t end;
	size_t event;
	size_t last;
};

struct times_decoder {
	const struct times_block *block;
	struct code_table tables[CONTEXT_CODES];
	struct times_stream streams[TIMES_STREAMS];
	struct contexts contexts;
	struct times_code codes[CONTEXT_CODES << PREFIX_MAX_BITS];
	uint8_t code_of[]; /* of each event */
};

/*
 * Fill the table. Every entry is written, because the code is complete. Returns the number of
 * entries.
 */
static unsigned int table_fill(struct times_code *table, const struct ranges *ranges)
{
	uint16_t codes[RANGES_MAX];
	unsigned int longest = 0;

	for (unsigned int i = 0; i < ranges->nr; i++)
		longest = longest > ranges->range[i].length ? longest : ranges->range[i].length;
	ranges_codes(ranges, codes);
	for (unsigned int i = 0; i < ranges->nr; i++) {
		const struct times_range *range = &ranges->range[i];
		struct times_code code = {.base = range->base,
					  .more = range->more,
					  .length = range->length,
					  .bits = (uint8_t)(range->length + range->more)};

		for (unsigned int at = codes[i]; at < 1u << longest; at += 1u << range->length)
			table[at] = code;
	}
	return 1u << longest;
}

/*
 * The contexts of format 2.4 and before: the first types with many events have a code each, the
 * others share the last one.
 */
static void contexts_by_type(struct contexts *contexts, const uint32_t *events, uint32_t nr_types)
{
	unsigned int nr = 0, nr_others = 0;

	contexts_init(contexts);
	for (uint32_t i = 0; i < nr_types; i++) {
		bool own = events[i] >= LENGTHS_MIN_EVENTS && nr < LENGTHS_CODES - 1;

		contexts->map[i] = own ? (uint8_t)nr++ : CONTEXT_NO_CODE;
		nr_others += !own;
	}
	for (uint32_t i = 0; i < nr_types; i++)
		if (contexts->map[i] == CONTEXT_NO_CODE)
			contexts->map[i] = (uint8_t)nr;
	contexts->nr = nr + (nr_others > 0);
}

static const unsigned char *take_contexts(struct times_decoder *decoder, uint32_t coding, const unsigned char *in,
					  const unsigned char *end)
{
	if (coding == CODING_LENGTHS) {
		contexts_by_type(&decoder->contexts, decoder->block->events, decoder->block->nr_types);
		return in;
	}
	contexts_init(&decoder->contexts);
	return contexts_take(&decoder->contexts, in + decoder->block->letters_bytes, end);
}

/* Has each event one of the codes? Without a branch in the loop, so that it is vectorised. */
TRACE_CLONES static bool all_have_codes(const uint8_t *code_of, size_t n, unsigned int nr)
{
	uint8_t highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = highest > code_of[i] ? highest : code_of[i];
	return highest < nr;
}

static bool take_codes(struct times_decoder *decoder, uint32_t coding, const unsigned char *in,
		       const unsigned char *end)
{
	struct times_code *table = decoder->codes;
	struct ranges ranges;

	in = take_contexts(decoder, coding, in, end);
	for (unsigned int i = 0; in && i < decoder->contexts.nr; i++) {
		in = coding == CODING_LENGTHS ? ranges_take_lengths(in, end, &ranges) : ranges_take(in, end, &ranges);
		if (!in)
			return false;
		decoder->tables[i].codes = table;
		table += table_fill(table, &ranges);
		decoder->tables[i].mask = (uint64_t)(table - decoder->tables[i].codes) - 1;
	}
	if (in != end)
		return false;
	contexts_apply(&decoder->contexts, decoder->block->type_idxs, decoder->block->n, decoder->code_of);
	return all_have_codes(decoder->code_of, decoder->block->n, decoder->contexts.nr);
}

/*
 * Decode the step count of the stream's next event. Reads at most 8 bytes beyond the last one,
 * which are in the padding.
 */
static inline bool take_count(const struct code_table *tables, const uint8_t *code_of, struct times_stream *stream,
			      uint64_t *ret_ns)
{
	const struct code_table *table = &tables[code_of[stream->event]];
	struct times_code code;
	uint64_t bits;

	if (__builtin_expect(stream->at > stream->end, 0))
		return false;
	memcpy(&bits, stream->data + stream->at / 8, 8);
	bits >>= stream->at % 8;
	code = table->codes[bits & table->mask];
	ret_ns[stream->event++] = ((uint32_t)code.base << code.more) +
				  (uint32_t)(bits >> code.length & ((1u << code.more) - 1));
	stream->at += code.bits;
	return true;
}

/* Decode all counts into @ret_ns. All streams except the last have the same number of events. */
TRACE_CLONES static bool take_counts(struct times_decoder *decoder, uint64_t *ret_ns)
{
	const uint8_t *code_of = decoder->code_of;
	struct times_stream a = decoder->streams[0], b = decoder->streams[1], c = decoder->streams[2],
			    d = decoder->streams[3];
	bool good = true;

	while (good && d.event < d.last)
		good = take_count(decoder->tables, code_of, &a, ret_ns) &&
		       take_count(decoder->tables, code_of, &b, ret_ns) &&
		       take_count(decoder->tables, code_of, &c, ret_ns) &&
		       take_count(decoder->tables, code_of, &d, ret_ns);
	while (good && a.event < a.last)
		good = take_count(decoder->tables, code_of, &a, ret_ns);
	while (good && b.event < b.last)
		good = take_count(decoder->tables, code_of, &b, ret_ns);
	while (good && c.event < c.last)
		good = take_count(decoder->tables, code_of, &c, ret_ns);
	return good && (a.at + 7) / 8 * 8 == a.end && (b.at + 7) / 8 * 8 == b.end && (c.at + 7) / 8 * 8 == c.end &&
	       (d.at + 7) / 8 * 8 == d.end;
}

/*
 * Turn @n step counts into times, without a correction. Returns the clock's position at the last
 * one.
 */
static uint64_t decode_run(struct position *position, uint64_t *ns, size_t n, uint64_t first_ns)
{
	uint64_t now = 0;

	for (size_t i = 0; i < n; i++) {
		position->steps += ns[i];
		now = position_now(position);
		ns[i] = first_ns + (now >> 32);
	}
	return now;
}

TRACE_CLONES static bool decode_positions(const struct trace_columns_times *times, const unsigned char *skips,
					  uint64_t first_ns, size_t n, uint64_t *ns)
{
	const signed char *amounts = (const signed char *)skips + times->nr_corrections;
	struct position position = position_first(times, 0);
	size_t done = 0;

	for (size_t i = 0; i < times->nr_corrections; i++) {
		size_t run = skips[i] + (skips[i] != CORRECTION_SKIP);
		uint64_t now;

		if (run > n - done)
			return false;
		now = decode_run(&position, ns + done, run, first_ns);
		done += run;
		if (skips[i] == CORRECTION_SKIP)
			continue;
		ns[done - 1] = first_ns + (position_correct(&position, now, amounts[i]) >> 32);
	}
	decode_run(&position, ns + done, n - done, first_ns);
	return true;
}

static bool never_back(const uint64_t *ns, size_t n)
{
	uint64_t back = 0;

	for (size_t i = 1; i < n; i++)
		back |= ns[i] < ns[i - 1];
	return !back;
}

uint64_t times_bytes(const struct trace_columns_times *times)
{
	uint64_t bytes = 2 * (uint64_t)times->nr_corrections + times->code_bytes + TIMES_PADDING;

	for (unsigned int i = 0; i < TIMES_STREAMS; i++)
		bytes += times->bit_bytes[i];
	return bytes;
}

size_t times_decode_room(size_t n)
{
	return sizeof(struct times_decoder) + n;
}

bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times,
		  const struct times_block *block, uint64_t first_ns, uint64_t *ret_ns)
{
	const unsigned char *codes = in + 2 * (size_t)times->nr_corrections, *bits = codes + times->code_bytes;
	struct times_decoder *decoder = block->scratch;

	decoder->block = block;
	if (times_bytes(times) != (uint64_t)(end - in) || times->coding > TIMES_LETTERS ||
	    !take_codes(decoder, times->coding, codes, bits))
		return false;
	for (unsigned int i = 0; i < TIMES_STREAMS; i++) {
		decoder->streams[i] = (struct times_stream){.data = bits,
							    .end = 8 * (size_t)times->bit_bytes[i],
							    .event = stream_begin(block->n, i),
							    .last = stream_begin(block->n, i + 1)};
		bits += times->bit_bytes[i];
	}
	return take_counts(decoder, ret_ns) && decode_positions(times, in, first_ns, block->n, ret_ns) &&
	       ret_ns[0] == first_ns && never_back(ret_ns, block->n);
}

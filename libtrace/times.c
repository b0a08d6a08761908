/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times.c - encode times as numbers of clock steps, and decode them.
 *
 * Terms. A *step* is the period of the clock, in ns times 2^32. The *phase* is the time of the
 * clock at step 0. A *correction* is the difference between an event's time and the computed one. A
 * *symbol* stands for a range of step counts. A *context* is a prefix code that one or several
 * event types share.
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
 * The code. The number of steps since the previous event becomes a symbol and some bits. The symbol
 * holds the magnitude and the two bits after the leading one; the other bits are stored as they
 * are. Intervals depend on what happens, so each event type has its own prefix code for symbols
 * (prefix.h). The codes are stored without further compression. Bytes per event, measured on a
 * recording with few events: 1.74 as ns in planes, 1.23 with symbols of three bits in one code made
 * by zstd, 1.09 with this code. With many events the last two are 0.71 and 0.65. Codes for pairs of
 * types, or by the size of the previous interval, gain 2 % more and need many more tables.
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
#include "prefix.h"
#include "step.h"

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
	CONTEXT_MIN_EVENTS = 128,
	NR_SYMBOLS = 124, /* 4 for each bit of a number below 2^32, from the value 4 on */
};

_Static_assert((int)NR_SYMBOLS <= (int)PREFIX_SYMBOLS, "a code has room for all symbols");

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

/* ---- symbols ---- */

/*
 * The symbol of @count: a number below 8 is its own symbol; a larger one has the exponent and the
 * first two fraction bits of its float representation. There is no branch, so the compiler can
 * vectorise it. The number is halved because the conversion to float is signed, and the bits that
 * the conversion would round up are cleared.
 */
static inline uint32_t symbol_of(uint32_t count)
{
	union {
		float number;
		int32_t bits;
	} half = {.number = (float)(int32_t)(count >> 1 & ~(count >> 9))};
	int32_t large = (half.bits >> 21) - 4 * 127, small = (int32_t)(count < 8 ? count : 8);

	return (uint32_t)(large > small ? large : small);
}

static inline unsigned int symbol_bits(unsigned int symbol)
{
	return symbol / 4 - (symbol >= 4);
}

/** struct contexts - the code of each event type; @nr: number of codes */
struct contexts {
	uint8_t of_type[256];
	unsigned int nr;
};

/*
 * Give types with many events a code of their own while there are any left; the other types share
 * the last one.
 */
static void contexts_assign(struct contexts *contexts, const uint32_t *events, uint32_t nr_types)
{
	unsigned int nr = 0, nr_others = 0;

	for (uint32_t i = 0; i < nr_types; i++) {
		bool own = events[i] >= CONTEXT_MIN_EVENTS && nr < TIMES_CONTEXTS - 1;

		contexts->of_type[i] = own ? (uint8_t)nr++ : TIMES_CONTEXTS;
		nr_others += !own;
	}
	for (uint32_t i = 0; i < nr_types; i++)
		if (contexts->of_type[i] == TIMES_CONTEXTS)
			contexts->of_type[i] = (uint8_t)nr;
	contexts->nr = nr + (nr_others > 0);
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
 * @symbols: for each event, its symbol plus the symbols of all contexts before its own
 * @counted: occurrences of each symbol among every other event; @counted_other: among the rest. Two
 *         arrays, because two increments of one counter in a row have to wait for each other
 * @codes: for each symbol, how to write it
 */
struct encoder {
	const struct times_block *block;
	struct contexts contexts;
	struct corrections corrections;
	uint32_t *counts;
	uint16_t *symbols;
	uint32_t counted[TIMES_CONTEXTS * PREFIX_SYMBOLS];
	uint32_t counted_other[TIMES_CONTEXTS * PREFIX_SYMBOLS];
	uint64_t codes[TIMES_CONTEXTS * PREFIX_SYMBOLS];
};

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

static inline void symbols_tile(struct encoder *encoder, size_t begin, size_t end, const uint16_t *firsts)
{
	const unsigned char *type_idxs = encoder->block->type_idxs;
	uint32_t *counted = encoder->counted, *counted_other = encoder->counted_other;
	const uint32_t *counts = encoder->counts;
	uint16_t *symbols = encoder->symbols;

	for (size_t i = begin; i < end; i++)
		symbols[i] = (uint16_t)symbol_of(counts[i]);
	for (; begin + 1 < end; begin += 2) {
		uint32_t symbol = symbols[begin] + firsts[type_idxs[begin]],
			 next = symbols[begin + 1] + firsts[type_idxs[begin + 1]];

		symbols[begin] = (uint16_t)symbol;
		symbols[begin + 1] = (uint16_t)next;
		counted[symbol]++;
		counted_other[next]++;
	}
	if (begin < end)
		counted[symbols[begin] += firsts[type_idxs[begin]]]++;
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
	uint16_t firsts[256];
	size_t n = encoder->block->n, nr_symbols = encoder->contexts.nr * PREFIX_SYMBOLS;

	for (uint32_t i = 0; i < encoder->block->nr_types; i++)
		firsts[i] = (uint16_t)(encoder->contexts.of_type[i] * PREFIX_SYMBOLS);
	memset(encoder->counted, 0, nr_symbols * sizeof(encoder->counted[0]));
	memset(encoder->counted_other, 0, nr_symbols * sizeof(encoder->counted[0]));
	encoder->counts[0] = code->odd ? parity_is_wrong(encoder->block->times, 0, n, &scale, 0, code->odd) : 0;
	for (size_t at = 0; at < n; at += TILE) {
		size_t end = n - at < TILE ? n : at + TILE;

		count_tile(encoder->block->times, at ? at : 1, end, &scale, encoder->counts);
		if (!check_tile(encoder, at, end, code, &scale, pause, &clock))
			return false;
		symbols_tile(encoder, at, end, firsts);
	}
	for (size_t i = 0; i < nr_symbols; i++)
		encoder->counted[i] += encoder->counted_other[i];
	return true;
}

/*
 * Write the first and last symbol of a context, then the code lengths between them, two per byte.
 */
static unsigned char *put_lengths(unsigned char *out, const uint8_t *lengths, const uint32_t *counts)
{
	unsigned int first = 0, last = NR_SYMBOLS - 1;

	while (!counts[first])
		first++;
	while (!counts[last])
		last--;
	*out++ = (unsigned char)first;
	*out++ = (unsigned char)last;
	for (unsigned int i = first; first < last && i <= last; i += 2)
		*out++ = (unsigned char)(lengths[i] | (i < last ? lengths[i + 1] << 4 : 0));
	return out;
}

/*
 * How to write events of one symbol, in one word. The code and the bits after it together are
 *
 *     (count << length) + code - (smallest count of the symbol << length)
 *
 * and all but the first term are the same for all events of the symbol. Bits 16-63: these constant
 * terms. Bits 0-7: the length of the code. Bits 8-15: the length of code and bits together.
 */
static inline uint64_t code_word(unsigned int symbol, uint32_t code, unsigned int length)
{
	unsigned int more = symbol_bits(symbol);
	uint64_t smallest = (uint64_t)(symbol - 4 * more) << more;

	return (code - (smallest << length)) << 16 | (length + more) << 8 | length;
}

static unsigned char *put_codes(struct encoder *encoder, unsigned char *out)
{
	uint8_t lengths[PREFIX_SYMBOLS];
	uint16_t codes[PREFIX_SYMBOLS];

	for (unsigned int i = 0; i < encoder->contexts.nr; i++) {
		const uint32_t *counted = &encoder->counted[i * PREFIX_SYMBOLS];

		prefix_lengths(counted, NR_SYMBOLS, lengths);
		prefix_codes(lengths, NR_SYMBOLS, codes);
		for (unsigned int symbol = 0; symbol < NR_SYMBOLS; symbol++)
			encoder->codes[i * PREFIX_SYMBOLS + symbol] = code_word(symbol, codes[symbol], lengths[symbol]);
		out = put_lengths(out, lengths, counted);
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
		uint64_t code = encoder->codes[symbols[i]], next = encoder->codes[symbols[i + 1]];
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
		bits_put(&bits, code_bits(encoder->codes[symbols[i]], counts[i]),
			 (uint8_t)(encoder->codes[symbols[i]] >> 8));
	*bits.out = (unsigned char)bits.bits;
	return bits.out + (bits.nr ? 1 : 0);
}

unsigned char *times_encode(unsigned char *out, const struct times_block *block, struct clock_model *model,
			    struct trace_columns_times *ret_times, unsigned char **ret_codes)
{
	struct trace_columns_times code = model_code(model, block->times, block->n);
	struct encoder encoder; /* large; only a part of it is used */
	unsigned char *begin;
	bool fits;

	encoder.block = block;
	encoder.counts = block->scratch;
	encoder.symbols = (uint16_t *)(encoder.counts + block->n);
	encoder.corrections =
		(struct corrections){.skips = out, .amounts = (signed char *)out + block->n / 4, .max = block->n / 4};
	contexts_assign(&encoder.contexts, block->events, block->nr_types);
	fits = count_steps(&encoder, &code);
	if (code.step != TIMES_NS && block->n >= STEP_MIN_EVENTS)
		model_count_misfits(model, fits);
	if (!fits) {
		code = (struct trace_columns_times){.step = TIMES_NS};
		encoder.corrections.nr = 0;
		count_steps(&encoder, &code);
	}
	memmove(out + encoder.corrections.nr, encoder.corrections.amounts, encoder.corrections.nr);
	code.nr_corrections = (uint32_t)encoder.corrections.nr;
	*ret_codes = out + 2 * encoder.corrections.nr;
	out = put_codes(&encoder, *ret_codes);
	code.code_bytes = (uint32_t)(out - *ret_codes);
	for (unsigned int i = 0; i < TIMES_STREAMS; i++) {
		begin = out;
		out = put_events(out, &encoder, stream_begin(block->n, i),
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

_Static_assert(sizeof(struct times_code) == (size_t)TIMES_CODE_BYTES, "room for the tables is reckoned with that");

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
	struct contexts contexts;
	struct code_table tables[256]; /* by type index */
	struct times_stream streams[TIMES_STREAMS];
};

static struct times_code code_of(unsigned int symbol, unsigned int length)
{
	unsigned int more = symbol_bits(symbol);

	return (struct times_code){.base = (uint8_t)(symbol - 4 * more),
				   .more = (uint8_t)more,
				   .length = (uint8_t)length,
				   .bits = (uint8_t)(length + more)};
}

/* Read the code lengths of a context. Returns their end; NULL: they are invalid. */
static const unsigned char *take_lengths(const unsigned char *in, const unsigned char *end, uint8_t *ret_lengths,
					 unsigned int *ret_first)
{
	unsigned int first, last;

	if (end - in < 2)
		return NULL;
	first = in[0];
	last = in[1];
	in += 2;
	memset(ret_lengths, 0, NR_SYMBOLS);
	*ret_first = first;
	if (first == last && last < NR_SYMBOLS)
		return in;
	if (first > last || last >= NR_SYMBOLS || (size_t)(end - in) < (last - first + 2) / 2)
		return NULL;
	for (unsigned int i = first; i <= last; i += 2, in++) {
		ret_lengths[i] = *in & 15;
		if (i < last)
			ret_lengths[i + 1] = *in >> 4;
	}
	return prefix_is_complete(ret_lengths, NR_SYMBOLS) ? in : NULL;
}

/*
 * Fill the table. Every entry is written, because the code is complete. Returns the number of
 * entries.
 */
static unsigned int table_fill(struct times_code *table, const uint8_t *lengths, unsigned int first)
{
	uint16_t codes[PREFIX_SYMBOLS];
	unsigned int longest = 0;

	for (unsigned int symbol = first; symbol < NR_SYMBOLS; symbol++)
		longest = longest > lengths[symbol] ? longest : lengths[symbol];
	if (!longest)
		table[0] = code_of(first, 0); /* the only symbol needs no bits */
	else
		prefix_codes(lengths, NR_SYMBOLS, codes);
	for (unsigned int symbol = first; longest && symbol < NR_SYMBOLS; symbol++)
		for (unsigned int i = codes[symbol]; lengths[symbol] && i < 1u << longest; i += 1u << lengths[symbol])
			table[i] = code_of(symbol, lengths[symbol]);
	return 1u << longest;
}

static bool take_codes(struct times_decoder *decoder, const unsigned char *in, const unsigned char *end,
		       struct times_code *table)
{
	const struct times_block *block = decoder->block;
	struct code_table tables[TIMES_CONTEXTS];

	contexts_assign(&decoder->contexts, block->events, block->nr_types);
	for (unsigned int i = 0; i < decoder->contexts.nr; i++) {
		uint8_t lengths[PREFIX_SYMBOLS];
		unsigned int first, nr;

		in = take_lengths(in, end, lengths, &first);
		if (!in)
			return false;
		nr = table_fill(table, lengths, first);
		tables[i] = (struct code_table){table, nr - 1};
		table += nr;
	}
	for (uint32_t i = 0; i < block->nr_types; i++)
		decoder->tables[i] = tables[decoder->contexts.of_type[i]];
	return in == end;
}

/*
 * Decode the step count of the stream's next event. Reads at most 8 bytes beyond the last one,
 * which are in the padding.
 */
static inline bool take_count(const struct code_table *tables, const unsigned char *type_idxs,
			      struct times_stream *stream, uint64_t *ret_ns)
{
	const struct code_table *table = &tables[type_idxs[stream->event]];
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
	const unsigned char *type_idxs = decoder->block->type_idxs;
	struct times_stream a = decoder->streams[0], b = decoder->streams[1], c = decoder->streams[2],
			    d = decoder->streams[3];
	bool good = true;

	while (good && d.event < d.last)
		good = take_count(decoder->tables, type_idxs, &a, ret_ns) &&
		       take_count(decoder->tables, type_idxs, &b, ret_ns) &&
		       take_count(decoder->tables, type_idxs, &c, ret_ns) &&
		       take_count(decoder->tables, type_idxs, &d, ret_ns);
	while (good && a.event < a.last)
		good = take_count(decoder->tables, type_idxs, &a, ret_ns);
	while (good && b.event < b.last)
		good = take_count(decoder->tables, type_idxs, &b, ret_ns);
	while (good && c.event < c.last)
		good = take_count(decoder->tables, type_idxs, &c, ret_ns);
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

bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times,
		  const struct times_block *block, uint64_t first_ns, uint64_t *ret_ns)
{
	const unsigned char *codes = in + 2 * (size_t)times->nr_corrections, *bits = codes + times->code_bytes;
	struct times_decoder decoder = {.block = block};

	if (times_bytes(times) != (uint64_t)(end - in) ||
	    !take_codes(&decoder, codes, bits, (struct times_code *)block->scratch))
		return false;
	for (unsigned int i = 0; i < TIMES_STREAMS; i++) {
		decoder.streams[i] = (struct times_stream){.data = bits,
							   .end = 8 * (size_t)times->bit_bytes[i],
							   .event = stream_begin(block->n, i),
							   .last = stream_begin(block->n, i + 1)};
		bits += times->bit_bytes[i];
	}
	return take_counts(&decoder, ret_ns) && decode_positions(times, in, first_ns, block->n, ret_ns) &&
	       ret_ns[0] == first_ns && never_back(ret_ns, block->n);
}

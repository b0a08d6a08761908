/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.c - what an enabled tracepoint calls.
 *
 * The way of a record: is the process's memory there, and has this thread looked at it (one comparison of epochs)? Is this still the CPU that the
 * thread wrote on last (the kernel keeps the answer up to date in the thread's rseq area, if glibc registered one)? Then ring.h. Everything
 * else is out of line in record_slow().
 *
 * What the first locked instruction waits for is what an event costs beside the clock: loads do not pass the locked one before, so that a chain of
 * them is waited for link by link. So the thread remembers where its ring is, and all questions are comparisons beside that, which
 * the processor predicts.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include "user.h"

struct subbuf_writer {
	struct subbuf_control *control;
	unsigned char *data;
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs_log2;
	trace_u32 seq_mask;
	trace_u32 cpu;
	trace_u16 producer;
	trace_u8 clock;
	trace_u8 overwrite;
	trace_u32 **place; /* where the last preliminary header went */
};

/*
 * What the thread knows. A thread that never recorded differs from every epoch, 0 too.
 * @place: address of a ring << 16 | its CPU, in one word so that a signal handler that traces finds both or neither; addresses that nobody
 *         asked for by a hint have 47 bits. Set by record_slow() only to rings of the common case, which are set up
 */
#define NO_PLACE 0xffffULL /* no CPU's number, see USER_MAX_RINGS */
static __thread struct {
	uint64_t place;
	uint64_t epoch;
	uint32_t tid;
} thread __attribute__((tls_model("initial-exec"))) = { NO_PLACE, ~0ULL, 0 };
_Static_assert(USER_MAX_RINGS <= NO_PLACE, "a CPU has 16 bits of a place");

static __attribute__((always_inline)) inline uint32_t cpu_at(int64_t offset)
{
	return *(const volatile uint32_t *)((const char *)__builtin_thread_pointer() + offset);
}

static __attribute__((noinline)) uint64_t clock_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec - user_time_offset();
}

static inline uint64_t clock_now(uint32_t clock)
{
#ifdef __x86_64__
	if (__builtin_expect(clock == SUBBUF_CLOCK_TSC, 1))
		return __rdtsc();
#endif
	return clock_monotonic();
}

#define SUBBUF_LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define SUBBUF_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define SUBBUF_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define SUBBUF_CAS(p, old, new) __sync_val_compare_and_swap(p, old, new)
#define SUBBUF_CLOCK() clock_now(w->clock) /* in the common case a constant */
#define SUBBUF_HEADER(w, seq) \
	((struct subbuf_header *)((w)->data + ((seq) & (w)->seq_mask) * (w)->subbuf_bytes))
/* Release: when the program is killed, what stands before a header in the program stands before it in memory. */
#define SUBBUF_WRITE_HEADER(w, seq, offset, word) \
	__atomic_store_n((trace_u64 *)((unsigned char *)SUBBUF_HEADER(w, seq) + (offset)), word, __ATOMIC_RELEASE)
#define SUBBUF_PRELIMINARY(w, seq, offset, size)                                                  \
	do {                                                                                      \
		*(w)->place = (trace_u32 *)((unsigned char *)SUBBUF_HEADER(w, seq) + (offset));   \
		SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_preliminary_word(w, seq, size));       \
	} while (0)
#include "../subbuf_write.h"
/* Looked up again: a register less that lives across the clock. */
#define USER_MOVED(w) (cpu_at(__atomic_load_n(&user_state, __ATOMIC_RELAXED)->cpu_offset) != (w)->cpu)
#include "ring.h"

static inline struct subbuf_writer writer_of(const struct user_state *state, unsigned char *ring, uint32_t cpu, uint32_t clock, trace_u32 **place)
{
	return (struct subbuf_writer){
		.control = (struct subbuf_control *)ring,
		.data = ring + SUBBUF_CONTROL_BYTES,
		.subbuf_bytes = state->subbuf_bytes,
		.nr_subbufs_log2 = state->nr_subbufs_log2,
		.seq_mask = state->seq_mask,
		.cpu = cpu,
		.producer = SUBBUF_PRODUCER_USER,
		.clock = (trace_u8)clock,
		.overwrite = 0,
		.place = place,
	};
}

/* Wait for room, when the program ($TRACER_BLOCKING) and the daemon both want that; for a bounded time. */
static void wait_for_room(const struct user_state *state, const struct subbuf_writer *w)
{
	const struct timespec nap = { 0, 100000 };

	for (uint32_t naps = state->blocking_ms * 10; naps > 0; naps--) {
		trace_u64 position = SUBBUF_LOAD(&w->control->position), seq = (position >> SUBBUF_OFFSET_BITS) + 1;

		if (!__atomic_load_n(&state->memory->blocking, __ATOMIC_RELAXED) || (position & SUBBUF_OFFSET_MASK) < w->subbuf_bytes ||
		    subbuf_slot_free(w, SUBBUF_LOAD(&SUBBUF_HEADER(w, seq)->commit), seq))
			return;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
}

/* The CPU that the thread is on now, by whatever means there are. */
static uint32_t cpu_now(const struct user_state *state)
{
	uint32_t cpu = state->cpu_offset ? cpu_at(state->cpu_offset) : ~0U;
	int asked;

	if (cpu < state->nr_rings)
		return cpu;
	asked = sched_getcpu();
	return asked < 0 || (uint32_t)asked >= state->nr_rings ? 0 : (uint32_t)asked;
}

static void write_somewhere(struct user_state *state, uint32_t id, struct user_payload *payload, uint32_t cpu, uint64_t position)
{
	struct subbuf_writer w;
	unsigned char *ring;
	trace_u32 *place;

	if (position == SUBBUF_NO_POSITION) {
		cpu = cpu_now(state);
		user_ring_ready(state, cpu);
	}
	ring = state->rings + cpu * state->ring_stride;
	if (cpu < state->nr_fast_rings)
		__atomic_store_n(&thread.place, (uint64_t)(uintptr_t)ring << 16 | cpu, __ATOMIC_RELAXED);
	payload->first[0] = (payload->first[0] & ~0xffffffffULL) | thread.tid;
	w = writer_of(state, ring, cpu, state->clock, &place);
	if (state->blocking_ms && position == SUBBUF_NO_POSITION)
		wait_for_room(state, &w);
	user_ring_write_slow(&w, id, payload, position);
}

/* All that is not the common case. @position, @cpu: of an add that the common case made; the record then belongs there. */
static __attribute__((noinline, cold)) void record_slow(struct trace_tracepoint *tracepoint, struct user_payload *payload, uint32_t cpu,
							uint64_t position)
{
	int saved_errno = errno;
	struct user_state *state = user_state;
	bool busy = false;

	if (position == SUBBUF_NO_POSITION) {
		state = user_ready(&busy);
		if (!state) {
			if (busy)
				user_count_unready();
			else if (tracepoint->id == 0)
				__atomic_store_n(&tracepoint->flag, &user_never, __ATOMIC_RELEASE);
			goto out;
		}
		if (thread.epoch != state->epoch) {
			__atomic_store_n(&thread.place, NO_PLACE, __ATOMIC_RELAXED);
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			thread.tid = (uint32_t)syscall(SYS_gettid);
			__atomic_signal_fence(__ATOMIC_SEQ_CST); /* a signal handler that traces finds both or neither */
			thread.epoch = state->epoch;
		}
		if (tracepoint->id == 0) {
			if (!user_register(tracepoint, false)) {
				user_count_unready();
				goto out;
			}
			if (!*tracepoint->flag)
				goto out;
		}
	}
	write_somewhere(state, tracepoint->id, payload, cpu, position);
out:
	errno = saved_errno;
}

/* The same for payloads in registers. */
static __attribute__((noinline, cold)) void record_words_slow(struct trace_tracepoint *tracepoint, uint64_t first, uint64_t second, uint64_t words_third,
							      uint32_t cpu, uint64_t position)
{
	struct user_payload payload = { (uint32_t)(words_third >> 32), { first, second, (uint32_t)words_third }, NULL };

	record_slow(tracepoint, &payload, cpu, position);
}

/* The common case. False: not this time; see user_ring_write() for *ret_position. */
static __attribute__((always_inline)) inline bool record_fast(struct trace_tracepoint *tracepoint, struct user_payload payload, uint32_t *ret_cpu,
							      uint64_t *ret_position)
{
	const struct user_state *state = user_state;
	uint64_t place = __atomic_load_n(&thread.place, __ATOMIC_RELAXED);
	uint32_t cpu = (uint16_t)place, id = tracepoint->id;
	struct subbuf_writer w;
	trace_u32 *written;

	*ret_cpu = cpu;
	*ret_position = SUBBUF_NO_POSITION;
	if (__builtin_expect(thread.epoch != state->epoch || cpu != cpu_at(state->cpu_offset) || id == 0, 0))
		return false;
	w = writer_of(state, (unsigned char *)(uintptr_t)(place >> 16), cpu, SUBBUF_CLOCK_TSC, &written);
	payload.first[0] |= thread.tid;
	return __builtin_expect(user_ring_write(&w, id, &payload, ret_position), 1);
}

static __attribute__((always_inline)) inline void record_words(struct trace_tracepoint *tracepoint, uint32_t words, uint64_t a, uint64_t b)
{
	uint64_t position;
	uint32_t cpu;

	if (!record_fast(tracepoint, (struct user_payload){ words, { a << 32, a >> 32 | b << 32, b >> 32 }, NULL }, &cpu, &position))
		record_words_slow(tracepoint, a << 32, a >> 32 | b << 32, (uint64_t)words << 32 | b >> 32, cpu, position);
}

static __attribute__((always_inline)) inline void record_image(struct trace_tracepoint *tracepoint, const uint32_t *image, uint32_t words)
{
	struct user_payload payload = { words, { (uint64_t)(words > 1 ? image[1] : 0) << 32, 0, 0 }, image };
	uint64_t position;
	uint32_t cpu;

	if (!record_fast(tracepoint, payload, &cpu, &position)) {
		struct user_payload again = payload; /* the fast one stays in registers */

		record_slow(tracepoint, &again, cpu, position);
	}
}

#define API __attribute__((visibility("default"), hot))

API void trace_tracepoint_record_0(struct trace_tracepoint *tracepoint)
{
	record_words(tracepoint, 1, 0, 0);
}

API void trace_tracepoint_record_4(struct trace_tracepoint *tracepoint, uint32_t a)
{
	record_words(tracepoint, 2, a, 0);
}

API void trace_tracepoint_record_8(struct trace_tracepoint *tracepoint, uint64_t a)
{
	record_words(tracepoint, 3, a, 0);
}

API void trace_tracepoint_record_16(struct trace_tracepoint *tracepoint, uint64_t a, uint64_t b)
{
	record_words(tracepoint, 5, a, b);
}

API void trace_tracepoint_record(struct trace_tracepoint *tracepoint, const void *image)
{
	record_image(tracepoint, image, tracepoint->payload_bytes / 4u);
}

#define PAYLOAD_MAX (TRACE_RECORD_MAX_BYTES - sizeof(struct trace_record))

API void trace_tracepoint_record_texts(struct trace_tracepoint *tracepoint, const void *image,
				       const struct trace_bytes_value *texts)
{
	uint32_t payload[PAYLOAD_MAX / 4 + 1];
	unsigned char *bytes = (unsigned char *)payload;
	size_t used = tracepoint->payload_bytes;

	memcpy(bytes, image, used);
	for (unsigned int i = 0; i < tracepoint->nr_fields; i++) {
		const struct trace_tracepoint_field *field = &tracepoint->fields[i];
		size_t limit = PAYLOAD_MAX - used < TRACE_TEXT_MAX ? PAYLOAD_MAX - used : TRACE_TEXT_MAX, length = texts[i].length;
		struct user_reference reference;

		if (field->type != USER_FIELD_STRING && field->type != USER_FIELD_BYTES)
			continue;
		if (!texts[i].pointer)
			length = 0;
		else if (field->type == USER_FIELD_STRING)
			length = strnlen(texts[i].pointer, length < limit + 1 ? length : limit + 1);
		if (length > limit) {
			memcpy(bytes + used, texts[i].pointer, limit);
			length = limit;
			if (field->type == USER_FIELD_STRING && limit >= 3)
				memcpy(bytes + used + limit - 3, "...", 3);
		} else if (length) {
			memcpy(bytes + used, texts[i].pointer, length);
		}
		reference = (struct user_reference){ (trace_u16)used, (trace_u16)length };
		memcpy(bytes + field->offset, &reference, sizeof(reference));
		used += length;
	}
	memset(bytes + used, 0, -used & 3);
	record_image(tracepoint, payload, (uint32_t)(used + 3) / 4);
}

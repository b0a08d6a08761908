/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.c - an event that the program could not record with its inlined code
 *
 * The inlined code has the common case: <trace/tracepoint_inline.h>. This file has the rest: large
 * records, which use the same method, and record_slow(). That function makes sure that the program
 * memory exists, that this thread is set up for it, and that the event is registered. Then it
 * writes the record on the slow path: it closes the block of the CPU, opens and closes sub-buffers,
 * and opens another block where records now go.
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

#define CLOCK_TRIES	 3
#define CLOCK_PAIR_TICKS 2048u /* about half a microsecond */

struct subbuf_writer {
	struct subbuf_control *control;
	unsigned char *data;
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs_log2;
	trace_u32 cpu;
	trace_u16 producer;
	trace_u8 clock;
	trace_u8 overwrite; /* 0: read @overwrites each time */
	const trace_u32 *overwrites;
	trace_u32 **preliminary; /* address of the last preliminary header */
};

/*
 * The thread's data. A thread that never recorded, or that cannot read its CPU, has no CPU number.
 * @thread_epoch: a thread that never recorded differs from every epoch, 0 too.
 */
/* laid out as the kernel's; the last two words are stored to */
static uint32_t no_cpu[4] __attribute__((aligned(8))) = {0, ~0U, 0, 0};
static struct trace_window no_window; /* has no block */
__attribute__((visibility("default"))) __thread struct trace_tp_thread trace_tp_thread = {no_cpu, &no_window, 0,
											  TRACE_CLOCK_TSC};
static __thread uint64_t thread_epoch __attribute__((tls_model("initial-exec"))) = ~0ULL;

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

static inline uint64_t open_clock(uint32_t clock, const trace_u32 *overwrites, trace_u64 *ret_ns);

#define SUBBUF_LOAD(p)		     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define SUBBUF_STORE(p, v)	     __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define SUBBUF_ADD(p, v)	     __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define SUBBUF_CAS(p, old, new)	     __sync_val_compare_and_swap(p, old, new)
#define SUBBUF_CLOCK()		     clock_now(w->clock)
#define SUBBUF_OPEN_CLOCK(w, ret_ns) open_clock((w)->clock, (w)->overwrites, ret_ns)
#define SUBBUF_OVERWRITES(w)	     SUBBUF_LOAD((w)->overwrites)
#define SUBBUF_HEADER(w, seq) \
	((struct subbuf_header *)((w)->data + ((seq) & ((1ULL << (w)->nr_subbufs_log2) - 1)) * (w)->subbuf_bytes))
/* Release: if the program is killed, everything stored before a header in program order is in
 * memory before the header. */
#define SUBBUF_WRITE_HEADER(w, seq, offset, word) \
	__atomic_store_n((trace_u64 *)((unsigned char *)SUBBUF_HEADER(w, seq) + (offset)), word, __ATOMIC_RELEASE)
#define SUBBUF_PRELIMINARY(w, seq, offset, size)                                                      \
	do {                                                                                          \
		*(w)->preliminary = (trace_u32 *)((unsigned char *)SUBBUF_HEADER(w, seq) + (offset)); \
		SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_preliminary_word(w, seq, size));           \
	} while (0)
#include "../subbuf_write.h"
#include "../record_image.h"

#ifdef __x86_64__
static bool swap_word(const volatile uint32_t *where, uint32_t cpu, uint64_t *at, uint64_t from, uint64_t to)
{
	__asm__ goto(
		TRACE_RSEQ_BEGIN_(
			"%[cpu]") "cmpq %[from], (%[at])\n\tjne %l[disturbed]\n\tmovq %[to], (%[at])" TRACE_RSEQ_END_
		:
		: [where] "r"(where), [cpu] "r"(cpu), [at] "r"(at), [from] "r"(from), [to] "r"(to)
		: "rsi", "cc", "memory"
		: disturbed);
	return true;
disturbed:
	return false;
}

#define USER_APPEND(window, where, now, word, payload) \
	append_image(window, where, now, word, (payload)->first, (payload)->image, (payload)->words)
#define USER_SWAP(where, cpu, at, from, to) swap_word(where, cpu, (uint64_t *)(at), from, to)
#else
#define USER_APPEND(window, where, now, word, payload) false
#define USER_SWAP(where, cpu, at, from, to)	       false
#endif
#include "ring.h"

_Static_assert(offsetof(struct trace_window, block) == 0, "append_image()");

/*
 * The clock of a sub-buffer's base. A flight recorder's daemon reads nothing until it takes a
 * snapshot. So for a flight recorder the program stores the system's clock next to its ticks;
 * unless it is interrupted between the two again and again.
 */
static inline uint64_t open_clock(uint32_t clock, const trace_u32 *overwrites, trace_u64 *ret_ns)
{
	uint64_t before = clock_now(clock), ns;

	*ret_ns = 0;
	if (clock != SUBBUF_CLOCK_TSC || !SUBBUF_LOAD(overwrites))
		return before;
	for (int i = 0; i < CLOCK_TRIES; i++) {
		before = clock_now(clock);
		ns = clock_monotonic();
		if (clock_now(clock) - before <= CLOCK_PAIR_TICKS) {
			*ret_ns = ns;
			break;
		}
	}
	return before;
}

static inline struct subbuf_writer writer_of(const struct user_state *state, unsigned char *ring, uint32_t cpu,
					     uint32_t clock, trace_u32 **preliminary)
{
	return (struct subbuf_writer){
		.control = (struct subbuf_control *)ring,
		.data = ring + SUBBUF_CONTROL_BYTES,
		.subbuf_bytes = state->subbuf_bytes,
		.nr_subbufs_log2 = state->nr_subbufs_log2,
		.cpu = cpu,
		.producer = SUBBUF_PRODUCER_USER,
		.clock = (trace_u8)clock,
		.overwrites = &state->memory->overwrite,
		.preliminary = preliminary,
	};
}

/* Does the daemon allow blocking? A daemon that has just read the offer gets a moment to say so. */
static bool may_block(struct user_state *state)
{
	uint32_t naps = __atomic_load_n(&state->unclaimed_naps, __ATOMIC_RELAXED);

	if (__atomic_load_n(&state->memory->blocking, __ATOMIC_RELAXED))
		return true;
	if (__atomic_load_n(&state->memory->daemon_pid, __ATOMIC_ACQUIRE) != 0 || naps == 0)
		return __atomic_load_n(&state->memory->blocking, __ATOMIC_RELAXED);
	/* a race may lose a decrement, which does no harm */
	__atomic_store_n(&state->unclaimed_naps, naps - 1, __ATOMIC_RELAXED);
	return true;
}

/* Wait for room, if the program ($TRACER_BLOCKING) and the daemon both
 * allow it; for a bounded time. */
static void wait_for_room(struct user_state *state, const struct subbuf_writer *w, trace_u32 size)
{
	const struct timespec nap = {0, 100000};

	for (uint32_t naps = state->blocking_ms * 10; naps > 0; naps--) {
		trace_u64 position = SUBBUF_LOAD(&w->control->position), seq = (position >> SUBBUF_OFFSET_BITS) + 1;

		if ((position & SUBBUF_OFFSET_MASK) + size <= w->subbuf_bytes ||
		    subbuf_slot_free(w, SUBBUF_LOAD(&SUBBUF_HEADER(w, seq)->commit), seq) || !may_block(state))
			return;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
}

/* The CPU that the thread runs on now, by any available means. */
static uint32_t cpu_now(const struct user_state *state)
{
	uint32_t cpu = trace_tp_thread.cpu[1];
	int asked;

	if (cpu < state->nr_rings)
		return cpu;
	asked = sched_getcpu();
	return asked < 0 || (uint32_t)asked >= state->nr_rings ? 0 : (uint32_t)asked;
}

/* Set up the thread for the process's memory. A signal handler that records meanwhile finds the
 * thread without a CPU, and does the same. A vforked child must not store what its parent does not
 * have. */
static void set_up_thread(struct user_state *state)
{
	bool is_vforked = trace_tp_thread.cpu[1] == USER_CPU_VFORKED;

	if (!is_vforked)
		trace_tp_thread.cpu = no_cpu;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	trace_tp_thread.tid = (uint32_t)syscall(SYS_gettid);
	trace_tp_thread.windows = state->windows;
	trace_tp_thread.clock = state->clock;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (is_vforked)
		return;
	if (state->rseq_offset)
		trace_tp_thread.cpu =
			(const volatile uint32_t *)((const char *)__builtin_thread_pointer() + state->rseq_offset);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_epoch = state->epoch;
}

/* Clear the pointer to the sequence of a thread that was disturbed: the
 * thread is not in it any more. */
static void leave_sequence(void)
{
	__atomic_store_n((uint64_t *)(uintptr_t)trace_tp_thread.cpu + 1, 0, __ATOMIC_RELAXED);
}

static void write_somewhere(struct user_state *state, uint32_t id, struct user_payload *payload)
{
	const volatile uint32_t *where = trace_tp_thread.cpu;
	uint32_t cpu = cpu_now(state);
	trace_u32 *preliminary;
	struct subbuf_writer w = writer_of(state, state->rings + cpu * state->ring_stride, cpu, state->clock,
					   &preliminary);

	user_ring_ready(state, cpu);
	if (cpu < state->nr_windows)
		user_block_close(&w, &state->windows[cpu], where);
	if (state->blocking_ms)
		wait_for_room(state, &w, (trace_u32)sizeof(struct trace_record) + user_payload_bytes(payload));
	user_ring_write_slow(&w, id, payload);
	if (__builtin_expect(state->offer_not_sent != 0, 0))
		user_offer_again(state);
	if (cpu < state->nr_windows)
		user_block_open(&w, &state->windows[cpu], where);
	leave_sequence();
}

/* Make sure that the event can be written. Returns false if it is not to be
 * recorded, or was counted. */
static bool make_ready(struct trace_tracepoint *tracepoint, struct user_state **ret_state)
{
	bool busy = false;

	*ret_state = user_ready(&busy);
	if (!*ret_state) {
		if (busy) {
			user_count_unready();
		} else {
			if (tracepoint->id == 0)
				user_leave_to_parent(tracepoint);
			if (user_flag(tracepoint))
				user_count_for_parent();
		}
		return false;
	}
	if (thread_epoch != (*ret_state)->epoch)
		set_up_thread(*ret_state);
	if (tracepoint->id != 0)
		return true;
	if (!user_register(tracepoint, false)) {
		user_count_unready();
		return false;
	}
	return user_flag(tracepoint) && tracepoint->id != 0;
}

/* The common case, for any size. */
static inline bool record_fast(const struct trace_tracepoint *tracepoint, struct user_payload *payload)
{
	const volatile uint32_t *where = __atomic_load_n(&trace_tp_thread.cpu, __ATOMIC_RELAXED);
	const struct trace_window *window = &__atomic_load_n(&trace_tp_thread.windows, __ATOMIC_RELAXED)[where[0]];
	struct subbuf_writer w = {.clock = (trace_u8)trace_tp_thread.clock};

	payload->first = (payload->first & ~0xffffffffULL) | trace_tp_thread.tid;
	return tracepoint->id != 0 && user_ring_write(&w, window, where, tracepoint->id, payload);
}

/* Everything but the common case. The common case may have failed only because the thread was
 * disturbed, or was not set up, so it is tried again. */
static void record_slow(struct trace_tracepoint *tracepoint, struct user_payload *payload)
{
	int saved_errno = errno;
	struct user_state *state = user_state;

	leave_sequence();
	if (make_ready(tracepoint, &state) &&
	    user_condition_passes(state, tracepoint, payload->image, payload->words * 4) &&
	    !record_fast(tracepoint, payload))
		write_somewhere(state, tracepoint->id, payload);
	errno = saved_errno;
}

static inline struct user_payload payload_of(const uint32_t *image, uint32_t words)
{
	return (struct user_payload){words, (uint64_t)(words > 1 ? image[1] : 0) << 32, image};
}

#define API __attribute__((visibility("default")))

API uint64_t trace_tracepoint_clock(void)
{
	return clock_monotonic();
}

API __attribute__((noinline, cold)) void trace_tracepoint_record_again(struct trace_tracepoint *tracepoint,
								       const void *image)
{
	struct user_payload payload = payload_of(image, tracepoint->payload_bytes / 4u);

	record_slow(tracepoint, &payload);
}

static void record_image(struct trace_tracepoint *tracepoint, const uint32_t *image, uint32_t words)
{
	struct user_payload payload = payload_of(image, words);

	if (__builtin_expect(
		    !__atomic_load_n(&tracepoint->word, __ATOMIC_RELAXED) || !record_fast(tracepoint, &payload), 0))
		record_slow(tracepoint, &payload);
}

API void trace_tracepoint_record(struct trace_tracepoint *tracepoint, const void *image)
{
	record_image(tracepoint, image, tracepoint->payload_bytes / 4u);
}

API void trace_tracepoint_record_texts(struct trace_tracepoint *tracepoint, const void *image,
				       const struct trace_bytes_value *texts)
{
	uint32_t payload[TEXTS_IMAGE_WORDS];

	record_image(tracepoint, payload, texts_image(payload, tracepoint, image, texts));
}

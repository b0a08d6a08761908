/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_times.c - elapsed time and CPU time of each context
 *
 * A function built with -pg does not tell when it returns. So its return address is replaced by
 * that of gprof_return (gprof_arcs.c), and the real one is kept at an address that depends only on
 * the place of the return address on the stack: its copy. Unwind information of gprof_return tells
 * this address to debuggers and to C++ exceptions, so that they see the real callers.
 *
 * Calls that an exception or longjmp() has ended are those below the place of the next call. They
 * end with it.
 *
 * CPU time: reading the clock of a thread is a system call. A perf event that counts nothing has a
 * page with a number that changes when the kernel takes the CPU from the thread. While it has not
 * changed, the thread had the CPU all the time, and its CPU time advanced with the processor's
 * clock.
 */
#include "gprof_times.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <time.h>
#include "gprof.h"
#include "gprof_system.h"

#define COPIES	    0x200000000000ull /* these three are in unwind information in gprof_arcs.c */
#define COPY_BYTES  0x1000000000ull   /* 64 GiB; stacks at this distance would share copies */
#define COPY_MASK   (COPY_BYTES - 16)
#define MAX_CALLS   (1u << 18) /* of a thread, that have not returned */
#define MAX_NR	    (1u << 18) /* contexts of a thread */
#define NR_SLOTS    (2 * MAX_NR)
#define FOLD_LEVEL  32 /* from here on, a function has no context below one of its own */
#define PAGE_BYTES  4096
#define NS_A_SECOND 1000000000ull

/** struct gprof_time - @ticks: of the processor's clock */
struct gprof_time {
	uint64_t ticks, cpu_ns;
};

/** struct gprof_frame - a call that has not returned; @at: its place on the stack */
struct gprof_frame {
	uintptr_t at;
	uint32_t context;
	struct gprof_time begin;
};

/** struct gprof_timed - a thread */
struct gprof_timed {
	struct gprof_contexts contexts;
	uint32_t *slots; /* numbers of contexts, by hash */
	struct gprof_frame *frames;
	uint32_t depth;
	uint32_t too_deep; /* calls of functions that tell their end themselves, above MAX_CALLS */
	bool is_busy;	   /* a signal handler interrupts us: its calls have no time */
	const volatile struct perf_event_mmap_page *page;
	uint32_t page_number;
	struct gprof_time known; /* while @page_number stays */
	struct gprof_timed *next, *next_free;
};

extern const char gprof_return[] __attribute__((visibility("hidden")));
static struct gprof_timed *threads;	 /* only added to */
static struct gprof_timed *free_threads; /* under gprof_lock() */
static uint64_t first_ticks, first_ns;
static uint64_t tick_scale; /* 2^-32 ns */
static __thread struct gprof_timed *own __attribute__((tls_model("initial-exec")));

/* ---- clocks ---- */

static uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static uint64_t clock_of(clockid_t clock)
{
	struct timespec time = {0};

	gprof_call(SYS_clock_gettime, clock, (long)&time, 0, 0, 0, 0);
	return (uint64_t)time.tv_sec * NS_A_SECOND + (uint64_t)time.tv_nsec;
}

static uint64_t ns_of(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * tick_scale >> 32);
}

static struct gprof_time time_now(struct gprof_timed *timed)
{
	struct gprof_time now;

	for (int tries = 0; timed->page && tries < 3; tries++) {
		uint32_t number = timed->page->lock;

		now.ticks = ticks_now();
		if (number == timed->page_number && timed->page->lock == number) {
			now.cpu_ns = timed->known.cpu_ns + ns_of(now.ticks - timed->known.ticks);
			return now;
		}
		timed->page_number = number;
		timed->known.cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
		timed->known.ticks = ticks_now();
	}
	now.cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
	now.ticks = ticks_now();
	return now;
}

static void open_page(struct gprof_timed *timed)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	long fd = gprof_call(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0), page;

	timed->page = NULL;
	timed->page_number = 1; /* numbers that stay are even */
	if (fd < 0)
		return;
	page = gprof_call(SYS_mmap, 0, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	gprof_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (page > 0 || page < -4096)
		timed->page = (const volatile struct perf_event_mmap_page *)page;
}

/* ---- threads ---- */

/* The caller has gprof_lock(). */
static struct gprof_timed *new_thread(void)
{
	struct gprof_timed *timed = free_threads;

	if (timed) {
		free_threads = timed->next_free;
		return timed;
	}
	timed = gprof_memory(sizeof(*timed));
	if (!timed)
		return NULL;
	timed->contexts.at = gprof_memory(MAX_NR * sizeof(*timed->contexts.at));
	timed->slots = gprof_memory(NR_SLOTS * sizeof(*timed->slots));
	timed->frames = gprof_memory(MAX_CALLS * sizeof(*timed->frames));
	if (!timed->contexts.at || !timed->slots || !timed->frames)
		return NULL;
	timed->contexts.nr = 1;
	timed->next = threads;
	/* [G7] A reader of the thread sees its fields: pairs with gprof_each_timed(), [G8]. */
	__atomic_store_n(&threads, timed, __ATOMIC_RELEASE);
	return timed;
}

static struct gprof_timed *thread_begin(void)
{
	uint64_t old = gprof_lock();

	if (!own) {
		own = new_thread();
		if (own)
			open_page(own);
	}
	gprof_unlock(old);
	return own;
}

/* NULL: no times now. The caller calls thread_leave() else. */
static struct gprof_timed *thread_enter(void)
{
	struct gprof_timed *timed = own ? own : thread_begin();

	if (!timed || timed->is_busy)
		return NULL;
	timed->is_busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return timed;
}

static void thread_leave(struct gprof_timed *timed)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	timed->is_busy = false;
}

/* ---- contexts ---- */

/* The context in which @self is already; 0: none */
static uint32_t find_caller(const struct gprof_contexts *contexts, uint32_t from, uintptr_t self)
{
	if (contexts->at[from].self == self)
		return from;
	if (contexts->at[from].level < FOLD_LEVEL)
		return 0;
	while (from && contexts->at[from].self != self)
		from = contexts->at[from].parent;
	return from;
}

/* 0: there is no room */
static uint32_t context_of(struct gprof_timed *timed, uint32_t parent, uintptr_t self)
{
	struct gprof_contexts *contexts = &timed->contexts;
	uint32_t same = find_caller(contexts, parent, self), number;
	uint64_t hash = (self * 0x9e3779b97f4a7c15ull ^ parent * 0xff51afd7ed558ccdull);

	if (same)
		return same;
	for (uint32_t at = (uint32_t)(hash >> 40) % NR_SLOTS;; at = (at + 1) % NR_SLOTS) {
		number = timed->slots[at];
		if (number && contexts->at[number].self == self && contexts->at[number].parent == parent)
			return number;
		if (number)
			continue;
		if (contexts->nr == MAX_NR)
			return 0;
		number = contexts->nr;
		contexts->at[number] =
			(struct gprof_context){.parent = parent, .level = contexts->at[parent].level + 1, .self = self};
		timed->slots[at] = number;
		/* [G9] A reader of the number sees the context: pairs with [G10]. */
		__atomic_store_n(&contexts->nr, number + 1, __ATOMIC_RELEASE);
		return number;
	}
}

/* ---- calls ---- */

/* A function that calls itself has the time of its first call, which has that of the others. */
static void end_call(struct gprof_timed *timed, const struct gprof_time *now)
{
	const struct gprof_frame *frame = &timed->frames[--timed->depth];
	struct gprof_context *context = &timed->contexts.at[frame->context];

	if (--context->active)
		return;
	context->elapsed += now->ticks - frame->begin.ticks;
	context->cpu_ns += now->cpu_ns - frame->begin.cpu_ns;
}

static bool begin_call(struct gprof_timed *timed, uintptr_t at, uintptr_t self, const struct gprof_time *now)
{
	uint32_t parent = timed->depth ? timed->frames[timed->depth - 1].context : 0, number = 0;

	if (timed->depth < MAX_CALLS)
		number = context_of(timed, parent, self);
	if (!number) {
		timed->contexts.not_timed++;
		return false;
	}
	timed->frames[timed->depth++] = (struct gprof_frame){at, number, *now};
	timed->contexts.at[number].calls++;
	timed->contexts.at[number].active++;
	return true;
}

static uintptr_t *copy_of(const uintptr_t *slot)
{
	return (uintptr_t *)(COPIES + ((uintptr_t)slot & COPY_MASK));
}

void gprof_enter(uintptr_t *slot, uintptr_t self)
{
	struct gprof_timed *timed = thread_enter();
	struct gprof_time now;

	if (!timed)
		return;
	now = time_now(timed);
	while (timed->depth && timed->frames[timed->depth - 1].at <= (uintptr_t)slot)
		end_call(timed, &now);
	if (begin_call(timed, (uintptr_t)slot, self, &now) && *slot != (uintptr_t)gprof_return) {
		*copy_of(slot) = *slot;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*slot = (uintptr_t)gprof_return;
	}
	thread_leave(timed);
}

uintptr_t gprof_leave(uintptr_t *slot)
{
	struct gprof_timed *timed = thread_enter();
	struct gprof_time now;

	if (timed) {
		now = time_now(timed);
		while (timed->depth && timed->frames[timed->depth - 1].at <= (uintptr_t)slot)
			end_call(timed, &now);
		thread_leave(timed);
	}
	return *copy_of(slot);
}

void gprof_enter_plain(uintptr_t at, uintptr_t self)
{
	struct gprof_timed *timed = thread_enter();
	struct gprof_time now;

	if (!timed)
		return;
	now = time_now(timed);
	while (timed->depth && timed->frames[timed->depth - 1].at < at)
		end_call(timed, &now);
	if (!begin_call(timed, at, self, &now))
		timed->too_deep++;
	thread_leave(timed);
}

void gprof_leave_plain(uintptr_t self)
{
	struct gprof_timed *timed = thread_enter();
	struct gprof_time now;
	uint32_t i;

	if (!timed)
		return;
	now = time_now(timed);
	i = timed->depth;
	if (timed->too_deep)
		timed->too_deep--;
	else
		while (i && timed->contexts.at[timed->frames[i - 1].context].self != self)
			i--;
	while (i && !timed->too_deep && timed->depth >= i)
		end_call(timed, &now);
	thread_leave(timed);
}

uintptr_t gprof_caller(const uintptr_t *slot)
{
	return *slot == (uintptr_t)gprof_return ? *copy_of(slot) : *slot;
}

/* ---- begin and end ---- */

void gprof_times_thread_ends(void)
{
	struct gprof_time now;

	if (!own)
		return;
	now = time_now(own);
	while (own->depth)
		end_call(own, &now);
	if (own->page)
		gprof_call(SYS_munmap, (long)own->page, PAGE_BYTES, 0, 0, 0, 0);
	own->page = NULL;
	own->next_free = free_threads;
	free_threads = own;
	own = NULL;
}

static void calibrate(void)
{
	uint64_t ns = clock_of(CLOCK_MONOTONIC) - first_ns, ticks = ticks_now() - first_ticks;

	tick_scale = ticks ? (uint64_t)(((unsigned __int128)ns << 32) / ticks) : 0;
}

int gprof_times_begin(void)
{
	struct timespec wait = {.tv_nsec = 2000000};
	long at = gprof_call(SYS_mmap, (long)COPIES, (long)COPY_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (at != (long)COPIES)
		return at < 0 && at > -4096 ? (int)at : -EEXIST;
	first_ns = clock_of(CLOCK_MONOTONIC);
	first_ticks = ticks_now();
	gprof_call(SYS_nanosleep, (long)&wait, 0, 0, 0, 0, 0);
	calibrate();
	return 0;
}

uint64_t gprof_elapsed_ns(uint64_t elapsed)
{
	calibrate();
	return ns_of(elapsed);
}

/* The calls continue; their contexts have the time until now. */
static void take_times(struct gprof_timed *timed, bool is_kept)
{
	struct gprof_time now = time_now(timed);

	for (uint32_t i = timed->depth; i--;) {
		struct gprof_frame *frame = &timed->frames[i];
		struct gprof_context *context = &timed->contexts.at[frame->context];
		bool is_first = true;

		for (uint32_t k = i; is_first && k-- && context->active > 1;)
			is_first = timed->frames[k].context != frame->context;
		if (is_first && is_kept) {
			context->elapsed += now.ticks - frame->begin.ticks;
			context->cpu_ns += now.cpu_ns - frame->begin.cpu_ns;
		}
		frame->begin = now;
	}
}

void gprof_times_now(void)
{
	struct gprof_timed *timed = own ? thread_enter() : NULL;

	if (!timed)
		return;
	take_times(timed, true);
	thread_leave(timed);
}

/* The page of the perf event is not in the child. */
void gprof_times_forget(void)
{
	for (struct gprof_timed *timed = threads; timed; timed = timed->next) {
		for (uint32_t i = 0; i < timed->contexts.nr; i++)
			timed->contexts.at[i].calls = timed->contexts.at[i].elapsed = timed->contexts.at[i].cpu_ns = 0;
		timed->page = NULL;
	}
	free_threads = NULL; /* those of the parent's other threads remain as they are */
	if (!own)
		return;
	open_page(own);
	take_times(own, false);
}

void gprof_each_timed(void (*visit)(void *context, const struct gprof_contexts *contexts), void *context)
{
	/* [G8] pairs with [G7], [G10] with [G9]. */
	for (struct gprof_timed *timed = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); timed; timed = timed->next) {
		struct gprof_contexts contexts = timed->contexts;

		contexts.nr = __atomic_load_n(&timed->contexts.nr, __ATOMIC_ACQUIRE);
		visit(context, &contexts);
	}
}

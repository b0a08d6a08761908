/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_arcs.c - counts the calls of instrumented functions: mcount(), __fentry__() and
 * __cyg_profile_func_enter()
 *
 * The first two are called with arguments of the program's function in all registers. Their usual
 * path, in assembler, changes none but r11. An arc that the thread's table does not have yet is
 * added in C, which is compiled without vector registers.
 *
 * All signals are blocked while a thread adds an arc, so that the thread is the only one that
 * changes its table.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "gprof.h"
#include "gprof_system.h"
#include "gprof_times.h"
#include "next.h"

#define FIRST_ARCS  512u /* of a thread's first table: 16 KiB */
#define GROWTH	    4u
#define MAX_ARCS    (1ull << 24) /* of a table: 512 MiB */
#define ARC_BYTES   sizeof(struct gprof_arc)
#define SIGSET_SIZE 8u /* of the kernel's */
#define HASH	    0x1e3779b1u
#define PLAIN_FRAME (2 * sizeof(uintptr_t)) /* a frame pointer and a return address */

_Static_assert(sizeof(struct gprof_arc) == 32 && offsetof(struct gprof_arc, from) == 0 &&
		       offsetof(struct gprof_arc, self) == 8 && offsetof(struct gprof_arc, count) == 16 &&
		       offsetof(struct gprof_table, mask) == 0 && offsetof(struct gprof_table, arcs) == 64,
	       "the assembler has these numbers");

unsigned char gprof_mode = GPROF_COUNTS;
struct gprof_thread *gprof_threads;
uint64_t gprof_lost;
static struct gprof_thread *free_threads; /* under lock */
static unsigned char lock;

#define OWN __thread __attribute__((tls_model("initial-exec")))

/* A table with one slot, which is free, so that each arc is one to be added. */
static uint64_t no_table[(sizeof(struct gprof_table) + sizeof(struct gprof_arc)) / sizeof(uint64_t)]
	__attribute__((aligned(64)));
#define NO_TABLE ((struct gprof_table *)(void *)no_table)
extern OWN struct gprof_table *gprof_table;
OWN struct gprof_table *gprof_table = NO_TABLE;
static OWN struct gprof_thread *own_thread; /* NULL: gprof_table is NO_TABLE */

/* ---- signals and the lock ---- */

static uint64_t block_signals(void)
{
	uint64_t all = ~0ull, old = 0;

	gprof_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, SIGSET_SIZE, 0, 0);
	return old;
}

static void unblock_signals(uint64_t old)
{
	gprof_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, SIGSET_SIZE, 0, 0);
}

/* The caller has blocked signals, so it cannot be interrupted by one that wants the lock. */
static void take_lock(void)
{
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		gprof_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void leave_lock(void)
{
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

uint64_t gprof_lock(void)
{
	uint64_t old = block_signals();

	take_lock();
	return old;
}

void gprof_unlock(uint64_t old)
{
	leave_lock();
	unblock_signals(old);
}

/* ---- threads ---- */

static pthread_key_t thread_key;
static bool has_key; /* under lock */

/* The tables remain for the next thread. Functions that are called later begin with new ones. */
static void thread_end(void *thread)
{
	uint64_t old = gprof_lock();
	struct gprof_thread *own = thread;

	gprof_table = NO_TABLE;
	own_thread = NULL;
	own->next_free = free_threads;
	free_threads = own;
	gprof_times_thread_ends();
	gprof_unlock(old);
}

/* The caller has lock. */
static void make_key(void)
{
	if (!has_key)
		has_key = !pthread_key_create(&thread_key, thread_end);
}

void gprof_threads_begin(void)
{
	uint64_t old = gprof_lock();

	make_key();
	gprof_unlock(old);
}

static struct gprof_table *new_table(uint64_t nr_arcs)
{
	struct gprof_table *table = gprof_memory(sizeof(*table) + nr_arcs * ARC_BYTES);

	if (table)
		table->mask = nr_arcs * ARC_BYTES - ARC_BYTES;
	return table;
}

/* The caller has lock. */
static struct gprof_thread *new_thread(void)
{
	struct gprof_thread *thread = free_threads;

	if (thread) {
		free_threads = thread->next_free;
		return thread;
	}
	thread = gprof_memory(sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tables = new_table(FIRST_ARCS);
	if (!thread->tables) {
		gprof_call(SYS_munmap, (long)thread, sizeof(*thread), 0, 0, 0, 0);
		return NULL;
	}
	thread->next = gprof_threads;
	/* [G1] A reader that sees the thread sees its table: pairs with gprof_each_arc(), [G2]. */
	__atomic_store_n(&gprof_threads, thread, __ATOMIC_RELEASE);
	return thread;
}

static bool thread_begin(void)
{
	take_lock();
	make_key();
	own_thread = new_thread();
	leave_lock();
	if (!own_thread)
		return false;
	gprof_table = own_thread->tables;
	if (has_key)
		pthread_setspecific(thread_key, own_thread);
	return true;
}

/* ---- arcs ---- */

static struct gprof_arc *slot_of(struct gprof_table *table, uintptr_t from, uintptr_t self)
{
	uint64_t at = (self * HASH + from) * ARC_BYTES & table->mask;

	for (;; at = (at + ARC_BYTES) & table->mask) {
		struct gprof_arc *arc = (struct gprof_arc *)((char *)table->arcs + at);

		if (!arc->self || (arc->self == self && arc->from == from))
			return arc;
	}
}

/* The thread continues with a larger table, and with the full one if there is no memory. */
static bool grow(void)
{
	uint64_t nr_arcs = (gprof_table->mask + ARC_BYTES) / ARC_BYTES;
	struct gprof_table *bigger;

	if (gprof_table->nr * 2 < nr_arcs)
		return true;
	bigger = nr_arcs * GROWTH <= MAX_ARCS ? new_table(nr_arcs * GROWTH) : NULL;
	if (!bigger)
		return gprof_table->nr * 8 < nr_arcs * 7;
	bigger->next = gprof_table;
	/* [G3] As [G1], for gprof_each_arc(), [G4]. */
	__atomic_store_n(&own_thread->tables, bigger, __ATOMIC_RELEASE);
	gprof_table = bigger;
	return true;
}

static bool add(uintptr_t from, uintptr_t self)
{
	struct gprof_arc *arc;

	if (!own_thread && !thread_begin())
		return false;
	arc = slot_of(gprof_table, from, self);
	if (arc->self) { /* a signal handler was faster */
		arc->count++;
		return true;
	}
	if (!grow())
		return false;
	arc = slot_of(gprof_table, from, self);
	arc->from = from;
	arc->count = 1;
	gprof_table->nr++;
	/* [G5] A reader that sees the function sees the other fields: pairs with [G6]. */
	__atomic_store_n(&arc->self, self, __ATOMIC_RELEASE);
	return true;
}

__attribute__((used, visibility("hidden"))) void gprof_add(uintptr_t from, uintptr_t self);
void gprof_add(uintptr_t from, uintptr_t self)
{
	uint64_t old = block_signals();

	if (!add(from, self))
		__atomic_fetch_add(&gprof_lost, 1, __ATOMIC_RELAXED);
	unblock_signals(old);
}

void gprof_each_arc(void (*visit)(void *context, const struct gprof_arc *arc), void *context)
{
	/* [G2] pairs with [G1], [G4] with [G3], [G6] with [G5]. */
	for (struct gprof_thread *thread = __atomic_load_n(&gprof_threads, __ATOMIC_ACQUIRE); thread;
	     thread = thread->next)
		for (struct gprof_table *table = __atomic_load_n(&thread->tables, __ATOMIC_ACQUIRE); table;
		     table = table->next)
			for (uint64_t i = 0; i <= table->mask / ARC_BYTES; i++)
				if (__atomic_load_n(&table->arcs[i].self, __ATOMIC_ACQUIRE) && table->arcs[i].count)
					visit(context, &table->arcs[i]);
}

/* Only the thread that called fork() is in the child. */
void gprof_forget(void)
{
	lock = 0;
	gprof_times_forget();
	free_threads = NULL;
	gprof_lost = 0;
	for (struct gprof_thread *thread = gprof_threads; thread; thread = thread->next) {
		for (struct gprof_table *table = thread->tables; table; table = table->next)
			for (uint64_t i = 0; i <= table->mask / ARC_BYTES; i++)
				table->arcs[i].count = 0;
		if (thread == own_thread)
			continue;
		thread->next_free = free_threads;
		free_threads = thread;
	}
}

/* ---- what programs call ---- */

/*
 * At 1 rax, rcx and rdx are on the stack, the calling address is in rcx and the one in the called
 * function in rdx. At 2 rax has the table and r11 the slot. gprof_add() changes none of the
 * registers of arguments that are not saved around it.
 */
#ifdef __x86_64__
__asm__(".text\n"
	".p2align 5\n"
	".globl mcount, _mcount\n"
	".type mcount, @function\n"
	".type _mcount, @function\n"
	"mcount:\n"
	"_mcount:\n"
	".cfi_startproc\n"
	"	cmpb $0, gprof_mode(%rip)\n"
	"	jne 5f\n"
	"	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	movq 8(%rbp), %rcx\n" /* the function has a frame pointer */
	"1:	movq gprof_table@gottpoff(%rip), %rax\n"
	"	movq %fs:(%rax), %rax\n"
	"	imulq $0x1e3779b1, %rdx, %r11\n"
	"	addq %rcx, %r11\n"
	"	shlq $5, %r11\n"
	"	andq (%rax), %r11\n"
	"2:	cmpq %rcx, 64(%rax, %r11)\n"
	"	jne 3f\n"
	"	cmpq %rdx, 72(%rax, %r11)\n"
	"	jne 3f\n"
	"	incq 80(%rax, %r11)\n"
	".cfi_remember_state\n"
	"	popq %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rcx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rax\n"
	".cfi_adjust_cfa_offset -8\n"
	"5:	cmpb $2, gprof_mode(%rip)\n"
	"	je 6f\n"
	"	ret\n"
	"6:	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	leaq 8(%rbp), %rcx\n"
	"7:	leaq gprof_time(%rip), %r11\n"
	"	jmp 8f\n"
	".cfi_restore_state\n"
	"3:	cmpq $0, 72(%rax, %r11)\n"
	"	je 4f\n"
	"	addq $32, %r11\n"
	"	andq (%rax), %r11\n"
	"	jmp 2b\n"
	"4:	leaq gprof_add(%rip), %r11\n"
	"8:	pushq %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset rbp, 0\n"
	"	movq %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n"
	"	pushq %rdi\n"
	"	pushq %rsi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	subq $128, %rsp\n"
	"	andq $-16, %rsp\n"
	"	movups %xmm0, 0(%rsp)\n"
	"	movups %xmm1, 16(%rsp)\n"
	"	movups %xmm2, 32(%rsp)\n"
	"	movups %xmm3, 48(%rsp)\n"
	"	movups %xmm4, 64(%rsp)\n"
	"	movups %xmm5, 80(%rsp)\n"
	"	movups %xmm6, 96(%rsp)\n"
	"	movups %xmm7, 112(%rsp)\n"
	"	movq %rcx, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	cld\n"
	"	call *%r11\n"
	"	movups 0(%rsp), %xmm0\n"
	"	movups 16(%rsp), %xmm1\n"
	"	movups 32(%rsp), %xmm2\n"
	"	movups 48(%rsp), %xmm3\n"
	"	movups 64(%rsp), %xmm4\n"
	"	movups 80(%rsp), %xmm5\n"
	"	movups 96(%rsp), %xmm6\n"
	"	movups 112(%rsp), %xmm7\n"
	"	leaq -40(%rbp), %rsp\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	popq %rbp\n"
	".cfi_def_cfa rsp, 32\n"
	".cfi_restore rbp\n"
	"	popq %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rcx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rax\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size mcount, . - mcount\n"
	".size _mcount, . - _mcount\n"
	".p2align 5\n"
	".globl __fentry__\n"
	".type __fentry__, @function\n"
	"__fentry__:\n"
	".cfi_startproc\n"
	"	cmpb $0, gprof_mode(%rip)\n"
	"	jne 9f\n"
	"	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	movq 32(%rsp), %rcx\n" /* the function has no frame yet */
	"	jmp 1b\n"
	".cfi_adjust_cfa_offset -24\n"
	"9:	cmpb $2, gprof_mode(%rip)\n"
	"	je 10f\n"
	"	ret\n"
	"10:	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq 24(%rsp), %rdx\n"
	"	leaq 32(%rsp), %rcx\n"
	"	jmp 7b\n"
	".cfi_endproc\n"
	".size __fentry__, . - __fentry__\n");

/*
 * Functions with a replaced return address return to gprof_return. Unwinders look at the
 * instruction before it, and find the real address in its copy: gprof_times.c.
 *
 * The unwinder of C++ exceptions tells frames apart by their place on the stack, and this one has
 * the same place as the caller. It tells them apart if one is that of a signal. It then takes the
 * caller's address for that of an instruction, not for that behind a call: so this is 1 lower.
 */
__asm__(".text\n"
	".p2align 5\n"
	".type gprof_return, @function\n"
	".hidden gprof_return\n"
	".globl gprof_return\n"
	".cfi_startproc\n"
	".cfi_def_cfa rsp, 0\n"
	".cfi_signal_frame\n"
	/* DW_CFA_val_expression of the return address: *(((CFA - 8) & COPY_MASK) + COPIES) - 1 */
	".cfi_escape 0x16, 0x10, 0x19, 0x38, 0x1c\n"
	".cfi_escape 0x0e, 0xf0, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0x1a\n"
	".cfi_escape 0x0e, 0, 0, 0, 0, 0, 0x20, 0, 0, 0x22\n"
	".cfi_escape 0x06, 0x31, 0x1c\n"
	"	nop\n"
	"gprof_return:\n"
	"	subq $8, %rsp\n" /* the place of the return address */
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset rbp, 0\n"
	"	movq %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n"
	"	pushq %rcx\n" /* gcc may know that the function changes none of these */
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	pushq %r11\n"
	"	leaq 24(%rbp), %rdi\n"
	"	subq $32, %rsp\n"
	"	andq $-16, %rsp\n"
	"	movups %xmm0, (%rsp)\n"
	"	movups %xmm1, 16(%rsp)\n"
	"	call gprof_leave\n"
	"	movq %rax, 24(%rbp)\n"
	"	movups (%rsp), %xmm0\n"
	"	movups 16(%rsp), %xmm1\n"
	"	leaq -56(%rbp), %rsp\n"
	"	popq %r11\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rcx\n"
	"	popq %rbp\n"
	".cfi_def_cfa rsp, 24\n"
	".cfi_restore rbp\n"
	"	popq %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rax\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size gprof_return, . - gprof_return\n");

/* A count is one instruction: a signal handler may count the same arc. */
static void increase(uint64_t *count)
{
	__asm__ volatile("incq %0" : "+m"(*count) : : "cc");
}
#else
static void increase(uint64_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}
#endif

static void count_call(uintptr_t from, uintptr_t self)
{
	struct gprof_arc *arc = slot_of(gprof_table, from, self);

	if (arc->self)
		increase(&arc->count);
	else
		gprof_add(from, self);
}

/* mcount() and __fentry__() with times */
__attribute__((used, visibility("hidden"))) void gprof_time(uintptr_t *slot, uintptr_t self);
void gprof_time(uintptr_t *slot, uintptr_t self)
{
	count_call(gprof_caller(slot), self);
	gprof_enter(slot, self);
}

#ifdef __aarch64__
/* The compiler calls it as any function, with the calling address. */
PRELOAD_EXPORT void _mcount(void *from);
PRELOAD_EXPORT void _mcount(void *from)
{
	if (gprof_mode != GPROF_PAUSED)
		count_call((uintptr_t)from, (uintptr_t)__builtin_return_address(0));
}
#endif

PRELOAD_EXPORT void __cyg_profile_func_enter(void *function, void *caller);
PRELOAD_EXPORT void __cyg_profile_func_exit(void *function, void *caller);

PRELOAD_EXPORT void __cyg_profile_func_enter(void *function, void *caller)
{
	if (gprof_mode == GPROF_PAUSED)
		return;
	count_call((uintptr_t)caller, (uintptr_t)function);
	if (gprof_mode == GPROF_TIMES)
		gprof_enter_plain((uintptr_t)__builtin_frame_address(0) + PLAIN_FRAME, (uintptr_t)function);
}

PRELOAD_EXPORT void __cyg_profile_func_exit(void *function, void *caller)
{
	if (gprof_mode == GPROF_TIMES)
		gprof_leave_plain((uintptr_t)function);
}

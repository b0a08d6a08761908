/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TRACEPOINT_INLINE_H
#define TRACE_TRACEPOINT_INLINE_H
/*
 * tracepoint_inline.h - the common case of an event, inlined into the program by
 * <trace/tracepoint.h>. Not for direct use.
 *
 * Terms. A block is the rest of a sub-buffer that libtracer reserved for the writers of one CPU. A
 * window (struct trace_window, one per CPU) tells writers where that block is. A restartable
 * sequence (rseq(2)) is a series of instructions that the kernel aborts if the thread is preempted,
 * moved to another CPU or interrupted by a signal before the last one. libtracer then starts it
 * again.
 *
 * An event costs little more than reading the clock. That is the time stamp counter if the kernel
 * uses it for its own time; otherwise, as in many virtual machines, libtracer reads the time, by a
 * call.
 *
 * - No locked instruction, which takes longer than all the rest on many processors. The thread
 *   appends its record in a restartable sequence of two dozen instructions. The last one, a plain
 *   store to the word of the block, makes the record part of the ring. A thread that is disturbed
 *   before that store has written nothing that counts, and restarts. So on each CPU records are
 *   complete and in sequence, and a thread that dies leaves no hole.
 * - No look at the ring's position. If there is no block, or the block is full, the thread calls
 *   libtracer, which records the event by the slow path and opens another block.
 *
 * Example. The block's word says: next offset 4096, 50 records. A thread with a record of 24 bytes
 * loads the word, checks 4096 + 24 against the size of the sub-buffer, writes the record at 4096,
 * and stores "4120, 51 records". If it is preempted before that store, another thread on the CPU
 * may write its own record at 4096; the first thread restarts and finds 4120.
 *
 * Why libtracer may write the window while other threads read it: it writes only while no block is
 * open, and stores the word that opens the block last, on that CPU. A thread that loaded the old
 * value of the word was therefore preempted in between, and its sequence restarts.
 *
 * A time is never before the base of its sub-buffer, which is in the window. If a new block was
 * opened between reading the clock and entering the sequence, and its base is later than the time,
 * the thread takes the slow path and reads the clock again. The thread reads its CPU before it
 * reads the clock, and checks it in the sequence: so the time is from the CPU that has the ring.
 *
 * Compiled programs contain all this, so it is fixed for them: TRACE_TRACEPOINT_VERSION. libtracer
 * records events of its own version and disables others. A libtracer that cannot keep to this file
 * gets another soname.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct trace_window - where the block of @cpu is; written by libtracer; one cache line
 * @block: points to struct subbuf_control's word, which says how far the block is filled. NULL:
 *     there is none, as in a child after fork()
 * @base: the sub-buffer's full time. @lap: the upper 8 bits of its records' headers
 * @subbuf: the address of the sub-buffer, of @bytes
 * @record: what each record adds to the word of the block, besides its bytes. @moving: a thread is
 *     opening or closing a block
 */
struct trace_window {
	uint64_t *block;
	uint64_t base;
	uint64_t lap;
	unsigned char *subbuf;
	uint32_t bytes;
	uint32_t cpu;
	uint64_t record;
	uint32_t moving;
	uint32_t pad[3];
} __attribute__((aligned(64)));

/**
 * struct trace_tp_thread - what libtracer keeps for each thread
 * @cpu: where the kernel stores the thread's CPU, struct rseq: two words, the second is no valid
 *     number while the CPU is not known. The pointer to the current sequence follows.
 * @windows: by CPU. @tid: the thread's number
 * @clock: the clock of its records, enum subbuf_clock: TRACE_CLOCK_TSC, or the time that
 *     trace_tracepoint_clock() returns
 */
struct trace_tp_thread {
	const volatile uint32_t *cpu;
	struct trace_window *windows;
	uint32_t tid;
	uint32_t clock;
};

#define TRACE_CLOCK_TSC 1

/* the word of a block: number of records from this bit on; offset of the next in the lower 32 */
#define TRACE_BLOCK_RECORD_SHIFT 44

#ifdef __x86_64__
/*
 * A restartable sequence from label 1 to 2 on the CPU number @cpu_. It has a descriptor for the
 * kernel, and a place to continue when it was disturbed, after the signature that glibc registered.
 * At its end it clears the pointer to the descriptor, because the descriptor may be in a library
 * that is unloaded. It uses rsi. It has few operands, because without optimisation, and with a
 * sanitizer, few registers are left.
 */
#define TRACE_RSEQ_BEGIN_(cpu_)                                                                             \
	".pushsection trace_rseq, \"aw?\", @progbits\n\t.balign 32\n"                                       \
	"3:\n\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n\t"                                      \
	".pushsection trace_rseq_abort, \"ax?\", @progbits\n\t.byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n" \
	"4:\n\tjmp %l[disturbed]\n\t.popsection\n\t"                                                        \
	"leaq 3b(%%rip), %%rsi\n\tmovq %%rsi, 8(%[where])\n"                                                \
	"1:\n\tmovl " cpu_ ", %%esi\n\tcmpl %%esi, 4(%[where])\n\tjne %l[disturbed]\n\t"
#define TRACE_RSEQ_END_ "\n2:\n\tmovq $0, 8(%[where])"

/*
 * Append a record to the block. @length_ adds its size to rcx. @payload_ writes the payload at
 * 8(%%rdi), and leaves r8, the address of the block's word, as it is. Both may use rsi. The time is
 * in two halves, as the processor returns it; a counter's value stays in these registers, and the
 * sequence uses others.
 */
/* clang-format off */
#define TRACE_APPEND_(length_, payload_, ...) \
	__asm__ goto(TRACE_RSEQ_BEGIN_("%c[cpu](%[window])") \
		     "movq %c[block](%[window]), %%r8\n\ttestq %%r8, %%r8\n\tjz %l[disturbed]\n\t" \
		     "cmpl %c[base](%[window]), %[low]\n\tmovl %[high], %%esi\n\t" \
		     "sbbl 4+%c[base](%[window]), %%esi\n\tjnz %l[disturbed]\n\t" \
		     "movq (%%r8), %%rcx\n\tmovl %%ecx, %%edi\n\taddq %c[record](%[window]), %%rcx\n\t" length_ \
		     "cmpl %c[bytes](%[window]), %%ecx\n\tja %l[disturbed]\n\taddq %c[subbuf](%[window]), %%rdi\n\t" \
		     "movl %[low], %%esi\n\torq %c[lap](%[window]), %%rsi\n\torq %[word], %%rsi\n\t" \
		     "movq %%rsi, (%%rdi)\n\t" \
		     payload_ "movq %%rcx, (%%r8)" TRACE_RSEQ_END_ \
		     : \
		     : [where] "r"(where), [window] "r"(window), [low] "r"(low), [high] "r"(high), [word] "r"(word), \
		       [record] "i"(offsetof(struct trace_window, record)), \
		       [block] "i"(offsetof(struct trace_window, block)), \
		       [base] "i"(offsetof(struct trace_window, base)), [lap] "i"(offsetof(struct trace_window, lap)), \
		       [subbuf] "i"(offsetof(struct trace_window, subbuf)), \
		       [bytes] "i"(offsetof(struct trace_window, bytes)), \
		       [cpu] "i"(offsetof(struct trace_window, cpu)), __VA_ARGS__ \
		     : "rcx", "rsi", "rdi", "r8", "cc", "memory" \
		     : disturbed)
/* clang-format on */

/**
 * trace_append() - append a record with a payload of @nr_words, one to three, to the block of
 * @window, with the time @high << 32 | @low
 * @where: where the thread finds its CPU. @word: the header, without lap and time
 * Returns false if nothing was written: there is no room or no block, or the thread was disturbed.
 */
static inline __attribute__((always_inline, unused)) bool trace_append(const struct trace_window *window,
								       const volatile uint32_t *where, uint32_t low,
								       uint32_t high, uint64_t word, size_t nr_words,
								       uint64_t first, uint64_t second, uint64_t third)
{
	if (nr_words == 1)
		TRACE_APPEND_("addq $16, %%rcx\n\t", "movq %[first], 8(%%rdi)\n\t", [first] "r"(first));
	else if (nr_words == 2)
		TRACE_APPEND_("addq $24, %%rcx\n\t", "movq %[first], 8(%%rdi)\n\tmovq %[second], 16(%%rdi)\n\t",
			      [first] "r"(first), [second] "r"(second));
	else
		TRACE_APPEND_("addq $32, %%rcx\n\t",
			      "movq %[first], 8(%%rdi)\n\tmovq %[second], 16(%%rdi)\n\tmovq %[third], 24(%%rdi)\n\t",
			      [first] "r"(first), [second] "r"(second), [third] "r"(third));
	return true;
disturbed:
	return false;
}
#endif

/* Put @bits, of @bytes bytes, at @offset in @words. If both sizes are constants, all
 * of it stays in registers. */
static inline __attribute__((always_inline, unused)) void trace_put(uint64_t *words, size_t offset, size_t bytes,
								    uint64_t bits)
{
	unsigned int shift = (unsigned int)(offset % 8 * 8);

	words[offset / 8] |= bits << shift;
	if (offset % 8 + bytes > 8)
		words[offset / 8 + 1] |= bits >> (64 - shift);
}

#ifdef __cplusplus
}
#endif
#endif

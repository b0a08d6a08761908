/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TRACEPOINT_INLINE_H
#define TRACE_TRACEPOINT_INLINE_H
/*
 * tracepoint_inline.h - the common case of an event, as <trace/tracepoint.h> leaves it in the program itself. Not for direct use.
 *
 * It costs little more than the reading of the clock that stands at its beginning: the time stamp counter, where the kernel keeps its own time by it; elsewhere,
 * as in many virtual machines, libtracer tells the time, by a call.
 *
 * - No locked instruction, which takes longer than the rest on many processors. A record is appended in a restartable sequence (rseq(2)) of two dozen
 *   instructions, the last of which, a plain store, makes it part of the ring: who is preempted, moved to another CPU or interrupted by a signal before
 *   that has written nothing that counts, and begins again. So on each CPU records come whole and one after the other, and death leaves no holes.
 * - Nothing is worked out of the ring's position. libtracer reserves what is left of a sub-buffer, a block, for whoever runs on its CPU, and keeps a
 *   window for each CPU that tells where it is. Otherwise, and when it is full, libtracer is called, records the event the long way and opens another block.
 *
 * Why the window may be written while others look through it: that is done while no block is open, and the word that opens it is stored last, by
 * somebody on that CPU. Who read the word before has been preempted since, and begins again.
 *
 * A time is never before the base of its sub-buffer, which stands in the window. Who was held up between the clock and the sequence for so long
 * that the block is another one takes the long way, with a new time. The CPU is looked at before the clock and in the sequence: the time is
 * of the CPU whose ring it is.
 *
 * All this is fixed for programs that were compiled with it: TRACE_TRACEPOINT_VERSION. libtracer records events of its own version and switches
 * others off; a libtracer that cannot keep what is here gets another soname.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct trace_window - the block that @cpu fills; libtracer's, a cache line
 * @block: how far it is filled: struct subbuf_control's word. NULL: nothing to be seen, as in a child after a fork
 * @base: the sub-buffer's full time. @lap: what the headers of its records have in their upper 8 bits
 * @subbuf: it begins there, and has @bytes
 * @record: what the word of the block has more with each record, less its bytes. @moving: somebody opens a block, or closes one
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
 * struct trace_thread - what a thread knows
 * @cpu: where the kernel keeps its CPU, struct rseq: twice, the second is none while it is not known; behind it the sequence that the thread is in
 * @windows: by CPU. @tid: the thread's number
 * @clock: what its records' times are, enum subbuf_clock: TRACE_CLOCK_TSC, or what trace_tracepoint_clock() says
 */
struct trace_thread {
	const volatile uint32_t *cpu;
	struct trace_window *windows;
	uint32_t tid;
	uint32_t clock;
};

#define TRACE_CLOCK_TSC 1

#define TRACE_BLOCK_RECORD_SHIFT 44 /* the word of a block: from this bit on how many records are in it; the lower 32 are where the next one goes */

#ifdef __x86_64__
/*
 * A restartable sequence from 1 to 2 on the CPU whose number is @cpu_: the descriptor that the kernel is told of, and where it goes on when it was disturbed, behind
 * the signature that glibc registered. Its end is told to the kernel, too: the descriptor may be in a library that is unloaded. It uses rsi. Few operands, for
 * without optimisation, and with a sanitizer, not many registers are left.
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
 * A record into the block. @length_ adds how long it is to rcx; @payload_ writes what stands behind its header, at 8(%%rdi), and leaves the block in r8. Both may use
 * rsi. The time is in two halves, as the processor tells it, and where it is the counter's they stay where they are: the sequence has other registers.
 */
#define TRACE_APPEND_(length_, payload_, ...)                                                                                                     \
	__asm__ goto(TRACE_RSEQ_BEGIN_("%c[cpu](%[window])") "movq %c[block](%[window]), %%r8\n\ttestq %%r8, %%r8\n\tjz %l[disturbed]\n\t"  \
		     "cmpl %c[base](%[window]), %[low]\n\tmovl %[high], %%esi\n\tsbbl 4+%c[base](%[window]), %%esi\n\tjnz %l[disturbed]\n\t"   \
		     "movq (%%r8), %%rcx\n\tmovl %%ecx, %%edi\n\taddq %c[record](%[window]), %%rcx\n\t" length_                            \
		     "cmpl %c[bytes](%[window]), %%ecx\n\tja %l[disturbed]\n\taddq %c[subbuf](%[window]), %%rdi\n\t"                      \
		     "movl %[low], %%esi\n\torq %c[lap](%[window]), %%rsi\n\torq %[word], %%rsi\n\tmovq %%rsi, (%%rdi)\n\t"                \
		     payload_ "movq %%rcx, (%%r8)" TRACE_RSEQ_END_                                                                       \
		     :                                                                                                                    \
		     : [where] "r"(where), [window] "r"(window), [low] "r"(low), [high] "r"(high), [word] "r"(word), \
		       [record] "i"(offsetof(struct trace_window, record)), [block] "i"(offsetof(struct trace_window, block)),            \
		       [base] "i"(offsetof(struct trace_window, base)), [lap] "i"(offsetof(struct trace_window, lap)),                    \
		       [subbuf] "i"(offsetof(struct trace_window, subbuf)), [bytes] "i"(offsetof(struct trace_window, bytes)),            \
		       [cpu] "i"(offsetof(struct trace_window, cpu)), __VA_ARGS__                                                        \
		     : "rcx", "rsi", "rdi", "r8", "cc", "memory"                                                                         \
		     : disturbed)

/**
 * trace_append() - a record of @nr_words, one to three, behind its header, into the block of @window, at the time that is @high << 32 | @low
 * @where: where the thread finds its CPU. @word: the header, without lap and time
 * False: nothing was written; there is no room, or no block, or the thread was disturbed.
 */
static inline __attribute__((always_inline, unused)) bool trace_append(const struct trace_window *window, const volatile uint32_t *where, uint32_t low,
								       uint32_t high, uint64_t word, size_t nr_words, uint64_t first, uint64_t second, uint64_t third)
{
	if (nr_words == 1)
		TRACE_APPEND_("addq $16, %%rcx\n\t", "movq %[first], 8(%%rdi)\n\t", [first] "r"(first));
	else if (nr_words == 2)
		TRACE_APPEND_("addq $24, %%rcx\n\t", "movq %[first], 8(%%rdi)\n\tmovq %[second], 16(%%rdi)\n\t", [first] "r"(first), [second] "r"(second));
	else
		TRACE_APPEND_("addq $32, %%rcx\n\t", "movq %[first], 8(%%rdi)\n\tmovq %[second], 16(%%rdi)\n\tmovq %[third], 24(%%rdi)\n\t",
			      [first] "r"(first), [second] "r"(second), [third] "r"(third));
	return true;
disturbed:
	return false;
}
#endif

/* @bits, @bytes of them, at @offset of what @words are. With constants for both, all of it stays in registers. */
static inline __attribute__((always_inline, unused)) void trace_put(uint64_t *words, size_t offset, size_t bytes, uint64_t bits)
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

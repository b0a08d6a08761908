/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vfork.c - vfork(): its child records its events on the slow path
 *
 * The child of vfork() runs in the thread's memory, struct rseq included, but is not registered
 * with the kernel. The kernel would not restart its sequences, and the CPU number that it finds
 * there is its parent's. So the thread has no CPU number until the parent continues. This file must
 * define vfork() in front of the C library's, because libtracer has no other way to notice the
 * child. A child of posix_spawn() runs no code of the program.
 */
#ifdef __x86_64__
#include "user.h"

_Static_assert(offsetof(struct trace_tp_thread, cpu) == 0, "below");

/* As no_cpu of record.c, which recognises it by its second word. */
__attribute__((used)) static uint32_t trace_vforked_cpu[4] __attribute__((aligned(8))) = {0, USER_CPU_VFORKED, 0, 0};

/*
 * The child returns over the stack that the parent later returns on. So the return address is kept
 * in a register, as is the thread's previous @cpu: the kernel preserves all registers but rax, rcx
 * and r11. The child jumps instead of returning, so that the parent's return address stays on a
 * shadow stack, too.
 */
__asm__(".text\n\t.globl vfork\n\t.type vfork, @function\n\t.balign 16\n"
	"vfork:\n\t.cfi_startproc\n\tendbr64\n\t"
	"popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_register %rip, %rdi\n\t"
	"movq trace_tp_thread@gottpoff(%rip), %rdx\n\tmovq %fs:(%rdx), %rsi\n\t"
	"leaq trace_vforked_cpu(%rip), %rcx\n\tmovq %rcx, %fs:(%rdx)\n\t"
	"movl $58, %eax\n\tsyscall\n\t"
	"testq %rax, %rax\n\tjnz 1f\n\tnotrack jmp *%rdi\n"
	"1:\n\tmovq %rsi, %fs:(%rdx)\n\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rip, 0\n\t"
	"cmpq $-4095, %rax\n\tjae 2f\n\tret\n"
	"2:\n\tpushq %rax\n\t.cfi_adjust_cfa_offset 8\n\tcall __errno_location@PLT\n\tpopq "
	"%rcx\n\t.cfi_adjust_cfa_offset -8\n\t"
	"negl %ecx\n\tmovl %ecx, (%rax)\n\tmovq $-1, %rax\n\tret\n\t"
	".cfi_endproc\n\t.size vfork, .-vfork\n\t");
#endif

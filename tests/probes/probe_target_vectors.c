/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_target_vectors.c - functions with a first instruction that the kernel mistakes for another,
 * or refuses to probe.
 *
 * Prints how many return a wrong result; nothing on a processor without such instructions.
 */
#include <stdint.h>
#include <stdio.h>

#ifdef __x86_64__
/* xmm0 is 0, xmm1 is @value in its lowest 32 bits. The instruction after the first one returns the
 * result. */
#define FIRST(name, instruction)                                                                                     \
	uint32_t name(uint32_t *memory, uint32_t value);                                                             \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" instruction                       \
		"\n.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n" /* the reach of a \
												      copy by the    \
												      kernel */      \
		"	vmovd %xmm0,%eax\n	ret\n.size " #name ",.-" #name "\n");

FIRST(is_like_jo, "vpshufd $0,%xmm1,%xmm0")
FIRST(is_like_je, "vpcmpeqb %xmm0,%xmm0,%xmm0")
FIRST(is_like_jg, "vmovdqu %xmm1,(%rdi)\n	vmovdqu (%rdi),%xmm0")
FIRST(is_like_popf, "vfnmadd132ss %xmm1,%xmm1,%xmm0")
FIRST(is_like_ret, "vcmpps $0,%xmm0,%xmm0,%xmm0")
FIRST(is_like_call, "vpsubsb %xmm1,%xmm0,%xmm0")
FIRST(is_like_jmp, "vpor %xmm1,%xmm0,%xmm0")
FIRST(is_refused, "vpxor %xmm1,%xmm0,%xmm0")
FIRST(is_probed, "vaddps %xmm1,%xmm0,%xmm0")

#define ONE 0x3f800000u /* 1 as a float */

static const struct {
	const char *name;
	uint32_t (*function)(uint32_t *memory, uint32_t value);
	uint32_t result;
} calls[] = {
	{"is_like_jo", is_like_jo, ONE},
	{"is_like_je", is_like_je, UINT32_MAX},
	{"is_like_jg", is_like_jg, ONE},
	{"is_like_popf", is_like_popf, ONE},
	{"is_like_ret", is_like_ret, UINT32_MAX},
	{"is_like_call", is_like_call, 0xc17f0000u},
	{"is_like_jmp", is_like_jmp, ONE},
	{"is_refused", is_refused, ONE},
	{"is_probed", is_probed, ONE},
};

int main(void)
{
	int wrong = 0;

	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return 0;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		uint32_t memory[4] = {0}, result;

		__asm__ volatile("vpxor %%xmm0,%%xmm0,%%xmm0\n	vmovd %2,%%xmm1\n	mov %3,%%rdi\n	call *%1\n"
				 : "=a"(result)
				 : "r"(calls[i].function), "r"(ONE), "r"(memory)
				 : "rdi", "xmm0", "xmm1", "memory", "cc");
		if (result != calls[i].result)
			fprintf(stderr, "%s: %08x\n", calls[i].name, result);
		wrong += result != calls[i].result;
	}
	printf("%d\n", wrong);
	return wrong;
}
#else
int main(void)
{
	return 0;
}
#endif

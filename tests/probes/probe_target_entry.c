/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_target_entry.c - variables that the debug information describes only by the value of a
 * register at the function's entry, and an expression on it.
 *
 * Compilers describe so values that no longer exist. Here the description is written by hand, so
 * that it also holds for the function's first instruction. Built without -g.
 */
int main(void);

#ifdef __x86_64__
__asm__(".text\n"
	".globl entered\n"
	".type entered, @function\n"
	"entered:\n"
	"	ret\n"
	"entered_end:\n"
	".size entered, . - entered\n"

	".section .debug_abbrev,\"\",@progbits\n"
	"abbrevs:\n" /* number, tag, children, (attribute, form) ... */
	/* unit: name, language, low_pc, high_pc */
	"	.uleb128 1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0\n"
	/* function: name, external, low_pc, high_pc */
	"	.uleb128 2, 0x2e, 1, 0x03, 0x08, 0x3f, 0x19, 0x11, 0x01, 0x12, 0x07, 0, 0\n"
	/* variable: name, type, location */
	"	.uleb128 3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0\n"
	/* base type: name, encoding, size */
	"	.uleb128 4, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0\n"
	"	.uleb128 0\n"

	".section .debug_info,\"\",@progbits\n"
	"info:\n"
	"	.long info_end - info - 4\n"
	"	.short 5\n" /* version */
	"	.byte 1, 8\n"
	"	.long abbrevs\n"
	"	.uleb128 1; .asciz \"entry.c\"; .byte 0x0c; .quad entered, entered_end - entered\n"
	"type_long:\n"
	"	.uleb128 4; .asciz \"long\"; .byte 5, 8\n"
	"	.uleb128 2; .asciz \"entered\"; .quad entered, entered_end - entered\n"
	/* 0xa3: entry_value; 0x55: rdi; 0x9f: this is the value, and not where it is; 0x31: 1;
	 * 0x22: plus; 0x24: shl */
	"	.uleb128 3; .asciz \"as_it_was\"; .long type_long - info; .byte 4, 0xa3, 1, 0x55, 0x9f\n"
	"	.uleb128 3; .asciz \"one_more\"; .long type_long - info; .byte 6, 0xa3, 1, 0x55, 0x31, 0x22, 0x9f\n"
	"	.uleb128 3; .asciz \"there\"; .long type_long - info; .byte 3, 0xa3, 1, 0x55\n"
	"	.uleb128 3; .asciz \"shifted\"; .long type_long - info; .byte 6, 0xa3, 1, 0x55, 0x31, 0x24, 0x9f\n"
	"	.byte 0, 0\n"
	"info_end:\n"
	".text\n");
void entered(long value);
#else
void entered(long value);
void entered(long value)
{
}
#endif

int main(void)
{
	entered(5);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_ROW_H
#define TRACER_UNWIND_ROW_H
/*
 * unwind_row.h - unwind tables: how to find the caller of each instruction of a file. The daemon
 * compiles them from .eh_frame, and the BPF programs of samples read them.
 *
 * Terms: CFA is the value of RSP before the call of the function, a number that DWARF describes for
 * each instruction. The return address is at CFA - 8.
 *
 * A table consists of words of 8 bytes in blocks of 4096 bytes. An offset in the file selects a
 * page of UNWIND_PAGE_BYTES. The word of that number is the entry of the page: the index of the
 * first row of the page, and the number of its rows. A row holds from its offset to that of the
 * next one. The first row of a page holds at its begin, and all rows of a page are in one block. So
 * a look-up reads two blocks. A page without an entry has no description.
 *
 * Example: a function at 0x1000 that pushes RBP with its first instruction, of one byte, and
 * returns at 0x1010 after it popped RBP. The rows of page 8 (0x1000 / 512) are
 *
 *	{0x1000, cfa 1, rbp  0, UNWIND_RSP}	CFA = RSP + 8, RBP is the caller's
 *	{0x1001, cfa 2, rbp -2, UNWIND_RSP}	CFA = RSP + 16, the caller's RBP is at CFA - 16
 *	{0x1010, cfa 1, rbp  0, UNWIND_RSP}
 *	{0x1011, UNWIND_NONE}
 */

enum unwind_rule {
	UNWIND_NONE,	    /* no description */
	UNWIND_RSP,	    /* CFA = RSP + 8 * cfa */
	UNWIND_RBP,	    /* CFA = RBP + 8 * cfa */
	UNWIND_PLT,	    /* CFA = RSP + 8, and 8 more from byte cfa of each 16 on: a stub of the linker */
	UNWIND_RBP_POINTER, /* CFA is at RBP - 8 * cfa: a function that aligned its stack; rbp -1: RBP is at RBP */
	UNWIND_RSP_POINTER, /* CFA is 8 more than what is at RSP + 8 * cfa: the same, in assembly */
	UNWIND_SIGNAL,	    /* the return from a signal handler: the registers are in a struct of the kernel */
	UNWIND_END,	    /* a thread begins here: no caller */
	UNWIND_UNSUPPORTED, /* a description that has no row */
	UNWIND_RBX,	    /* CFA = RBX + 8 * cfa: assembly that aligned its stack, _dl_runtime_resolve() */
	/* only for the interrupted instruction: these registers are not followed to callers */
	UNWIND_RDI,   /* as UNWIND_RSP, but the return address is in RDI: vfork() */
	UNWIND_CLONE, /* as UNWIND_RSP; if RAX is 0, a thread begins here: behind the system call */
	/* _Unwind_Resume() goes on in the handler of an exception, whose stack is at RCX */
	UNWIND_RCX,    /* CFA = RCX + 8 * cfa */
	UNWIND_TO_RCX, /* as UNWIND_RSP, but the return address is in RCX */
};

/* The caller's RBX: in RBX, or at CFA - 8 * (1 + rbx), or not known. Most functions that save it do
 * so within UNWIND_RBX_MAX words. */
enum unwind_rbx { UNWIND_RBX_SAME, UNWIND_RBX_MAX = 7, UNWIND_RBX_LOST = 15 };

/**
 * struct unwind_row - @offset: in the file. @rbp: the caller's RBP is at CFA + 8 * rbp; 0: in RBP
 * @rule: enum unwind_rule. @rbx: enum unwind_rbx
 */
struct unwind_row {
	unsigned int offset;
	unsigned short cfa;
	signed char rbp;
	unsigned char rule : 4;
	unsigned char rbx : 4;
};

/** struct unwind_page - the entry of a page */
struct unwind_page {
	unsigned int first;
	unsigned int nr;
};

#define UNWIND_PAGE_SHIFT  9
#define UNWIND_PAGE_BYTES  (1u << UNWIND_PAGE_SHIFT)
#define UNWIND_BLOCK_WORDS 512u /* as many as a page can have rows */
#define UNWIND_BLOCK_BYTES (UNWIND_BLOCK_WORDS * 8u)

struct unwind_block {
	unsigned long long words[UNWIND_BLOCK_WORDS];
};

_Static_assert(sizeof(struct unwind_row) == 8 && sizeof(struct unwind_page) == 8, "words of a table");

/* uc_mcontext in struct rt_sigframe of the kernel, behind the popped address of its restorer */
#define UNWIND_SIGNAL_RBP 120
#define UNWIND_SIGNAL_RBX 128
#define UNWIND_SIGNAL_RSP 160
#define UNWIND_SIGNAL_RIP 168

#endif

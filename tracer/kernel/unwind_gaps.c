/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unwind_gaps.c - a piece of code without a description is known by all of its bytes, apart from
 * addresses. So a row is as certain as one of .eh_frame. Code that differs by a byte has no row.
 */
#include "unwind_gaps.h"

#include <stdbool.h>
#include <stddef.h>

#define MAX_PIECE 64
#define MAX_ROWS  3
#define ANY	  0x100 /* a byte of an address, or of a distance */
#define ANY_4	  ANY, ANY, ANY, ANY

/** struct known_row - from byte @at on */
struct known_row {
	unsigned char at;
	struct unwind_row row;
};

/** struct known_code - @code: @bytes of it. @rows: those with the rule UNWIND_NONE are not used */
struct known_code {
	unsigned short code[MAX_PIECE];
	unsigned char bytes;
	struct known_row rows[MAX_ROWS];
};

#define RSP(n)                                 \
	{                                      \
		.cfa = (n), .rule = UNWIND_RSP \
	}
#define RSP_WITH_RBP(n)                                   \
	{                                                 \
		.cfa = (n), .rbp = -2, .rule = UNWIND_RSP \
	}

static const struct known_code pieces[] = {
	/* _init of crti.S: sub $8,%rsp; mov __gmon_start__,%rax; test; je; call *%rax; add; ret */
	{{0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, ANY_4, 0x48, 0x85,
	  0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4,  0x08, 0xc3},
	 23,
	 {{0, RSP(1)}, {4, RSP(2)}, {22, RSP(1)}}},
	/* the same, with a call that the file puts there: libcrypto */
	{{0x48, 0x83, 0xec, 0x08, 0x48, 0x8b,  0x05, ANY_4, 0x48, 0x85, 0xc0,
	  0x74, 0x02, 0xff, 0xd0, 0xe8, ANY_4, 0x48, 0x83,  0xc4, 0x08, 0xc3},
	 28,
	 {{0, RSP(1)}, {4, RSP(2)}, {27, RSP(1)}}},
	/* _fini of crti.S: sub $8,%rsp; add $8,%rsp; ret */
	{{0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3}, 9, {{0, RSP(1)}, {4, RSP(2)}, {8, RSP(1)}}},
	/* deregister_tm_clones of gcc: lea, lea, cmp, je, mov, test, je, jmp *%rax; ret */
	{{0x48,	 0x8d, 0x3d, ANY_4, 0x48, 0x8d, 0x05, ANY_4, 0x48, 0x39, 0xf8, 0x74, 0x15, 0x48, 0x8b, 0x05,
	  ANY_4, 0x48, 0x85, 0xc0,  0x74, 0x09, 0xff, 0xe0,  0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, 0xc3},
	 41,
	 {{0, RSP(1)}}},
	/* register_tm_clones: lea, lea, sub, mov, shr, sar, add, sar, je, mov, test, je, jmp */
	{{0x48, 0x8d,  0x3d, ANY_4, 0x48, 0x8d, 0x35, ANY_4, 0x48, 0x29, 0xfe, 0x48, 0x89, 0xf0, 0x48, 0xc1,
	  0xee, 0x3f,  0x48, 0xc1,  0xf8, 0x03, 0x48, 0x01,  0xc6, 0x48, 0xd1, 0xfe, 0x74, 0x14, 0x48, 0x8b,
	  0x05, ANY_4, 0x48, 0x85,  0xc0, 0x74, 0x08, 0xff,  0xe0, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3},
	 57,
	 {{0, RSP(1)}}},
	/* __do_global_dtors_aux: cmpb, jne, push %rbp, cmpq, mov %rsp,%rbp, je, mov, two calls,
	 * movb, pop %rbp, ret; ret */
	{{0x80,	 0x3d, ANY_4, 0x00,  0x75, ANY,	 0x55, 0x48, 0x83,  0x3d, ANY_4, 0x00,
	  0x48,	 0x89, 0xe5,  0x74,  0x0c, 0x48, 0x8b, 0x3d, ANY_4, 0xe8, ANY_4, 0xe8,
	  ANY_4, 0xc6, 0x05,  ANY_4, 0x01, 0x5d, 0xc3, 0x0f, 0x1f,  0x00, 0xc3},
	 53,
	 {{0, RSP(1)}, {10, RSP_WITH_RBP(2)}, {48, RSP(1)}}},
	/* frame_dummy: endbr64, jmp register_tm_clones */
	{{0xf3, 0x0f, 0x1e, 0xfa, 0xe9, ANY_4}, 9, {{0, RSP(1)}}},
	/* clone() and clone3() of glibc, which describe neither parent nor child here: syscall,
	 * test %rax,%rax, jl, je, ret */
	{{0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, ANY, 0x74, ANY, 0xc3},
	 10,
	 {{0, RSP(1)}, {2, {.cfa = 1, .rule = UNWIND_CLONE}}}},
	/* the end of what is before __start_context of glibc, to which the function of a context
	 * returns: mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je; call setcontext */
	{{ANY, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74, ANY, 0xe8},
	 14,
	 {{0, {.rule = UNWIND_END}}}},
	/* _nettle_cpuid: push %rbx; mov; xor; cpuid; four mov; pop %rbx; ret */
	{{0x53, 0x89, 0xf8, 0x31, 0xc9, 0x0f, 0xa2, 0x89, 0x06, 0x89,
	  0x5e, 0x04, 0x89, 0x4e, 0x08, 0x89, 0x56, 0x0c, 0x5b, 0xc3},
	 20,
	 {{0, RSP(1)}, {1, {.cfa = 2, .rbx = 1, .rule = UNWIND_RSP}}, {19, RSP(1)}}},
};

/* Most functions begin with it where the processor checks jumps. */
static const struct known_code landing = {{0xf3, 0x0f, 0x1e, 0xfa}, 4, {{0, RSP(1)}}};

static bool is_piece(const struct known_code *piece, const unsigned char *code, uint64_t bytes)
{
	if (bytes < piece->bytes)
		return false;
	for (unsigned int i = 0; i < piece->bytes; i++)
		if (piece->code[i] != ANY && piece->code[i] != code[i])
			return false;
	return true;
}

static const struct known_code *find_whole(const unsigned char *code, uint64_t bytes)
{
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		if (is_piece(&pieces[i], code, bytes))
			return &pieces[i];
	return NULL;
}

static const struct known_code *find_piece(const unsigned char *code, uint64_t bytes)
{
	const struct known_code *piece = find_whole(code, bytes);

	if (!piece && is_piece(&landing, code, bytes) && find_whole(code + landing.bytes, bytes - landing.bytes))
		piece = &landing;
	return piece;
}

static void put_piece(const struct known_code *piece, uint64_t address, unwind_row_fn fn, void *context)
{
	for (unsigned int i = 0; i < MAX_ROWS && piece->rows[i].row.rule != UNWIND_NONE; i++)
		fn(context, address + piece->rows[i].at, piece->rows[i].row);
	fn(context, address + piece->bytes, (struct unwind_row){.rule = UNWIND_NONE});
}

void unwind_gap_run(const unsigned char *code, uint64_t bytes, uint64_t ahead, uint64_t address, unwind_row_fn fn,
		    void *context)
{
	for (uint64_t at = 0; at < bytes;) {
		const struct known_code *piece = find_piece(code + at, bytes + ahead - at);

		if (piece)
			put_piece(piece, address + at, fn, context);
		at += piece ? piece->bytes : 1;
	}
}

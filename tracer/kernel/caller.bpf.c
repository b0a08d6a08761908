/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * caller.bpf.c - from which code a program makes a system call
 *
 * Most programs have no frame pointers, so the words on the stack are the only evidence, as in the
 * original toolkit. A word is the address of a caller if it is in the code in question and the
 * instruction before it is a call: the processor pushes the address behind a call. The candidates
 * are, in this order, the place of the system call itself and the words from the top of the stack.
 *
 *	-sdN         candidate N of those in the program's own code, from 0
 *	-suU -slL    the first candidate between L and U, in whatever file
 *
 * Limits. A function that has returned may have left its caller's address in a word that a later
 * function does not write to; it then counts. Only the next 512 words are looked at.
 */
#define STACK_WORDS 512

struct caller_search {
	u64 stack;
	u64 lower, upper; /* exclusive */
	u64 found;
	u32 remaining; /* candidates before the wanted one */
	u32 word_bytes;
};

#if defined(__TARGET_ARCH_x86)
#define CALL_BYTES    7 /* the longest call without a prefix */
#define CODE_OF(regs) ((regs)->ip)

/* Is the instruction before @address a call? */
static __always_inline bool follows_call(u64 address)
{
	u8 code[CALL_BYTES];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(address - CALL_BYTES)))
		return false;
	if (code[CALL_BYTES - 5] == 0xe8)
		return true;
/* call of an address in a register or in memory: ff /2, and up to 5 bytes behind it */
#define IS_CALL(bytes) (code[CALL_BYTES - (bytes)] == 0xff && (code[CALL_BYTES - (bytes) + 1] & 0x38) == 0x10)
	return IS_CALL(2) || IS_CALL(3) || IS_CALL(4) || IS_CALL(6) || IS_CALL(7);
#undef IS_CALL
}
#else
#define CODE_OF(regs) ((regs)->pc)

/* The same for arm64: BL or BLR */
static __always_inline bool follows_call(u64 address)
{
	u32 code;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)(address - sizeof(code))))
		return false;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
}
#endif

/* Returns 1 if @address, a candidate, is the wanted one. */
static __always_inline long take_candidate(struct caller_search *s, u64 address)
{
	if (s->remaining) {
		s->remaining--;
		return 0;
	}
	s->found = address;
	return 1;
}

static long search_word(u32 i, struct caller_search *s)
{
	u64 word = 0;

	if (s->word_bytes == 4) {
		if (bpf_probe_read_user(&word, 4, (void *)(s->stack + 4ull * i)))
			return 1;
	} else if (bpf_probe_read_user(&word, 8, (void *)(s->stack + 8ull * i))) {
		return 1;
	}
	return word > s->lower && word < s->upper && follows_call(word) ? take_candidate(s, word) : 0;
}

SEC("event/sys_enter")
int BPF_PROG(sys_caller, struct pt_regs *regs, long id)
{
	struct task_struct *task = current_task();
	struct caller_search s = {.lower = config.caller_lower, .upper = config.caller_upper};
	u64 ip;

	if (!current_passes() || own_event(task))
		return 0;
	s.remaining = config.caller_depth;
	if (!config.caller_in_bounds) {
		s.lower = BPF_CORE_READ(task, mm, start_code) - 1;
		s.upper = BPF_CORE_READ(task, mm, end_code);
	}
	ip = CODE_OF(regs);
	s.stack = regs->sp;
	/* programs of 64 bits can make calls of 32-bit ones, too */
	s.word_bytes = syscall_abi(task, id) == TRACE_ABI_32 && !(ip >> 32) && !(s.stack >> 32) ? 4 : 8;
	if (!(ip > s.lower && ip < s.upper && take_candidate(&s, ip)))
		bpf_loop(STACK_WORDS, search_word, &s, 0);
	if (!s.found)
		return 0;
	RECORD(sys_caller) {
		record->address = s.found;
		COMMIT(sys_caller);
	}
	return 0;
}

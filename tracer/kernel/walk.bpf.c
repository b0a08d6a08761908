/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * walk.bpf.c - the callers in a program without frame pointers, a part of the object of samples
 *
 * For each frame the walker finds the mapping of its address, the row of the unwind table of that
 * file (unwind_row.h), and reads the return address from the stack. Code in no file, or without a
 * description, keeps frame pointers or has no caller here; the walk goes on by tables in the next
 * file. trace_sample.cut says where the walk ended.
 *
 * A record has room for 223 callers. Those behind them are in records of their own, the parts of
 * the stack, which come before the sample: so a reader that has the sample has all of it, and a
 * part that was lost only cuts the stack. A record of 223 callers is whole for itself, too.
 *
 * The step to a caller, the search of a mapping and the record are global functions, which the
 * verifier checks once. Without that it reads 30 times as many instructions, for seconds.
 */
#include "unwind_row.h"
#include "walk_files.h"

#define MAX_ADDRESSES_OF_STACK (MAX_KERNEL_BYTES / 8 + MAX_USER_BYTES / 8) /* of both lists together */
#define ROW_STEPS	       10 /* halvings of up to UNWIND_BLOCK_WORDS rows */
#define MAX_FRAME_BYTES	       (1u << 20)
#define NO_TABLE	       (~0ull) /* no row has this rule */
#define WINDOW_WORDS	       128     /* of a stack, read at once */
#define MAX_RBP_SLOT	       8       /* words below the CFA */
#define USER_CODE	       0x33    /* CS of a program of 64 bits */
#define MAX_RETURNS	       32      /* functions with a probed return, one in another */
#define MAX_DEEP	       4096    /* callers that are followed */
#define MAX_PARTS	       24
#define MAX_STACKS	       8 /* changes from one to another */

/* trace_sample.cut, from bit 3 on */
enum walk_end {
	WALK_NONE,	  /* the kernel followed frame pointers */
	WALK_WHOLE,	  /* at the begin of the thread */
	WALK_NOT_READY,	  /* by frame pointers from a file on whose table was not ready */
	WALK_NO_CALLER,	  /* at code without a description that has no frame pointer either */
	WALK_UNSUPPORTED, /* at a description that has no row */
	WALK_UNREADABLE,  /* the stack is not in memory */
	WALK_UNMAPPED,	  /* at code whose mapping is not known */
	WALK_TOO_LONG,	  /* there are more than are recorded */
};
#define CUT_WALK_SHIFT 3

/* At the end of a stack, words are read one by one. */
enum walk_words { WORDS_NOT_READ, WORDS_READ, WORDS_AT_END };

/* Sizes instead of types: clang does not describe the types of an inner map. */
struct unwind_table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct unwind_block));
};

/* By number of the file; the daemon puts a table when it is complete. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WALK_MAX_FILES);
	__type(key, u32);
	__array(values, struct unwind_table_map);
} unwind_tables SEC(".maps");

/* Tables that need no map of their own (early_tables.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_EARLY_BLOCKS);
	__type(key, u32);
	__type(value, struct unwind_block);
} early_tables SEC(".maps");

/* The number of entries of pages in each table; the daemon writes it before the table. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_MAX_FILES);
	__type(key, u32);
	__type(value, u32);
} unwind_pages SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};
struct uprobe_task {
	struct return_instance *return_instances;
};
struct task_struct___probed {
	struct uprobe_task *utask;
};
#pragma clang attribute pop

/* By tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WALK_MAX_PROCESSES);
	__type(key, u32);
	__type(value, struct walk_process);
} walk_processes SEC(".maps");

/* Code in no file that samples hit: at the end the daemon looks for its names. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SAMPLE_MAX_ADDRESSES);
	__type(key, struct walk_address);
	__type(value, u32); /* uid */
} program_addresses SEC(".maps");
volatile unsigned long long unnamed_program_hits; /* of addresses that have no room in it */

/* struct walk_wanted */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} wanted_tables SEC(".maps");

/* Files whose table the daemon was asked for; it clears a byte when it could not read the file. And
 * the inode of each file. */
volatile unsigned char asked_tables[WALK_MAX_FILES] SEC(".data.files");
volatile unsigned long long file_inodes[WALK_MAX_FILES] SEC(".data.files");

/* Where the table of a file begins in the early ones: the block + 1; the daemon writes it last. */
volatile unsigned int early_begins[WALK_MAX_FILES] SEC(".data.files");

/** struct walk_registers - @ax, @cx, @di: for code that the thread has not left yet */
struct walk_registers {
	u64 ip, sp, bp, bx, ax, cx, di;
};

/*
 * Rows that were found lately, by file and offset. A search reads four cache lines, and guesses
 * wrong in most of its steps; a row here is one load. An entry has bits 32 to 63 of the row, a bit
 * that is set, and the file and the offset apart from those bits of it that the index has. So it is
 * right or is not used, whichever CPU wrote it. A file has one table, which does not change.
 */
#define ROW_CACHE_BITS 14
#define ROW_CACHE_USED (1u << 31)
volatile unsigned long long row_cache[1u << ROW_CACHE_BITS];
_Static_assert(WALK_MAX_FILES <= 1u << (31 - (32 - ROW_CACHE_BITS)), "a file, and the rest of an offset, in 31 bits");

/**
 * struct walk_state - @ax, @cx, @di: of the first frame. @bx: 0 if it is not known
 * @words: the program's stack from @words_begin on, if @words_are read
 * @mapping: index of the one where the last frame was
 */
struct walk_state {
	u64 ip, sp, bp, bx, ax, cx, di;
	u64 words[WINDOW_WORDS];
	u64 words_begin;
	u32 words_are;
	u32 first; /* word of the scratch area for the first caller */
	u32 nr;
	u32 room;    /* for callers */
	u32 certain; /* callers found by tables, before the first one by a frame pointer */
	u32 end;
	u32 mapping;
	u32 deep;	     /* callers in records so far */
	u32 nr_stacks;	     /* changes from one to another by a frame pointer */
	bool is_interrupted; /* ip is an instruction, not a return address */
	bool by_pointer;
	bool is_late; /* a table was not ready */
	bool is_lost; /* a part */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_WALKS); /* a timer may interrupt the others, and a wakeup the exit of a call */
	__type(key, u32);
	__type(value, struct walk_state);
} walk_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_WALKS);
	__type(key, u32);
	__type(value, struct sample_scratch);
} part_scratches SEC(".maps");

/** struct walk - what the steps of bpf_loop() need. @scratch: where callers go */
struct walk {
	struct walk_process *process;
	struct walk_state *state;
	struct sample_scratch *scratch;
	u32 tgid;
};

/* ---- tables ---- */

static __always_inline void ask_for_table(const struct walk_mapping *mapping, u32 tgid)
{
	u32 number = mapping->file;
	struct walk_wanted *wanted;

	if (number >= WALK_MAX_FILES || asked_tables[number])
		return;
	asked_tables[number] = 1;
	wanted = bpf_ringbuf_reserve(&wanted_tables, sizeof(*wanted), 0);
	if (!wanted) {
		asked_tables[number] = 0;
		return;
	}
	wanted->start = mapping->start;
	wanted->end = mapping->start + ((u64)mapping->pages << 12);
	wanted->file = number;
	wanted->tgid = tgid;
	bpf_ringbuf_submit(wanted, 0);
}

/* The row of rule UNWIND_NONE is all zeros. */
static __always_inline u64 row_in_block(struct unwind_block *block, u64 entry, u32 offset)
{
	u32 low = (u32)entry % UNWIND_BLOCK_WORDS, high = low + (u32)(entry >> 32);

	for (int i = 0; i < ROW_STEPS; i++) {
		u32 middle = (low + high) / 2;

		if (low + 1 >= high)
			break;
		if ((u32)block->words[middle % UNWIND_BLOCK_WORDS] <= offset)
			low = middle;
		else
			high = middle;
	}
	return block->words[low % UNWIND_BLOCK_WORDS];
}

/* @begin: the first block of the table */
static __always_inline u64 find_row(void *table, u32 begin, u32 number, u64 offset)
{
	u32 page = offset >> UNWIND_PAGE_SHIFT, key = page / UNWIND_BLOCK_WORDS;
	u32 *pages = bpf_map_lookup_elem(&unwind_pages, &number);
	struct unwind_block *block;
	u64 entry;

	if (!pages || offset >> 32 || page >= *pages)
		return 0;
	key += begin;
	block = bpf_map_lookup_elem(table, &key);
	if (!block)
		return 0;
	entry = block->words[page % UNWIND_BLOCK_WORDS];
	if (!entry)
		return 0;
	key = begin + (u32)entry / UNWIND_BLOCK_WORDS;
	block = bpf_map_lookup_elem(table, &key);
	return block ? row_in_block(block, entry, (u32)offset) : 0;
}

/* The row for @offset of a file, without its own offset; NO_TABLE: the file has none yet. */
static __always_inline u64 row_of(u32 number, u64 offset)
{
	u32 index = ((u32)offset ^ number * 0x9e5) & ((1u << ROW_CACHE_BITS) - 1);
	u32 tag = ROW_CACHE_USED | number << (32 - ROW_CACHE_BITS) | (u32)offset >> ROW_CACHE_BITS;
	u64 cached, row;
	void *table;
	u32 begin;

	if (number >= WALK_MAX_FILES || offset >> 32)
		return number < WALK_MAX_FILES ? 0 : NO_TABLE;
	cached = row_cache[index];
	if ((u32)cached == tag)
		return cached;
	begin = early_begins[number];
	if (begin) {
		row = find_row(&early_tables, begin - 1, number, offset);
	} else {
		table = bpf_map_lookup_elem(&unwind_tables, &number);
		if (!table)
			return NO_TABLE;
		row = find_row(table, 0, number, offset);
	}
	row = (row & ~0xffffffffull) | tag;
	row_cache[index] = row;
	return row;
}

/* ---- frames ---- */

/* Returns the index of the mapping with @ip; -1: there is none. */
__noinline int search_mappings(struct walk_process *process, u64 ip)
{
	u32 nr;

	if (!process)
		return -1;
	nr = process->nr;
	for (u32 i = 0; i < WALK_MAX_MAPPINGS; i++) {
		struct walk_mapping *mapping = &process->mappings[i];

		if (i >= nr)
			break;
		if (ip - mapping->start < (u64)mapping->pages << 12)
			return (int)i;
	}
	return -1;
}

/* Find the mapping with @ip; false: there is none. Most callers are in the file of the called. */
static __always_inline bool find_mapping(struct walk_process *process, struct walk_state *state, u64 ip)
{
	struct walk_mapping *last = &process->mappings[state->mapping % WALK_MAX_MAPPINGS];
	int found;

	if (ip - last->start < (u64)last->pages << 12)
		return true;
	found = search_mappings(process, ip);
	if (found < 0)
		return false;
	state->mapping = (u32)found;
	return true;
}

/* Have the words from MAX_RBP_SLOT below @cfa up to it; false: some cannot be read. */
static __always_inline bool has_words(struct walk_state *state, u64 cfa)
{
	u64 begin = cfa - MAX_RBP_SLOT * 8;

	if (state->words_are == WORDS_READ && begin >= state->words_begin &&
	    cfa - state->words_begin <= sizeof(state->words))
		return true;
	if (state->words_are == WORDS_AT_END)
		return false;
	state->words_are = bpf_probe_read_user(state->words, sizeof(state->words), (void *)begin) ? WORDS_AT_END
												  : WORDS_READ;
	state->words_begin = begin;
	return state->words_are == WORDS_READ;
}

/* Without a register that the thread has left: @rbx is not in the window. */
static __always_inline void pop_rbx(struct walk_state *state, u64 cfa, u32 rbx)
{
	u64 value = 0;

	if (rbx != UNWIND_RBX_LOST && bpf_probe_read_user(&value, 8, (void *)(cfa - 8 - rbx * 8)))
		value = 0;
	state->bx = value;
}

/* Read the return address and the caller's RBP and RBX below @cfa. Most frames are small, so that
 * several are in what is read at once. */
static __always_inline u32 pop_frame(struct walk_state *state, u64 cfa, int rbp, u32 rbx)
{
	if (rbp >= -MAX_RBP_SLOT && has_words(state, cfa)) {
		u32 word = (cfa - state->words_begin) / 8;

		state->ip = state->words[(word - 1) % WINDOW_WORDS];
		if (rbp)
			state->bp = state->words[(word + rbp) % WINDOW_WORDS];
		if (rbx)
			state->bx = rbx <= UNWIND_RBX_MAX ? state->words[(word - 1 - rbx) % WINDOW_WORDS] : 0;
	} else {
		if (rbp && bpf_probe_read_user(&state->bp, 8, (void *)(cfa + rbp * 8)))
			return WALK_UNREADABLE;
		if (bpf_probe_read_user(&state->ip, 8, (void *)(cfa - 8)))
			return WALK_UNREADABLE;
		if (rbx)
			pop_rbx(state, cfa, rbx);
	}
	state->sp = cfa;
	return 0;
}

/* The kernel's struct with the registers of what a signal interrupted. */
static __always_inline u32 pop_signal(struct walk_state *state)
{
	u64 registers[(UNWIND_SIGNAL_RIP - UNWIND_SIGNAL_RBP) / 8 + 1];

	if (bpf_probe_read_user(registers, sizeof(registers), (void *)(state->sp + UNWIND_SIGNAL_RBP)))
		return WALK_UNREADABLE;
	state->bp = registers[0];
	state->bx = registers[(UNWIND_SIGNAL_RBX - UNWIND_SIGNAL_RBP) / 8];
	state->sp = registers[(UNWIND_SIGNAL_RSP - UNWIND_SIGNAL_RBP) / 8];
	state->ip = registers[(UNWIND_SIGNAL_RIP - UNWIND_SIGNAL_RBP) / 8];
	state->is_interrupted = true;
	return 0;
}

/** union walk_code - instructions; @first: eight of the bytes */
union walk_code {
	unsigned char bytes[9];
	u64 first;
};

/* rt_sigreturn(), in a libc that does not describe it */
static __always_inline bool is_signal_return(const union walk_code *code)
{
	return code->first == 0x0f0000000fc0c748ull && code->bytes[8] == 0x05;
}

/* Whether a call that returns to @code is in a function without a caller: in Go a stack begins in
 * runtime.mstart (ret, padding), mcall (pop %rax; jmp or lea), morestack (call abort; ret). */
static __always_inline bool begins_stack(const union walk_code *code)
{
	const unsigned char *bytes = code->bytes;

	return (bytes[0] == 0xc3 && bytes[1] == 0xcc) || (bytes[0] == 0x58 && (bytes[1] == 0xe9 || bytes[1] == 0x48)) ||
	       (bytes[0] == 0xe8 && bytes[5] == 0xc3);
}

/* Whether a call ends at @end: E8 and four bytes, or FF /2 with an operand of up to five bytes. */
static __always_inline bool is_behind_call(u64 end)
{
	unsigned char code[7];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(end - sizeof(code))))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (u32 i = 0; i < sizeof(code) - 1; i++)
		if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
			return true;
	return false;
}

/* RBP is in another stack: Go runs parts of its runtime on a stack of the thread, and RBP still
 * leads to the function of the goroutine. Any number may be in RBP, so the caller must be code
 * behind a call, or the begin of a goroutine, which no call precedes. Returns 0, or where the walk
 * ends. */
static __always_inline u32 change_stack(struct walk_process *process, struct walk_state *state, const u64 *pair)
{
	if (state->nr_stacks++ >= MAX_STACKS || !find_mapping(process, state, pair[1] - 1))
		return WALK_NO_CALLER;
	return !pair[0] || is_behind_call(pair[1]) ? 0 : WALK_NO_CALLER;
}

/* @is_described: the description of the file is known, and has no function at @ip */
static __always_inline u32 pop_by_pointer(struct walk_process *process, struct walk_state *state, u64 ip,
					  bool is_described)
{
	union walk_code code = {.first = 0};
	u64 pair[2];
	u32 end;

	if (!bpf_probe_read_user(&code, sizeof(code.bytes), (void *)state->ip) && is_signal_return(&code))
		return pop_signal(state);
	if (!state->by_pointer)
		state->certain = state->nr;
	state->by_pointer = true;
	if (is_described && ip != state->ip && begins_stack(&code))
		return WALK_WHOLE;
	if (!state->bp || state->bp % 8 || bpf_probe_read_user(pair, sizeof(pair), (void *)state->bp))
		return WALK_NO_CALLER;
	if (state->bp < state->sp || state->bp - state->sp > MAX_FRAME_BYTES) {
		end = is_described ? change_stack(process, state, pair) : WALK_NO_CALLER;
		if (end)
			return end;
	}
	state->sp = state->bp + 16;
	state->bx = 0;
	state->bp = pair[0];
	state->ip = pair[1];
	return 0;
}

/* The row is of the interrupted instruction, with the registers at it. */
static __always_inline u32 pop_at_first(struct walk_state *state, u64 row, u64 cfa)
{
	u32 rule = row >> 56 & 15;

	if (state->nr)
		return WALK_UNSUPPORTED;
	if (rule == UNWIND_CLONE)
		return state->ax ? pop_frame(state, state->sp + cfa, 0, 0) : WALK_WHOLE;
	if (rule == UNWIND_RCX)
		return pop_frame(state, state->cx + cfa, 0, 0); /* RBX is the handler's already */
	state->sp += cfa;
	state->ip = rule == UNWIND_RDI ? state->di : state->cx;
	return 0;
}

static __always_inline u32 pop_by_row(struct walk_process *process, struct walk_state *state, u64 row, u64 ip)
{
	u64 cfa = (row >> 32 & 0xffff) * 8;
	int rbp = (signed char)(row >> 48);
	u32 rbx = row >> 60;

	switch (row >> 56 & 15) {
	case UNWIND_NONE:
		/* RBP = 0 marks the first frame of a thread (System V ABI): _start of the linker */
		return state->bp ? pop_by_pointer(process, state, ip, true) : WALK_WHOLE;
	case UNWIND_END:
		return WALK_WHOLE;
	case UNWIND_SIGNAL:
		return pop_signal(state);
	case UNWIND_RSP:
		cfa += state->sp;
		break;
	case UNWIND_RBP:
		cfa += state->bp;
		break;
	case UNWIND_PLT:
		cfa = state->sp + 8 + ((ip & 15) >= cfa / 8 ? 8 : 0);
		break;
	case UNWIND_RBP_POINTER:
		if (bpf_probe_read_user(&cfa, 8, (void *)(state->bp - cfa)))
			return WALK_UNREADABLE;
		if (rbp && bpf_probe_read_user(&state->bp, 8, (void *)state->bp))
			return WALK_UNREADABLE;
		rbp = 0;
		break;
	case UNWIND_RSP_POINTER:
		if (bpf_probe_read_user(&cfa, 8, (void *)(state->sp + cfa)))
			return WALK_UNREADABLE;
		cfa += 8;
		break;
	case UNWIND_RBX:
		cfa += state->bx;
		if (cfa - state->sp > MAX_FRAME_BYTES) /* also if RBX is not known */
			return WALK_UNSUPPORTED;
		break;
	case UNWIND_RDI:
	case UNWIND_CLONE:
	case UNWIND_RCX:
	case UNWIND_TO_RCX:
		return pop_at_first(state, row, cfa);
	default:
		return WALK_UNSUPPORTED;
	}
	return pop_frame(state, cfa, rbp, rbx);
}

/* A frame pointer of a program without them leads to any number. Those that are no callers are not
 * noted, because they would take the room of other programs. @is_caller: @ip is in a call */
static __always_inline void note_program_address(u32 tgid, u64 ip, bool is_caller)
{
	struct walk_address key = {.address = ip, .tgid = tgid};
	u32 uid;

	if (bpf_map_lookup_elem(&program_addresses, &key) || (is_caller && !is_behind_call(ip + 1)))
		return;
	uid = (u32)bpf_get_current_uid_gid();
	if (bpf_map_update_elem(&program_addresses, &key, &uid, BPF_ANY) == NO_ROOM)
		__sync_fetch_and_add(&unnamed_program_hits, 1);
}

/**
 * struct return_search - @at: where the return address is. @found: what the function returns to; 0:
 * it is not probed
 */
struct return_search {
	struct return_instance *instance;
	u64 at, found;
};

static long return_step(u32 index, void *context)
{
	struct return_search *search = context;
	struct return_instance *instance = search->instance;

	if (!instance)
		return 1;
	if (BPF_CORE_READ(instance, stack) == search->at) {
		search->found = BPF_CORE_READ(instance, orig_ret_vaddr);
		return 1;
	}
	search->instance = BPF_CORE_READ(instance, next);
	return 0;
}

/* A probe at the return of a function replaces the return address; the kernel keeps the original
 * one. */
__noinline int take_original_return(struct walk_state *state)
{
	struct task_struct___probed *task = (void *)current_task();
	struct return_search search = {0};

	if (!state || !bpf_core_field_exists(task->utask))
		return 0;
	search.at = state->sp - 8;
	search.instance = BPF_CORE_READ(task, utask, return_instances);
	if (!search.instance)
		return 0;
	bpf_loop(MAX_RETURNS, return_step, &search, 0);
	if (search.found)
		state->ip = search.found;
	return 0;
}

/* From the frame in @state to its caller; returns 0, or where the walk ends. */
__noinline int pop(struct walk_process *process, struct walk_state *state, u32 tgid)
{
	struct walk_mapping *mapping;
	bool is_caller;
	u64 ip, row;

	if (!process || !state)
		return WALK_UNMAPPED;
	/* a return address may be behind the end of its function */
	is_caller = !state->is_interrupted;
	ip = state->ip - is_caller;
	state->is_interrupted = false;
	if (!find_mapping(process, state, ip)) {
		if (process->lost)
			return WALK_UNMAPPED;
		note_program_address(tgid, ip, is_caller);
		return pop_by_pointer(process, state, ip, false);
	}
	mapping = &process->mappings[state->mapping % WALK_MAX_MAPPINGS];
	row = row_of(mapping->file, ip - mapping->base);
	if (row == NO_TABLE) {
		ask_for_table(mapping, tgid);
		state->is_late = true;
		return mapping->file == WALK_NO_FILE ? WALK_UNMAPPED : pop_by_pointer(process, state, ip, false);
	}
	return pop_by_row(process, state, row, ip);
}

static long walk_step(u32 index, void *context)
{
	struct walk *walk = context;
	struct walk_state *state = walk->state;
	struct walk_process *process = walk->process;
	struct sample_scratch *scratch = walk->scratch;
	u32 end;

	if (!state || !process || !scratch)
		return 1;
	end = pop(process, state, walk->tgid);
	if (!end && !state->ip)
		end = WALK_WHOLE; /* a frame pointer chain of Go, for example */
	if (!end && !state->is_interrupted && !find_mapping(process, state, state->ip - 1))
		take_original_return(state);
	if (!end && state->nr >= state->room)
		end = WALK_TOO_LONG;
	if (end) {
		state->end = end;
		return 1;
	}
	/* a reader subtracts 1 from each caller, because most are behind a call */
	scratch->room[(state->first + state->nr) & 511] = state->ip + state->is_interrupted;
	state->nr++;
	return 0;
}

/* The state for a walk from these registers; NULL: there is none. */
static __always_inline struct walk_state *begin_walk(u32 which, const struct walk_registers *registers)
{
	struct walk_state *state = bpf_map_lookup_elem(&walk_states, &which);

	if (!state)
		return NULL;
	state->ip = registers->ip;
	state->sp = registers->sp;
	state->bp = registers->bp;
	state->bx = registers->bx;
	state->ax = registers->ax;
	state->cx = registers->cx;
	state->di = registers->di;
	state->words_are = WORDS_NOT_READ;
	state->first = 0;
	state->nr = 0;
	state->certain = 0;
	state->end = WALK_TOO_LONG;
	state->mapping = 0;
	state->is_interrupted = true;
	state->by_pointer = false;
	state->is_late = false;
	state->is_lost = false;
	state->nr_stacks = 0;
	state->deep = 0;
	return state;
}

/* The ends that a table that was not ready may have caused. */
static __always_inline u32 end_of(const struct walk_state *state)
{
	return state->is_late && state->end != WALK_TOO_LONG && state->end != WALK_UNMAPPED ? WALK_NOT_READY
											    : state->end;
}

/* The caller that the record before had no room for, and those behind it. */
static long part_step(u32 index, void *context)
{
	struct walk *walk = context;
	struct walk_state *state = walk->state;
	struct sample_scratch *part = walk->scratch;

	if (!state || !part)
		return 1;
	part->room[0] = state->ip + state->is_interrupted;
	state->nr = 1;
	state->certain = 0;
	state->end = WALK_TOO_LONG;
	bpf_loop(MAX_ADDRESSES_OF_STACK, walk_step, walk, 0);
	state->deep += state->nr;
	part->sample.source++;
	part->sample.certain = state->by_pointer ? state->certain : state->nr;
	part->sample.cut = end_of(state) << CUT_WALK_SHIFT;
	part->sample.kernel = reference(sizeof(part->sample), 0);
	part->sample.user = reference(sizeof(part->sample), state->nr * 8);
	state->is_lost = !try_record(part, state->nr * 8);
	return state->is_lost || state->end != WALK_TOO_LONG || state->deep >= MAX_DEEP;
}

static __always_inline u32 walk_of(u32 source)
{
	return source == SOURCE_TIMER ? WALK_OF_SAMPLE : source == SOURCE_WAKER ? WALK_OF_WAKER : WALK_OF_WAIT;
}

static __always_inline u32 first_part_of(u32 which)
{
	return which == WALK_OF_WAIT	? SOURCE_PART_OF_EXIT
	       : which == WALK_OF_WAKER ? SOURCE_PART_OF_WAKER
					: SOURCE_PART;
}

/* Follow the callers for which the sample has no room; returns CUT_HAS_PARTS; 0: they are lost */
static __always_inline u32 walk_on(struct walk *walk, const struct sample_scratch *scratch)
{
	struct walk_state *state = walk->state;
	u32 which = walk_of(scratch->sample.source), nr = state->nr, first = state->first;
	u32 certain = state->certain;

	walk->scratch = bpf_map_lookup_elem(&part_scratches, &which);
	if (!walk->scratch)
		return 0;
	walk->scratch->sample = scratch->sample;
	walk->scratch->sample.source = first_part_of(which) - 1;
	state->first = 0;
	state->deep = nr;
	state->room = MAX_ADDRESSES_OF_STACK - 1;
	bpf_loop(MAX_PARTS, part_step, walk, 0);
	state->nr = nr;
	state->first = first;
	state->certain = certain;
	state->end = WALK_TOO_LONG;
	return state->is_lost ? 0 : CUT_HAS_PARTS;
}

/* Put the callers into the scratch area from word @state->first on; false: nothing is known about
 * the process. */
static __always_inline bool walk_user(struct sample_scratch *scratch, struct walk_state *state)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct walk walk = {.scratch = scratch, .state = state, .tgid = tgid};

	walk.process = bpf_map_lookup_elem(&walk_processes, &tgid);
	if (!walk.process)
		return false;
	/* what the kernel's list does not need, without the innermost address of the program's */
	state->room = MAX_ADDRESSES_OF_STACK - 1 - (state->first ? state->first - 1 : 0);
	bpf_loop(MAX_ADDRESSES_OF_STACK, walk_step, &walk, 0);
	if (!state->by_pointer)
		state->certain = state->nr;
	state->end = end_of(state);
	scratch->sample.certain = state->certain;
	scratch->sample.cut |= state->end << CUT_WALK_SHIFT;
	if (state->end == WALK_TOO_LONG)
		scratch->sample.cut |= CUT_USER | walk_on(&walk, scratch);
	return true;
}

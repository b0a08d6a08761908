/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_sites.c - functions built with -fpatchable-function-entry=N call the counter
 *
 * Such a function begins with NOPs of N bytes. A site is the first 5 of them behind its entry:
 *
 *   off   0f 1f 44 00 00   nopl 0(%rax, %rax)
 *   on    e8 D0 D1 D2 D3   call gprof_patched, or a page near the file that jumps there
 *
 * The section __patchable_function_entries has the addresses of the NOPs; the loader has relocated
 * them. With -fpatchable-function-entry=N,M the first M bytes are in front of the function. Where a
 * function begins is in the sorted table of its unwind information, also if the file is stripped.
 *
 * Threads may run a site while it changes. The steps between the two, each for all sites:
 *
 *   1. the first byte becomes a9: "test $D, %eax", which has 5 bytes, too. It changes only flags,
 *      and no function expects flags
 *   2. the other four bytes: a thread that sees some of the old and some of the new ones tests
 *      another number
 *   3. the first byte becomes the new one
 *
 * membarrier() between them lets all processors see a step before the next begins. A step writes
 * one byte that decides, so a site may cross cache lines. A thread is never within the 5 bytes,
 * which are one instruction in each of these states.
 *
 * That is not so at first: gcc writes NOPs of one byte, and clang one of up to 15 bytes. So the
 * first switch is made by the constructor, while the program has one thread, and off means one NOP
 * of 5 bytes, which is what clang writes for N=5.
 *
 * /proc/self/mem writes to code that is not writable, so that no page is writable and executable.
 */
#include "gprof_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "gprof_profile.h"

#define SECTION	       "__patchable_function_entries"
#define SITE_BYTES     5u
#define MAX_NOP_BYTES  15u
#define MAX_HEADERS    256u
#define PAGE_BYTES     4096u
#define NEAR_STEP      (1ul << 20)
#define NEAR_LIMIT     (1ul << 30)
#define MAX_NEAR_PAGES 64u
#define OP_CALL	       0xe8u
#define OP_NOP	       0x90u
#define OP_TEST	       0xa9u

/**
 * struct gprof_site - @off: while it is off. @displacement: of the call
 * @bytes: of the NOPs that the first switch replaces; above SITE_BYTES if the last one is longer
 */
struct gprof_site {
	uintptr_t at;
	int32_t displacement;
	unsigned char off[SITE_BYTES];
	unsigned char bytes;
};

/** struct gprof_starts - where functions begin, of unwind information; addresses less @base */
struct gprof_starts {
	const int32_t (*table)[2];
	size_t nr;
	uintptr_t base;
};

/** struct gprof_search - in the loaded files. @code: of the file that is searched */
struct gprof_search {
	struct gprof_code code;
	struct gprof_starts starts;
	size_t *left_out;
	bool is_program, has_threads;
};

static struct gprof_site *sites; /* owned, sorted by address */
static size_t nr_sites, room;
static uintptr_t near_pages[MAX_NEAR_PAGES];
static size_t nr_near_pages;

/* ---- instructions ---- */

#ifdef __x86_64__
/* Bytes of the NOP at @at, or 0: it is none */
static size_t nop_bytes(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *from = at;
	unsigned int mode, base;

	while (at < end && (*at == 0x66 || *at == 0x2e) && (size_t)(at - from) < MAX_NOP_BYTES)
		at++;
	if (at < end && *at == OP_NOP)
		return (size_t)(at - from) + 1;
	if (end - at < 4 || at[0] != 0x0f || at[1] != 0x1f || (at[2] & 0x38))
		return 0;
	mode = at[2] >> 6;
	base = at[2] & 7;
	at += 3;
	if (base == 4 && mode != 3)
		base = *at++ & 7;
	at += mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
	return at <= end && (size_t)(at - from) <= MAX_NOP_BYTES ? (size_t)(at - from) : 0;
}

static size_t endbr_bytes(const unsigned char *at, const unsigned char *end)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	return end - at >= (long)sizeof(endbr64) && !memcmp(at, endbr64, sizeof(endbr64)) ? sizeof(endbr64) : 0;
}
#else
static size_t nop_bytes(const unsigned char *at, const unsigned char *end)
{
	return 0;
}

static size_t endbr_bytes(const unsigned char *at, const unsigned char *end)
{
	return 0;
}
#endif

/* ---- where functions begin ---- */

/* @header: .eh_frame_hdr. All linkers write these encodings; a table in others is not read. */
static struct gprof_starts starts_of(const unsigned char *header, size_t bytes)
{
	static const unsigned char usual[] = {1, 0x1b, 0x03, 0x3b};
	struct gprof_starts starts = {.base = (uintptr_t)header};
	uint32_t nr;

	if (bytes < 12 || memcmp(header, usual, sizeof(usual)) != 0)
		return starts;
	memcpy(&nr, header + 8, sizeof(nr));
	if (nr > (bytes - 12) / sizeof(*starts.table))
		return starts;
	starts.table = (const void *)(header + 12);
	starts.nr = nr;
	return starts;
}

/* The last start that is not after @address; 0: there is none */
static uintptr_t start_before(const struct gprof_starts *starts, uintptr_t address)
{
	size_t low = 0, high = starts->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts->base + (uintptr_t)(intptr_t)starts->table[middle][0] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? starts->base + (uintptr_t)(intptr_t)starts->table[low - 1][0] : 0;
}

/*
 * Behind the entry of the function whose NOPs are at @nops: before them, after an endbr64, or
 * among them. NULL: it is not known
 */
static const unsigned char *behind_entry(const struct gprof_starts *starts, const unsigned char *nops,
					 const unsigned char *end)
{
	const unsigned char *run = nops, *start = (const unsigned char *)start_before(starts, (uintptr_t)nops);
	size_t bytes;

	if (start == nops || (start && start + endbr_bytes(start, end) == nops))
		return nops + endbr_bytes(nops, end);
	while ((bytes = nop_bytes(run, end)) && run - nops < UINT16_MAX) {
		run += bytes;
		start = (const unsigned char *)start_before(starts, (uintptr_t)run);
		if (start == run)
			return run + endbr_bytes(run, end);
		if (start > nops)
			return NULL;
	}
	return NULL;
}

/* ---- memory within the reach of a call ---- */

static bool reaches(const struct gprof_code *code, uintptr_t target)
{
	intptr_t lowest = (intptr_t)(target - code->end), highest = (intptr_t)(target - code->begin);

	return lowest >= INT32_MIN && highest <= INT32_MAX;
}

#ifdef __x86_64__
extern const char gprof_patched[] __attribute__((visibility("hidden")));
#define TARGET ((uintptr_t)gprof_patched)
#else
#define TARGET 0
#endif

/* jmp *0(%rip), and the address behind it. Only its reach is limited; it changes no register. */
static uintptr_t near_page_at(uintptr_t at)
{
	static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uintptr_t target = TARGET;
	unsigned char *page = mmap((void *)at, PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page == MAP_FAILED)
		return 0;
	if ((uintptr_t)page == at) {
		memcpy(page, jump, sizeof(jump));
		memcpy(page + sizeof(jump), &target, sizeof(target));
		if (!mprotect(page, PAGE_BYTES, PROT_READ | PROT_EXEC))
			return at;
	}
	munmap(page, PAGE_BYTES);
	return 0;
}

/* Below the code first: the heap grows above that of the program. 0: there is no room */
static uintptr_t entry_near(const struct gprof_code *code)
{
	uintptr_t page = 0, lower = code->begin & ~(uintptr_t)(PAGE_BYTES - 1),
		  upper = (code->end + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);

	if (reaches(code, TARGET))
		return TARGET;
	for (size_t i = 0; i < nr_near_pages; i++)
		if (reaches(code, near_pages[i]))
			return near_pages[i];
	if (nr_near_pages == MAX_NEAR_PAGES)
		return 0;
	for (uintptr_t step = NEAR_STEP; !page && step < NEAR_LIMIT && step < lower; step += NEAR_STEP)
		page = near_page_at(lower - step);
	for (uintptr_t step = NEAR_STEP; !page && step < NEAR_LIMIT; step += NEAR_STEP)
		page = near_page_at(upper + step);
	if (!page)
		return 0;
	near_pages[nr_near_pages++] = page;
	return reaches(code, page) ? page : 0;
}

/* ---- sites ---- */

static int add_site(const struct gprof_site *site)
{
	if (nr_sites == room) {
		size_t more = room ? 2 * room : 1024;
		struct gprof_site *bigger = reallocarray(sites, more, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		sites = bigger;
		room = more;
	}
	sites[nr_sites++] = *site;
	return 0;
}

static void set_off(struct gprof_site *site, bool is_one)
{
	static const unsigned char nop[SITE_BYTES] = {0x0f, 0x1f, 0x44, 0, 0};

	memcpy(site->off, is_one ? (const void *)site->at : nop, SITE_BYTES);
}

/* @nops: from the section. NR_LEFT_OUT: *@ret_site is one */
static enum gprof_left_out find_site(const struct gprof_search *search, uintptr_t nops, struct gprof_site *ret_site)
{
	const unsigned char *end = (const unsigned char *)search->code.end, *at;
	size_t bytes = 0, first;
	uintptr_t target;

	if (!TARGET)
		return LEFT_OUT_PROCESSOR;
	at = behind_entry(&search->starts, (const unsigned char *)nops, end);
	if (!at)
		return LEFT_OUT_START;
	first = nop_bytes(at, end);
	while (bytes < SITE_BYTES) {
		size_t more = nop_bytes(at + bytes, end);

		if (!more)
			return LEFT_OUT_ROOM;
		bytes += more;
	}
	if (search->has_threads && first != SITE_BYTES)
		return LEFT_OUT_THREADS;
	target = entry_near(&search->code);
	if (!target)
		return LEFT_OUT_FAR;
	ret_site->at = (uintptr_t)at;
	ret_site->bytes = (unsigned char)bytes;
	ret_site->displacement = (int32_t)(intptr_t)(target - (ret_site->at + SITE_BYTES));
	set_off(ret_site, first == SITE_BYTES);
	return NR_LEFT_OUT;
}

static int look_at_site(struct gprof_search *search, uintptr_t nops)
{
	struct gprof_site site;
	enum gprof_left_out left_out;

	if (!gprof_is_in(&search->code, nops))
		return 0; /* the linker has removed the function */
	left_out = find_site(search, nops, &site);
	if (left_out == NR_LEFT_OUT)
		return add_site(&site);
	search->left_out[left_out]++;
	return 0;
}

/* ---- files ---- */

static bool read_at(int fd, void *into, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The file may have been replaced since it was loaded. */
static bool is_same_file(int fd, const struct dl_phdr_info *info, const ElfW(Ehdr) * head)
{
	ElfW(Phdr) headers[MAX_HEADERS];
	size_t bytes = info->dlpi_phnum * sizeof(*headers);

	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_shentsize == sizeof(ElfW(Shdr)) && info->dlpi_phnum == head->e_phnum &&
	       head->e_phnum <= MAX_HEADERS && read_at(fd, headers, bytes, head->e_phoff) &&
	       !memcmp(headers, info->dlpi_phdr, bytes);
}

/* A part of the file that is in memory now */
static const void *loaded(const struct dl_phdr_info *info, uint64_t address, uint64_t bytes)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && address >= segment->p_vaddr &&
		    bytes <= segment->p_memsz && address - segment->p_vaddr <= segment->p_memsz - bytes)
			return (const void *)(info->dlpi_addr + address);
	}
	return NULL;
}

static int read_section(struct gprof_search *search, const struct dl_phdr_info *info, const ElfW(Shdr) * section)
{
	const uintptr_t *entries = loaded(info, section->sh_addr, section->sh_size);
	int err = 0;

	if (!entries || (uintptr_t)entries % sizeof(*entries))
		return 0;
	for (size_t i = 0; !err && i < section->sh_size / sizeof(*entries); i++)
		err = look_at_site(search, entries[i]);
	return err;
}

static int read_sections(struct gprof_search *search, int fd, const struct dl_phdr_info *info)
{
	ElfW(Ehdr) head;
	ElfW(Shdr) section, names;
	char name[sizeof(SECTION)];
	int err = 0;

	if (!read_at(fd, &head, sizeof(head), 0) || !is_same_file(fd, info, &head) || head.e_shstrndx >= head.e_shnum ||
	    !read_at(fd, &names, sizeof(names), head.e_shoff + (uint64_t)head.e_shstrndx * sizeof(names)))
		return 0;
	for (size_t i = 1; !err && i < head.e_shnum; i++)
		if (read_at(fd, &section, sizeof(section), head.e_shoff + i * sizeof(section)) &&
		    (section.sh_flags & SHF_ALLOC) &&
		    read_at(fd, name, sizeof(name), names.sh_offset + section.sh_name) &&
		    !memcmp(name, SECTION, sizeof(name)))
			err = read_section(search, info, &section);
	return err;
}

static void find_code(struct gprof_search *search, const struct dl_phdr_info *info)
{
	search->code = (struct gprof_code){.begin = UINTPTR_MAX};
	search->starts = (struct gprof_starts){0};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;

		if (segment->p_type == PT_GNU_EH_FRAME)
			search->starts = starts_of((const unsigned char *)begin, segment->p_memsz);
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		search->code.begin = begin < search->code.begin ? begin : search->code.begin;
		search->code.end = end > search->code.end ? end : search->code.end;
	}
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct gprof_search *search = context;
	const char *path = search->is_program ? "/proc/self/exe" : info->dlpi_name;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = 0;
	struct stat status;

	search->is_program = false;
	if (fd < 0)
		return 0;
	find_code(search, info);
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		err = read_sections(search, fd, info);
	close(fd);
	return err;
}

/* ---- to write code ---- */

static bool write_at(int fd, uintptr_t at, const void *bytes, size_t nr)
{
	return pwrite(fd, bytes, nr, (off_t)at) == (ssize_t)nr;
}

static int open_memory(void)
{
	int fd = open("/proc/self/mem", O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* No thread runs a site that is no single NOP of 5 bytes. NOPs behind the call have one byte. */
static int write_first_calls(int fd)
{
	for (size_t i = 0; i < nr_sites; i++) {
		unsigned char call[SITE_BYTES + MAX_NOP_BYTES];

		memset(call, OP_NOP, sizeof(call));
		call[0] = OP_CALL;
		memcpy(call + 1, &sites[i].displacement, sizeof(sites[i].displacement));
		if (!write_at(fd, sites[i].at, call, sites[i].bytes))
			return -errno;
	}
	return 0;
}

static int synchronise(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) ? -errno : 0;
}

enum gprof_step { STEP_TEST, STEP_REST, STEP_FIRST, NR_STEPS };

static bool write_step(int fd, const struct gprof_site *site, enum gprof_step step, bool on)
{
	const unsigned char test = OP_TEST, call = OP_CALL;

	if (step == STEP_TEST)
		return write_at(fd, site->at, &test, 1);
	if (step == STEP_REST)
		return write_at(fd, site->at + 1, on ? (const void *)&site->displacement : site->off + 1,
				SITE_BYTES - 1);
	return write_at(fd, site->at, on ? &call : site->off, 1);
}

static int write_steps(int fd, bool on)
{
	int err = 0;

	for (int step = 0; !err && step < NR_STEPS; step++) {
		for (size_t i = 0; i < nr_sites; i++)
			if (!write_step(fd, &sites[i], (enum gprof_step)step, on))
				return -errno;
		err = synchronise();
	}
	return err;
}

int gprof_sites_switch(bool on)
{
	int fd, err;

	if (!nr_sites)
		return 0;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		return -errno;
	fd = open_memory();
	if (fd < 0)
		return fd;
	err = write_steps(fd, on);
	close(fd);
	return err;
}

/* ---- begin ---- */

/* Also if it cannot be known. The folder has two links, and one for each thread. */
static bool has_threads(void)
{
	struct stat tasks;

	return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3;
}

static int compare(const void *a, const void *b)
{
	const struct gprof_site *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

/* A function may be in the section of several objects of the linker. */
static void remove_copies(void)
{
	size_t kept = 0;

	if (nr_sites)
		qsort(sites, nr_sites, sizeof(*sites), compare);
	for (size_t i = 0; i < nr_sites; i++)
		if (!kept || sites[kept - 1].at != sites[i].at)
			sites[kept++] = sites[i];
	nr_sites = kept;
}

long gprof_sites_begin(size_t ret_left_out[NR_LEFT_OUT])
{
	struct gprof_search search = {.left_out = ret_left_out, .is_program = true, .has_threads = has_threads()};
	int err = dl_iterate_phdr(look_at_object, &search), fd;

	remove_copies();
	if (err || !nr_sites)
		return err;
	if (search.has_threads) {
		err = gprof_sites_switch(true);
		return err ? err : (long)nr_sites;
	}
	fd = open_memory();
	if (fd < 0) {
		nr_sites = 0;
		return fd;
	}
	err = write_first_calls(fd);
	close(fd);
	return err ? err : (long)nr_sites;
}

/* ---- what sites call ---- */

/*
 * As __fentry__ in gprof_arcs.c, but it changes no register: with the attribute
 * patchable_function_entry, gcc may know which registers a function changes, and keep values of its
 * callers in others. At 1 the flags are of the mode.
 */
#ifdef __x86_64__
__asm__(".text\n"
	".p2align 5\n"
	".globl gprof_patched\n"
	".hidden gprof_patched\n"
	".type gprof_patched, @function\n"
	"gprof_patched:\n"
	".cfi_startproc\n"
	"	cmpb $1, gprof_mode(%rip)\n"
	"	je 9f\n"
	"	pushq %rax\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rcx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"	pushq %r11\n"
	".cfi_adjust_cfa_offset 8\n"
	"	movq 32(%rsp), %rdx\n"
	"1:	ja 6f\n"
	"	movq 40(%rsp), %rcx\n"
	"	movq gprof_table@gottpoff(%rip), %rax\n"
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
	"5:	popq %r11\n"
	".cfi_remember_state\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rcx\n"
	".cfi_adjust_cfa_offset -8\n"
	"	popq %rax\n"
	".cfi_adjust_cfa_offset -8\n"
	"9:	ret\n"
	".cfi_restore_state\n"
	"3:	cmpq $0, 72(%rax, %r11)\n"
	"	je 4f\n"
	"	addq $32, %r11\n"
	"	andq (%rax), %r11\n"
	"	jmp 2b\n"
	"4:	leaq gprof_add(%rip), %r11\n"
	"	jmp 8f\n"
	"6:	leaq 40(%rsp), %rcx\n"
	"	leaq gprof_time(%rip), %r11\n"
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
	"	subq $256, %rsp\n"
	"	andq $-16, %rsp\n"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	movups %xmm\\n, 16 * \\n(%rsp)\n"
	".endr\n"
	"	movq %rcx, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	cld\n"
	"	call *%r11\n"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	movups 16 * \\n(%rsp), %xmm\\n\n"
	".endr\n"
	"	leaq -40(%rbp), %rsp\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	popq %rbp\n"
	".cfi_def_cfa rsp, 40\n"
	".cfi_restore rbp\n"
	"	jmp 5b\n"
	".cfi_endproc\n"
	".size gprof_patched, . - gprof_patched\n");
#endif

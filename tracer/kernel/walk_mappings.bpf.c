/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * walk_mappings.bpf.c - what processes map as code, kept in BPF so that a process that lives for
 * some ms has stacks, too; a part of the object of samples
 *
 * A new process has the mappings of its parent. A new program has its own, the linker's and the
 * kernel's page. Each later mapping comes by mmap() or mprotect(). A mapping that is removed stays
 * in the list until another one is in its place. Each change replaces the list of a process as a
 * whole, because a timer may read it on another CPU.
 */
#define VM_EXEC	       4
#define PROT_EXEC      4
#define FILE_IS_NONE   0xfffffffeu
#define MAX_CODE_STEPS 32 /* to the parts of a program with code */
#define NR_AUXILIARY   24 /* values that the kernel gives to a program, and their keys */
#define AT_ENTRY       9
#define NSEC_BITS      0x3fffffff /* the others of i_ctime_nsec are flags, since 6.13 */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct inode___identity {
	u32 i_generation;
	s64 i_mtime_sec, i_ctime_sec; /* since 6.11 */
	u32 i_mtime_nsec, i_ctime_nsec;
	struct timespec64 __i_mtime; /* since 6.7 */
	struct timespec64 __i_ctime; /* since 6.6 */
};
struct inode___6_5 {
	struct timespec64 i_mtime, i_ctime;
};
struct mm_context___x86 {
	void *vdso;
};
struct mm_struct___x86 {
	struct mm_context___x86 context;
	unsigned long saved_auxv[2 * NR_AUXILIARY];
};
#pragma clang attribute pop

/* The iterator only asks for the tables of what runs, and notes nothing. */
volatile unsigned int prepares_running SEC(".data.files");

/* Where the daemon maps the files whose tables are wanted before a program runs; 0 bytes: none */
volatile unsigned int prepared_by SEC(".data.files");
volatile unsigned long long prepared_from SEC(".data.files");
volatile unsigned long long prepared_bytes SEC(".data.files");

/* The number of each file. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WALK_MAX_FILES);
	__type(key, struct walk_file);
	__type(value, u32);
} walk_files SEC(".maps");
volatile unsigned int nr_walk_files = WALK_FIRST_FILE;
volatile unsigned long long unnumbered_files; /* mappings of files beyond WALK_MAX_FILES */
volatile unsigned long long lost_mappings;    /* beyond WALK_MAX_MAPPINGS of a process */
volatile unsigned long long lost_lists;	      /* of processes beyond WALK_MAX_PROCESSES */

/** struct mapping_change - @process: a copy of the list, to be put in its place */
struct mapping_change {
	struct walk_process process;
	struct walk_mapping mapping;
	u32 tgid;
	u32 free;
	u64 end; /* of the last one that was taken */
	bool is_found;
	bool is_changed;
	bool is_asked; /* its table is wanted now */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* the second for the iterator, which other programs may preempt */
	__type(key, u32);
	__type(value, struct mapping_change);
} mapping_changes SEC(".maps");

enum { CHANGE_OF_PROGRAM, CHANGE_OF_ITERATOR };

/* ---- files ---- */

static __always_inline u64 mtime_of(struct inode *inode)
{
	struct inode___identity *now = (void *)inode;
	struct inode___6_5 *before = (void *)inode;

	if (bpf_core_field_exists(now->i_mtime_sec))
		return BPF_CORE_READ(now, i_mtime_sec) * 1000000000ull + BPF_CORE_READ(now, i_mtime_nsec);
	if (bpf_core_field_exists(now->__i_mtime))
		return BPF_CORE_READ(now, __i_mtime.tv_sec) * 1000000000ull + BPF_CORE_READ(now, __i_mtime.tv_nsec);
	return BPF_CORE_READ(before, i_mtime.tv_sec) * 1000000000ull + BPF_CORE_READ(before, i_mtime.tv_nsec);
}

static __always_inline u64 ctime_of(struct inode *inode)
{
	struct inode___identity *now = (void *)inode;
	struct inode___6_5 *before = (void *)inode;

	if (bpf_core_field_exists(now->i_ctime_sec))
		return BPF_CORE_READ(now, i_ctime_sec) * 1000000000ull + (BPF_CORE_READ(now, i_ctime_nsec) & NSEC_BITS);
	if (bpf_core_field_exists(now->__i_ctime))
		return BPF_CORE_READ(now, __i_ctime.tv_sec) * 1000000000ull + BPF_CORE_READ(now, __i_ctime.tv_nsec);
	return BPF_CORE_READ(before, i_ctime.tv_sec) * 1000000000ull + BPF_CORE_READ(before, i_ctime.tv_nsec);
}

/* Overlays with a layer in common have one table for each file of that: the key is the layer's. The
 * daemon opens the mapping, and so it sees the overlay's file. */
static __always_inline u32 number_of_file(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct walk_file key = {.ino = BPF_CORE_READ(inode, i_ino),
				.mtime_ns = mtime_of(inode),
				.ctime_ns = ctime_of(inode),
				.dev = BPF_CORE_READ(inode, i_sb, s_dev),
				.generation = BPF_CORE_READ((struct inode___identity *)inode, i_generation)};
	u32 *known = bpf_map_lookup_elem(&walk_files, &key), number;

	if (known)
		return *known;
	if (nr_walk_files >= WALK_MAX_FILES) {
		__sync_fetch_and_add(&unnumbered_files, 1);
		return WALK_NO_FILE;
	}
	number = __sync_fetch_and_add(&nr_walk_files, 1);
	if (number >= WALK_MAX_FILES)
		return WALK_NO_FILE;
	inode = opened_by_program(file).inode;
	file_inodes[number] = BPF_CORE_READ(inode, i_ino);
	if (!bpf_map_update_elem(&walk_files, &key, &number, BPF_NOEXIST))
		return number;
	known = bpf_map_lookup_elem(&walk_files, &key); /* another CPU was first */
	return known ? *known : WALK_NO_FILE;
}

/* ---- a change of a list ---- */

static __always_inline bool overlaps(const struct walk_mapping *a, const struct walk_mapping *b)
{
	return a->start < b->start + ((u64)b->pages << 12) && b->start < a->start + ((u64)a->pages << 12);
}

/* The part of a file may have been split, or mapped piece by piece. */
static __always_inline bool extends(struct walk_mapping *old, const struct walk_mapping *mapping)
{
	u64 end = old->start + ((u64)old->pages << 12), new_end = mapping->start + ((u64)mapping->pages << 12);

	if (mapping->start > end || old->start > new_end)
		return false;
	if (mapping->start < old->start)
		old->start = mapping->start;
	if (new_end > end)
		end = new_end;
	old->pages = (end - old->start) >> 12;
	return true;
}

static long change_step(u32 index, void *context)
{
	struct mapping_change *change = *(struct mapping_change **)context;
	struct walk_mapping *old, before;

	if (!change || index >= WALK_MAX_MAPPINGS || index >= change->process.nr)
		return 1;
	old = &change->process.mappings[index];
	if (old->pages && old->file == change->mapping.file && old->base == change->mapping.base) {
		before = *old;
		if (extends(old, &change->mapping)) {
			change->is_found = true;
			change->is_changed |= old->start != before.start || old->pages != before.pages;
			return 0;
		}
	}
	if (old->pages && overlaps(old, &change->mapping)) {
		old->pages = 0;
		change->is_changed = true;
	}
	if (!old->pages)
		change->free = index;
	return 0;
}

/* Add change->mapping to the copy; one of no file only removes what it covers. */
static __always_inline void change_list(struct mapping_change *change)
{
	u32 free;

	change->free = WALK_MAX_MAPPINGS;
	change->is_found = false;
	bpf_loop(WALK_MAX_MAPPINGS, change_step, &change, 0);
	if (change->is_found || change->mapping.file == FILE_IS_NONE)
		return;
	free = change->free < WALK_MAX_MAPPINGS ? change->free : change->process.nr;
	change->is_changed = true;
	if (free >= WALK_MAX_MAPPINGS) {
		change->process.lost++;
		__sync_fetch_and_add(&lost_mappings, 1);
		return;
	}
	change->process.mappings[free] = change->mapping;
	if (free == change->process.nr)
		change->process.nr++;
}

static __always_inline void take_vma(struct mapping_change *change, struct vm_area_struct *vma, u64 vdso)
{
	u64 start = vma->vm_start, end = vma->vm_end;
	struct file *file = vma->vm_file;

	change->mapping.start = start;
	change->end = end;
	change->mapping.pages = (end - start) >> 12;
	change->mapping.base = start - (vma->vm_pgoff << 12);
	if (file) {
		change->mapping.file = number_of_file(file);
	} else if (start == vdso) {
		change->mapping.file = WALK_VDSO;
		change->mapping.base = start;
	} else {
		change->mapping.file = FILE_IS_NONE;
	}
	change_list(change);
	if (change->is_asked)
		ask_for_table(&change->mapping, change->tgid);
}

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct mapping_change **context)
{
	struct mm_struct___x86 *mm = (void *)BPF_CORE_READ(task, mm);
	struct mapping_change *change = *context;

	if (change && (vma->vm_flags & VM_EXEC))
		take_vma(change, vma, (u64)BPF_CORE_READ(mm, context.vdso));
	return 0;
}

static __always_inline struct mapping_change *new_change(u32 tgid, u32 which)
{
	struct mapping_change *change = bpf_map_lookup_elem(&mapping_changes, &which);

	if (!change)
		return NULL;
	change->process.nr = change->process.lost = 0;
	change->tgid = tgid;
	change->is_changed = false;
	change->is_asked = true;
	return change;
}

/* A copy of the list that the process has. */
static __always_inline struct mapping_change *copy_list(u32 tgid, u32 which)
{
	struct walk_process *process = bpf_map_lookup_elem(&walk_processes, &tgid);
	struct mapping_change *change = new_change(tgid, which);

	if (change && process)
		bpf_probe_read_kernel(&change->process, sizeof(change->process), process);
	return change;
}

static __always_inline void give_list(u32 tgid, const struct walk_process *process)
{
	if (bpf_map_update_elem(&walk_processes, &tgid, process, BPF_ANY))
		__sync_fetch_and_add(&lost_lists, 1);
}

static __always_inline void put_list(struct mapping_change *change)
{
	if (change->is_changed)
		give_list(change->tgid, &change->process);
}

/* ---- processes ---- */

static __always_inline u64 entry_of(struct mm_struct___x86 *mm)
{
	for (int i = 0; i < NR_AUXILIARY; i++)
		if (BPF_CORE_READ(mm, saved_auxv[2 * i]) == AT_ENTRY)
			return BPF_CORE_READ(mm, saved_auxv[2 * i + 1]);
	return 0;
}

/** struct code_search - @at: the next address; the code ends at @end */
struct code_search {
	struct task_struct *task;
	struct mapping_change *change;
	u64 at, end;
};

static long code_step(u32 index, void *context)
{
	struct code_search *search = context;
	struct mapping_change *change = search->change;

	if (!change || search->at >= search->end)
		return 1;
	change->end = 0;
	bpf_find_vma(search->task, search->at, on_vma, &search->change, 0);
	search->at = change->end > search->at ? change->end : search->at + 4096;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(walk_exec, struct task_struct *task)
{
	struct mapping_change *change = new_change(task->tgid, CHANGE_OF_PROGRAM);
	struct mm_struct *mm = task->mm;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct code_search search = {.task = task, .change = change, .end = BPF_CORE_READ(mm, end_code)};

	if (!change)
		return 0;
	change->is_changed = true;
	/* a program may have several parts with code, often next to each other, and most of it is
	 * where its first instruction is; what runs first is the linker */
	search.at = BPF_CORE_READ(mm, start_code);
	bpf_loop(MAX_CODE_STEPS, code_step, &search, 0);
	bpf_find_vma(task, entry_of((void *)mm), on_vma, &change, 0);
	bpf_find_vma(task, BPF_CORE_READ(mm, end_code) - 1, on_vma, &change, 0);
	bpf_find_vma(task, BPF_CORE_READ(regs, ip), on_vma, &change, 0);
	bpf_find_vma(task, (u64)BPF_CORE_READ((struct mm_struct___x86 *)mm, context.vdso), on_vma, &change, 0);
	put_list(change);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(walk_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = parent->tgid, to = child->tgid;
	struct walk_process *process;

	if (from == to)
		return 0;
	process = bpf_map_lookup_elem(&walk_processes, &from);
	if (process)
		give_list(to, process);
	return 0;
}

/* Not when it exits: its memory is there for a while after that, and has stacks. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(walk_free, struct task_struct *task)
{
	u32 tgid = task->tgid;

	if (tgid == (u32)task->pid)
		bpf_map_delete_elem(&walk_processes, &tgid);
	return 0;
}

/* At the exit of a call of 64 bits that may have mapped code. */
static __always_inline void walk_call(struct pt_regs *regs, long result)
{
	u64 address;
	struct task_struct *task = current_task();
	struct mapping_change *change;

	if (!may_map_code(regs) || !(regs->dx & PROT_EXEC) || (result < 0 && result > -4096) || regs->cs != USER_CODE)
		return;
	address = regs->orig_ax == NR_MMAP ? (u64)result : regs->di;
	change = copy_list(task->tgid, CHANGE_OF_PROGRAM);
	if (!change)
		return;
	bpf_find_vma(task, address, on_vma, &change, 0);
	put_list(change);
}

/* The processes that run when samples begin. Their tables are made when a sample hits them. */
static __always_inline bool is_prepared(struct task_struct *task, struct vm_area_struct *vma)
{
	return (u32)task->tgid == prepared_by && vma->vm_start - prepared_from < prepared_bytes && vma->vm_file;
}

/* Ask for the table of a file that is mapped, and note nothing. */
static __always_inline void prepare_vma(struct task_struct *task, struct vm_area_struct *vma)
{
	u64 start = vma->vm_start, end = vma->vm_end;
	struct walk_mapping mapping = {.start = start, .pages = (end - start) >> 12};
	struct file *file = vma->vm_file;

	if (!file)
		return;
	mapping.file = number_of_file(file);
	ask_for_table(&mapping, task->tgid);
}

SEC("iter/task_vma")
int walk_start(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct mapping_change *change;
	struct mm_struct___x86 *mm;

	if (!task || !vma || task->pid != task->tgid)
		return 0;
	if (is_prepared(task, vma)) {
		prepare_vma(task, vma);
		return 0;
	}
	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	if (prepares_running) {
		if (!config.filtering || task_matches(task))
			prepare_vma(task, vma);
		return 0;
	}
	mm = (void *)task->mm;
	change = copy_list(task->tgid, CHANGE_OF_ITERATOR);
	if (!change)
		return 0;
	change->is_asked = false;
	take_vma(change, vma, (u64)BPF_CORE_READ(mm, context.vdso));
	put_list(change);
	return 0;
}

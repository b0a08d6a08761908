/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * start_state.bpf.c - the state when the recording starts: iterators over
 * threads, descriptors and mappings
 * The loader reads their output, a sequence of struct tracer_iter_record and payload.
 */

PATH_SCRATCH(iter_scratch);

struct iter_buffer {
	struct tracer_iter_record head;
	unsigned char payload[128];
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct iter_buffer);
} iter_buffers SEC(".maps");

static __always_inline void *iter_begin(struct iter_buffer **ret_buffer)
{
	u32 zero = 0;
	struct iter_buffer *b = bpf_map_lookup_elem(&iter_buffers, &zero);

	*ret_buffer = b;
	if (!b)
		return NULL;
	__builtin_memset(b->payload, 0, sizeof(b->payload));
	return b->payload;
}

/* Write the payload of @payload_bytes, valid since @ts_ns, and, if @text, its string: two writes,
 * so that no bytes are copied to join them. */
static __always_inline void iter_end_at(struct iter_buffer *b, void *seq, u32 id, u32 payload_bytes, const char *text,
					u32 text_bytes, u64 ts_ns)
{
	b->head.bytes = payload_bytes + text_bytes;
	b->head.id = id;
	b->head.ts_ns = ts_ns;
	bpf_seq_write(seq, b, sizeof(b->head) + payload_bytes);
	barrier_var(text_bytes);
	text_bytes &= 2047;
	if (text && text_bytes)
		bpf_seq_write(seq, text, text_bytes);
}

static __always_inline void iter_end(struct iter_buffer *b, void *seq, u32 id, u32 payload_bytes, const char *text,
				     u32 text_bytes)
{
	iter_end_at(b, seq, id, payload_bytes, text, text_bytes, bpf_ktime_get_ns());
}

#define ITER_RECORD(event)                                  \
	struct iter_buffer *buffer;                         \
	struct trace_##event *record = iter_begin(&buffer); \
	if (record)

/*
 * A thread that exits is in no call: its registers still have the one in which a signal killed it.
 */
static __always_inline void fill_syscall(struct trace_start_thread *record, struct task_struct *task)
{
	struct pt_regs *regs;
	long nr;

	record->nr = -1;
	if ((task->flags & (PF_KTHREAD | PF_EXITING)) || task->on_cpu || task->exit_state)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	nr = syscall_nr(regs);
	if (nr < 0)
		return;
	record->nr = nr;
	record->abi = syscall_abi(task, nr);
	record->arg0 = SYSCALL_ARG(regs, record->abi, 0);
	record->arg1 = SYSCALL_ARG(regs, record->abi, 1);
	record->arg2 = SYSCALL_ARG(regs, record->abi, 2);
	record->arg3 = SYSCALL_ARG(regs, record->abi, 3);
}

/* For follow.c. The kernel shows the processes that the caller can see. */
SEC("iter/task")
int list_processes(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct tracer_iter_process process = {0};

	if (!task || task->pid != task->tgid)
		return 0;
	process.tgid = task->tgid;
	process.ppid = BPF_CORE_READ(task, real_parent, tgid);
	process.number = pid_at_level(BPF_CORE_READ(task, thread_pid),
				      BPF_CORE_READ(current_task(), thread_pid, level));
	bpf_seq_write(ctx->meta->seq, &process, sizeof(process));
	return 0;
}

SEC("iter/task")
int start_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	void *seq = ctx->meta->seq;
	struct pid *pid;

	if (!task)
		return 0;
	ITER_RECORD(start_thread) {
		record->tid = task->pid;
		record->tgid = task->tgid;
		record->ppid = BPF_CORE_READ(task, real_parent, tgid);
		record->uid = BPF_CORE_READ(task, cred, euid.val);
		record->gid = BPF_CORE_READ(task, cred, egid.val);
		record->pgrp = BPF_CORE_READ(task, signal, pids[2], numbers[0].nr);
		pid = BPF_CORE_READ(task, thread_pid);
		record->ns_tid = pid_in_namespace(pid);
		record->ns_tgid = pid_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
		record->flags = task->flags & PF_KTHREAD     ? TRACE_THREAD_KERNEL
				: task->flags & PF_IO_WORKER ? TRACE_THREAD_IO_WORKER
							     : 0;
		if (config.exclude_tgid && task->tgid == config.exclude_tgid)
			record->flags |= TRACE_THREAD_RECORDER;
		if (task->ptrace)
			record->flags |= TRACE_THREAD_TRACED;
		record->state = task_state(task) | task->exit_state;
		record->prio = task->prio;
		record->cpu = task->thread_info.cpu;
		record->running = task->on_cpu != 0;
		record->start_ns = task->start_time;
		group_of(task, &record->cgroup);
		record->nr = -1;
		if (is_shown(task))
			fill_syscall(record, task);
		bpf_core_read(buffer->comm, 16, &task->comm);
		iter_end(buffer, seq, TRACE_EV_start_thread, sizeof(*record), buffer->comm, 16);
	}
	return 0;
}

/* Does this thread report what belongs to its process? If the leader has exited and has no memory
 * any more, each thread does. */
static __always_inline bool reports_process(struct task_struct *task)
{
	return task->pid == task->tgid || !BPF_CORE_READ(task, group_leader, mm);
}

/* The executable of a process; a second pass, because an iterator's program may
 * write one record per call. */
SEC("iter/task")
int start_exe(struct bpf_iter__task *ctx)
{
	struct path_text *s = path_scratch(&iter_scratch);
	struct task_struct *task = ctx->task;
	void *seq = ctx->meta->seq;
	struct path_span span;
	struct file *exe;

	if (!task || !s || !reports_process(task) || !is_shown(task))
		return 0;
	exe = BPF_CORE_READ(task, mm, exe_file);
	if (!exe)
		return 0;
	span = file_path(s, exe);
	ITER_RECORD(start_exe) {
		record->tgid = task->tgid;
		iter_end(buffer, seq, TRACE_EV_start_exe, sizeof(*record), &s->text[span.start], span.bytes);
	}
	return 0;
}

static __always_inline void start_socket(void *seq, u32 tgid, u32 fd, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);

	if (!sk)
		return;
	ITER_RECORD(start_socket) {
		record->tgid = tgid;
		record->fd = fd;
		record->pad = 0;
		FILL_SOCKET(record, sk);
		iter_end(buffer, seq, TRACE_EV_start_socket, sizeof(*record), NULL, 0);
	}
}

static __always_inline void start_layer(void *seq, struct inode *inode)
{
	struct inode *upper = upper_inode(inode);

	if (!upper)
		return;
	ITER_RECORD(fs_layer) {
		FILL_LAYER(record, inode, upper);
		iter_end(buffer, seq, TRACE_EV_fs_layer, sizeof(*record), NULL, 0);
	}
}

/* The kernel shows the descriptors of a process once, and those of threads with a table of their
 * own. If the first thread has exited, it shows them for each thread. */
static __always_inline bool has_own_files(struct task_struct *task)
{
	return task->pid != task->tgid && BPF_CORE_READ(task, group_leader, files);
}

/* The threads with a descriptor table: each process, and its threads with another table. The loader
 * finds those that share one, and processes with one address space. All kernel threads share one
 * table. */
SEC("iter/task")
int start_files(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct tracer_iter_record head = {.bytes = sizeof(struct tracer_iter_files), .id = TRACE_EV_start_files};
	struct tracer_iter_files files = {0};
	struct files_struct *leaders;

	if (!task || (task->flags & PF_KTHREAD) || !is_shown(task))
		return 0;
	files.files = (u64)BPF_CORE_READ(task, files);
	leaders = BPF_CORE_READ(task, group_leader, files);
	if (!files.files || (task->pid != task->tgid && (!leaders || (u64)leaders == files.files)))
		return 0;
	files.tid = task->pid;
	files.tgid = task->tgid;
	files.memory = reports_process(task) ? (u64)BPF_CORE_READ(task, mm) : 0;
	head.ts_ns = bpf_ktime_get_ns();
	bpf_seq_write(ctx->meta->seq, &head, sizeof(head));
	bpf_seq_write(ctx->meta->seq, &files, sizeof(files));
	return 0;
}

/* Does @fd of @task still refer to @file? It may have been closed and
 * reopened since it was looked up. */
static __always_inline bool fd_still_refers_to(struct task_struct *task, u32 fd, struct file *file,
					       unsigned long *ret_cloexec_bits)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = FIELD(table, fd), *now = NULL;
	unsigned long *bits = FIELD(table, close_on_exec);

	bpf_probe_read_kernel(ret_cloexec_bits, sizeof(*ret_cloexec_bits), bits + fd / 64);
	bpf_probe_read_kernel(&now, sizeof(now), files + fd);
	return fd < FIELD(table, max_fds) && now == file;
}

SEC("iter/task_file")
int start_fd(struct bpf_iter__task_file *ctx)
{
	struct path_text *s = path_scratch(&iter_scratch);
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	void *seq = ctx->meta->seq;
	struct path_span span;
	unsigned long word = 0;
	struct inode *inode;
	u32 fd = ctx->fd;
	u64 ts_ns;

	if (!task || !file || !s || !is_shown(task))
		return 0;
	inode = file->f_inode;
	span = file_path(s, file);
	ts_ns = bpf_ktime_get_ns(); /* before the check: any later change has a later event */
	if (!fd_still_refers_to(task, fd, file, &word))
		return 0;
	ITER_RECORD(start_fd) {
		record->tgid = task->tgid;
		record->fd = fd;
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->mode = BPF_CORE_READ(inode, i_mode);
		record->ino = BPF_CORE_READ(inode, i_ino);
		record->flags = (file->f_flags & ~O_CLOEXEC) | (word >> (fd % 64) & 1 ? O_CLOEXEC : 0);
		record->tid = has_own_files(task) ? task->pid : 0;
		iter_end_at(buffer, seq, TRACE_EV_start_fd, sizeof(*record), &s->text[span.start], span.bytes, ts_ns);
	}
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFSOCK)
		start_socket(seq, task->tgid, fd, file);
	start_layer(seq, inode);
	return 0;
}

SEC("iter/task_vma")
int start_map(struct bpf_iter__task_vma *ctx)
{
	struct path_text *s = path_scratch(&iter_scratch);
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	void *seq = ctx->meta->seq;
	struct path_span span;
	struct opened opened;
	struct inode *inode;
	struct file *file;

	if (!task || !vma || !s || !reports_process(task) || !is_shown(task))
		return 0;
	file = vma->vm_file;
	if (!file)
		return 0;
	opened = opened_by_program(file);
	span = opened_path(s, &opened);
	inode = opened.inode;
	ITER_RECORD(start_map) {
		record->tgid = task->tgid;
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->start = vma->vm_start;
		record->end = vma->vm_end;
		record->ino = BPF_CORE_READ(inode, i_ino);
		record->offset = vma->vm_pgoff << 12;
		record->prot = (vma->vm_flags & 7) | (vma->vm_flags & VM_MAYSHARE ? 0 : TRACE_MAP_PRIVATE);
		iter_end(buffer, seq, TRACE_EV_start_map, sizeof(*record), &s->text[span.start], span.bytes);
	}
	return 0;
}

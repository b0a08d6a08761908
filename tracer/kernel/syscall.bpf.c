/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* syscall.bpf.c - entries and exits of system calls, the paths they are given, and the
 * files and sockets they return. */
PATH_SCRATCH(enter_scratch);
PATH_SCRATCH(exit_scratch);

/* Threads with a path argument that was not in memory at the entry: the
 * kernel has read it by the exit. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u8);
} unread_paths SEC(".maps");
volatile trace_u64 nr_unread_paths; /* In the map, or evicted: most often 0, so that exits need not look. */

/* The first argument of socketcall(), linux/net.h. */
enum {
	SOCKETCALL_SOCKET = 1,
	SOCKETCALL_BIND,
	SOCKETCALL_CONNECT,
	SOCKETCALL_LISTEN,
	SOCKETCALL_ACCEPT,
	SOCKETCALL_SOCKETPAIR = 8,
	SOCKETCALL_SENDTO = 11,
	SOCKETCALL_SENDMSG = 16,
	SOCKETCALL_RECVMSG = 17,
	SOCKETCALL_ACCEPT4 = 18,
	SOCKETCALL_SENDMMSG = 20,
};

/* The index of the argument is known only at run time. */
static __always_inline u64 path_argument(struct pt_regs *regs, u32 abi, u32 which)
{
	switch (which) {
	case 1:
		return SYSCALL_ARG(regs, abi, 0);
	case 2:
		return SYSCALL_ARG(regs, abi, 1);
	case 3:
		return SYSCALL_ARG(regs, abi, 2);
	case 5:
		return SYSCALL_ARG(regs, abi, 4);
	case 6: /* fanotify_mark() of 32-bit programs */
		return SYSCALL_ARG(regs, abi, 5);
	default:
		return SYSCALL_ARG(regs, abi, 3);
	}
}

#define PATH_ARGUMENT(action) ((action) >> SYSCALL_PATH_SHIFT & SYSCALL_PATH_MASK)

/* The descriptor of the directory where a relative path begins: the argument before the path. */
static __always_inline s32 base_argument(struct pt_regs *regs, u32 abi, u32 action)
{
	return action & SYSCALL_AT ? (s32)path_argument(regs, abi, PATH_ARGUMENT(action) - 1) : FD_CWD;
}

/* A path that does not fit ends where the longest path would, with "...". Returns @bytes. */
static __always_inline long mark_cut(char *text, long bytes)
{
	if (bytes == TRACER_PATH_BYTES)
		__builtin_memcpy(text + TRACER_PATH_BYTES - 1 - CUT_BYTES, "...", CUT_BYTES);
	return bytes;
}

/*
 * Returns 0 if the path could not be read, else 1 + its first byte. A global function is verified
 * once, and has a stack frame of its own.
 */
__noinline int record_path(u64 address, u32 nr, u32 abi, u32 late)
{
	struct path_text *s = late ? path_scratch(&exit_scratch) : path_scratch(&enter_scratch);
	long bytes;

	if (!s)
		return 0;
	bytes = mark_cut(s->text, bpf_probe_read_user_str(s->text, TRACER_PATH_BYTES, (void *)address));
	if (bytes <= 0 || bytes > TRACER_PATH_BYTES)
		return 0;
	RECORD_BEHIND(sys_path, ROUND8((u32)bytes)) {
		record->nr = nr;
		record->abi = abi;
		record->late = late;
		put_text(record + 1, s->text, bytes);
		COMMIT(sys_path);
	}
	return 1 + (u8)s->text[0];
}

static __noinline void record_entry_path(struct pt_regs *regs, u32 nr, u32 abi, u32 action)
{
	u64 address = path_argument(regs, abi, PATH_ARGUMENT(action));
	struct task_struct *task = current_task();
	u32 tid = task->pid;
	int first = address ? record_path(address, nr, abi, false) : 1;
	u8 one = 1;

	if (first)
		note_base(task, base_argument(regs, abi, action), first - 1);
	else if (!bpf_map_update_elem(&unread_paths, &tid, &one, BPF_ANY))
		__sync_fetch_and_add(&nr_unread_paths, 1);
}

/* Record fs_open of @file, the descriptor @fd. @s belongs to the calling program. */
static __always_inline void put_fd(struct path_text *s, struct file *file, u32 fd, u32 cloexec)
{
	struct inode *inode = FIELD(file, f_inode);
	struct super_block *super = FIELD(inode, i_sb);
	struct path_span span = file_path(s, file);

	RECORD_IN(fs_open, true, ROUND8(span.bytes)) {
		record->fd = fd;
		record->flags = (FIELD(file, f_flags) & ~O_CLOEXEC) | cloexec;
		record->dev = FIELD(super, s_dev);
		record->mode = FIELD(inode, i_mode);
		record->ino = FIELD(inode, i_ino);
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(fs_open);
	}
}

/* Record sock_endpoints of @file, if it is a socket. */
static __always_inline void put_endpoints(struct file *file, u32 fd)
{
	struct socket *socket;
	struct sock *sk;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return;
	socket = FIELD(file, private_data);
	sk = FIELD(socket, sk);
	if (!sk)
		return;
	RECORD_STRUCTURAL(sock_endpoints, 0) {
		record->fd = fd;
		FILL_SOCKET(record, sk);
		COMMIT(sock_endpoints);
	}
}

/* Returns 1 if the file may have a layer, else 0. */
__noinline int record_fd(u32 fd)
{
	u32 cloexec = 0;
	struct file *file = file_of_fd(fd, &cloexec);
	struct path_text *s = path_scratch(&exit_scratch);

	if (!s || !file)
		return 0;
	put_fd(s, file, fd, cloexec);
	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFDIR && event_wanted(TRACE_EV_fs_dir))
		told_directory(file);
	return is_of_overlay(FIELD(file, f_inode));
}

static __always_inline void put_layer(struct file *file)
{
	struct inode *inode = FIELD(file, f_inode), *upper = upper_inode(inode);

	if (!upper)
		return;
	RECORD_BEHIND(fs_layer, 0) {
		FILL_LAYER(record, inode, upper);
		COMMIT(fs_layer);
	}
}

/* The results of this and the next function have no meaning; global functions must have one. */
__noinline int record_layer(u32 fd)
{
	u32 cloexec = 0;
	struct file *file = file_of_fd(fd, &cloexec);

	if (file)
		put_layer(file);
	return 0;
}

__noinline int record_endpoints(u32 fd)
{
	u32 cloexec = 0;

	put_endpoints(file_of_fd(fd, &cloexec), fd);
	return 0;
}

/* The socket of a socketcall(): its number is in the program's memory. */
static __noinline void record_socketcall_entry(struct pt_regs *regs)
{
	u32 call = SYSCALL_ARG(regs, TRACE_ABI_32, 0), fd;

	if (call == SOCKETCALL_SOCKET || call == SOCKETCALL_SOCKETPAIR || !event_wanted(TRACE_EV_sock_endpoints))
		return;
	if (!bpf_probe_read_user(&fd, sizeof(fd), (void *)(u64)(u32)SYSCALL_ARG(regs, TRACE_ABI_32, 1)))
		record_endpoints(fd);
}

#define ENTER_REGISTERED_RING 16 /* IORING_ENTER_REGISTERED_RING */
#define NR_REGISTERED_RINGS   16 /* IO_RINGFD_REG_MAX */

/* How many of the ring's results the program has consumed: since the previous such call it worked
 * on the results in between. */
static __noinline void record_ring_entry(struct pt_regs *regs, u32 abi)
{
	u32 fd = SYSCALL_ARG(regs, abi, 0), cloexec;
	struct file *file = NULL;
	struct io_uring_task *own;
	struct io_ring_ctx *ring;

	if (!bpf_core_type_exists(struct io_ring_ctx) || !event_wanted(TRACE_EV_uring_enter))
		return;
	if (!(SYSCALL_ARG(regs, abi, 3) & ENTER_REGISTERED_RING)) {
		file = file_of_fd(fd, &cloexec);
	} else if (fd < NR_REGISTERED_RINGS && bpf_core_field_exists(struct io_uring_task, registered_rings)) {
		own = FIELD(current_task(), io_uring);
		bpf_probe_read_kernel(&file, sizeof(file),
				      (void *)own + bpf_core_field_offset(struct io_uring_task, registered_rings) +
					      fd * sizeof(file));
	}
	if (!file)
		return;
	ring = FIELD(file, private_data);
	RECORD_BEHIND(uring_enter, 0) {
		record->ring = (u64)ring;
		record->seen = BPF_CORE_READ(ring, rings, cq.head);
		record->pad = 0;
		COMMIT(uring_enter);
	}
}

static __noinline void record_entry_more(struct pt_regs *regs, u32 nr, u32 abi, u32 action)
{
	if (action & SYSCALL_SOCKETCALL)
		record_socketcall_entry(regs);
	else if (action & SYSCALL_RING)
		record_ring_entry(regs, abi);
	else if (event_wanted(TRACE_EV_sys_path))
		record_entry_path(regs, nr, abi, action);
}

/* The three are one record, with each step longer by 24 bytes: so one piece of code is enough. */
_Static_assert(TRACE_EV_sys_enter3 == TRACE_EV_sys_enter + SYSCALL_ARGS_3,
	       "the kind of arguments is the step from event to event");
_Static_assert(TRACE_EV_sys_enter6 == TRACE_EV_sys_enter + SYSCALL_ARGS_6, "the same");
_Static_assert(sizeof(struct trace_sys_enter3) == sizeof(struct trace_sys_enter) + 24, "three arguments");
_Static_assert(sizeof(struct trace_sys_enter6) == sizeof(struct trace_sys_enter) + 48, "six");

/* The kernel runs our program for entries with preemption off, as deferred_begin() requires. */
volatile bool entries_not_preempted;
#define PREEMPT_MASK 0xff /* of preempt_count, include/linux/preempt.h */

static __noinline void note_preemption(struct subbuf_control *control)
{
	if (!entries_not_preempted)
		entries_not_preempted = preempt_count(control) & PREEMPT_MASK;
}

/* Calls with exits that record more than the result, mostly after other
 * events have come in between. */
#define SYSCALL_NOT_DEFERRED                                                                                 \
	(~(SYSCALL_ARGS_MASK | SYSCALL_PATH_MASK << SYSCALL_PATH_SHIFT | SYSCALL_NEW_FD | SYSCALL_BPF |      \
	   SYSCALL_IOCTL | SYSCALL_AT | SYSCALL_SENDTO | SYSCALL_SENDMSG | SYSCALL_SENDMMSG | SYSCALL_EXEC | \
	   SYSCALL_RENAME | SYSCALL_REMOVE))

/* Is no entry deferred any more? An entry with no recorded exit gets its record first. */
static __always_inline bool may_defer(struct subbuf_control *control, u32 cpu)
{
	if (!SUBBUF_LOAD(&control->deferred_ns))
		return true;
	flush_entry(cpu);
	return !SUBBUF_LOAD(&control->deferred_ns);
}

_Static_assert(TRACER_PATH_BYTES == SUBBUF_DEFERRED_PATH_BYTES, "any path can be deferred");

/* Copy the path of a call that is to be deferred, if it has one. Returns the bytes with the NUL; 0:
 * it has none, < 0: it could not be read. */
static __noinline long defer_path(struct subbuf_control *control, struct task_struct *task, struct pt_regs *regs,
				  u32 abi, u32 action)
{
	u64 address = event_wanted(TRACE_EV_sys_path) ? path_argument(regs, abi, PATH_ARGUMENT(action)) : 0;
	long bytes;

	if (!address)
		return 0;
	bytes = mark_cut((char *)control->deferred_path,
			 bpf_probe_read_user_str(control->deferred_path, TRACER_PATH_BYTES, (void *)address));
	if (bytes > 0)
		note_base(task, base_argument(regs, abi, action), *(char *)control->deferred_path);
	return bytes;
}

static __noinline void record_numbers(struct subbuf_control *control, u32 cpu, struct pt_regs *regs, u64 call, u32 kind)
{
	u32 abi = call >> 32;
	struct open_record recording;
	u64 *record = record_begin_in(&recording, control, cpu, false, sizeof(struct trace_sys_enter) + 24 * kind);

	if (record) {
		record[0] = call; /* nr, abi, pad */
		PUT_ARGUMENTS(record + 1, regs, abi, kind);
		record_end(&recording, TRACE_EV_sys_enter + kind);
	}
}

/* Record an entry that is not deferred. */
static __noinline int record_entry(struct subbuf_control *control, u32 cpu, struct pt_regs *regs, u64 call, u32 action)
{
	record_numbers(control, cpu, regs, call, action & SYSCALL_ARGS_MASK);
	if (action & SYSCALL_ENTRY_MORE)
		record_entry_more(regs, call, call >> 32, action);
	return 0;
}

/* sys_enter and sys_exit contain only the common path; all else is out of line. With less than 64
 * bytes of stack a program runs on the kernel stack; with more it runs on pages that it has to
 * find. */
SEC("event/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	u32 cpu = bpf_get_smp_processor_id(), nr = id, abi, action, kind;
	struct subbuf_control *control = control_of_cpu(false, cpu);
	struct task_struct *task;
	bool defers;
	long path_bytes = 0;

	if (!control)
		return 0;
	defers = SUBBUF_LOAD(&control->defers);
	if (!defers)
		note_preemption(control);
	task = current_by_loads(control);
	if (!current_passes() || own_event(task))
		return 0;
	abi = syscall_abi(task, nr);
	action = syscall_action(abi, nr);
	if (config.counts)
		count_call(abi, nr);
	if (defers && !(action & SYSCALL_NOT_DEFERRED) && may_defer(control, cpu)) {
		if (PATH_ARGUMENT(action))
			path_bytes = defer_path(control, task, regs, abi, action);
		if (path_bytes >= 0) {
			kind = action & SYSCALL_ARGS_MASK;
			PUT_ARGUMENTS(control->deferred_args, regs, abi, kind);
			deferred_begin(control, (u64)regs, nr | (u64)abi << 32,
				       kind | (action >> SYSCALL_PATH_SHIFT ? DEFERRED_MORE : 0), path_bytes);
			return 0;
		}
	}
	return record_entry(control, cpu, regs, nr | (u64)abi << 32, action);
}

/*
 * The daemon runs this before it reads everything: on the CPU in @arguments, or on any CPU if that
 * one is offline. It flushes the deferred entry and closes the sub-buffer in use, as subbuf_flush()
 * does. Other CPUs must not do that while exits write records of calls without a lock. Returns 1 if
 * it interrupted such an exit: try again.
 */
SEC("raw_tp")
int flush_ring(u64 *arguments)
{
	u32 cpu = arguments[0];
	struct subbuf_control *control = control_of_cpu(false, cpu);
	struct subbuf_header *header;
	u64 position, offset;

	if (!control || deferred_is_interrupted(control))
		return control != NULL;
	flush_entry(cpu);
	add_up(cpu);
	position = SUBBUF_LOAD(&control->position);
	offset = position & SUBBUF_OFFSET_MASK;
	if (offset >= config.ring.subbuf_bytes)
		return 0;
	if (SUBBUF_CAS(&control->position, position, (position & ~SUBBUF_OFFSET_MASK) | config.ring.subbuf_bytes) !=
	    position)
		return 1;
	header = DEFERRED_HEADER(control, position >> SUBBUF_OFFSET_BITS);
	SUBBUF_STORE(&header->end, offset);
	SUBBUF_ADD(&header->commit, config.ring.subbuf_bytes - offset); /* [W2] */
	return 0;
}

/* Descriptors that this system call made or changed. At most two; the loop keeps the code once. */
static __always_inline void record_new_fds(struct pt_regs *regs, u32 abi, u32 action, long ret)
{
	s32 fds[2] = {ret, -1};
	bool sockets = action & (SYSCALL_NEW_SOCKET | SYSCALL_SOCKETPAIR);

	if (action & SYSCALL_PIPE)
		bpf_probe_read_user(fds, sizeof(fds), (void *)(u64)SYSCALL_ARG(regs, abi, 0));
	if (action & SYSCALL_SOCKETPAIR)
		bpf_probe_read_user(fds, sizeof(fds), (void *)(u64)SYSCALL_ARG(regs, abi, 3));
	for (int i = 0; i < 2; i++) {
		s32 fd = i ? fds[1] : fds[0];

		if (fd < 0)
			break;
		if (event_wanted(TRACE_EV_fs_open) && record_fd(fd) && event_wanted(TRACE_EV_fs_layer))
			record_layer(fd);
		if (sockets && event_wanted(TRACE_EV_sock_endpoints))
			record_endpoints(fd);
	}
}

/* struct cmsghdr of 64-bit programs, and the part of struct msghdr that says where they are,
 * socket(7); then those of 32-bit programs. */
struct user_control {
	u64 control, control_bytes;
};
#define MSGHDR_CONTROL 32 /* offset of msg_control */
struct user_cmsghdr {
	u64 bytes;
	s32 level, type;
};
struct user_control_32 {
	u32 control, control_bytes;
};
#define MSGHDR_CONTROL_32 16
struct user_cmsghdr_32 {
	u32 bytes;
	s32 level, type;
};
#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MAX_RIGHTS 253 /* SCM_MAX_FD */
/* at most a few of other kinds precede the descriptors: times, the
 * sender's credentials, its label */
#define MAX_CONTROL_MESSAGES 8

/* Data of a message that sys_exit reads. Not on the stack, which has little room left where
 * several messages are read. */
struct rights_text {
	struct user_control control;
	struct user_control_32 short_control;
	struct user_cmsghdr header;
	struct user_cmsghdr_32 short_header;
	u64 at, end; /* the next position, and the end of the message */
	u32 nr;	     /* number of descriptors found */
	s32 fd;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rights_text);
} rights_scratch SEC(".maps");

static __always_inline bool read_control(struct rights_text *s, u64 message, bool is_32)
{
	if (!is_32)
		return !bpf_probe_read_user(&s->control, sizeof(s->control), (void *)(message + MSGHDR_CONTROL));
	if (bpf_probe_read_user(&s->short_control, sizeof(s->short_control), (void *)(message + MSGHDR_CONTROL_32)))
		return false;
	s->control = (struct user_control){s->short_control.control, s->short_control.control_bytes};
	return true;
}

static __always_inline bool read_cmsghdr(struct rights_text *s, u64 at, bool is_32)
{
	if (!is_32)
		return !bpf_probe_read_user(&s->header, sizeof(s->header), (void *)at);
	if (bpf_probe_read_user(&s->short_header, sizeof(s->short_header), (void *)at))
		return false;
	s->header = (struct user_cmsghdr){s->short_header.bytes, s->short_header.level, s->short_header.type};
	return true;
}

/* Examine one part of a message's control data. Returns 1 at the end, or where the descriptors are:
 * at s->at. Steps are functions, because the verifier checks a function once, and a loop for each
 * iteration. */
static __always_inline long find_rights_step(struct rights_text *s, bool is_32)
{
	u32 header_bytes = is_32 ? sizeof(struct user_cmsghdr_32) : sizeof(struct user_cmsghdr), word = is_32 ? 4 : 8;

	if (s->at + header_bytes + sizeof(s32) > s->end || !read_cmsghdr(s, s->at, is_32) ||
	    s->header.bytes < header_bytes)
		return 1;
	if (s->header.level == SOL_SOCKET && s->header.type == SCM_RIGHTS) {
		s->nr = (s->header.bytes - header_bytes) / sizeof(s32);
		s->at += header_bytes;
		return 1;
	}
	s->at += (s->header.bytes + word - 1) & ~((u64)word - 1);
	return 0;
}

static long find_rights(u32 index, struct rights_text **context)
{
	return find_rights_step(*context, false);
}

static long find_rights_32(u32 index, struct rights_text **context)
{
	return find_rights_step(*context, true);
}

/* Record one received descriptor. Returns 1 if it is none. */
static long record_right(u32 index, struct rights_text **context)
{
	struct rights_text *s = *context;

	if (bpf_probe_read_user(&s->fd, sizeof(s->fd), (void *)(s->at + index * sizeof(s32))) || s->fd < 0)
		return 1;
	record_fd(s->fd);
	record_endpoints(s->fd);
	return 0;
}

/* Record the descriptors received with a message. The kernel has set msg_controllen to
 * the size of what it wrote. */
static __always_inline void record_rights(u64 message, bool is_32)
{
	u32 zero = 0;
	struct rights_text *s = bpf_map_lookup_elem(&rights_scratch, &zero);

	if (!s || !read_control(s, message, is_32))
		return;
	s->at = s->control.control;
	s->end = s->at + s->control.control_bytes;
	s->nr = 0;
	if (is_32)
		bpf_loop(MAX_CONTROL_MESSAGES, find_rights_32, &s, 0);
	else
		bpf_loop(MAX_CONTROL_MESSAGES, find_rights, &s, 0);
	bpf_loop(s->nr < MAX_RIGHTS ? s->nr : MAX_RIGHTS, record_right, &s, 0);
}

/* The results have no meaning. Global functions, verified once, with a stack frame of their own. */
__noinline int record_message(u64 message)
{
	if (event_wanted(TRACE_EV_fs_open))
		record_rights(message, false);
	return 0;
}

__noinline int record_message_32(u64 message)
{
	if (event_wanted(TRACE_EV_fs_open))
		record_rights(message, true);
	return 0;
}

/* Only unix sockets receive descriptors, so messages of others are not examined. */
__noinline int is_unix_socket(u32 fd)
{
	u32 cloexec = 0;
	struct file *file = file_of_fd(fd, &cloexec);
	struct socket *socket;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	socket = FIELD(file, private_data);
	return BPF_CORE_READ(socket, sk, __sk_common.skc_family) == AF_UNIX;
}

#define MMSGHDR_BYTES	 64 /* struct mmsghdr, recvmmsg(2) */
#define MMSGHDR_BYTES_32 32
#define MAX_MESSAGES	 1024 /* UIO_MAXIOV */

/* Does not call record_message(): the verifier allows call chains of at most eight frames,
 * and this chain has eight. */
static long record_one_message(u32 index, u64 *message)
{
	record_rights(*message + index * MMSGHDR_BYTES, false);
	return 0;
}

static long record_one_message_32(u32 index, u64 *message)
{
	record_rights(*message + index * MMSGHDR_BYTES_32, true);
	return 0;
}

/* Messages that were received at once. Not for socketcall(): its call chain has no stack left, and
 * 32-bit programs have not called recvmmsg() that way for a long time. */
__noinline int record_messages(u64 message, u32 nr, u32 is_32)
{
	nr = nr < MAX_MESSAGES ? nr : MAX_MESSAGES;
	if (!event_wanted(TRACE_EV_fs_open))
		return 0;
	if (is_32)
		bpf_loop(nr, record_one_message_32, &message, 0);
	else
		bpf_loop(nr, record_one_message, &message, 0);
	return 0;
}

static __always_inline void record_new_socket(u32 fd)
{
	if (event_wanted(TRACE_EV_fs_open))
		record_fd(fd);
	if (event_wanted(TRACE_EV_sock_endpoints))
		record_endpoints(fd);
}

/* The effects of a socketcall(), by its inner call. */
static __noinline void record_socketcall_exit(struct pt_regs *regs, long ret)
{
	u32 args[4] = {};

	bpf_probe_read_user(args, sizeof(args), (void *)(u64)(u32)SYSCALL_ARG(regs, TRACE_ABI_32, 1));
	switch ((u32)SYSCALL_ARG(regs, TRACE_ABI_32, 0)) {
	case SOCKETCALL_SOCKET:
	case SOCKETCALL_ACCEPT:
	case SOCKETCALL_ACCEPT4:
		record_new_socket(ret);
		break;
	case SOCKETCALL_SOCKETPAIR:
		if (!bpf_probe_read_user(args, 2 * sizeof(args[0]), (void *)(u64)args[3])) {
			record_new_socket(args[0]);
			record_new_socket(args[1]);
		}
		break;
	case SOCKETCALL_BIND:
	case SOCKETCALL_CONNECT:
	case SOCKETCALL_LISTEN:
		if (event_wanted(TRACE_EV_sock_endpoints))
			record_endpoints(args[0]);
		break;
	case SOCKETCALL_RECVMSG:
		record_message_32(args[1]);
		break;
	case SOCKETCALL_SENDTO:
	case SOCKETCALL_SENDMSG:
	case SOCKETCALL_SENDMMSG:
		record_socketcall_destination(SYSCALL_ARG(regs, TRACE_ABI_32, 0),
					      (u32)SYSCALL_ARG(regs, TRACE_ABI_32, 1), ret);
		break;
	}
}

/* enum bpf_cmd, linux/bpf.h, of Linux 6.18: the commands that return a descriptor. */
#define COMMAND(nr) (1ull << (nr))
#define BPF_FD_COMMANDS                                                                                            \
	(COMMAND(0 /* MAP_CREATE */) | COMMAND(5 /* PROG_LOAD */) | COMMAND(7 /* OBJ_GET */) |                     \
	 COMMAND(13 /* PROG_GET_FD_BY_ID */) | COMMAND(14 /* MAP_GET_FD_BY_ID */) |                                \
	 COMMAND(17 /* RAW_TRACEPOINT_OPEN */) | COMMAND(18 /* BTF_LOAD */) | COMMAND(19 /* BTF_GET_FD_BY_ID */) | \
	 COMMAND(28 /* LINK_CREATE */) | COMMAND(30 /* LINK_GET_FD_BY_ID */) | COMMAND(32 /* ENABLE_STATS */) |    \
	 COMMAND(33 /* ITER_CREATE */) | COMMAND(36 /* TOKEN_CREATE */))

/* Commands of ioctl(), Linux 6.18, that return a descriptor. A wrong number here does no harm: the
 * record describes the file that has that number. */
static __always_inline bool makes_descriptor(u32 command)
{
	switch (command) {
	case 0x5441: /* TIOCGPTPEER */
	case 0x894c: /* SIOCGSKNS */
	case 0x3b6a: /* VFIO_GROUP_GET_DEVICE_FD */
	case 0xaa00: /* USERFAULTFD_IOC_NEW */
	case 0xae01: /* KVM_CREATE_VM */
	case 0xae41: /* KVM_CREATE_VCPU */
	case 0xaece: /* KVM_GET_STATS_FD */
	case 0xb701: /* NS_GET_USERNS */
	case 0xb702: /* NS_GET_PARENT */
		return true;
	default:
		/* PIDFD_GET_CGROUP_NAMESPACE to PIDFD_GET_UTS_NAMESPACE */
		return command >= 0xff01 && command <= 0xff0a;
	}
}

static __always_inline bool is_descriptor(struct pt_regs *regs, u32 abi, u32 action)
{
	u32 command = SYSCALL_ARG(regs, abi, 0);

	if (action & SYSCALL_IOCTL)
		return makes_descriptor(SYSCALL_ARG(regs, abi, 1));
	return !(action & SYSCALL_BPF) || (command < 64 && (BPF_FD_COMMANDS >> command & 1));
}

#define AT_REMOVEDIR	0x200
#define SYSCALL_NEW_FDS (SYSCALL_NEW_FD | SYSCALL_NEW_SOCKET | SYSCALL_PIPE | SYSCALL_SOCKETPAIR)
#define EINPROGRESS	115

struct user_futex_waitv { /* struct futex_waitv, <linux/futex.h> */
	u64 value, address;
	u32 flags, reserved;
};

/* A thread that waited for several futexes was woken at this one. The result has no meaning. */
__noinline int record_futex(u64 futexes, u32 index)
{
	u64 address;

	if (bpf_probe_read_user(&address, sizeof(address),
				(void *)(futexes + index * sizeof(struct user_futex_waitv) +
					 __builtin_offsetof(struct user_futex_waitv, address))))
		return 0;
	RECORD_BEHIND(futex_woken, 0) {
		record->address = address;
		record->index = index;
		record->pad = 0;
		COMMIT(futex_woken);
	}
	return 0;
}

/* The result has no meaning. */
__noinline int record_moved(u64 futexes)
{
	struct user_futex_waitv pair[2];

	if (bpf_probe_read_user(pair, sizeof(pair), (void *)futexes))
		return 0;
	RECORD_BEHIND(futex_moved, 0) {
		record->from = pair[0].address;
		record->to = pair[1].address;
		record->from_flags = pair[0].flags;
		record->to_flags = pair[1].flags;
		COMMIT(futex_moved);
	}
	return 0;
}

/* Paths that the trace has of directories may be outdated from now on. */
static __always_inline void note_rename(struct pt_regs *regs, u32 abi, u32 action, long ret)
{
	if (ret || !(action & (SYSCALL_RENAME | SYSCALL_REMOVE)))
		return;
	if ((action & SYSCALL_RENAME) || (SYSCALL_ARG(regs, abi, 2) & AT_REMOVEDIR))
		__sync_fetch_and_add(&nr_renames, 1);
}

/* Record the other effects of a call that is more than a number and plain arguments. */
static __always_inline void record_effects(struct pt_regs *regs, u32 nr, u32 abi, u32 action, long ret)
{
	if (action &
	    (SYSCALL_SENDTO | SYSCALL_SENDMSG | SYSCALL_SENDMMSG)) { /* frequent calls, without another effect */
		if (ret >= 0 && event_wanted(TRACE_EV_sock_names))
			record_destination_of(regs, abi, action, ret);
		return;
	}
	note_rename(regs, abi, action, ret);
	if (nr_unread_paths && PATH_ARGUMENT(action)) {
		u32 tid = current_task()->pid;

		if (bpf_map_lookup_elem(&unread_paths, &tid) && !bpf_map_delete_elem(&unread_paths, &tid)) {
			__sync_fetch_and_add(&nr_unread_paths, -1);
			record_path(path_argument(regs, abi, PATH_ARGUMENT(action)), nr, abi, true);
		}
	}
	if ((action & SYSCALL_NEW_FDS) && ret >= 0 && is_descriptor(regs, abi, action))
		record_new_fds(regs, abi, action, ret);
	if ((action & SYSCALL_ENDPOINTS) && (ret >= 0 || ret == -EINPROGRESS) && event_wanted(TRACE_EV_sock_endpoints))
		record_endpoints(SYSCALL_ARG(regs, abi, 0));
	if ((action & SYSCALL_RIGHTS) && ret >= 0 && abi == TRACE_ABI_32)
		record_message_32((u32)SYSCALL_ARG(regs, abi, 1));
	else if ((action & SYSCALL_RIGHTS) && ret >= 0)
		record_message(SYSCALL_ARG(regs, abi, 1));
	if ((action & SYSCALL_MESSAGES) && ret > 0 && is_unix_socket(SYSCALL_ARG(regs, abi, 0)))
		record_messages(SYSCALL_ARG(regs, abi, 1), ret, abi == TRACE_ABI_32);
	if ((action & SYSCALL_WAITV) && ret >= 0 && event_wanted(TRACE_EV_futex_woken))
		record_futex(SYSCALL_ARG(regs, abi, 0), ret);
	if ((action & SYSCALL_MOVES) && ret > 0 && event_wanted(TRACE_EV_futex_moved))
		record_moved(SYSCALL_ARG(regs, abi, 0));
	if ((action & SYSCALL_POLLS) && ret > 0 && event_wanted(TRACE_EV_fs_ready))
		record_ready_of(regs, abi, action, ret);
	if ((action & SYSCALL_SOCKETCALL) && (ret >= 0 || ret == -EINPROGRESS))
		record_socketcall_exit(regs, ret);
	if ((action & SYSCALL_IDS) && !config.filtering && ret >= 0)
		note_ids();
}

/* Can the exit of such a call have more to record than the result? */
static __always_inline bool may_have_effects(u32 nr)
{
	u32 index = nr;

	barrier_var(index); /* otherwise the compiler checks one copy and uses another */
	return index >= TRACER_NR_SYSCALLS || syscall_has_effects[index];
}

enum exit_kind {
	EXIT_NOT_RECORDED,
	EXIT_ALONE,
	EXIT_OF_DEFERRED, /* its entry may be deferred; an interrupt may flush it */
};

/* Every exit, except one of a deferred entry with only numbers: record the call's other effects. */
static __noinline enum exit_kind record_rest(struct subbuf_control *control, u32 cpu, struct pt_regs *regs, long ret)
{
	struct task_struct *task = current_by_loads(control);
	u32 nr = syscall_nr(regs), abi, action;
	bool has_effects, is_deferred;

	if (config.filtering && may_have_effects(nr) && (syscall_action(syscall_abi(task, nr), nr) & SYSCALL_IDS))
		note_ids(); /* before the thread is left out, or is not any more */
	has_effects = may_have_effects(nr);
	if (!current_passes() || own_event(task)) {
		if (has_effects) {
			abi = syscall_abi(task, nr);
			note_rename(regs, abi, syscall_action(abi, nr), ret);
		}
		return EXIT_NOT_RECORDED;
	}
	is_deferred = has_effects && deferred_is(control, (u64)regs, nr);
	if (!is_deferred)
		flush_deferred(control, cpu);
	if (has_effects) {
		abi = syscall_abi(task, nr);
		action = syscall_action(abi, nr);
		if (action >> SYSCALL_PATH_SHIFT) /* more than plain arguments */
			/* for a deferred entry only effects in the structural ring */
			record_effects(regs, nr, abi, action, ret);
	}
	return is_deferred ? EXIT_OF_DEFERRED : EXIT_ALONE;
}

static __noinline int end_deferred(struct subbuf_control *control, u32 cpu, struct pt_regs *regs, long ret)
{
	return deferred_end(control, cpu, false, (u64)regs, syscall_nr(regs), ret);
}

static __noinline int record_exit(struct subbuf_control *control, u32 cpu, long ret)
{
	RECORD_ON(control, cpu, sys_exit) {
		record->ret = ret;
		COMMIT(sys_exit);
	}
	return 0;
}

/* The address of its saved registers identifies the thread, so that nothing has to be loaded. A
 * deferred entry has passed the filters. The result has no meaning. */
static __always_inline int end_call(struct subbuf_control *control, u32 cpu, struct pt_regs *regs, long ret)
{
	enum exit_kind kind;

	if (!deferred_is_plain(control) || !deferred_end(control, cpu, true, (u64)regs, syscall_nr(regs), ret)) {
		kind = record_rest(control, cpu, regs, ret);
		if (kind == EXIT_NOT_RECORDED)
			return 0;
		if (kind != EXIT_OF_DEFERRED || !end_deferred(control, cpu, regs, ret))
			record_exit(control, cpu, ret);
	}
	return event_wanted(TRACE_EV_task_work) && has_task_work(control) ? task_work_begins() : 0;
}

/* The program of the exit notes the mappings of code, too. */
static __always_inline bool exit_has_stack(struct subbuf_control *control, struct pt_regs *regs)
{
	return exit_is_wanted(current_by_loads(control)->pid) || may_map_code(regs);
}

SEC("event/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (!control)
		return 0;
	end_call(control, cpu, regs, ret);
	if (config.samples_waits && exit_has_stack(control, regs))
		bpf_tail_call(ctx, &exit_programs, 0);
	return 0;
}

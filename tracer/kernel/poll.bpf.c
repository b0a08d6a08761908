/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * poll.bpf.c - the descriptors for which a poll, select or epoll_wait returned
 *
 * No other event has them: poll() and select() have them in the program's memory, an epoll has them
 * in the kernel. In a recording of all processes the waker shows what ended the wait, so this is
 * for recordings of some processes only. epoll_wait() returns what the program has chosen to
 * find its own objects by (epoll_event.data), most often the descriptor or an address. The item of
 * the epoll with the same data has the descriptor.
 */
#define MAX_READY	4   /* fs_ready */
#define MAX_POLLED	256 /* of the descriptors of one poll() */
#define MAX_ITEM_STEPS	128 /* between the items of an epoll with other data than descriptors */
#define MAX_TREE_HEIGHT 48
#define NR_FD_SETS	4  /* a power of two; the last is none */
#define FD_SET_WORDS	16 /* FD_SETSIZE is 1024 */

struct ready_fds {
	s32 fds[MAX_READY];
	u32 nr;
};

static __always_inline void ready_begin(struct ready_fds *ready)
{
	ready->nr = 0;
	for (int i = 0; i < MAX_READY; i++)
		ready->fds[i] = -1;
}

/* Returns 1 if there is no room for another one. */
static __always_inline long ready_add(struct ready_fds *ready, s32 fd)
{
	u32 at = ready->nr;

	if (at >= MAX_READY)
		return 1;
	ready->nr = at + 1;
	barrier_var(at); /* for the verifier, which does not remember the comparison */
	ready->fds[at & (MAX_READY - 1)] = fd;
	return at + 1 == MAX_READY;
}

static __always_inline void record_ready(const struct ready_fds *ready)
{
	if (!ready->nr)
		return;
	RECORD_BEHIND(fs_ready, 0) {
		record->fd0 = ready->fds[0];
		record->fd1 = ready->fds[1];
		record->fd2 = ready->fds[2];
		record->fd3 = ready->fds[3];
		COMMIT(fs_ready);
	}
}

/* ---- poll() ---- */

struct user_pollfd { /* poll(2), of all programs */
	s32 fd;
	u16 events, revents;
};

struct poll_scan {
	u64 at;
	struct ready_fds ready;
};

static long poll_step(u32 index, struct poll_scan *scan)
{
	struct user_pollfd polled;

	if (bpf_probe_read_user(&polled, sizeof(polled), (void *)(scan->at + index * sizeof(polled))))
		return 1;
	return polled.revents && polled.fd >= 0 ? ready_add(&scan->ready, polled.fd) : 0;
}

/* The results of this and the next functions have no meaning; global functions must have one. */
__noinline int record_polled(u64 polled, u32 nr)
{
	struct poll_scan scan = {.at = polled};

	ready_begin(&scan.ready);
	bpf_loop(nr < MAX_POLLED ? nr : MAX_POLLED, poll_step, &scan, 0);
	record_ready(&scan.ready);
	return 0;
}

/* ---- select() ---- */

struct select_scan {
	u64 sets[NR_FD_SETS]; /* addresses */
	u32 limit;
	struct ready_fds ready;
};

/* The number of the lowest bit that is set in @word, which has one: the number of bits below it. No
 * branches: the verifier would check what follows once for each number. */
static __always_inline u32 lowest_bit(u64 word)
{
	u64 below = (word & -word) - 1;

	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return below * 0x0101010101010101 >> 56;
}

/* A word of 64 descriptors. Those of a 32-bit program may end in the middle of it. */
static long select_step(u32 index, struct select_scan *scan)
{
	u32 first = index % FD_SET_WORDS * 64;
	u64 set = scan->sets[index / FD_SET_WORDS & (NR_FD_SETS - 1)], word = 0;

	if (!set || first >= scan->limit ||
	    bpf_probe_read_user(&word, scan->limit - first > 32 ? 8 : 4, (void *)(set + first / 8)))
		return 0;
	if (scan->limit - first < 64)
		word &= (1ull << (scan->limit - first)) - 1;
	for (int i = 0; i < MAX_READY && word; i++, word &= word - 1)
		if (ready_add(&scan->ready, first + lowest_bit(word)))
			return 1;
	return 0;
}

__noinline int record_selected(u64 reads, u64 writes, u64 exceptions, u32 limit)
{
	struct select_scan scan = {.sets = {reads, writes, exceptions}, .limit = limit};

	ready_begin(&scan.ready);
	bpf_loop((NR_FD_SETS - 1) * FD_SET_WORDS, select_step, &scan, 0);
	record_ready(&scan.ready);
	return 0;
}

/* ---- epoll_wait() ---- */

struct item_scan {
	struct rb_node *node, *from;
	struct file *file; /* that of the descriptor @fd */
	u64 data;
	s32 fd;
};

/* Items are ordered by their file's address, then by descriptor: fs/eventpoll.c. */
static long search_step(u32 index, struct item_scan *scan)
{
	struct rb_node *node = scan->node; /* CO-RE relocates every access of one expression */
	struct epitem *item = (struct epitem *)node;
	u64 wanted = (u64)scan->file, file;
	s32 fd;

	if (!node)
		return 1;
	file = (u64)FIELD(item, ffd.file);
	fd = FIELD(item, ffd.fd);
	if (wanted == file && fd == scan->fd)
		return 1;
	if (wanted > file || (wanted == file && scan->fd > fd))
		scan->node = FIELD(node, rb_right);
	else
		scan->node = FIELD(node, rb_left);
	return 0;
}

#define RB_COLOR_BITS 3ul

/* One step of a walk over all items: down to the left, down to the right, or up. */
static long walk_step(u32 index, struct item_scan *scan)
{
	struct rb_node *node = scan->node, *left, *right, *above;
	struct epitem *item = (struct epitem *)node;

	if (!node)
		return 1;
	left = FIELD(node, rb_left);
	right = FIELD(node, rb_right);
	above = (struct rb_node *)(FIELD(node, __rb_parent_color) & ~RB_COLOR_BITS);
	if (scan->from == above && FIELD(item, event.data) == scan->data)
		return 1;
	if (scan->from == above && left)
		scan->node = left;
	else if ((scan->from == above || scan->from == left) && right && scan->from != right)
		scan->node = right;
	else
		scan->node = above;
	scan->from = node;
	return 0;
}

static __always_inline bool has_data(struct rb_node *node, u64 data)
{
	struct epitem *item = (struct epitem *)node;

	return item && FIELD(item, event.data) == data;
}

/* The item of the data that epoll_wait() returned, or NULL. */
static __always_inline struct epitem *item_of_data(struct eventpoll *epoll, u64 data)
{
	struct item_scan scan = {.node = FIELD(epoll, rbr.rb_root.rb_node), .data = data, .fd = data};
	u32 cloexec;

	scan.file = file_of_fd(scan.fd, &cloexec);
	if (scan.file) {
		bpf_loop(MAX_TREE_HEIGHT, search_step, &scan, 0);
		if (has_data(scan.node, data))
			return (struct epitem *)scan.node;
		scan.node = FIELD(epoll, rbr.rb_root.rb_node);
	}
	bpf_loop(MAX_ITEM_STEPS, walk_step, &scan, 0);
	return has_data(scan.node, data) ? (struct epitem *)scan.node : NULL;
}

/* Returns the descriptor for which epoll_wait() returned @data; -1: not known. */
__noinline int fd_of_data(u32 epoll, u64 data)
{
	u32 cloexec;
	struct file *file = file_of_fd(epoll, &cloexec);
	struct epitem *item;

	if (!file)
		return -1;
	item = item_of_data((struct eventpoll *)FIELD(file, private_data), data);
	return item ? FIELD(item, ffd.fd) : -1;
}

__noinline int record_epolled(u32 epoll, u64 events, u32 nr)
{
	struct ready_fds ready;
	u64 data;
	s32 fd;

	if (!bpf_core_type_exists(struct epitem))
		return 0;
	ready_begin(&ready);
	for (u32 i = 0; i < MAX_READY && i < nr; i++) {
		if (bpf_probe_read_user(&data, sizeof(data),
					(void *)(events + i * bpf_core_type_size(struct epoll_event) +
						 bpf_core_field_offset(struct epoll_event, data))))
			break;
		fd = fd_of_data(epoll, data);
		if (fd >= 0)
			ready_add(&ready, fd);
	}
	record_ready(&ready);
	return 0;
}

/* The call has returned @nr > 0. */
static __always_inline void record_ready_of(struct pt_regs *regs, u32 abi, u32 action, u32 nr)
{
	if (action & SYSCALL_POLL)
		record_polled(SYSCALL_ARG(regs, abi, 0), SYSCALL_ARG(regs, abi, 1));
	else if (action & SYSCALL_SELECT)
		record_selected(SYSCALL_ARG(regs, abi, 1), SYSCALL_ARG(regs, abi, 2), SYSCALL_ARG(regs, abi, 3),
				SYSCALL_ARG(regs, abi, 0));
	else
		record_epolled(SYSCALL_ARG(regs, abi, 0), SYSCALL_ARG(regs, abi, 1), nr);
}

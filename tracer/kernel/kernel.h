/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_KERNEL_H
#define TRACER_KERNEL_H
/*
 * kernel.h - the few kernel structs that the programs use, with only the members that they use
 * CO-RE relocates every access to the running kernel's layout, so only names and types matter
 * here, not order and size.
 */
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* linux/bpf.h, which includes too much */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_INNER_MAP = 4096,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_ANY = 0,
	BPF_NOEXIST = 1
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};
typedef struct {
	u32 val;
} kuid_t;
typedef struct {
	u32 val;
} kgid_t;

struct pid_namespace {
	struct task_struct *child_reaper;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r8, r9, r10, bx, cx, dx, si, di, bp, ax, orig_ax, ip, cs, sp;
};
struct thread_info {
	unsigned long flags;
	u32 status, cpu;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	u64 regs[31];
	u64 pc;
};
struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			u64 regs[31];
			u64 sp, pc, pstate;
		};
	};
	u64 orig_x0;
	s32 syscallno;
};
struct thread_info {
	unsigned long flags;
	u64 preempt_count;
	u32 cpu;
};
#else
#error "this architecture's registers are not described yet: add pt_regs here and the accessors in arch.h"
#endif

struct user_namespace {
	kuid_t owner;
};
struct kernel_caps {
	u64 val; /* until 6.2: two words of 32 bits */
};
struct cred {
	kuid_t uid, suid, euid;
	kgid_t gid, sgid, egid;
	struct kernel_caps cap_permitted;
	struct user_namespace *user_ns;
};
typedef struct {
	int counter;
} atomic_t;
struct signal_struct {
	atomic_t live;
	int nr_threads;
	unsigned long long sum_sched_runtime;
	unsigned int is_child_subreaper : 1, has_child_subreaper : 1;
	struct pid *pids[4];
};
struct file_system_type {
	const char *name;
};
struct super_block {
	u32 s_dev;
	unsigned long s_magic;
	struct file_system_type *s_type;
};
struct inode {
	u16 i_mode;
	s64 i_size;
	unsigned long i_ino;
	struct super_block *i_sb;
};
struct qstr {
	union {
		struct {
			u32 hash, len;
		};
		u64 hash_len;
	};
	const unsigned char *name;
};
struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};
struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};
struct ovl_inode {
	struct inode vfs_inode;
	struct dentry *__upperdentry;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct fs_struct {
	struct path root, pwd;
};
struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};
struct backing_file {
	struct file file;
	struct path user_path; /* since 6.8 */
};
struct file_lock_core {
	struct file *flc_file;
	unsigned char flc_type;
};
struct file_lock {
	struct file_lock_core c; /* since 6.9 */
};
struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
};
struct rb_root {
	struct rb_node *rb_node;
};
struct rb_root_cached {
	struct rb_root rb_root;
};
struct epoll_event {
	u32 events;
	u64 data;
};
struct epoll_filefd {
	struct file *file;
	int fd;
};
struct epitem {
	struct rb_node rbn; /* the first member, in a union */
	struct epoll_filefd ffd;
	struct epoll_event event;
};
struct eventpoll {
	struct rb_root_cached rbr;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *close_on_exec;
};
struct files_struct {
	struct fdtable *fdt;
};
struct mm_struct {
	struct file *exe_file;
	unsigned long start_code, end_code, arg_start, arg_end, env_start, env_end;
};
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
};
struct kernfs_node {
	u64 id;
	const char *name;
	struct kernfs_node *parent; /* until 6.14 */
};
struct cgroup_root {
	int hierarchy_id;
};
struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
};
struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* one for each controller */
	struct cgroup *dfl_cgrp;
};
enum cgroup_subsys_id { cpu_cgrp_id = 1 };
struct nsproxy {
	void *pid_ns_for_children;
};

struct rq {
	int cpu;
	u64 clock;
	u64 prev_steal_time_rq; /* CONFIG_PARAVIRT_TIME_ACCOUNTING */
};
/* CONFIG_CFS_BANDWIDTH */
struct cfs_bandwidth {
	s64 period; /* in ns, as quota */
	u64 quota;
};
struct task_group {
	struct cfs_bandwidth cfs_bandwidth;
	struct task_group *parent;
};
struct cfs_rq {
	struct rq *rq;
	struct task_group *tg; /* CONFIG_FAIR_GROUP_SCHED */
	/* CONFIG_CFS_BANDWIDTH */
	int throttle_count;
	u64 throttled_clock_self, throttled_clock_self_time;
};
struct sched_entity {
	struct cfs_rq *cfs_rq;
	u64 sum_exec_runtime;
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	unsigned int __state;
	unsigned int flags;
	unsigned int ptrace;
	int on_cpu;
	int prio, static_prio, normal_prio;
	unsigned int policy;
	int exit_state, exit_code;
	int pagefault_disabled;
	bool throttled; /* since 6.18 */
	int pid, tgid;
	struct task_struct *real_parent;
	struct list_head children, sibling;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	u64 start_time;
	const struct cred *cred;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct mm_struct *mm;
	struct css_set *cgroups;
	struct io_uring_task *io_uring;
	struct callback_head *task_works;
	u64 utime, stime;
	unsigned long nvcsw, nivcsw;
};

struct linux_binprm {
	const char *filename;
};
struct irqaction {
	void *handler;
	int irq;
};
struct tasklet_struct {
	void (*func)(unsigned long);
};
struct address_space {
	struct inode *host;
};
enum vm_event_item {
	PGFAULT = 1, /* the kernel has another number */
};
enum cpuhp_state {
	CPUHP_BRINGUP_CPU = 1,
	CPUHP_TEARDOWN_CPU, /* the same */
};
enum pageflags {
	PG_head = 6,
};
struct folio {
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1;
	unsigned char _folio_order; /* until 6.5 */
};
struct writeback_control {
	long nr_to_write;
	long pages_skipped;
};
struct bdi_writeback {
	unsigned long state;
};
struct dirty_throttle_control {
	unsigned long dirty;
};
struct callback_head {
	struct callback_head *next;
};
struct io_uring_task {
	struct file *registered_rings[16];
	struct callback_head task_work;
};
struct io_ring_ctx;
struct io_kiocb {
	struct file *file;
	u8 opcode;
	u64 flags;
	struct {
		u64 user_data;
		s32 res;
		union {
			u32 flags;
			int fd; /* until it is completed */
		};
	} cqe;
	struct io_ring_ctx *ctx;
};
struct io_rsrc_node {
	unsigned long file_ptr;
};
struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};
struct io_file_table {
	struct io_rsrc_data data;
};
struct io_uring {
	u32 head;
};
struct io_rings {
	struct io_uring cq;
};
struct io_ring_ctx {
	u32 flags;
	struct io_rings *rings;
	u32 cached_cq_tail;
	struct io_file_table file_table;
};
/* A request's private data begins at the same address as the request. */
struct io_open {
	u32 file_slot;
};
struct io_accept {
	u32 file_slot;
};
struct io_socket {
	u32 file_slot;
};
struct io_close {
	int fd;
	u32 file_slot;
};
struct io_uring_cqe {
	u64 user_data;
	s32 res;
	u32 flags;
};
struct gendisk {
	int major, first_minor;
};
struct block_device {
	u32 bd_dev;
};
struct request_queue {
	struct gendisk *disk;
};
struct page {
	struct address_space *mapping;
	unsigned long compound_head;
	unsigned long flags;
};
struct bio_vec {
	struct page *bv_page;
};
struct bvec_iter {
	unsigned int bi_size;
	unsigned int bi_idx;
};
struct bio {
	struct bio *bi_next;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
};
struct request {
	struct request_queue *q;
	struct bio *bio;
	struct block_device *part;
	u32 cmd_flags;
	u32 __data_len;
	u64 __sector;
};
struct timerqueue_node {
	s64 expires;
};
struct hrtimer {
	struct timerqueue_node node;
	void *function;
};
struct timer_list {
	unsigned long expires;
	void *function;
};
struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};
struct itimerspec64 {
	struct timespec64 it_interval, it_value;
};
struct in6_addr {
	u64 words[2]; /* read as two words, in network order */
};
struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct sock_common {
	possible_net_t skc_net;
	u32 skc_daddr, skc_rcv_saddr;
	u16 skc_dport, skc_num;
	u16 skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	u16 sk_type;
	u16 sk_protocol;
};
struct unix_sock {
	struct sock sk;
	struct sock *peer;
};
struct tcp_sock {
	u32 write_seq, copied_seq;
};
struct socket {
	struct file *file;
	struct sock *sk;
};
struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};
struct rtnl_link_ops {
	const char *kind;
};
struct net_device {
	int ifindex;
	unsigned int flags;
	const struct rtnl_link_ops *rtnl_link_ops;
};
struct sk_buff {
	unsigned int len;
	u16 protocol;
	struct net_device *dev;
	unsigned char *head;
};
struct kernel_siginfo {
	int si_signo, si_errno, si_code;
};
struct sigaction {
	void *sa_handler;
};
struct k_sigaction {
	struct sigaction sa;
};
struct work_struct {
	void *func;
};
struct bpf_iter_meta {
	void *seq;
	u64 session_id, seq_num;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};
struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

#pragma clang attribute pop

/* Some kernels store these under other names; the programs test for them
 * with bpf_core_field_exists(). */
struct task_struct___pre_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));
struct file_lock___6_8 {
	struct file *fl_file;
	unsigned char fl_type;
} __attribute__((preserve_access_index));
struct kernfs_node___6_15 {
	struct kernfs_node *__parent;
} __attribute__((preserve_access_index));
struct request___pre_5_17 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));
struct mm_struct___pre_6_18 {
	unsigned long flags;
} __attribute__((preserve_access_index));
struct mm_flags___6_18 {
	unsigned long __mm_flags[1];
} __attribute__((preserve_access_index));
struct mm_struct___6_18 {
	struct mm_flags___6_18 flags;
} __attribute__((preserve_access_index));
struct task_struct___6_18 {
	unsigned int user_dumpable : 1;
} __attribute__((preserve_access_index));
struct io_file_table___6_1 {
	void *files;
} __attribute__((preserve_access_index));
struct io_ring_ctx___6_1 {
	unsigned int nr_user_files;
	struct io_file_table___6_1 file_table;
} __attribute__((preserve_access_index));

#endif

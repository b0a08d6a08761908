/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_OBJECT_BPF_H
#define TRACER_OBJECT_BPF_H
/* object.bpf.h - names of kernel objects in traces: paths of files, endpoints
 * of sockets, ids of threads. */

#define S_IFMT	     0170000
#define S_IFSOCK     0140000
#define S_IFDIR	     0040000
#define O_CLOEXEC    02000000
#define AF_UNIX	     1
#define AF_INET	     2
#define AF_INET6     10
#define IPPROTO_TCP  6
#define PF_EXITING   0x00000004
#define PF_KTHREAD   0x00200000
#define VM_MAYSHARE  0x00000080
#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020

/* ---- paths ---- */
#define PATH_COMPONENTS 128
#define NAME_BYTES	256 /* longest component (255) and a slash */
#define CUT_BYTES	3   /* "...", for the missing part of a path */

/*
 * Buffer for building a path: one per program and CPU, because a program never runs twice at once
 * on a CPU. The state of the walk is also here and not on the stack: the verifier does not track
 * values in a map, so all steps look the same to it.
 */
struct path_text {
	char text[4096]; /* The path is in the first half; the verifier allows any offset there and any length. */
	struct dentry *dentry;
	struct mount *mount;
	u32 at; /* start of the part found so far; written backwards */
	enum {
		PATH_CUT, /* its front was not found, or does not fit */
		PATH_WHOLE,
		PATH_NAMELESS, /* the file is in no directory and has no name */
	} kind;
};
#define PATH_SCRATCH(name)                               \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, 1);                  \
		__type(key, u32);                        \
		__type(value, struct path_text);         \
	} name SEC(".maps")

static __always_inline struct path_text *path_scratch(void *map)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero);
}

/* Where file_path() stored the path: text[start .. start + bytes), NUL included. */
struct path_span {
	u32 start;
	u32 bytes;
};

/* Finish the path at @s->at: the topmost dentry is in no directory. There files of pidfs and nsfs,
 * and files opened by handle, have the name "/". */
static __always_inline long path_top(struct path_text *s, bool is_first, u32 bytes)
{
	s->kind = PATH_WHOLE;
	if (bytes == 1 && s->text[s->at & 2047] == '/') {
		s->kind = is_first ? PATH_NAMELESS : PATH_CUT;
		s->at++;
	}
	return 1;
}

/* One step up: a name, or from the root of a mount to where it is mounted. Returns 1 at the end. */
static long path_step(u32 index, struct path_text **context)
{
	struct path_text *s = *context;
	struct dentry *dentry = s->dentry, *parent = FIELD(dentry, d_parent);
	struct mount *mount = s->mount, *above;
	u32 bytes, at = s->at;

	if (dentry == FIELD(mount, mnt.mnt_root)) {
		above = FIELD(mount, mnt_parent);
		if (above == mount) {
			s->kind = PATH_WHOLE;
			return 1;
		}
		s->dentry = FIELD(mount, mnt_mountpoint);
		s->mount = above;
		return 0;
	}
	bytes = FIELD(dentry, d_name.len);
	if (bytes >= NAME_BYTES || at < bytes + 1 + CUT_BYTES)
		return 1; /* does not fit: the front of the path is missing */
	at -= bytes;
	bpf_probe_read_kernel(&s->text[at & 2047], bytes & (NAME_BYTES - 1), FIELD(dentry, d_name.name));
	if (parent == dentry) { /* not in a directory: [eventfd], memfd:name */
		s->at = at;
		return path_top(s, at + bytes == TRACER_PATH_BYTES - 1, bytes);
	}
	at--;
	s->text[at & 2047] = '/';
	s->at = at;
	s->dentry = parent;
	return 0;
}

/* "[nsfs]": the kind of the file, because it has no name. */
static __always_inline struct path_span kind_of_file(struct path_text *s, struct inode *inode)
{
	long bytes = bpf_probe_read_kernel_str(s->text + 1, 15, BPF_CORE_READ(inode, i_sb, s_type, name));

	if (bytes <= 0)
		bytes = 1;
	s->text[0] = '[';
	s->text[bytes & 15] = ']';
	s->text[(bytes & 15) + 1] = 0;
	return (struct path_span){.start = 0, .bytes = (bytes & 15) + 2};
}

#define DELETED_BYTES 10

/* Is the file in no directory any more? */
static __always_inline bool is_deleted(struct dentry *dentry)
{
	return !FIELD(dentry, d_hash.pprev) && FIELD(dentry, d_parent) != dentry;
}

/*
 * The path of @dentry from the root of its mount tree, from the dentries: the file that the kernel
 * has open, after symbolic links, working directories and chroot. ".../b/c" if its front is
 * missing. @tell_deleted: "/b/c (deleted)" if it has no name any more.
 */
static __always_inline struct path_span path_of(struct path_text *s, struct dentry *dentry, struct vfsmount *vfs,
						struct inode *inode, bool tell_deleted)
{
	s->dentry = dentry;
	s->mount = (void *)vfs - bpf_core_field_offset(struct mount, mnt);
	s->kind = PATH_CUT;
	s->at = TRACER_PATH_BYTES - 1;
	s->text[TRACER_PATH_BYTES - 1] = 0;
	if (tell_deleted && is_deleted(dentry)) {
		s->at -= DELETED_BYTES;
		__builtin_memcpy(&s->text[TRACER_PATH_BYTES - 1 - DELETED_BYTES], " (deleted)", DELETED_BYTES);
	}
	bpf_loop(PATH_COMPONENTS, path_step, &s, 0);
	if (s->kind == PATH_NAMELESS)
		return kind_of_file(s, inode);
	if (s->kind == PATH_CUT) {
		s->at -= CUT_BYTES;
		__builtin_memcpy(&s->text[s->at & 2047], "...", CUT_BYTES);
	} else if (s->at == TRACER_PATH_BYTES - 1 && (FIELD(inode, i_mode) & S_IFMT) == S_IFDIR) {
		s->text[--s->at & 2047] = '/'; /* the root itself */
	}
	return (struct path_span){.start = s->at & 2047, .bytes = (TRACER_PATH_BYTES - s->at) & 2047};
}

static __always_inline struct path_span file_path(struct path_text *s, struct file *file)
{
	return path_of(s, FIELD(file, f_path.dentry), FIELD(file, f_path.mnt), FIELD(file, f_inode), false);
}

/* As file_path(), for the file of a mapping. */
static __always_inline struct path_span opened_path(struct path_text *s, const struct opened *opened)
{
	return path_of(s, opened->dentry, opened->mount, opened->inode, false);
}

/* ---- sockets ---- */
static __always_inline u64 socket_ino(struct socket *socket)
{
	struct socket_alloc *alloc = (void *)socket - bpf_core_field_offset(struct socket_alloc, socket);

	return socket ? FIELD(alloc, vfs_inode.i_ino) : 0;
}

static __always_inline u64 sock_ino(const struct sock *sk)
{
	return socket_ino(FIELD(sk, sk_socket));
}

static __always_inline u64 v4_mapped(u32 address)
{
	return (u64)address << 32 | 0xffff0000u;
}

static __always_inline u32 net_number(const struct sock *sk)
{
	struct net *net;

	if (!bpf_core_field_exists(sk->__sk_common.skc_net.net)) /* without CONFIG_NET_NS */
		return 0;
	net = FIELD(sk, __sk_common.skc_net.net);
	return FIELD(net, ns.inum);
}

/* Fill in the members that trace_sock_endpoints and trace_start_socket have in common. */
#define FILL_SOCKET(record, sk)                                                                          \
	do {                                                                                             \
		u16 family_ = FIELD(sk, __sk_common.skc_family);                                         \
		u64 words_[2] = {0, 0};                                                                  \
                                                                                                         \
		(record)->family = family_;                                                              \
		(record)->type = FIELD(sk, sk_type);                                                     \
		(record)->protocol = FIELD(sk, sk_protocol);                                             \
		(record)->state = FIELD(sk, __sk_common.skc_state);                                      \
		(record)->ino = sock_ino(sk);                                                            \
		(record)->netns = net_number(sk);                                                        \
		(record)->peer_ino = 0;                                                                  \
		(record)->local_port = (record)->remote_port = 0;                                        \
		(record)->local_hi = (record)->local_lo = (record)->remote_hi = (record)->remote_lo = 0; \
		if (family_ == AF_UNIX) {                                                                \
			struct sock *peer_ = FIELD((struct unix_sock *)(sk), peer);                      \
                                                                                                         \
			if (peer_)                                                                       \
				(record)->peer_ino = sock_ino(peer_);                                    \
		} else if (family_ == AF_INET || family_ == AF_INET6) {                                  \
			u16 port_ = FIELD(sk, __sk_common.skc_dport);                                    \
                                                                                                         \
			(record)->local_port = FIELD(sk, __sk_common.skc_num);                           \
			(record)->remote_port = port_ << 8 | port_ >> 8;                                 \
			if (family_ == AF_INET) {                                                        \
				(record)->local_lo = v4_mapped(FIELD(sk, __sk_common.skc_rcv_saddr));    \
				(record)->remote_lo = v4_mapped(FIELD(sk, __sk_common.skc_daddr));       \
			} else {                                                                         \
				bpf_core_read(words_, 16, &(sk)->__sk_common.skc_v6_rcv_saddr);          \
				(record)->local_hi = words_[0];                                          \
				(record)->local_lo = words_[1];                                          \
				bpf_core_read(words_, 16, &(sk)->__sk_common.skc_v6_daddr);              \
				(record)->remote_hi = words_[0];                                         \
				(record)->remote_lo = words_[1];                                         \
			}                                                                                \
		}                                                                                        \
	} while (0)

/* ---- threads ---- */
static __always_inline u32 pid_at_level(struct pid *pid, u32 level)
{
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      numbers + level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

static __always_inline u32 pid_in_namespace(struct pid *pid)
{
	return pid_at_level(pid, FIELD(pid, level));
}

/* Is it the name by which a program calls the daemon, user_bell_name()? */
static __always_inline bool is_bell_name(const char *comm)
{
	char name[16] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	return name[0] == 't' && name[1] == 'r' && name[2] == 'a' && name[3] == 'c' && name[4] == 'e' && name[5] == '!';
}

static __always_inline u32 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return FIELD(task, __state);
	return FIELD((struct task_struct___pre_5_14 *)task, state);
}

#endif

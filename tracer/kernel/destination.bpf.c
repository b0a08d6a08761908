/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * destination.bpf.c - to which address a program sends on an internet socket without a connection
 *
 * Only sendto(), sendmsg() and sendmmsg() have that address, and the kernel gives such a socket its
 * port in the first of them. So the exit of the call records both, if they are not those that the
 * trace has of the socket.
 */
#define SOCK_DGRAM 2
#define SOCK_RAW   3

/* By inode of the socket: a hash of its port and of the address that was recorded last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} destinations_told SEC(".maps");

/* struct sockaddr_in and struct sockaddr_in6. The first 8 bytes are enough of the former. */
struct user_address {
	u16 family, port;
	u32 v4;
	u64 v6[2];
};
#define V4_BYTES 8

static __always_inline bool read_address(struct user_address *to, u64 address)
{
	__builtin_memset(to, 0, sizeof(*to));
	return !bpf_probe_read_user(to, sizeof(*to), (void *)address) ||
	       !bpf_probe_read_user(to, V4_BYTES, (void *)address);
}

/* The socket of a descriptor, if it sends each message to an address; else NULL. */
static __always_inline struct sock *sender_of_fd(u32 fd)
{
	u32 cloexec, type;
	struct file *file = file_of_fd(fd, &cloexec);
	struct socket *socket;
	struct sock *sk;
	u16 family;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = FIELD(file, private_data);
	sk = FIELD(socket, sk);
	if (!sk)
		return NULL;
	family = FIELD(sk, __sk_common.skc_family);
	type = FIELD(sk, sk_type);
	return (family == AF_INET || family == AF_INET6) && (type == SOCK_DGRAM || type == SOCK_RAW) ? sk : NULL;
}

/* The program sent to the address at @address on the socket @fd. A global function is verified
 * once, and has a stack frame of its own. */
__noinline int record_destination(u32 fd, u64 address)
{
	struct sock *sk = sender_of_fd(fd);
	u64 key, words[2] = {0, 0}, hash, *told;
	struct user_address to;
	u16 family, port, own;

	if (!sk || !read_address(&to, address))
		return 0;
	key = sock_ino(sk);
	family = FIELD(sk, __sk_common.skc_family);
	if (family == AF_INET) {
		words[1] = v4_mapped(to.v4);
	} else {
		words[0] = to.v6[0];
		words[1] = to.v6[1];
	}
	port = to.port << 8 | to.port >> 8;
	own = FIELD(sk, __sk_common.skc_num);
	hash = (own ^ (u64)port << 16) * 0x9e3779b97f4a7c15ull;
	hash = ((hash ^ words[0]) * 0x9e3779b97f4a7c15ull ^ words[1]) | 1;
	told = bpf_map_lookup_elem(&destinations_told, &key);
	if (told && *told == hash)
		return 0;
	RECORD_STRUCTURAL(sock_names, 0) {
		record->ino = key;
		record->remote_hi = words[0];
		record->remote_lo = words[1];
		record->remote_port = port;
		record->local_port = own;
		record->family = family;
		record->protocol = FIELD(sk, sk_protocol);
		COMMIT(sock_names);
		bpf_map_update_elem(&destinations_told, &key, &hash, BPF_ANY);
	}
	return 0;
}

#define MAX_SENT_MESSAGES 1024 /* UIO_MAXIOV: the kernel sends no more with one call */

/* Messages that were sent at once. */
struct sent_messages {
	u64 at;
	u32 fd, is_32;
};

/* A struct msghdr begins with a pointer to the address. A struct mmsghdr begins with a struct
 * msghdr, and has 32 bytes in 32-bit programs, 64 bytes in others. */
static long record_sent(u32 index, struct sent_messages *sent)
{
	bool is_32 = sent->is_32;
	u64 address = 0;

	if (!bpf_probe_read_user(&address, is_32 ? 4 : 8, (void *)(sent->at + index * (is_32 ? 32 : 64))) && address)
		record_destination(sent->fd, address);
	return 0;
}

/* The @nr messages at @messages were sent, each perhaps to an address of its own. */
__noinline int record_destinations(u32 fd, u64 messages, u32 nr, u32 is_32)
{
	struct sent_messages sent = {messages, fd, is_32};

	bpf_loop(nr < MAX_SENT_MESSAGES ? nr : MAX_SENT_MESSAGES, record_sent, &sent, 0);
	return 0;
}

/* sendto(), sendmsg(), or sendmmsg(), which returned the number of messages. */
static __always_inline void record_destination_of(struct pt_regs *regs, u32 abi, u32 action, long ret)
{
	u64 address = SYSCALL_ARG(regs, abi, 4);

	if (action & (SYSCALL_SENDMSG | SYSCALL_SENDMMSG))
		record_destinations(SYSCALL_ARG(regs, abi, 0), SYSCALL_ARG(regs, abi, 1),
				    action & SYSCALL_SENDMSG ? 1 : ret, abi == TRACE_ABI_32);
	else if (address)
		record_destination(SYSCALL_ARG(regs, abi, 0), address);
}

/* The same of a socketcall(): @arguments is where its own are. */
static __always_inline void record_socketcall_destination(u32 call, u64 arguments, long ret)
{
	u32 args[5] = {};

	if (!event_wanted(TRACE_EV_sock_names) || bpf_probe_read_user(args, sizeof(args), (void *)arguments))
		return;
	if (call == 16 /* SENDMSG */ || call == 20 /* SENDMMSG */)
		record_destinations(args[0], args[1], call == 16 ? 1 : ret, true);
	else if (args[4])
		record_destination(args[0], args[4]);
}

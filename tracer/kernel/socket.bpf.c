/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* socket.bpf.c - data through sockets, with the byte positions of TCP. */

/* As sock_ino(), for a socket of a type that the verifier knows: four plain loads instead of two
 * calls. */
#define TYPED_SOCK_INO(sk) ((sk)->sk_socket->file->f_inode->i_ino)

#define SYN_SENT 2 /* TCP_SYN_SENT, include/net/tcp_states.h */

/* The socket has the address by now (tcp_v4_connect(), tcp_v6_connect()); if the connection fails,
 * the kernel removes it again. */
static __always_inline void record_asks(const struct sock *sk)
{
	u16 port = FIELD(sk, __sk_common.skc_dport);
	u64 words[2] = {0, 0};

	if (FIELD(sk, __sk_common.skc_family) == AF_INET)
		words[1] = v4_mapped(FIELD(sk, __sk_common.skc_daddr));
	else
		bpf_core_read(words, 16, &sk->__sk_common.skc_v6_daddr);
	RECORD(sock_asks) {
		record->ino = TYPED_SOCK_INO(sk);
		record->remote_hi = words[0];
		record->remote_lo = words[1];
		record->remote_port = port << 8 | port >> 8;
		record->family = FIELD(sk, __sk_common.skc_family);
		record->protocol = FIELD(sk, sk_protocol);
		record->pad = 0;
		COMMIT(sock_asks);
	}
}

SEC("event/inet_sock_set_state")
int BPF_PROG(sock_state, const struct sock *sk, int old_state, int new_state)
{
	if (!current_passes())
		return 0;
	if (new_state == SYN_SENT && event_wanted(TRACE_EV_sock_asks))
		record_asks(sk);
	if (!event_wanted(TRACE_EV_sock_state))
		return 0;
	RECORD(sock_state) {
		record->ino = TYPED_SOCK_INO(sk);
		record->family = sk->__sk_common.skc_family;
		record->protocol = sk->sk_protocol;
		record->old_state = old_state;
		record->new_state = new_state;
		COMMIT(sock_state);
	}
	return 0;
}

#define TRANSFER_PROGRAM(event, tracepoint, tcp_member)                                           \
	SEC("event/" #tracepoint)                                                                 \
	int BPF_PROG(event, struct sock *sk, int ret, int flags)                                  \
	{                                                                                         \
		u16 family = sk->__sk_common.skc_family;                                          \
		u16 protocol = sk->sk_protocol;                                                   \
                                                                                                  \
		if (!current_passes() || own_event(current_task()))                               \
			return 0;                                                                 \
		RECORD(event) {                                                                   \
			record->ino = TYPED_SOCK_INO(sk);                                         \
			record->position = 0;                                                     \
			if (protocol == IPPROTO_TCP && (family == AF_INET || family == AF_INET6)) \
				record->position = FIELD((struct tcp_sock *)sk, tcp_member);      \
			record->ret = ret;                                                        \
			record->family = family;                                                  \
			record->protocol = protocol;                                              \
			COMMIT(event);                                                            \
		}                                                                                 \
		return 0;                                                                         \
	}
TRANSFER_PROGRAM(sock_send, sock_send_length, write_seq)
TRANSFER_PROGRAM(sock_recv, sock_recv_length, copied_seq)

SEC("event/sk_data_ready")
int BPF_PROG(sock_ready, const struct sock *sk)
{
	if (!current_passes())
		return 0;
	RECORD(sock_ready) {
		record->ino = TYPED_SOCK_INO(sk);
		record->family = sk->__sk_common.skc_family;
		record->protocol = sk->sk_protocol;
		record->pad = 0;
		COMMIT(sock_ready);
	}
	return 0;
}

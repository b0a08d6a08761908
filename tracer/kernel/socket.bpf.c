/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* socket.bpf.c - data through sockets, with the byte positions of TCP. */

/* As sock_ino(), for a socket of a type that the verifier knows: four plain loads instead of two
 * calls. */
#define TYPED_SOCK_INO(sk) ((sk)->sk_socket->file->f_inode->i_ino)

#define SYN_SENT     2 /* TCP_SYN_SENT, include/net/tcp_states.h */
#define MSG_PEEK     2 /* include/linux/socket.h */
#define MSG_ERRQUEUE 0x2000

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

/* Events of the same fields: @tcp_member has the position. */
#define TRANSFER(sk, ret, id, tcp_member)                                                         \
	do {                                                                                      \
		u16 family = (sk)->__sk_common.skc_family;                                        \
		u16 protocol = (sk)->sk_protocol;                                                 \
                                                                                                  \
		if (!current_passes() || own_event(current_task()))                               \
			return 0;                                                                 \
		RECORD(sock_send) {                                                               \
			record->ino = TYPED_SOCK_INO(sk);                                         \
			record->position = 0;                                                     \
			if (protocol == IPPROTO_TCP && (family == AF_INET || family == AF_INET6)) \
				record->position = FIELD((struct tcp_sock *)(sk), tcp_member);    \
			record->ret = (ret);                                                      \
			record->family = family;                                                  \
			record->protocol = protocol;                                              \
			record_end(&recording, id);                                               \
		}                                                                                 \
	} while (0)

SEC("event/sock_send_length")
int BPF_PROG(sock_send, struct sock *sk, int ret, int flags)
{
	TRANSFER(sk, ret, TRACE_EV_sock_send, write_seq);
	return 0;
}

/* The error queue has what became of the thread's own messages: no data came. */
SEC("event/sock_recv_length")
int BPF_PROG(sock_recv, struct sock *sk, int ret, int flags)
{
	u32 id = flags & MSG_PEEK ? TRACE_EV_sock_look : TRACE_EV_sock_recv;

	if (flags & MSG_ERRQUEUE || !event_wanted(id))
		return 0;
	TRANSFER(sk, ret, id, copied_seq);
	return 0;
}
_Static_assert(sizeof(struct trace_sock_recv) == sizeof(struct trace_sock_send) &&
		       sizeof(struct trace_sock_look) == sizeof(struct trace_sock_send),
	       "TRANSFER() writes all of them");

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

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* network.bpf.c - packets in and out, per device. */

static __always_inline u32 protocol_of(u16 network_order)
{
	return (u16)(network_order << 8 | network_order >> 8);
}

SEC("event/netif_receive_skb")
int BPF_PROG(net_rx, struct sk_buff *skb)
{
	if (!current_passes())
		return 0;
	RECORD(net_rx) {
		record->ifindex = skb->dev->ifindex;
		record->bytes = skb->len;
		record->protocol = protocol_of(skb->protocol);
		record->pad = 0;
		COMMIT(net_rx);
	}
	return 0;
}

SEC("event/net_dev_start_xmit")
int BPF_PROG(net_tx, const struct sk_buff *skb, const struct net_device *dev)
{
	if (!current_passes())
		return 0;
	RECORD(net_tx) {
		record->ifindex = dev->ifindex;
		record->bytes = skb->len;
		record->protocol = protocol_of(skb->protocol);
		record->pad = 0;
		COMMIT(net_tx);
	}
	return 0;
}

SEC("event/tcp_retransmit_skb")
int BPF_PROG(net_retransmit, const struct sock *sk)
{
	if (!current_passes())
		return 0;
	RECORD(net_retransmit) {
		record->ino = sock_ino(sk);
		record->state = sk->__sk_common.skc_state;
		record->pad = 0;
		COMMIT(net_retransmit);
	}
	return 0;
}

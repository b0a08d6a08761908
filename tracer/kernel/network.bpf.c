/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* network.bpf.c - packets in and out, per device. */

static __always_inline u32 protocol_of(u16 network_order)
{
	return (u16)(network_order << 8 | network_order >> 8);
}

#define IFF_LOOPBACK 8		/* linux/if.h */
#define KIND_VETH    0x68746576 /* "veth" */

/*
 * Does each packet of this device come from a thread or a timer of this machine? It does on the
 * loopback device and between the two ends of a veth pair, also if these are in other namespaces.
 */
static __always_inline bool stays_here(const struct net_device *dev)
{
	u32 kind = 0;

	if (dev->flags & IFF_LOOPBACK)
		return true;
	bpf_probe_read_kernel(&kind, sizeof(kind), dev->rtnl_link_ops->kind);
	return kind == KIND_VETH;
}

/*
 * The other end of the device receives the same buffer, a clone of which the sender may keep. The
 * buffer's address is not recorded, only some bits; the lowest six are equal in all addresses.
 */
static __always_inline u32 packet_of(const struct sk_buff *skb, const struct net_device *dev)
{
	return stays_here(dev) ? (u32)((u64)skb->head >> 6) : 0;
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
		record->packet = packet_of(skb, skb->dev);
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
		record->packet = packet_of(skb, dev);
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

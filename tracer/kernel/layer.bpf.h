/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_LAYER_BPF_H
#define TRACER_LAYER_BPF_H
/*
 * layer.bpf.h - the real file in the upper layer of an overlay
 *
 * An overlay's inode has no pages. Those of a file that was written to or made there belong to an
 * inode of the upper layer, with a device and, after a copy from a lower layer, a number of its
 * own. The kernel of a machine without overlays does not have the type.
 */
#define OVERLAYFS_SUPER_MAGIC 0x794c7630

static __always_inline bool is_of_overlay(struct inode *inode)
{
	struct super_block *super = FIELD(inode, i_sb);

	return FIELD(super, s_magic) == OVERLAYFS_SUPER_MAGIC;
}

/* Returns NULL for any other file. */
static __always_inline struct inode *upper_inode(struct inode *inode)
{
	struct ovl_inode *overlay;
	struct dentry *upper;

	if (!is_of_overlay(inode) || !bpf_core_type_exists(struct ovl_inode))
		return NULL;
	overlay = (void *)inode - bpf_core_field_offset(struct ovl_inode, vfs_inode);
	upper = BPF_CORE_READ(overlay, __upperdentry);
	return upper ? BPF_CORE_READ(upper, d_inode) : NULL;
}

#define FILL_LAYER(record, inode, upper)                                 \
	do {                                                             \
		(record)->ino = BPF_CORE_READ(inode, i_ino);             \
		(record)->dev = BPF_CORE_READ(inode, i_sb, s_dev);       \
		(record)->upper_ino = BPF_CORE_READ(upper, i_ino);       \
		(record)->upper_dev = BPF_CORE_READ(upper, i_sb, s_dev); \
	} while (0)

#endif

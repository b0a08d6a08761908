/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_OPENED_BPF_H
#define TRACER_OPENED_BPF_H
/*
 * opened.bpf.h - the file that a program opened, for the file of a mapping
 *
 * A mapping of an overlay's file has the real file of a layer, a backing file. Until Linux 6.7 its
 * f_path is the path that the program opened, and f_inode the layer's inode; since then both are
 * the layer's, and user_path is the program's. The dentry of that path has the inode that fstat()
 * shows.
 */
/* Bit 25 until Linux 6.13, then 24. Another flag may have the other one. */
#define FMODE_BACKING (3u << 24)

struct opened {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct inode *inode;
};

/* Behind a file that is no backing file are other objects, and not a mount and a dentry of one file
 * system. */
static __always_inline bool is_backing(struct file *file, const struct backing_file *backing)
{
	void *super;

	if (!(FIELD(file, f_mode) & FMODE_BACKING))
		return false;
	super = BPF_CORE_READ(backing, user_path.dentry, d_sb);
	return super && super == BPF_CORE_READ(backing, user_path.mnt, mnt_sb);
}

static __always_inline struct opened opened_by_program(struct file *file)
{
	struct backing_file *backing = (void *)file - bpf_core_field_offset(struct backing_file, file);
	struct dentry *dentry = FIELD(file, f_path.dentry);
	struct vfsmount *mount = FIELD(file, f_path.mnt);
	struct inode *inode;

	if (bpf_core_field_exists(backing->user_path) && is_backing(file, backing)) {
		dentry = BPF_CORE_READ(backing, user_path.dentry);
		mount = BPF_CORE_READ(backing, user_path.mnt);
	}
	inode = FIELD(dentry, d_inode);
	if (!inode)
		inode = FIELD(file, f_inode);
	return (struct opened){.dentry = dentry, .mount = mount, .inode = inode};
}

#endif

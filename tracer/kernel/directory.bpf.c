/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * directory.bpf.c - the directories where relative paths begin
 *
 * A path without a slash at its front begins at the working directory of the thread, or at the
 * directory of a descriptor. The call does not name that directory, and its name changes with every
 * rename of it or of a directory above. So an entry with such a path is preceded by fs_dir, if the
 * trace does not have the directory's path as it is now.
 *
 * directories_told has what the trace knows. Its keys are the kernel's struct fs_struct for working
 * and root directories, and dentries for directories of descriptors: an fs_open tells those, too. A
 * value has a hash over all names up to the root. As long as no directory was renamed or removed
 * (nr_renames), the hash is not computed: then the look-up in a small cache of the CPU is all.
 *
 * Example: process 7 calls unlink("a") and unlink("b") in /x. The first entry records fs_dir "/x",
 * the second one finds it in the cache. A rename of /x to /y by any process comes next. unlink("c")
 * computes the hash, which has changed, and records fs_dir "/y".
 */
#define FD_CWD		(-100) /* AT_FDCWD; both as in fs_dir */
#define FD_ROOT		(-101)
#define CACHED		16
#define CHAIN_STEPS	64
#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ull

struct directory_told {
	u64 dentry;
	u64 hash;    /* of all names up to the root */
	u32 renames; /* nr_renames when @hash was computed */
	u32 tgid;    /* of the process with that fs_struct; 0: the key is a dentry */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct directory_told);
} directories_told SEC(".maps");

struct directory_cached {
	u64 key, dentry;
	u32 renames, tgid;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CACHED);
	__type(key, u32);
	__type(value, struct directory_cached);
} directories_cached SEC(".maps");

volatile unsigned int nr_renames; /* successful ones, and removals of directories, by any process */

/* The state of a walk, not on the stack for the reason of struct path_text. */
struct directory_chain {
	struct dentry *dentry;
	struct mount *mount;
	u64 hash;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct directory_chain);
} directory_chains SEC(".maps"), opened_chains SEC(".maps");
PATH_SCRATCH(directory_scratch);

/* The file of a descriptor of the current process, or NULL; and does exec close the descriptor? */
static __always_inline struct file *file_of_fd(u32 fd, u32 *ret_cloexec)
{
	struct files_struct *own = FIELD(current_task(), files);
	struct fdtable *table = FIELD(own, fdt);
	struct file **files = FIELD(table, fd), *file = NULL;
	unsigned long *bits = FIELD(table, close_on_exec), word = 0;

	if (fd >= FIELD(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	bpf_probe_read_kernel(&word, sizeof(word), bits + fd / 64);
	*ret_cloexec = word >> (fd % 64) & 1 ? O_CLOEXEC : 0;
	return file;
}

static long chain_step(u32 index, struct directory_chain **context)
{
	struct directory_chain *c = *context;
	struct dentry *dentry = c->dentry, *parent = FIELD(dentry, d_parent);
	struct mount *mount = c->mount, *above;

	if (dentry == FIELD(mount, mnt.mnt_root)) {
		above = FIELD(mount, mnt_parent);
		c->dentry = FIELD(mount, mnt_mountpoint);
		c->mount = above;
		return above == mount;
	}
	c->hash = (c->hash ^ FIELD(dentry, d_name.hash_len)) * HASH_MULTIPLIER;
	c->dentry = parent;
	return parent == dentry;
}

/* A hash over the names of a directory and of those above, and of whether it is removed. */
static __always_inline u64 chain_hash(void *scratch, struct dentry *dentry, struct vfsmount *vfs)
{
	u32 zero = 0;
	struct directory_chain *c = bpf_map_lookup_elem(scratch, &zero);

	if (!c)
		return 0;
	c->dentry = dentry;
	c->mount = (void *)vfs - bpf_core_field_offset(struct mount, mnt);
	c->hash = is_deleted(dentry);
	bpf_loop(CHAIN_STEPS, chain_step, &c, 0);
	return c->hash;
}

static __always_inline u32 cache_slot(u64 key)
{
	return (key * HASH_MULTIPLIER) >> 60 & (CACHED - 1);
}

static __always_inline void cache_directory(u64 key, u64 dentry, u32 renames, u32 tgid)
{
	u32 slot = cache_slot(key);
	struct directory_cached *cached = bpf_map_lookup_elem(&directories_cached, &slot);

	if (!cached)
		return;
	cached->key = key;
	cached->dentry = dentry;
	cached->renames = renames;
	cached->tgid = tgid;
}

/* The directory is not in the cache: record it, unless the trace has it as it is now. Global
 * functions are verified once, and have a stack frame of their own. */
__noinline int tell_directory(s32 fd, u64 key, u64 address, u64 vfs)
{
	struct dentry *dentry = (void *)address;
	struct directory_told *told = bpf_map_lookup_elem(&directories_told, &key), now = {.dentry = address};
	struct path_text *s = path_scratch(&directory_scratch);
	struct inode *inode = FIELD(dentry, d_inode);
	struct path_span span;

	if (!s)
		return 0;
	now.renames = nr_renames;
	now.tgid = fd < 0 ? current_task()->tgid : 0;
	if (told && told->dentry == address && told->tgid == now.tgid && told->renames == now.renames) {
		cache_directory(key, address, now.renames, now.tgid);
		return 0;
	}
	now.hash = chain_hash(&directory_chains, dentry, (struct vfsmount *)vfs);
	if (told && told->dentry == address && told->tgid == now.tgid && told->hash == now.hash) {
		told->renames = now.renames;
		cache_directory(key, address, now.renames, now.tgid);
		return 0;
	}
	span = path_of(s, dentry, (struct vfsmount *)vfs, inode, true);
	RECORD_IN(fs_dir, true, ROUND8(span.bytes)) {
		record->ino = FIELD(inode, i_ino);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->mode = FIELD(inode, i_mode);
		record->tid = current_task()->pid;
		record->fd = fd;
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(fs_dir);
		bpf_map_update_elem(&directories_told, &key, &now, BPF_ANY);
		cache_directory(key, address, now.renames, now.tgid);
	}
	return 0;
}

/* @fd: as in fs_dir */
__noinline int note_directory(s32 fd)
{
	struct task_struct *task = current_task();
	struct fs_struct *fs = FIELD(task, fs);
	struct directory_cached *cached;
	u64 key, dentry, vfs;
	struct file *file;
	u32 cloexec, tgid = 0, slot;

	if (fd >= 0) {
		file = file_of_fd(fd, &cloexec);
		if (!file)
			return 0;
		vfs = NUMBER(file, f_path.mnt);
		key = dentry = NUMBER(file, f_path.dentry);
	} else {
		if (!fs)
			return 0;
		vfs = fd == FD_ROOT ? NUMBER(fs, root.mnt) : NUMBER(fs, pwd.mnt);
		dentry = fd == FD_ROOT ? NUMBER(fs, root.dentry) : NUMBER(fs, pwd.dentry);
		key = NUMBER(task, fs) | (fd == FD_ROOT);
		tgid = task->tgid;
	}
	slot = cache_slot(key);
	cached = bpf_map_lookup_elem(&directories_cached, &slot);
	if (cached && cached->key == key && cached->dentry == dentry && cached->tgid == tgid &&
	    cached->renames == nr_renames)
		return 0;
	return tell_directory(fd, key, dentry, vfs);
}

/* An absolute path begins at the root directory of the thread. Most threads have that of their
 * mount tree, which adds nothing to the path. */
static __always_inline bool has_plain_root(struct task_struct *task)
{
	struct fs_struct *fs = FIELD(task, fs);
	struct mount *mount, *above;
	struct vfsmount *vfs;

	if (!fs)
		return true;
	vfs = FIELD(fs, root.mnt);
	mount = (void *)vfs - bpf_core_field_offset(struct mount, mnt);
	if (FIELD(fs, root.dentry) != FIELD(vfs, mnt_root))
		return false;
	above = FIELD(mount, mnt_parent);
	/* the first root file system of the kernel may be below it */
	return above == mount ||
	       (FIELD(mount, mnt_mountpoint) == FIELD(above, mnt.mnt_root) && FIELD(above, mnt_parent) == above);
}

/* Record where a path of @task, the current thread, begins; @first is its first byte. */
static __always_inline void note_base(struct task_struct *task, s32 fd, char first)
{
	if (!event_wanted(TRACE_EV_fs_dir))
		return;
	if (first == '/') {
		if (!has_plain_root(task))
			note_directory(FD_ROOT);
	} else if (first) {
		note_directory(fd);
	}
}

/* fs_open told the trace the path of a directory. */
static __noinline void told_directory(struct file *file)
{
	struct dentry *dentry = FIELD(file, f_path.dentry);
	struct directory_told now = {.dentry = NUMBER(file, f_path.dentry), .renames = nr_renames};
	u64 key = now.dentry;

	now.hash = chain_hash(&opened_chains, dentry, FIELD(file, f_path.mnt));
	bpf_map_update_elem(&directories_told, &key, &now, BPF_ANY);
}

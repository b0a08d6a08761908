/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sample_tables.c - opens the files whose tables the BPF programs want, has them compiled, and puts
 * the tables into maps.
 *
 * A file that cannot be read, or has no description of its functions, gets an empty table: its code
 * is walked by frame pointers. If the process that maps the file has ended already, the next
 * process or sample asks again.
 *
 * The kernel waits for a grace period of RCU when a map is put into another one. So a second thread
 * does that, with all tables that are complete by then.
 */
#include "sample_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trace/events.h>
#include "sample_skeleton.h"
#include "unwind_reader.h"
#include "walk_files.h"

#define MAX_TABLES_BYTES (128ull << 20)
#define MAX_LINE	 4352
#define MAX_VDSO_BYTES	 65536
#define BATCH		 64
#define NICENESS	 (-10) /* of the drain: -15 */

/**
 * struct sample_tables - @stop: an eventfd
 * @lock: of @ready and @nr_ready, the tables that are not in the map yet, and of @ends
 */
struct sample_tables {
	struct samples_bpf *skeleton; /* borrowed */
	struct ring_buffer *wanted;   /* owned */
	struct unwind_reader reader;
	int stop;
	pthread_t maker, publisher;
	bool has_maker, has_publisher;
	struct sample_table_counts counts; /* written by the maker, atomically */
	pthread_mutex_t lock;
	pthread_cond_t has_ready;
	uint32_t numbers[BATCH];
	uint32_t ready[BATCH]; /* descriptors, owned */
	uint32_t nr_ready;
	bool ends;
	bool stops; /* for the maker, atomically */
};

/* ---- files ---- */

static int check_inode(int fd, uint64_t ino)
{
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_ino != ino)) {
		close(fd);
		return -ESTALE;
	}
	return fd < 0 ? -errno : fd;
}

static int open_mapping(const struct walk_wanted *wanted, uint64_t ino, uint64_t start, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, wanted->tgid, start, end);
	return check_inode(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ino);
}

/* The kernel may have split the mapping since, or united it with another. */
static int search_mapping(const struct walk_wanted *wanted, uint64_t ino)
{
	char path[32], line[MAX_LINE];
	uint64_t start, end, found;
	FILE *maps;
	int fd = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%u/maps", wanted->tgid);
	maps = fopen(path, "re");
	if (!maps)
		return -errno;
	while (fd < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &start, &end, &found) == 3 &&
		    found == ino)
			fd = open_mapping(wanted, ino, start, end);
	fclose(maps);
	return fd;
}

static int open_wanted(const struct walk_wanted *wanted, uint64_t ino)
{
	int fd = open_mapping(wanted, ino, wanted->start, wanted->end);

	return fd < 0 ? search_mapping(wanted, ino) : fd;
}

/* The page that the kernel gives to each process, as a file. */
static int open_vdso(void)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); // NOLINT
	size_t bytes;
	int fd;

	if (!head)
		return -ENOENT;
	bytes = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	if (bytes > MAX_VDSO_BYTES)
		return -E2BIG;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, head, bytes) != (ssize_t)bytes) {
		close(fd);
		return -EIO;
	}
	return fd < 0 ? -errno : fd;
}

/* ---- the second thread ---- */

static void publish(struct sample_tables *tables, uint32_t *numbers, uint32_t *fds, uint32_t nr)
{
	int map = bpf_map__fd(tables->skeleton->maps.unwind_tables);
	uint32_t done = nr;

	if (bpf_map_update_batch(map, numbers, fds, &done, NULL) < 0)
		for (uint32_t i = 0; i < nr; i++)
			bpf_map_update_elem(map, &numbers[i], &fds[i], BPF_ANY);
	for (uint32_t i = 0; i < nr; i++)
		close((int)fds[i]);
}

static void *publish_all(void *context)
{
	struct sample_tables *tables = context;
	uint32_t numbers[BATCH], fds[BATCH], nr;

	pthread_mutex_lock(&tables->lock);
	for (;;) {
		while (!tables->nr_ready && !tables->ends)
			pthread_cond_wait(&tables->has_ready, &tables->lock);
		nr = tables->nr_ready;
		if (!nr)
			break;
		memcpy(numbers, tables->numbers, nr * sizeof(*numbers));
		memcpy(fds, tables->ready, nr * sizeof(*fds));
		tables->nr_ready = 0;
		pthread_cond_signal(&tables->has_ready); /* there is room again */
		pthread_mutex_unlock(&tables->lock);
		publish(tables, numbers, fds, nr);
		pthread_mutex_lock(&tables->lock);
	}
	pthread_mutex_unlock(&tables->lock);
	return NULL;
}

static void give_to_publisher(struct sample_tables *tables, uint32_t number, int fd)
{
	pthread_mutex_lock(&tables->lock);
	while (tables->nr_ready == BATCH)
		pthread_cond_wait(&tables->has_ready, &tables->lock);
	tables->numbers[tables->nr_ready] = number;
	tables->ready[tables->nr_ready++] = (uint32_t)fd;
	pthread_cond_signal(&tables->has_ready);
	pthread_mutex_unlock(&tables->lock);
}

/* ---- tables ---- */

static int copy_table(int map, const struct unwind_table *table)
{
	size_t bytes = (size_t)table->nr_words * sizeof(table->words[0]);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	if (memory == MAP_FAILED)
		return -errno;
	memcpy(memory, table->words, bytes);
	munmap(memory, bytes);
	return 0;
}

/* Returns the descriptor of a map with the table. */
static int make_map(const struct unwind_table *table)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	uint32_t nr_blocks = table->nr_words / UNWIND_BLOCK_WORDS;
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_table", sizeof(uint32_t), UNWIND_BLOCK_BYTES,
				 nr_blocks ? nr_blocks : 1, &options),
	    result = map < 0 || !nr_blocks ? 0 : copy_table(map, table);

	if (map >= 0 && result) {
		close(map);
		return result;
	}
	return map;
}

static bool fits(struct sample_tables *tables, const struct unwind_table *table)
{
	uint64_t bytes = (uint64_t)table->nr_words * sizeof(table->words[0]);

	if (tables->counts.bytes + bytes > MAX_TABLES_BYTES) {
		__atomic_fetch_add(&tables->counts.refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_fetch_add(&tables->counts.bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tables->counts.made, 1, __ATOMIC_RELAXED);
	return true;
}

static void make_table(struct sample_tables *tables, uint32_t number, int fd)
{
	struct unwind_table table = {0}, empty = {0};
	int result = unwind_reader_compile(&tables->reader, fd, &table), map;

	if (result || !fits(tables, &table))
		table = empty;
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.unwind_pages), &number, &table.nr_pages, BPF_ANY);
	map = make_map(&table);
	if (map >= 0)
		give_to_publisher(tables, number, map);
}

static int on_wanted(void *context, void *record, size_t bytes)
{
	struct sample_tables *tables = context;
	const struct walk_wanted *wanted = record;
	int fd;

	if (__atomic_load_n(&tables->stops, __ATOMIC_RELAXED))
		return -ECANCELED; /* the files that wait are not needed any more */
	if (bytes < sizeof(*wanted) || wanted->file >= WALK_MAX_FILES || wanted->file == WALK_VDSO)
		return 0;
	fd = open_wanted(wanted, tables->skeleton->data_files->file_inodes[wanted->file]);
	if (fd >= 0) {
		make_table(tables, wanted->file, fd);
		close(fd);
	} else {
		tables->skeleton->data_files->asked_tables[wanted->file] = 0;
	}
	return 0;
}

static void make_vdso(struct sample_tables *tables)
{
	int fd = open_vdso();

	if (fd < 0)
		return;
	make_table(tables, WALK_VDSO, fd);
	close(fd);
}

static void *make_all(void *context)
{
	struct sample_tables *tables = context;
	struct pollfd fds[] = {{.fd = ring_buffer__epoll_fd(tables->wanted), .events = POLLIN},
			       {.fd = tables->stop, .events = POLLIN}};

	/* samples wait for the tables; without the privilege they wait longer on a busy machine */
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	make_vdso(tables);
	while (!fds[1].revents) {
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			ring_buffer__consume(tables->wanted);
	}
	return NULL;
}

/* ---- begin, end ---- */

/* The daemon's signals are for its other threads. */
static int start_thread(pthread_t *thread, void *(*run)(void *), struct sample_tables *tables)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = -pthread_create(thread, NULL, run, tables);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

static int start_threads(struct sample_tables *tables)
{
	int result = unwind_reader_open(&tables->reader);

	if (result)
		return result;
	tables->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tables->stop < 0)
		return -errno;
	tables->wanted = ring_buffer__new(bpf_map__fd(tables->skeleton->maps.wanted_tables), on_wanted, tables, NULL);
	if (!tables->wanted)
		return -errno;
	result = start_thread(&tables->publisher, publish_all, tables);
	tables->has_publisher = !result;
	if (!result)
		result = start_thread(&tables->maker, make_all, tables);
	tables->has_maker = !result;
	return result;
}

int sample_tables_start(struct samples_bpf *skeleton, struct sample_tables **ret_tables)
{
	struct sample_tables *tables = calloc(1, sizeof(*tables));
	int result;

	if (!tables)
		return -ENOMEM;
	tables->skeleton = skeleton;
	tables->stop = -1;
	pthread_mutex_init(&tables->lock, NULL);
	pthread_cond_init(&tables->has_ready, NULL);
	result = start_threads(tables);
	if (result)
		sample_tables_stop(tables);
	else
		*ret_tables = tables;
	return result;
}

void sample_tables_get_counts(const struct sample_tables *tables, struct sample_table_counts *ret_counts)
{
	ret_counts->made = __atomic_load_n(&tables->counts.made, __ATOMIC_RELAXED);
	ret_counts->bytes = __atomic_load_n(&tables->counts.bytes, __ATOMIC_RELAXED);
	ret_counts->refused = __atomic_load_n(&tables->counts.refused, __ATOMIC_RELAXED);
}

static void end_publisher(struct sample_tables *tables)
{
	pthread_mutex_lock(&tables->lock);
	tables->ends = true;
	pthread_cond_broadcast(&tables->has_ready);
	pthread_mutex_unlock(&tables->lock);
	pthread_join(tables->publisher, NULL);
}

void sample_tables_stop(struct sample_tables *tables)
{
	if (!tables)
		return;
	if (tables->has_maker) {
		__atomic_store_n(&tables->stops, true, __ATOMIC_RELAXED);
		eventfd_write(tables->stop, 1);
		pthread_join(tables->maker, NULL);
	}
	if (tables->has_publisher)
		end_publisher(tables);
	ring_buffer__free(tables->wanted);
	if (tables->stop >= 0)
		close(tables->stop);
	unwind_reader_close(&tables->reader);
	pthread_cond_destroy(&tables->has_ready);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

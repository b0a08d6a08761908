/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sample_tables.c - opens the files whose tables the BPF programs want, has them compiled, and puts
 * the tables into maps.
 *
 * A file that cannot be read, or has no description of its functions, gets an empty table: its code
 * is walked by frame pointers. If the process that maps the file has ended already, the next
 * process or sample asks again.
 *
 * Most tables are ready when they are written (early_tables.h). The others have maps of their own.
 * The kernel waits for a grace period of RCU when a map is put into another one. So other threads
 * do that, with all tables that are complete by then; while one waits, another puts the next ones.
 *
 * The tables are kept on disk for the next recording (unwind_cache.h). They are written when
 * samples end, from the maps, so that no sample waits for the disk.
 */
#include "sample_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
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
#include "command_files.h"
#include "early_tables.h"
#include "file_opener.h"
#include "prepare_files.h"
#include "read_end.h"
#include "sample_skeleton.h"
#include "unwind_cache.h"
#include "unwind_reader.h"
#include "walk_files.h"

#define MAX_LINE	4352
#define MAX_VDSO_BYTES	65536
#define BATCH		64
#define NICENESS	(-10) /* of the drain: -15 */
#define NR_PUBLISHERS	3
#define PREPARE_SECONDS 2 /* then the recording begins without the other tables */

/**
 * struct sample_tables - @stop: an eventfd
 * @command: arguments of a program; its files get their tables first; borrowed; may be NULL
 * @keys: of the tables that are not on disk, by number of the file; build 0: none; may be NULL
 * @lock: of what follows. @ready: the tables that are not in the map yet
 */
struct sample_tables {
	struct samples_bpf *skeleton; /* borrowed */
	struct ring_buffer *wanted;   /* owned */
	struct file_opener opener;
	struct unwind_reader reader;
	struct unwind_cache cache;
	struct early_tables early;
	struct unwind_cache_key *keys; /* owned; written by the maker */
	char *const *command;
	int stop;
	pthread_t maker, publishers[NR_PUBLISHERS];
	bool has_maker;
	uint32_t nr_publishers;
	struct sample_table_counts counts; /* written by the maker, atomically */
	pthread_mutex_t lock;
	pthread_cond_t has_ready;
	pthread_cond_t has_published;
	uint32_t numbers[BATCH];
	uint32_t ready[BATCH]; /* descriptors, owned */
	uint32_t nr_ready;
	uint64_t nr_given, nr_published;
	bool is_prepared; /* the tables of the command were given */
	bool ends;
	bool stops; /* for the maker, atomically */
};

/* ---- files ---- */

/*
 * SECURITY: its user may serve the file, and not answer: a child opens it. The wait ends with the
 * samples, and other files have their tables later.
 */
static int open_mapping(struct sample_tables *tables, const struct walk_wanted *wanted, uint64_t ino, uint64_t start,
			uint64_t end)
{
	const struct file_place place = file_mapping(wanted->tgid, start, end);
	struct stat status;
	int fd = file_opener_open(&tables->opener, &place, &status);

	if (fd >= 0 && status.st_ino != ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* The kernel may have split the mapping since, or united it with another. */
static int search_mapping(struct sample_tables *tables, const struct walk_wanted *wanted, uint64_t ino)
{
	FILE *maps = file_opener_text(&tables->opener, wanted->tgid, "maps");
	uint64_t start, end, found;
	char line[MAX_LINE];
	int fd = -ENOENT, err;

	if (!maps)
		return -errno;
	while (fd < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &start, &end, &found) == 3 &&
		    found == ino)
			fd = open_mapping(tables, wanted, ino, start, end);
	err = read_end(maps);
	return fd < 0 && err ? err : fd;
}

static int open_wanted(struct sample_tables *tables, const struct walk_wanted *wanted, uint64_t ino)
{
	int fd = open_mapping(tables, wanted, ino, wanted->start, wanted->end);

	return fd == -ENOENT || fd == -ESTALE ? search_mapping(tables, wanted, ino) : fd;
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
		pthread_cond_broadcast(&tables->has_ready); /* there is room again */
		pthread_mutex_unlock(&tables->lock);
		publish(tables, numbers, fds, nr);
		pthread_mutex_lock(&tables->lock);
		tables->nr_published += nr;
		pthread_cond_broadcast(&tables->has_published);
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
	tables->nr_given++;
	pthread_cond_broadcast(&tables->has_ready);
	pthread_mutex_unlock(&tables->lock);
}

/* ---- tables ---- */

static uint64_t *map_words(int map, uint32_t nr_words, int protection)
{
	return mmap(NULL, nr_words * sizeof(uint64_t), protection, MAP_SHARED, map, 0);
}

static int new_map(uint32_t nr_words)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	uint32_t nr_blocks = nr_words / UNWIND_BLOCK_WORDS;

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_table", sizeof(uint32_t), UNWIND_BLOCK_BYTES,
			      nr_blocks ? nr_blocks : 1, &options);
}

/* Returns the descriptor of a map with the table. */
static int make_map(const struct unwind_table *table)
{
	int map = new_map(table->nr_words);
	uint64_t *words;

	if (map < 0 || !table->nr_words)
		return map;
	words = map_words(map, table->nr_words, PROT_READ | PROT_WRITE);
	if (words == MAP_FAILED) {
		close(map);
		return -ENOMEM;
	}
	memcpy(words, table->words, table->nr_words * sizeof(*words));
	munmap(words, table->nr_words * sizeof(*words));
	return map;
}

static bool has_room(const struct sample_table_counts *counts, uint32_t nr_words)
{
	return counts->bytes + (uint64_t)nr_words * sizeof(uint64_t) <= SAMPLE_TABLES_BYTES;
}

bool sample_table_counts_add(struct sample_table_counts *counts, uint32_t nr_words)
{
	if (!has_room(counts, nr_words)) {
		__atomic_fetch_add(&counts->refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_fetch_add(&counts->bytes, (uint64_t)nr_words * sizeof(uint64_t), __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->made, 1, __ATOMIC_RELAXED);
	return true;
}

static void give_map(struct sample_tables *tables, uint32_t number, uint32_t nr_pages, int map)
{
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.unwind_pages), &number, &nr_pages, BPF_ANY);
	if (map >= 0)
		give_to_publisher(tables, number, map);
}

static void give_early(struct sample_tables *tables, uint32_t number, uint32_t nr_pages, uint32_t nr_words)
{
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.unwind_pages), &number, &nr_pages, BPF_ANY);
	early_tables_give(&tables->early, number, nr_words);
}

static void give_table(struct sample_tables *tables, uint32_t number, const struct unwind_table *table)
{
	uint64_t *room = early_tables_room(&tables->early, table->nr_words);

	if (!room) {
		give_map(tables, number, table->nr_pages, make_map(table));
		return;
	}
	memcpy(room, table->words, table->nr_words * sizeof(*room));
	give_early(tables, number, table->nr_pages, table->nr_words);
}

/* ---- tables on disk ---- */

static int read_cached(struct sample_tables *tables, const struct unwind_cache_key *key, struct unwind_cached *cached)
{
	int map = new_map(cached->nr_words);
	uint64_t *words = map < 0 ? MAP_FAILED : map_words(map, cached->nr_words, PROT_READ | PROT_WRITE);
	int result = -ENOMEM;

	if (words != MAP_FAILED) {
		result = unwind_cache_take(&tables->cache, key, cached, words);
		munmap(words, cached->nr_words * sizeof(*words));
	} else {
		close(cached->fd);
	}
	if (result && map >= 0)
		close(map);
	return result ? result : map;
}

/* The same for an early one. */
static bool take_cached_early(struct sample_tables *tables, uint32_t number, const struct unwind_cache_key *key,
			      struct unwind_cached *cached, uint64_t *room)
{
	uint32_t nr_words = cached->nr_words;

	if (unwind_cache_take(&tables->cache, key, cached, room) || !sample_table_counts_add(&tables->counts, nr_words))
		return false;
	give_early(tables, number, cached->nr_pages, nr_words);
	return true;
}

/*
 * Returns true if the file has its table now. A table without room is refused once: where it is
 * compiled.
 */
static bool take_cached(struct sample_tables *tables, uint32_t number, const struct unwind_cache_key *key)
{
	struct unwind_cached cached;
	uint64_t *room;
	int map;

	if (unwind_cache_find(&tables->cache, key, &cached))
		return false;
	if (!has_room(&tables->counts, cached.nr_words)) {
		close(cached.fd);
		return false;
	}
	room = early_tables_room(&tables->early, cached.nr_words);
	if (room)
		return take_cached_early(tables, number, key, &cached, room);
	map = read_cached(tables, key, &cached);
	if (map < 0)
		return false;
	if (!sample_table_counts_add(&tables->counts, cached.nr_words)) {
		close(map);
		return false;
	}
	give_map(tables, number, cached.nr_pages, map);
	return true;
}

/* The words of a published table. */
static int open_published(const struct sample_tables *tables, uint32_t number, uint32_t *ret_nr_words)
{
	uint32_t id, bytes = sizeof(struct bpf_map_info);
	struct bpf_map_info info = {0};
	int fd;

	if (bpf_map_lookup_elem(bpf_map__fd(tables->skeleton->maps.unwind_tables), &number, &id) < 0)
		return -1;
	fd = bpf_map_get_fd_by_id(id);
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) < 0) {
		close(fd);
		return -1;
	}
	*ret_nr_words = info.max_entries * UNWIND_BLOCK_WORDS;
	return fd;
}

static void keep_words(struct sample_tables *tables, uint32_t number, uint64_t *words, uint32_t nr_words)
{
	struct unwind_table table = {.words = words, .nr_words = nr_words};

	bpf_map_lookup_elem(bpf_map__fd(tables->skeleton->maps.unwind_pages), &number, &table.nr_pages);
	unwind_cache_put(&tables->cache, &tables->keys[number], &table);
}

static void keep_table(struct sample_tables *tables, uint32_t number)
{
	uint32_t nr_words;
	uint64_t *words = (uint64_t *)early_tables_find(&tables->early, number, &nr_words);
	int map;

	if (words) {
		keep_words(tables, number, words, nr_words);
		return;
	}
	map = open_published(tables, number, &nr_words);
	if (map < 0)
		return;
	words = map_words(map, nr_words, PROT_READ);
	close(map);
	if (words == MAP_FAILED)
		return;
	keep_words(tables, number, words, nr_words);
	munmap(words, nr_words * sizeof(*words));
}

static void keep_tables(struct sample_tables *tables)
{
	for (uint32_t i = 0; tables->keys && tables->cache.folder >= 0 && i < WALK_MAX_FILES; i++)
		if (tables->keys[i].ino)
			keep_table(tables, i);
	unwind_cache_close(&tables->cache, UNWIND_CACHE_MAX_BYTES);
	free(tables->keys);
}

/* ---- all tables ---- */

/* A file that changed while it was read is not kept. */
static void make_table(struct sample_tables *tables, uint32_t number, int fd)
{
	struct unwind_table table = {0}, empty = {0};
	struct unwind_cache_key key = {0}, after;
	bool has_key = number != WALK_VDSO && !unwind_cache_key(fd, &key);
	int result;

	if (has_key && take_cached(tables, number, &key))
		return;
	result = unwind_reader_compile(&tables->reader, fd, &table);
	if (result || !sample_table_counts_add(&tables->counts, table.nr_words))
		table = empty;
	else if (has_key && tables->keys && !unwind_cache_key(fd, &after) && !memcmp(&key, &after, sizeof(key)))
		tables->keys[number] = key;
	give_table(tables, number, &table);
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
	fd = open_wanted(tables, wanted, tables->skeleton->data_files->file_inodes[wanted->file]);
	if (fd >= 0) {
		make_table(tables, wanted->file, fd);
		close(fd);
	} else if (fd == -ETIMEDOUT || fd == -EBUSY) {
		give_table(tables, wanted->file, &(struct unwind_table){0});
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

/* The files of the command, or else of all that runs, are the first that are wanted. */
static void make_prepared(struct sample_tables *tables)
{
	if (tables->command) {
		struct command_files files;

		command_files_find(tables->command, &tables->reader, &files);
		prepare_files(tables->skeleton, files.fds, files.nr, tables->wanted);
		command_files_close(&files);
	} else {
		prepare_running(tables->skeleton, tables->wanted);
	}
	pthread_mutex_lock(&tables->lock);
	tables->is_prepared = true;
	pthread_cond_broadcast(&tables->has_published);
	pthread_mutex_unlock(&tables->lock);
}

static void *make_all(void *context)
{
	struct sample_tables *tables = context;
	struct pollfd fds[] = {{.fd = ring_buffer__epoll_fd(tables->wanted), .events = POLLIN},
			       {.fd = tables->stop, .events = POLLIN}};

	/* samples wait for the tables; without the privilege they wait longer on a busy machine */
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	make_vdso(tables);
	make_prepared(tables);
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
	tables->opener = (struct file_opener){.has_stop = true, .stop_fd = tables->stop};
	tables->reader.has_stop = true;
	tables->reader.stop_fd = tables->stop;
	tables->wanted = ring_buffer__new(bpf_map__fd(tables->skeleton->maps.wanted_tables), on_wanted, tables, NULL);
	if (!tables->wanted)
		return -errno;
	for (; !result && tables->nr_publishers < NR_PUBLISHERS; tables->nr_publishers += !result)
		result = start_thread(&tables->publishers[tables->nr_publishers], publish_all, tables);
	if (!result)
		result = start_thread(&tables->maker, make_all, tables);
	tables->has_maker = !result;
	return result;
}

static void wait_for_command(struct sample_tables *tables)
{
	struct timespec deadline;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += PREPARE_SECONDS;
	pthread_mutex_lock(&tables->lock);
	while (!tables->is_prepared || tables->nr_published < tables->nr_given)
		if (pthread_cond_clockwait(&tables->has_published, &tables->lock, CLOCK_MONOTONIC, &deadline))
			break;
	pthread_mutex_unlock(&tables->lock);
}

int sample_tables_start(struct samples_bpf *skeleton, char *const *command, struct sample_tables **ret_tables)
{
	struct sample_tables *tables = calloc(1, sizeof(*tables));
	int result;

	if (!tables)
		return -ENOMEM;
	tables->skeleton = skeleton;
	tables->command = command;
	tables->cache = unwind_cache_open();
	early_tables_open(&tables->early, skeleton);
	tables->keys = calloc(WALK_MAX_FILES, sizeof(*tables->keys));
	tables->stop = -1;
	pthread_mutex_init(&tables->lock, NULL);
	pthread_cond_init(&tables->has_ready, NULL);
	pthread_cond_init(&tables->has_published, NULL);
	result = start_threads(tables);
	if (result) {
		sample_tables_stop(tables);
		return result;
	}
	wait_for_command(tables);
	*ret_tables = tables;
	return 0;
}

void sample_tables_get_counts(const struct sample_tables *tables, struct sample_table_counts *ret_counts)
{
	ret_counts->made = __atomic_load_n(&tables->counts.made, __ATOMIC_RELAXED);
	ret_counts->bytes = __atomic_load_n(&tables->counts.bytes, __ATOMIC_RELAXED);
	ret_counts->refused = __atomic_load_n(&tables->counts.refused, __ATOMIC_RELAXED);
}

static void end_publishers(struct sample_tables *tables)
{
	pthread_mutex_lock(&tables->lock);
	tables->ends = true;
	pthread_cond_broadcast(&tables->has_ready);
	pthread_mutex_unlock(&tables->lock);
	for (uint32_t i = 0; i < tables->nr_publishers; i++)
		pthread_join(tables->publishers[i], NULL);
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
	end_publishers(tables);
	keep_tables(tables);
	early_tables_close(&tables->early);
	ring_buffer__free(tables->wanted);
	file_opener_close(&tables->opener);
	unwind_reader_close(&tables->reader);
	if (tables->stop >= 0)
		close(tables->stop);
	pthread_cond_destroy(&tables->has_ready);
	pthread_cond_destroy(&tables->has_published);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

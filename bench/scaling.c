/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scaling.c - measure how the cost of an event grows with the trace.
 *
 *	scaling EVENTS STREAMS THREADS FILE [runnable | FILES]
 *		write such a trace, iterate it and analyse it
 *	scaling cold OBJECTS BYTES
 *		measure the memory of this machine with OBJECTS objects of BYTES bytes
 *	scaling open BYTES FILE
 *		make a file of that size, with an index and with holes instead of events; open it
 *
 * The first form prints bytes per event, and ns of CPU time per event
 *
 *	to pack and compress, to iterate, to analyse,
 *	to ask for the figures of each process after the analysis,
 *	and to iterate and do the minimum of any analysis that distinguishes threads or files.
 *
 * The minimum adds to one cache line per thread, which needs no look-up; or to one per file,
 * found through the descriptor and the row of the file. All of these are prefetched, for 256
 * events at once.
 *
 * The second form uses large pages and prints three figures, each the minimum of three tries: ns
 * of a load from an object that contains the address of the next one; ns of an addition to an
 * object that was prefetched 32 objects before; ns of an addition to each cache line of an object
 * that was prefetched four objects before.
 *
 * The third form prints the number of chunks, the ms to open, and the ms to open and seek to the
 * middle.
 *
 * The events are synthetic. There are as many CPUs as streams. Threads alternate on them, with a
 * few system calls in each time slice. A thread is woken just before its time slice. With
 * "runnable" it waits for the CPU all the time, so that many other threads had the CPU during
 * each wait. With FILES the calls are reads of files, each of any file that the thread has open.
 * FILES is the number of open files of all threads together. They are in the start state; the
 * time to load that is not counted.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <trace/analysis.h>
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>
#include <xxhash.h>

enum {
	BLOCK_BYTES = 1 << 20, /* the daemon's default sub-buffer */
	TURN = 64,	       /* successive events of one stream */
	FIRST_TID = 1000,
	FIRST_FD = 3,
	NR_READ = 0,
	START_STREAM = 0xffff0000, /* a number that no stream of events has */
	CHUNK_EVENTS = 16000,
	CHUNK_BYTES = 40000,
	LARGE_PAGE = 2 << 20,
};

/** struct stream - the sub-buffer of a ring that is being filled, and the thread on its CPU */
struct stream {
	struct trace_source source;
	unsigned char *records;
	uint32_t tid;
	uint32_t step;
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *checked(void *memory)
{
	if (!memory) {
		fprintf(stderr, "scaling: no memory\n");
		exit(1);
	}
	return memory;
}

/* A trace that is not whole has no figures. */
static void check_written(int result, const struct trace_error *error)
{
	if (result >= 0)
		return;
	fprintf(stderr, "scaling: %s\n", error->message);
	exit(1);
}

static struct trace *open_or_exit(const char *path)
{
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);

	if (!trace) {
		fprintf(stderr, "scaling: %s\n", error.message);
		exit(1);
	}
	return trace;
}

/* ---- a trace of a given number of events ---- */

static double stream_write(struct trace_writer *writer, struct stream *stream)
{
	struct trace_error error = {0};
	double begin = cpu_ns();

	if (stream->source.bytes)
		check_written(trace_writer_write(writer, trace_writer_pack(writer, &stream->source, &error), &error),
			      &error);
	stream->source.bytes = 0;
	stream->source.nr_records = 0;
	stream->source.seq++;
	return cpu_ns() - begin;
}

static double stream_add(struct trace_writer *writer, struct stream *stream, uint64_t ts_ns, uint16_t id,
			 const void *payload, size_t bytes)
{
	struct trace_record record = {.time = (uint32_t)ts_ns, .id = id, .words = (uint8_t)(1 + bytes / 8)};
	double spent = 0;

	if (stream->source.bytes + 8 + bytes > BLOCK_BYTES ||
	    (stream->source.bytes && ts_ns - stream->source.base_ns > UINT32_MAX))
		spent = stream_write(writer, stream);
	if (!stream->source.bytes)
		stream->source.base_ns = ts_ns;
	memcpy(mempcpy(stream->records + stream->source.bytes, &record, 8), payload, bytes);
	stream->source.bytes += 8 + bytes;
	stream->source.nr_records++;
	return spent;
}

/**
 * struct load - the properties of the trace
 * @runnable: the threads never sleep, so each waits while all others have their time slices;
 *	otherwise each thread is woken just before its time slice
 * @files_each: number of open files of each thread; 0: the calls use no files
 */
struct load {
	uint64_t nr_events;
	uint32_t nr_streams;
	uint32_t nr_threads;
	bool runnable;
	uint32_t files_each;
};

static uint32_t next_thread(const struct stream *stream, const struct load *load)
{
	uint32_t tid = stream->tid + load->nr_streams;

	return tid < FIRST_TID + load->nr_threads ? tid : FIRST_TID + stream->source.cpu;
}

static double add_switch(struct trace_writer *writer, struct stream *stream, uint64_t ts_ns, const struct load *load)
{
	struct trace_sched_switch change = {.prev_tid = stream->tid,
					    .prev_state = load->runnable ? TRACE_TASK_RUNNING
									 : TRACE_TASK_INTERRUPTIBLE,
					    .next_prio = 120};

	stream->tid = change.next_tid = next_thread(stream, load);
	return stream_add(writer, stream, ts_ns, TRACE_EV_sched_switch, &change, sizeof(change));
}

/*
 * Adds the next event of @stream. 16 events are one time slice: a switch, the exit of the call in
 * which the thread slept, calls and their exits, the wakeup of the next thread, the entry of a
 * call that sleeps.
 */
static double add_event(struct trace_writer *writer, struct stream *stream, uint64_t ts_ns, const struct load *load)
{
	uint32_t step = stream->step++ % 16;

	if (step == 0)
		return add_switch(writer, stream, ts_ns, load);
	if (step == 14) {
		struct trace_sched_waking waking = {.tid = next_thread(stream, load),
						    .target_cpu = (uint16_t)stream->source.cpu,
						    .context = TRACE_CONTEXT_TASK};

		return stream_add(writer, stream, ts_ns, TRACE_EV_sched_waking, &waking, sizeof(waking));
	}
	if (step == 15 || step % 2 == 0) {
		struct trace_sys_enter3 enter = {
			.nr = step % 3, .arg0 = step, .arg1 = 0x7ffe00001000 + stream->tid * 4096ull, .arg2 = 100};

		if (load->files_each) {
			enter.nr = NR_READ;
			enter.arg0 = FIRST_FD + (uint64_t)random() % load->files_each;
		}

		return stream_add(writer, stream, ts_ns, TRACE_EV_sys_enter3, &enter, sizeof(enter));
	}
	return stream_add(writer, stream, ts_ns, TRACE_EV_sys_exit, &(struct trace_sys_exit){.ret = 100},
			  sizeof(struct trace_sys_exit));
}

/* Adds a start-state record: a payload and its string. */
static void start_add(struct trace_writer *writer, struct stream *stream, uint16_t id, const void *fixed, size_t bytes,
		      const char *text)
{
	char payload[256] = {0};

	snprintf((char *)mempcpy(payload, fixed, bytes), sizeof(payload) - bytes, "%s", text);
	stream_add(writer, stream, 1, id, payload, (bytes + strlen(text) + 8) & ~7ull);
}

/* Writes the start state: the threads, and the files that they have open. */
static void write_start(struct trace_writer *writer, const struct load *load)
{
	struct stream stream = {.records = checked(malloc(BLOCK_BYTES))};
	char path[64];

	stream.source = (struct trace_source){
		.records = stream.records, .seq = 1, .stream = START_STREAM, .kind = TRACE_CHUNK_START_STATE};
	trace_writer_string(writer, TRACE_STRING_SYSCALL, NR_READ, "read");
	for (uint32_t i = 0; i < load->nr_threads; i++) {
		struct trace_start_thread thread = {.tid = FIRST_TID + i,
						    .tgid = FIRST_TID + i,
						    .ppid = 1,
						    .nr = -1,
						    .state = TRACE_TASK_INTERRUPTIBLE};

		start_add(writer, &stream, TRACE_EV_start_thread, &thread, sizeof(thread), "reader");
		for (uint32_t n = 0; n < load->files_each; n++) {
			struct trace_start_fd fd = {.tgid = thread.tgid,
						    .fd = (int)(FIRST_FD + n),
						    .dev = 1,
						    .mode = 0100644,
						    .ino = 1 + (uint64_t)i * load->files_each + n};

			snprintf(path, sizeof(path), "/data/%u/file%u", i, n);
			start_add(writer, &stream, TRACE_EV_start_fd, &fd, sizeof(fd), path);
		}
	}
	stream_write(writer, &stream);
	free(stream.records);
}

/* Returns ns of CPU time to pack and write an event. */
static double write_trace(const struct load *load, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *writer = checked(trace_writer_new(
		fd, &(struct trace_writer_options){.size = sizeof(struct trace_writer_options), .start_ns = 1}, NULL));
	struct stream *streams = checked(calloc(load->nr_streams, sizeof(*streams)));
	struct trace_error error = {0};
	uint64_t ts_ns = 1000;
	double spent = 0;

	srandom(1);
	if (load->files_each)
		write_start(writer, load);
	for (uint32_t i = 0; i < load->nr_streams; i++) {
		streams[i].records = checked(malloc(BLOCK_BYTES));
		streams[i].tid = FIRST_TID + i;
		streams[i].source = (struct trace_source){
			.records = streams[i].records, .seq = 1, .stream = i, .cpu = i, .kind = TRACE_CHUNK_EVENTS};
	}
	for (uint64_t i = 0; i < load->nr_events; i++, ts_ns += (uint64_t)(100 + random() % 900))
		spent += add_event(writer, &streams[i / TURN % load->nr_streams], ts_ns, load);
	for (uint32_t i = 0; i < load->nr_streams; i++) {
		spent += stream_write(writer, &streams[i]);
		free(streams[i].records);
	}
	check_written(trace_writer_finish(writer, &error), &error);
	trace_writer_free(writer);
	free(streams);
	close(fd);
	return spent / (double)load->nr_events;
}

static void end_pass(struct trace_cursor *cursor)
{
	struct trace_error error;

	if (!trace_cursor_end(cursor, &error))
		return;
	fprintf(stderr, "scaling: %s\n", error.message);
	exit(1);
}

static double iterate(const struct trace *trace, uint64_t nr_events)
{
	double begin = cpu_ns();
	struct trace_cursor *cursor = checked(trace_cursor_new(trace, NULL, NULL));
	const struct trace_event *event;
	uint64_t nr = 0;

	while ((event = trace_cursor_next(cursor)))
		nr++;
	end_pass(cursor);
	if (nr != nr_events)
		fprintf(stderr, "scaling: %llu events of %llu\n", (unsigned long long)nr,
			(unsigned long long)nr_events);
	return (cpu_ns() - begin) / (double)nr_events;
}

/* ---- the minimum ---- */

/*
 * This many events are noted. Then each step runs for all of them, and prefetches what the next
 * step needs.
 */
#define MINIMUM_AT_ONCE 256

/*
 * A cache line of sums for each thread, or for each file, where it is allocated at the first use.
 */
struct minimum_line {
	uint64_t count;
	uint64_t ns;
	uint64_t pad[6];
};

/* The row of a file, which here only has the address of its line. */
struct minimum_file {
	struct minimum_line *line;
	uint64_t pad[3];
};

/**
 * struct minimum - the state of the minimum
 * @of_cpu: the thread on each CPU, the time of its last event, the descriptor of its call
 * @descriptors: the file of each descriptor of each thread
 */
struct minimum {
	const struct load *load;
	struct minimum_line *lines, *free_line;
	uint32_t *descriptors;
	struct minimum_file *files;
	struct {
		uint32_t tid;
		uint32_t fd;
		uint64_t since_ns;
	} * of_cpu;
	struct {
		union {
			uint32_t *descriptor;
			struct minimum_file *file;
			struct minimum_line *line;
		};
		uint64_t ns;
	} notes[MINIMUM_AT_ONCE];
	int nr;
};

static void *large_zeros(size_t bytes)
{
	size_t whole = (bytes + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
	void *memory = checked(aligned_alloc(LARGE_PAGE, whole));

	madvise(memory, whole, MADV_HUGEPAGE);
	return memset(memory, 0, whole);
}

static void minimum_to_files(struct minimum *minimum)
{
	for (int i = 0; i < minimum->nr; i++) {
		minimum->notes[i].file = &minimum->files[*minimum->notes[i].descriptor];
		__builtin_prefetch(minimum->notes[i].file, 1);
	}
	for (int i = 0; i < minimum->nr; i++) {
		struct minimum_file *file = minimum->notes[i].file;

		if (!file->line)
			file->line = minimum->free_line++;
		minimum->notes[i].line = file->line;
		__builtin_prefetch(file->line, 1);
	}
}

static void minimum_add_up(struct minimum *minimum)
{
	if (minimum->files)
		minimum_to_files(minimum);
	for (int i = 0; i < minimum->nr; i++) {
		minimum->notes[i].line->count++;
		minimum->notes[i].line->ns += minimum->notes[i].ns;
	}
	minimum->nr = 0;
}

static void minimum_note(struct minimum *minimum, uint32_t tid, uint32_t fd, uint64_t ns)
{
	if (minimum->files)
		minimum->notes[minimum->nr].descriptor =
			&minimum->descriptors[(tid - FIRST_TID) * minimum->load->files_each + fd];
	else
		minimum->notes[minimum->nr].line = &minimum->lines[tid - FIRST_TID];
	__builtin_prefetch(minimum->notes[minimum->nr].line, 1);
	minimum->notes[minimum->nr].ns = ns;
	if (++minimum->nr == MINIMUM_AT_ONCE)
		minimum_add_up(minimum);
}

static void minimum_event(struct minimum *minimum, const struct trace_event *event)
{
	const struct trace_sched_switch *change = event->payload;
	const struct trace_sys_enter3 *enter = event->payload;
	uint64_t ns = event->ts_ns - minimum->of_cpu[event->cpu].since_ns;
	uint32_t tid = minimum->of_cpu[event->cpu].tid;

	if (event->id == TRACE_EV_sched_waking)
		return;
	minimum->of_cpu[event->cpu].since_ns = event->ts_ns;
	if (event->id == TRACE_EV_sched_switch) {
		minimum_note(minimum, change->prev_tid, 0, ns);
		minimum->of_cpu[event->cpu].tid = change->next_tid;
	} else if (event->id == TRACE_EV_sys_enter3) {
		minimum->of_cpu[event->cpu].fd = minimum->load->files_each ? (uint32_t)enter->arg0 - FIRST_FD : 0;
	} else if (tid) {
		minimum_note(minimum, tid, minimum->of_cpu[event->cpu].fd, ns);
	}
}

/* Gives the descriptors files in random order. */
static void minimum_open(struct minimum *minimum, size_t nr)
{
	minimum->files = large_zeros(nr * sizeof(*minimum->files));
	minimum->descriptors = large_zeros(nr * sizeof(*minimum->descriptors));
	for (size_t i = 0; i < nr; i++) {
		size_t other = (size_t)random() % (i + 1);

		minimum->descriptors[i] = minimum->descriptors[other];
		minimum->descriptors[other] = (uint32_t)i;
	}
}

static double do_the_minimum(const struct trace *trace, const struct load *load)
{
	size_t nr_lines = (size_t)load->nr_threads * (load->files_each ? load->files_each : 1);
	struct minimum minimum = {.load = load, .of_cpu = checked(calloc(load->nr_streams, sizeof(*minimum.of_cpu)))};
	struct trace_cursor *cursor = checked(trace_cursor_new(trace, NULL, NULL));
	const struct trace_event *event;
	double begin;

	minimum.lines = minimum.free_line = large_zeros(nr_lines * sizeof(*minimum.lines));
	if (load->files_each)
		minimum_open(&minimum, nr_lines);
	begin = cpu_ns();
	while ((event = trace_cursor_next(cursor)))
		minimum_event(&minimum, event);
	minimum_add_up(&minimum);
	begin = (cpu_ns() - begin) / (double)load->nr_events;
	end_pass(cursor);
	free(minimum.of_cpu);
	free(minimum.lines);
	free(minimum.files);
	free(minimum.descriptors);
	return begin;
}

/* Starts the clock at the first switch, after the start state was loaded. */
static void note_begin(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	double *begin = data;

	(void)analysis, (void)event;
	if (!*begin)
		*begin = cpu_ns();
}

/* Asks for the figures of all processes, as a report does, and returns the ns. */
static double ask_for_all(const struct trace_analysis *analysis)
{
	double begin = cpu_ns();

	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		trace_figures_free(trace_process_figures(analysis, trace_get_process(analysis, i)));
	return cpu_ns() - begin;
}

/* Returns the ns to analyse an event, without the time of ask_for_all(). */
static double analyse(const struct trace *trace, uint64_t nr_events, double *ret_ask_ns)
{
	const uint64_t switches[TRACE_MASK_WORDS] = {[TRACE_EV_sched_switch / 64] = 1ull << TRACE_EV_sched_switch % 64};
	struct trace_analysis *analysis = checked(trace_analysis_new(trace, NULL, NULL));
	double begin = 0, ask_ns;

	if (trace_analysis_on_event(analysis, switches, note_begin, &begin) < 0 ||
	    trace_analysis_run(analysis, NULL) < 0) {
		fprintf(stderr, "scaling: the analysis failed\n");
		exit(1);
	}
	ask_ns = ask_for_all(analysis);
	trace_analysis_free(analysis);
	*ret_ask_ns = ask_ns / (double)nr_events;
	return (cpu_ns() - begin - ask_ns) / (double)nr_events;
}

static void measure(const struct load *load, const char *path)
{
	double write_ns = write_trace(load, path), iterate_ns, minimum_ns, analyse_ns, ask_ns;
	struct trace *trace = open_or_exit(path);

	iterate_ns = iterate(trace, load->nr_events);
	minimum_ns = do_the_minimum(trace, load);
	analyse_ns = analyse(trace, load->nr_events, &ask_ns);
	printf("%.4f %.3f %.3f %.3f %.3f %.3f\n", (double)trace_get_info(trace)->file_bytes / (double)load->nr_events,
	       write_ns, iterate_ns, analyse_ns, ask_ns, minimum_ns);
	trace_close(trace);
}

/* ---- a file of a given size ---- */

static void chunk_seal(struct trace_chunk_header *header)
{
	memcpy(header->magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header->header_bytes = sizeof(*header);
	header->checksum = XXH3_64bits(header, offsetof(struct trace_chunk_header, checksum));
}

static struct trace_index_entry *make_entries(uint64_t at, size_t nr, uint32_t trace_id)
{
	struct trace_index_entry *entries = checked(calloc(nr, sizeof(*entries)));

	for (size_t i = 0; i < nr; i++, at += CHUNK_BYTES) {
		struct trace_chunk_header *header = &entries[i].header;

		*header = (struct trace_chunk_header){.kind = TRACE_CHUNK_EVENTS,
						      .encoding = TRACE_ENCODING_COLUMNS,
						      .compression = TRACE_COMPRESSION_ZSTD,
						      .trace_id = trace_id,
						      .stream = i % 2,
						      .cpu = i % 2,
						      .events = CHUNK_EVENTS,
						      .seq = 1 + i / 2,
						      .first_ns = 1000 + i * 5000000,
						      .last_ns = 1000 + i * 5000000 + 9000000,
						      .events_before = i / 2 * CHUNK_EVENTS,
						      .raw_bytes = 4 * CHUNK_BYTES,
						      .packed_bytes = CHUNK_BYTES - sizeof(*header),
						      .ids = {1 << 19}};
		chunk_seal(header);
		entries[i].offset = at;
	}
	return entries;
}

static uint64_t put_chunk(int fd, uint64_t at, uint32_t trace_id, enum trace_chunk_kind kind, const void *payload,
			  size_t bytes)
{
	struct trace_chunk_header header = {.kind = (uint16_t)kind,
					    .trace_id = trace_id,
					    .raw_bytes = (uint32_t)bytes,
					    .packed_bytes = (uint32_t)bytes,
					    .payload_checksum = XXH3_64bits(payload, bytes)};

	chunk_seal(&header);
	if (pwrite(fd, &header, sizeof(header), (off_t)at) < 0 ||
	    pwrite(fd, payload, bytes, (off_t)(at + sizeof(header))) < 0)
		exit(1);
	return at + sizeof(header) + bytes;
}

/* Returns the offset of its end. */
static uint64_t put_table(int fd, uint64_t at, const struct trace_index_entry *entries, size_t nr, uint32_t trace_id)
{
	static struct trace_table_entry table[TRACE_TABLE_ENTRIES];
	struct trace_table_root root = {.offset = at,
					.nr_entries = nr,
					.entry_bytes = sizeof(table[0]),
					.header_bytes = sizeof(struct trace_chunk_header),
					.index_entries = TRACE_INDEX_ENTRIES};

	for (size_t i = 0; i < nr; root.nr_chunks++) {
		size_t in = 0;

		for (; in < TRACE_TABLE_ENTRIES && i < nr; in++, i++) {
			const struct trace_chunk_header *header = &entries[i].header;

			table[in] = (struct trace_table_entry){entries[i].offset,
							       header->seq,
							       header->first_ns,
							       header->last_ns,
							       header->events_before,
							       header->events,
							       header->stream,
							       header->cpu,
							       header->raw_bytes,
							       header->packed_bytes,
							       header->kind,
							       header->encoding,
							       0};
		}
		at = put_chunk(fd, at, trace_id, TRACE_CHUNK_TABLE, table, in * sizeof(table[0]));
	}
	return put_chunk(fd, at, trace_id, TRACE_CHUNK_ROOT, &root, sizeof(root));
}

static void make_file(uint64_t bytes, const char *path)
{
	size_t nr = bytes / CHUNK_BYTES, portion = TRACE_INDEX_ENTRIES;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *writer = checked(trace_writer_new(fd, NULL, NULL)); /* writes header and schema */
	uint64_t begin = (uint64_t)lseek(fd, 0, SEEK_END), at = begin + nr * CHUNK_BYTES;
	struct trace_end_mark mark = {.file_bytes = 0};
	struct trace_index_entry *entries;
	struct trace_file_header head;

	trace_writer_free(writer);
	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		exit(1);
	mark.trace_id = head.trace_id;
	entries = make_entries(begin, nr, head.trace_id);
	at = mark.index_offset = put_table(fd, at, entries, nr, head.trace_id);
	for (size_t i = 0; i < nr; i += portion, mark.nr_index_chunks++)
		at = put_chunk(fd, at, head.trace_id, TRACE_CHUNK_INDEX, &entries[i],
			       (nr - i < portion ? nr - i : portion) * sizeof(*entries));
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = at + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	if (pwrite(fd, &mark, sizeof(mark), (off_t)at) < 0)
		exit(1);
	free(entries);
	close(fd);
}

static void go_to_middle(const struct trace *trace)
{
	const struct trace_info *info = trace_get_info(trace);
	struct trace_cursor_options options = {.size = sizeof(options),
					       .from_ns = info->start_ns + (info->end_ns - info->start_ns) / 2};
	struct trace_cursor *cursor = checked(trace_cursor_new(trace, &options, NULL));

	trace_cursor_next(cursor); /* returns a trace_lost event, because the chunks of this file are holes */
	trace_cursor_free(cursor);
}

static void measure_open(uint64_t bytes, const char *path)
{
	double best = 1e18, best_middle = 1e18;
	size_t nr_chunks = 0;

	make_file(bytes, path);
	for (int i = 0; i < 7; i++) {
		double begin = cpu_ns();
		struct trace *trace = open_or_exit(path);

		best = cpu_ns() - begin < best ? cpu_ns() - begin : best;
		nr_chunks = trace_nr_chunks(trace);
		go_to_middle(trace);
		best_middle = cpu_ns() - begin < best_middle ? cpu_ns() - begin : best_middle;
		trace_close(trace);
	}
	printf("%zu %.3f %.3f\n", nr_chunks, best / 1e6, best_middle / 1e6);
}

/* ---- cold memory ---- */

/*
 * Stores in each object the number of the next one: one ring through all objects, in random
 * order.
 */
static void ring_make(unsigned char *memory, uint32_t *order, uint32_t nr, size_t bytes)
{
	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	for (uint32_t i = nr - 1; i > 0; i--) {
		uint32_t other = (uint32_t)random() % i, swapped = order[i];

		order[i] = order[other];
		order[other] = swapped;
	}
	for (uint32_t i = 0; i < nr; i++)
		*(uint64_t *)(memory + order[i] * bytes) = order[(i + 1) % nr];
}

static double follow_ring(const unsigned char *memory, size_t bytes, uint32_t nr_steps)
{
	double begin = cpu_ns();
	uint64_t at = 0;

	for (uint32_t i = 0; i < nr_steps; i++)
		at = *(const uint64_t *)(memory + at * bytes);
	if (at == UINT64_MAX) /* never true; it keeps the compiler from removing the loop */
		printf(" ");
	return (cpu_ns() - begin) / nr_steps;
}

static double add_in_order(unsigned char *memory, const uint32_t *order, uint32_t nr, size_t bytes, uint32_t nr_steps)
{
	double begin = cpu_ns();

	for (uint32_t i = 0; i < nr_steps; i++) {
		__builtin_prefetch(memory + order[(i + 32) % nr] * bytes, 1);
		((uint64_t *)(memory + order[i % nr] * bytes))[1]++;
	}
	return (cpu_ns() - begin) / nr_steps;
}

/*
 * Adds to each cache line of an object, and prefetches the lines of the object four later, as the
 * analysis does with the next threads of a CPU.
 */
static double add_to_all(unsigned char *memory, const uint32_t *order, uint32_t nr, size_t bytes, uint32_t nr_steps)
{
	double begin = cpu_ns();

	for (uint32_t i = 0; i < nr_steps; i++) {
		unsigned char *object = memory + order[i % nr] * bytes, *later = memory + order[(i + 4) % nr] * bytes;

		for (size_t at = 0; at < bytes; at += 64) {
			__builtin_prefetch(later + at, 1);
			((uint64_t *)(object + at))[1]++;
		}
	}
	return (cpu_ns() - begin) / nr_steps;
}

static void measure_memory(uint32_t nr, size_t bytes)
{
	unsigned char *memory;
	uint32_t *order;
	double dependent = 1e18, early = 1e18, all = 1e18;

	bytes = bytes < 64 ? 64 : (bytes + 63) & ~(size_t)63;
	nr = nr < 2 ? 2 : nr;
	memory = checked(aligned_alloc(LARGE_PAGE, (nr * bytes + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1)));
	madvise(memory, nr * bytes, MADV_HUGEPAGE);
	order = checked(malloc(nr * sizeof(*order)));
	ring_make(memory, order, nr, bytes);
	for (int i = 0; i < 3; i++) {
		double ns = follow_ring(memory, bytes, 2000000),
		       early_ns = add_in_order(memory, order, nr, bytes, 2000000);
		double all_ns = add_to_all(memory, order, nr, bytes, 500000);

		all = all_ns < all ? all_ns : all;
		dependent = ns < dependent ? ns : dependent;
		early = early_ns < early ? early_ns : early;
	}
	printf("%.1f %.1f %.1f\n", dependent, early, all);
	free(order);
	free(memory);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "open"))
		measure_open(strtoull(argv[2], NULL, 10), argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "cold"))
		measure_memory((uint32_t)atoi(argv[2]), strtoull(argv[3], NULL, 10));
	else if (argc == 5 || (argc == 6 && !strcmp(argv[5], "runnable")))
		measure(&(struct load){strtoull(argv[1], NULL, 10), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
				       argc == 6, 0},
			argv[4]);
	else if (argc == 6 && atoi(argv[5]) >= atoi(argv[3]) && atoi(argv[3]) > 0)
		measure(&(struct load){strtoull(argv[1], NULL, 10), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
				       false, (uint32_t)(atoi(argv[5]) / atoi(argv[3]))},
			argv[4]);
	else
		fprintf(stderr, "usage: scaling EVENTS STREAMS THREADS FILE [runnable | FILES] | scaling cold OBJECTS "
				"BYTES | scaling open BYTES FILE\n");
	return argc >= 4 && argc <= 6 ? 0 : 2;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* build_id_reader.c - lists of requests and answers, under a mutex. */
#include "build_id_reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "clock_ns.h"
#include "elf_names.h"
#include "file_envelope.h"
#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "kept_names.h"

#define CPU_SECONDS 20
#define MAX_FILES   1000 /* of one child: its CPU time has a limit */
#define PART_BYTES  32768u
#define NEW_SECONDS 3600 /* a file that was changed since may be deleted or built again */

/**
 * struct reader_job - a request and its answer. @owner: NULL: forgotten
 * @path: of the file; owned; NULL: its names are not wanted
 */
struct reader_job {
	struct reader_job *next;
	const void *owner;
	struct mapped_file file;
	char *path;
	struct build_id_answer answer;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t has_job, has_answer;
	struct reader_job *first, **end; /* requests; owned */
	struct reader_job *answers;	 /* owned */
	struct reader_job *current;
	bool runs;
} reader = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .has_job = PTHREAD_COND_INITIALIZER,
	    .has_answer = PTHREAD_COND_INITIALIZER};

/* ---- the child without rights ---- */

enum id_request { READ_ID, READ_NAMES };

/**
 * struct id_answer - @refusal: errno of jail_enter(). @names_bytes: what READ_NAMES would give
 */
struct id_answer {
	int refusal;
	bool is_known;
	char id[BUILD_ID_CHARS];
	uint64_t names_bytes;
};

/** struct names_part - of READ_NAMES. The last one has no bytes; @is_whole: all were read */
struct names_part {
	uint64_t offset;
	uint32_t bytes;
	uint32_t is_whole;
	unsigned char bits[PART_BYTES];
};

#define PART_HEAD offsetof(struct names_part, bits)

static bool send_part(void *context, uint64_t offset, const void *bits, size_t bytes)
{
	struct names_part part = {.offset = offset};
	const unsigned char *from = bits;

	(void)context;
	for (size_t at = 0; at < bytes; at += part.bytes) {
		part.offset = offset + at;
		part.bytes = bytes - at < PART_BYTES ? (uint32_t)(bytes - at) : PART_BYTES;
		memcpy(part.bits, from + at, part.bytes);
		if (!jail_send(JAIL_SOCKET, &part, PART_HEAD + part.bytes, -1, 0))
			return false;
	}
	return true;
}

static bool send_names(int fd, int refusal)
{
	struct names_part last = {.is_whole = !refusal && elf_names_read(fd, send_part, NULL)};

	return jail_send(JAIL_SOCKET, &last, PART_HEAD, -1, 0);
}

static bool send_id(int fd, int refusal)
{
	struct id_answer answer = {.refusal = refusal};

	if (!refusal)
		answer.is_known = build_id_read(fd, answer.id);
	if (answer.is_known)
		answer.names_bytes = elf_names_bytes(fd);
	return jail_send(JAIL_SOCKET, &answer, sizeof(answer), -1, 0);
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .dies_with_thread = true};
	int refusal = jail_enter(&jail), fd = -1;
	bool is_sent = true;
	char request;

	(void)context;
	while (is_sent && jail_receive(JAIL_SOCKET, &request, sizeof(request), &fd) == sizeof(request) && fd >= 0) {
		fd = file_envelope_open(fd);
		is_sent = request == READ_NAMES ? send_names(fd, refusal) : send_id(fd, refusal);
		close(fd);
	}
	_exit(0);
}

/** struct id_child - zeroed: not started. @nr_files: of the child */
struct id_child {
	struct jail_child child;
	uint32_t nr_files;
};

static int read_id(struct id_child *child, int fd, struct id_answer *ret_answer)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};
	char request = READ_ID;
	ssize_t got = -EPIPE;
	int result;

	if (child->nr_files == MAX_FILES)
		jail_child_stop(&child->child);
	if (!child->child.runs)
		child->nr_files = 0;
	result = jail_child_keep(&role, &child->child);
	if (result)
		return result;
	child->nr_files++;
	if (jail_send(child->child.socket, &request, sizeof(request), fd, MSG_DONTWAIT))
		got = jail_answer(&child->child, ret_answer, sizeof(*ret_answer), NULL, FILE_ANSWER_NS, -1);
	if (got == sizeof(*ret_answer) && !ret_answer->refusal && !ret_answer->id[BUILD_ID_CHARS - 1])
		return 0;
	jail_child_stop(&child->child);
	return got == -ETIMEDOUT ? -ETIMEDOUT : -EBADMSG;
}

/* ---- names of functions ---- */

/*
 * SECURITY: a file of any user may have taken over the child. The budget bounds what it sends, and
 * all of it has the time of one answer.
 */
static bool receive_names(struct id_child *child, struct kept_names *names)
{
	uint64_t until_ns = clock_monotonic_ns() + FILE_ANSWER_NS;
	struct names_part part;

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		ssize_t got = now_ns < until_ns
				      ? jail_answer(&child->child, &part, sizeof(part), NULL, until_ns - now_ns, -1)
				      : -ETIMEDOUT;

		if (got < (ssize_t)PART_HEAD || part.bytes != (size_t)got - PART_HEAD)
			return false;
		if (!part.bytes)
			return part.is_whole;
		if (!kept_names_add(names, part.offset, part.bits, part.bytes))
			return false;
	}
}

/* The file @fd has @bytes of names. NULL: there is no room, or they cannot be read. */
static struct kept_names *read_names(struct id_child *child, int fd, uid_t owner, uint64_t bytes)
{
	struct kept_names *names = kept_names_new(owner, bytes);
	char request = READ_NAMES;

	if (!names)
		return NULL;
	if (jail_send(child->child.socket, &request, sizeof(request), fd, MSG_DONTWAIT) && receive_names(child, names))
		return names;
	jail_child_stop(&child->child); /* it may send more */
	return kept_names_free(names);
}

static bool is_new(const struct stat *status)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return status->st_ctim.tv_sec > now.tv_sec - NEW_SECONDS;
}

/* Has the path of this machine another file, or none? So it is for a file in a container. */
static bool is_elsewhere(struct file_opener *opener, const struct reader_job *job, const struct stat *status)
{
	struct file_place place = {.tgid = job->file.tgid};
	struct stat found;
	int fd;

	if (*job->path != '/' || strlen(job->path) >= sizeof(place.name))
		return true;
	strcpy(place.name, job->path);
	fd = file_opener_open(opener, &place, &found);
	if (fd >= 0)
		close(fd);
	return fd < 0 || found.st_dev != status->st_dev || found.st_ino != status->st_ino;
}

/*
 * At the end of the recording, a file is found by its path or below the root of a running process.
 * The names of a file that may have neither then are kept now.
 */
static void keep_names(struct file_opener *opener, struct id_child *child, struct reader_job *job, int fd,
		       const struct stat *status, uint64_t bytes)
{
	if (!job->path || !bytes || !(status->st_nlink == 0 || is_new(status) || is_elsewhere(opener, job, status)))
		return;
	job->answer.names = read_names(child, fd, status->st_uid, bytes);
	job->answer.has_lost_names = !job->answer.names;
}

/* ---- files that are written over ---- */

static struct file_stamp stamp_of(const struct stat *status)
{
	return (struct file_stamp){.size_bytes = (uint64_t)status->st_size,
				   .changed_s = status->st_ctim.tv_sec,
				   .changed_ns = status->st_ctim.tv_nsec,
				   .modified_s = status->st_mtim.tv_sec,
				   .modified_ns = status->st_mtim.tv_nsec};
}

static bool is_same_stamp(const struct file_stamp *left, const struct file_stamp *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

/* Has the file been written while it was read? Its build id and names may be of two files. */
static bool has_changed(struct file_opener *opener, const struct file_place *place, const struct file_stamp *before)
{
	struct file_stamp now;
	struct stat status;
	int fd = file_opener_open(opener, place, &status);

	if (fd < 0)
		return false; /* the process has unmapped it */
	close(fd);
	now = stamp_of(&status);
	return !is_same_stamp(before, &now);
}

/* ---- the thread ---- */

static struct reader_job *job_free(struct reader_job *job)
{
	kept_names_free(job->answer.names);
	free(job->path);
	free(job);
	return NULL;
}

/* Another process may have that number, if the daemon is in a namespace of its own. */
static void answer_job(struct file_opener *opener, struct id_child *child, struct reader_job *job)
{
	const struct mapped_file *file = &job->file;
	struct file_place place = file_mapping(file->tgid, file->start, file->end);
	struct id_answer answer = {0};
	struct stat status;
	int fd = file_opener_open(opener, &place, &status), result = fd < 0 ? fd : 0;

	job->answer = (struct build_id_answer){
		.dev = file->dev, .generation = file->generation, .ino = file->ino, .ts_ns = file->ts_ns};
	if (fd >= 0)
		job->answer.stamp = stamp_of(&status);
	job->answer.is_same = fd >= 0 && is_same_stamp(&job->answer.stamp, &file->stamp);
	if (fd >= 0 && status.st_ino == file->ino && !job->answer.is_same) {
		result = read_id(child, fd, &answer);
		if (result == -ETIMEDOUT)
			files_note_unanswered(file->tgid);
		if (!result && answer.is_known)
			keep_names(opener, child, job, fd, &status, answer.names_bytes);
		if (!result && answer.is_known && has_changed(opener, &place, &job->answer.stamp)) {
			answer.is_known = false;
			job->answer.names = kept_names_free(job->answer.names);
		}
	}
	if (fd >= 0)
		close(fd);
	job->answer.is_unanswered = result == -ETIMEDOUT || result == -EBUSY;
	job->answer.is_known = !result && answer.is_known;
	if (job->answer.is_known)
		for (size_t i = 0; i < sizeof(answer.id) && answer.id[i]; i++)
			job->answer.id[i] = answer.id[i];
}

static struct reader_job *next_job(void)
{
	struct reader_job *job;

	while (!reader.first)
		pthread_cond_wait(&reader.has_job, &reader.lock);
	job = reader.first;
	reader.first = job->next;
	if (!reader.first)
		reader.end = &reader.first;
	reader.current = job;
	return job;
}

static void *read_all(void *context)
{
	struct file_opener opener = {0};
	struct id_child child = {0};

	pthread_mutex_lock(&reader.lock);
	for (;;) {
		struct reader_job *job = next_job();

		pthread_mutex_unlock(&reader.lock);
		answer_job(&opener, &child, job);
		pthread_mutex_lock(&reader.lock);
		reader.current = NULL;
		if (job->owner) {
			job->next = reader.answers;
			reader.answers = job;
		} else {
			job_free(job);
		}
		pthread_cond_broadcast(&reader.has_answer);
	}
	return context;
}

/* ---- the main thread ---- */

/* The daemon's signals are for its other threads. */
static bool start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int result;

	if (reader.runs)
		return true;
	reader.end = &reader.first;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, &attributes, read_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	reader.runs = !result;
	return reader.runs;
}

bool build_id_reader_ask(const void *owner, const struct mapped_file *file, const char *path)
{
	struct reader_job *job = calloc(1, sizeof(*job));
	bool is_asked;

	if (!job)
		return false;
	*job = (struct reader_job){.owner = owner, .file = *file, .path = path ? strdup(path) : NULL};
	pthread_mutex_lock(&reader.lock);
	is_asked = start_thread();
	if (is_asked) {
		*reader.end = job;
		reader.end = &job->next;
		pthread_cond_signal(&reader.has_job);
	}
	pthread_mutex_unlock(&reader.lock);
	if (!is_asked)
		job_free(job);
	return is_asked;
}

/* Take the first job of @owner out of a list; NULL: none. */
static struct reader_job *unlink_job(struct reader_job **list, const void *owner)
{
	for (struct reader_job **at = list; *at; at = &(*at)->next)
		if ((*at)->owner == owner) {
			struct reader_job *job = *at;

			*at = job->next;
			return job;
		}
	return NULL;
}

bool build_id_reader_take(const void *owner, struct build_id_answer *ret_answer)
{
	struct reader_job *job;

	pthread_mutex_lock(&reader.lock);
	job = unlink_job(&reader.answers, owner);
	pthread_mutex_unlock(&reader.lock);
	if (!job)
		return false;
	*ret_answer = job->answer;
	job->answer.names = NULL;
	job_free(job);
	return true;
}

static bool is_waiting(const void *owner)
{
	if (reader.current && reader.current->owner == owner)
		return true;
	for (const struct reader_job *job = reader.first; job; job = job->next)
		if (job->owner == owner)
			return true;
	return false;
}

size_t build_id_reader_nr_waiting(void)
{
	size_t nr;

	pthread_mutex_lock(&reader.lock);
	nr = reader.current != NULL;
	for (const struct reader_job *job = reader.first; job; job = job->next)
		nr++;
	pthread_mutex_unlock(&reader.lock);
	return nr;
}

bool build_id_reader_wait(const void *owner, uint64_t limit_ns)
{
	uint64_t until_ns = clock_monotonic_ns() + limit_ns;
	struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
	bool waits;

	pthread_mutex_lock(&reader.lock);
	while ((waits = is_waiting(owner)))
		if (pthread_cond_clockwait(&reader.has_answer, &reader.lock, CLOCK_MONOTONIC, &until))
			break;
	pthread_mutex_unlock(&reader.lock);
	return !waits;
}

void build_id_reader_forget(const void *owner)
{
	struct reader_job *job;

	pthread_mutex_lock(&reader.lock);
	while ((job = unlink_job(&reader.answers, owner)) || (job = unlink_job(&reader.first, owner)))
		job_free(job);
	reader.end = &reader.first;
	while (*reader.end)
		reader.end = &(*reader.end)->next;
	if (reader.current && reader.current->owner == owner)
		reader.current->owner = NULL;
	pthread_mutex_unlock(&reader.lock);
}

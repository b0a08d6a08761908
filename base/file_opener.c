/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file_opener.c - both sides of the conversation with the child that opens files. */
#include "file_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file_envelope.h"
#include "file_server.h"
#include "jail.h"
#include "regular.h"

#define CPU_SECONDS 600 /* of one child: most of a long recording */
#define NR_USERS    64
#define PART_BYTES  32768u
#define MAX_SENT    64 /* files in envelopes */

/* ---- users whose file systems did not answer ---- */

static struct {
	pthread_mutex_t lock;
	uint64_t total;
	struct {
		uid_t uid;
		uint32_t times;
	} users[NR_USERS];
	size_t nr_users;
} unanswered = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same_namespace(int fd, const struct stat *own)
{
	struct stat status;

	return fstat(fd, &status) < 0 || (status.st_dev == own->st_dev && status.st_ino == own->st_ino);
}

/* The owner of the outermost user namespace below ours; @otherwise: it is in ours, or unknown. */
static uid_t owner_of_namespace(uint32_t tgid, uid_t otherwise)
{
	struct stat own;
	uid_t uid = otherwise;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/user", tgid);
	fd = stat("/proc/self/ns/user", &own) < 0 ? -1 : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	while (fd >= 0 && !is_same_namespace(fd, &own) && !ioctl(fd, NS_GET_OWNER_UID, &uid)) {
		int parent = ioctl(fd, NS_GET_PARENT);

		close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
	return uid;
}

/* The kernel knows it: this never waits. -1: the process has ended. */
static uid_t user_of(uint32_t tgid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, tgid);
	return stat(path, &status) < 0 ? (uid_t)-1 : owner_of_namespace(tgid, status.st_uid);
}

/* Users without room share the last entry. */
static uint32_t *times_of(uid_t uid)
{
	for (size_t i = 0; i < unanswered.nr_users; i++)
		if (unanswered.users[i].uid == uid)
			return &unanswered.users[i].times;
	return unanswered.nr_users == NR_USERS ? &unanswered.users[NR_USERS - 1].times : NULL;
}

void files_note_unanswered(uint32_t tgid)
{
	uid_t uid = user_of(tgid);
	uint32_t *times;

	pthread_mutex_lock(&unanswered.lock);
	unanswered.total++;
	times = times_of(uid);
	if (!times) {
		unanswered.users[unanswered.nr_users].uid = uid;
		times = &unanswered.users[unanswered.nr_users++].times;
	}
	++*times;
	pthread_mutex_unlock(&unanswered.lock);
}

void files_note_unread(void)
{
	pthread_mutex_lock(&unanswered.lock);
	unanswered.total++;
	pthread_mutex_unlock(&unanswered.lock);
}

/* Returns 0; -ETIMEDOUT, -EBUSY: as file_opener_open(), counted. */
static int check_user(uint32_t tgid)
{
	bool is_crowded = jail_nr_abandoned() >= FILE_MAX_OF_OTHERS;
	int result = 0;

	pthread_mutex_lock(&unanswered.lock);
	if (unanswered.nr_users || is_crowded) {
		uid_t uid = user_of(tgid);
		const uint32_t *times = times_of(uid);

		if (times && *times >= FILE_MAX_UNANSWERED)
			result = -ETIMEDOUT;
		else if (is_crowded && tgid && uid != geteuid())
			result = -EBUSY;
	}
	unanswered.total += result != 0;
	pthread_mutex_unlock(&unanswered.lock);
	return result;
}

bool files_may_ask(uint32_t tgid)
{
	return !check_user(tgid);
}

const char *file_why(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "it does not answer: " FILE_WHY;
	case -EBUSY:
		return "too many processes wait already for file systems that do not answer; end their servers, or "
		       "unmount them with umount -l";
	default:
		return strerror(-err);
	}
}

uint64_t files_unanswered(void)
{
	uint64_t total;

	pthread_mutex_lock(&unanswered.lock);
	total = unanswered.total;
	pthread_mutex_unlock(&unanswered.lock);
	return total;
}

/* ---- the child ---- */

enum file_request { FILE_OPEN, FILE_TEXT, FILE_MEMORY };

/** struct file_question - a request of the caller. @address, @bytes: of FILE_MEMORY */
struct file_question {
	uint32_t request; /* enum file_request */
	uint64_t address, bytes;
	struct file_place place;
};

/** struct file_answer - @err: 0, and the packet has a descriptor; or a negative errno */
struct file_answer {
	int err;
	struct stat status;
};

/** struct file_part - of a text. @err: 0, or a negative errno; then, and with 0 bytes, the last */
struct file_part {
	int64_t err;
	char bytes[PART_BYTES];
};

static int open_below(const struct file_place *place)
{
	int root = open(place->root, O_PATH | O_DIRECTORY | O_CLOEXEC), folder, fd;

	if (root < 0)
		return -errno;
	folder = openat(root, place->folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd = folder < 0 ? -errno : regular_open_at(folder, place->name);
	close(root);
	if (folder >= 0)
		close(folder);
	return fd;
}

/* Files that were sent, with the other ends of their envelopes; the first is the oldest. */
static struct {
	int file, end;
} sent[MAX_SENT];
static size_t nr_sent;

static void close_sent(size_t idx)
{
	close(sent[idx].end);
	close(sent[idx].file);
	nr_sent--;
	memmove(&sent[idx], &sent[idx + 1], (nr_sent - idx) * sizeof(sent[0]));
}

/* The last close() of a file can wait as well, so this process is the last that has it. */
static void close_unused(void)
{
	for (size_t i = nr_sent; i-- > 0;)
		if (file_envelope_is_closed(sent[i].end))
			close_sent(i);
	if (nr_sent == MAX_SENT)
		close_sent(0);
}

static bool send_in_envelope(struct file_answer *answer, int fd)
{
	int envelope = file_envelope_new(fd, &sent[nr_sent].end);
	bool is_sent;

	answer->err = envelope < 0 ? envelope : 0;
	is_sent = jail_send(JAIL_SOCKET, answer, sizeof(*answer), envelope, 0);
	if (envelope >= 0) {
		close(envelope);
		sent[nr_sent++].file = fd;
	} else {
		close(fd);
	}
	return is_sent;
}

static bool answer_open(const struct file_place *place, int refusal)
{
	struct file_answer answer = {0};
	bool is_sent;
	int fd;

	close_unused();
	fd = refusal ? refusal : *place->root ? open_below(place) : regular_open(place->name);
	if (fd < 0 || fstat(fd, &answer.status) < 0)
		answer.err = fd < 0 ? fd : -errno;
	else if (file_is_served(fd))
		return send_in_envelope(&answer, fd);
	is_sent = jail_send(JAIL_SOCKET, &answer, sizeof(answer), answer.err ? -1 : fd, 0);
	if (fd >= 0)
		close(fd);
	return is_sent;
}

static bool answer_text(const struct file_place *place, int refusal)
{
	static struct file_part part;
	int fd = refusal ? refusal : open(place->name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	ssize_t got;

	if (!refusal && fd < 0)
		fd = -errno;
	do {
		got = fd < 0 ? fd : read(fd, part.bytes, sizeof(part.bytes));
		part.err = fd < 0 ? fd : got < 0 ? -errno : 0;
		if (!jail_send(JAIL_SOCKET, &part, offsetof(struct file_part, bytes) + (got > 0 ? (size_t)got : 0), -1,
			       0))
			return false;
	} while (got > 0);
	if (fd >= 0)
		close(fd);
	return true;
}

/* As many packets as @question has parts, until one fails. */
static bool answer_memory(const struct file_question *question, int refusal)
{
	static struct file_part part;

	for (uint64_t at = 0; at < question->bytes && !part.err; at += PART_BYTES) {
		size_t bytes = question->bytes - at < PART_BYTES ? (size_t)(question->bytes - at) : PART_BYTES;
		struct iovec local = {part.bytes, bytes}, remote = {(void *)(uintptr_t)(question->address + at), bytes};
		ssize_t got = refusal ? refusal
				      : process_vm_readv((pid_t)question->place.tgid, &local, 1, &remote, 1, 0);

		part.err = refusal ? refusal : got < 0 ? -errno : got == (ssize_t)bytes ? 0 : -EFAULT;
		if (!jail_send(JAIL_SOCKET, &part, offsetof(struct file_part, bytes) + (part.err ? 0 : bytes), -1, 0))
			return false;
	}
	part.err = 0;
	return true;
}

static bool answer(const struct file_question *question, int refusal)
{
	switch (question->request) {
	case FILE_OPEN:
		return answer_open(&question->place, refusal);
	case FILE_TEXT:
		return answer_text(&question->place, refusal);
	default:
		return answer_memory(question, refusal);
	}
}

static void __attribute__((noreturn)) run_child(void *context)
{
	/* it parses nothing, so it does its work also where the kernel refuses a filter */
	struct jail jail = {
		.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true, .filter_optional = true};
	int refusal = jail_enter(&jail);
	static struct file_question question;

	(void)context;
	while (jail_receive(JAIL_SOCKET, &question, sizeof(question), NULL) == sizeof(question))
		if (!answer(&question, refusal))
			break;
	_exit(0);
}

/* ---- the caller ---- */

int file_opener_unserved(struct file_opener *opener, const char *path, uint32_t tgid, struct stat *ret_status)
{
	struct file_place place = {.tgid = tgid};
	int fd;

	if ((size_t)snprintf(place.name, sizeof(place.name), "%s", path) >= sizeof(place.name))
		return -ENAMETOOLONG;
	fd = file_opener_open(opener, &place, ret_status);
	if (fd < 0 || !file_envelope_is(fd))
		return fd;
	close(fd);
	return -EREMOTE;
}

void file_opener_close(struct file_opener *opener)
{
	jail_child_stop(&opener->child);
}

static int start(struct file_opener *opener)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};

	return jail_child_keep(&role, &opener->child);
}

static bool send_question(struct file_opener *opener, const struct file_question *question)
{
	return jail_send(opener->child.socket, question, sizeof(*question), -1, MSG_DONTWAIT);
}

static ssize_t receive(struct file_opener *opener, void *answer, size_t bytes, int *ret_fd)
{
	return jail_answer(&opener->child, answer, bytes, ret_fd,
			   opener->answer_ns ? opener->answer_ns : FILE_ANSWER_NS,
			   opener->has_stop ? opener->stop_fd : -1);
}

/* The child did not answer, or its answer is impossible. */
static int give_up(struct file_opener *opener, ssize_t got)
{
	file_opener_close(opener);
	return got == -ETIMEDOUT || got == -ECANCELED ? (int)got : -EPIPE;
}

/** struct file_wish - a question, and where the answer goes: a status, or memory */
struct file_wish {
	struct file_question question;
	struct stat *ret_status;
	void *into;
};

static int ask_open(struct file_opener *opener, const struct file_wish *wish)
{
	struct file_answer answer;
	ssize_t got = -EPIPE;
	int fd = -1;

	if (send_question(opener, &wish->question))
		got = receive(opener, &answer, sizeof(answer), &fd);
	if (got != sizeof(answer) || !answer.err != (fd >= 0)) {
		if (fd >= 0)
			close(fd);
		return give_up(opener, got);
	}
	if (!answer.err)
		*wish->ret_status = answer.status;
	return answer.err ? answer.err : fd;
}

/* Returns the bytes of the next part, which may be 0; or a negative errno. */
static ssize_t take_part(struct file_opener *opener, struct file_part *part)
{
	const size_t least = offsetof(struct file_part, bytes);
	ssize_t got = receive(opener, part, sizeof(*part), NULL);

	if (got < (ssize_t)least || part->err > 0 || part->err < -4096)
		return give_up(opener, got);
	return part->err ? (ssize_t)part->err : got - (ssize_t)least;
}

/* Writes the text to the file @fd. */
static int take_text(struct file_opener *opener, int fd)
{
	struct file_part part;
	uint64_t all = 0;
	ssize_t bytes;

	while ((bytes = take_part(opener, &part)) > 0) {
		all += (uint64_t)bytes;
		if (all > FILE_TEXT_BYTES || write(fd, part.bytes, (size_t)bytes) != bytes) {
			file_opener_close(opener);
			return all > FILE_TEXT_BYTES ? -EFBIG : -ENOMEM;
		}
	}
	return (int)bytes;
}

static int ask_text(struct file_opener *opener, const struct file_wish *wish)
{
	int fd = memfd_create("text", MFD_CLOEXEC), result;

	if (fd < 0)
		return -errno;
	result = send_question(opener, &wish->question) ? take_text(opener, fd) : give_up(opener, -EPIPE);
	if (result || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return result ? result : -EIO;
	}
	return fd;
}

static int ask_memory(struct file_opener *opener, const struct file_wish *wish)
{
	struct file_part part;
	size_t bytes;

	if (!send_question(opener, &wish->question))
		return give_up(opener, -EPIPE);
	for (uint64_t at = 0; at < wish->question.bytes; at += bytes) {
		ssize_t got = take_part(opener, &part);

		bytes = wish->question.bytes - at < PART_BYTES ? (size_t)(wish->question.bytes - at) : PART_BYTES;
		if (got < 0)
			return (int)got;
		if (got != (ssize_t)bytes)
			return give_up(opener, -EPIPE);
		memcpy((char *)wish->into + at, part.bytes, bytes);
	}
	return 0;
}

static int ask(struct file_opener *opener, const struct file_wish *wish)
{
	static int (*const asks[])(struct file_opener *, const struct file_wish *) = {
		[FILE_OPEN] = ask_open, [FILE_TEXT] = ask_text, [FILE_MEMORY] = ask_memory};
	uint32_t tgid = wish->question.place.tgid, request = wish->question.request;
	int result = check_user(tgid);

	if (result)
		return result;
	result = start(opener);
	if (!result)
		result = asks[request](opener, wish);
	if (result == -EPIPE) /* the child had used its CPU time */
		result = start(opener) ? -EPIPE : asks[request](opener, wish);
	if (result == -ETIMEDOUT)
		files_note_unanswered(tgid);
	else if (result == -EBUSY)
		files_note_unread();
	return result;
}

int file_opener_open(struct file_opener *opener, const struct file_place *place, struct stat *ret_status)
{
	const struct file_wish wish = {.question = {.request = FILE_OPEN, .place = *place}, .ret_status = ret_status};

	return ask(opener, &wish);
}

FILE *file_opener_text(struct file_opener *opener, uint32_t tgid, const char *name)
{
	struct file_wish wish = {.question = {.request = FILE_TEXT, .place = {.tgid = tgid}}};
	FILE *file;
	int fd;

	snprintf(wish.question.place.name, FILE_NAME_BYTES, "/proc/%" PRIu32 "/%s", tgid, name);
	fd = ask(opener, &wish);
	file = fd < 0 ? NULL : fdopen(fd, "re");
	if (fd >= 0 && !file)
		close(fd);
	if (fd < 0)
		errno = -fd;
	return file;
}

int file_opener_memory(struct file_opener *opener, uint32_t tgid, uint64_t address, void *into, size_t bytes)
{
	const struct file_wish wish = {
		.question = {.request = FILE_MEMORY, .address = address, .bytes = bytes, .place = {.tgid = tgid}},
		.into = into};

	return ask(opener, &wish);
}

struct file_place file_mapping(uint32_t tgid, uint64_t start, uint64_t end)
{
	struct file_place place = {.tgid = tgid};

	snprintf(place.name, sizeof(place.name), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, tgid, start, end);
	return place;
}

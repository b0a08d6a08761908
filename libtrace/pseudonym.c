/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pseudonym.c - names that tell nothing. */
#include "pseudonym.h"
#include "program_title.h"
#include "writer_chunk.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define DELETED	       " (deleted)"
#define PATH_MAX_BYTES 1900 /* with its event it has to fit into a record */

/* struct pseudonym_row - @number: from 1 on */
struct pseudonym_row {
	uint64_t key;
	uint32_t number;
	enum pseudonym_kind kind;
};

static void append(struct pseudonyms *names, struct writer_buffer *out, const char *text, size_t bytes)
{
	if (bytes && !writer_buffer_add(out, text, bytes))
		names->failed = true;
}

static bool is_word_of(const char *const *words, size_t nr, const char *text, size_t bytes)
{
	for (size_t i = 0; i < nr; i++)
		if (strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0)
			return true;
	return false;
}

#define IS_WORD_OF(words, text, bytes) is_word_of(words, sizeof(words) / sizeof((words)[0]), text, bytes)

static size_t span_of(const char *text, size_t bytes, const char *characters)
{
	size_t at = 0;

	while (at < bytes && text[at] && strchr(characters, text[at]))
		at++;
	return at;
}

/* ---- names ---- */

void pseudonym_name(struct pseudonyms *names, enum pseudonym_kind kind, const char *text, size_t bytes,
		    struct writer_buffer *out)
{
	static const char *const words[PSEUDONYM_NR_KINDS] = {"program",  "file",  "folder",	"path", "argument",
							      "text",	  "note",  "interrupt", "disk", "interface",
							      "provider", "event", "field"};
	enum pseudonym_kind space = kind == PSEUDONYM_FILE || kind == PSEUDONYM_FOLDER ? PSEUDONYM_PROGRAM : kind;
	uint64_t key = XXH3_64bits_withSeed(text, bytes, hash_u64(space + 1));
	struct pseudonym_row *row;
	char name[32];

	if (!bytes)
		return;
	row = table_add(&names->names, sizeof(*row), key ? key : 1);
	if (!row) {
		names->failed = true;
		return;
	}
	if (!row->number) {
		row->number = ++names->nr_names[space];
		row->kind = kind;
	}
	append(names, out, name, (size_t)snprintf(name, sizeof(name), "%s-%u", words[row->kind], row->number));
}

/* Names that tell nothing, wherever they are. */
static bool is_well_known(const char *text, size_t bytes)
{
	static const char *const words[] = {".",	  "..",		 "...",
					    "bin",	  "boot",	 "dev",
					    "etc",	  "home",	 "lib",
					    "lib32",	  "lib64",	 "libx32",
					    "media",	  "mnt",	 "opt",
					    "proc",	  "root",	 "run",
					    "sbin",	  "srv",	 "sys",
					    "tmp",	  "usr",	 "var",
					    "local",	  "share",	 "include",
					    "log",	  "cache",	 "spool",
					    "lock",	  "null",	 "zero",
					    "full",	  "random",	 "urandom",
					    "tty",	  "ptmx",	 "pts",
					    "shm",	  "self",	 "task",
					    "fd",	  "maps",	 "stat",
					    "status",	  "exe",	 "cmdline",
					    "environ",	  "comm",	 "meminfo",
					    "cpuinfo",	  "loadavg",	 "uptime",
					    "mounts",	  "fs",		 "cgroup",
					    "kernel",	  "thread-self", "system.slice",
					    "user.slice", "init.scope",	 "x86_64-linux-gnu",
					    "libc.so.6",  "libm.so.6",	 "ld-linux-x86-64.so.2",
					    "ld.so.cache"};

	return IS_WORD_OF(words, text, bytes) || program_is_interpreter(text, bytes);
}

void pseudonym_thread(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	static const char *const words[] = {
		"kworker/",
		"ksoftirqd/",
		"migration/",
		"rcu_preempt",
		"rcu_sched",
		"rcu_gp",
		"rcu_par_gp",
		"rcu_tasks_kthre",
		"rcu_tasks_rude_",
		"rcu_tasks_trace",
		"rcu_exp_gp_kthr",
		"rcu_exp_par_gp_",
		"cpuhp/",
		"kswapd",
		"kcompactd",
		"khugepaged",
		"ksmd",
		"kthreadd",
		"kdevtmpfs",
		"kauditd",
		"khungtaskd",
		"oom_reaper",
		"idle_inject/",
		"pool_workqueue_",
		"swapper/",
		"watchdogd",
		"writeback",
		"iou-wrk-",
		"iou-sqp-",
		"tracedaemon",
		"scsi_eh_",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t begin = strlen(words[i]), end;

		if (bytes < begin || memcmp(text, words[i], begin) != 0)
			continue;
		end = begin + span_of(text + begin, bytes - begin, "0123456789:uHIR");
		if (end == bytes || (i == 0 && text[end] == '-')) { /* after a dash the kernel tells the work */
			append(names, out, text, end);
			return;
		}
	}
	if (is_well_known(text, bytes))
		append(names, out, text, bytes);
	else
		pseudonym_name(names, PSEUDONYM_PROGRAM, text, bytes, out);
}

void pseudonym_device(struct pseudonyms *names, bool of_network, const char *text, size_t bytes,
		      struct writer_buffer *out)
{
	static const char *const disks[] = {"sd",   "vd",  "xvd", "hd",	  "nvme", "mmcblk",
					    "loop", "dm-", "md",  "zram", "sr"},
				 *const interfaces[] = {"lo", "eth"};
	const char *const *words = of_network ? interfaces : disks;
	size_t nr = of_network ? 2 : sizeof(disks) / sizeof(disks[0]);

	for (size_t i = 0; i < nr; i++) {
		size_t begin = strlen(words[i]), letters = of_network ? 0 : i < 4 ? 3 : 0, end;

		if (bytes < begin || memcmp(text, words[i], begin) != 0)
			continue;
		for (end = begin; end < bytes && end < begin + letters && islower((unsigned char)text[end]);)
			end++;
		if (end + span_of(text + end, bytes - end, of_network ? "0123456789" : "0123456789np") == bytes) {
			append(names, out, text, bytes);
			return;
		}
	}
	pseudonym_name(names, of_network ? PSEUDONYM_INTERFACE : PSEUDONYM_DEVICE, text, bytes, out);
}

/* ---- paths ---- */

/* A file without a name: "pipe:[4711]", "anon_inode:[eventpoll]". The kernel has made the text. */
static bool is_nameless(const char *text, size_t bytes)
{
	static const char *const words[] = {"pipe",
					    "socket",
					    "eventfd",
					    "signalfd",
					    "eventpoll",
					    "io_uring",
					    "pidfd",
					    "inotify",
					    "fanotify",
					    "timerfd",
					    "perf_event",
					    "userfaultfd",
					    "bpf-map",
					    "bpf-prog",
					    "bpf-link",
					    "bpf_link",
					    "fscontext",
					    "nsfs",
					    "pidfs",
					    "mnt",
					    "net",
					    "pid",
					    "ipc",
					    "uts",
					    "user",
					    "cgroup",
					    "time",
					    "time_for_children",
					    "pid_for_children",
					    "heap",
					    "stack",
					    "vdso"};
	const size_t prefix = strlen("anon_inode:");
	size_t word;

	if (bytes > prefix && memcmp(text, "anon_inode:", prefix) == 0) {
		text += prefix;
		bytes -= prefix;
	}
	if (bytes && *text == '[') {
		text++;
		bytes--;
	}
	word = span_of(text, bytes, "abcdefghijklmnopqrstuvwxyz_-");
	return IS_WORD_OF(words, text, word) && word + span_of(text + word, bytes - word, "[]:0123456789") == bytes;
}

static void add_component(struct pseudonyms *names, const char *text, size_t bytes, bool is_last, bool after_numbers,
			  struct writer_buffer *out)
{
	if (is_well_known(text, bytes) || (after_numbers && span_of(text, bytes, "0123456789") == bytes))
		append(names, out, text, bytes);
	else
		pseudonym_name(names, is_last ? PSEUDONYM_FILE : PSEUDONYM_FOLDER, text, bytes, out);
}

/* A path that a program gave. */
static void add_path(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	static const char *const numbered[] = {"proc", "pts", "fd", "task"};
	size_t before = out->bytes, deleted = strlen(DELETED);
	const char *end = text + bytes;
	bool is_number = false;

	if (bytes > deleted && memcmp(end - deleted, DELETED, deleted) == 0)
		end -= deleted;
	for (const char *at = text, *stop; at <= end; at = stop + 1) {
		stop = memchr(at, '/', (size_t)(end - at));
		stop = stop ? stop : end;
		add_component(names, at, (size_t)(stop - at), stop == end, is_number, out);
		is_number = IS_WORD_OF(numbered, at, (size_t)(stop - at));
		if (stop < end)
			append(names, out, "/", 1);
	}
	append(names, out, end, (size_t)(text + bytes - end));
	if (out->bytes - before <= PATH_MAX_BYTES)
		return;
	out->bytes = before;
	append(names, out, "/", *text == '/');
	pseudonym_name(names, PSEUDONYM_PATH, text, bytes, out);
}

void pseudonym_path(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	if (is_nameless(text, bytes))
		append(names, out, text, bytes);
	else
		add_path(names, text, bytes, out);
}

/* ---- arguments ---- */

/* A title that a program wrote over its arguments, "postgres: walwriter": its word, and a text. */
static bool add_title(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	const char *colon = memmem(text, bytes, ": ", 2);

	if (!colon || memchr(text, '/', (size_t)(colon - text)))
		return false;
	pseudonym_thread(names, text, (size_t)(colon - text), out);
	append(names, out, ": ", 2);
	pseudonym_name(names, PSEUDONYM_TEXT, colon + 2, (size_t)(text + bytes - colon - 2), out);
	return true;
}

/*
 * Letters of options tell nothing, and they tell which word is the script: docs/GLOSSARY.md,
 * Titles.
 */
static bool is_known_option(const char *text, size_t bytes)
{
	static const char *const words[] = {"-cp",    "-classpath", "--class-path", "-jar",	"--module",
					    "--file", "--require",  "--import",	    "--loader", "--"};

	if (IS_WORD_OF(words, text, bytes))
		return true;
	for (size_t i = 1; i < bytes; i++)
		if (!isalpha((unsigned char)text[i]))
			return false;
	return bytes == 2 || bytes == 3;
}

static void add_argument(struct pseudonyms *names, bool of_interpreter, const char *text, size_t bytes,
			 struct writer_buffer *out)
{
	if (bytes && *text == '-' && is_known_option(text, bytes)) {
		append(names, out, text, bytes);
	} else if (of_interpreter && bytes && *text != '-' && (memchr(text, '/', bytes) || memchr(text, '.', bytes))) {
		add_path(names, text, bytes, out);
	} else {
		append(names, out, "--", bytes && *text == '-' ? 2 : 0);
		pseudonym_name(names, PSEUDONYM_ARGUMENT, text, bytes, out);
	}
}

void pseudonym_arguments(struct pseudonyms *names, const char *text, size_t bytes, char separator,
			 struct writer_buffer *out)
{
	const char *end = text + bytes;
	bool of_interpreter = false;

	for (const char *at = text, *stop, *slash; at <= end; at = stop + 1) {
		stop = memchr(at, separator, (size_t)(end - at));
		stop = stop ? stop : end;
		if (at != text) {
			add_argument(names, of_interpreter, at, (size_t)(stop - at), out);
		} else if (!add_title(names, at, (size_t)(stop - at), out)) {
			add_path(names, at, (size_t)(stop - at), out);
			slash = memrchr(at, '/', (size_t)(stop - at));
			slash = slash ? slash + 1 : at;
			of_interpreter = program_is_interpreter(slash, (size_t)(stop - slash));
		}
		if (stop < end)
			append(names, out, &separator, 1);
	}
}

/* ---- numbers ---- */

void pseudonym_address(struct pseudonyms *names, unsigned char address[16])
{
	static const unsigned char v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, none[16],
				   one[16] = {[15] = 1};
	bool is_v4 = memcmp(address, v4_mapped, sizeof(v4_mapped)) == 0;
	uint64_t key = XXH3_64bits_withSeed(address, 16, hash_factor);
	struct pseudonym_row *row;
	uint32_t number;

	if (memcmp(address, none, 16) == 0 || memcmp(address, one, 16) == 0 ||
	    (is_v4 && (address[12] == 127 || memcmp(address + 12, none, 4) == 0)))
		return;
	row = table_add(&names->addresses, sizeof(*row), key ? key : 1);
	if (!row) {
		names->failed = true;
		memset(address, 0, 16);
		return;
	}
	if (!row->number)
		row->number = ++*(is_v4 ? &names->nr_v4 : &names->nr_v6);
	/*
	 * 198.18.0.0/15 is for measurements, 2001:db8::/32 for documents; 240.0.0.0/4 is not used
	 */
	number = !is_v4 ? row->number : row->number < 1u << 17 ? 0xc6120000u + row->number : 0xf0000000u + row->number;
	if (!is_v4)
		memcpy(address, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0", 12);
	for (int i = 0; i < 4; i++)
		address[12 + i] = (unsigned char)(number >> (24 - 8 * i));
}

uint32_t pseudonym_user(struct pseudonyms *names, uint32_t id)
{
	struct pseudonym_row *row;

	if (!id || id == 65534 || id == UINT32_MAX) /* root, the overflow user, no user */
		return id;
	row = table_add(&names->users, sizeof(*row), id);
	if (!row) {
		names->failed = true;
		return 0;
	}
	if (!row->number)
		row->number = ++names->nr_users;
	return 1000 + row->number;
}

void pseudonyms_release(struct pseudonyms *names)
{
	table_clear(&names->names);
	table_clear(&names->addresses);
	table_clear(&names->users);
}

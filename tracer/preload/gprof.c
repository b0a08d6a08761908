/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof.c - libtracer-gprof.so: writes gmon.out of a program as it is, when it ends (LD_PRELOAD)
 *
 *   gmon.out            calls within the program, and samples of its code: gprof PROGRAM gmon.out
 *   gmon.out.process    all objects, if there are calls that gmon.out cannot have:
 *   gmon.out.syms       gprof -S gmon.out.syms /bin/true gmon.out.process
 *   gmon.out.contexts   with TRACER_GPROF=times in the environment: the times of each context
 *
 * As with the C library, GMON_OUT_PREFIX=NAME in the environment makes it NAME.PID. A child of
 * fork() begins with no counts, and writes gmon.out.PID.
 *
 * A program that was built with -pg contains code that calls the C library's functions for its
 * profile, when it begins and ends. Here they are ours, so that the C library counts nothing.
 */
#include "gprof.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/profil.h>
#include <unistd.h>
#include "gmon_records.h"
#include "gprof_contexts.h"
#include "gprof_names.h"
#include "gprof_profile.h"
#include "gprof_sites.h"
#include "gprof_times.h"
#include "next.h"
#include "whole_file.h"

#define SCALE	       0x10000u
#define MAX_NAME_CHARS 256

static struct gprof_region *regions; /* owned; of the objects at the start */
static size_t nr_regions;
static bool is_child, has_times, has_left_out;

/* ---- what tracectl gprof reads from outside ---- */

static struct gprof_region program_samples; /* one of regions */
static struct gprof_code program_code;
static uint64_t sample_period_ns;

extern const struct gprof_root gprof_root;
__attribute__((used, visibility("hidden"), aligned(16))) const struct gprof_root gprof_root = {
	.name = GPROF_ROOT,
	.threads = &gprof_threads,
	.samples = &program_samples,
	.program = &program_code,
	.period_ns = &sample_period_ns,
	.lost = &gprof_lost,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the functions that programs call */

static void complain(const char *what, int err)
{
	fprintf(stderr, "libtracer-gprof: %s%s%s\n", what, err ? ": " : "", err ? strerror(-err) : "");
}

/* ---- samples ---- */

static uint64_t period_of_samples(void)
{
	struct trace_profil_status status;

	trace_profil_status(&status, sizeof(status));
	return status.period_ns ? status.period_ns : TRACE_PROFIL_FAST_NS;
}

static void samples_begin(void)
{
	struct trace_prof *wanted;
	int err;

	if (!nr_regions)
		return;
	wanted = calloc(nr_regions, sizeof(*wanted));
	err = wanted ? 0 : -ENOMEM;
	for (size_t i = 0; wanted && i < nr_regions; i++)
		wanted[i] = (struct trace_prof){.pr_base = regions[i].cells,
						.pr_size = regions[i].nr_cells * GPROF_CELL_BYTES,
						.pr_off = regions[i].from,
						.pr_scale = SCALE};
	if (!err)
		err = trace_sprofil(wanted, (int)nr_regions, NULL, TRACE_PROF_UINT | TRACE_PROF_FAST);
	free(wanted);
	if (err)
		complain("calls are counted, but there are no samples", err);
	sample_period_ns = period_of_samples();
}

static void samples_end(void)
{
	if (nr_regions)
		trace_sprofil(NULL, 0, NULL, 0);
}

static int add_region(const struct gprof_object *object)
{
	struct gprof_region region = {.from = object->code.begin & ~(uintptr_t)(GPROF_CELL_BYTES - 1)};
	struct gprof_region *bigger = reallocarray(regions, nr_regions + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	regions = bigger;
	region.nr_cells = (object->code.end - region.from + GPROF_CELL_BYTES - 1) / GPROF_CELL_BYTES;
	region.to = region.from + region.nr_cells * GPROF_CELL_BYTES;
	region.cells = calloc(region.nr_cells, GPROF_CELL_BYTES);
	if (!region.cells)
		return -ENOMEM;
	regions[nr_regions++] = region;
	if (object->is_program)
		program_samples = region;
	return 0;
}

static int add_regions(void)
{
	struct gprof_names names;
	int err = gprof_objects_find(&names);

	for (size_t i = 0; !err && i < names.nr_objects; i++) {
		if (names.objects[i].is_program)
			program_code = names.objects[i].code;
		err = add_region(&names.objects[i]);
	}
	gprof_names_free(&names);
	return err;
}

/* ---- is the program instrumented? ---- */

/** struct gprof_dynamic - what the loader knows about an object */
struct gprof_dynamic {
	const ElfW(Sym) * symbols;
	const char *texts;
	const ElfW(Rela) * relocations[2];
	size_t bytes[2];
};

static const void *address_of(const struct dl_phdr_info *info, uintptr_t value)
{
	/* The loader has added the bias for itself, but not in the vdso. */
	return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, struct gprof_dynamic *ret)
{
	*ret = (struct gprof_dynamic){0};
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *at = address_of(info, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			ret->symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			ret->texts = at;
		else if (entry->d_tag == DT_RELA)
			ret->relocations[0] = at;
		else if (entry->d_tag == DT_JMPREL)
			ret->relocations[1] = at;
		else if (entry->d_tag == DT_RELASZ)
			ret->bytes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTRELSZ)
			ret->bytes[1] = entry->d_un.d_val;
	}
}

static bool calls_us(const char *name)
{
	static const char *const ours[] = {"mcount", "_mcount", "__fentry__", "__cyg_profile_func_enter"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(name, ours[i]))
			return true;
	return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct gprof_dynamic dynamic = {0};

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(info, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &dynamic);
	for (int table = 0; dynamic.symbols && dynamic.texts && table < 2; table++)
		for (size_t i = 0; dynamic.relocations[table] && i < dynamic.bytes[table] / sizeof(ElfW(Rela)); i++) {
			size_t idx = ELF64_R_SYM(dynamic.relocations[table][i].r_info);

			if (idx && dynamic.symbols[idx].st_shndx == SHN_UNDEF &&
			    calls_us(dynamic.texts + dynamic.symbols[idx].st_name))
				return 1;
		}
	return 0;
}

/* ---- files ---- */

static const struct gprof_region *region_of(const struct gprof_object *object)
{
	for (size_t i = 0; i < nr_regions; i++)
		if (regions[i].from <= object->code.begin && object->code.end <= regions[i].to)
			return &regions[i];
	return NULL;
}

static const struct gprof_object *program_of(const struct gprof_names *names)
{
	for (size_t i = 0; i < names->nr_objects; i++)
		if (names->objects[i].is_program)
			return &names->objects[i];
	return NULL;
}

/* main() and constructors are called from outside, once. */
static bool needs_process(const struct gprof_arcs *arcs, const struct gprof_names *names)
{
	const struct gprof_object *object = program_of(names);
	const struct gprof_code *program = object ? &object->code : NULL;

	for (size_t i = 0; i < arcs->nr; i++)
		if (!gprof_is_in(program, arcs->arcs[i].self) ||
		    (!gprof_is_in(program, arcs->arcs[i].from) && arcs->arcs[i].count > 1))
			return true;
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* gprof reads a name up to its first blank, and takes what follows a function for a part of it. */
static void put_names(FILE *list, const struct gprof_names *names)
{
	uintptr_t end = 0;

	for (size_t i = 0; i < names->nr; i++) {
		const struct gprof_function *function = &names->functions[i];
		const struct gprof_object *object = gprof_object_at(names, end);

		if (function->begin < end)
			continue;
		if (end && function->begin > end)
			fprintf(list, "%016" PRIxPTR " T (%s)\n", end, object ? base_of(object->path) : "unknown");
		fprintf(list, "%016" PRIxPTR " T %.*s\n", function->begin, (int)strcspn(function->name, " "),
			function->name);
		end = function->end;
	}
	if (end)
		fprintf(list, "%016" PRIxPTR " T (unknown)\n", end);
}

static int put_process(FILE *file, FILE *list, const struct gprof_arcs *arcs, const struct gprof_names *names,
		       uint64_t period_ns)
{
	int err = 0;

	gmon_put_head(file);
	for (size_t i = 0; !err && i < nr_regions; i++) {
		size_t first = 0, last = regions[i].nr_cells;

		while (first < last && !regions[i].cells[first])
			first++;
		while (first < last && !regions[i].cells[last - 1])
			last--;
		if (first == last && i == 0) /* without any histogram gprof would divide by 0 */
			first--;
		if (first < last)
			err = gprof_put_samples(file, &regions[i], first, last - first, 0, period_ns);
	}
	for (size_t i = 0; i < arcs->nr; i++)
		gmon_put_arc(file, arcs->arcs[i].from, arcs->arcs[i].self, arcs->arcs[i].count);
	put_names(list, names);
	return err;
}

/* In the order in which they get their names, the one of the program last. */
enum gprof_file { FILE_CONTEXTS, FILE_NAMES, FILE_PROCESS, FILE_PROGRAM, NR_FILES };

static const char *const endings[NR_FILES] = {
	[FILE_CONTEXTS] = ".contexts", [FILE_NAMES] = ".syms", [FILE_PROCESS] = ".process", [FILE_PROGRAM] = ""};

static void set_path(char *path, size_t size, enum gprof_file file)
{
	const char *prefix = getenv("GMON_OUT_PREFIX");
	char number[32] = "";
	bool is_chosen = prefix && *prefix;

	if (is_chosen || is_child)
		snprintf(number, sizeof(number), ".%d", (int)getpid());
	snprintf(path, size, "%s%s%s", is_chosen ? prefix : "gmon.out", number, endings[file]);
}

static int write_open_files(FILE *const *out, const struct gprof_arcs *arcs, const struct gprof_names *names)
{
	uint64_t period_ns = period_of_samples();
	const struct gprof_object *program = program_of(names);
	int err = gprof_put_program(out[FILE_PROGRAM], arcs, program ? &program->code : NULL,
				    program ? region_of(program) : NULL, period_ns);

	if (!err && out[FILE_PROCESS])
		err = put_process(out[FILE_PROCESS], out[FILE_NAMES], arcs, names, period_ns);
	if (!err && out[FILE_CONTEXTS])
		err = gprof_contexts_put(out[FILE_CONTEXTS], names);
	return err;
}

/* A program built with -pg writes in its atexit(), and this library once more at the end. */
static void tell_not_written(int err, const char *path)
{
	static int told;

	if (err && err != told)
		fprintf(stderr, "libtracer-gprof: %s cannot be written: %s\n", path, strerror(-err));
	told = err;
}

static int write_files(const struct gprof_arcs *arcs, struct gprof_names *names)
{
	bool has_process = needs_process(arcs, names);
	const bool is_wanted[NR_FILES] = {[FILE_CONTEXTS] = has_times,
					  [FILE_NAMES] = has_process,
					  [FILE_PROCESS] = has_process,
					  [FILE_PROGRAM] = true};
	char paths[NR_FILES][PATH_MAX];
	const char *wanted[NR_FILES];
	struct whole_file files[NR_FILES];
	FILE *out[NR_FILES] = {NULL};
	size_t nr = 0, idx = 0, opened = 0;
	int err = has_process || has_times ? gprof_names_read(names) : 0;

	for (int i = 0; i < NR_FILES; i++) {
		if (!is_wanted[i])
			continue;
		set_path(paths[i], sizeof(paths[i]), (enum gprof_file)i);
		wanted[nr++] = paths[i];
	}
	if (!err)
		err = whole_files_open(files, wanted, nr, &idx);
	if (!err) {
		for (int i = 0; i < NR_FILES; i++)
			out[i] = is_wanted[i] ? files[opened++].out : NULL;
		err = write_open_files(out, arcs, names);
		err = whole_files_close(files, nr, err, &idx);
	}
	tell_not_written(err, wanted[idx]);
	return err;
}

/* Some sentences are only for the command, not for all the programs that it starts. */
static bool is_command(void)
{
	const char *parent = getenv("TRACER_GPROF_PARENT");

	return !is_child && (!parent || atol(parent) == (long)getppid());
}

static void tell_no_calls(void)
{
	if (is_command() && !has_left_out)
		fprintf(stderr,
			"libtracer-gprof: %s called no instrumented function: compile it with -pg, -pg -mfentry, "
			"-finstrument-functions or -fpatchable-function-entry=5\n",
			program_invocation_name);
}

/* The caller has lock. */
static void write_what_is(void)
{
	struct gprof_names names = {0};
	struct gprof_arcs arcs = {0};
	int err;

	gprof_each_arc(gprof_arcs_add, &arcs);
	err = gprof_arcs_end(&arcs);
	gprof_times_now();
	if (!err)
		err = gprof_objects_find(&names);
	if (err)
		complain("gmon.out is not written", err);
	else if (arcs.nr)
		write_files(&arcs, &names);
	else
		tell_no_calls();
	if (gprof_lost)
		fprintf(stderr, "libtracer-gprof: %" PRIu64 " calls are not counted: there was no memory\n",
			gprof_lost);
	free(arcs.arcs);
	gprof_names_free(&names);
}

/* ---- begin, fork() and end ---- */

static void after_fork_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
	gprof_forget();
	is_child = true;
	for (size_t i = 0; i < nr_regions; i++)
		memset(regions[i].cells, 0, regions[i].nr_cells * GPROF_CELL_BYTES);
}

static void times_begin(void)
{
	const char *wanted = getenv("TRACER_GPROF");
	int err;

	if (!wanted || strcmp(wanted, "times") != 0)
		return;
	err = gprof_times_begin();
	if (err) {
		complain("calls are counted, but there are no times", err);
		return;
	}
	has_times = true;
	gprof_mode = GPROF_TIMES;
}

static void tell_left_out(const size_t left_out[NR_LEFT_OUT])
{
	static const char *const reasons[NR_LEFT_OUT] = {
		[LEFT_OUT_PROCESSOR] = "this is only possible on x86-64",
		[LEFT_OUT_START] = "compile them without -fno-asynchronous-unwind-tables",
		[LEFT_OUT_ROOM] = "they have no room for a call: -fpatchable-function-entry=5",
		[LEFT_OUT_THREADS] = "threads ran before the profile could begin",
		[LEFT_OUT_FAR] = "no memory near them is free",
	};

	for (int i = 0; i < NR_LEFT_OUT && is_command(); i++) {
		if (!left_out[i])
			continue;
		has_left_out = true;
		fprintf(stderr, "libtracer-gprof: %zu functions with -fpatchable-function-entry are not counted: %s\n",
			left_out[i], reasons[i]);
	}
}

/* Are there functions with -fpatchable-function-entry? */
static bool sites_begin(void)
{
	size_t left_out[NR_LEFT_OUT] = {0};
	long nr = gprof_sites_begin(left_out);

	tell_left_out(left_out);
	if (nr < 0 && is_command())
		complain("functions with -fpatchable-function-entry are not counted", (int)nr);
	return nr > 0;
}

static __attribute__((constructor)) void begin(void)
{
	bool is_patched;

	gprof_threads_begin();
	times_begin();
	pthread_atfork(NULL, NULL, after_fork_in_child);
	is_patched = sites_begin();
	if (!is_patched && !dl_iterate_phdr(look_at_object, NULL))
		return;
	if (add_regions())
		complain("calls are counted, but there are no samples", -ENOMEM);
	samples_begin();
}

static __attribute__((destructor)) void end(void)
{
	pthread_mutex_lock(&lock);
	samples_end();
	write_what_is();
	pthread_mutex_unlock(&lock);
}

/* ---- what programs call ---- */

PRELOAD_EXPORT void __monstartup(unsigned long low, unsigned long high);
PRELOAD_EXPORT void monstartup(unsigned long low, unsigned long high);
PRELOAD_EXPORT void _mcleanup(void);
PRELOAD_EXPORT int moncontrol(int mode);

PRELOAD_EXPORT void __monstartup(unsigned long low, unsigned long high)
{
}

PRELOAD_EXPORT void monstartup(unsigned long low, unsigned long high)
{
}

/* A program that calls it itself wants the file now. Later samples have no time of the writing. */
PRELOAD_EXPORT void _mcleanup(void)
{
	pthread_mutex_lock(&lock);
	samples_end();
	write_what_is();
	if (gprof_mode != GPROF_PAUSED)
		samples_begin();
	pthread_mutex_unlock(&lock);
}

PRELOAD_EXPORT int moncontrol(int mode)
{
	unsigned char wanted = !mode ? GPROF_PAUSED : has_times ? GPROF_TIMES : GPROF_COUNTS;

	pthread_mutex_lock(&lock);
	if (gprof_mode != wanted && mode)
		samples_begin();
	else if (gprof_mode != wanted)
		samples_end();
	if (gprof_mode != wanted)
		gprof_sites_switch(mode != 0); /* else they continue to ask gprof_mode */
	gprof_mode = wanted;
	pthread_mutex_unlock(&lock);
	return 0;
}

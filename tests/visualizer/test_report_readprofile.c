/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_readprofile.c - --profile=readprofile: the hits of the kernel's functions, and what
 * the real readprofile shows of the file that it writes
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "builder.h"
#include "sample_case.h"
#include "unit.h"

#define CODE	0xffffffff81000000ull
#define F	(CODE + 0x100)
#define G	(CODE + 0x203) /* begins where no step of 2 bytes does */
#define LAST	(CODE + 0xf00)
#define MODULE	0xffffffffc0000000ull
#define PROGRAM 0xffffffffc0100000ull
#define RUN	TRACE_BIN "/tracevisualizer --profile=readprofile "

static char folder[] = "/tmp/test_report_readprofile_XXXXXX";

static void add_names(struct tb *tb)
{
	static const char *const names[] = {"ffffffff81000100 256 f",
					    "ffffffff81000203 61 g",
					    "ffffffffc0000000 128 ext4_sync_file [ext4]",
					    "ffffffffc0100000 64 bpf_prog_1_sched_switch [bpf:tracedaemon]",
					    "ffffffff81000000 0 _stext",
					    "ffffffff81001000 0 _etext"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		tb_string(tb, TRACE_STRING_KERNEL_CODE, i, names[i]);
}

/** struct place - so many samples at an address */
struct place {
	uint64_t ip;
	unsigned int nr;
};

static uint64_t add_samples(struct tb *tb, uint64_t at_ns, const struct place *places, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		for (unsigned int k = 0; k < places[i].nr; k++, at_ns += 10)
			add_sample(tb, 0, at_ns, 10, places[i].ip, NULL);
	return at_ns;
}

#define NR_PLACES 8
/* 0x400000 is in a program; the first and the last byte of f are f's. */
static const struct place places[NR_PLACES] = {{F, 3},	    {F + 255, 2}, {G, 1},    {G + 60, 1},
					       {MODULE, 4}, {PROGRAM, 2}, {LAST, 1}, {0x400000, 5}};

static struct tb *sampled(void)
{
	struct tb *tb = tb_new();
	const struct lists wait = {.source = 1};

	add_names(tb);
	tb_switch(tb, 0, 1000, 0, 10, 0);
	add_samples(tb, 2000, places, NR_PLACES);
	add_sample(tb, 0, 5000, 10, F + 1, &wait);
	tb_switch(tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void write_trace(struct tb *tb)
{
	FILE *file = fopen("t.trace", "w");

	tb_write(tb, fileno(file), true);
	fclose(file);
	tb_free(tb);
}

/* The output of @command with its errors; the caller frees it. */
static char *output_of(const char *command, int *ret_status)
{
	char line[1024], *text = calloc(1, 65536);
	FILE *pipe;

	snprintf(line, sizeof(line), "{ %s; } 2>&1", command);
	pipe = popen(line, "r");
	text[fread(text, 1, 65535, pipe)] = '\0';
	*ret_status = WEXITSTATUS(pclose(pipe));
	return text;
}

/* @wanted: NULL: only the status counts */
static void says(const char *command, int wanted_status, const char *wanted)
{
	int status;
	char *text = output_of(command, &status);

	CU_ASSERT_EQUAL(status, wanted_status);
	if (wanted && strcmp(text, wanted) != 0) {
		printf("%s\nsays:\n%swanted:\n%s", command, text, wanted);
		CU_FAIL("another output");
	}
	free(text);
}

/* One line that has @wanted. */
static void refuses(const char *command, int wanted_status, const char *wanted)
{
	int status;
	char *text = output_of(command, &status);

	CU_ASSERT_EQUAL(status, wanted_status);
	CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
	if (!strstr(text, wanted)) {
		printf("%s\nsays: %s", command, text);
		CU_FAIL("another refusal");
	}
	free(text);
}

static void hits_are_counted_by_function(void)
{
	write_trace(sampled());
	says(RUN "t.trace", 0,
	     "     5 f                                          0.0195\n"
	     "     2 g                                          0.0328\n"
	     "     4 ext4_sync_file [ext4]                      0.0312\n"
	     "     2 bpf_prog_1_sched_switch [bpf:tracedaemon]   0.0312\n"
	     "     1 *unknown*\n"
	     "    13 total                                      0.0030\n");
}

static void options_are_those_of_readprofile(void)
{
	write_trace(sampled());
	says(RUN "-i t.trace", 0, "Sampling_step: 1\n");
	says(RUN "-v t.trace | head -1", 0,
	     "ffffffff81000100 f                                             5   0.0195\n");
	says(RUN "-b t.trace | head -4", 0, "f:\n\tffffffff81000100\t3\n\tffffffff810001ff\t2\n  total\t\t\t\t5\n");
	says(RUN "-s t.trace | head -3", 0,
	     "     5 f                                          0.0195\n"
	     "\t0xffffffff81000100\tf+0\t3\n\t0xffffffff810001ff\tf+0xff\t2\n");
	says(RUN "--from=1.05us t.trace | head -1", 0, "     2 g                                          0.0328\n");
	says(RUN "-h | head -1", 0, "Usage: tracevisualizer --profile=readprofile [OPTION...] TRACE\n");
	says(RUN "-V | cut -c1-16", 0, "tracevisualizer \n");
}

static void a_map_has_all_functions(void)
{
	FILE *map = fopen("System.map", "w");

	/* a kernel that was moved at its start: the map does not know by how much */
	fputs("0000000000000000 A fixed\nffffffff80000000 T _stext\nffffffff80000000 T first\nffffffff80000100 t f\n"
	      "ffffffff80000200 t hole\nffffffff80000203 t g\nffffffff80000240 t h\nffffffff80000f00 t last\n"
	      "ffffffff80001000 T _etext\nffffffff80002000 d data\n",
	      map);
	fclose(map);
	write_trace(sampled());
	says(RUN "-m System.map -a t.trace | head -6 | cut -c1-20", 0,
	     "     0 _stext       \n     5 f            \n     0 hole         \n     2 g            \n"
	     "     0 h            \n     1 last         \n");
	says("sed 's/ g$/ other/' System.map >other.map; " RUN "-m other.map t.trace", 1,
	     "tracevisualizer: other.map: the map is of another kernel than the trace\n");
	refuses(RUN "-a t.trace", 1, "give its System.map with -m");
	refuses("sed 's/^f[^ ]*/0000000000000000/' System.map >hidden.map; " RUN "-m hidden.map t.trace", 1,
		"kernel.kptr_restrict");
}

static void a_disk_that_is_full_leaves_the_old_files(void)
{
	struct stat status;

	write_trace(sampled());
	free(output_of("echo old >old.bin; echo old >old.bin.map", &(int){0}));
	for (int blocks = 0; blocks < 2; blocks++) /* the map has 300 bytes */
		refuses(blocks ? "(trap '' XFSZ; ulimit -f 1; exec " RUN "--write=old.bin t.trace)"
			       : "(trap '' XFSZ; ulimit -f 0; exec " RUN "--write=old.bin t.trace)",
			1, "old.bin cannot be written");
	CU_ASSERT(stat("old.bin", &status) == 0 && status.st_size == 4);
	CU_ASSERT(stat("old.bin.map", &status) == 0 && status.st_size == 4);
}

static void the_real_one_reads_the_file(void)
{
	struct stat status;
	int found;

	write_trace(sampled());
	says(RUN "--write=p.bin t.trace", 0,
	     "tracevisualizer: 6 hits are in modules and BPF programs: that file has them as *unknown*\n"
	     "tracevisualizer: next: readprofile -p p.bin -m p.bin.map\n");
	CU_ASSERT(stat("p.bin", &status) == 0 && status.st_size == 4 * (0x1000 + 1));
	free(output_of("PATH=$PATH:/usr/sbin command -v readprofile", &found));
	if (found)
		return; /* it is not everywhere */
	says("PATH=$PATH:/usr/sbin readprofile -p p.bin -m p.bin.map", 0,
	     "     5 f                                          0.0195\n"
	     "     2 g                                          0.0328\n"
	     "     1 (others)                                   0.0003\n"
	     "     6 *unknown*\n"
	     "     8 total                                      0.0020\n");
	/* and ours reads it like that */
	says(RUN "-p p.bin -m p.bin.map | head -4", 0,
	     "     5 f                                          0.0195\n"
	     "     2 g                                          0.0328\n"
	     "     1 (others)                                   0.0003\n"
	     "     6 *unknown*\n");
}

/* As a kernel with another order of bytes writes it, with steps of 16 bytes, in one of which a
 * function begins. */
static void a_copy_of_proc_profile_is_read(void)
{
	static const unsigned char step[4] = {0, 0, 0, 16}, three[4] = {0, 0, 0, 3}, none[4];
	FILE *file = fopen("swapped.bin", "w"), *map = fopen("small.map", "w");

	fwrite(step, 4, 1, file);
	for (unsigned int i = 0; i < 16; i++)
		fwrite(i == 2 || i == 4 || i == 15 ? three : none, 4, 1, file);
	fclose(file);
	fputs("ffffffff81000000 T _stext\nffffffff81000028 t one\nffffffff81000040 t two\nffffffff81000080 t three\n"
	      "ffffffff81000100 T _etext\n",
	      map);
	fclose(map);
	says(RUN "-p swapped.bin -m small.map", 0,
	     "     3 one                                        0.1250\n"
	     "     3 two                                        0.0469\n     3 *unknown*\n"
	     "     6 total                                      0.0234\n");
	says(RUN "-i -p swapped.bin -m small.map", 0, "Sampling_step: 16\n");
	refuses(RUN "-n -p swapped.bin -m small.map", 1, "no copy of /proc/profile");
	refuses("head -c 40 swapped.bin >short.bin; " RUN "-p short.bin -m small.map", 1, "of another kernel");
	refuses(RUN "-p nothing -m small.map", 1, "No such file");
	refuses(RUN "-p swapped.bin -m swapped.bin", 1, "it has no functions");
}

static void samples_count_from_the_last_reset(void)
{
	const struct place before = {F, 7}, after = {G, 2};
	struct tb *tb = tb_new();

	add_names(tb);
	add_samples(tb, 1000, &before, 1);
	tb_event(tb, 0, 2000, TRACE_EV_trace_mark, NULL, 0, "profile reset");
	add_samples(tb, 3000, &after, 1);
	tb_event(tb, 0, 4000, TRACE_EV_trace_mark, NULL, 0, "another mark");
	write_trace(tb);
	says(RUN "t.trace 2>&1 | head -2", 0,
	     "tracevisualizer: samples before the last \"profile reset\" do not count\n"
	     "     2 g                                          0.0328\n");
	refuses(RUN "--to=500ns t.trace | head -1", 0, "     7 f ");
}

static void what_is_wrong_is_said_in_one_line(void)
{
	struct tb *tb = tb_new();

	tb_switch(tb, 0, 1000, 0, 10, 0);
	tb_switch(tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	write_trace(tb);
	refuses(RUN "t.trace", 1, "the trace has no samples: tracedaemon --sample");
	refuses(RUN "", 2, "no trace given");
	refuses(RUN "t.trace u.trace", 2, "one too many");
	refuses(RUN "nothing.trace", 1, "nothing.trace");
	refuses(RUN "-x t.trace", 2, "-x");
	refuses(RUN "-p f t.trace", 2, "leave out the trace");
	refuses(RUN "-r t.trace", 2, "running recorder");
	refuses(RUN "-M 0", 2, "is not a number from 1 to 100");
	refuses(RUN "-n t.trace", 2, "-n is for -p");
	refuses(RUN "--control=x t.trace", 2, "--control is for -r and -M");
	refuses(RUN "-r --control=nowhere", 1, "nowhere");
	refuses(TRACE_BIN "/tracevisualizer --prof=readprofile t.trace", 2, "write --profile=readprofile");
	write_trace(sampled());
	refuses(RUN "--write=t.trace t.trace", 1, "is a trace and is not replaced");
	refuses(RUN "--write=no/where t.trace", 1, "cannot be written");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {CASE(hits_are_counted_by_function),
						 CASE(options_are_those_of_readprofile),
						 CASE(a_map_has_all_functions),
						 CASE(a_disk_that_is_full_leaves_the_old_files),
						 CASE(the_real_one_reads_the_file),
						 CASE(a_copy_of_proc_profile_is_read),
						 CASE(samples_count_from_the_last_reset),
						 CASE(what_is_wrong_is_said_in_one_line),
						 {NULL, NULL}};
	char remove[128];
	int status;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	status = unit_main("readprofile", cases, argc, argv);
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	return system(remove) ? 1 : status;
}

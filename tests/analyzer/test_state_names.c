/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_names.c - the name of what a thread waits for: paths made whole by the directory where
 * they begin, the files of exec, addresses of sockets without a connection, futexes, requests of
 * io_uring.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <netinet/in.h>
#include "state_waits_case.h"
#include "unit.h"

#define DISK 8
#define WORK TRACE_FD_WORKING_DIRECTORY
#define ROOT TRACE_FD_ROOT_DIRECTORY

static const struct {
	uint32_t nr;
	const char *name;
} calls[] = {
	{SYS_unlink, "unlink"},	      {SYS_unlinkat, "unlinkat"}, {SYS_newfstatat, "newfstatat"},
	{SYS_chdir, "chdir"},	      {SYS_fchdir, "fchdir"},	  {SYS_utimensat, "utimensat"},
	{SYS_symlinkat, "symlinkat"}, {SYS_vmsplice, "vmsplice"}, {SYS_tee, "tee"},
	{SYS_splice, "splice"},	      {SYS_unshare, "unshare"},	  {SYS_copy_file_range, "copy_file_range"},
	{449, "futex_waitv"},
};

static struct analysis_case begin_named(void)
{
	struct analysis_case c = begin();

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		tb_string(c.tb, TRACE_STRING_SYSCALL, calls[i].nr, calls[i].name);
	return c;
}

static void disk_wakes(struct analysis_case *c)
{
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};

	tb_irq(c->tb, 1, 5000, 7);
	tb_event(c->tb, 1, 5900, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c->tb, 1, 6050, 7);
}

static void by_disk(struct analysis_case *c)
{
	block(c);
	disk_wakes(c);
	finish(c);
}

static void directory(struct analysis_case *c, uint64_t ts_ns, uint32_t tid, int fd, uint64_t ino, const char *path)
{
	struct trace_fs_dir dir = {.ino = ino, .dev = 9, .mode = S_IFDIR | 0700, .tid = tid, .fd = fd};

	tb_event(c->tb, 0, ts_ns, TRACE_EV_fs_dir, &dir, sizeof(dir), path);
}

/* ---- paths ---- */

static void a_relative_path_begins_at_the_working_directory(void)
{
	static const struct {
		const char *work, *path, *whole;
	} paths[] = {
		{"/home/a", "data", "/home/a/data"},
		{"/home/a", "./b//c/./d", "/home/a/b/c/d"},
		{"/home/a", "../x", "/home/x"},
		{"/home/a", "../../../x", "/x"},
		{"/home/a", "link/../x", "/home/a/link/../x"},
		{"/", "x", "/x"},
		{"/home/a", ".", "/home/a"},
		{"/home/a", "/x/y", "/x/y"},
		{"/home/a (deleted)", "x", "/home/a (deleted)/x"},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct analysis_case c = begin_named();

		directory(&c, 1500, 10, WORK, 70, paths[i].work);
		tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
		tb_sys_path(c.tb, 0, 2001, SYS_unlink, paths[i].path);
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, paths[i].whole, 0, "");
	}
}

/* The same name in three directories is three files. */
static void a_relative_path_begins_at_the_directory_of_a_descriptor(void)
{
	for (uint64_t fd = 3; fd < 6; fd++) {
		struct analysis_case c = begin_named();
		char path[20], whole[30];

		for (uint64_t i = 3; i < 6; i++) {
			snprintf(path, sizeof(path), "/d%d", (int)i);
			tb_fd(c.tb, 10, (int)i, 9, 70 + i, S_IFDIR | 0700, path);
		}
		snprintf(whole, sizeof(whole), "/d%d/data", (int)fd);
		tb_sys_enter(c.tb, 0, 2000, SYS_unlinkat, fd, TRACE_ARG_ADDRESS, 0);
		tb_sys_path(c.tb, 0, 2001, SYS_unlinkat, "data");
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, whole, 0, "");
	}
}

/* In symlinkat() the descriptor is the second argument; the first path is no file. */
static void the_directory_is_the_argument_before_the_path(void)
{
	struct analysis_case c = begin_named();

	tb_fd(c.tb, 10, 4, 9, 74, S_IFDIR | 0700, "/links");
	tb_sys_enter(c.tb, 0, 2000, SYS_symlinkat, TRACE_ARG_ADDRESS, 4, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 2001, SYS_symlinkat, "new");
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/links/new", 0, "");
}

static void at_fdcwd_is_the_working_directory(void)
{
	struct analysis_case c = begin_named();

	directory(&c, 1500, 10, WORK, 70, "/home/a");
	tb_sys_enter(c.tb, 0, 2000, SYS_unlinkat, (uint64_t)AT_FDCWD, TRACE_ARG_ADDRESS, 0);
	tb_sys_path(c.tb, 0, 2001, SYS_unlinkat, "data");
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/home/a/data", 0, "");
}

/* The working directory of process 10 in the start state, which was read at @ns. */
static void directory_read_at(struct analysis_case *c, uint64_t ns, uint64_t ino, const char *path)
{
	struct trace_fs_dir dir = {.ino = ino, .dev = 9, .mode = S_IFDIR | 0700, .tid = 10, .fd = WORK};

	tb_start(c->tb, ns, TRACE_EV_fs_dir, &dir, sizeof(dir), path);
}

static void unlinks(struct analysis_case *c)
{
	tb_sys_enter(c->tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
	tb_sys_path(c->tb, 0, 2001, SYS_unlink, "data");
	by_disk(c);
}

/* As a flight recorder reads it at the end, when fs_dir was overwritten long ago. */
static void a_directory_of_the_start_state_is_where_paths_begin(void)
{
	struct analysis_case c = begin_named();

	directory_read_at(&c, 8000, 70, "/home/a");
	unlinks(&c);
	expect(&c, TRACE_WAIT_FILE, "/home/a/data", 0, "");
}

static void a_directory_that_changed_before_it_was_read_is_unknown_until_then(void)
{
	struct analysis_case c = begin_named();

	directory_read_at(&c, 8900, 70, "/home/a");
	tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 2001, SYS_unlink, "data");
	block(&c);
	disk_wakes(&c);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	tb_sys_enter(c.tb, 0, 8500, SYS_chdir, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 8501, SYS_chdir, "/home/a");
	tb_sys_exit(c.tb, 0, 8510, 0);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, ".../data", 0, "");
}

/* No thread calls chdir in the trace, but an earlier event tells another directory. */
static void a_directory_that_an_event_contradicts_changed_before_it_was_read(void)
{
	struct analysis_case c = begin_named();

	directory_read_at(&c, 8900, 70, "/home/a");
	directory(&c, 1500, 10, WORK, 71, "/home/b");
	unlinks(&c);
	expect(&c, TRACE_WAIT_FILE, "/home/b/data", 0, "");
}

static void a_change_behind_the_last_one_leaves_the_directory_that_was_read(void)
{
	struct analysis_case c = begin_named();

	directory_read_at(&c, 8000, 70, "/home/a");
	tb_sys_enter(c.tb, 0, 1500, SYS_fchdir, 5, 0, 0);
	tb_sys_exit(c.tb, 0, 1600, 0);
	unlinks(&c);
	expect(&c, TRACE_WAIT_FILE, "/home/a/data", 0, "");
}

/* The recorder tells the new path before the next call that begins there. */
static void a_renamed_directory_has_its_new_path(void)
{
	for (int by_fd = 0; by_fd < 2; by_fd++) {
		struct analysis_case c = begin_named();

		tb_fd(c.tb, 10, 4, 9, 74, S_IFDIR | 0700, "/old");
		directory(&c, 1500, 10, WORK, 74, "/old");
		directory(&c, 1990, 10, by_fd ? 4 : WORK, 74, "/new");
		tb_sys_enter(c.tb, 0, 2000, SYS_unlinkat, (uint64_t)(by_fd ? 4 : AT_FDCWD), TRACE_ARG_ADDRESS, 0);
		tb_sys_path(c.tb, 0, 2001, SYS_unlinkat, "data");
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, "/new/data", 0, "");
	}
}

static void in_a_chroot_absolute_paths_begin_at_its_root(void)
{
	struct analysis_case c = begin_named();

	directory(&c, 1500, 10, ROOT, 70, "/jail");
	tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 2001, SYS_unlink, "/etc/x");
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/jail/etc/x", 0, "");
}

/* Threads that share the directory (CLONE_FS) move together, until one makes its own. */
static void threads_share_the_working_directory(void)
{
	for (int owns = 0; owns < 2; owns++) {
		struct analysis_case c = begin_named();

		directory(&c, 1100, 10, WORK, 70, "/home/a");
		tb_fork(c.tb, 0, 1200, 10, 11, 10, "other");
		if (owns) {
			tb_sys_enter(c.tb, 0, 1300, SYS_unshare, CLONE_FS);
			tb_sys_exit(c.tb, 0, 1400, 0);
		}
		directory(&c, 1500, 11, WORK, 71, "/home/b");
		tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
		tb_sys_path(c.tb, 0, 2001, SYS_unlink, "data");
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, owns ? "/home/a/data" : "/home/b/data", 0, "");
	}
}

static void a_child_process_has_a_directory_of_its_own(void)
{
	struct analysis_case c = begin_named();

	directory(&c, 1100, 10, WORK, 70, "/home/a");
	tb_fork(c.tb, 0, 1200, 10, 30, 30, "child");
	directory(&c, 1500, 30, WORK, 71, "/home/b");
	tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
	tb_sys_path(c.tb, 0, 2001, SYS_unlink, "data");
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/home/a/data", 0, "");
}

static void a_path_that_begins_at_an_unknown_directory_says_so(void)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct trace_sys_path late = {.nr = SYS_unlink, .late = 1};
		struct analysis_case c = begin_named();

		if (is_late)
			directory(&c, 1100, 10, WORK, 70, "/home/a");
		tb_sys_enter(c.tb, 0, 2000, SYS_unlink, TRACE_ARG_ADDRESS);
		if (!is_late)
			tb_sys_path(c.tb, 0, 2001, SYS_unlink, "data");
		block(&c);
		disk_wakes(&c);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		if (is_late) /* another thread may have changed the directory meanwhile */
			tb_event(c.tb, 0, 6150, TRACE_EV_sys_path, &late, sizeof(late), "data");
		tb_sys_exit(c.tb, 0, 6200, 1);
		case_run(&c);
		expect(&c, TRACE_WAIT_FILE, ".../data", 0, "");
	}
}

/* fstatat(fd, "", AT_EMPTY_PATH), and utimensat(fd, NULL), which is futimens(). */
static void without_a_path_the_descriptor_is_the_file(void)
{
	for (int is_null = 0; is_null < 2; is_null++) {
		struct analysis_case c = begin_named();
		uint32_t call = is_null ? SYS_utimensat : SYS_newfstatat;

		tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
		tb_sys_enter(c.tb, 0, 2000, call, 4, is_null ? 0 : TRACE_ARG_ADDRESS, TRACE_ARG_ADDRESS, 0, 0, 0);
		if (!is_null)
			tb_sys_path(c.tb, 0, 2001, call, "");
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
	}
}

/* ---- exec ---- */

static void exec_file(struct analysis_case *c, uint64_t ts_ns, uint64_t ino, bool interpreter, const char *path)
{
	struct trace_fs_exec exec = {
		.ino = ino, .dev = 9, .mode = S_IFREG | 0755, .tid = 10, .interpreter = interpreter};

	tb_event(c->tb, 0, ts_ns, TRACE_EV_fs_exec, &exec, sizeof(exec), path);
}

static void pages_of_the_program_and_its_interpreter_have_their_names(void)
{
	for (uint64_t ino = 80; ino < 82; ino++) {
		struct trace_fs_fault fault = {.ino = ino, .dev = 9};
		struct analysis_case c = begin_named();

		exec_file(&c, 1500, 80, false, "/bin/program");
		exec_file(&c, 1600, 81, true, "/lib/ld.so");
		tb_exec(c.tb, 0, 1700, 10, "/bin/program");
		tb_fault(c.tb, 0, 2500, 0x400000, true);
		tb_event(c.tb, 0, 2600, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
		block(&c);
		disk_wakes(&c);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_fault_end(c.tb, 0, 6150, true);
		case_run(&c);
		expect(&c, TRACE_WAIT_FILE, ino == 80 ? "/bin/program" : "/lib/ld.so", 0, "");
	}
}

/* The path of the program was not in memory at the entry, and is gone at the exit. */
/*
 * The program and its interpreter are on an overlay, device 0x20, and page faults tell the inodes
 * of a layer. A child has the same files without an exec of its own.
 */
static void pages_of_a_program_on_an_overlay_have_its_names(void)
{
	struct trace_fs_exec files[] = {{.ino = 80, .dev = 0x20, .mode = S_IFREG | 0755, .tid = 10},
					{.ino = 81, .dev = 0x20, .mode = S_IFREG | 0755, .tid = 10, .interpreter = 1}};

	for (uint32_t child = 0; child < 2; child++) {
		for (uint64_t ino = 80; ino < 83; ino++) {
			struct trace_fs_fault fault = {.ino = ino, .dev = DISK};
			struct analysis_case c = begin_named();
			const char *name = ino == 80 ? "/merged/program" : ino == 81 ? "/merged/ld.so" : "disk";
			uint32_t tid = child ? 30 : 10;
			struct trace_figures *figures;

			tb_fd(c.tb, 20, 3, DISK, ino == 82 ? 83 : ino, S_IFREG | 0600, "/lower/file");
			tb_event(c.tb, 0, 1500, TRACE_EV_fs_exec, &files[0], sizeof(files[0]), "/merged/program");
			tb_event(c.tb, 0, 1600, TRACE_EV_fs_exec, &files[1], sizeof(files[1]), "/merged/ld.so");
			tb_exec(c.tb, 0, 1700, 10, "/merged/program");
			tb_fork(c.tb, 0, 1800, 10, 30, 30, "child");
			if (child)
				tb_switch(c.tb, 0, 1900, 10, 30, TRACE_TASK_RUNNING);
			tb_fault(c.tb, 0, 2500, 0x400000, true);
			tb_event(c.tb, 0, 2600, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
			tb_switch(c.tb, 0, 3000, tid, 0, TRACE_TASK_UNINTERRUPTIBLE);
			tb_irq(c.tb, 1, 5000, 7);
			tb_add(c.tb, 1, 5900, block_complete, NULL, .dev = DISK, .bytes = 4096);
			tb_waking(c.tb, 1, 6000, tid, TRACE_CONTEXT_HARDIRQ);
			tb_irq_exit(c.tb, 1, 6050, 7);
			tb_switch(c.tb, 0, 6100, 0, tid, TRACE_TASK_RUNNING);
			tb_fault_end(c.tb, 0, 6150, true);
			case_run(&c);
			figures = trace_process_figures(c.analysis, case_process(&c, tid));
			CU_ASSERT_EQUAL(case_wait(figures, TRACE_WAIT_FILE, name, 0, ""), 3000);
			trace_figures_free(figures);
			case_free(&c);
		}
	}
}

static void reads_inside_exec_are_of_the_program(void)
{
	struct analysis_case c = begin_named();

	tb_sys_enter(c.tb, 0, 2000, SYS_execve, TRACE_ARG_ADDRESS, TRACE_ARG_ADDRESS, TRACE_ARG_ADDRESS);
	block(&c);
	disk_wakes(&c);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	exec_file(&c, 6110, 80, false, "/bin/program");
	tb_exec(c.tb, 0, 6120, 10, "/bin/program");
	tb_sys_exit(c.tb, 0, 6200, 0);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, "/bin/program", 0, "");
}

/* ---- copies ---- */

static const struct trace_file_use *file_use(const struct trace_figures *f, const char *path)
{
	static const struct trace_file_use none;

	for (size_t i = 0; i < f->nr_files; i++)
		if (strcmp(f->files[i].path, path) == 0)
			return &f->files[i];
	return &none;
}

static struct analysis_case case_of_pipes(void)
{
	struct analysis_case c = begin_named();

	tb_fd(c.tb, 10, 1, 9, 80, S_IFREG | 0600, "/output");
	pipe_fd(&c, 10, 3, 60, O_RDONLY);
	pipe_fd(&c, 10, 4, 61, O_WRONLY);
	return c;
}

/* The number of parts in memory is no descriptor, although it looks like one. */
static void vmsplice_moves_data_through_its_pipe_only(void)
{
	for (uint64_t fd = 3; fd < 5; fd++) {
		struct analysis_case c = case_of_pipes();

		tb_sys_enter(c.tb, 0, 2000, SYS_vmsplice, fd, TRACE_ARG_ADDRESS, 1, 0, 0, 0);
		tb_sys_exit(c.tb, 0, 2100, 500);
		case_run(&c);
		CU_ASSERT_EQUAL(file_use(c.one, "pipe:")->read_bytes, fd == 3 ? 500 : 0);
		CU_ASSERT_EQUAL(file_use(c.one, "pipe:")->written_bytes, fd == 4 ? 500 : 0);
		CU_ASSERT_EQUAL(file_use(c.one, "/output")->written_bytes, 0);
		case_free(&c);
	}
}

/*
 * tee() has its second descriptor where splice() has an address, and takes nothing from the first.
 */
static void tee_writes_to_its_second_descriptor(void)
{
	struct analysis_case c = case_of_pipes();

	tb_sys_enter(c.tb, 0, 2000, SYS_tee, 3, 4, 1, 0, 0, 0);
	tb_sys_exit(c.tb, 0, 2100, 1);
	tb_sys_enter(c.tb, 0, 2200, SYS_splice, 3, 0, 1, 0, 1, 0);
	tb_sys_exit(c.tb, 0, 2300, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(file_use(c.one, "pipe:")->read_bytes, 1);
	CU_ASSERT_EQUAL(file_use(c.one, "pipe:")->written_bytes, 1);
	CU_ASSERT_EQUAL(file_use(c.one, "/output")->written_bytes, 1);
	case_free(&c);
}

/* ---- the rule of --verify: a file's bytes are those of calls on it ---- */

/* Runs the analysis with rules; returns the result of their check. */
static int verified(struct analysis_case *c, struct trace_error *ret_error)
{
	struct trace_analysis_options options = {.size = sizeof(options), .verify = true};
	int result;

	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, &options, ret_error);
	CU_ASSERT_EQUAL(trace_analysis_run(c->analysis, ret_error), 0);
	result = trace_analysis_verify(c->analysis, ret_error);
	trace_analysis_free(c->analysis);
	trace_close(c->trace);
	tb_free(c->tb);
	return result;
}

static void bytes_of_calls_are_verified(void)
{
	struct analysis_case c = case_of_pipes();
	struct trace_error error = {0};

	tb_sys_enter(c.tb, 0, 2000, SYS_vmsplice, 4, TRACE_ARG_ADDRESS, 1, 0, 0, 0);
	tb_sys_exit(c.tb, 0, 2100, 500);
	tb_sys_enter(c.tb, 0, 2200, SYS_splice, 3, 0, 1, 0, 100, 0);
	tb_sys_exit(c.tb, 0, 2300, 100);
	tb_sys_enter(c.tb, 0, 2400, SYS_tee, 3, 4, 50, 0, 0, 0);
	tb_sys_exit(c.tb, 0, 2500, 50);
	tb_sys_enter(c.tb, 0, 2600, SYS_read, 3, TRACE_ARG_ADDRESS, 10);
	tb_sys_exit(c.tb, 0, 2700, 10);
	CU_ASSERT_EQUAL(verified(&c, &error), 0);
	if (error.code)
		printf("%s\n", error.message);
}

static void a_call_moves_no_more_than_it_asked_for(void)
{
	struct analysis_case c = case_of_pipes();
	struct trace_error error = {0};

	tb_sys_enter(c.tb, 0, 2600, SYS_read, 3, TRACE_ARG_ADDRESS, 10);
	tb_sys_exit(c.tb, 0, 2700, 500);
	CU_ASSERT_EQUAL(verified(&c, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(
		error.message, "at 0.000001700 s thread 10 (one) moved 500 bytes by read(), which asked for 10"));
}

/* In a loss the program may have closed the descriptor, and opened it again. */
static void a_transfer_shows_the_socket_of_a_descriptor_after_a_loss(void)
{
	struct trace_sock_recv received = {.ino = 91, .ret = 5, .family = AF_INET, .protocol = 17};
	struct analysis_case c = begin_named();
	struct trace_file_id id = {0};

	tb_fd(c.tb, 10, 3, 9, 90, S_IFSOCK | 0777, "socket:[90]");
	tb_sys_enter(c.tb, 0, 2300, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2310, 10);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 2500, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 2600, SYS_recvfrom, 3, TRACE_ARG_ADDRESS, 10, 0, 0, 0);
	tb_event(c.tb, 0, 2650, TRACE_EV_sock_recv, &received, sizeof(received), NULL);
	tb_sys_exit(c.tb, 0, 2700, 5);
	case_run(&c);
	CU_ASSERT(trace_thread_file_id(c.analysis, trace_find_thread(c.analysis, 10), 3, &id));
	CU_ASSERT_EQUAL(id.ino, 91);
	case_free(&c);
}

static void a_call_on_a_socket_moves_data_of_that_socket(void)
{
	struct trace_sock_recv received = {.ino = 91, .ret = 5, .family = AF_INET, .protocol = 17};
	struct analysis_case c = begin_named();
	struct trace_error error = {0};

	tb_fd(c.tb, 10, 3, 9, 90, S_IFSOCK | 0777, "socket:[90]");
	tb_sys_enter(c.tb, 0, 2600, SYS_recvfrom, 3, TRACE_ARG_ADDRESS, 10, 0, 0, 0);
	tb_event(c.tb, 0, 2650, TRACE_EV_sock_recv, &received, sizeof(received), NULL);
	tb_sys_exit(c.tb, 0, 2700, 5);
	CU_ASSERT_EQUAL(verified(&c, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message,
				      "at 0.000001650 s thread 10 (one) moved data of socket 91 in a call on "
				      "descriptor 3, which is socket 90"));
}

/* ---- sockets without a connection ---- */

static void socket_of_one(struct analysis_case *c, uint16_t type)
{
	struct trace_start_socket start = {
		.tgid = 10, .fd = 3, .ino = 90, .family = AF_INET, .type = type, .protocol = 17};

	tb_fd(c->tb, 10, 3, 9, 90, S_IFSOCK | 0777, "socket:[90]");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &start, sizeof(start), NULL);
}

/* To 10.0.0.@host. */
static void sends_to(struct analysis_case *c, uint64_t ts_ns, uint8_t host, uint16_t port, uint16_t local_port)
{
	struct trace_sock_names names = {.ino = 90,
					 .remote_lo = (uint64_t)htonl(0x0a000000u + host) << 32 | 0xffff0000u,
					 .remote_port = port,
					 .local_port = local_port,
					 .family = AF_INET,
					 .protocol = 17};

	tb_event(c->tb, 0, ts_ns, TRACE_EV_sock_names, &names, sizeof(names), NULL);
}

static void by_packet(struct analysis_case *c)
{
	struct trace_sock_ready ready = {.ino = 90, .family = AF_INET, .protocol = 17};

	tb_sys_enter(c->tb, 0, 2000, SYS_poll, 0x7000, 1, 100);
	block(c);
	tb_softirq(c->tb, 1, 5000, SOFTIRQ_NET_RX);
	tb_event(c->tb, 1, 5900, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c->tb, 1, 6050, SOFTIRQ_NET_RX);
	finish(c);
}

static void a_socket_waits_for_the_address_to_which_it_sent(void)
{
	struct analysis_case c = begin_named();

	socket_of_one(&c, SOCK_DGRAM);
	sends_to(&c, 1500, 3, 7, 40000);
	by_packet(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.0.0.3:7", 0, "");
}

static void a_protocol_without_ports_has_only_an_address(void)
{
	struct analysis_case c = begin_named();

	socket_of_one(&c, SOCK_RAW);
	sends_to(&c, 1500, 3, 0, 1);
	by_packet(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.0.0.3", 0, "");
}

/* Any of them may have answered. */
static void a_socket_that_sends_to_several_has_only_its_port(void)
{
	struct analysis_case c = begin_named();

	socket_of_one(&c, SOCK_DGRAM);
	sends_to(&c, 1500, 3, 7, 40000);
	sends_to(&c, 1600, 4, 7, 40000);
	sends_to(&c, 1700, 3, 7, 40000);
	by_packet(&c);
	expect(&c, TRACE_WAIT_NETWORK, "local port 40000", 0, "");
}

static void a_socket_without_a_port_is_no_local_port_0(void)
{
	struct analysis_case c = begin_named();

	socket_of_one(&c, SOCK_DGRAM);
	by_packet(&c);
	expect(&c, TRACE_WAIT_NETWORK, "network", 0, "");
}

/* ---- futexes ---- */

static const struct trace_lock_wait *only_lock(const struct analysis_case *c)
{
	static struct trace_lock_wait lock;
	size_t nr = 0;
	struct trace_lock_wait *list = trace_lock_waits(c->analysis, &nr);

	lock = nr == 1 ? list[0] : (struct trace_lock_wait){0};
	free(list);
	return &lock;
}

static void a_wait_for_several_futexes_is_for_the_one_that_ended_it(void)
{
	struct trace_futex_woken woken = {.address = 0x5000, .index = 1};

	for (int is_told = 0; is_told < 2; is_told++) {
		struct analysis_case c = begin_named();

		tb_sys_enter(c.tb, 0, 2000, 449, TRACE_ARG_ADDRESS, 2, 0, 0, 0, 0);
		block(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		if (is_told)
			tb_event(c.tb, 0, 6150, TRACE_EV_futex_woken, &woken, sizeof(woken), NULL);
		tb_sys_exit(c.tb, 0, 6200, 1);
		case_run(&c);
		CU_ASSERT_EQUAL(only_lock(&c)->address, is_told ? 0x5000 : 0);
		CU_ASSERT_EQUAL(only_lock(&c)->ns, BLOCKED_NS);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
	}
}

/* The recorder's headers had no name for it. */
static void futex_wait_is_a_futex(void)
{
	struct analysis_case c = begin_named();

	tb_sys_enter(c.tb, 0, 2000, 455, 0x5000, 1, 0, 2, 0, 0);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "futex_wait")->calls, 1);
	CU_ASSERT_EQUAL(only_lock(&c)->address, 0x5000);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

/* Its flags are in another argument than those of futex(2). */
static void a_private_futex_is_woken_by_its_own_process(void)
{
	for (int is_private = 0; is_private < 2; is_private++) {
		struct trace_start_map map = {.tgid = 10, .dev = 9, .start = 0x5000, .end = 0x6000, .ino = 80};
		struct analysis_case c = begin_named();

		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/shared");
		tb_sys_enter(c.tb, 0, 2000, 455, 0x5000, 128, 0, is_private ? 130 : 2, 0, 0);
		block(&c); /* until the end */
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, is_private ? "one" : "unknown",
					  is_private ? 10 : 0, "futex"),
				6000);
		case_free(&c);
	}
}

/* ---- io_uring ---- */

static void submit(struct analysis_case *c, uint64_t ts_ns, uint64_t req, uint32_t opcode, int fd)
{
	struct trace_uring_submit submit = {.req = req, .opcode = opcode, .fd = fd};

	tb_event(c->tb, 0, ts_ns, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
}

static void complete(struct analysis_case *c, uint32_t cpu, uint64_t ts_ns, uint64_t req)
{
	struct trace_uring_complete complete = {.req = req, .res = 1};

	tb_event(c->tb, cpu, ts_ns, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
}

#define RING_RECV  27
#define RING_FSYNC 3

/*
 * recv and then fsync, in a chain: the thread sleeps first for the message, then for the disk. Both
 * are over when the call returns.
 */
static void each_wait_of_a_chain_is_for_its_own_request(void)
{
	struct trace_uring_enter enter = {.ring = 0xabc000};
	struct analysis_case c = begin_named();

	pipe_fd(&c, 10, 3, 60, O_RDONLY);
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 5, 2, 2, 1, 0, 0);
	tb_event(c.tb, 0, 2001, TRACE_EV_uring_enter, &enter, sizeof(enter), NULL);
	submit(&c, 2100, 0x100, RING_RECV, 3);
	submit(&c, 2200, 0x200, RING_FSYNC, 4);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 4000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 4100, 0, 10, TRACE_TASK_RUNNING);
	complete(&c, 0, 4150, 0x100);
	tb_switch(c.tb, 0, 4200, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	complete(&c, 1, 5950, 0x200);
	disk_wakes(&c);
	finish(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "io_uring"), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, "io_uring"), 1800);
	case_free(&c);
}

/* The chain breaks: what completes after the request that ended the wait needed no waiting. */
static void a_broken_chain_waits_for_its_first_request(void)
{
	struct trace_uring_enter enter = {.ring = 0xabc000};
	struct analysis_case c = begin_named();

	pipe_fd(&c, 10, 3, 60, O_RDONLY);
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 5, 2, 2, 1, 0, 0);
	tb_event(c.tb, 0, 2001, TRACE_EV_uring_enter, &enter, sizeof(enter), NULL);
	submit(&c, 2100, 0x100, RING_RECV, 3);
	submit(&c, 2200, 0x200, RING_FSYNC, 4);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	complete(&c, 0, 6110, 0x100);
	complete(&c, 0, 6120, 0x200);
	tb_sys_exit(c.tb, 0, 6200, 2);
	case_run(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "io_uring");
}

/* No event says which worker has which request: it is known if all are on one file. */
static void a_worker_waits_for_the_file_of_its_request(void)
{
	for (int several = 0; several < 2; several++) {
		struct trace_start_thread worker = {.tid = 11,
						    .tgid = 10,
						    .ppid = 1,
						    .nr = -1,
						    .cpu = 1,
						    .state = TRACE_TASK_INTERRUPTIBLE,
						    .flags = TRACE_THREAD_IO_WORKER};
		struct trace_uring_async async = {.req = 0x100, .opcode = RING_FSYNC};
		struct analysis_case c = begin_named();

		tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
		tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
		tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
		tb_fd(c.tb, 10, 5, 9, 81, S_IFREG | 0600, "/other");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
		submit(&c, 2100, 0x100, RING_FSYNC, 4);
		tb_event(c.tb, 0, 2110, TRACE_EV_uring_async, &async, sizeof(async), NULL);
		submit(&c, 2120, 0x200, RING_FSYNC, 5);
		async.req = 0x200;
		if (several)
			tb_event(c.tb, 0, 2130, TRACE_EV_uring_async, &async, sizeof(async), NULL);
		tb_waking(c.tb, 0, 2500, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 2700, 20, 11, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 1, 3000, 11, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_irq(c.tb, 0, 5000, 7);
		tb_add(c.tb, 0, 5900, block_complete, NULL, .dev = DISK, .bytes = 4096);
		tb_waking(c.tb, 0, 6000, 11, TRACE_CONTEXT_HARDIRQ);
		tb_irq_exit(c.tb, 0, 6050, 7);
		tb_switch(c.tb, 1, 6100, 0, 11, TRACE_TASK_RUNNING);
		case_run(&c);
		expect(&c, TRACE_WAIT_FILE, several ? "vda" : "/data", 0, "");
	}
}

/* ---- several inodes of one path ---- */

#define DISK_A 0x800010
#define DISK_B 0x800020

static uint64_t written_to(const struct analysis_case *c, const char *path)
{
	for (size_t i = 0; i < c->one->nr_files; i++)
		if (strcmp(c->one->files[i].path, path) == 0)
			return c->one->files[i].written_bytes;
	return 0;
}

/* Opens /conf at @fd as inode @ino, and writes @bytes to it. */
static void open_and_write(struct analysis_case *c, uint64_t ns, int fd, uint32_t dev, uint64_t ino, uint64_t bytes)
{
	tb_sys_enter(c->tb, 0, ns, SYS_open, TRACE_ARG_ADDRESS, 1, 0);
	tb_open(c->tb, 0, ns + 1, fd, dev, ino, S_IFREG | 0600, "/conf");
	tb_sys_exit(c->tb, 0, ns + 2, fd);
	tb_sys_enter(c->tb, 0, ns + 3, SYS_write, fd, TRACE_ARG_ADDRESS, bytes);
	tb_sys_exit(c->tb, 0, ns + 4, (int64_t)bytes);
}

static void a_replaced_file_has_a_name_of_its_own(void)
{
	struct analysis_case c = begin_named();

	open_and_write(&c, 1100, 4, DISK_A, 80, 1000);
	open_and_write(&c, 1200, 5, DISK_A, 81, 200); /* replaced by rename() */
	open_and_write(&c, 1300, 6, DISK_B, 80, 30);  /* of another mount namespace */
	open_and_write(&c, 1400, 7, DISK_A, 81, 4);
	tb_sys_enter(c.tb, 0, 1500, SYS_write, 4, TRACE_ARG_ADDRESS, 5000);
	tb_sys_exit(c.tb, 0, 1510, 5000);
	tb_sys_enter(c.tb, 0, 2000, SYS_fsync, 5);
	by_disk(&c);
	CU_ASSERT_EQUAL(written_to(&c, "/conf"), 6000);
	CU_ASSERT_EQUAL(written_to(&c, "/conf (2nd inode)"), 204);
	CU_ASSERT_EQUAL(written_to(&c, "/conf (3rd inode)"), 30);
	expect(&c, TRACE_WAIT_FILE, "/conf (2nd inode)", 0, "");
}

/* So a file that is replaced a million times does not fill the report. */
static void the_ninth_inode_of_a_path_and_later_ones_share_a_name(void)
{
	struct analysis_case c = begin_named();

	for (uint64_t i = 0; i < 12; i++)
		open_and_write(&c, 1100 + 20 * i, 4, 9, 80 + i, 1 + i);
	open_and_write(&c, 1400, 4, 9, 87, 100);
	case_run(&c);
	CU_ASSERT_EQUAL(written_to(&c, "/conf"), 1);
	CU_ASSERT_EQUAL(written_to(&c, "/conf (8th inode)"), 108);
	CU_ASSERT_EQUAL(written_to(&c, "/conf (later inodes)"), 9 + 10 + 11 + 12);
	case_free(&c);
}

/* Device 0x20 has no disk: an overlay, with the inode numbers of a layer on DISK_A. */
static void an_overlay_and_its_layer_are_one_inode(void)
{
	struct analysis_case c = begin_named();

	open_and_write(&c, 1100, 4, 0x20, 0x500000050, 1000);
	open_and_write(&c, 1200, 5, DISK_A, 0x50, 200);
	open_and_write(&c, 1300, 6, DISK_A, 0x51, 30);
	case_run(&c);
	CU_ASSERT_EQUAL(written_to(&c, "/conf"), 1200);
	CU_ASSERT_EQUAL(written_to(&c, "/conf (2nd inode)"), 30);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_relative_path_begins_at_the_working_directory),
		CASE(a_relative_path_begins_at_the_directory_of_a_descriptor),
		CASE(the_directory_is_the_argument_before_the_path),
		CASE(at_fdcwd_is_the_working_directory),
		CASE(a_directory_of_the_start_state_is_where_paths_begin),
		CASE(a_directory_that_changed_before_it_was_read_is_unknown_until_then),
		CASE(a_directory_that_an_event_contradicts_changed_before_it_was_read),
		CASE(a_change_behind_the_last_one_leaves_the_directory_that_was_read),
		CASE(a_renamed_directory_has_its_new_path),
		CASE(in_a_chroot_absolute_paths_begin_at_its_root),
		CASE(threads_share_the_working_directory),
		CASE(a_child_process_has_a_directory_of_its_own),
		CASE(a_path_that_begins_at_an_unknown_directory_says_so),
		CASE(without_a_path_the_descriptor_is_the_file),
		CASE(pages_of_the_program_and_its_interpreter_have_their_names),
		CASE(pages_of_a_program_on_an_overlay_have_its_names),
		CASE(reads_inside_exec_are_of_the_program),
		CASE(vmsplice_moves_data_through_its_pipe_only),
		CASE(tee_writes_to_its_second_descriptor),
		CASE(bytes_of_calls_are_verified),
		CASE(a_call_moves_no_more_than_it_asked_for),
		CASE(a_call_on_a_socket_moves_data_of_that_socket),
		CASE(a_transfer_shows_the_socket_of_a_descriptor_after_a_loss),
		CASE(a_socket_waits_for_the_address_to_which_it_sent),
		CASE(a_protocol_without_ports_has_only_an_address),
		CASE(a_socket_that_sends_to_several_has_only_its_port),
		CASE(a_socket_without_a_port_is_no_local_port_0),
		CASE(a_wait_for_several_futexes_is_for_the_one_that_ended_it),
		CASE(futex_wait_is_a_futex),
		CASE(a_private_futex_is_woken_by_its_own_process),
		CASE(each_wait_of_a_chain_is_for_its_own_request),
		CASE(a_broken_chain_waits_for_its_first_request),
		CASE(a_worker_waits_for_the_file_of_its_request),
		CASE(a_replaced_file_has_a_name_of_its_own),
		CASE(the_ninth_inode_of_a_path_and_later_ones_share_a_name),
		CASE(an_overlay_and_its_layer_are_one_inode),
		{NULL, NULL},
	};

	return unit_main("names of what threads wait for", cases, argc, argv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cut_file.c - a mapped file that another program cuts while this one reads it. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cut_file.h"
#include "progress_line.h"
#include "report_file.h"

static uintptr_t page_bytes;

/* The thread reads the same address again when this returns. */
static void on_missing_page(int signal_number, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(page_bytes - 1));
	int error = errno;

	if (info->si_code != BUS_ADRERR ||
	    mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(SIGBUS, SIG_DFL);
	errno = error;
}

/* Does not use stdio: flushing a buffer now could complete what looks like a whole report. */
void cut_file_end(void)
{
	static const char line[] = "tracevisualizer: the trace was cut, or its disk failed, while it was read: the "
				   "output is not complete\n";

	report_file_take_back();
	progress_line_erase();
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void end_program(int signal_number, siginfo_t *info, void *context)
{
	if (info->si_code == BUS_ADRERR)
		cut_file_end();
	signal(SIGBUS, SIG_DFL);
}

static void handle(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

void cut_file_reads_as_zeros(void)
{
	handle(on_missing_page);
}

void cut_file_ends_program(void)
{
	handle(end_program);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cut_file.c - a mapped file that another program cuts while this one reads it. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cut_file.h"

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

void cut_file_reads_as_zeros(void)
{
	struct sigaction action = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO};

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

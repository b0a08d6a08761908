/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* checked_figures.c - figures of processes for reports, or the end of the program. */
#include "checked_figures.h"
#include "checked_memory.h"

uint64_t unknown_wait_ns(const struct trace_figures *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		ns += f->waits[i].kind == TRACE_WAIT_UNKNOWN ? f->waits[i].ns : 0;
	return ns;
}

struct trace_figures *checked_figures(struct trace_figures *figures)
{
	if (!figures)
		memory_end();
	return figures;
}

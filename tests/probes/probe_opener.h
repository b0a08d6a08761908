/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_PROBE_OPENER_H
#define TESTS_PROBE_OPENER_H
/* probe_opener.h - opens the files of a program in this process, for tests of the code that the
 * reader process runs. */
#include "../../tracer/kernel/probe_files.h"

struct direct_opener {
	struct probe_opener opener; /* first */
	struct probe_files files;
};

static inline int direct_open(struct probe_opener *opener, enum probe_related which, const char *name)
{
	return probe_files_open(&((struct direct_opener *)opener)->files, which, name);
}

static inline struct direct_opener direct_opener(const char *path)
{
	return (struct direct_opener){.opener = {.open = direct_open}, .files = {.path = path}};
}

#endif

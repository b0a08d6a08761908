/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void priority_set(int niceness)
{
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness); /* Linux: of the thread */
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVERS_PIPE_H
#define TESTS_SERVERS_PIPE_H
/* servers_pipe.h - pipes in the built traces of servers_case.h */
#include "servers_case.h"

/* 16 bytes go in or out. */
static inline void pipe_io(struct case_of_servers *k, uint32_t cpu, int fd, uint64_t ns, bool out)
{
	tb_sys_enter(k->c.tb, cpu, ns, out ? SYS_write : SYS_read, (uint64_t)fd, 0, 16);
	tb_sys_exit(k->c.tb, cpu, ns + 10, 16);
}

/* The process on this CPU has the pipe @ino open as @fd. */
static inline void pipe_in(struct case_of_servers *k, uint32_t cpu, uint64_t ns, int fd, uint64_t ino)
{
	tb_fd(k->c.tb, processes[cpu], fd, 9, ino + 1000, S_IFREG | 0600, "/x");
	tb_open(k->c.tb, cpu, ns, fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * tracer.bpf.c - all programs as one object: one program per event, with its name. Each domain
 * of the kernel has a file.
 *
 * Programs have SEC("event/..."), which is tp_btf with the loader's constants in it (constants.c),
 * never SEC("tp/..."): programs of that kind skip each other when they nest. A program that serves
 * one event through several tracepoints is called event__tracepoint.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "record.bpf.h"
#include "opened.bpf.h"
#include "layer.bpf.h"
#include "object.bpf.h"
#include "arch.bpf.h"
#include "counts.bpf.h"
#include "waker.bpf.h"
#include "wait_choice.bpf.h"
#include "wanted_exits.bpf.h"

#include "directory.bpf.c"
#include "destination.bpf.c"
#include "task_work.bpf.c"
#include "identity.bpf.c"
#include "sched.bpf.c"
#include "poll.bpf.c"
#include "data.bpf.c" /* before the program of sys_exit: its records come first */
#include "syscall.bpf.c"
#include "caller.bpf.c"
#include "data_entry.bpf.c"
#include "trap.bpf.c"
#include "irq.bpf.c"
#include "fs.bpf.c"
#include "uring.bpf.c"
#include "block.bpf.c"
#include "timer.bpf.c"
#include "memory.bpf.c"
#include "socket.bpf.c"
#include "ipc.bpf.c"
#include "network.bpf.c"
#include "work.bpf.c"
#include "bell.bpf.c"
#include "start_state.bpf.c"
#include "ready.bpf.c"

char LICENSE[] SEC("license") = "GPL";

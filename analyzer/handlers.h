/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HANDLERS_H
#define ANALYZER_HANDLERS_H
/*
 * handlers.h - the handlers of events: each changes the state. analysis.c calls them with the
 * event's CPU and time.
 */
#include <stdint.h>

struct cpu;
struct trace_analysis;
struct trace_event;

/* ---- state_sched.c, state_life.c, state_container.c ---- */

void on_sched_switch(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_waking(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_wakeup_new(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_cpu_stolen(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_quota(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_cpu_hotplug(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_migrate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_fork(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_exec(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_free(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sched_comm(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_cgroup_attach(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_syscall.c, state_trap.c ---- */

void on_sys_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sys_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sys_path(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fault_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fault_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_irq.c ---- */

void on_irq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_irq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_softirq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_softirq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_vector_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_vector_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_device.c: the cause of wakeups by interrupts ---- */

void on_block_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_timer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_net_rx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_signal_generate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_file.c, state_memory.c ---- */

void on_fs_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_fault(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_writeback_wait(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_fs_throttle(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_reclaim_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_reclaim_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_socket.c, state_uring.c, state_work.c ---- */

void on_sock_endpoints(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_asks(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_sock_transfer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_work_queue(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_work_start(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_work_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_submit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_open(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_close(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_file(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_uring_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_restart.c ---- */

void on_start_again(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_start_thread(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_start_told(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

/* ---- state_lost.c, state_user.c ---- */

void on_trace_mask(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
void on_user_stream(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
#endif

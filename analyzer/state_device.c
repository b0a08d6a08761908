/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_device.c - the cause of an interrupt, and the block device of a file
 *
 * The cause of an interrupt is a completed block request, an expired timer or an arrived packet.
 * The CPU keeps it until the interrupt ends: a wakeup from interrupt context gets this cause, and
 * never the interrupted thread.
 *
 * The block device of a path is the device of its file system or, with precedence, the device that
 * was seen to serve the file.
 */
#include <string.h>
#include "handlers.h"
#include "state.h"
#include "state_syscall.h"

static void caused(struct cpu *cpu, enum cause cause, uint64_t detail)
{
	cpu->cause = cause;
	cpu->cause_detail = detail;
}

void on_block_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_BLOCK, ((const struct trace_block_complete *)event->payload)->dev);
}

void on_timer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_TIMER, 0);
}

#define MAX_INTERFACES 256

static bool is_loopback(struct trace_analysis *a, uint32_t ifindex)
{
	if (!a->loopback) {
		a->loopback = 1;
		for (uint32_t i = 1; i < MAX_INTERFACES && a->loopback == 1; i++) {
			const char *name = trace_string(a->trace, TRACE_STRING_NETDEV, i);

			if (name && strcmp(name, "lo") == 0)
				a->loopback = i + 1;
		}
	}
	return ifindex && ifindex + 1 == a->loopback;
}

void on_net_rx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_NETWORK, 0);
	cpu->loopback = is_loopback(a, ((const struct trace_net_rx *)event->payload)->ifindex);
}

void on_sock_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_SOCKET, ((const struct trace_sock_ready *)event->payload)->ino);
}

/* TRACE_SIGNAL_DELIVERED, include/trace/events/signal.h: not ignored, not already pending */
#define SIGNAL_DELIVERED 0

static bool waits_for_signal(const struct trace_analysis *a, struct trace_thread *thread)
{
	static const bool classes[NR_CALL_CLASSES] = {
		[CALL_EPOLL_WAIT] = true, [CALL_PAUSE] = true, [CALL_POLL] = true, [CALL_READ] = true, [CALL_SELECT] = true, [CALL_SLEEP] = true,
	};
	const struct frame *frame = frame_syscall(thread);

	return frame && classes[frame_class(a, frame)];
}

/*
 * The kernel reports a signal after it has woken the target for it. More wakeups for the same
 * reason may follow in the same context (the death of a child ends its parent's wait). A wakeup
 * with a known channel was not for the signal.
 */
void on_signal_generate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_signal_generate *signal = event->payload;
	const struct trace_thread *target = thread_find(a, signal->tid);
	struct trace_thread *woken = cpu->woken;
	struct waker *waker;

	if (signal->result != SIGNAL_DELIVERED)
		return;
	cpu->signalled = signal->tid;
	if (!woken || !target || woken->process != target->process || !woken->nr_pending)
		return;
	if (cpu->current && (cpu->current->flags & THREAD_EXITING) && !waits_for_signal(a, woken))
		return; /* the death of the child ended the wait */
	waker = &woken->pending[woken->nr_pending - 1].waker;
	if (waker->thread == cpu->current && !waker->file && !waker->via)
		waker->by_signal = true;
}

/* ---- block devices ---- */

struct device_row {
	uint64_t key; /* path + 1 */
	uint64_t device; /* string_id */
	uint64_t served;
};

string_id device_name(struct trace_analysis *a, uint64_t dev)
{
	const char *name = trace_string(a->trace, TRACE_STRING_DEVICE, dev);

	return strings_intern(&a->strings, name ? name : "disk");
}

void device_learn(struct trace_analysis *a, string_id path, uint32_t dev, bool served)
{
	struct device_row *row;

	if (!path || !dev || !trace_string(a->trace, TRACE_STRING_DEVICE, dev))
		return;
	row = books_row(a, &a->devices, sizeof(*row), path + 1ull);
	if (row->served && !served)
		return;
	row->device = device_name(a, dev);
	row->served = served;
}

const char *trace_file_device(const struct trace_analysis *a, const char *path)
{
	/* A path in a report is interned already. */
	string_id id = *path ? strings_intern(&((struct trace_analysis *)a)->strings, path) : 0;
	const struct device_row *row = id ? table_find(&a->devices, sizeof(*row), id + 1ull) : NULL;

	return row ? strings_text(&a->strings, (string_id)row->device) : "";
}

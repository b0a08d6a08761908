/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_signals.h"
#include <string.h>
#include "kernel_numbers.h"
#include "linux_names.h"
#include "strace_lines.h"
#include "strace_threads.h"

static const char *code_name(uint32_t signal, int32_t code)
{
	static const struct {
		const char *signal, *set;
	} sets[] = {{"CHLD", "si_codes_chld"},
		    {"SEGV", "si_codes_segv"},
		    {"BUS", "si_codes_bus"},
		    {"FPE", "si_codes_fpe"},
		    {"ILL", "si_codes_ill"}};
	const char *name = linux_signal_name(signal);

	if (code <= 0 || code == LINUX_SI_KERNEL)
		return value_name_find("si_codes", (uint32_t)code);
	for (size_t i = 0; name && i < sizeof(sets) / sizeof(sets[0]); i++)
		if (!strcmp(sets[i].signal, name))
			return value_name_find(sets[i].set, (uint32_t)code);
	return NULL;
}

/* The end of a child, as wait(2) tells it */
static void put_status(struct string *s, uint32_t status)
{
	string_add(s, ", si_status=");
	if (status & 0x7f)
		strace_put_signal(s, status & 0x7f);
	else
		string_addf(s, "%u", status >> 8 & 0xff);
}

static void put_signal(struct strace *strace, struct strace_thread *t, const struct sent_signal *sent, uint64_t ts_ns)
{
	struct string *s = &strace->line;
	const char *code = code_name(sent->signal, sent->code);

	if (!strace_signal_wants(strace->choice->signals, sent->signal) || !strace_in_window(strace, ts_ns))
		return;
	strace_leave_unfinished(strace, "unfinished");
	strace_put_leader(strace, t, ts_ns);
	string_add(s, "--- ");
	strace_put_signal(s, sent->signal);
	string_add(s, " {si_signo=");
	strace_put_signal(s, sent->signal);
	if (code)
		string_addf(s, ", si_code=%s", code);
	else
		string_addf(s, ", si_code=%d", sent->code);
	if (sent->has_sender) {
		string_add(s, ", si_pid=");
		strace_put_pid(s, &strace->names, sent->pid);
		string_addf(s, ", si_uid=%u", sent->uid);
	}
	if (sent->status >= 0)
		put_status(s, (uint32_t)sent->status);
	string_add(s, "} ---");
	strace_write_line(strace, t);
}

/* A process under strace gets a signal that it ignores when its call returns. */
void strace_put_ignored(struct strace *strace, struct strace_thread *t, uint64_t ts_ns)
{
	uint32_t kept = 0;

	if (strace->is_held && t->nr_sent)
		strace_finish_held(strace);
	for (uint32_t i = 0; i < t->nr_sent; i++) {
		if (!t->sent[i].is_ignored)
			t->sent[kept++] = t->sent[i];
		else if (strace_traces(strace, t))
			put_signal(strace, t, &t->sent[i], ts_ns);
	}
	t->nr_sent = kept;
}

/* CLD_EXITED, CLD_KILLED or CLD_DUMPED of a process that exited */
static int32_t status_of(const struct strace *strace, const struct trace_signal_generate *sent,
			 const struct trace_thread *by)
{
	uint32_t pid = by ? trace_process_pid(trace_thread_process(by)) : 0;

	if (sent->signal != LINUX_SIGCHLD || sent->code < 1 || sent->code > 3)
		return -1;
	for (size_t i = 0; i < MAX_EXITS && i < strace->nr_exits; i++) {
		const struct recent_exit *each = &strace->exits[(strace->nr_exits - 1 - i) % MAX_EXITS];

		if (each->pid == pid)
			return each->code;
	}
	return -1;
}

void strace_note_sent(struct strace *strace, const struct trace_event *event)
{
	const struct trace_signal_generate *sent = event->payload;
	const struct trace_thread *by = trace_event_thread(strace->names.analysis, event), *to;
	struct strace_thread *t;

	if (event->type->fixed_bytes < sizeof(*sent) || sent->result > LINUX_SIGNAL_IGNORED)
		return;
	to = trace_find_thread(strace->names.analysis, sent->tid);
	if (!to)
		return;
	t = strace_thread_of(strace, to);
	if (t->nr_sent == MAX_SENT)
		memmove(t->sent, t->sent + 1, --t->nr_sent * sizeof(t->sent[0]));
	t->sent[t->nr_sent++] = (struct sent_signal){
		.signal = sent->signal,
		.code = sent->code,
		.has_sender = by && sent->code != LINUX_SI_KERNEL && (sent->code <= 0 || sent->signal == LINUX_SIGCHLD),
		.pid = by ? trace_process_pid(trace_thread_process(by)) : 0,
		.uid = by ? trace_thread_uid(by) : 0,
		.status = status_of(strace, sent, by),
		.is_ignored = sent->result == LINUX_SIGNAL_IGNORED,
	};
}

/* The signal as it was sent to the thread, or to its process by way of another thread. */
static bool take_sent(struct strace *strace, struct strace_thread *t, uint32_t signal, struct sent_signal *ret_sent)
{
	const struct trace_process *process = trace_thread_process(t->thread);

	for (const struct trace_thread *each = NULL; (each = trace_next_thread(process, each));) {
		struct strace_thread *other = strace_thread_of(strace, each);

		for (uint32_t i = 0; i < other->nr_sent; i++)
			if (other->sent[i].signal == signal && !other->sent[i].is_ignored) {
				*ret_sent = other->sent[i];
				memmove(&other->sent[i], &other->sent[i + 1],
					(--other->nr_sent - i) * sizeof(other->sent[0]));
				return true;
			}
	}
	return false;
}

void strace_deliver(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_signal_deliver *delivered = event->payload;
	struct sent_signal sent = {0};

	if (event->type->fixed_bytes < sizeof(*delivered))
		return;
	if (delivered->signal == LINUX_SIGKILL) /* also how the kernel ends the threads of other fatal signals */
		return;
	if (!take_sent(strace, t, delivered->signal, &sent))
		sent = (struct sent_signal){.signal = delivered->signal, .status = -1};
	sent.code = delivered->code;
	if (strace_traces(strace, t))
		put_signal(strace, t, &sent, event->ts_ns);
}

void strace_exit_thread(struct strace *strace, struct strace_thread *t, const struct trace_event *event)
{
	const struct trace_sched_exit *ended = event->payload;
	struct sent_signal fatal;
	unsigned int signal;

	signal = (unsigned int)ended->code & 0x7f;
	if (signal && strace_traces(strace, t) && take_sent(strace, t, signal, &fatal) && signal != LINUX_SIGKILL)
		put_signal(strace, t, &fatal, event->ts_ns);
	strace->exits[strace->nr_exits++ % MAX_EXITS] =
		(struct recent_exit){trace_process_pid(trace_thread_process(t->thread)), ended->code};
	if (strace_traces(strace, t) && !strace->choice->quiet && strace_in_window(strace, event->ts_ns)) {
		strace_leave_unfinished(strace, "unfinished");
		strace_put_leader(strace, t, event->ts_ns);
		if (signal) {
			string_add(&strace->line, "+++ killed by ");
			strace_put_signal(&strace->line, signal);
			string_add(&strace->line, ended->code & LINUX_CORE_DUMPED ? " (core dumped) +++" : " +++");
		} else {
			string_addf(&strace->line, "+++ exited with %d +++", ended->code >> 8 & 0xff);
		}
		strace_write_line(strace, t);
	}
	strace_forget_thread(strace, t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_signal.c - requests in shared memory, announced by a futex wakeup or an eventfd
 *
 * The request itself is not recorded, but its wakeups are. A client wakes the server at the
 * server's word and waits at its own word. The server wakes the client there when it is done. The
 * analysis treats a word as a pipe: the thread that waits at it is the reader.
 *
 * A busy server is not woken. A client's wakeup that finds no waiter is a request, too. It is kept
 * with the server process (pending) until it is answered. Only the answer shows which of several
 * requests the server works on: the thread's time since its last rest or answer was for the client
 * that it wakes. So a request that came this way is not certain before its answer (tentative), and
 * ends with the answer.
 *
 * Example: client A wakes the server, which works on A's request. Client B wakes the server's word,
 * where no thread waits: B's request is pending. The server wakes A, then works for 300 us, and
 * wakes B: these 300 us are billed to B.
 *
 * Locks in shared memory are passed on by the same calls. Two processes at a lock do not alternate
 * for long: one wakes the other twice, or without being asked. Then neither is the other's server
 * (pair_row.breaks_alternation, servers_pair.c). A contended lock of glibc waits for the value 2,
 * and is excluded from the beginning.
 */
#include <errno.h>
#include <string.h>
#include "kernel_numbers.h"
#include "servers_request.h"
#include "servers_state.h"

#define MAX_ANNOUNCED 256u /* announced to a process and not answered; more: it never answers the oldest */
#define EVENTFD	      "[eventfd"

static uint64_t word_key(const struct servers_process *process, uint64_t address)
{
	return hash_u64(hash_u64(address) ^ ((uint64_t)(process ? process->idx + 1 : 0) << 32) ^ 0x73676e6c) | 1;
}

/*
 * The word at which a process wakes by @address of @process. NULL for @process: the word for that
 * address in any process. It is the same memory if the processes inherited it.
 */
static struct servers_row *word_row(struct trace_servers *s, const struct servers_process *process, uint64_t address)
{
	struct servers_row *row = table_add(&s->signals.words, sizeof(*row), word_key(process, address));

	s->failed = row ? s->failed : -ENOMEM;
	return row;
}

static bool wakes_by_futex(const struct servers_thread *waker, const struct servers_thread *woken)
{
	return waker->call.role == CALL_SIGNAL && woken->call.role == CALL_FUTEX && !woken->call.lock;
}

static bool writes_eventfd(const struct trace_servers *s, const struct servers_thread *thread)
{
	int fd = (int)trace_thread_syscall_arg(thread->thread, 0);
	struct trace_file_id id;
	const char *path;

	if (thread->call.role != CALL_SEND || thread->call.endpoint)
		return false;
	if (trace_thread_file_id(s->analysis, thread->thread, fd, &id) && (id.mode & LINUX_S_IFMT))
		return false; /* an eventfd has no file type */
	path = trace_thread_file(s->analysis, thread->thread, fd);
	return path && strstr(path, EVENTFD);
}

static bool waits_for_eventfd(const struct servers_thread *thread)
{
	return thread->call.role == CALL_POLL || (thread->call.role == CALL_RECEIVE && !thread->call.endpoint);
}

#define IS_EVENTFD   (1ull << 63) /* with the descriptor's number; no address of a program has this bit */
#define IS_ANY_EVENT 1ull	  /* poll does not say which descriptor it waits for */

/* Returns the address at which @thread waits or wakes. */
static uint64_t address_of(const struct servers_thread *thread)
{
	uint64_t address = trace_thread_syscall_arg(thread->thread, 0);

	if (thread->call.role == CALL_POLL)
		return IS_ANY_EVENT;
	return thread->call.role == CALL_FUTEX || thread->call.role == CALL_SIGNAL ? address
										   : IS_EVENTFD | (uint32_t)address;
}

/* Returns the word at which @thread sleeps. */
static struct endpoint *word_of(struct trace_servers *s, const struct servers_thread *thread)
{
	struct endpoint *word = pipe_get(s, 0, word_key(thread->process, address_of(thread)));

	if (word) {
		word->signal = true;
		word->owner = thread->process;
	}
	return word;
}

static void word_learn(struct trace_servers *s, const struct servers_thread *waker, const struct servers_thread *woken,
		       struct endpoint *word)
{
	uint64_t address = address_of(waker);
	struct servers_row *row = word_row(s, waker->process, address);

	if (row)
		row->pointer = word;
	row = address == address_of(woken) ? word_row(s, NULL, address) : NULL;
	if (row)
		row->pointer = word;
}

static void announce(struct trace_servers *s, struct servers_process *process, const struct set *incoming)
{
	for (uint32_t i = 0; incoming && i < incoming->nr; i++)
		if (!incoming->items[i]->replied)
			set_put_latest(&s->sets, &process->pending, incoming->items[i], MAX_ANNOUNCED);
	if (!process->pending || process->announced)
		return;
	process->announced = true;
	process->next_announced = s->signals.announced;
	s->signals.announced = process;
}

void signal_wakes(struct trace_servers *s, struct servers_thread *waker, struct servers_thread *woken)
{
	struct endpoint *word;

	if (!wakes_by_futex(waker, woken) && !(waits_for_eventfd(woken) && writes_eventfd(s, waker)))
		return;
	word = word_of(s, woken);
	if (!word)
		return;
	word_learn(s, waker, woken, word);
	request_prepare(s, waker, word);
	request_receive(s, woken, word,
			&(struct range){.set = waker->call.outgoing, .sender = waker->process, .thread = waker});
	announce(s, woken->process, woken->call.incoming);
	request_send(s, waker, word);
	waker->call.signalled = true;
}

/* No thread was woken: the server is busy, and will find the request. */
void signal_without_waiter(struct trace_servers *s, struct servers_thread *thread)
{
	uint64_t address = address_of(thread);
	const struct servers_row *row = word_row(s, thread->process, address);
	struct endpoint *word = row ? row->pointer : NULL;
	struct servers_thread owner = {0};

	if (!word) {
		row = word_row(s, NULL, address);
		word = row ? row->pointer : NULL;
	}
	if (!word || !word->owner || word->owner == thread->process)
		return;
	owner.process = word->owner;
	request_prepare(s, thread, word);
	if (!thread->call.answer) {
		request_receive(s, &owner, word,
				&(struct range){.set = thread->call.outgoing, .sender = thread->process});
		announce(s, word->owner, owner.call.incoming);
		set_assign(&owner.call.incoming, NULL);
	}
	request_send(s, thread, word);
	thread->call.signalled = true;
}

bool signal_is_eventfd(const struct trace_servers *s, const struct servers_thread *thread)
{
	return !thread->call.signalled && writes_eventfd(s, thread);
}

bool signal_is_private(uint64_t operation)
{
	return operation & LINUX_FUTEX_PRIVATE_FLAG;
}

bool signal_is_wake(uint64_t operation)
{
	uint32_t command = (uint32_t)operation & (uint32_t)LINUX_FUTEX_CMD_MASK;

	return command == LINUX_FUTEX_WAKE || command == LINUX_FUTEX_WAKE_BITSET;
}

void signals_drop_pending(struct servers_signals *signals)
{
	for (struct servers_process *process = signals->announced; process; process = process->next_announced) {
		set_assign(&process->pending, NULL);
		process->announced = false;
	}
	signals->announced = NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_signal.c - requests that stand in shared memory, and are announced by waking: a futex, or an eventfd.
 *
 * What is asked cannot be seen, but who wakes whom: a client wakes the server on the server's word and waits on its own; the server
 * wakes it there when it is done. A word is a queue with one end, like a pipe whose reader is who waits at it, and so it is one here.
 *
 * A server that is at work is not woken: that a client's wakeup found nobody is a request too, kept with the server (pending)
 * until it is answered. Which one of several it works on, only its answer tells: what the thread did since its last rest or answer is
 * for the client that it wakes. So a request that came this way is never sure before (tentative), and is over with the answer.
 *
 * Locks are passed on by the same calls. Two processes that pass one on to each other do not take turns for long: one wakes the other
 * twice, or unasked. Then none of the two is the other's server (pair_row.turns, servers_request.c). A contended lock of the C
 * library waits for the value 2, and is none of it from the beginning.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include "servers_ledger.h"

#define MAX_ANNOUNCED 256u /* to a process, and not answered; more: it never answers the oldest */
#define EVENTFD	      "[eventfd"

static uint64_t word_key(const struct ledger_process *process, uint64_t address)
{
	return hash_u64(hash_u64(address) ^ ((uint64_t)(process ? process->idx + 1 : 0) << 32) ^ 0x73676e6c) | 1;
}

/* Who wakes at @address of @process; NULL: the same address of any process, which is the same memory if they inherited it. */
static struct pointer_row *word_row(struct trace_servers *s, const struct ledger_process *process, uint64_t address)
{
	return table_add(&s->words, sizeof(struct pointer_row), word_key(process, address));
}

static bool wakes_by_futex(const struct ledger_thread *waker, const struct ledger_thread *woken)
{
	return waker->call == CALL_SIGNAL && woken->call == CALL_FUTEX && !woken->lock;
}

static bool writes_eventfd(const struct trace_servers *s, const struct ledger_thread *thread)
{
	int fd = (int)trace_thread_syscall_arg(thread->thread, 0);
	struct trace_file_id id;
	const char *path;

	if (thread->call != CALL_SEND || thread->endpoint)
		return false;
	if (trace_thread_file_id(s->analysis, thread->thread, fd, &id) && (id.mode & S_IFMT))
		return false; /* it has no type */
	path = trace_thread_file(s->analysis, thread->thread, fd);
	return path && strstr(path, EVENTFD);
}

static bool waits_for_eventfd(const struct ledger_thread *thread)
{
	return thread->call == CALL_POLL || (thread->call == CALL_RECEIVE && !thread->endpoint);
}

#define IS_EVENTFD   (1ull << 63) /* beside a descriptor's number; no address of a program has it */
#define IS_ANY_EVENT 1ull	  /* whoever polls says not what for */

/* Where @thread waits or wakes. */
static uint64_t address_of(const struct ledger_thread *thread)
{
	uint64_t address = trace_thread_syscall_arg(thread->thread, 0);

	if (thread->call == CALL_POLL)
		return IS_ANY_EVENT;
	return thread->call == CALL_FUTEX || thread->call == CALL_SIGNAL ? address : IS_EVENTFD | (uint32_t)address;
}

/* The word that @thread sleeps at. */
static struct endpoint *word_of(struct trace_servers *s, const struct ledger_thread *thread)
{
	struct endpoint *word = pipe_get(s, 0, word_key(thread->process, address_of(thread)));

	if (word) {
		word->signal = true;
		word->owner = thread->process;
	}
	return word;
}

static void learn(struct trace_servers *s, const struct ledger_thread *waker, const struct ledger_thread *woken, struct endpoint *word)
{
	uint64_t address = address_of(waker);
	struct pointer_row *row = word_row(s, waker->process, address);

	if (row)
		row->pointer = word;
	row = address == address_of(woken) ? word_row(s, NULL, address) : NULL;
	if (row)
		row->pointer = word;
}

static void announce(struct trace_servers *s, struct ledger_process *process, const struct set *incoming)
{
	for (uint32_t i = 0; incoming && i < incoming->nr; i++)
		if (!incoming->items[i]->replied)
			set_put_latest(s, &process->pending, incoming->items[i], MAX_ANNOUNCED);
	if (!process->pending || process->announced)
		return;
	process->announced = true;
	process->next_announced = s->announced;
	s->announced = process;
}

void signal_wakes(struct trace_servers *s, struct ledger_thread *waker, struct ledger_thread *woken)
{
	struct endpoint *word;

	if (!wakes_by_futex(waker, woken) && !(waits_for_eventfd(woken) && writes_eventfd(s, waker)))
		return;
	word = word_of(s, woken);
	if (!word)
		return;
	learn(s, waker, woken, word);
	request_prepare(s, waker, word);
	s->sender = waker;
	request_receive(s, woken, word, waker->process, waker->outgoing, 0);
	announce(s, woken->process, woken->incoming);
	request_send(s, waker, word);
	waker->signalled = true;
}

/* It woke nobody: whoever should have been is at work, and will find it. */
void signal_found_nobody(struct trace_servers *s, struct ledger_thread *thread)
{
	uint64_t address = address_of(thread);
	const struct pointer_row *row = word_row(s, thread->process, address);
	struct endpoint *word = row ? row->pointer : NULL;
	struct ledger_thread owner = {0};

	if (!word) {
		row = word_row(s, NULL, address);
		word = row ? row->pointer : NULL;
	}
	if (!word || !word->owner || word->owner == thread->process)
		return;
	owner.process = word->owner;
	request_prepare(s, thread, word);
	if (!thread->answer) {
		request_receive(s, &owner, word, thread->process, thread->outgoing, 0);
		announce(s, word->owner, owner.incoming);
		set_assign(&owner.incoming, NULL);
	}
	request_send(s, thread, word);
	thread->signalled = true;
}

bool signal_is_eventfd(const struct trace_servers *s, const struct ledger_thread *thread)
{
	return !thread->signalled && writes_eventfd(s, thread);
}

bool signal_is_private(uint64_t operation)
{
	return operation & FUTEX_PRIVATE_FLAG;
}

bool signal_is_wake(uint64_t operation)
{
	uint32_t command = (uint32_t)operation & (uint32_t)FUTEX_CMD_MASK;

	return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

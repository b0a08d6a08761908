/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_open.c - requests that are open, and the bounds of bills
 *
 *   read        the window of its client begins (window_begin()): the CPU time of the process
 *               until the window ends may be for this client
 *   handed on   another thread has it: the threads of this process cross
 *   answered    the window ends when the thread that answered it rests
 *   more of     the window was not over. Proofs for others since then do not hold (refute())
 *   the answer
 *
 * Example: a process of one thread reads a request of A when it has used 100 us, reads one of B at
 * 300 us, answers A at 500 us and B at 900 us, and rests at 950 us. The window of A is from 100 to
 * 950 us, and that of B from 300 to 950 us. 200 us are proven for A, until B's request came.
 */
#include <errno.h>
#include <string.h>
#include "servers_state.h"

#define MAX_QUEUED 256u /* open messages of a process; if there are more, it never answers the oldest */

/* ---- CPU time of a process ---- */

void open_count(struct trace_servers *s, struct servers_thread *thread)
{
	struct servers_process *process = thread->process;
	uint64_t now = process->serves ? trace_thread_cpu_ns(s->analysis, thread->thread) : 0;

	if (now <= thread->counted)
		return;
	process->counted += now - thread->counted;
	if (!open_held(thread))
		process->unheld += now - thread->counted;
	thread->counted = now;
}

/* Count @thread, which may be NULL, and all threads of @process that are on a CPU. The others were
 * counted when they left it. */
static void count_running(struct trace_servers *s, const struct servers_process *process, struct servers_thread *thread)
{
	if (thread)
		open_count(s, thread);
	if (thread && process->nr_threads <= 1)
		return;
	for (uint32_t cpu = 0; cpu < trace_nr_cpus(s->analysis); cpu++) {
		const struct trace_thread *on_cpu = trace_thread_on_cpu(s->analysis, cpu);
		struct servers_thread *known = on_cpu ? servers_find_thread(&s->threads, on_cpu) : NULL;

		if (known && known->process == process)
			open_count(s, known);
	}
}

/* The process reads its first request: its threads are counted from now on. */
static void serve_begin(struct trace_servers *s, struct servers_process *process)
{
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process->process, thread));) {
		struct servers_thread *known = servers_thread_of(s, thread);

		if (!known)
			continue;
		known->counted = servers_cpu_time(s, known).cpu;
		process->counted += known->counted;
	}
	process->unheld = process->counted;
	process->serves = true;
	process->next_serving = s->opens.serving;
	s->opens.serving = process;
}

/* ---- windows ---- */

static uint64_t less(uint64_t from, uint64_t ns)
{
	return from > ns ? from - ns : 0;
}

/* @early: CPU time of the thread that it has used in the call that read the request. */
static void window_begin(const struct servers_process *process, struct bill *bill, uint64_t early)
{
	if (bill->nr_open++)
		return;
	bill->open_from = less(process->counted, early);
	bill->unheld_from = less(process->unheld, early);
}

static void window_end(const struct servers_process *process, struct bill *bill)
{
	if (!bill->nr_open || --bill->nr_open)
		return;
	bill->open_all += process->counted - bill->open_from;
	bill->open_unheld += process->unheld - bill->unheld_from;
}

/* The window of a request was not over when it ended. */
static void window_reopen(struct bill *bill, const struct request_window *window)
{
	if (!bill->nr_open++) {
		bill->open_from = window->closed.all;
		bill->unheld_from = window->closed.unheld;
		return;
	}
	if (window->closed.all < bill->open_from)
		bill->open_from = window->closed.all;
	if (window->closed.unheld < bill->unheld_from)
		bill->unheld_from = window->closed.unheld;
}

/* The window of @request, which is made if there is none. NULL: out of memory. */
static struct request_window *window_of(struct trace_servers *s, struct server_request *request)
{
	struct request_window *window = request->window ? request->window : s->opens.free;

	if (window && !request->window)
		s->opens.free = window->next;
	if (!window)
		window = arena_take(&s->opens.windows, sizeof(*window));
	if (!window) {
		s->failed = -ENOMEM;
		return NULL;
	}
	if (!request->window)
		*window =
			(struct request_window){.request = request, .free = &s->opens.free, .origin = request->origin};
	request->window = window;
	return window;
}

/* ---- which thread has a request ---- */

static void hold(struct servers_thread *thread, struct request_window *window, uint64_t early)
{
	window->holder = thread;
	if (!thread)
		return;
	thread->held_last = window;
	window->held_from = less(thread->counted, early);
	tally_add(&thread->held, window->origin);
	thread->held_version++;
}

/* Add the time of the thread that has the request to the bill. The caller has counted it. */
static void count_held(struct trace_servers *s, const struct request_window *window)
{
	const struct servers_thread *thread = window->holder;
	struct bill *bill = thread ? bill_of(s, window->process, window->origin) : NULL;

	if (bill)
		bill->open_held += less(thread->counted, window->held_from);
	if (__builtin_expect(bill && s->kept, 0))
		kept_had(s, window->request, less(thread->counted, window->held_from));
}

/* The thread does not have the request any more. The caller has counted it. */
static void let_go(struct trace_servers *s, struct request_window *window)
{
	struct servers_thread *thread = window->holder;

	if (!thread)
		return;
	count_held(s, window);
	tally_remove(&thread->held, window->origin);
	if (!window->queued && window->request->perhaps) { /* no message is; it was not accessed for long */
		thread->perhaps--;
		window->request->perhaps = false;
	}
	thread->held_version++;
	window->holder = NULL;
}

static void list_append(struct servers_process *process, struct request_window *window)
{
	struct open_list *list;

	window->queued = is_queue(window->request->endpoint);
	list = &process->open_requests[window->queued];
	window->prev = list->last;
	window->next = NULL;
	*(list->last ? &list->last->next : &list->first) = window;
	list->last = window;
	list->nr++;
}

static void list_remove(struct servers_process *process, struct request_window *window)
{
	struct open_list *list = &process->open_requests[window->queued];

	*(window->prev ? &window->prev->next : &list->first) = window->next;
	*(window->next ? &window->next->prev : &list->last) = window->prev;
	list->nr--;
	window->next = window->prev = NULL;
}

/* The request is answered; its window is not over. The caller has counted the threads. */
static void leave(struct trace_servers *s, struct request_window *window)
{
	let_go(s, window);
	list_remove(window->process, window);
}

/*
 * It is not known whether the request is still open: it may be, to the end of the trace. The caller
 * has counted the threads.
 */
static void forget(struct trace_servers *s, struct request_window *window)
{
	struct server_request *request = window->request;

	leave(s, window);
	if (__builtin_expect(s->kept != NULL, 0))
		kept_ends(s, NULL, request, TRACE_REQUEST_UNKNOWN);
	tally_remove(&window->process->open, window->origin);
	window->process->open_version++;
	window->process->crosses = true; /* no thread is known to have it */
	request->window = NULL;
	window_free(window);
	request_unref(request);
}

void open_prefetch(const struct servers_process *process)
{
	const struct open_list *list = &process->open_requests[1];

	if (list->nr < MAX_QUEUED || !list->next_first)
		return;
	line_prefetch(list->first);
	line_prefetch(list->next_first);
	line_prefetch(list->next_request);
	line_prefetch(&list->next_request->window);
}

/* Remember what is accessed when the next message is forgotten: it was not accessed for long. */
static void prepare_prefetch(struct open_list *list)
{
	list->next_first = list->first ? list->first->next : NULL;
	list->next_request = list->first ? list->first->request : NULL;
}

/* The caller has counted the threads on CPUs, and @thread. */
static void forget_oldest_message(struct trace_servers *s, struct servers_process *process,
				  const struct servers_thread *thread)
{
	struct request_window *oldest = process->open_requests[1].first;

	if (!oldest)
		return;
	process->open.unsure++;
	process->open_version++;
	if (oldest->holder)
		oldest->holder->held.unsure++;
	if (oldest->holder != thread)
		count_running(s, process, oldest->holder);
	forget(s, oldest);
	prepare_prefetch(&process->open_requests[1]);
}

static void window_close(struct trace_servers *s, struct request_window *window)
{
	struct servers_process *process = window->process;
	struct bill *bill = bill_of(s, process, window->origin);

	count_held(s, window);
	if (bill)
		window_end(process, bill);
	if (__builtin_expect(s->kept != NULL, 0))
		kept_closes(s, process, window->request);
	tally_remove(&process->open, window->origin);
	process->open_version++;
	window->process = NULL;
	window->closed.all = process->counted;
	window->closed.unheld = process->unheld;
	window->closed.ns = trace_analysis_now(s->analysis);
	window->request->closing = false;
	request_unref(window->request); /* may free @window, too */
}

/* ---- requests begin ---- */

static uint64_t receiving_ns(const struct servers_thread *thread)
{
	if (!thread || (thread->call.role != CALL_RECEIVE && thread->call.role != CALL_SPLICE))
		return 0;
	return less(thread->counted, thread->call.enter.cpu);
}

/* The last request of this connection had perhaps another one in it: now this one has it. */
static void take_over(struct trace_servers *s, struct server_request *request)
{
	const struct set *answered = request->endpoint->answered;
	struct server_request *before = answered ? answered->items[0] : NULL;

	if (!before || !before->perhaps || request_open_in(before) != request->window->process ||
	    before->origin != request->origin)
		return;
	request_sent_by(request, before->several ? 2 : before->sent);
	leave(s, before->window);
	window_close(s, before->window);
}

void open_begin(struct trace_servers *s, struct servers_process *process, struct servers_thread *thread,
		struct server_request *request)
{
	struct request_window *window;
	struct bill *bill;
	uint64_t early;

	if (request_open_in(request) || request->replied)
		return;
	if (!process->serves)
		serve_begin(s, process);
	if (thread && (thread->call.role == CALL_RECEIVE || thread->call.role == CALL_SPLICE))
		bill_until(s, thread, &thread->call.enter); /* until then it had other requests */
	count_running(s, process, thread);
	bill = bill_of(s, process, request->origin);
	window = bill ? window_of(s, request) : NULL;
	if (!window)
		return;
	early = receiving_ns(thread);
	window_begin(process, bill, early);
	if (__builtin_expect(s->kept != NULL, 0))
		kept_begins(s, process, thread, request, early);
	window->process = process;
	process->crosses |= !thread;
	hold(thread, window, early);
	request_ref(request);
	list_append(process, window);
	tally_add(&process->open, request->origin);
	process->open_version++;
	take_over(s, request);
	if (process->open_requests[1].nr > MAX_QUEUED)
		forget_oldest_message(s, process, thread);
}

void open_handed(struct trace_servers *s, struct servers_thread *thread, const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++) {
		struct server_request *request = set->items[i];
		struct request_window *window = request->window;

		if (request_open_in(request) != thread->process || request->closing || window->holder == thread)
			continue;
		count_running(s, thread->process, thread);
		if (window->holder)
			open_count(s, window->holder);
		let_go(s, window);
		kept_has(s, thread, request);
		hold(thread, window, 0);
		thread->process->crosses = true;
	}
}

/* ---- requests end ---- */

/* The request is answered, or its connection has ended: its window ends when @thread rests. */
static void close_later(struct servers_thread *thread, struct request_window *window)
{
	window->request->closing = true;
	window->holder = thread;
	window->held_from = thread->counted;
	window->next = thread->closing;
	thread->closing = window;
	tally_add(&thread->trailing, window->origin);
}

void open_rest(struct trace_servers *s, struct servers_thread *thread)
{
	struct request_window *window = thread->closing, *next;
	bool knows = thread->seen_open == thread->process->open_version;

	thread->trails = false;
	if (thread->trailing.nr)
		thread->trailing = (struct tally){0};
	if (!window)
		return;
	count_running(s, thread->process, thread);
	thread->closing = NULL;
	for (; window; window = next) {
		next = window->next;
		window_close(s, window);
	}
	if (knows)
		thread->seen_open = thread->process->open_version;
}

static void proof_change(struct proof *proven, const struct proof *by, int sign)
{
	proven->alone += sign < 0 ? -by->alone : by->alone;
	proven->apart += sign < 0 ? -by->apart : by->apart;
}

/*
 * The part of @bill where proofs count that hold if @doubter is no server; NULL: they never hold.
 *
 * A bill has one such process, usually the client itself. One that turned out to be a server makes
 * room for another one, and its proofs are dropped.
 */
static struct proof *proven_of(struct bill *bill, const struct servers_process *doubter)
{
	if (!doubter)
		return &bill->proven;
	if (process_is_server(doubter))
		return NULL;
	if (bill->doubter && bill->doubter != doubter && !process_is_server(bill->doubter))
		return NULL;
	if (bill->doubter != doubter)
		bill->doubted = (struct proof){0};
	bill->doubter = doubter;
	return &bill->doubted;
}

/* All that was proven for others than @origin since @since_ns is not: another request was open. */
static void refute(struct trace_servers *s, struct servers_process *process, uint64_t since_ns, uint32_t origin)
{
	struct proofs *proofs = process->proofs;
	uint64_t nr = proofs ? proofs->nr : 0, oldest = nr > PROOFS ? nr - PROOFS : 0;

	if (!proofs)
		return;
	proofs->refuted_ns = trace_analysis_now(s->analysis);
	for (; nr > oldest && proofs->items[(nr - 1) % PROOFS].ns >= since_ns; nr--) {
		struct proof_taken *taken = &proofs->items[(nr - 1) % PROOFS];
		struct bill *bill = taken->origin == origin ? NULL : bill_of(s, process, taken->origin);

		kept_refutes(s, taken);
		if (!bill)
			continue;
		if (!taken->doubter)
			proof_change(&bill->proven, &taken->proof, -1);
		else if (taken->doubter == bill->doubter)
			proof_change(&bill->doubted, &taken->proof, -1);
		taken->proof = (struct proof){0};
		shares_refuted(s->shares, taken->share_proof);
	}
	if (nr > oldest || !oldest)
		return;
	for (struct bill *bill = NULL; (bill = table_next(&process->bills, sizeof(*bill), bill));)
		bill->proven = bill->doubted = (struct proof){0};
	shares_refuted_all(s->shares, process);
	kept_refutes_all(s, process);
	proofs->nr = 0;
}

/* One more piece of an answer, after the thread rested: the request was open all the time. */
static void answered_late(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	struct servers_process *process = thread->process;
	struct bill *bill = bill_of(s, process, request->origin);
	struct request_window *window = bill && process->serves ? window_of(s, request) : NULL;

	if (!window)
		return;
	count_running(s, process, thread);
	if (window->closed.ns) {
		window_reopen(bill, window);
		kept_reopens(s, process, request, process->counted - window->closed.all);
		bill->open_held += process->counted - window->closed.all;
		refute(s, process, window->closed.ns, request->origin);
	} else {
		window_begin(process, bill, 0);
		kept_reopens(s, process, request, 0);
	}
	window->process = process;
	tally_add(&process->open, request->origin);
	process->open_version++;
	request_ref(request);
	close_later(thread, window);
}

/* @request was read by the parent of the process that answers it, or its connection has ended. */
static void close_elsewhere(struct trace_servers *s, struct server_request *request)
{
	struct request_window *window = request->window;
	struct servers_thread *holder = window->holder;

	count_running(s, window->process, holder);
	leave(s, window);
	if (holder)
		close_later(holder, window);
	else
		window_close(s, window);
}

/* It is answered, or its connection is closed, but perhaps it is not over. */
static void perhaps_over(struct server_request *request)
{
	request->window->holder->perhaps += !request->perhaps;
	request->perhaps = true;
}

/* That the answering thread has one request less is no change that it does not know of. */
static void answered_here(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	uint64_t version = thread->held_version;

	count_running(s, thread->process, thread);
	if (request->window->holder != thread)
		thread->process->crosses = true;
	if (request->several && request->window->holder && !is_queue(request->endpoint)) {
		perhaps_over(request);
		tally_add(&thread->trailing, request->origin);
		return;
	}
	leave(s, request->window);
	thread->held_version = version;
	close_later(thread, request->window);
}

void open_answered(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	if (__builtin_expect(s->kept != NULL, 0))
		kept_ends(s, thread, request, TRACE_REQUEST_ANSWERED);
	if (request->closing)
		return;
	if (request_open_in(request) == thread->process) {
		answered_here(s, thread, request);
	} else if (request_open_in(request)) {
		request->window->process->crosses = true;
		close_elsewhere(s, request);
		tally_add(&thread->trailing, request->origin);
	} else {
		answered_late(s, thread, request);
	}
}

void open_prove(struct trace_servers *s, struct servers_thread *thread, struct server_request *request)
{
	struct proof_taken *taken = proof_take(s, thread, request);
	struct bill *bill = taken ? bill_of(s, thread->process, request->origin) : NULL;
	struct proof *proven = bill ? proven_of(bill, taken->doubter) : NULL;

	if (proven) {
		proof_change(proven, &taken->proof, 1);
		kept_proves(s, taken);
	} else if (taken) {
		taken->proof = taken->own = (struct proof){0};
		shares_refuted(s->shares, taken->share_proof);
	}
}

void open_answers_unseen(struct trace_servers *s, struct servers_thread *thread)
{
	refute(s, thread->process, 0, UINT32_MAX);
}

void open_unknown(struct servers_thread *thread, struct endpoint *endpoint)
{
	if (endpoint->unknown || endpoint->role == ROLE_CLIENT || is_queue(endpoint))
		return;
	endpoint->unknown = thread;
	thread->held.unsure++;
	thread->held_version++;
	thread->process->open.unsure++;
	thread->process->open_version++;
}

void open_unknown_ends(struct endpoint *endpoint)
{
	struct servers_thread *thread = endpoint->unknown;

	if (!thread)
		return;
	endpoint->unknown = NULL;
	thread->held.unsure--;
	thread->held_version++;
	thread->process->open.unsure--;
	thread->process->open_version++;
}

void open_ended(struct trace_servers *s, struct endpoint *endpoint)
{
	open_unknown_ends(endpoint);
	for (struct server_request *request = endpoint->requests, *next; request; request = next) {
		next = request->next;
		if (!request_open_in(request) || request->closing)
			continue;
		kept_ends(s, NULL, request, TRACE_REQUEST_CLOSED);
		close_elsewhere(s, request); /* may free it */
	}
}

void open_closes(struct trace_servers *s, struct endpoint *endpoint)
{
	for (struct server_request *request = endpoint ? endpoint->requests : NULL; request; request = request->next) {
		struct request_window *window = request->window;

		if (!request_open_in(request) || request->closing || !window->holder || window->queued)
			continue;
		count_running(s, window->process, window->holder);
		perhaps_over(request);
	}
}

bool open_holds_pipes_only(const struct servers_thread *thread)
{
	uint32_t nr = 0;

	for (const struct request_window *window = thread->process->open_requests[1].first; window;
	     window = window->next)
		nr += window->holder == thread && window->request->endpoint->kind == ENDPOINT_PIPE;
	return nr == thread->held.nr && thread->held.unsure == thread->unsure_until_exec;
}

void open_executed(struct trace_servers *s, struct servers_thread *thread)
{
	struct servers_process *process = thread->process;

	for (struct request_window *window = process->open_requests[1].first, *next; window; window = next) {
		next = window->next;
		if (window->request->endpoint->kind != ENDPOINT_PIPE)
			continue;
		kept_ends(s, NULL, window->request, TRACE_REQUEST_REPLACED);
		close_elsewhere(s, window->request); /* may free it */
	}
	thread->held.unsure -= thread->unsure_until_exec;
	thread->unsure_until_exec = 0;
}

/* ---- gaps, and the end ---- */

static struct request_window *first_open(const struct servers_process *process)
{
	return process->open_requests[0].first ? process->open_requests[0].first : process->open_requests[1].first;
}

void open_forget_all(struct trace_servers *s)
{
	for (struct servers_process *process = s->opens.serving; process; process = process->next_serving)
		for (struct request_window *window; (window = first_open(process));) {
			count_running(s, process, window->holder);
			forget(s, window);
		}
}

void open_finish(struct trace_servers *s)
{
	for (uint32_t i = 0; i < s->threads.nr; i++)
		if (s->threads.by_idx[i])
			open_count(s, s->threads.by_idx[i]);
	for (uint32_t i = 0; i < s->threads.nr; i++)
		if (s->threads.by_idx[i])
			open_rest(s, s->threads.by_idx[i]);
	for (struct servers_process *process = s->opens.serving; process; process = process->next_serving) {
		for (uint32_t i = 0; i < 2; i++)
			for (struct request_window *window = process->open_requests[i].first; window;
			     window = window->next)
				count_held(s, window);
		for (struct bill *bill = NULL; (bill = table_next(&process->bills, sizeof(*bill), bill));)
			if (bill->nr_open) {
				bill->nr_open = 1;
				window_end(process, bill);
			}
	}
}

void open_drop(struct trace_servers *s)
{
	for (uint32_t i = 0; i < s->threads.nr; i++)
		for (struct request_window *next; s->threads.by_idx[i] && s->threads.by_idx[i]->closing;) {
			next = s->threads.by_idx[i]->closing->next;
			request_unref(s->threads.by_idx[i]->closing->request);
			s->threads.by_idx[i]->closing = next;
		}
	for (struct servers_process *process = s->opens.serving; process; process = process->next_serving)
		for (struct request_window *window; (window = first_open(process));) {
			list_remove(process, window);
			request_unref(window->request);
		}
}

void opens_free(struct servers_opens *opens)
{
	arena_free(&opens->windows);
}

/* ---- results ---- */

uint32_t open_held(const struct servers_thread *thread)
{
	return thread->held.nr - thread->perhaps;
}

struct server_request *open_only(const struct servers_thread *thread)
{
	const struct request_window *window = thread->held_last;

	if (!window || thread->held.nr != 1 || thread->perhaps || thread->held.unsure)
		return NULL;
	if (!window->process || window->holder != thread || !window->request->counted)
		return NULL;
	return window->request;
}

uint64_t open_proven(const struct servers_process *process, const struct bill *bill)
{
	bool crosses = process_crosses(process);
	uint64_t proven = bill->named + (crosses ? bill->proven.alone : bill->proven.apart);

	if (bill->doubter && !process_is_server(bill->doubter))
		proven += crosses ? bill->doubted.alone : bill->doubted.apart;
	return proven < bill->ns ? proven : bill->ns;
}

uint64_t open_most(const struct servers_process *process, const struct bill *bill)
{
	uint64_t window = bill->open_all, apart = bill->open_held + bill->open_unheld, most;

	if (!process_crosses(process) && apart < window)
		window = apart;
	most = window + bill->outside;
	return most > bill->ns ? most : bill->ns;
}

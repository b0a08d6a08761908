/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_call.c - entry and exit of the system calls of threads that may serve
 *
 * The table at the top of servers.c shows what each call does to the thread's set.
 */
#include <errno.h>
#include <string.h>
#include "kernel_numbers.h"
#include "servers_receive.h"
#include "servers_request.h"
#include "servers_ring_user.h"
#include "servers_state.h"
#include "syscall_arguments.h"

#ifndef FUTEX2_PRIVATE
#define FUTEX2_PRIVATE 128
#endif
#define FUTEX_LOCK_CONTENDED 2 /* a glibc lock waits for this value, its condition variables do not */

static const struct {
	const char *name;
	uint8_t role;
} call_roles[] = {
	{"accept", CALL_ACCEPT},
	{"accept4", CALL_ACCEPT},
	{"clock_nanosleep", CALL_REST},
	{"clock_nanosleep_time64", CALL_REST},
	{"close", CALL_CLOSE},
	{"connect", CALL_CONNECT},
	{"creat", CALL_OPEN},
	{"epoll_pwait", CALL_POLL},
	{"epoll_pwait2", CALL_POLL},
	{"epoll_wait", CALL_POLL},
	{"futex", CALL_FUTEX},
	{"futex_time64", CALL_FUTEX},
	{"futex_wait", CALL_FUTEX},
	{"futex_waitv", CALL_FUTEX},
	{"futex_wake", CALL_SIGNAL},
	{"io_getevents", CALL_REST},
	{"io_pgetevents", CALL_REST},
	{"io_pgetevents_time64", CALL_REST},
	{"io_uring_enter", CALL_RING},
	{"io_uring_setup", CALL_MAKE},
	{"mq_timedreceive", CALL_REST},
	{"mq_timedreceive_time64", CALL_REST},
	{"msgrcv", CALL_REST},
	{"nanosleep", CALL_REST},
	{"open", CALL_OPEN},
	{"open_by_handle_at", CALL_OPEN},
	{"openat", CALL_OPEN},
	{"openat2", CALL_OPEN},
	{"pause", CALL_REST},
	{"pipe", CALL_MAKE},
	{"pipe2", CALL_MAKE},
	{"poll", CALL_POLL},
	{"ppoll", CALL_POLL},
	{"ppoll_time64", CALL_POLL},
	{"pselect6", CALL_POLL},
	{"pselect6_time64", CALL_POLL},
	{"read", CALL_RECEIVE},
	{"readv", CALL_RECEIVE},
	{"recvfrom", CALL_RECEIVE},
	{"recvmmsg", CALL_RECEIVE},
	{"recvmmsg_time64", CALL_RECEIVE},
	{"recvmsg", CALL_RECEIVE},
	{"rt_sigsuspend", CALL_REST},
	{"rt_sigtimedwait", CALL_REST},
	{"rt_sigtimedwait_time64", CALL_REST},
	{"select", CALL_POLL},
	{"semop", CALL_REST},
	{"semtimedop", CALL_REST},
	{"semtimedop_time64", CALL_REST},
	{"sendfile", CALL_SEND},
	{"sendmmsg", CALL_SEND},
	{"sendmsg", CALL_SEND},
	{"sendto", CALL_SEND},
	{"sigsuspend", CALL_REST},
	{"socket", CALL_MAKE},
	{"socketpair", CALL_MAKE},
	{"splice", CALL_SPLICE},
	{"tee", CALL_TEE},
	{"vmsplice", CALL_VMSPLICE},
	{"wait4", CALL_REST},
	{"waitid", CALL_REST},
	{"write", CALL_SEND},
	{"writev", CALL_SEND},
	{"_newselect", CALL_POLL},
};

/*
 * Returns where the arguments of a call are. Only a call on one descriptor has bytes: sendfile()
 * may transfer fewer than it was asked to.
 */
static struct call_places places_of(const char *name, bool is_32)
{
	const char *arguments = syscall_arguments(name, is_32);
	struct call_places places = {.fd = -1, .second_fd = -1, .bytes = -1, .flags = -1};

	if (!arguments)
		return places;
	places.fd = (int8_t)syscall_argument(arguments, 'f', 0);
	places.second_fd = (int8_t)syscall_argument(arguments, 'f', 1);
	places.flags = (int8_t)syscall_argument(arguments, 'x', 0);
	if (places.fd >= 0 && places.second_fd < 0)
		places.bytes = (int8_t)syscall_argument(arguments, 'n', 0);
	return places;
}

void servers_calls_prepare(struct trace_servers *s)
{
	static const enum trace_string_space spaces[] = {TRACE_STRING_SYSCALL, TRACE_STRING_SYSCALL_32};

	for (int abi = 0; abi < 2; abi++)
		for (uint32_t nr = 0; nr < 1024; nr++) {
			const char *name = trace_string(s->trace, spaces[abi], nr);

			for (size_t i = 0; name && i < sizeof(call_roles) / sizeof(call_roles[0]); i++)
				if (strcmp(name, call_roles[i].name) == 0)
					s->calls.roles[abi][nr] = call_roles[i].role;
			if (s->calls.roles[abi][nr])
				s->calls.places[abi][nr] = places_of(name, abi);
		}
}

/* ---- system calls: entry ---- */

struct call_args {
	const uint64_t *values;
	unsigned int nr;
	const struct call_places *places;
};

static bool is_pipe(const struct endpoint *endpoint)
{
	return endpoint && endpoint->kind == ENDPOINT_PIPE;
}

static void send_begin(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	thread->destination = 0;
	if (!endpoint)
		return;
	request_prepare(s, thread, endpoint);
	if (channel_out(endpoint))
		channel_begin(&s->channels, channel_out(endpoint), thread);
}

static bool from_endpoint(const struct server_request *request, const void *endpoint)
{
	return request->endpoint == endpoint;
}

/* The thread has read a request, or the answer to what it certainly asked for one. */
static void fresh_begin(struct servers_thread *thread)
{
	thread->fresh = true;
	thread->by_guess = false;
}

/* The thread may wait for work: what it has done so far says nothing about what it does next. */
static void rest(struct trace_servers *s, struct servers_thread *thread)
{
	thread->fresh = false;
	open_rest(s, thread);
}

/*
 * A thread whose parent had accepted a connection before it made the thread, and which receives
 * from elsewhere, was not made for that connection.
 */
static void leave_accepted(struct trace_servers *s, struct servers_thread *thread)
{
	thread->has_accepted = false;
	for (uint32_t i = 0; thread->set && i < thread->set->nr; i++)
		if (thread->set->items[i]->endpoint == thread->call.endpoint)
			return;
	bill_replace_set(s, thread, NULL, &thread->call.enter);
}

/* A thread that may block for the next message of a queue has finished with the last one. */
static void receive_begin(struct trace_servers *s, struct servers_thread *thread)
{
	open_prefetch(thread->process);
	bill_drop_replied(s, thread, &thread->call.enter);
	open_rest(s, thread);
	if (thread->has_accepted && thread->call.endpoint)
		leave_accepted(s, thread);
	if (thread->call.endpoint && thread->call.endpoint->kind == ENDPOINT_PIPE && !thread->call.endpoint->owner)
		thread->call.endpoint->owner = thread->process; /* data written there is for this process */
	if (thread->call.endpoint && !thread->call.nonblock && is_queue(thread->call.endpoint))
		set_filter(&s->sets, &thread->set, from_endpoint, thread->call.endpoint);
}

/*
 * True if the next data in @endpoint, a pipe, is what @thread itself wrote for the requests that it
 * works on: it only passes through the pipe, to a socket. No work comes in, and the thread cannot
 * wait for any.
 */
static bool passes_through(const struct servers_thread *thread, const struct endpoint *endpoint)
{
	const struct range *next = is_pipe(endpoint) && endpoint->channel.nr ? channel_range(&endpoint->channel, 0)
									     : NULL;

	return next && next->thread == thread && next->set == thread->set && endpoint->channel.in_step &&
	       set_any_unanswered(thread->set);
}

static const uint64_t *event_args(const struct trace_event *event, unsigned int *ret_nr)
{
	const struct trace_sys_enter6 *enter = event->payload;

	*ret_nr = event->id == TRACE_EV_sys_enter6 ? 6 : event->id == TRACE_EV_sys_enter3 ? 3 : 0;
	return &enter->arg0;
}

/* An argument, or @missing if the call has none of that kind, or it is not recorded. */
static uint64_t argument(const struct call_args *args, int place, uint64_t missing)
{
	return place >= 0 && (unsigned int)place < args->nr ? args->values[place] : missing;
}

static struct endpoint *argument_endpoint(struct trace_servers *s, struct servers_thread *thread,
					  const struct call_args *args, int place)
{
	return place >= 0 && (unsigned int)place < args->nr ? endpoint_of_fd(s, thread, args->values[place]) : NULL;
}

static void receive_flags(struct servers_thread *thread, const struct call_args *args)
{
	uint64_t flags = argument(args, args->places->flags, 0);

	/* the error queue contains the fate of the thread's own messages */
	thread->call.errors = flags & LINUX_MSG_ERRQUEUE;
	thread->call.peek = flags & LINUX_MSG_PEEK;
	thread->call.nonblock = flags & LINUX_MSG_DONTWAIT;
	thread->call.bytes_asked = argument(args, args->places->bytes, 0);
}

/* futex() has a command. Each call that is newer does one thing, and has flags. */
static void futex_begin(struct trace_servers *s, struct servers_thread *thread, const struct call_args *call)
{
	const uint64_t *args = call->values;
	uint32_t nr = call->nr,
		 command = nr >= 3 ? (uint32_t)args[1] & (uint32_t)LINUX_FUTEX_CMD_MASK : LINUX_FUTEX_WAIT;

	if (call->places->flags >= 0)
		thread->call.lock = false;
	else if (command == LINUX_FUTEX_WAIT || command == LINUX_FUTEX_WAIT_BITSET ||
		 command == LINUX_FUTEX_WAIT_REQUEUE_PI)
		thread->call.lock = (command == LINUX_FUTEX_WAIT && (uint32_t)args[2] == FUTEX_LOCK_CONTENDED) ||
				    futexes_have(&thread->process->locks, args[0]);
	else if (nr >= 3 && signal_is_wake(args[1]) && !signal_is_private(args[1]))
		thread->call.role = CALL_SIGNAL;
	else
		thread->call.role = CALL_NONE; /* it wakes threads of its own process, or takes a lock */
	if (thread->call.role != CALL_FUTEX || thread->call.lock)
		return;
	if (nr && args[0] != TRACE_ARG_ADDRESS) { /* futex_waitv(2): of several */
		thread->call.futex = args[0];
		futexes_add(&thread->waited, args[0]);
	}
	bill_drop_replied(s, thread, &thread->call.enter);
	rest(s, thread);
	if (thread->call.futex && !set_any_unanswered(thread->set))
		futexes_add(&thread->waited_idle, args[0]);
}

static void splice_begin(struct trace_servers *s, struct servers_thread *thread, const struct call_args *args)
{
	thread->call.target = argument_endpoint(s, thread, args, args->places->fd);
	thread->call.own_data = passes_through(thread, thread->call.target);
	if (!thread->call.own_data) {
		bill_drop_replied(s, thread, &thread->call.enter);
		open_rest(s, thread);
	}
	thread->call.endpoint = argument_endpoint(s, thread, args, args->places->second_fd);
	send_begin(s, thread, thread->call.endpoint);
}

static void call_begin(struct trace_servers *s, struct servers_thread *thread, const struct call_args *args)
{
	struct endpoint *listener;

	switch (thread->call.role) {
	case CALL_ACCEPT:
		listener = argument_endpoint(s, thread, args, args->places->fd);
		if (listener)
			listener->owner = thread->process; /* its parent may have made it */
							   /* fall through */
	case CALL_POLL:
		bill_replace_set(s, thread, NULL, &thread->call.enter);
		rest(s, thread);
		break;
	case CALL_RECEIVE:
		thread->call.endpoint = argument_endpoint(s, thread, args, args->places->fd);
		if (!thread->call.endpoint && fd_has_no_sender(s, thread, argument(args, args->places->fd, 0))) {
			thread->call.role = CALL_NONE;
			break;
		}
		receive_flags(thread, args);
		receive_begin(s, thread);
		break;
	case CALL_SEND:
	case CALL_VMSPLICE:
		thread->call.endpoint = argument_endpoint(s, thread, args, args->places->fd);
		thread->call.bytes_asked = argument(args, args->places->bytes, 0);
		send_begin(s, thread, thread->call.endpoint);
		break;
	case CALL_SPLICE:
		splice_begin(s, thread, args);
		break;
	case CALL_TEE:
		thread->call.endpoint = argument_endpoint(s, thread, args, args->places->second_fd);
		send_begin(s, thread, thread->call.endpoint);
		break;
	case CALL_CONNECT:
		thread->call.endpoint = argument_endpoint(s, thread, args, args->places->fd);
		if (thread->call.endpoint) {
			set_assign(&thread->call.endpoint->connect_set, thread->set);
			endpoint_holds_set(&s->endpoints, thread->call.endpoint);
		}
		break;
	case CALL_FUTEX:
		futex_begin(s, thread, args);
		break;
	case CALL_SIGNAL: /* futex_wake() */
		if (argument(args, args->places->flags, 0) & FUTEX2_PRIVATE)
			thread->call.role = CALL_NONE;
		break;
	case CALL_REST:
		bill_drop_replied(s, thread, &thread->call.enter);
		rest(s, thread);
		break;
	case CALL_RING:
		ring_enter(thread, args->values, args->nr);
		break;
	default:
		break;
	}
}

static void call_clear(struct servers_thread *thread)
{
	if (channel_out(thread->call.endpoint))
		channel_end(channel_out(thread->call.endpoint), thread);
	set_assign(&thread->call.incoming, NULL);
	set_assign(&thread->call.inherited, NULL);
	set_assign(&thread->call.outgoing, NULL);
	set_assign(&thread->call.sent, NULL);
	thread->call.role = CALL_NONE;
	thread->call.endpoint = thread->call.target = NULL;
	thread->call.answer = NULL;
	thread->call.waker = NULL;
	thread->call.bytes_asked = thread->call.bytes_written = thread->call.futex = 0;
	thread->call.sends = 0;
	thread->call.slept = thread->call.peek = thread->call.errors = thread->call.nonblock = thread->call.lock =
		thread->call.from_own_process = thread->call.own_data = thread->call.idle_read =
			thread->call.signalled = thread->call.replies = false;
}

/* A thread that closes goes on with what it did: only its requests change. */
static void close_begin(struct trace_servers *s, const struct trace_event *event, const struct call_places *places)
{
	const struct trace_thread *on_cpu = trace_thread_on_cpu(s->analysis, event->cpu);
	struct servers_thread *thread = on_cpu ? servers_find_thread(&s->threads, on_cpu) : NULL;
	struct call_args args = {.places = places};

	if (!thread || !thread->process->serves)
		return;
	args.values = event_args(event, &args.nr);
	open_closes(s, argument_endpoint(s, thread, &args, places->fd));
}

void call_on_enter(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sys_enter *enter = event->payload;
	uint32_t nr = enter->nr & 0x3fffffff, abi = enter->abi == TRACE_ABI_32;
	struct servers_thread *thread;
	struct call_args args;

	if (nr >= 1024 || !s->calls.roles[abi][nr])
		return;
	if (s->calls.roles[abi][nr] == CALL_CLOSE) {
		close_begin(s, event, &s->calls.places[abi][nr]);
		return;
	}
	thread = servers_current_thread(s, event);
	if (!thread)
		return;
	call_clear(thread);
	thread->call.recovered = true;
	thread->call.role = s->calls.roles[abi][nr];
	thread->call.enter = servers_cpu_time(s, thread);
	thread->call.enter_ns = trace_analysis_now(s->analysis);
	args.values = event_args(event, &args.nr);
	args.places = &s->calls.places[abi][nr];
	if (args.nr || thread->call.role == CALL_POLL || thread->call.role == CALL_REST ||
	    thread->call.role == CALL_ACCEPT || thread->call.role == CALL_RING)
		call_begin(s, thread, &args);
}

/* ---- system calls: exit ---- */

/*
 * The call that brought one of several requests is for that one. The time that follows is for the
 * request that is answered next.
 */
static void bill_receiving_call(struct trace_servers *s, struct servers_thread *thread)
{
	struct set *set = set_ref(thread->set);

	set_assign(&thread->set, thread->call.incoming);
	bill_now(s, thread);
	set_assign(&thread->set, set);
	set_unref(set);
}

/*
 * A thread that sleeps in a read from another connection, and has only accepted one so far, has
 * left that one for later.
 */
static void receive_end(struct trace_servers *s, struct servers_thread *thread)
{
	struct cpu_time now;

	if (thread->call.own_data)
		return;
	if (!thread->call.incoming) {
		now = servers_cpu_time(s, thread);
		if (thread->call.slept)
			bill_until(s, thread, &now);
		thread->fresh &= !thread->call.slept;
		if (thread->call.idle_read)
			bill_replace_set(s, thread, NULL, &now);
		return;
	}
	if (thread->call.from_own_process)
		open_handed(s, thread, thread->call.incoming);
	if (thread->call.from_own_process || thread->call.idle_read || thread->tentative) {
		bill_replace_set(s, thread, thread->call.incoming, &thread->call.enter);
	} else {
		bill_until(s, thread, &thread->call.enter);
		set_drop(&s->sets, &thread->set, thread->passed);
		set_drop_accepted(&s->sets, &thread->set);
		set_assign(&thread->passed, NULL);
		set_put_all(&s->sets, &thread->set, thread->call.incoming);
		log_set(s, thread);
	}
	if (thread->call.endpoint && thread->call.endpoint->asks_by_guess)
		thread->by_guess |= !thread->fresh;
	else if (set_any_counted(thread->call.incoming)) /* a connection that was accepted is not read yet */
		fresh_begin(thread);
	if (open_held(thread) > 1)
		bill_receiving_call(s, thread);
}

static void send_end(struct trace_servers *s, struct servers_thread *thread)
{
	if (!set_any_replied(&s->sets, thread->set))
		return;
	if (!thread->turn)
		bill_now(s, thread);
	if (set_any_unanswered(thread->set))
		set_drop_replied(&s->sets, &thread->set);
	log_set(s, thread);
}

/*
 * Two writers' calls may return in another order than they wrote. A writer that wakes a reader has
 * already written: up to a page (LINUX_PIPE_BUF) goes into the pipe as a whole, and waiters are
 * woken after that.
 */
void call_wakes_reader(struct trace_servers *s, struct servers_thread *writer, const struct servers_thread *woken)
{
	if (writer->call.role != CALL_SEND || !is_pipe(writer->call.endpoint) || writer->call.bytes_written ||
	    !writer->call.bytes_asked || writer->call.bytes_asked > LINUX_PIPE_BUF)
		return;
	if (woken->call.role == CALL_SEND && woken->call.endpoint == writer->call.endpoint)
		return; /* the next writer */
	writer->call.bytes_written = writer->call.bytes_asked;
	channel_send(s, &writer->call.endpoint->channel, writer, writer->call.bytes_written, 0);
	channel_end(&writer->call.endpoint->channel, writer);
}

static void pipe_write(struct trace_servers *s, struct servers_thread *thread, struct endpoint *pipe, int64_t ret)
{
	channel_end(&pipe->channel, thread);
	if (thread->call.bytes_written && (int64_t)thread->call.bytes_written != ret)
		channel_lost_step(&pipe->channel);
	if (ret <= 0)
		return;
	if (!thread->call.bytes_written)
		channel_send(s, &pipe->channel, thread, (uint64_t)ret, 0);
	request_send(s, thread, pipe);
}

static void pipe_read(struct trace_servers *s, struct servers_thread *thread, struct endpoint *pipe, int64_t ret)
{
	if (ret == -LINUX_EAGAIN)
		channel_drained(s, &pipe->channel, trace_analysis_now(s->analysis));
	if (ret <= 0)
		return;
	pipe->owner = thread->process;
	channel_receive(s, pipe, &pipe->channel, thread, (uint64_t)ret, 0);
}

/*
 * A wakeup announced a request, or answered one. A thread that may find its next job without
 * another wakeup keeps no answered request.
 */
static void signal_end(struct trace_servers *s, struct servers_thread *thread)
{
	bool woken = thread->call.role == CALL_FUTEX || thread->call.role == CALL_POLL ||
		     (thread->call.role == CALL_RECEIVE && !thread->call.endpoint);

	if (woken && thread->call.incoming) {
		bill_replace_set(s, thread, thread->call.incoming, &thread->call.enter);
		open_handed(s, thread, thread->call.incoming);
		fresh_begin(thread);
		set_assign(&thread->call.incoming, NULL);
		thread->tentative = true;
	} else if (thread->call.signalled && set_any_replied(&s->sets, thread->set)) {
		bill_now(s, thread);
		set_drop_replied(&s->sets, &thread->set);
		log_set(s, thread);
	}
}

/* The thread has answered in this call: its time until the end of the call is proven. */
static void prove_sent(struct trace_servers *s, struct servers_thread *thread)
{
	if (!thread->turn)
		bill_now(s, thread);
	for (uint32_t i = 0; i < thread->call.sent->nr; i++)
		open_prove(s, thread, thread->call.sent->items[i]);
	thread->trails = true;
}

static void call_end(struct trace_servers *s, struct servers_thread *thread, int64_t ret)
{
	if (thread->turn && thread->call.sent)
		turn_call_ends(s, thread);
	switch (thread->call.role) {
	case CALL_RECEIVE:
		if (is_pipe(thread->call.endpoint))
			pipe_read(s, thread, thread->call.endpoint, ret);
		break;
	case CALL_SPLICE:
		if (is_pipe(thread->call.target))
			pipe_read(s, thread, thread->call.target, ret);
		/* fall through */
	case CALL_SEND:
	case CALL_TEE:
	case CALL_VMSPLICE:
		if (is_pipe(thread->call.endpoint))
			pipe_write(s, thread, thread->call.endpoint, ret);
		send_end(s, thread);
		if (ret == 8 && signal_is_eventfd(s, thread))
			signal_without_waiter(s, thread);
		break;
	case CALL_SIGNAL:
		if (ret == 0)
			signal_without_waiter(s, thread);
		break;
	case CALL_RING:
		ring_exit(s, thread);
		break;
	default:
		break;
	}
	signal_end(s, thread);
	if (thread->call.inherited)
		set_drop_replied(&s->sets, &thread->call.inherited);
	if (thread->call.inherited && !thread->call.incoming) {
		bill_replace_set(s, thread, thread->call.inherited, &thread->call.enter);
		if (thread->call.role != CALL_FUTEX) /* else it may be a lock: the answer shows it */
			open_handed(s, thread, thread->call.inherited);
		thread->fresh |= set_any_counted(thread->call.inherited);
		thread->tentative = true;
	}
	if (thread->call.role == CALL_RECEIVE || thread->call.role == CALL_ACCEPT || thread->call.role == CALL_SPLICE)
		receive_end(s, thread);
	if (thread->call.sent)
		prove_sent(s, thread);
}

/*
 * Look up a call that began before the trace or in a gap, and what it acts on. Calls with a
 * recorded entry were handled by call_begin().
 */
void call_recover(struct trace_servers *s, struct servers_thread *thread)
{
	const char *name = thread->call.recovered ? NULL : trace_thread_syscall(s->analysis, thread->thread);

	thread->call.recovered = true;
	if (!name)
		return;
	for (size_t i = 0; i < sizeof(call_roles) / sizeof(call_roles[0]); i++)
		if (strcmp(name, call_roles[i].name) == 0)
			thread->call.role = call_roles[i].role;
	if (thread->call.role == CALL_RECEIVE)
		thread->call.endpoint = endpoint_of_fd(s, thread, trace_thread_syscall_arg(thread->thread, 0));
	thread->call.enter = servers_cpu_time(s, thread);
	thread->call.enter_ns = trace_analysis_now(s->analysis);
	if (thread->call.role == CALL_RING)
		ring_enter(thread, NULL, 0);
}

void call_on_exit(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sys_exit *exit = event->payload;
	const struct trace_thread *on_cpu = trace_thread_on_cpu(s->analysis, event->cpu);
	struct servers_thread *thread = on_cpu ? servers_touch_thread(s, on_cpu) : NULL;

	if (thread && !thread->call.role)
		call_recover(s, thread);
	if (!thread || !thread->call.role)
		return;
	call_end(s, thread, exit->ret);
	call_clear(thread);
}

void call_reset(struct servers_thread *thread)
{
	set_assign(&thread->call.incoming, NULL);
	set_assign(&thread->call.inherited, NULL);
	set_assign(&thread->call.outgoing, NULL);
	set_assign(&thread->call.sent, NULL);
	thread->call.answer = NULL;
	thread->call.replies = false;
	thread->call.role = CALL_NONE;
	thread->call.recovered = false;
}

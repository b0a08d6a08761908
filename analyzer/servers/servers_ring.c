/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_ring.c - servers that receive and send through io_uring
 *
 * A system call that receives says two things at once: this data came, and this thread works on it
 * from now on. A ring separates the two. One thread, the user of the operation, submits it. The
 * kernel executes it when it can: in the call that submits it, in a later call of the user, in a
 * worker thread, or in the thread that polls the ring. No event shows when the user looks at the
 * result. So the analysis follows these steps:
 *
 *   submitted     the operation keeps the user's set
 *   data came     its requests go into the user's queue (thread.arrived)
 *   completed     an operation that brings no request (a file was read, something was sent)
 *                 puts the set that it kept into the queue
 *   the user returns from io_uring_enter, and wanted to wait or has nothing else to do
 *                 its set becomes its queue
 *   it sleeps in the call
 *                 it has looked at everything that was in the queue
 *   the user enters the call, or submits
 *                 the ring shows how many results it has taken: its time since the last look
 *                 was for these
 *   the user answers
 *                 its time since its last answer or rest was for what it answers now; all
 *                 requests that it answers in one call share the time
 *
 * If a kernel thread polls the ring, the user makes no calls. Then the user is assumed to take what
 * comes when it has nothing else to do, and to leave what it has answered. A worker's CPU time is
 * for the operation that it completes. The CPU time of the polling thread is for an operation from
 * its submission on, if it completes at once.
 *
 * Example: a thread waits for data of A and B, which both arrive. It entered io_uring_enter at 100
 * us of its CPU time, and when it returns its set becomes A and B. At 400 us it submits the answer
 * to A: 300 us were for A. At 600 us, in the next call, it submits the answer to B: 200 us were for
 * B. If it submits both answers in one call at 600 us, A and B share the 500 us.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "kernel_numbers.h"
#include "servers_ledger.h"

#define NO_SLOT	        UINT32_MAX
#define ENTER_GETEVENTS 1 /* IORING_ENTER_GETEVENTS */

enum { OP_ACCEPT = 13, OP_CONNECT = 16, OP_SOCKET = 45 };

/* The purpose of an operation: enum io_uring_op, Linux 6.18. */
enum { SENDS = 1, RECEIVES = 2, WAITS = 4 /* completing it brings nothing back */ };
static const uint8_t purposes[64] = {
	[0] = WAITS,	 /* NOP */
	[1] = RECEIVES,	 /* READV */
	[2] = SENDS,	 /* WRITEV */
	[4] = RECEIVES,	 /* READ_FIXED */
	[5] = SENDS,	 /* WRITE_FIXED */
	[6] = WAITS,	 /* POLL_ADD */
	[7] = WAITS,	 /* POLL_REMOVE */
	[9] = SENDS,	 /* SENDMSG */
	[10] = RECEIVES, /* RECVMSG */
	[11] = WAITS,	 /* TIMEOUT */
	[12] = WAITS,	 /* TIMEOUT_REMOVE */
	[13] = WAITS,	 /* ACCEPT */
	[14] = WAITS,	 /* ASYNC_CANCEL */
	[15] = WAITS,	 /* LINK_TIMEOUT */
	[22] = RECEIVES, /* READ */
	[23] = SENDS,	 /* WRITE */
	[26] = SENDS,	 /* SEND */
	[27] = RECEIVES, /* RECV */
	[31] = WAITS,	 /* PROVIDE_BUFFERS */
	[32] = WAITS,	 /* REMOVE_BUFFERS */
	[40] = WAITS,	 /* MSG_RING */
	[47] = SENDS,	 /* SEND_ZC */
	[48] = SENDS,	 /* SENDMSG_ZC */
	[49] = RECEIVES, /* READ_MULTISHOT */
	[50] = WAITS,	 /* WAITID */
	[51] = WAITS,	 /* FUTEX_WAIT */
	[52] = WAITS,	 /* FUTEX_WAKE */
	[53] = WAITS,	 /* FUTEX_WAITV */
	[58] = RECEIVES, /* RECV_ZC */
	[59] = WAITS,	 /* EPOLL_WAIT */
	[60] = RECEIVES, /* READV_FIXED */
	[61] = SENDS,	 /* WRITEV_FIXED */
};

struct ring_op {
	uint64_t req; /* its address in the kernel */
	/*
	 * In the list of its endpoint, or of its user while the endpoint is not known. Used only if
	 * it sends or receives. @previous of the first is the last.
	 */
	struct ring_op *next, *previous;
	struct ledger_thread *user, *submitter;
	struct endpoint *endpoint; /* NULL: not known yet, or none */
	struct set *set;	   /* what its user worked on at the submission */
	struct set *outgoing;	   /* what the data that it sends carries */
	struct request *answer;	   /* the request that it answers; in @outgoing */
	struct set *got;	   /* what it received last, until its completion event */
	uint64_t submit_ns;
	uint32_t opcode;
	uint32_t slot; /* index of a registered file; NO_SLOT: it has a descriptor */
	bool prepared;
	bool polled; /* another thread submitted it: its user made no call */
};

struct slot_row { /* the socket that is a registered file */
	uint64_t key;
	uint64_t ino;
};

static unsigned int purpose(const struct ring_op *op)
{
	return op->opcode < sizeof(purposes) ? purposes[op->opcode] : 0;
}

/* ---- operations in progress ---- */

static struct ring_ops *list_of(struct ring_op *op)
{
	return op->endpoint ? &op->endpoint->ring_ops : &op->user->ring_ops;
}

/* Returns the index of the list for @what, SENDS or RECEIVES. */
static unsigned int list_for(unsigned int what)
{
	return what == RECEIVES;
}

static bool is_listed(const struct ring_op *op)
{
	return purpose(op) & (SENDS | RECEIVES);
}

static void link_last(struct ring_op *op)
{
	struct ring_ops *list = list_of(op);
	unsigned int which = list_for(purpose(op));

	list->nr++;
	if (!is_listed(op))
		return;
	op->next = NULL;
	op->previous = list->first[which] ? list->first[which]->previous : op;
	if (list->first[which])
		op->previous->next = op;
	else
		list->first[which] = op;
	list->first[which]->previous = op;
}

static void unlink_op(struct ring_op *op)
{
	struct ring_ops *list = list_of(op);
	unsigned int which = list_for(purpose(op));

	list->nr--;
	if (!is_listed(op))
		return;
	if (list->first[which] == op)
		list->first[which] = op->next;
	else
		op->previous->next = op->next;
	if (op->next)
		op->next->previous = op->previous;
	else if (list->first[which])
		list->first[which]->previous = op->previous;
}

static void op_forget_sets(struct ring_op *op)
{
	set_assign(&op->set, NULL);
	set_assign(&op->outgoing, NULL);
	set_assign(&op->got, NULL);
	op->answer = NULL;
}

static struct ring_op *op_find(const struct trace_servers *s, uint64_t req)
{
	const struct pointer_row *row = table_find(&s->ring_ops, sizeof(*row), req | 1);

	return row ? row->pointer : NULL;
}

static void op_free(struct trace_servers *s, struct ring_op *op)
{
	table_remove(&s->ring_ops, sizeof(struct pointer_row), op->req | 1);
	unlink_op(op);
	op_forget_sets(op);
	if (op->submitter && op->submitter->submitting == op)
		op->submitter->submitting = NULL;
	free(op);
}

static struct ring_op *op_new(struct trace_servers *s, uint64_t req, struct ledger_thread *user, struct endpoint *endpoint, uint32_t slot, uint32_t opcode)
{
	struct ring_op *op = op_find(s, req);
	struct pointer_row *row;

	if (op) /* its completion was not recorded */
		op_free(s, op);
	row = table_add(&s->ring_ops, sizeof(*row), req | 1);
	op = row ? calloc(1, sizeof(*op)) : NULL;
	if (!op) {
		table_remove(&s->ring_ops, sizeof(*row), req | 1); /* each row has its operation */
		s->failed = -ENOMEM;
		return NULL;
	}
	row->pointer = op;
	op->req = req;
	op->user = user;
	op->endpoint = endpoint;
	op->slot = slot;
	op->opcode = opcode;
	op->submit_ns = trace_analysis_now(s->analysis);
	set_assign(&op->set, user->set);
	link_last(op);
	return op;
}

void ring_forget(struct trace_servers *s)
{
	for (const struct pointer_row *row = NULL; (row = table_next(&s->ring_ops, sizeof(*row), row));)
		op_forget_sets(row->pointer);
}

void ring_free(struct trace_servers *s)
{
	for (const struct pointer_row *row = NULL; (row = table_next(&s->ring_ops, sizeof(*row), row));) {
		op_forget_sets(row->pointer);
		free(row->pointer);
	}
	table_clear(&s->ring_ops);
	table_clear(&s->ring_slots);
}

static void place(struct ring_op *op, struct endpoint *endpoint)
{
	unlink_op(op);
	op->endpoint = endpoint;
	link_last(op);
}

/*
 * Slots are looked up per thread: most programs that register files have one ring in each thread
 * that uses them.
 */
static uint64_t slot_key(const struct ledger_thread *user, uint32_t slot)
{
	return hash_u64(hash_u64((uintptr_t)user) ^ slot) | 1;
}

static void slot_learn(struct trace_servers *s, const struct ledger_thread *user, uint32_t slot, uint64_t ino)
{
	struct slot_row *row = table_add(&s->ring_slots, sizeof(*row), slot_key(user, slot));

	if (row)
		row->ino = ino;
	else
		s->failed = -ENOMEM;
}

static struct endpoint *in_slot(const struct trace_servers *s, const struct ledger_thread *user, uint32_t slot)
{
	const struct slot_row *row = table_find(&s->ring_slots, sizeof(*row), slot_key(user, slot));

	return row ? endpoint_find(s, row->ino) : NULL;
}

/* ---- users and workers ---- */

/*
 * True for a thread that the kernel made for a ring. It works for the thread that made it, or for
 * the process.
 */
static bool is_worker(struct ledger_thread *thread)
{
	if (!thread->ring_worker && strncmp(trace_thread_comm(thread->thread), "iou-", 4) == 0) {
		thread->ring_worker = true;
		/* it does not work on what its user worked on when it was made */
		set_assign(&thread->set, NULL);
	}
	return thread->ring_worker;
}

static struct ledger_thread *user_of(struct trace_servers *s, struct ledger_thread *thread)
{
	const struct trace_thread *leader;

	if (!is_worker(thread)) {
		gaps_touch(s, thread); /* it may be another thread than that of the event */
		return thread;
	}
	if (thread->parent && thread->parent->process == thread->process)
		return user_of(s, thread->parent);
	leader = trace_find_thread(s->analysis, trace_process_pid(thread->process->process));
	return leader ? servers_thread_of(s, leader) : NULL;
}

/* ---- the user's set ---- */

static bool has_unanswered(const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (!set->items[i]->replied)
			return true;
	return false;
}

static void charge_for(struct trace_servers *s, struct ledger_thread *user, struct set *set, const struct spent *until)
{
	struct set *before = set_ref(user->set);

	set_assign(&user->set, set);
	if (set != before)
		log_believe(user);
	servers_charge_until(s, user, until);
	set_assign(&user->set, before);
	set_unref(before);
}

/*
 * Bill @user until its submission at @until.
 *
 * The time was for the requests that it has answered by then, or for its whole set if it answered
 * none. If an answered request came while the thread worked on something else, then the thread has
 * looked at its queue meanwhile: the time until then was for the old set.
 */
static void settle(struct trace_servers *s, struct ledger_thread *user, const struct spent *until)
{
	struct set *answered = set_ref(user->answered), *before = set_ref(user->answered), *meanwhile = set_ref(user->answered);

	set_keep(s, &before, user->set);
	set_keep(s, &meanwhile, user->arrived);
	if (meanwhile && user->arrived_at.cpu > user->charged.cpu && user->arrived_at.cpu < until->cpu)
		charge_for(s, user, before ? before : user->set, &user->arrived_at);
	charge_for(s, user, answered ? answered : user->set, until);
	set_unref(before);
	set_unref(meanwhile);
	set_drop(s, &user->arrived, answered);
	if (has_unanswered(user->set))
		set_drop_replied(s, &user->set);
	else if (answered) /* until its next rest, because the answer may have several pieces */
		set_assign(&user->set, answered);
	set_unref(answered);
	set_assign(&user->answered, NULL);
}

static bool any_asked(const struct set *set)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->counted && !set->items[i]->replied)
			return true;
	return false;
}

/* Let @user work on its queue, from the CPU time @until on. */
static void take(struct trace_servers *s, struct ledger_thread *user, const struct spent *until)
{
	struct set *taken = user->arrived;

	user->arrived = NULL;
	set_drop_replied(s, &taken);
	if (any_asked(taken)) /* a connection that was only accepted is left for later */
		set_drop_accepted(s, &taken);
	servers_replace_set(s, user, taken, until);
	user->tentative = taken && taken->nr > 1;
	set_unref(taken);
}

static bool is_accepted_at(const struct request *request, const void *endpoint)
{
	return !request->counted && request->endpoint == endpoint;
}

#define NOT_YET (-1)

/* Note at which position of the ring the result with @set is. */
static void label(struct ledger_thread *user, const struct set *set, int64_t position)
{
	for (uint32_t i = 0; set && i < set->nr; i++) {
		set->items[i]->queued_for = user;
		set->items[i]->queued_at = position == NOT_YET ? 0 : (uint32_t)position;
		set->items[i]->queued_soon = position == NOT_YET;
	}
}

static void arrives(struct trace_servers *s, struct ledger_thread *user, struct set *set, int64_t position)
{
	struct spent now;

	if (!has_unanswered(set))
		return;
	for (uint32_t i = 0; i < set->nr; i++)
		/* data came on an accepted connection: its request replaces the connection's */
		if (set->items[i]->counted) {
			set_filter(s, &user->set, is_accepted_at, set->items[i]->endpoint);
			set_filter(s, &user->arrived, is_accepted_at, set->items[i]->endpoint);
		}
	label(user, set, position);
	now = servers_spent(s, user);
	if (!user->arrived)
		user->arrived_at = now;
	set_put_all(s, &user->arrived, set);
	if (user->call != CALL_RING && !has_unanswered(user->set))
		take(s, user, &now);
}

struct looks {
	const struct ledger_thread *user;
	uint32_t seen;
};

static bool is_looked_at(const struct request *request, const void *data)
{
	const struct looks *looks = data;

	if (request->queued_for == looks->user && request->queued_soon)
		return false;
	return request->queued_for != looks->user || !request->queued_at || (int32_t)(looks->seen - request->queued_at) >= 0;
}

static bool is_not_looked_at(const struct request *request, const void *data)
{
	return !is_looked_at(request, data);
}

/*
 * @user has taken @seen results from the ring until now. So its time since its last bill was for
 * the requests in these results, except for those for which it submitted something before it took
 * the next result.
 */
static void look(struct trace_servers *s, struct ledger_thread *user, uint32_t seen)
{
	struct looks looks = {user, seen};
	struct set *later = set_ref(user->set), *now = set_ref(user->arrived);

	user->knows_seen = true;
	set_filter(s, &later, is_looked_at, &looks);
	set_filter(s, &now, is_not_looked_at, &looks);
	set_drop_replied(s, &now);
	if (any_asked(now) || any_asked(user->set))
		set_drop_accepted(s, &now);
	if (later) {
		set_filter(s, &user->set, is_not_looked_at, &looks);
		set_put_all(s, &user->arrived, later);
	}
	if (now) {
		if (has_unanswered(user->set) && user->arrived_at.cpu > user->charged.cpu)
			servers_charge_until(s, user, &user->arrived_at);
		set_drop(s, &user->set, user->passed);
		set_drop_replied(s, &user->set);
		set_assign(&user->passed, NULL);
		set_put_all(s, &user->set, now);
		set_drop(s, &user->arrived, now);
	}
	if (later || now)
		log_believe(user);
	set_unref(later);
	set_unref(now);
}

/* Bill a worker's time since its last bill. */
static void charge_worker(struct trace_servers *s, struct ledger_thread *worker, const struct ring_op *op, struct set *set)
{
	if (!is_worker(worker))
		return;
	if (strncmp(trace_thread_comm(worker->thread), "iou-sqp-", 8) == 0 && worker->submitting != op)
		set = NULL; /* the polling thread has also looked for work */
	set_assign(&worker->set, set);
	servers_charge(s, worker);
	set_assign(&worker->set, NULL);
}

/* ---- io_uring_enter ---- */

void ring_enter(struct ledger_thread *thread, const uint64_t *args, unsigned int nr)
{
	thread->has_ring = true;
	thread->ring_waits = nr < 6 || ((args[3] & ENTER_GETEVENTS) && args[2]);
	thread->submitted = thread->enter;
	thread->settled = thread->knows_seen = false;
}

void ring_looked(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_enter *enter = event->payload;
	struct ledger_thread *thread = servers_current_thread(s, event);

	if (!thread || thread->call != CALL_RING)
		return;
	thread->several_rings |= thread->ring && thread->ring != enter->ring;
	thread->ring = enter->ring;
	if (!thread->several_rings)
		look(s, thread, enter->seen);
}

void ring_sleeps(struct trace_servers *s, struct ledger_thread *thread)
{
	if (!thread->ring_waits || thread->settled)
		return;
	thread->settled = true;
	settle(s, thread, &thread->submitted);
	if (thread->arrived_at.cpu <= thread->enter.cpu)
		set_assign(&thread->arrived, NULL); /* it has looked, and waits for more */
	servers_replace_set(s, thread, NULL, &thread->submitted); /* it looks for work, so it has finished */
}

void ring_exit(struct trace_servers *s, struct ledger_thread *thread)
{
	/* from operations with a submission that was not recorded */
	set_put_all(s, &thread->arrived, thread->incoming);
	set_assign(&thread->incoming, NULL);
	if (!thread->settled) {
		settle(s, thread, &thread->submitted);
		if (thread->ring_waits && !thread->knows_seen)
			/* it may not have looked at all of them */
			set_put_all(s, &thread->arrived, thread->set);
	}
	if (thread->ring_waits || (thread->arrived && !has_unanswered(thread->set)))
		take(s, thread, &thread->submitted);
	else
		log_set(s, thread);
}

/* ---- operations ---- */

static void prepare(struct trace_servers *s, struct ring_op *op)
{
	struct ledger_thread *user = op->user;
	struct endpoint *endpoint = user->endpoint;
	struct set *outgoing;
	struct request *answer = user->answer;

	if (op->prepared)
		return;
	op->prepared = true;
	outgoing = set_ref(user->outgoing);
	user->endpoint = op->endpoint;
	request_prepare_queued(s, user, op->endpoint);
	op->answer = user->answer;
	set_assign(&op->outgoing, user->outgoing);
	set_assign(&user->outgoing, outgoing);
	set_unref(outgoing);
	user->answer = answer;
	user->endpoint = endpoint;
}

/* Bill a user that makes no call to submit. */
static void settle_now(struct trace_servers *s, struct ledger_thread *user)
{
	struct spent now;

	if (user->call == CALL_RING && user->settled)
		set_assign(&user->answered, NULL); /* it sleeps: its time is billed already */
	if (user->call == CALL_RING || !user->answered)
		return;
	now = servers_spent(s, user);
	/* it may have begun the next request before this was seen */
	set_put_all(s, &user->answered, user->set);
	settle(s, user, &now);
	log_set(s, user);
}

void ring_submit(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_submit *submit = event->payload;
	struct ledger_thread *thread = servers_current_thread(s, event), *user = thread ? user_of(s, thread) : NULL;
	bool has_fd = submit->opcode < sizeof(purposes) && ((purposes[submit->opcode] & (SENDS | RECEIVES)) || submit->opcode == OP_CONNECT || submit->opcode == OP_ACCEPT);
	bool fixed = submit->flags & URING_FIXED_FILE;
	struct endpoint *endpoint = NULL;
	uint32_t opcode = submit->opcode;
	struct ring_op *op;

	if (thread && !thread->call)
		servers_call_recover(s, thread);
	if (user && has_fd)
		endpoint = fixed ? in_slot(s, user, (uint32_t)submit->fd) : endpoint_of_fd(s, user, (uint64_t)submit->fd);
	if (user && submit->seen && !user->several_rings)
		look(s, user, submit->seen);
	/* Reading a file brings back what it was read for. */
	if (user && !endpoint && !fixed && submit->opcode < sizeof(purposes) && (purposes[submit->opcode] & RECEIVES) && brings_nothing(s, user, (uint64_t)submit->fd))
		opcode = UINT32_MAX;
	op = user ? op_new(s, submit->req, user, endpoint, fixed ? (uint32_t)submit->fd : NO_SLOT, opcode) : NULL;
	if (!op)
		return;
	op->polled = thread != user;
	if (endpoint && op->opcode == OP_ACCEPT)
		endpoint->owner = user->process;
	if (endpoint && op->opcode == OP_CONNECT) {
		set_assign(&endpoint->connect_set, user->set);
		gaps_hold(s, endpoint);
	}
	if (endpoint && (purpose(op) & SENDS) && endpoint->kind != ENDPOINT_DATAGRAM)
		prepare(s, op);
	if (thread->ring_worker) {
		charge_worker(s, thread, op, NULL);
		settle_now(s, user);
	} else if (!thread->settled) {
		user->submitted = servers_spent(s, user);
	}
	if (!(purpose(op) & (RECEIVES | WAITS)))
		set_put_all(s, &user->passed, op->set);
	thread->submitting = op;
	op->submitter = thread;
	if (thread->call != CALL_RING)
		return;
	thread->endpoint = endpoint;
	set_assign(&thread->outgoing, op->outgoing);
}

static bool is_of_call(const struct ledger_thread *thread, const struct endpoint *endpoint)
{
	return (thread->call == CALL_SEND || thread->call == CALL_RECEIVE || thread->call == CALL_SPLICE) && thread->endpoint == endpoint;
}

/*
 * Find the operation that a transfer at @endpoint belongs to. Returns NULL if its submission was
 * not recorded, or if the transfer is not a ring's.
 */
static struct ring_op *op_of(struct ledger_thread *user, struct endpoint *endpoint, unsigned int what)
{
	struct ring_op *op = endpoint->ring_ops.first[list_for(what)];

	if (op || !user)
		return op;
	op = user->ring_ops.first[list_for(what)];
	if (op) /* a registered file */
		place(op, endpoint);
	return op;
}

bool ring_sends(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, int64_t ret, uint32_t position)
{
	struct ring_op *op = s->ring_ops.used && !is_of_call(thread, endpoint) ? op_of(user_of(s, thread), endpoint, SENDS) : NULL;
	struct ledger_thread *user = op ? op->user : NULL;
	struct endpoint *before;
	struct set *outgoing;
	struct request *answer;

	if (!op)
		return false;
	if (ret <= 0)
		return true;
	gaps_touch(s, user);
	prepare(s, op);
	before = user->endpoint;
	outgoing = user->outgoing;
	answer = user->answer;
	user->endpoint = endpoint;
	user->outgoing = op->outgoing;
	user->answer = op->answer;
	if (channel_out(endpoint))
		channel_send(s, channel_out(endpoint), user, endpoint->kind == ENDPOINT_SEQPACKET ? 1 : (uint64_t)ret, position);
	request_send(s, user, endpoint);
	if (endpoint->role == ROLE_CLIENT && !op->answer) {
		set_assign(&endpoint->awaiting, op->set);
		gaps_hold(s, endpoint);
	}
	user->endpoint = before;
	user->outgoing = outgoing;
	user->answer = answer;
	op->answer = NULL;
	charge_worker(s, thread, op, op->outgoing);
	if (thread == user && !thread->settled && thread->call == CALL_RING)
		user->submitted = servers_spent(s, user);
	else if (op->polled && user->call != CALL_RING) /* it makes no calls in which it could rest */
		servers_leave_replied(s, user);
	return true;
}

bool ring_receives(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, struct channel *channel, int64_t amount,
		   uint32_t position)
{
	struct ledger_thread *user = is_of_call(thread, endpoint) ? NULL : user_of(s, thread);
	struct ring_op *op = user && s->ring_ops.used ? op_of(user, endpoint, RECEIVES) : NULL;
	struct set *incoming, *got;
	uint64_t asked, slept_ns;
	bool handed;

	if (!op && (!user || (user == thread && thread->call != CALL_RING)))
		return false;
	user = op ? op->user : user;
	gaps_touch(s, user);
	incoming = user->incoming;
	asked = user->asked;
	slept_ns = user->slept_ns;
	handed = user->handed;
	user->incoming = NULL;
	user->asked = 0;
	if (op && op->submit_ns > user->slept_ns) /* it slept for something else */
		user->slept_ns = 0;
	endpoint->owner = user->process;
	if (channel)
		channel_receive(s, endpoint, channel, user, (uint64_t)amount, position);
	else
		request_receive(s, user, endpoint, NULL, NULL, 0);
	got = user->incoming;
	user->incoming = incoming;
	user->asked = asked;
	user->slept_ns = slept_ns;
	user->handed = handed;
	arrives(s, user, got, NOT_YET);
	set_assign(&user->got, got);
	if (op) {
		charge_worker(s, thread, op, got);
		set_assign(&op->got, got);
	}
	set_unref(got);
	return true;
}

static void accepted(struct trace_servers *s, struct ring_op *op, struct endpoint *endpoint, uint32_t position)
{
	struct ledger_thread *user = op->user;
	struct set *incoming = user->incoming;

	user->incoming = NULL;
	endpoint->owner = user->process;
	if (!s->gap_until)
		endpoint->is_new = endpoint->channel.in_step = true;
	request_accept(s, user, endpoint);
	arrives(s, user, user->incoming, position);
	set_unref(user->incoming);
	user->incoming = incoming;
}

/* For a pipe only the completion shows what was transferred. */
static void pipe_transfer(struct trace_servers *s, struct ledger_thread *thread, struct ring_op *op, int64_t res)
{
	if (res <= 0)
		return;
	if (purpose(op) & SENDS) {
		ring_sends(s, thread, op->endpoint, res, 0);
		return;
	}
	ring_receives(s, thread, op->endpoint, &op->endpoint->channel, res, 0);
}

void ring_complete(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_complete *complete = event->payload;
	struct ledger_thread *thread = trace_cpu_interrupt(s->analysis, event->cpu) ? NULL : servers_current_thread(s, event);
	struct ring_op *op = complete->req ? op_find(s, complete->req) : NULL;
	struct endpoint *made = thread ? thread->ring_made : NULL;
	struct ledger_thread *user;

	if (thread)
		thread->ring_made = NULL;
	if (!op) { /* the next piece that one operation received */
		user = thread ? user_of(s, thread) : NULL;
		if (user)
			label(user, user->got, complete->position);
		return;
	}
	gaps_touch(s, op->user);
	if (thread && op->endpoint && op->endpoint->kind == ENDPOINT_PIPE)
		pipe_transfer(s, thread, op, complete->res);
	else if (op->opcode == OP_ACCEPT && complete->res >= 0 && made)
		accepted(s, op, made, complete->position);
	else if (op->opcode == OP_SOCKET && complete->res >= 0 && made && !s->gap_until)
		made->is_new = made->channel.in_step = true;
	if (op->opcode == OP_CONNECT && made && made->kind != ENDPOINT_DATAGRAM) {
		set_assign(&made->connect_set, op->set);
		gaps_hold(s, made);
		made->role = ROLE_CLIENT;
		if (made->peer)
			made->peer->role = ROLE_SERVER;
	}
	if (thread && thread != op->user)
		charge_worker(s, thread, op, op->got ? op->got : op->outgoing ? op->outgoing : op->set);
	label(op->user, op->got, complete->position);
	set_assign(&op->got, NULL);
	set_assign(&op->user->got, NULL);
	if (!(purpose(op) & (RECEIVES | WAITS)))
		arrives(s, op->user, op->set, complete->position);
	if (!(complete->flags & URING_CQE_MORE))
		op_free(s, op);
}

/*
 * The event for a registered file comes when an operation on it completes, or when an operation
 * made it.
 */
void ring_file(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_file *file = event->payload;
	struct ring_op *op = op_find(s, file->req);

	if (!op)
		return;
	if (S_ISSOCK(file->mode) && op->slot != NO_SLOT)
		slot_learn(s, op->user, op->slot, file->ino);
	if (!op->endpoint && S_ISFIFO(file->mode))
		place(op, pipe_get(s, file->dev, file->ino));
}

void ring_open(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_open *open = event->payload;
	struct ledger_thread *thread = S_ISSOCK(open->mode) ? servers_current_thread(s, event) : NULL, *user = thread ? user_of(s, thread) : NULL;

	if (user)
		slot_learn(s, user, open->slot, open->ino);
}

/*
 * For a receiver that is faster than the event of the send: find an operation that may be sending
 * at @endpoint.
 */
const struct ring_op *ring_sending(const struct endpoint *endpoint, const struct ring_op *after, struct ledger_thread **ret_user, struct set **ret_set)
{
	const struct ring_op *op = after ? after->next : endpoint->ring_ops.first[list_for(SENDS)];

	while (op && !op->prepared)
		op = op->next;
	if (op) {
		*ret_user = op->user;
		*ret_set = op->outgoing;
	}
	return op;
}

bool ring_datagram(struct trace_servers *s, struct ledger_thread *thread, uint64_t destination)
{
	struct ring_op *op = thread->call == CALL_RING ? thread->submitting : NULL;

	if (!op || !(purpose(op) & SENDS) || !op->endpoint || op->endpoint->kind != ENDPOINT_DATAGRAM)
		return false;
	thread->destination = destination;
	prepare(s, op);
	thread->endpoint = op->endpoint;
	set_assign(&thread->outgoing, op->outgoing);
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rules_case.h"

#include "unit.h"

/* ---- hooks ---- */

static struct {
	trace_interval_fn fn;
	void *data;
} kept[16];
static size_t nr_kept;
static struct {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn fn;
	void *data;
} kept_events[16];
static size_t nr_kept_events;

int __wrap_trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn,
					 void *data);
int __wrap_trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn,
					 void *data)
{
	(void)analysis;
	(void)states;
	kept[nr_kept].fn = fn;
	kept[nr_kept++].data = data;
	return 0;
}

int __wrap_trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn,
				   void *data);
int __wrap_trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn, void *data)
{
	(void)analysis;
	memcpy(kept_events[nr_kept_events].mask, mask, sizeof(kept_events[0].mask));
	kept_events[nr_kept_events].fn = fn;
	kept_events[nr_kept_events++].data = data;
	return 0;
}

/* Behind the pass no thread is in a call, so the test says in which one it is. */
const char *call_in_progress;
const char *__wrap_trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread);
const char *__wrap_trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread)
{
	(void)analysis;
	(void)thread;
	return call_in_progress;
}

uint64_t call_args[2];
uint64_t __wrap_trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx);
uint64_t __wrap_trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx)
{
	(void)thread;
	return idx < 2 ? call_args[idx] : 0;
}

/* ---- the state has no answers for made-up intervals ---- */

uint64_t state_socket_peer(const struct trace_analysis *analysis, uint64_t ino)
{
	(void)analysis;
	(void)ino;
	return 0;
}

bool state_file_at(const struct trace_analysis *analysis, const struct trace_thread *thread, uint64_t address,
		   struct trace_file_id *ret_file)
{
	(void)analysis;
	(void)thread;
	(void)address;
	(void)ret_file;
	return false;
}

int state_tables(const struct trace_thread *thread, struct trace_file_id ret_ids[2])
{
	(void)thread;
	(void)ret_ids;
	return 0;
}

bool state_is_complete(const struct trace_analysis *analysis)
{
	(void)analysis;
	return true;
}

bool state_is_windowed(const struct trace_analysis *analysis)
{
	(void)analysis;
	return false;
}

uint64_t state_nr_events(const struct trace_analysis *analysis)
{
	(void)analysis;
	return 0;
}

bool state_has_events(const struct trace_analysis *analysis, uint32_t id)
{
	(void)analysis;
	(void)id;
	return true;
}

bool state_was_traced(const struct trace_process *process)
{
	(void)process;
	return false;
}

size_t state_nr_living(const struct trace_process *process)
{
	return 1;
}

const struct trace_thread *first_thread(const struct analysis_case *c, uint32_t pid)
{
	return trace_next_thread(case_process(c, pid), NULL);
}

/* ---- a case ---- */

struct analysis_case two_servers(bool are_one_process)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, are_one_process ? 10 : 20, 1, "two", 1, true);
	case_run(&c);
	return c;
}

struct analysis_case two_servers_with_a_loss(uint64_t from_ns, uint64_t to_ns)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 10, 1, "two", 1, true);
	tb_switch(c.tb, 1, from_ns, 20, 0, TRACE_TASK_RUNNING);
	tb_lost(c.tb, 1, 5);
	tb_switch(c.tb, 1, to_ns, 0, 20, TRACE_TASK_RUNNING);
	case_run(&c);
	return c;
}

struct rules *rules_case_begin(const struct analysis_case *c)
{
	struct rules *rules;

	nr_kept = nr_kept_events = 0;
	rules = rules_new(c->analysis, c->trace);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	return rules;
}

int rules_case_end(struct rules *rules, struct trace_error *ret_error)
{
	int result = rules_verify(rules, ret_error);

	rules_free(rules);
	return result;
}

void feed(const struct analysis_case *c, uint32_t id, uint64_t ns, uint32_t cpu, const void *payload)
{
	struct trace_event event = {.id = id, .ts_ns = ns, .cpu = cpu, .payload = payload};

	for (size_t i = 0; i < nr_kept_events; i++)
		if (kept_events[i].mask[id / 64] >> id % 64 & 1)
			kept_events[i].fn(kept_events[i].data, c->analysis, &event);
}

void feed_interval(const struct analysis_case *c, const struct trace_interval *interval)
{
	for (size_t i = 0; i < nr_kept; i++)
		kept[i].fn(kept[i].data, c->analysis, interval);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_identity.c - the users, groups, control groups, parents and names that a process had, with
 * its time of each. Values that never changed are left out.
 */
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "report_identity.h"
#include "value_text.h"

#define NAME_BYTES 256

/* Which values differ between the identities? */
struct changed {
	bool uid, gid, ppid, cgroup, comm;
};

static struct changed find_changed(const struct trace_identity *list, size_t nr)
{
	struct changed changed = {0};

	for (size_t i = 1; i < nr; i++) {
		changed.uid |= list[i].uid != list[0].uid;
		changed.gid |= list[i].gid != list[0].gid;
		changed.ppid |= list[i].ppid != list[0].ppid;
		changed.cgroup |= strcmp(list[i].cgroup, list[0].cgroup) != 0;
		changed.comm |= strcmp(list[i].comm, list[0].comm) != 0;
	}
	return changed;
}

static void add_id(struct string *s, const char *what, uint32_t id)
{
	string_addf(s, s->len ? ", %s" : "%s", what);
	if (id == TRACE_ID_UNKNOWN)
		string_add(s, " not known");
	else
		string_addf(s, " %u", id);
}

static void add_name(struct string *s, const char *what, const char *name)
{
	char text[NAME_BYTES];

	string_addf(s, s->len ? ", %s %s" : "%s %s", what, *name ? text_name(name, text, sizeof(text)) : "not known");
}

static void identity_line(const struct report *report, const struct changed *changed,
			  const struct trace_identity *identity)
{
	const struct trace_times *times = &identity->times;
	uint64_t cpu_ns = times->user_ns + times->syscall_ns + times->trap_ns,
		 elapsed_ns = cpu_ns + times->interrupted_ns + times->wait_cpu_ns + times->blocked_ns;
	struct value_text t[2];
	struct string s = {0};

	if (changed->uid)
		add_id(&s, "user", identity->uid);
	if (changed->gid)
		add_id(&s, "group", identity->gid);
	if (changed->ppid)
		add_id(&s, "child of", identity->ppid ? identity->ppid : TRACE_ID_UNKNOWN);
	if (changed->cgroup)
		add_name(&s, "control group", identity->cgroup);
	if (changed->comm)
		add_name(&s, "called", identity->comm);
	output_line(&report->output, "\t\t", "As %s: %s on a CPU in %s", s.bytes,
		    text_ns(&report->output, cpu_ns, &t[0]), text_ns(&report->output, elapsed_ns, &t[1]));
	free(s.bytes);
}

void report_identities(const struct report *report, const struct trace_process *process)
{
	size_t nr = 0;
	struct trace_identity *list = trace_process_identities(report->analysis, process, &nr);
	struct changed changed;

	if (!list)
		memory_end();
	changed = find_changed(list, nr);
	for (size_t i = 0; i < nr && nr > 1; i++)
		identity_line(report, &changed, &list[i]);
	free(list);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_probes_memory.c - lists and descriptions of probes without memory: each allocation fails
 * once, in the caller and in the process that reads the file.
 *
 * The reader has a copy of the count of allocations, so the same number strikes there. libdw 0.188
 * crashes after some failed allocations: the reader then stops, which is reported.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace/probes.h>
#include <unistd.h>

#include "no_memory.h"
#include "unit.h"

#define LAST_ANSWERS 30 /* complete answers in a row: no more allocations are made */
#define TEXT_BYTES   (1u << 20)

/** enum outcome - of one run, in a process of its own */
enum outcome { COMPLETE, REFUSED, WRONG };

/** struct answer - @result: of the library; @text: the lines of a list, or the fields of probes */
struct answer {
	int result;
	struct trace_error error;
	size_t bytes;
	char text[TEXT_BYTES];
};

/* ---- one run ---- */

static void put_probes(const struct trace_probes *probes, struct answer *answer)
{
	for (size_t i = 0; i < trace_probes_nr(probes); i++) {
		const struct trace_event_type *type = trace_probes_get(probes, i)->type;

		answer->bytes += (size_t)sprintf(answer->text + answer->bytes, "%s %s %s", type->name, type->source,
						 type->doc);
		for (uint32_t k = 0; k < type->nr_fields; k++)
			answer->bytes += (size_t)sprintf(answer->text + answer->bytes, " %s/%d", type->fields[k].name,
							 type->fields[k].bytes);
		answer->text[answer->bytes++] = '\n';
	}
}

static void describe(const char *spec, long at, bool and_after, struct answer *answer)
{
	struct trace_probes *probes = trace_probes_new();

	no_memory_at(at, and_after);
	answer->result = trace_probes_add(probes, spec, &answer->error);
	no_memory_at(0, false);
	put_probes(probes, answer);
	trace_probes_free(probes);
}

static void list(const char *target, long at, bool and_after, struct answer *answer)
{
	FILE *out = fmemopen(answer->text, sizeof(answer->text), "w");
	static char buffer[BUFSIZ];

	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	no_memory_at(at, and_after);
	answer->result = trace_probes_list(target, out, &answer->error);
	no_memory_at(0, false);
	fflush(out);
	answer->bytes = strlen(answer->text);
	fclose(out);
}

/* In a child of its own, which begins with the same number of allocations. */
static int run_apart(const char *what, bool is_list, long at, bool and_after, struct answer *shared)
{
	int status = 0;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		(is_list ? list : describe)(what, at, and_after, shared);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static enum outcome outcome_of(int status, const struct answer *answer, const struct answer *wanted)
{
	if (status)
		return WRONG;
	if (answer->result == wanted->result && answer->bytes == wanted->bytes &&
	    !memcmp(answer->text, wanted->text, wanted->bytes))
		return COMPLETE;
	if (answer->result == -EBADMSG && (strstr(answer->error.message, "the reader stopped: signal") ||
					   strstr(answer->error.message, "the program loader had no memory")))
		return REFUSED;
	return answer->result == -ENOMEM && answer->error.code == -ENOMEM && strstr(answer->error.message, "memory")
		       ? REFUSED
		       : WRONG;
}

/* ---- the claims ---- */

static void *shared_memory(void)
{
	void *memory = mmap(NULL, sizeof(struct answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void is_whole_or_refused(const char *what, bool is_list, bool and_after)
{
	struct answer *wanted = shared_memory(), *answer = shared_memory();
	unsigned int complete = 0, refused = 0, wrong = 0;

	CU_ASSERT_EQUAL(run_apart(what, is_list, 0, false, wanted), 0);
	CU_ASSERT(wanted->result >= 0);
	CU_ASSERT(wanted->bytes > 10);
	for (long at = 1; complete < LAST_ANSWERS; at++) {
		int status = run_apart(what, is_list, at, and_after, answer);
		enum outcome outcome = outcome_of(status, answer, wanted);

		complete = outcome == COMPLETE ? complete + 1 : 0;
		refused += outcome == REFUSED;
		if (outcome != WRONG)
			continue;
		if (wrong++ < 10)
			printf("\n    %s without memory for allocation %ld%s: status %#x, %d: %s", what, at,
			       and_after ? " and all after it" : "", (unsigned int)status, answer->result,
			       answer->error.message);
		if (wrong == 100)
			break;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(refused > 10);
	munmap(wanted, sizeof(*wanted));
	munmap(answer, sizeof(*answer));
}

static void a_list_without_memory_is_whole_or_refused(void)
{
	for (int and_after = 0; and_after < 2; and_after++) {
		is_whole_or_refused(PROBE_TARGET ":*", true, and_after);
		is_whole_or_refused(PROBE_TARGET_CXX ":*shop*", true, and_after);
		is_whole_or_refused("usdt:" PROBE_TARGET, true, and_after);
	}
}

static void a_description_without_memory_is_whole_or_refused(void)
{
	for (int and_after = 0; and_after < 2; and_after++) {
		is_whole_or_refused(PROBE_TARGET ":pay $params order->items[1].id", false, and_after);
		is_whole_or_refused(PROBE_TARGET ":pay%return", false, and_after);
		is_whole_or_refused("usdt:" PROBE_TARGET, false, and_after);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_list_without_memory_is_whole_or_refused),
		CASE(a_description_without_memory_is_whole_or_refused),
		{NULL, NULL},
	};

	return unit_main("probes without memory", cases, argc, argv);
}

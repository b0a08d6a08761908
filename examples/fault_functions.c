/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fault_functions TRACE - the functions in which page faults occurred, with their source lines. */
#include <stdio.h>
#include <string.h>
#include <trace/analysis.h>
#include <trace/symbols.h>

static struct row {
	char function[128]; /* copies: the strings of a symbol live until the next look-up */
	char source[128];   /* of the first fault; "": not known */
	uint64_t count;
} rows[1024]; /* the last row takes the faults that find no other row */

static void count_fault(void *symbols, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	const struct trace_fault_entry *fault = event->payload;
	struct trace_symbol symbol = {.function = "", .source = ""};
	struct row *row = rows;

	if (!thread || !fault->user)
		return;
	trace_symbols_find(symbols, trace_thread_tid(thread), event->ts_ns, fault->ip, &symbol);
	while (row->count && row < &rows[1023] &&
	       strncmp(row->function, symbol.function, sizeof(row->function) - 1) != 0)
		row++;
	if (!row->count)
		snprintf(row->source, sizeof(row->source), "%s", symbol.source);
	snprintf(row->function, sizeof(row->function), "%s", symbol.function);
	row->count++;
}

int main(int argc, char **argv)
{
	static const uint64_t mask[4] = {1ull << TRACE_EV_fault_entry};
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;
	struct trace_symbols *symbols = trace ? trace_symbols_new(trace, &error) : NULL;
	struct trace_analysis *analysis = symbols ? trace_analysis_new(trace, NULL, &error) : NULL;

	if (symbols)
		trace_symbols_want_source(symbols, true);
	if (!analysis || trace_analysis_on_event(analysis, mask, count_fault, symbols) < 0 ||
	    trace_analysis_run(analysis, &error) < 0) {
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: fault_functions TRACE");
		return 1;
	}
	for (struct row *row = rows; row < &rows[1024] && row->count; row++)
		printf("%9llu %s %s\n", (unsigned long long)row->count, *row->function ? row->function : "(unknown)",
		       row->source);
	if (trace_symbols_error(symbols, &error) < 0)
		fprintf(stderr, "%s\n", error.message);
	trace_analysis_free(analysis);
	trace_symbols_free(symbols);
	trace_close(trace);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* profile_of TRACE COMM - the time of each thread of this name by state and function. */
#include <stdio.h>
#include <string.h>
#include <trace/profile.h>
#include <trace/symbols.h>

static void print_share(const struct trace_profile *profile, struct trace_symbols *symbols,
			const struct trace_profile_share *share)
{
	struct trace_profile_frame frame;
	struct trace_symbol symbol = {.function = ""};

	if (trace_profile_get_frame(profile, share->frame, &frame))
		trace_symbols_find(symbols, frame.tid, frame.ts_ns, frame.address, &symbol);
	printf("%9llu ns %-12s %-12s %s\n", (unsigned long long)share->ns, trace_state_name(share->state), share->name,
	       *symbol.function ? symbol.function : "-");
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_symbols *symbols = trace ? trace_symbols_new(trace, &error) : NULL;
	struct trace_analysis *analysis = symbols ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_profile *profile = analysis ? trace_profile_new(analysis, &error) : NULL;
	struct trace_profile_share share;

	if (!profile || trace_analysis_run(analysis, &error) < 0 || trace_profile_verify(profile, &error) < 0) {
		fprintf(stderr, "%s\n", argc == 3 ? error.message : "usage: profile_of TRACE COMM");
		return 1;
	}
	for (size_t i = 0; trace_profile_get_share(profile, i, &share); i++)
		if (!strcmp(trace_thread_comm(share.thread), argv[2]))
			print_share(profile, symbols, &share);
	trace_profile_free(profile);
	trace_analysis_free(analysis);
	trace_symbols_free(symbols);
	trace_close(trace);
}

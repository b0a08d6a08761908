/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stream_losses TRACE - what each stream kept and lost, the number of its chunks, and the clocks of
 * the recorder.
 */
#include <stdio.h>
#include <trace/reader.h>

static unsigned int chunks_of(const struct trace *trace, uint32_t stream)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < trace_nr_chunks(trace); i++) {
		const struct trace_chunk *chunk = trace_get_chunk(trace, i);

		nr += chunk && chunk->kind == TRACE_CHUNK_EVENTS && chunk->stream == stream;
	}
	return nr;
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;

	if (!trace) {
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: stream_losses TRACE");
		return 1;
	}
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stream = trace_get_stream(trace, i);
		uint64_t lost = stream->discarded + stream->overwritten + stream->missed;

		printf("stream %u, CPU %u: %llu events in %u chunks, %llu lost\n", stream->stream, stream->cpu,
		       (unsigned long long)stream->stored, chunks_of(trace, stream->stream), (unsigned long long)lost);
	}
	for (size_t i = 0; i < trace_nr_clocks(trace); i++) {
		const struct trace_clock *clock = trace_get_clock(trace, i);

		printf("at %llu ns since boot the time of day was %llu ns\n", (unsigned long long)clock->monotonic_ns,
		       (unsigned long long)clock->realtime_ns);
	}
	trace_close(trace);
}

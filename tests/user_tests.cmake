# Programs that trace themselves: <trace/tracepoint.h> and libtracer, with a consumer in the test.
add_library(user-consumer STATIC user_consumer.c)
target_link_libraries(user-consumer PRIVATE trace-flags)
trace_test(test_tracepoint SOURCES test_tracepoint.c user_cpp.cpp LIBS tracer user-consumer)

# Programs that trace themselves: <trace/tracepoint.h> and libtracer, with a consumer in the test.
add_library(user-consumer STATIC user_consumer.c ${CMAKE_SOURCE_DIR}/daemon/ring.c ${CMAKE_SOURCE_DIR}/daemon/cpu_visit.c)
target_link_libraries(user-consumer PRIVATE trace-flags)
trace_test(test_tracepoint SOURCES test_tracepoint.c user_cpp.cpp LIBS tracer user-consumer)

add_executable(user_program user_program.c)
target_link_libraries(user_program PRIVATE tracer trace-flags Threads::Threads ${CMAKE_DL_LIBS})
add_executable(user_program_static user_program.c)
target_link_libraries(user_program_static PRIVATE tracer-static trace-flags Threads::Threads ${CMAKE_DL_LIBS})
add_library(user_library MODULE user_library.c)
target_link_libraries(user_library PRIVATE tracer trace-flags)
set_target_properties(user_program user_program_static user_library PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
	LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
if(NOT TRACE_SANITIZE) # these limit memory, step through instructions and die
	trace_test(test_user_program SOURCES test_user_program.c LIBS user-consumer TIMEOUT 3600)
	target_compile_definitions(test_user_program PRIVATE USER_PROGRAM="$<TARGET_FILE:user_program>"
		USER_PROGRAM_STATIC="$<TARGET_FILE:user_program_static>" USER_LIBRARY="$<TARGET_FILE:user_library>")
	add_dependencies(test_user_program user_program user_program_static user_library)
	add_executable(user_expect user_expect.c)
	target_link_libraries(user_expect PRIVATE user-consumer trace-flags)
	set_target_properties(user_expect PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
	trace_script(user_variants COMMAND ./user_variants)
endif()

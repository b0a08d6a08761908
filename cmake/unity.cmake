# A compiler of an instrumented build spends most of its time on its own start and on headers. With TRACE_UNITY it compiles several
# files at once: ./check does this. The release build compiles each file alone, so a missing #include is an error there.
option(TRACE_UNITY "compile several files at once where the code is built once more for tests" OFF)

#   compile_in_groups(target...)
#
# Call it after the last target_sources(). Files of base, which several libraries contain, and files with options of their own
# remain alone. These targets are compiled without -Wshadow: a local name may be that of a function of another file.
function(compile_in_groups)
	if(NOT TRACE_UNITY)
		return()
	endif()
	foreach(target ${ARGN})
		get_target_property(folder ${target} SOURCE_DIR)
		get_target_property(sources ${target} SOURCES)
		list(FILTER sources INCLUDE REGEX "^[^$]*[.]c$")
		list(FILTER sources EXCLUDE REGEX "/base/")
		list(TRANSFORM sources REPLACE "^([^/].*)$" "${folder}/\\1")
		unity_groups(lines ${sources})
		foreach(line IN LISTS lines)
			string(REGEX MATCH "^(.*) ([0-9]+)$" line "${line}")
			set_source_files_properties("${CMAKE_MATCH_1}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2})
		endforeach()
		set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
	endforeach()
endfunction()

#   unity_groups(RESULT file...)
#
# A list of "FILE GROUP", of the files that need not be compiled alone.
function(unity_groups result)
	find_package(Python3 REQUIRED COMPONENTS Interpreter)
	execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/unity_groups 12 ${ARGN} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
	string(REGEX REPLACE "\n" ";" lines "${lines}")
	list(FILTER lines EXCLUDE REGEX "^$")
	set(${result} "${lines}" PARENT_SCOPE)
endfunction()

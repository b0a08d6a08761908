# Writes the header with the version of the programs: "0.2.0 (06c18c24abcd)", "-dirty" with changes that are not
# committed. It runs at each build and changes the header only if the revision changed.
#
#   cmake -DSOURCE=FOLDER -DVERSION=0.2.0 -DOUTPUT=program_version.h -P revision.cmake
#
# A tarball of `git archive` has its revision in revision.txt (.gitattributes). Sources without either have none.
find_program(GIT git)
set(revision)
if(GIT AND EXISTS ${SOURCE}/.git) # not the revision of a checkout in which a tarball was unpacked
	# The folder may belong to the user who runs the build by sudo.
	execute_process(COMMAND ${GIT} -c safe.directory=${SOURCE} -c core.fsmonitor=false -C ${SOURCE}
		describe --always --dirty --abbrev=12 --exclude=*
		OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT revision)
	file(STRINGS ${SOURCE}/cmake/revision.txt revision LIMIT_COUNT 1)
	if(revision MATCHES "^[$]")
		set(revision)
	endif()
endif()
set(text "${VERSION}")
if(revision)
	string(APPEND text " (${revision})")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define PROGRAM_VERSION \"${text}\"\n")

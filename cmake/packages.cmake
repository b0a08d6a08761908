# Debian packages, by CPack: `cmake --build --preset release --target packages` writes them to the build's folder packages/.
# Their names collide with nothing in Debian, where libtrace3 is a library for network packets.
#
#   trace-toolkit      tracedaemon, tracectl, kgmon, tracevisualizer, unit for systemd, documents
#   libtrace0          the library that reads and analyses traces; libtracer0: that of programs with tracepoints
#   trace-toolkit-dev  headers, manual and examples of both, and the bindings of other languages
#   python3-tracetoolkit  the binding of Python, where every program finds it
#
# The same sources give the same packages, byte for byte, in every folder: TRACE_REPRODUCIBLE, which is on in optimized
# builds, leaves the folder out of all files. Times are that of the last commit, or SOURCE_DATE_EPOCH.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(NOT DPKG_SHLIBDEPS)
	return()
endif()
set(date $ENV{SOURCE_DATE_EPOCH})
if(NOT date AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
	execute_process(COMMAND git -c safe.directory=${CMAKE_SOURCE_DIR} -C ${CMAKE_SOURCE_DIR} log -1 --format=%ct
		OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT date) # a tarball: its files have the time of the commit
	file(TIMESTAMP ${CMAKE_SOURCE_DIR}/CHANGELOG.md date %s UTC)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trace-toolkit)
set(CPACK_PACKAGE_CONTACT "Trace Toolkit <maintainers@trace-toolkit.invalid>")
if(DEFINED ENV{DEBEMAIL}) # as Debian's own tools do
	set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs libtrace libtracer dev python)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package_time.cmake)
file(CONFIGURE OUTPUT ${CPACK_PROJECT_CONFIG_FILE} CONTENT "set(ENV{SOURCE_DATE_EPOCH} ${date})\n")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/finish.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(same_version "(= ${PROJECT_VERSION}-1)")
set(what "The Trace Toolkit records every change of state of every thread on a stock\nLinux kernel with BPF, and accounts for all of the time of every process: on a\nCPU, waiting for a CPU, and waiting for a file, process, lock or client.\n\n")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME trace-toolkit)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION "find where the time of programs and machines went\n${what}This package has the recorder tracedaemon, its control program tracectl, and\ntracevisualizer, which makes the reports.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "libtrace0 ${same_version}, libtracer0 ${same_version}")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/postinst
	${CMAKE_CURRENT_LIST_DIR}/debian/prerm ${CMAKE_CURRENT_LIST_DIR}/debian/postrm)

set(CPACK_DEBIAN_LIBTRACE_PACKAGE_NAME libtrace0)
set(CPACK_DEBIAN_LIBTRACE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBTRACE_DESCRIPTION "library that reads and analyses traces of the Trace Toolkit\n${what}This package has the library that reads, analyses and writes traces.")

set(CPACK_DEBIAN_LIBTRACER_PACKAGE_NAME libtracer0)
set(CPACK_DEBIAN_LIBTRACER_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBTRACER_DESCRIPTION "tracepoints for programs, recorded by the Trace Toolkit\n${what}This package has the library of programs that record events of their own.")

# How packages of programs that need a library depend on its package.
foreach(library trace tracer)
	string(TOUPPER lib${library} component)
	set(shlibs ${CMAKE_BINARY_DIR}/debian/${library}/shlibs)
	get_property(soversion TARGET ${library} PROPERTY SOVERSION)
	file(CONFIGURE OUTPUT ${shlibs} CONTENT "lib${library} ${soversion} lib${library}${soversion} (>= ${PROJECT_VERSION})\n")
	set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers ${shlibs})
endforeach()

set(CPACK_DEBIAN_DEV_PACKAGE_NAME trace-toolkit-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "development files of the Trace Toolkit\n${what}This package has the headers, the manual and examples of libtrace, the library\nthat reads and analyses traces, and of libtracer, for tracepoints in programs.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtrace0 ${same_version}, libtracer0 ${same_version}")
set(CPACK_DEBIAN_DEV_PACKAGE_CONFLICTS libtrace3-dev) # -ltrace can mean one of the two libraries
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tracetoolkit)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "tracepoints for Python programs, recorded by the Trace Toolkit\n${what}This package has the module tracetoolkit, with which Python programs record\nevents of their own.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any, libtracer0 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/python/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/python/prerm)
include(CPack)
add_custom_target(packages COMMAND ${CMAKE_CPACK_COMMAND} --config ${CMAKE_BINARY_DIR}/CPackConfig.cmake VERBATIM)
add_dependencies(packages installed)

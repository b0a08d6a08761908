# The files that cmake --install installs, except for the programs: their folders install those.
include(CMakePackageConfigHelpers)

# In the build the headers come from the source tree, for other projects from the installation.
set_property(TARGET trace PROPERTY INTERFACE_INCLUDE_DIRECTORIES $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
add_dependencies(installed trace tracer tracer-static)
foreach(library trace tracer)
	install(TARGETS ${library} EXPORT trace-toolkitTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib${library}
		NAMELINK_COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS tracer-static EXPORT trace-toolkitTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
	INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Not counts.h, tracer.h and probes.h, because the loader is not a library yet.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/trace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	PATTERN counts.h EXCLUDE PATTERN tracer.h EXCLUDE PATTERN probes.h EXCLUDE)
install(EXPORT trace-toolkitTargets NAMESPACE trace:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/trace-toolkitConfig.cmake.in trace-toolkitConfig.cmake
	INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)
write_basic_package_version_file(trace-toolkitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/trace-toolkitConfig.cmake ${CMAKE_BINARY_DIR}/trace-toolkitConfigVersion.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)

# pkg-config files use paths relative to their own place, as the CMake package does, because
# cmake --install may have a --prefix that is not known here.
set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
	file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
	string(REGEX REPLACE "/$" "" PC_PREFIX "\${pcfiledir}/${PC_PREFIX}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
	set(PC_${folder} \${prefix}/${CMAKE_INSTALL_${folder}})
	if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
		set(PC_${folder} ${CMAKE_INSTALL_${folder}})
	endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/libtrace.pc.in libtrace.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/libtracer.pc.in libtracer.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/libtrace.pc ${CMAKE_BINARY_DIR}/libtracer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
# Sections 3 and 7: for each other name in the NAME section of a page there is a page that includes it. The page
# tracepoint.3 belongs to LTTng in Debian; the suffix makes another name of ours, which man(1) finds as well.
file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.[37])
foreach(page ${man_pages})
	get_filename_component(page_name ${page} NAME)
	string(REGEX REPLACE ".*[.]" "" section ${page_name})
	install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
	file(STRINGS ${page} names REGEX "^[a-z_]+, .* .- ")
	string(REGEX REPLACE " .- .*" "" names "${names}")
	string(REPLACE ", " ";" names "${names}")
	foreach(name ${names})
		set(alias ${name}.${section})
		if(name STREQUAL "tracepoint")
			set(alias ${name}.3trace)
		endif()
		if(NOT alias STREQUAL ${page_name})
			file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/man${section}/${alias} CONTENT ".so man${section}/${page_name}\n")
			install(FILES ${CMAKE_BINARY_DIR}/man${section}/${alias} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
		endif()
	endforeach()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The bindings of other languages are sources, which programs copy or name: see the README of each.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/languages DESTINATION ${CMAKE_INSTALL_DATADIR}/trace-toolkit
	PATTERN tracetoolkit.py EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN target EXCLUDE PATTERN Cargo.lock EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/languages/python/tracetoolkit.py DESTINATION ${CMAKE_INSTALL_DATADIR}/trace-toolkit/languages/python
	COMPONENT python)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)
file(GLOB guides CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/*.svg ${CMAKE_SOURCE_DIR}/docs/*.png)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${guides} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # README links to docs/, and the manual names it

# Last: the list of all files, for the target `uninstall`. It is in the installation, because a build can be installed
# into several prefixes, and each installation overwrites the list that CMake writes in the build.
set(INSTALLED_FILES ${CMAKE_INSTALL_DATADIR}/trace-toolkit/installed-files)
install(CODE "set(installed_files \"${INSTALLED_FILES}\")" ALL_COMPONENTS)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/installed_files.cmake ALL_COMPONENTS)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DLIST=${CMAKE_INSTALL_PREFIX}/${INSTALLED_FILES}
	-P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake VERBATIM)
